// The part of an axis that is shown, shared by charts that are looked at together.

import type { Range } from "./ticks.ts";

/** A range that several charts follow; `null`: everything. */
export class SharedWindow {
  readonly key: string;
  #range: Range | null = null;
  readonly #listeners = new Set<() => void>();

  constructor(key: string) {
    this.key = key;
  }

  get range(): Range | null {
    return this.#range;
  }

  set(range: Range | null): void {
    this.#range = range;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` after each change, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
