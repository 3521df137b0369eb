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

// What somebody does is one step of the browser's history. Streamlit makes two of a change of the page, its path and what
// stands behind it, in either order: between them lies an address of neither page, and Back would go there first.
function oneStepForEachAct() {
  if (history.inspectorSteps) return;
  history.inspectorSteps = true;
  const push = history.pushState;
  let acted = false;
  const act = () => { acted = true; };
  for (const type of ["pointerdown", "click", "keydown", "drop"]) window.addEventListener(type, act, true);
  history.pushState = (data, unused, url) => {
    const to = new URL(url ?? location.href, location.href);
    // The path comes first: what stands behind it was written by the page before.
    if (acted && to.pathname !== location.pathname) to.search = "";
    (acted ? push : history.replaceState).call(history, data, unused, to.href);
    acted = false;
  };
}
oneStepForEachAct();

// A popover stands at the end of the page. Opened by key it gets the keyboard, so that Tab goes into it and not through
// all of the page first.
function popoversTakeTheKeyboard() {
  if (window.inspectorPopovers) return;
  window.inspectorPopovers = true;
  window.addEventListener("click", (event) => {
    if (event.detail !== 0 || !event.target.closest?.('[data-testid="stPopoverButton"]')) return;
    setTimeout(() => {
      const body = document.querySelector('[data-testid="stPopoverBody"]');
      if (!body) return;
      body.tabIndex = -1;
      body.focus({ preventScroll: true });
    }, 50);
  });
}
popoversTakeTheKeyboard();

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

// Buttons in a row are one stop of the Tab key; arrows move among them. What is redrawn keeps its stop.
function oneStop(view, row) {
  const buttons = [...row.querySelectorAll("button")];
  const stop = (at) => { view.stop = at; buttons.forEach((one, place) => { one.tabIndex = place === at ? 0 : -1; }); };
  stop(Math.min(view.stop ?? 0, Math.max(0, buttons.length - 1)));
  row.addEventListener("focusin", (event) => { const at = buttons.indexOf(event.target); if (at >= 0) stop(at); });
  row.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1, Home: -1e9, End: 1e9 }[event.key];
    if (!move || !buttons.length) return;
    event.preventDefault();
    event.stopPropagation();
    buttons[Math.max(0, Math.min(buttons.length - 1, view.stop + move))].focus();
  });
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

// Drawn anew, the view keeps the keyboard where it was: at the button in the same place.
function redraw(view, node) {
  const stops = () => [...view.box.querySelectorAll("button")];
  const at = stops().indexOf(view.box.getRootNode().activeElement);
  view.box.replaceChildren(node);
  const now = at < 0 ? null : stops()[at];
  if (now) now.focus({ preventScroll: true });
  return now;
}

// A popover or dialog stands outside of what the theme colours, so light-dark() would stay light there.
function followTheme(view) {
  const host = view.root.getRootNode().host || view.root;
  const app = host.closest(".stApp") ? null : document.querySelector(".stApp");
  view.box.style.colorScheme = app ? getComputedStyle(app).colorScheme : "";
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
  followTheme(view);
  return view;
}

function takeDown(view) {
  return () => {
    view.cleanups.forEach((cleanup) => cleanup());
    view.box.remove();
    views.delete(view.root);
  };
}
