// Interface of the pages of the app.

import type { Api } from "../serve/api.ts";
import type { Hello, Kinds } from "../serve/protocol.ts";

/** Context passed to every page. */
export interface Context {
  readonly api: Api;
  readonly hello: Hello;
  readonly kinds: Kinds;
}

/** One page of the app. It is created once and keeps its state while another page is shown. */
export interface Page {
  readonly element: HTMLElement;
  /** Called when the page is shown, with the part of the address after its name. */
  show(rest: string, query: URLSearchParams): void;
  /** Called when another page is shown. */
  hide(): void;
  /** Called when the theme changes. */
  redraw(): void;
}
