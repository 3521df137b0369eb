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

const FORMS = { cards: cardGrid, pairs, stop, table };

export default function (component) {
  const view = viewOf(component, () => {});
  view.data = component.data;
  view.box.replaceChildren(FORMS[view.data.form](view));
  return takeDown(view);
}
