// The app of `gq serve` as a folder: its page is called index.html, it stays small, and `cargo
// build` finds it.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";

/** Everything the app loads may have so many bytes, compressed. */
const MOST_BYTES = 300_000;

/** Builds into `from`, refuses what is too large, and copies it to `to`. */
export function appFolder(from: string, to: string): Plugin {
  return {
    name: "goodqueue-app-folder",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["app.html"];
      if (page) page.fileName = "index.html";
    },
    closeBundle() {
      const sizes = filesIn(from).map((path) => ({ path, bytes: gzipSync(readFileSync(join(from, path)), { level: 9 }).length }));
      const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
      if (all > MOST_BYTES) throw new Error(`the app has ${all} bytes compressed, more than ${MOST_BYTES}: ${sizes.map(({ path, bytes }) => `${path} ${bytes}`).join(", ")}`);
      // A crate's folder without its manifest would break the workspace.
      if (!existsSync(join(to, "../../Cargo.toml"))) return;
      rmSync(to, { recursive: true, force: true });
      cpSync(from, to, { recursive: true });
      process.stdout.write(`app: ${all} of ${MOST_BYTES} bytes, compressed\n`);
    },
  };
}

function filesIn(folder: string, below = ""): string[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? filesIn(folder, join(below, entry.name)) : [join(below, entry.name)]));
}
