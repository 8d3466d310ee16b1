// Exported files: SVG and PNG of a chart, CSV of its numbers.

import { h } from "../dom.ts";

/** A table as rows of cells, the first row being the header. */
export type Rows = readonly (readonly (string | number | null)[])[];

/** Lets the browser save `content` under `name`. */
export function download(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  // The browser has read the address by the next task; keeping it longer would leak memory.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** RFC 4180: commas, quotes where needed, CRLF. Text that a spreadsheet would run as a formula
 *  is kept as text. */
export function csv(rows: Rows): string {
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

function cell(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "";
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A file name made of the words of `text`. */
export function fileName(text: string): string {
  return (
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 80) || "report"
  );
}

/** Draws SVG text into a PNG, `scale` pixels for each of its own. */
export async function svgToPng(svg: string, scale: number): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(withFont(svg))}`;
  await image.decode();
  const canvas = h("canvas");
  canvas.width = image.width * scale;
  canvas.height = image.height * scale;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser gives no canvas to draw on");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("this browser cannot write PNG");
  return blob;
}

/** An image has no access to the page, so its font must be embedded. */
function withFont(svg: string): string {
  const faces = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSFontFaceRule);
  const style = faces.map((face) => face.cssText).join("");
  return svg.replace("<defs>", () => `<defs><style>${style}</style>`);
}
