"use strict";
// Colours as chosen, progress, and keys. Everything else works without script.
const root = document.documentElement;
const schemes = ["", "light", "dark"];

function showScheme(scheme) {
  root.dataset.scheme = scheme;
  const name = document.querySelector("[data-scheme-name]");
  if (name) name.textContent = scheme || "as the system";
}

// A browser may refuse to store anything.
function readScheme() {
  try {
    return localStorage.getItem("scheme") ?? "";
  } catch {
    return "";
  }
}

// Before anything is shown, so that a page does not change its colours.
showScheme(readScheme());

document.addEventListener("DOMContentLoaded", () => {
  // The bar of a phone is wider than the phone.
  const own = document.querySelector("nav [aria-current]");
  own?.scrollIntoView({ block: "nearest", inline: "center" });
  const button = document.querySelector("button[data-scheme]");
  if (!button) return;
  button.hidden = false;
  showScheme(root.dataset.scheme);
  button.addEventListener("click", () => {
    const next = schemes[(schemes.indexOf(root.dataset.scheme) + 1) % schemes.length];
    showScheme(next);
    localStorage.setItem("scheme", next);
  });
});

// What still runs is asked for again, until it is done.
async function refresh() {
  const running = document.querySelector("[data-runs]");
  if (!running) return;
  const answer = await fetch(location.href).catch(() => null);
  if (answer?.ok) {
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    running.replaceWith(page.querySelector("main > section") ?? running);
  }
  setTimeout(refresh, 2000);
}
document.addEventListener("DOMContentLoaded", () => setTimeout(refresh, 2000));

document.addEventListener("click", (event) => {
  const open = document.querySelector("details.moment[open]");
  if (open && !open.contains(event.target)) open.open = false;
});

let goesTo = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target.matches("input:not([type=checkbox], [type=radio]), textarea, select")) return;
  const target = goesTo
    ? document.querySelector(`[data-go="${CSS.escape(event.key)}"]`)
    : findTarget(event);
  goesTo = event.key === "g" && !goesTo;
  if (!target) return;
  event.preventDefault();
  if (target.matches("li, input:not([type=checkbox])")) target.focus();
  else target.click();
});

// What a key means: first in the review that has the focus, then on the page.
function findTarget({ key, target }) {
  const item = target.closest?.("[data-keys] > li");
  if (key === "j" || key === "k") {
    const items = [...document.querySelectorAll("[data-keys] > li")];
    return items[items.indexOf(item) + (key === "j" ? 1 : -1)];
  }
  if (key === "Escape") return document.querySelector("details.moment[open] > summary");
  const named = `[data-key="${CSS.escape(key)}"]`;
  return item?.querySelector(named) ?? document.querySelector(`:not([data-keys] *)${named}`);
}
