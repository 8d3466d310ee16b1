// Remarks on settings, each next to the setting that it is about.

import { h } from "../../dom.ts";
import type { Warning } from "../../serve/protocol.ts";
import type { Variant } from "./model.ts";

/** Where a remark stands: beside the line, a group of flows, a queue; or in the list of all others. */
export type Place = "line" | `traffic-${number}` | `queue-${number}` | "list";

/** The places of a remark in a form whose queues are compared at `link`. */
export function placesOf({ field, points }: Warning, link: string): readonly Place[] {
  const [part, name, key = ""] = field.split(".");
  if (part === "traffic" && /^\d+$/.test(name ?? "")) return [`traffic-${Number(name)}`];
  if (part !== "link" || name !== link) return ["list"];
  return key === "queue" ? points.map((point): Place => `queue-${point}`) : ["line"];
}

/** Whether a queue drops on purpose what others of its kind mark: then nobody needs to hear that senders could be marked. */
export function isDeliberate({ field, points }: Warning, variants: readonly Variant[]): boolean {
  const marks = (variant: Variant | undefined): boolean => variant?.settings["ecn"] === true;
  const about = points.map((point) => variants[point]);
  return field.endsWith(".queue.ecn") && !about.some(marks) && about.every((one) => variants.some((other) => other.kind === one?.kind && marks(other)));
}

/** A remark in words; beside its setting the path to it is left out. */
export function remarkInWords({ field, message, help }: Warning, where: "beside" | "list"): string {
  const key = field.split(".").slice(2).join(".");
  return `${where === "list" || key === "" ? field : key}: ${message}; ${help}.`;
}

/** The remark as an element, with a button that does what it asks for, if there is one. */
export function remark(warning: Warning, remedy?: { readonly label: string; readonly run: () => void }): HTMLElement {
  return h("p", { class: "row beside", role: "note" }, remarkInWords(warning, "beside"), remedy && h("button", { type: "button", class: "button", onclick: () => remedy.run() }, remedy.label));
}
