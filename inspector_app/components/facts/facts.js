// Three lines of facts: where a trace comes from, what was proven about it, and the spaces in it as filters.

function sourceLine(view) {
  const node = el("div", "source");
  node.append(el("span", "name", view.data.name), el("span", "about", view.data.about));
  if (view.data.badge) node.appendChild(el("span", view.data.badge.startsWith("! ") ? "badge" : "badge plain", view.data.badge));
  return node;
}

function factNode(view, fact) {
  const pressed = () => {
    if (fact.note) tell("note", { group: view.data.group, text: fact.note });
    view.component.setTriggerValue("asked", fact.key);
  };
  const node = fact.note ? button("fact", undefined, pressed) : el("div", "fact");
  node.append(el("span", "label", fact.label), el("span", "value " + (fact.tone || ""), fact.value));
  if (fact.sub) node.appendChild(el("span", "sub", fact.sub));
  return node;
}

function proofLine(view) {
  const node = el("div", "proof");
  view.data.facts.forEach((fact) => node.appendChild(factNode(view, fact)));
  oneStop(view, node);
  return node;
}

function chipNode(view, chip) {
  const press = () => {
    view.on = view.on === chip.space ? null : chip.space;
    tell("space", { group: view.data.group, space: view.on });
    view.box.querySelectorAll(".chip").forEach((one) => setOn(view, one));
  };
  const node = chip.count && view.data.filters ? button("chip", undefined, press) : el("span", "chip");
  node.classList.add("sp-" + chip.space);
  if (!chip.count) node.classList.add("zero");
  node.dataset.space = chip.space;
  node.append(el("span", "tag", chip.code), el("span", "name", chip.name), el("span", "n", chip.count));
  setOn(view, node);
  return node;
}

function setOn(view, node) {
  const on = view.on === node.dataset.space;
  node.classList.toggle("on", on);
  if (node.tagName === "BUTTON") node.setAttribute("aria-pressed", on);
}

function chipLine(view) {
  const node = el("div", "chips");
  view.data.chips.forEach((chip) => node.appendChild(chipNode(view, chip)));
  oneStop(view, node);
  return node;
}

// A fragment that runs by the clock could not be stopped without drawing the whole page.
function lookAgain(view) {
  clearInterval(view.again);
  if (view.data.unfinished) view.again = setInterval(() => view.component.setTriggerValue("again", true), 400);
}

const LINES = { source: sourceLine, proof: proofLine, chips: chipLine };

export default function (component) {
  const view = viewOf(component, (fresh) => { fresh.cleanups.push(() => clearInterval(fresh.again)); });
  if (view.data && view.data.base !== component.data.base) view.on = null;
  view.data = component.data;
  redraw(view, LINES[view.data.line](view));
  lookAgain(view);
  return takeDown(view);
}
