// Puts the built script and style into the page itself, so that the page is one file that fetches
// nothing.

import type { Plugin } from "vite";

export function singleFile(): Plugin {
  return {
    name: "goodqueue-single-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const pages = Object.values(bundle).filter((file) => file.type === "asset" && file.fileName.endsWith(".html"));
      for (const page of pages) {
        if (page.type !== "asset") continue;
        let html = String(page.source);
        for (const [name, file] of Object.entries(bundle)) {
          if (file.type === "chunk") {
            html = replaceTag(html, scriptTag(name), () => `<script type="module">${neverEnding(file.code)}</script>`);
          } else if (name.endsWith(".css")) {
            html = replaceTag(html, styleTag(name), () => `<style>${String(file.source)}</style>`);
          } else {
            continue;
          }
          delete bundle[name];
        }
        page.source = html;
      }
    },
  };
}

/** Script text in which nothing looks like the end of its element. */
export function neverEnding(code: string): string {
  return code.replaceAll("</script", "<\\/script").trim();
}

function scriptTag(name: string): RegExp {
  return new RegExp(`<script type="module"[^>]*src="[^"]*${quoted(name)}"[^>]*></script>`);
}

function styleTag(name: string): RegExp {
  return new RegExp(`<link rel="stylesheet"[^>]*href="[^"]*${quoted(name)}"[^>]*>`);
}

function quoted(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A function as replacement keeps `$` in the code from being read as a group. */
function replaceTag(html: string, tag: RegExp, replacement: () => string): string {
  if (!tag.test(html)) throw new Error(`the page does not load what ${String(tag)} describes`);
  return html.replace(tag, replacement);
}
