// One live region for the whole app: what happened, for those who do not see it happen.

import { h } from "../dom.ts";

const region = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
let timer: ReturnType<typeof setTimeout> | undefined;

/** What the app puts on the page once. */
export function liveRegion(): HTMLElement {
  return region;
}

/** Says `text` soon; of several in a row only the last. */
export function announce(text: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    region.textContent = text;
  }, 150);
}
