import { copyFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { ONE_FILE, singleFile } from "./build/single-file.ts";
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
    ...ONE_FILE,
    rollupOptions: { input: { report: resolve(root, "report.html") } },
  },
  test: { include: ["test/*.test.ts"], exclude: ["test/*.e2e.test.ts"] },
});
