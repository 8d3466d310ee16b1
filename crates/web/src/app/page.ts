// Interface of the pages of the app.

import type { Api } from "../serve/api.ts";
import type { Backend } from "../serve/backend.ts";
import type { Hello, Kinds } from "../serve/protocol.ts";

/** Context of the playground, with or without a server. */
export interface PlayContext {
  readonly api: Backend;
  readonly hello: Hello;
  readonly kinds: Kinds;
}

/** Context passed to every page of `gq serve`. */
export interface Context extends PlayContext {
  readonly api: Api;
}

/** One page of the app. It is created once and keeps its state while another page is shown. */
export interface Page {
  readonly element: HTMLElement;
  /** Called when the page is shown, with the part of the address after its name. */
  show(rest: string, query: URLSearchParams): void;
  /** Called when another page is shown. */
  hide?(): void;
  /** Called when the theme changes. */
  redraw?(): void;
}
