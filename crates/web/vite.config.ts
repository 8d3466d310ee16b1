import { copyFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { singleFile } from "./build/single-file.ts";
import { statesSources } from "./build/sources.ts";

const root = import.meta.dirname;
/** Where `cargo build` takes the report's template from. */
const template = resolve(root, "../lab/assets/report.html");

export default defineConfig({
  root,
  base: "./",
  plugins: [
    singleFile("report"),
    statesSources(root),
    { name: "goodqueue-template", apply: "build", closeBundle: () => copyFileSync(resolve(root, "dist/report.html"), template) },
  ],
  build: {
    target: "es2022",
    // The page is read from a file, where nothing can be fetched: fonts go into the style sheet,
    // one script, no preloading.
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: { report: resolve(root, "report.html") } },
  },
  test: { include: ["test/*.test.ts"], exclude: ["test/*.e2e.test.ts"] },
});
