"use strict";
// Values on hover, and a click on a key switches its curve; without scripts the figures are complete and browsers show the values as titles.
const tip = document.getElementById("tip");
for (const title of document.querySelectorAll("figure svg title")) {
  const mark = title.parentNode;
  if (mark.tagName === "svg") { title.remove(); continue; }
  const words = title.textContent;
  title.remove();
  mark.setAttribute("aria-label", words);
  mark.addEventListener("mouseenter", (event) => {
    tip.textContent = words;
    tip.hidden = false;
    const right = Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = right + "px";
    tip.style.top = event.pageY + 14 + "px";
  });
  mark.addEventListener("mouseleave", () => { tip.hidden = true; });
}
for (const key of document.querySelectorAll("svg .key")) {
  key.setAttribute("tabindex", "0");
  key.setAttribute("role", "switch");
  key.setAttribute("aria-checked", "true");
  const toggle = () => {
    const off = key.classList.toggle("off");
    key.setAttribute("aria-checked", String(!off));
    for (const curve of key.ownerSVGElement.querySelectorAll(".curve[data-curve='" + key.dataset.curve + "']")) curve.classList.toggle("off", off);
  };
  key.addEventListener("click", toggle);
  key.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(); } });
}
const open = () => { const target = document.getElementById(location.hash.slice(1)); if (target && target.tagName === "DETAILS") target.open = true; };
addEventListener("hashchange", open);
open();
