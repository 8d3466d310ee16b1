import { resolve } from "node:path";
import { defineConfig } from "vite";
import { packedPage } from "./build/packed-page.ts";
import { ONE_FILE } from "./build/single-file.ts";

const root = import.meta.dirname;
const module = process.env["GQ_MODULE"];
if (module === undefined) throw new Error("GQ_MODULE names no WebAssembly module; crates/web/playground.sh builds it");

// The playground as one file, for any static host and for reading from a disk.
export default defineConfig({
  root,
  base: "./",
  plugins: [packedPage({ module, report: resolve(root, "../lab/assets/report.html") })],
  worker: { format: "iife" },
  build: {
    ...ONE_FILE,
    outDir: resolve(root, "dist/playground"),
    emptyOutDir: true,
    rollupOptions: { input: { playground: resolve(root, "playground.html"), boot: resolve(root, "src/local/boot.ts"), main: resolve(root, "src/local/main.ts") } },
  },
});
