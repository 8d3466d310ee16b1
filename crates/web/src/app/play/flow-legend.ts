// Which color is which flow, in the packet view and in charts of single flows.

import { h } from "../../dom.ts";
import { HUES, type Look } from "../../palette.ts";
import type { VariantFrame } from "../../serve/protocol.ts";

/** Look of the flow with this number, independent of its group. */
export function flowLook(number: number): Look {
  const hue = HUES[(number + 1) % HUES.length] ?? "slate";
  return { hue, dash: number < HUES.length ? [] : [4, 3], mark: "circle" };
}

type Flow = Pick<VariantFrame["flows"][number], "group" | "index">;

export function flowName({ group, index }: Flow): string {
  return `${group} ${index}`;
}

/** Legend of the colors of the first `most` flows; flows may be added while it is shown. */
export class FlowLegend {
  readonly element = h("ul", { class: "bare flow-legend", "aria-label": "Colors of the flows" });
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  update(flows: readonly Flow[]): void {
    if (flows.length === this.#count) return;
    this.#count = flows.length;
    const rest = flows.length - this.#most;
    const items = flows.slice(0, this.#most).map((flow, number) => {
      const swatch = h("span", { class: `flow-swatch${number >= 8 ? " barred" : ""}`, "aria-hidden": "true" });
      // The content security policy rejects inline styles.
      swatch.style.setProperty("--flow", `var(--series-${flowLook(number).hue})`);
      return h("li", { class: "named" }, swatch, flowName(flow));
    });
    this.element.replaceChildren(...items, rest > 0 ? h("li", { class: "hint" }, `and ${rest} more`) : "");
  }
}
