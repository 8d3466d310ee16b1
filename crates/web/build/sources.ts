// A hash of everything that the report template and the app are built from. It is stored in both,
// and Rust tests compute it again (crates/lab/src/report/tests.rs), so that a change here cannot be
// forgotten there.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Plugin } from "vite";

/** Files and folders below `web/` that decide what the template is. */
const SOURCES = ["app.html", "build", "package-lock.json", "package.json", "report.html", "src", "tsconfig.json", "vite.app.config.ts", "vite.config.ts"];

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = (1n << 64n) - 1n;

/** Writes the hash into a page. */
export function statesSources(root: string): Plugin {
  return { name: "goodqueue-sources", apply: "build", transformIndexHtml: (html) => html.replace("{{goodqueue:sources}}", sourcesHash(root)) };
}

/** 64-bit FNV-1a, in hexadecimal, of each file's path and bytes, in the order of the paths. */
function sourcesHash(root: string): string {
  let hash = OFFSET;
  const feed = (bytes: Uint8Array): void => {
    for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * PRIME) & MASK;
  };
  for (const path of SOURCES.flatMap((source) => files(root, join(root, source))).sort()) {
    feed(new TextEncoder().encode(`${path}\n`));
    feed(readFileSync(join(root, path)));
  }
  return hash.toString(16).padStart(16, "0");
}

/** Paths relative to `root`, with `/` between folders, hidden files left out. */
function files(root: string, path: string): string[] {
  if (!statSync(path).isDirectory()) return [relative(root, path).split(sep).join("/")];
  return readdirSync(path)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) => files(root, join(path, name)));
}
