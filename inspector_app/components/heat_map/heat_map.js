// Tools and roles by field: each cell is a button that prints its number. Arrow keys move, Enter picks.

const figure = (number) => number.toLocaleString("en-US");
const LONGEST = 9;

function cellText(cell) {
  const node = document.createDocumentFragment();
  node.append(document.createTextNode(figure(cell.count)));
  if (cell.missed) node.append(el("small", "", " +" + figure(cell.missed)));
  return node;
}

function cellNode(view, row, column, cell) {
  const node = button("cell heat-" + cell.level, undefined, () => view.component.setTriggerValue("cell", [row, column]));
  node.append(cellText(cell));
  node.classList.toggle("long", node.textContent.length > LONGEST);
  if (cell.missed && !cell.count) node.classList.add("missed-only");
  const on = view.data.chosen[0] === row && view.data.chosen[1] === column;
  node.classList.toggle("on", on);
  node.setAttribute("aria-pressed", on);
  node.dataset.at = row + ":" + column;
  return node;
}

function rowNode(view, row, index) {
  const line = el("tr"), name = el("th", "name");
  name.scope = "row";
  name.appendChild(button("", row.name, () => view.component.setTriggerValue("cell", [index, -1])));
  line.appendChild(name);
  row.cells.forEach((cell, column) => { const td = el("td"); td.appendChild(cellNode(view, index, column, cell)); line.appendChild(td); });
  const all = el("td", "all"), bar = el("span", "bar");
  bar.style.width = row.share + "px";
  all.append(bar, el("b", "", figure(row.all)));
  line.appendChild(all);
  return line;
}

function legend(view) {
  const node = el("div", "legend");
  view.data.words.levels.forEach((text, level) => node.append(el("span", "swatch heat-" + (level + 1)), el("span", "", text)));
  node.append(el("span", "swatch missed-only"), el("span", "", view.data.words.missed));
  return node;
}

function move(view, event) {
  const at = event.target.dataset && event.target.dataset.at;
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!at || !step) return;
  const [row, column] = at.split(":").map(Number);
  const next = [...view.box.querySelectorAll("[data-at]")].find((node) => node.dataset.at === row + step[0] + ":" + (column + step[1]));
  if (next) { event.preventDefault(); stopAt(view, next); next.focus(); }
}

// The cells are one Tab stop.
function stopAt(view, cell) {
  view.box.querySelectorAll("[data-at]").forEach((each) => { each.tabIndex = each === cell ? 0 : -1; });
}

function draw(view) {
  const node = el("div", "panel"), header = el("header"), grid = el("table"), head = el("tr"), top = el("thead"), body = el("tbody");
  header.append(el("b", "", view.data.words.title), el("span", "", view.data.words.hint));
  head.append(el("th", "name", view.data.words.producer), ...view.data.columns.map((name) => el("th", "", name)), el("th", "all", view.data.words.all));
  top.appendChild(head);
  view.data.rows.forEach((row, index) => body.appendChild(rowNode(view, row, index)));
  grid.append(top, body);
  const list = el("div", "list");
  list.appendChild(grid);
  node.append(header, list, legend(view));
  return node;
}

export default function (component) {
  const view = viewOf(component, (fresh) => fresh.box.addEventListener("keydown", (event) => move(fresh, event)));
  view.data = component.data;
  const now = redraw(view, draw(view));
  stopAt(view, now && now.dataset.at ? now : view.box.querySelector(".cell.on") || view.box.querySelector(".cell"));
  return takeDown(view);
}
