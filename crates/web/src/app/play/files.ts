// Files from the user: chosen with a button or dropped on the page.

import { h } from "../../dom.ts";

/** A recording consists of lines of whole numbers; everything else is treated as a scenario. */
export function kindOf(name: string, text: string): "scenario" | "trace" {
  if (/\.toml$/i.test(name)) return "scenario";
  const lines = text.slice(0, 2000).split("\n").slice(0, 20).map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.slice(0, -1).every((line) => /^\d+$/.test(line)) && /^\d+$/.test(lines[0] ?? "") ? "trace" : "scenario";
}

/** A button that opens the file chooser of the system. */
export function fileButton(label: string, onFile: (file: File) => void): HTMLElement {
  const input = h("input", { type: "file", class: "visually-hidden", id: "open-file", tabindex: -1, "aria-hidden": "true", onchange: () => taken() });
  const taken = (): void => {
    const [file] = input.files ?? [];
    // The same file may be chosen again after a change.
    if (file) onFile(file);
    input.value = "";
  };
  return h("span", {}, h("button", { type: "button", class: "button", onclick: () => input.click() }, label), input);
}

/** Accepts files dropped on the page while `isActive`, and shows the drop target during the
 *  drag. */
export function acceptDrops(isActive: () => boolean, onFile: (file: File) => void): void {
  const veil = h("div", { class: "drop-veil", hidden: true }, h("p", {}, "Drop a scenario (.toml) or a trace of a link (mahimahi)"));
  document.body.append(veil);
  const hasFile = (event: DragEvent): boolean => isActive() && [...(event.dataTransfer?.types ?? [])].includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) veil.hidden = true;
  });
  addEventListener("drop", (event) => {
    veil.hidden = true;
    if (!hasFile(event)) return;
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) onFile(file);
  });
}
