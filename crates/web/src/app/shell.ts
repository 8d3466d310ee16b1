// The frame of the app: a navigation bar and the page named by the address.

import "../theme.css";
import "../charts/charts.css";
import "../charts/card.css";
import "../report/tables.css";
import "./app.css";
import "./play/play.css";
import { h, messageOf } from "../dom.ts";
import { themeButton } from "../theme.ts";
import { liveRegion } from "./announce.ts";
import type { Page } from "./page.ts";

/** What the frame shows: the first page unless the address names another. */
export interface App {
  readonly version: string;
  readonly pages: readonly { readonly name: string; readonly title: string; readonly make: () => Page }[];
}

/** Parts of an address such as `#/gallery/codel?x=1`. */
export function route(hash: string): { name: string; rest: string; query: URLSearchParams } {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name = "", ...rest] = path.split("/");
  return { name, rest: rest.map(decodeURIComponent).join("/"), query: new URLSearchParams(query) };
}

/** Shows the app that `make` gives; `failure` is the title of what is shown when it gives none. */
export function startApp(failure: string, make: () => Promise<App>): void {
  const root = document.getElementById("app");
  if (!root) return;
  start(root, make).catch((error: unknown) => {
    root.replaceChildren(h("main", { class: "page" }, h("h1", {}, failure), h("p", { role: "alert" }, messageOf(error))));
  });
}

async function start(root: HTMLElement, make: () => Promise<App>): Promise<void> {
  const [app] = await Promise.all([make(), fontsReady()]);
  const pages = new Map<string, Page>();
  const links = app.pages.map(({ name, title }) => ({ name, link: h("a", { href: `#/${name}` }, title) }));
  // The site puts its own address into a page that it contains.
  const home = document.querySelector<HTMLMetaElement>('meta[name="goodqueue-home"]')?.content;
  const site = home === undefined ? [] : [h("a", { href: home }, "Documentation")];
  const main = h("main", { id: "main", tabindex: -1 });
  let shown: Page | undefined;
  const theme = themeButton(() => shown?.redraw?.());
  const go = (isFirst: boolean): void => {
    const { name, rest, query } = route(location.hash);
    const entry = app.pages.find((page) => page.name === name) ?? app.pages[0];
    if (!entry) return;
    const page = pages.get(entry.name) ?? entry.make();
    pages.set(entry.name, page);
    for (const { name: other, link } of links) {
      if (other === entry.name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    document.title = `${entry.title} · goodqueue`;
    if (shown !== page) {
      shown?.hide?.();
      main.replaceChildren(page.element);
      shown = page;
      // Keyboard focus moves to the new page instead of staying at the end of the old one.
      if (!isFirst) main.focus({ preventScroll: true });
    }
    page.show(rest, query);
    page.redraw?.();
  };
  root.replaceChildren(
    h("a", { class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), main.focus()) }, "Skip to the page"),
    h("header", { class: "row app-head" }, h("a", { class: "brand", href: "#/play" }, "goodqueue"), h("nav", { class: "tabs", "aria-label": "Pages" }, ...links.map(({ link }) => link), ...site), theme),
    main,
    h("footer", { class: "app-foot" }, `goodqueue ${app.version}`),
    liveRegion,
  );
  addEventListener("hashchange", () => go(false));
  go(true);
}

/** Text on a canvas keeps the font it was drawn with, so the font is loaded first; a missing
 *  font does not block. */
async function fontsReady(): Promise<void> {
  await Promise.allSettled([document.fonts.load("12px Inter"), document.fonts.load("600 12px Inter")]);
}
