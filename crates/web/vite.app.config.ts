import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { defineConfig } from "vite";
import { appFolder } from "./build/app-folder.ts";
import { statesSources } from "./build/sources.ts";

const root = import.meta.dirname;
/** The crate that embeds the app. Its folder without its manifest would break the workspace. */
const serve = resolve(root, "../serve");
const out = existsSync(resolve(serve, "Cargo.toml")) ? resolve(serve, "assets/app") : resolve(root, "dist/app");

// The app of `gq serve`: files of their own under hashed names, since a server is there to give
// them.
export default defineConfig({
  root,
  base: "./",
  plugins: [statesSources(root), appFolder()],
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
