// Packs the page without a server into one file: LZMA, which has a third fewer bytes than the gzip
// that browsers unpack by themselves, and base64; bounds its size.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { compress } from "lzma1";
import type { Plugin } from "vite";
import { ELEMENT, PARTS, type PartName } from "../src/local/parts.ts";
import { emptied } from "./single-file.ts";

/** Size limit of the page in bytes, compressed as a static host sends it. */
const MOST_BYTES = 700_000;

/** The level of LZMA with the smallest dictionary, 8 MiB, that holds all parts for years: a page
 *  sets that much aside to unpack itself. */
const LEVEL = 7;

/** Puts `boot` into the page as a script, and everything else packed into an element: the script
 *  `main`, its style, the report's template and the module from their files. */
export function packedPage(files: { readonly module: string; readonly report: string }): Plugin {
  return {
    name: "goodqueue-packed-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      const { page, html, style, script } = emptied(bundle);
      const parts: Record<PartName, Buffer> = {
        style: Buffer.from(withoutFonts(style)),
        script: Buffer.from(script("main")),
        report: Buffer.from(withoutFonts(readFileSync(files.report, "utf8"))),
        module: readFileSync(files.module),
      };
      const all = PARTS.map((name) => parts[name]);
      const packed = Buffer.from(compress(Buffer.concat(all), LEVEL));
      const lengths = all.map(({ length }) => length).join(" ");
      const element = `<script id="${ELEMENT}" type="text/plain" data-lengths="${lengths}">${packed.toString("base64")}</script>`;
      page.source = html.replace("</body>", () => `${element}<script type="module">${script("boot")}</script></body>`);
      const bytes = gzipSync(page.source, { level: 9 }).length;
      if (bytes > MOST_BYTES) throw new Error(`the playground has ${bytes} bytes compressed, more than ${MOST_BYTES}`);
      process.stdout.write(`playground: ${bytes} of ${MOST_BYTES} bytes, compressed\n`);
    },
  };
}

/** A style, or a page with one, whose text is in the system's typeface: ours would be a twelfth of
 *  the page. */
function withoutFonts(text: string): string {
  return text.replace(/@font-face\{[^}]*\}/g, "");
}
