// The WebAssembly module behind functions of JavaScript, for a worker of the page and for tests.

import type { Ask } from "./messages.ts";

/** Functions that crates/serve/src/wasm/door.rs exports. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  begin(): void;
  input(bytes: number): number;
  ask(): void;
  frame(): number;
}

/** One instance of the module, with at most one session. */
export class Engine {
  readonly #exports: Exports;
  #answer = "";

  /** `now` gives milliseconds; `onEvent` gets an event's name and its data as JSON. */
  constructor(module: WebAssembly.Module, now: () => number, onEvent: (name: string, data: string) => void) {
    const decoder = new TextDecoder();
    const tell = (name: number, nameBytes: number, data: number, dataBytes: number): void => {
      const text = (at: number, length: number): string => decoder.decode(new Uint8Array(this.#exports.memory.buffer, at >>> 0, length));
      const event = text(name, nameBytes);
      if (event === "answer") this.#answer = text(data, dataBytes);
      else onEvent(event, text(data, dataBytes));
    };
    this.#exports = new WebAssembly.Instance(module, { page: { now, tell } }).exports as unknown as Exports;
    this.#exports.begin();
  }

  /** The answer as JSON. */
  askText(ask: Ask): string {
    const bytes = new TextEncoder().encode(JSON.stringify(ask));
    const at = this.#exports.input(bytes.length) >>> 0;
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    this.#exports.ask();
    return this.#answer;
  }

  /** Computes a frame. Milliseconds until the next one, or -1 when no session runs. */
  frame(): number {
    return this.#exports.frame();
  }
}
