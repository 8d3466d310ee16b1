// Files that a visitor brings: chosen by a button or dropped anywhere on the page.

import { h } from "../../dom.ts";

/** What a file seems to be. */
export type FileKind = "scenario" | "trace";

/** A recording is lines of whole numbers; everything else is taken for a scenario. */
export function kindOf(name: string, text: string): FileKind {
  if (/\.toml$/i.test(name)) return "scenario";
  const lines = text.slice(0, 2000).split("\n").slice(0, 20).map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.slice(0, -1).every((line) => /^\d+$/.test(line)) && /^\d+$/.test(lines[0] ?? "") ? "trace" : "scenario";
}

/** A button that opens the system's choice of files. */
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

/** Takes files dropped on the page while `isActive`; shows where they go meanwhile. */
export function acceptDrops(isActive: () => boolean, onFile: (file: File) => void): void {
  const veil = h("div", { class: "drop-veil", hidden: true }, h("p", {}, "Drop a scenario (.toml) or a recorded link (mahimahi)"));
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
