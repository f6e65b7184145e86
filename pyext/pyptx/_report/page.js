"use strict";
// Rows of all panes that came from one line of Python carry the same data-l. Pointing at one lights
// the others and scrolls them into view; a click keeps them lit until the next click or Escape.
for (const part of document.querySelectorAll(".report")) {
  let pinned = null;
  let shown = null;

  const reveal = (pane, rows) => {
    const box = pane.getBoundingClientRect();
    const inView = (row) => {
      const r = row.getBoundingClientRect();
      return r.top >= box.top && r.bottom <= box.bottom;
    };
    if (rows.length && !rows.some(inView))
      pane.scrollTop += rows[0].getBoundingClientRect().top - box.top - pane.clientHeight / 3;
  };

  const light = (line, from) => {
    if (line === shown) return;
    shown = line;
    for (const row of part.querySelectorAll(".lit, .pinned")) row.classList.remove("lit", "pinned");
    if (line === null) return;
    for (const pane of part.querySelectorAll(".rows")) {
      const rows = [...pane.querySelectorAll(`.r[data-l="${line}"]`)];
      for (const row of rows) row.classList.add(line === pinned ? "pinned" : "lit");
      if (!from || pane !== from.closest(".rows")) reveal(pane, rows);
    }
  };

  const panes = part.querySelector(".panes");
  panes.addEventListener("mouseover", (event) => {
    const row = event.target.closest(".r[data-l]");
    if (pinned === null) light(row ? row.dataset.l : null, row);
  });
  panes.addEventListener("mouseleave", () => { if (pinned === null) light(null); });
  const pin = (row) => {
    const line = row ? row.dataset.l : null;
    pinned = line === pinned ? null : line;
    shown = undefined;
    light(pinned === null ? line : pinned, row);
  };
  panes.addEventListener("click", (event) => { if (event.target.closest(".rows")) pin(event.target.closest(".r[data-l]")); });
  part.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches(".r[data-l]")) pin(event.target);
    if (event.key === "Escape") { pinned = null; light(null); }
  });

  for (const button of part.querySelectorAll("button[data-pane]"))
    button.addEventListener("click", () => {
      const pane = part.querySelector(`.pane[data-pane="${button.dataset.pane}"]`);
      pane.hidden = !pane.hidden;
      button.setAttribute("aria-pressed", String(!pane.hidden));
      const n = part.querySelectorAll(".pane:not([hidden])").length;
      panes.style.gridTemplateColumns = n === 4 || innerWidth <= 760 ? "" : `repeat(${Math.min(n, innerWidth > 1280 ? 3 : 2) || 1}, minmax(0, 1fr))`;
    });
}

// The type of the expression under the pointer.
const tip = document.getElementById("tip");
document.addEventListener("mouseover", (event) => {
  const at = event.target.closest("[data-t]");
  tip.hidden = !at;
  if (!at) return;
  tip.textContent = at.dataset.t;
  const box = at.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${box.top > 40 ? box.top - tip.offsetHeight - 4 : box.bottom + 4}px`;
});

// One signature at a time.
for (const button of document.querySelectorAll("nav button"))
  button.addEventListener("click", () => {
    for (const other of document.querySelectorAll("nav button")) other.setAttribute("aria-pressed", String(other === button));
    for (const part of document.querySelectorAll(".report")) part.hidden = part.id !== button.dataset.report;
  });
