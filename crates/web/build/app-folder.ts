// The app of `gq serve` as a folder: its page is called index.html, and it stays small.

import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Everything the app loads may have so many bytes, compressed. */
const MOST_BYTES = 300_000;

export function appFolder(): Plugin {
  return {
    name: "goodqueue-app-folder",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["app.html"];
      if (page) page.fileName = "index.html";
      const sizes = Object.values(bundle).map((file) => {
        const text = file.type === "chunk" ? file.code : file.source;
        return { name: file.fileName, bytes: gzipSync(text, { level: 9 }).length };
      });
      const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
      const each = sizes.map(({ name, bytes }) => `${name} ${bytes}`).join(", ");
      if (all > MOST_BYTES) throw new Error(`the app has ${all} bytes compressed, more than ${MOST_BYTES}: ${each}`);
      process.stdout.write(`app: ${all} of ${MOST_BYTES} bytes, compressed\n`);
    },
  };
}
