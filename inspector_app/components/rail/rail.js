// The list of messages: 28 px a row, a bar for each replacement, coloured by space; raw ids are wider.

const MOST_BARS = 7;

function bars(row) {
  const node = el("span", "bars");
  const total = row.replaced + row.raw, scale = total > MOST_BARS ? MOST_BARS / total : 1;
  for (const [space, count] of row.bars)
    for (let at = 0; at < Math.max(1, Math.round(count * scale)); at++) node.appendChild(el("i", "sp-" + space));
  for (let at = 0; at < Math.min(row.raw, MOST_BARS, Math.ceil(row.raw * scale)); at++) node.appendChild(el("i", "sp-raw"));
  return node;
}

function itemNode(view, row) {
  const node = button("item", undefined, () => choose(view, row.index));
  node.tabIndex = -1;
  node.dataset.index = row.index;
  const end = el("span", "bars");
  if (row.hits) end.appendChild(el("span", "hits", row.hits));
  end.appendChild(bars(row));
  node.append(el("span", "n", row.index), el("span", "t", (row.sign ? row.sign + " " : "") + row.label), end);
  node.setAttribute("aria-label", `${row.index} ${row.label}, ${view.data.words.about.replace("{r}", row.replaced).replace("{x}", row.raw)}`);
  return node;
}

function wanted(view, row) {
  if (view.filter === "replaced" && !row.replaced) return false;
  if (view.filter === "raw" && !row.raw) return false;
  if (view.filter === "found" && !row.hits) return false;
  if (view.space === "raw" && !row.raw) return false;
  if (view.space && view.space !== "raw" && !row.bars.some(([space]) => space === view.space)) return false;
  return !view.only || view.only.has(row.index);
}

function draw(view) {
  const rows = view.data.rows.filter((row) => wanted(view, row));
  view.list.replaceChildren(...rows.map((row) => itemNode(view, row)));
  if (!rows.length) view.list.appendChild(el("div", "none", view.data.words.none));
  view.count.textContent = rows.length === view.data.rows.length ? rows.length : `${rows.length} / ${view.data.rows.length}`;
  mark(view, view.here);
  const all = rows.length === view.data.rows.length;
  tell("shown", { group: view.data.group, messages: all ? null : rows.map((row) => row.index) });
}

function mark(view, index) {
  view.here = index;
  for (const node of view.list.querySelectorAll(".here")) node.classList.remove("here");
  const node = view.list.querySelector(`[data-index="${index}"]`);
  node?.classList.add("here");
  node?.scrollIntoView({ block: "nearest" });
}

function choose(view, index) {
  mark(view, index);
  tell("message", { group: view.data.group, index });
  clearTimeout(view.later);
  // The address of the page follows when the reader has settled.
  view.later = setTimeout(() => view.component.setStateValue("message", index), 250);
}

function keys(view, event) {
  const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12, Home: -1e9, End: 1e9 }[event.key];
  if (!move) return;
  event.preventDefault();
  const nodes = [...view.list.querySelectorAll(".item")];
  const at = nodes.findIndex((node) => Number(node.dataset.index) === view.here);
  const next = nodes[Math.max(0, Math.min(nodes.length - 1, at + move))];
  if (next) choose(view, Number(next.dataset.index));
}

function build(view) {
  const rail = el("nav", "rail"), header = el("header");
  view.select = el("select");
  view.count = el("span");
  view.list = el("div", "list");
  view.list.tabIndex = 0;
  view.list.addEventListener("keydown", (event) => keys(view, event));
  view.select.addEventListener("change", () => { view.filter = view.select.value; draw(view); });
  header.append(view.select, view.count);
  rail.append(header, view.list);
  view.box.appendChild(rail);
  fillWindow(view, rail, 320);
  const ours = (handler) => (detail) => { if (detail.group === view.data?.group) handler(detail); };
  listen(view, "here", ours((detail) => mark(view, detail.index)));
  listen(view, "identity", ours((detail) => { view.only = detail.messages && new Set(detail.messages); draw(view); }));
  listen(view, "space", ours((detail) => { view.space = detail.space; draw(view); }));
}

function options(view) {
  const words = view.data.words;
  const names = [["all", words.all], ["replaced", words.replaced], ["raw", words.raw]];
  if (view.data.query) names.push(["found", words.found]);
  view.select.replaceChildren(...names.map(([value, text]) => { const node = el("option", "", text); node.value = value; return node; }));
  view.select.setAttribute("aria-label", words.filter);
  if (view.query !== view.data.query) view.filter = view.data.query ? "found" : "all";
  else if (!names.some(([value]) => value === view.filter)) view.filter = "all";
  view.select.value = view.filter;
}

export default function (component) {
  const data = component.data;
  const view = viewOf(component, build);
  if (view.rev !== data.rev) {
    const fresh = view.base !== data.base;
    view.data = data;
    if (fresh) Object.assign(view, { base: data.base, only: null, space: null, here: data.message });
    options(view);
    view.list.setAttribute("aria-label", data.words.region);
    draw(view);
    view.query = data.query;
    view.rev = data.rev;
  }
  // The browser went back or forward: to the message that stands in the address.
  if (view.visit !== undefined && view.visit !== data.visit) mark(view, data.message);
  view.visit = data.visit;
  return takeDown(view);
}
