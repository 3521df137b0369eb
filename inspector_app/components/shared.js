// What every component needs. Text of a trace reaches the page through textContent only.

function el(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function button(className, text, onClick) {
  const node = el("button", className, text);
  node.type = "button";
  node.addEventListener("click", onClick);
  return node;
}

// Components of one page speak to each other at once, without a round trip through the server.
function tell(type, detail) {
  window.dispatchEvent(new CustomEvent("inspector-" + type, { detail }));
}

function listen(view, type, handler) {
  const wrapped = (event) => handler(event.detail);
  window.addEventListener("inspector-" + type, wrapped);
  view.cleanups.push(() => window.removeEventListener("inspector-" + type, wrapped));
}

// Keys belong to the page only while no field and no editor has the focus.
function isTyping() {
  let focused = document.activeElement;
  while (focused && focused.shadowRoot && focused.shadowRoot.activeElement) focused = focused.shadowRoot.activeElement;
  if (!focused) return false;
  return focused.isContentEditable || /^(INPUT|TEXTAREA|SELECT|CANVAS)$/.test(focused.tagName);
}

function onKey(view, handler) {
  const wrapped = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
    handler(event);
  };
  document.addEventListener("keydown", wrapped);
  view.cleanups.push(() => document.removeEventListener("keydown", wrapped));
}

// A work area fills what is left of the window and scrolls inside.
function fillWindow(view, node, smallest) {
  const fit = () => {
    const scroller = node.getRootNode().host?.closest('[data-testid="stMain"]');
    const top = node.getBoundingClientRect().top + (scroller ? scroller.scrollTop : window.scrollY);
    node.style.height = Math.max(smallest, Math.floor(window.innerHeight - top - 19)) + "px";
  };
  const observer = new ResizeObserver(fit);
  observer.observe(document.body);
  const block = node.getRootNode().host?.closest('[data-testid="stMainBlockContainer"]');
  if (block) observer.observe(block);
  window.addEventListener("resize", fit);
  view.cleanups.push(() => { observer.disconnect(); window.removeEventListener("resize", fit); });
  fit();
}

// One view per place on the page; it survives reruns and is taken down with its element.
const views = new WeakMap();
function viewOf(component, build) {
  const root = component.parentElement;
  let view = views.get(root);
  if (!view) {
    view = { cleanups: [], root };
    views.set(root, view);
    view.box = el("div", "box");
    root.appendChild(view.box);
    view.component = component;
    build(view);
  }
  view.component = component;
  return view;
}

function takeDown(view) {
  return () => {
    view.cleanups.forEach((cleanup) => cleanup());
    view.box.remove();
    views.delete(view.root);
  };
}
