// Which colour is which flow, in the packet view and in charts of single flows.

import { h } from "../../dom.ts";
import { HUES, type Look } from "../../palette.ts";

/** Look of the flow with this number, independent of its group. */
export function flowLook(number: number): Look {
  const hue = HUES[(number + 1) % HUES.length] ?? "slate";
  return { hue, dash: number < HUES.length ? [] : [4, 3], mark: "circle" };
}

export function flowName({ group, index }: { readonly group: string; readonly index: number }): string {
  return `${group} ${index}`;
}


/** Legend of the colours of the first `most` flows. */
export function flowLegend(names: readonly string[], most: number): HTMLElement {
  const rest = names.length - most;
  const items = names.slice(0, most).map((name, flow) => {
    const swatch = h("span", { class: `flow-swatch${flow >= 8 ? " barred" : ""}`, "aria-hidden": "true" });
    // The content security policy rejects inline styles.
    swatch.style.setProperty("--flow", `var(--series-${flowLook(flow).hue})`);
    return h("li", {}, swatch, name);
  });
  return h("ul", { class: "flow-legend", "aria-label": "Colours of the flows" }, ...items, rest > 0 && h("li", { class: "hint" }, `and ${rest} more`));
}
