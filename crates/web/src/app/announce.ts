// One live region for the whole app: announces changes to screen readers.

import { h } from "../dom.ts";

const region = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
let timer: ReturnType<typeof setTimeout> | undefined;

/** The element, which the app adds to the page once. */
export function liveRegion(): HTMLElement {
  return region;
}

/** Announces `text` soon; of several in a row, only the last. */
export function announce(text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    region.textContent = text;
  }, 150);
}
