// The waiting packets of one queue, reconstructed from the events of the server.

import type { PacketEvent, Waiting } from "../../serve/protocol.ts";

/** A packet that waits. */
export interface QueuedPacket {
  readonly id: number;
  readonly flow: number;
  readonly size: number;
  readonly since: number;
  isMarked: boolean;
}

/** A packet that leaves the picture, and how. */
export interface Leaving {
  readonly packet: QueuedPacket;
  readonly how: "depart" | "drop";
}

/** A drop or a mark, for the list beside the picture. */
export interface Signal {
  readonly t: number;
  readonly what: "drop" | "mark";
  readonly flow: number;
  readonly text: string;
}

const MOST_SIGNALS = 40;
/** Bound on the packets kept: after a lost event the oldest are discarded. */
const MOST_WAITING = 20_000;

export class PacketQueue {
  readonly #waiting = new Map<number, QueuedPacket>();
  readonly signals: Signal[] = [];
  drops = 0;
  marks = 0;

  /** The waiting packets, head first. */
  get waiting(): ReadonlyMap<number, QueuedPacket> {
    return this.#waiting;
  }

  /** Starts again with the given waiting packets. */
  reset(waiting: readonly Waiting[]): void {
    this.#waiting.clear();
    for (const { id, flow, size, t } of waiting) this.#waiting.set(id, { id, flow, size, since: t, isMarked: false });
  }

  /** Applies events in order and returns the packets that left. */
  apply(events: readonly PacketEvent[]): Leaving[] {
    return events.flatMap((event) => this.#applyOne(event) ?? []);
  }

  #applyOne(event: PacketEvent): Leaving | undefined {
    const known = this.#waiting.get(event.id);
    switch (event.what) {
      case "arrive":
        this.#waiting.set(event.id, { id: event.id, flow: event.flow, size: event.size, since: event.t, isMarked: false });
        if (this.#waiting.size > MOST_WAITING) this.#waiting.delete(this.#waiting.keys().next().value ?? -1);
        return undefined;
      case "mark":
        this.marks += 1;
        if (known) known.isMarked = true;
        this.#note(event, "mark");
        return undefined;
      case "depart":
        this.#waiting.delete(event.id);
        return known && { packet: known, how: "depart" };
      case "drop":
        this.drops += 1;
        this.#waiting.delete(event.id);
        this.#note(event, "drop");
        // A packet that was never queued is shown at the end of the queue.
        return { packet: known ?? { id: event.id, flow: event.flow, size: event.size, since: event.t, isMarked: false }, how: "drop" };
    }
  }

  #note(event: PacketEvent, what: Signal["what"]): void {
    this.signals.push({ t: event.t, what, flow: event.flow, text: event.text ?? event.why ?? "" });
    if (this.signals.length > MOST_SIGNALS) this.signals.shift();
  }
}

/** Positions of packets along one path: the head at the right end of the lowest row, further packets
 *  to its left, then back to the right in the row above, and so on, so that neighbors in the queue
 *  are neighbors in the picture. */
export interface Places {
  readonly cell: number;
  readonly columns: number;
  readonly rows: number;
}

/** Cells of a queue drawn into `width` by `height` pixels, as large as lets `count` packets in. */
export function placesFor(width: number, height: number, count: number): Places {
  const sizes = [22, 18, 15, 12, 10, 8, 6, 5];
  const fit = (cell: number): Places => ({ cell, columns: Math.max(1, Math.floor(width / cell)), rows: Math.max(1, Math.floor(height / cell)) });
  return sizes.map(fit).find(({ columns, rows }) => columns * rows >= count) ?? fit(sizes[sizes.length - 1] ?? 5);
}

/** Column from the right and row from below of the packet at `index`. */
export function placeAt(index: number, columns: number): { readonly column: number; readonly row: number } {
  const row = Math.floor(index / columns);
  const along = index % columns;
  return { column: row % 2 === 0 ? along : columns - 1 - along, row };
}
