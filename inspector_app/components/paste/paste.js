// A long paste is caught before it stands in the field: there it would be laid out anew with every change of the page.

const LONGEST = 50000;

function watched(view, event) {
  const area = event.target;
  return area.tagName === "TEXTAREA" && area.closest(".st-key-" + view.data.field) ? area : null;
}

function take(view, event, text) {
  event.stopImmediatePropagation();
  view.component.setTriggerValue("text", text);
}

function onPaste(view, event) {
  const area = watched(view, event), text = area ? event.clipboardData.getData("text/plain") : "";
  const replaces = area && area.selectionEnd - area.selectionStart === area.value.length;
  if (!replaces || text.length <= LONGEST) return;
  event.preventDefault();
  if (area.value) document.execCommand("delete");
  take(view, event, text);
}

// What gets there in another way: dropped, or put in beside other text.
function onInput(view, event) {
  const area = watched(view, event), text = area ? area.value : "";
  if (text.length <= LONGEST) return;
  area.value = "";
  take(view, event, text);
}

// The field hands over its text at this key; whoever presses it wants it to be read, too.
function onEnter(view, event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || !watched(view, event)) return;
  setTimeout(() => document.querySelector(`.st-key-${view.data.read} button`)?.click());
}

// What was put in before this script was there.
function catchUp(view) {
  const area = document.querySelector(`.st-key-${view.data.field} textarea`), text = area?.value ?? "";
  if (text.length <= LONGEST) return;
  // Past the property by which React follows what it wrote itself: it must see that the field is empty now.
  Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(area, "");
  area.dispatchEvent(new Event("input", { bubbles: true }));
  view.component.setTriggerValue("text", text);
}

function build(view) {
  view.said = el("div", "pasted");
  view.box.appendChild(view.said);
  for (const [type, handler] of [["paste", onPaste], ["input", onInput], ["keydown", onEnter]]) {
    const wrapped = (event) => handler(view, event);
    window.addEventListener(type, wrapped, true);
    view.cleanups.push(() => window.removeEventListener(type, wrapped, true));
  }
}

export default function (component) {
  const view = viewOf(component, build), first = !view.data;
  view.data = component.data;
  if (first) catchUp(view);
  const { said, forget } = view.data;
  view.said.replaceChildren();
  if (said) {
    const clear = button("", "✕", () => view.component.setTriggerValue("text", ""));
    clear.setAttribute("aria-label", forget);
    view.said.append(el("span", "", said), clear);
  }
  return takeDown(view);
}
