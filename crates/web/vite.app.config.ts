import { resolve } from "node:path";
import { defineConfig } from "vite";
import { appFolder } from "./build/app-folder.ts";
import { statesSources } from "./build/sources.ts";

const root = import.meta.dirname;
const out = resolve(root, "dist/app");

// The app of `gq serve`: files of their own under hashed names, since a server is there to give
// them.
export default defineConfig({
  root,
  base: "./",
  plugins: [statesSources(root), appFolder(out, resolve(root, "../serve/assets/app"))],
  build: {
    target: "es2022",
    outDir: out,
    emptyOutDir: true,
    // The server's content-security-policy lets nothing inline in.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
    rollupOptions: { input: { app: resolve(root, "app.html") } },
  },
});
