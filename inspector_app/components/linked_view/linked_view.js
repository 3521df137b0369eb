// Two forms of one text, a grid row per source line. Rows come from the server as lists:
// [number, left, right | 0, changed], where a segment is a string or [kind, text, identity, raw].

// In a diff a row is [left number, left, right, changed, right number], a side that has no line there is null.

const KINDS = { h: "id", x: "raw", m: "missed", c: "hid", k: "no", d: "no", u: "own", "-": "gone", "+": "came" };

function segment(view, part, withTag) {
  if (typeof part === "string") return document.createTextNode(part);
  const [kind, text, identity] = part;
  const node = el("span", "in " + KINDS[kind], text);
  if (kind === "k" || kind === "d") node.dataset.tag = view.data.words[kind];
  if (kind === "u") node.title = view.data.words.u;
  const known = view.identities[identity];
  if (known) {
    node.classList.add("sp-" + known.space);
    node.dataset.n = identity;
    if (withTag && kind === "h") node.dataset.tag = known.tag;
    (view.marks[identity] ??= []).push(node);
  }
  if (kind === "x") view.raws.push(node);
  return node;
}

function cell(view, parts, side, hang) {
  const node = el("div", "cell " + side);
  node.style.setProperty("--hang", hang);
  const withTag = (side === "l") === (view.data.tags !== "right");
  for (const part of parts) node.appendChild(segment(view, part, withTag));
  return node;
}

function indentOf(parts) {
  const first = typeof parts[0] === "string" ? parts[0] : "";
  return Math.min(first.length - first.trimStart().length, 24) + 2;
}

function diffRow(view, row) {
  const [number, left, right, changed, rightNumber] = row;
  const node = el("div", "row diff" + (changed === 1 ? " changed" : ""));
  const sides = [["l", number, left, "−"], ["r", rightNumber, right === 0 ? left : right, "+"]];
  for (const [side, n, parts, sign] of sides) {
    const missing = !parts, marked = changed === 1 && !missing;
    node.append(el("div", `n ${side}`, n || ""), el("div", `sign ${side}` + (marked ? " on" : ""), marked ? sign : ""));
    node.append(cell(view, parts || [], side + (missing ? (changed === 1 ? " none" : "") : marked ? " on" : ""), indentOf(parts || [])));
  }
  return node;
}

function rowNode(view, row, mono) {
  if (view.data.diff) return diffRow(view, row);
  const [number, left, right, changed] = row;
  const node = el("div", changed === 1 ? "row changed" : "row");
  const hang = mono ? indentOf(left) : 0;
  node.append(el("div", "n", number || ""), cell(view, left, "l", hang));
  if (view.data.sides !== 1) node.append(cell(view, right || left, "r", hang));
  return node;
}

function foldNode(view, rows, mono) {
  const text = view.data.words.fold.replace("{n}", rows.length);
  return button("fold", text, (event) => {
    const open = document.createDocumentFragment();
    rows.forEach((row) => open.appendChild(rowNode(view, row, mono)));
    event.currentTarget.replaceWith(open);
    markSearch(view);
  });
}

function placeholderRow(view, row) {
  const node = rowNode(view, row, false);
  node.querySelectorAll(".cell").forEach((side) => side.replaceChildren(el("span", "place", side.textContent)));
  return node;
}

function sectionNode(view, section) {
  const node = el("div", section.mono ? "mono-text" : "");
  if (section.label) node.appendChild(el("div", "label", section.label + (section.name ? "  " + section.name : "")));
  for (let start = 0; start < section.rows.length; start += 100) {
    const group = el("div", section.rows.length > 100 ? "rows lazy" : "rows");
    for (const row of section.rows.slice(start, start + 100)) {
      if (section.kind === "placeholder") group.appendChild(placeholderRow(view, row));
      else group.appendChild(Array.isArray(row) ? rowNode(view, row, section.mono) : foldNode(view, row.fold, section.mono));
    }
    node.appendChild(group);
  }
  return node;
}

function blockNode(view, block) {
  const node = el("article", "msg");
  node.dataset.index = block.index;
  const header = el("header");
  header.append(el("span", "index", block.index), el("b", "", block.role));
  if (block.name) header.appendChild(el("span", "call", block.name));
  if (block.id) header.appendChild(el("span", "call callid", block.id));
  if (block.value && view.data.words.copyMessage)
    header.appendChild(copyButton(view, view.data.words.copyMessage, () => JSON.stringify(wholeMessage(block), null, 2)));
  header.appendChild(el("span", "space"));
  const sign = { warning: "! ", fault: "✕ " };
  block.notes.forEach(([tone, text]) => header.appendChild(el("span", "note " + tone, (sign[tone] || "") + text)));
  if (!view.data.diff) node.appendChild(header);
  if (block.piece) node.appendChild(el("div", "piece", block.piece));
  block.sections.forEach((section) => node.appendChild(sectionNode(view, section)));
  stops(view, node, -1);
  return node;
}

// --- the message as JSON, put together again from the rows

function sourceText(rows) {
  let text = "", first = true;
  for (const row of rows.flatMap((item) => (Array.isArray(item) ? [item] : item.fold))) {
    if (!first && row[0]) text += "\n";
    first = false;
    for (const part of row[1]) text += typeof part === "string" ? part : part[3] ?? part[1];
  }
  return text;
}

function wholeMessage(block) {
  const value = structuredClone(block.value);
  for (const section of block.sections) {
    const place = /^(?:(parts|tool_calls)\[(\d+)\]\.)?(\w+)$/.exec(section.path);
    if (!place || section.kind === "placeholder") continue;
    const holder = place[1] ? value[place[1]][Number(place[2])] : value;
    holder[place[3]] = sourceText(section.rows);
  }
  return value;
}

function copyButton(view, label, text) {
  return button("copy", label, async (event) => {
    event.stopPropagation();
    const node = event.currentTarget;
    await navigator.clipboard.writeText(text());
    node.classList.add("done");
    node.textContent = view.data.words.copied;
    setTimeout(() => { node.classList.remove("done"); node.textContent = label; }, 1200);
  });
}

// --- what a pick shows and does; it changes classes only

function setClass(view, identity, name, on) {
  (view.marks[identity] || []).forEach((node) => node.classList.toggle(name, on));
}

function light(view, identity) {
  if (view.lit === identity) return;
  setClass(view, view.lit, "lit", false);
  view.lit = identity;
  setClass(view, identity, "lit", true);
  if (view.kept === undefined) showDetail(view, identity);
}

function keep(view, identity, quietly) {
  const next = view.kept === identity ? undefined : identity;
  setClass(view, view.kept, "kept", false);
  view.kept = next;
  setClass(view, next, "kept", true);
  showDetail(view, next);
  if (!quietly) tell("identity", { group: view.data.group, messages: next === undefined ? null : view.identities[next].messages });
}

function field(view, name, value, copies, wide) {
  const node = el("div", wide ? "wide" : "");
  const dt = el("dt", "", name), dd = el("dd");
  dt.append(...copies.map(([label, text]) => copyButton(view, label, () => text)));
  dd.append(...value);
  node.append(dt, dd);
  return node;
}

function showDetail(view, identity) {
  if (view.data.detail === false) return;
  const known = view.identities[identity], words = view.data.words;
  if (!known) return view.detail.replaceChildren(el("div", "empty", view.note || words.hint));
  const handle = el("span", "id sp-" + known.space, known.handle);
  const durable = el("span", "id sp-" + known.space, known.shown);
  durable.dataset.tag = known.tag;
  const list = el("dl");
  list.append(
    field(view, words.handle, [handle], [[words.copy, known.handle]]),
    field(view, words.durable, [durable], [[words.copy, known.durable]], true),
    field(view, words.space, [known.spaceName], []),
    field(view, words.citable, [known.citable], []),
    field(view, words.first, [known.first], known.path ? [[words.copyPath, known.path]] : []),
    field(view, words.used, [known.used], []),
  );
  view.detail.replaceChildren(list);
}

// --- moving about

function goTo(view, index) {
  const node = view.scroll.querySelector(`.msg[data-index="${index}"]`);
  if (!node) return view.component.setTriggerValue("wanted", index);
  node.classList.remove("away");
  Object.assign(view, { idAt: undefined, rawAt: undefined });
  setHere(view, index);
  hold(view, node, performance.now() + 400);
}

// Blocks out of sight have estimated heights: the place is held until the real ones are known.
function hold(view, node, until) {
  if (view.holding) cancelAnimationFrame(view.holding);
  view.byHand = false;
  const again = () => {
    if (view.scroll.scrollTop !== node.offsetTop) view.scroll.scrollTop = node.offsetTop;
    view.holding = performance.now() < until && node.isConnected ? requestAnimationFrame(again) : 0;
  };
  again();
}

function setHere(view, index) {
  if (view.here === index) return;
  for (const node of view.scroll.querySelectorAll(".msg.here")) {
    node.classList.remove("here");
    stops(view, node, -1);
  }
  const node = view.scroll.querySelector(`.msg[data-index="${index}"]`);
  node?.classList.add("here");
  if (node) stops(view, node, 0);
  view.here = index;
}

// Of a thousand messages only the buttons of the one where the reader is are stops of the Tab key.
function stops(view, message, tabIndex) {
  if (!view.data.flow) message.querySelectorAll("button").forEach((one) => { one.tabIndex = tabIndex; });
}

function reveal(node) {
  node.scrollIntoView({ block: "center" });
}

function step(view, list, name, back) {
  const shown = list.filter((node) => node.isConnected && node.offsetParent !== null);
  if (!shown.length) return undefined;
  const at = shown.indexOf(view[name]);
  const next = at < 0 ? fromHere(view, shown, back) : shown[(at + (back ? -1 : 1) + shown.length) % shown.length];
  view[name] = next;
  view.byHand = false;
  reveal(next);
  const message = next.closest(".msg");
  if (message) { setHere(view, Number(message.dataset.index)); tell("here", { group: view.data.group, index: view.here }); }
  return next;
}

// The first of a walk stands in the message where the reader is, or after it.
function fromHere(view, shown, back) {
  const index = (node) => Number(node.closest(".msg").dataset.index), here = view.here ?? 0;
  if (back) return shown.findLast((node) => index(node) <= here) ?? shown[shown.length - 1];
  return shown.find((node) => index(node) >= here) ?? shown[0];
}

function nextRaw(view, back) {
  const left = view.raws.filter((node) => node.parentElement?.classList.contains("l"));
  const found = step(view, left, "rawAt", back);
  const atEnd = !found || (!back && left.indexOf(found) === 0) || (back && left.indexOf(found) === left.length - 1);
  // The next one may stand in a part that is not loaded: the server knows where.
  if (atEnd && view.data.parts > 1) view.component.setTriggerValue("raw", [found ? view.here : -1, back ? 1 : 0]);
}

function nextIdentity(view, back) {
  const nodes = [...view.scroll.querySelectorAll(".cell.l .id[data-n], .cell.l .no[data-n]")];
  const node = step(view, nodes, "idAt", back);
  if (node) light(view, Number(node.dataset.n));
}

function keys(view, event) {
  if (view.data.keys === false) return;
  const inside = view.root.activeElement && view.scroll.contains(view.root.activeElement);
  if (event.key === "x" || event.key === "X") nextRaw(view, event.key === "X");
  else if (event.key === "Escape") { if (view.kept !== undefined) keep(view, view.kept); light(view, undefined); }
  else if (inside && /^[np]$/i.test(event.key)) nextIdentity(view, /p/i.test(event.key));
  else if (inside && event.key === "Enter" && view.root.activeElement === view.scroll && view.lit !== undefined) keep(view, view.lit);
  else if (inside && event.key === "ArrowDown") view.scroll.scrollTop += 20;
  else if (inside && event.key === "ArrowUp") view.scroll.scrollTop -= 20;
  else return;
  event.preventDefault();
}

// --- search: ranges are highlighted without touching the rows

function markSearch(view) {
  const query = (view.query || "").toLowerCase();
  const ranges = [];
  if (query) {
    const walker = document.createTreeWalker(view.scroll, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && ranges.length < 5000) {
      const node = walker.currentNode, text = node.data.toLowerCase();
      if (!node.parentElement.closest(".cell")) continue;
      for (let at = text.indexOf(query); at >= 0; at = text.indexOf(query, at + query.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + query.length);
        ranges.push(range);
      }
    }
  }
  view.found = ranges;
  if (window.Highlight) CSS.highlights.set("inspector-search", new Highlight(...ranges));
}

function search(view, query) {
  view.query = query;
  markSearch(view);
  if (view.found[0]) reveal(view.found[0].startContainer.parentElement);
}

// --- building

function headNode(view) {
  const { titles, words } = view.data;
  const left = el("div"), right = el("div", "right");
  left.append(el("b", "", titles[0]), el("span", "hint", titles[1]));
  right.append(el("b", "", titles[2]), el("span", "hint", titles[3]), el("span", "space"));
  if (words.nextRaw) right.appendChild(button("key", words.nextRaw, () => nextRaw(view, false)));
  return [el("div"), left, right];
}

function moreButton(view, part, text) {
  const node = button("more", text, () => view.component.setTriggerValue("part", part));
  if (part < view.data.part) return node;
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((entry) => entry.isIntersecting) || !view.scroll.scrollTop) return;
    observer.disconnect();
    view.component.setTriggerValue("part", part);
  }, { root: view.scroll, rootMargin: "400px" }).observe(node);
  return node;
}

function fill(view, data) {
  const appended = view.data && view.base === data.base && data.part === view.last + 1 && view.loaded < 4;
  view.data = data;
  if (!appended) {
    Object.assign(view, { marks: {}, raws: [], identities: {}, lit: undefined, kept: undefined, here: undefined, loaded: 0, base: data.base });
    view.scroll.replaceChildren();
    view.scroll.scrollTop = 0;
  }
  Object.assign(view.identities, data.identities);
  Object.assign(view, { last: data.part, loaded: view.loaded + 1 });
  view.scroll.querySelectorAll(":scope > .more").forEach((node) => { if (appended && !node.dataset.before) node.remove(); });
  if (data.part > 0 && !appended) {
    view.scroll.appendChild(moreButton(view, data.part - 1, data.words.before)).dataset.before = 1;
  }
  data.blocks.forEach((block) => view.scroll.appendChild(blockNode(view, block)));
  if (data.part < data.parts - 1) view.scroll.appendChild(moreButton(view, data.part + 1, data.words.after));
  view.head.replaceChildren(...headNode(view));
  if (!appended) showDetail(view, undefined);
  markSearch(view);
}

function build(view) {
  const lv = el("div", "lv"), inner = el("div", "inner");
  Object.assign(view, { head: el("div", "head"), scroll: el("div", "scroll"), detail: el("div", "detail") });
  view.scroll.tabIndex = 0;
  view.scroll.setAttribute("role", "region");
  inner.append(view.head, view.scroll, view.detail);
  lv.appendChild(inner);
  view.box.appendChild(lv);
  const identityAt = (event) => event.target.dataset?.n;
  view.scroll.addEventListener("mouseover", (event) => light(view, identityAt(event) === undefined ? undefined : Number(identityAt(event))));
  view.scroll.addEventListener("mouseleave", () => light(view, undefined));
  view.scroll.addEventListener("click", (event) => {
    if (identityAt(event) === undefined) return;
    view.clicked = event.target;
    keep(view, Number(identityAt(event)));
  });
  onKey(view, (event) => keys(view, event));
  hear(view);
  return lv;
}

function hear(view) {
  const ours = (detail) => detail.group === view.data?.group;
  listen(view, "message", (detail) => { if (ours(detail)) goTo(view, detail.index); });
  listen(view, "shown", (detail) => { if (ours(detail)) showOnly(view, detail.messages); });
  listen(view, "note", (detail) => { if (ours(detail)) { view.note = detail.text; keep(view, undefined, true); } });
  for (const type of ["wheel", "pointerdown", "keydown"]) {
    view.scroll.addEventListener(type, () => { view.byHand = true; cancelAnimationFrame(view.holding); view.holding = 0; }, { passive: true });
  }
  view.scroll.addEventListener("scrollend", () => follow(view));
}

// What is hidden or shown again above must not move what the reader looks at.
function showOnly(view, messages) {
  const wanted = messages && new Set(messages);
  view.byHand = false;
  const anchor = view.clicked?.isConnected ? view.clicked : view.scroll.querySelector(`.msg[data-index="${view.here}"]`);
  const before = anchor?.getBoundingClientRect().top;
  toggleMessages(view, wanted);
  const after = anchor?.getBoundingClientRect().top;
  if (anchor?.offsetParent && before !== undefined) view.scroll.scrollTop += after - before;
}

function toggleMessages(view, wanted) {
  view.scroll.querySelectorAll(".msg").forEach((node) => node.classList.toggle("away", Boolean(wanted) && !wanted.has(Number(node.dataset.index))));
}

// While one scrolls, the list of messages shows where one is.
function follow(view) {
  // Where one went on purpose one stays: the last messages, say, never reach the top.
  if (!view.byHand) return;
  const top = view.scroll.scrollTop + 40;
  const nodes = [...view.scroll.querySelectorAll(".msg:not(.away)")];
  const node = nodes.findLast((one) => one.offsetTop <= top);
  if (node) { setHere(view, Number(node.dataset.index)); tell("here", { group: view.data.group, index: view.here }); }
}

export default function (component) {
  const data = component.data;
  const view = viewOf(component, (fresh) => { fresh.lv = build(fresh); });
  view.lv.classList.toggle("alone", Boolean(data.alone));
  view.lv.classList.toggle("flow", Boolean(data.flow));
  view.detail.hidden = data.detail === false;
  view.lv.firstChild.classList.toggle("no-detail", data.detail === false);
  view.scroll.setAttribute("aria-label", data.words.region);
  if (!data.flow && !view.fitted) { view.fitted = true; fillWindow(view, view.lv, data.least); }
  if (view.rev !== data.rev) {
    view.rev = data.rev;
    fill(view, data);
    if (data.goto !== undefined) goTo(view, data.goto);
  } else if ((view.asked !== data.goto || view.visit !== data.visit) && data.goto !== undefined) goTo(view, data.goto);
  Object.assign(view, { asked: data.goto, visit: data.visit });
  if (view.query !== data.query) search(view, data.query);
  return takeDown(view);
}
