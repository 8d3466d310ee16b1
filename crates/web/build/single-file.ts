// Puts the built script and style into the page itself, so that the page is one file that fetches
// nothing.

import type { BuildOptions, Plugin, Rollup } from "vite";

/** Options of pages that are read from a file, where nothing can be fetched: fonts go into the style sheet, one script, no
 *  preloading. */
export const ONE_FILE: BuildOptions = {
  target: "es2022",
  assetsInlineLimit: Number.MAX_SAFE_INTEGER,
  cssCodeSplit: false,
  modulePreload: false,
  reportCompressedSize: false,
};

/** A page out of a bundle, without what it loads, which is to be put into it. */
export interface Emptied {
  readonly page: Rollup.OutputAsset;
  readonly html: string;
  readonly style: string;
  /** The script of this entry, which nothing in it ends. */
  readonly script: (entry: string) => string;
}

/** Leaves only the page in the bundle. */
export function emptied(bundle: Rollup.OutputBundle): Emptied {
  const files = Object.values(bundle);
  const asset = (ending: string): Rollup.OutputAsset => {
    const found = files.find((file) => file.fileName.endsWith(ending));
    if (found?.type !== "asset") throw new Error(`the build made no file that ends in ${ending}`);
    return found;
  };
  const script = (entry: string): string => {
    const chunk = files.find((file) => file.type === "chunk" && file.isEntry && file.name === entry);
    if (chunk?.type !== "chunk" || chunk.imports.length > 0) throw new Error(`the script ${entry} is missing, or not whole`);
    return chunk.code.replaceAll("</script", "<\\/script").trim();
  };
  const [page, style] = [asset(".html"), asset(".css")];
  for (const [name, file] of Object.entries(bundle)) if (file !== page) delete bundle[name];
  const html = String(page.source).replace(/<(script|link) [^>]*(src|href)="\.[^>]*>(<\/script>)?/g, "");
  return { page, html, style: String(style.source), script };
}

export function singleFile(entry: string): Plugin {
  return {
    name: "goodqueue-single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const { page, html, style, script } = emptied(bundle);
      page.source = html.replace("</head>", () => `<style>${style}</style><script type="module">${script(entry)}</script></head>`);
    },
  };
}
