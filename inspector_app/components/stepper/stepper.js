// One step of a stream. Segments come as lists: [kinds, text, space, tag].

function segmentNode(view, part) {
  const [kinds, text, space, tag] = part;
  if (!kinds) return document.createTextNode(text);
  const node = el("span", kinds, text);
  if (space) node.classList.add("sp-" + space);
  if (tag) node.dataset.tag = tag;
  if (kinds === "gone") node.title = view.data.words.dropped;
  if (kinds === "no") node.dataset.tag = view.data.words.unresolved;
  return node;
}

function flowNode(view, parts, mono) {
  const node = el("div", mono ? "flow mono" : "flow");
  parts.forEach((part) => node.appendChild(segmentNode(view, part)));
  return node;
}

function labelNode(label) {
  const node = el("div", "chan", label.text);
  if (label.name) node.appendChild(el("span", "name", label.name));
  return node;
}

function bandNode(title, sub) {
  const node = el("section", "band"), header = el("header"), inside = el("div", "inside");
  inside.tabIndex = 0;
  inside.setAttribute("role", "region");
  inside.setAttribute("aria-label", title);
  header.append(el("b", "", title), el("span", "sub", sub));
  node.append(header, inside);
  return { node, inside };
}

function heldRow(view, row) {
  const node = el("div", "what"), stage = el("div", "stage", row.stage);
  if (row.name) stage.appendChild(el("span", "name", row.name));
  node.append(stage, flowNode(view, row.segments), el("div", "why", row.why));
  return node;
}

function simpleBand(view, title, band, groups, sans) {
  const made = bandNode(title, band.sub);
  if (sans) made.node.classList.add("sans");
  if (!groups.length) made.inside.appendChild(el("div", "empty", band.empty));
  for (const group of groups) {
    if (group.label.text) made.inside.appendChild(labelNode(group.label));
    made.inside.appendChild(flowNode(view, group.segments));
  }
  return made.node;
}

function heldBand(view, band) {
  const made = bandNode(view.data.words.held, band.sub);
  made.node.classList.toggle("holding", band.holding);
  if (!band.rows.length) made.inside.appendChild(el("div", "empty", band.empty));
  band.rows.forEach((row) => made.inside.appendChild(heldRow(view, row)));
  return made.node;
}

function drawBands(view) {
  const words = view.data.words;
  view.bands.replaceChildren(
    simpleBand(view, words.came, view.data.came, view.data.came.groups, false),
    el("div", "arrow", "→"),
    heldBand(view, view.data.held),
    el("div", "arrow", "→"),
    simpleBand(view, words.out, view.data.out, view.data.out.groups, true),
  );
}

function drawPane(view, pane, side) {
  pane.replaceChildren();
  for (const text of view.data.texts) {
    if (text.label.text) pane.appendChild(labelNode(text.label));
    const flow = flowNode(view, text[side], text.mono);
    if (side === "right") flow.appendChild(el("span", "cursor"));
    pane.appendChild(flow);
  }
}

// What happens at this step stays in sight: the chunk of the step on the left, the end of the text on the right.
function follow(pane, node) {
  if (!node) return;
  const top = node.offsetTop, bottom = top + node.offsetHeight;
  if (top < pane.scrollTop || bottom > pane.scrollTop + pane.clientHeight - 8) pane.scrollTop = Math.max(0, bottom - pane.clientHeight * 0.7);
}

function draw(view) {
  view.whose.textContent = view.data.whose;
  drawBands(view);
  drawPane(view, view.left, "left");
  drawPane(view, view.right, "right");
  const now = view.left.querySelectorAll(".now");
  const here = now[now.length - 1] || [...view.left.querySelectorAll(".held")].pop();
  follow(view.left, here);
  const at = here ? [...view.left.querySelectorAll(".flow")].indexOf(here.closest(".flow")) : -1;
  const cursors = view.right.querySelectorAll(".cursor");
  follow(view.right, cursors[at] || cursors[cursors.length - 1]);
}

function headNode(title) {
  const node = el("div", "pane-head");
  node.append(el("b", "", title[0]), el("span", "sub", title[1]));
  return node;
}

function build(view) {
  const words = view.component.data.words;
  const outer = el("div", "stepper"), panes = el("div", "panes");
  Object.assign(view, { outer, bands: el("div", "bands"), left: el("div", "pane"), right: el("div", "pane sans") });
  for (const pane of [view.left, view.right]) {
    pane.tabIndex = 0;
    pane.setAttribute("role", "region");
    pane.setAttribute("aria-label", words.region);
  }
  const right = headNode([words.right, ""]);
  view.whose = right.lastChild;
  panes.append(headNode(words.left), right, view.left, view.right);
  outer.append(view.bands, panes);
  view.box.appendChild(outer);
}

export default function (component) {
  const view = viewOf(component, build);
  view.data = component.data;
  if (!view.fitted) { view.fitted = true; fillWindow(view, view.outer, 330); }
  if (view.rev !== view.data.rev) { view.rev = view.data.rev; draw(view); }
  return takeDown(view);
}
