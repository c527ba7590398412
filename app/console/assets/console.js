"use strict";
// Keys for lists of reviews, while one of them has the focus. Everything else works without script.
document.addEventListener("keydown", (event) => {
  const item = event.target.closest?.("[data-keys] > li");
  const isTyping = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (!item || isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
  const sibling = { j: item.nextElementSibling, k: item.previousElementSibling }[event.key];
  if (sibling) {
    sibling.focus();
  } else if (/^[arux1-8]$/.test(event.key)) {
    const own = item.querySelector(`[data-key=${event.key}]`);
    (own ?? document.querySelector(`[data-key=${event.key}]`))?.click();
  }
});
