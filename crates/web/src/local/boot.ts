// The page's first script: it unpacks the page and starts it.

import { decompress } from "lzma1";
import { ELEMENT, PARTS, type PartName, type WithUnpacked } from "./parts.ts";

function boot(): void {
  const element = document.getElementById(ELEMENT);
  if (!element) throw new Error("the packed page is missing");
  const packed = Uint8Array.from(atob(element.textContent.trim()), (letter) => letter.charCodeAt(0));
  const lengths = (element.dataset["lengths"] ?? "").split(" ").map(Number);
  element.remove();
  const all = decompress(packed);
  let at = 0;
  const parts = Object.fromEntries(PARTS.map((name, number) => [name, all.subarray(at, (at += lengths[number] ?? 0))])) as Record<PartName, Uint8Array<ArrayBuffer>>;
  const text = (name: PartName): string => new TextDecoder().decode(parts[name]);
  const left: WithUnpacked = { goodqueueUnpacked: { report: text("report"), module: parts.module } };
  Object.assign(globalThis, left);
  const style = document.createElement("style");
  style.textContent = text("style");
  const script = document.createElement("script");
  script.type = "module";
  script.textContent = text("script");
  document.head.append(style, script);
}

// The browser shows that it is loading before this takes it a moment.
requestAnimationFrame(() => setTimeout(boot));
