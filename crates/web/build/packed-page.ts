// Packs the page without a server into one file: LZMA, which has a third fewer bytes than the gzip
// that browsers unpack by themselves, and base64; bounds its size.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { compress } from "lzma1";
import type { Plugin } from "vite";
import { ELEMENT, PARTS, type PartName } from "../src/local/parts.ts";
import { neverEnding } from "./single-file.ts";

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
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const code = (name: string): string => {
        const chunk = chunks.find((one) => one.isEntry && one.name === name);
        if (!chunk || chunk.imports.length > 0) throw new Error(`the script ${name} is missing, or not whole`);
        return chunk.code;
      };
      const style = Object.values(bundle).find((file) => file.type === "asset" && file.fileName.endsWith(".css"));
      const page = Object.values(bundle).find((file) => file.type === "asset" && file.fileName.endsWith(".html"));
      if (style?.type !== "asset" || page?.type !== "asset") throw new Error("the page or its style is missing");
      const parts: Record<PartName, Buffer> = {
        style: Buffer.from(withoutFonts(String(style.source))),
        script: Buffer.from(code("main")),
        report: Buffer.from(withoutFonts(readFileSync(files.report, "utf8"))),
        module: readFileSync(files.module),
      };
      const all = PARTS.map((name) => parts[name]);
      const packed = Buffer.from(compress(Buffer.concat(all), LEVEL));
      const lengths = all.map(({ length }) => length).join(" ");
      const element = `<script id="${ELEMENT}" type="text/plain" data-lengths="${lengths}">${packed.toString("base64")}</script>`;
      const html = String(page.source).replace(/<(script|link) [^>]*(src|href)="\.[^>]*>(<\/script>)?/g, "");
      page.source = html.replace("</body>", () => `${element}<script type="module">${neverEnding(code("boot"))}</script></body>`);
      for (const [name, file] of Object.entries(bundle)) if (file !== page) delete bundle[name];
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
