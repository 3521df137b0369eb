// Samples to open, pairs that explain what the app does, one error, and small tables of notices and items.

function cardNode(view, card) {
  const node = button("card", undefined, () => view.component.setTriggerValue("chosen", card.key));
  node.append(el("b", "", card.title), ...card.lines.map((line) => el("span", "", line)));
  return node;
}

function cardGrid(view) {
  const node = el("div", "grid");
  view.data.cards.forEach((card) => node.appendChild(cardNode(view, card)));
  return node;
}

function identity(cell) {
  const node = el("span", "id sp-" + cell.space, cell.text);
  if (cell.tag) node.dataset.tag = cell.tag;
  return node;
}

function pairs(view) {
  const node = el("div", "pairs");
  for (const [durable, handle] of view.data.pairs) node.append(identity(durable), el("span", "to", "→"), identity(handle));
  return node;
}

function excerpt(lines) {
  const node = el("div", "excerpt");
  for (const line of lines) {
    const row = el("div", line.bad ? "line bad" : "line");
    row.append(el("span", "n", line.number), el("span", "t", line.text));
    node.appendChild(row);
  }
  return node;
}

function stop(view) {
  const node = el("div", "stop"), title = el("h2");
  node.setAttribute("role", "alert");
  title.append(el("span", "sign", "✕"), document.createTextNode(view.data.title));
  node.append(title, el("p", "", view.data.text));
  if (view.data.excerpt.length) node.appendChild(excerpt(view.data.excerpt));
  return node;
}

const SIGNS = { fault: "✕ ", warning: "! ", good: "✓ " };

function cellNode(cell) {
  const node = el("td", cell.kind === "mono" ? "mono" : cell.tone || "");
  if (cell.kind === "identity" && cell.text) node.appendChild(identity(cell));
  else node.textContent = (SIGNS[cell.tone] || "") + cell.text;
  if (cell.under) node.appendChild(el("div", "under", cell.under));
  return node;
}

function table(view) {
  const node = el("div", "panel"), header = el("header"), list = el("div", "list"), grid = el("table"), head = el("tr");
  header.append(el("b", "", view.data.title), el("span", "", view.data.hint));
  view.data.columns.forEach(([name, width]) => { const th = el("th", "", name); th.style.width = width; head.appendChild(th); });
  const body = el("tbody");
  for (const row of view.data.rows) {
    const line = el("tr");
    line.append(...row.map(cellNode));
    body.appendChild(line);
  }
  const top = el("thead");
  top.appendChild(head);
  grid.append(top, body);
  list.appendChild(grid);
  node.append(header, list);
  return node;
}

// What can be done: a row each, with what it does to a count; those without a button say why there is none.
function actionNode(view, row) {
  const node = el("div", "action"), what = el("div", "what"), effect = el("div", "effect");
  what.append(el("b", "", row.title), el("span", "", row.line));
  if (row.before) effect.append(el("span", "fault", row.before));
  if (row.after) effect.append(el("span", "to", " → "), el("span", row.tone, (SIGNS[row.tone] || "") + row.after));
  node.append(what, effect);
  if (row.button) {
    const press = button("do", row.button, () => view.component.setTriggerValue("chosen", row.key));
    press.setAttribute("aria-label", row.button + ": " + row.title);
    node.appendChild(press);
  }
  return node;
}

function actions(view) {
  const node = el("div", "panel"), header = el("header"), list = el("div", "list");
  header.append(el("b", "", view.data.title), el("span", "", view.data.hint));
  list.append(...view.data.rows.map((row) => actionNode(view, row)));
  node.classList.add("fitted");
  if (!view.data.rows.length) list.appendChild(el("div", "action none", view.data.empty));
  node.append(header, list);
  return node;
}

const FORMS = { actions, cards: cardGrid, pairs, stop, table };

export default function (component) {
  const view = viewOf(component, () => {});
  view.data = component.data;
  redraw(view, FORMS[view.data.form](view));
  return takeDown(view);
}
