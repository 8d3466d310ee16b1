// The app of `gq serve`: a navigation bar and the page named by the address.

import "../theme.css";
import "../charts/charts.css";
import "../charts/card.css";
import "../report/tables.css";
import "./app.css";
import "./play/play.css";
import { h } from "../dom.ts";
import { Api } from "../serve/api.ts";
import { themeButton } from "../theme.ts";
import { liveRegion } from "./announce.ts";
import { GalleryPage } from "./gallery.ts";
import { MonitorPage } from "./monitor.ts";
import type { Context, Page } from "./page.ts";
import { PlayPage } from "./play/page.ts";
import { RunsPage } from "./runs.ts";

const PAGES: readonly { name: string; title: string; make: (context: Context) => Page }[] = [
  { name: "play", title: "Playground", make: (context) => new PlayPage(context) },
  { name: "runs", title: "Runs", make: (context) => new RunsPage(context) },
  { name: "gallery", title: "Gallery", make: (context) => new GalleryPage(context) },
  { name: "monitor", title: "Monitor", make: (context) => new MonitorPage(context) },
];

/** Parts of an address such as `#/gallery/codel?x=1`. */
export function route(hash: string): { name: string; rest: string; query: URLSearchParams } {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", ...rest] = path.split("/");
  return { name, rest: rest.map(decodeURIComponent).join("/"), query: new URLSearchParams(query) };
}

async function start(root: HTMLElement): Promise<void> {
  const api = new Api();
  const [hello, kinds] = await Promise.all([api.hello(), api.kinds(), fontsReady()]);
  const context = { api, hello, kinds };
  const pages = new Map<string, Page>();
  const links = PAGES.map(({ name, title }) => ({ name, link: h("a", { href: `#/${name}` }, title) }));
  const main = h("main", { id: "main", tabindex: -1 });
  let shown: Page | undefined;
  const theme = themeButton(() => shown?.redraw());
  const go = (isFirst: boolean): void => {
    const { name, rest, query } = route(location.hash);
    const entry = PAGES.find((page) => page.name === name) ?? PAGES[0];
    if (!entry) return;
    const page = pages.get(entry.name) ?? entry.make(context);
    pages.set(entry.name, page);
    for (const { name: other, link } of links) {
      if (other === entry.name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${entry.title} · goodqueue`;
    if (shown !== page) {
      shown?.hide();
      main.replaceChildren(page.element);
      shown = page;
      // Keyboard focus moves to the new page instead of staying at the end of the old one.
      if (!isFirst) main.focus({ preventScroll: true });
    }
    page.show(rest, query);
    page.redraw();
  };
  root.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), main.focus()) }, "Skip to the page"),
    h("header", { class: "app-head" }, h("a", { class: "brand", href: "#/play" }, "goodqueue"), h("nav", { "aria-label": "Pages" }, ...links.map(({ link }) => link)), theme),
    main,
    h("footer", { class: "app-foot" }, `goodqueue ${hello.version}`),
    liveRegion(),
  );
  addEventListener("hashchange", () => go(false));
  go(true);
}

/** Text on a canvas keeps the font it was drawn with, so the font is loaded first; a missing
 *  font does not block. */
async function fontsReady(): Promise<void> {
  await Promise.allSettled([document.fonts.load("12px Inter"), document.fonts.load("600 12px Inter")]);
}

const root = document.getElementById("app");
if (root) {
  start(root).catch((error: unknown) => {
    root.replaceChildren(h("main", { class: "page" }, h("h1", {}, "gq serve does not answer"), h("p", { role: "alert" }, error instanceof Error ? error.message : String(error))));
  });
}
