// The sample of a look next to a name: in legends, tables and tooltips.

import { h } from "../dom.ts";
import { inkFrom, type Look } from "../palette.ts";
import { swatch } from "./svg.ts";

/** Colors by name instead of by value, so that signs follow the theme and print styles. */
const NAMED = inkFrom((name) => `var(--${name})`);

/** A piece of line with its mark. */
export function sign(look: Look): HTMLElement {
  const element = h("span", { class: "sign" });
  // Only our own shapes and colors are in this text.
  element.innerHTML = `<svg width="24" height="12" viewBox="0 -6 24 12" aria-hidden="true">${swatch(look, NAMED)}</svg>`;
  return element;
}
