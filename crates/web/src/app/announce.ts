// One live region for the whole app: announces changes to screen readers.

import { h } from "../dom.ts";

/** The element, which the app adds to the page once. */
export const liveRegion = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
let timer: ReturnType<typeof setTimeout> | undefined;

/** Announces `text` soon; of several in a row, only the last. */
export function announce(text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    liveRegion.textContent = text;
  }, 150);
}
