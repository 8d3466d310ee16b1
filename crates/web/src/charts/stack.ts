// Several drawings in one picture.

import type { Ink } from "../palette.ts";
import { escapeXml } from "./svg.ts";

/** SVG texts side by side, `inRow` in a row, below a title if there is one. */
export function stackSvg(pieces: readonly string[], width: number, inRow: number, title: string | undefined, ink: Ink): string {
  const height = Math.max(0, ...pieces.map((piece) => Number(/height="([\d.]+)"/.exec(piece)?.[1] ?? 0)));
  const top = title === undefined ? 0 : 40;
  const placed = pieces.map((piece, at) => {
    const place = `<svg x="${(at % inRow) * (width / inRow)}" y="${top + Math.floor(at / inRow) * height}" `;
    // Names inside one picture are its own only as long as no other picture has them.
    return piece.replace("<svg ", place).replaceAll("clip-", `clip-${at}-`);
  });
  const all = top + Math.ceil(pieces.length / inRow) * height;
  const head = title === undefined ? "" : `<text x="14" y="26" font-size="15" font-weight="600" fill="${ink.ink}">${escapeXml(title)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${all}" viewBox="0 0 ${width} ${all}" font-family="Inter, sans-serif"><defs></defs><rect width="${width}" height="${all}" fill="${ink.surface}"/>${head}${placed.join("")}</svg>`;
}
