// The part of an axis that is shown, shared by charts that are looked at together.

import type { Range } from "./ticks.ts";

/** Something that tells its listeners of changes. */
export class Watched {
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` after each change, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  protected changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** A range that several charts follow; `null`: everything. */
export class SharedWindow extends Watched {
  readonly key: string;
  #range: Range | null = null;

  constructor(key: string) {
    super();
    this.key = key;
  }

  get range(): Range | null {
    return this.#range;
  }

  set(range: Range | null): void {
    this.#range = range;
    this.changed();
  }
}
