// What the app asks of each of its pages.

import type { Api } from "../serve/api.ts";
import type { Hello, Kinds } from "../serve/protocol.ts";

/** What every page is given. */
export interface Context {
  readonly api: Api;
  readonly hello: Hello;
  readonly kinds: Kinds;
}

/** One page of the app. It is made once and keeps its state while another one is shown. */
export interface Page {
  readonly element: HTMLElement;
  /** It is shown now, with this behind its name in the address. */
  show(rest: string, query: URLSearchParams): void;
  /** Another one is shown. */
  hide(): void;
  /** The theme has changed. */
  redraw(): void;
}
