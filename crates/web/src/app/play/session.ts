// One run: its frames are added to the history, all other events go to the listener.

import { History } from "../../charts/history.ts";
import type { Moment } from "../../charts/live.ts";
import type { Backend, OnBreak, SessionEvents } from "../../serve/backend.ts";
import type { About, Control, Done, Frame, SessionState, VariantFrame } from "../../serve/protocol.ts";

/** Listener of a session. */
export type Watcher = { readonly onBreak: OnBreak } & { readonly [Name in keyof SessionEvents as `on${Capitalize<Name>}`]: (data: SessionEvents[Name]) => void };

/** Bound on individually drawn flows. */
export const MOST_FLOWS = 16;
/** Number of changes whose times are kept. */
const MOST_NOTES = 200;

/** Key in the history for a quantity of one variant: its path in a frame, such as
 *  `link.sojourn_s.mean`. */
export function keyOf(variant: number, what: string): string {
  return `${variant}.${what}`;
}

export class Session {
  readonly id: string;
  readonly history = new History();
  readonly notes: Moment[] = [];
  about: About | undefined;
  frame: Frame | undefined;
  state: SessionState | undefined;
  done: Done | undefined;
  /** Names of the gauges seen so far. */
  readonly gauges = new Set<string>();
  readonly #api: Backend;
  readonly #stream: { close(): void };
  readonly #watcher: Watcher;

  /** Follows the session `id` of `api`. */
  constructor(api: Backend, id: string, watcher: Watcher) {
    this.id = id;
    this.#api = api;
    this.#watcher = watcher;
    this.#stream = api.listen(
      id,
      {
        about: (about) => {
          this.about = about;
          watcher.onAbout(about);
        },
        frame: (frame) => this.#onFrame(frame),
        packets: (packets) => watcher.onPackets(packets),
        state: (state) => {
          this.state = state;
          // This is the last event; if the stream were not closed here, the browser would reconnect
          // forever.
          if (state.state === "failed") this.#stream.close();
          watcher.onState(state);
        },
        note: (note) => {
          this.notes.push(note);
          if (this.notes.length > MOST_NOTES) this.notes.shift();
          watcher.onNote(note);
        },
        done: (done) => {
          this.done = done;
          this.#stream.close();
          watcher.onDone(done);
        },
      },
      (isBroken, isFinal) => watcher.onBreak(isBroken, isFinal),
    );
  }

  control(what: Control): Promise<unknown> {
    return this.#api.control(this.id, what);
  }

  /** Whether the session is still running. */
  get isOver(): boolean {
    return this.state?.state === "done" || this.state?.state === "stopped" || this.state?.state === "failed";
  }

  /** Ends the session here and where it runs. */
  close(): void {
    this.#stream.close();
    if (this.isOver) return;
    // A session that no longer exists needs no ending.
    this.#api.deleteSession(this.id).catch(() => undefined);
  }

  #onFrame(frame: Frame): void {
    this.frame = frame;
    if (!this.history.begin(frame.t)) return;
    frame.variants.forEach((variant, at) => this.#remember(at, variant));
    this.#watcher.onFrame(frame);
  }

  #remember(at: number, { link, groups, flows, gauges }: VariantFrame): void {
    this.#keep(keyOf(at, "link"), link);
    this.#keep(keyOf(at, "link.drops"), link.drops.overflow + link.drops.early);
    for (const { name, call } of groups) this.#keep(keyOf(at, `call.${name}`), call);
    flows.slice(0, MOST_FLOWS).forEach(({ group: _group, index: _index, ...figures }, number) => this.#keep(keyOf(at, `flow.${number}`), figures));
    for (const name of Object.keys(gauges)) this.gauges.add(name);
    this.#keep(keyOf(at, "gauge"), gauges);
  }

  /** Adds all numbers in `value` to the history, each by its path. */
  #keep(key: string, value: unknown): void {
    if (typeof value === "number") this.history.set(key, value);
    if (typeof value === "object" && value !== null) for (const [name, part] of Object.entries(value)) this.#keep(`${key}.${name}`, part);
  }
}
