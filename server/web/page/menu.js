// SPDX-License-Identifier: GPL-2.0-or-later
// A list from which the viewer chooses one item, over the picture; by mouse, touch or keys.
let open = null; // {box, opener, close}

// items: [{text, value}]; current: the value that is chosen now; choose(value) is called once. A second call with the same
// opener closes it.
export function toggle_menu({ box, opener, title, items, current, choose }) {
  const again = open?.opener === opener;
  close_menu();
  if (again) return;
  const head = document.createElement("h2");
  head.textContent = title;
  const buttons = items.map(({ text, value }) => {
    const button = document.createElement("button");
    button.textContent = text;
    button.dir = "auto";
    button.setAttribute("role", "menuitemradio");
    button.setAttribute("aria-checked", value === current);
    button.onclick = () => {
      close_menu();
      choose(value);
    };
    return button;
  });
  box.replaceChildren(head, ...buttons);
  box.setAttribute("aria-label", title);
  box.hidden = false;
  box.onkeydown = e => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!by) return;
    const at = buttons.indexOf(document.activeElement);
    buttons[(at + by + buttons.length) % buttons.length].focus();
    e.preventDefault();
    e.stopPropagation();
  };
  open = { box, opener };
  opener.setAttribute("aria-expanded", true);
  (buttons.find(b => b.getAttribute("aria-checked") === "true") ?? buttons[0]).focus();
}

// Returns false if there was none.
export function close_menu() {
  if (!open) return false;
  open.box.hidden = true;
  open.opener.setAttribute("aria-expanded", false);
  open = null;
  return true;
}
