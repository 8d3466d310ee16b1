// The queue drawn packet by packet, colored by flow. Packets come in at the left and leave for the
// wire at the right.

import { forget, repaint } from "../../charts/painter.ts";
import { sign } from "../../charts/sign.ts";
import { h, setText } from "../../dom.ts";
import { inkOf, type Look } from "../../palette.ts";
import type { PacketEvent, Waiting } from "../../serve/protocol.ts";
import { formatDecimals, formatQuantity, quantityOf } from "../../units.ts";
import { gaugeName } from "./charts.ts";
import { flowLook } from "./flow-legend.ts";
import { type Leaving, PacketQueue, placeAt, type Places, placesFor } from "./packets.ts";

const HEIGHT = 132;
/** Room at the right for the wire, and below for packets that fall. */
const WIRE = 64;
const FLOOR = 26;
/** Duration of the animation of a leaving packet, in milliseconds. */
const LEAVING = { depart: 260, drop: 700 };
const MOST_LEAVING = 200;
const LISTED = 4;
/** More entries could not be read next to the animation. */
const MOST_GAUGES = 5;

/** A packet on its way out of the picture. */
interface Ghost {
  readonly leaving: Leaving;
  readonly x: number;
  readonly y: number;
  readonly since: number;
}

export class PacketView {
  readonly element: HTMLElement;
  readonly #queue = new PacketQueue();
  readonly #canvas: HTMLCanvasElement;
  readonly #list: HTMLElement;
  readonly #count = h("span", { class: "number panel-value" }, "0 packets");
  readonly #state = h("p", { class: "hint number packet-state" });
  readonly #flowName: (flow: number) => string;
  readonly #resized = new ResizeObserver(() => repaint(this));
  readonly #calm = matchMedia("(prefers-reduced-motion: reduce)");
  readonly #positions = new Map<number, { x: number; y: number }>();
  #ghosts: Ghost[] = [];
  #ink = inkOf("page");
  #listed = -1;
  #now = 0;
  #isDestroyed = false;

  constructor(label: string, look: Look, flowName: (flow: number) => string) {
    this.#flowName = flowName;
    this.#canvas = h("canvas", { class: "packets", role: "img", "aria-label": `Packets waiting in the queue of ${label}` });
    this.#list = h("ol", { class: "bare signals", "aria-label": `Drops and marks of ${label}, the newest first` });
    this.element = h("div", { class: "packet-panel" }, h("div", { class: "panel-head" }, sign(look), h("span", { class: "panel-name" }, label), this.#count), this.#canvas, this.#state, this.#list);
    this.#resized.observe(this.#canvas);
    this.#tell();
  }

  /** Sets the packets that wait before the next events. */
  reset(waiting: readonly Waiting[]): void {
    this.#queue.reset(waiting);
    this.#positions.clear();
    this.#ghosts = [];
    repaint(this);
  }

  /** Shows the internal state of the algorithm at simulated time `t`. */
  setState(t: number, gauges: Readonly<Record<string, number | null>>): void {
    this.#now = t;
    const told = Object.entries(gauges).slice(0, MOST_GAUGES).map(([name, value]) => `${gaugeName(name)} ${value === null ? "–" : Number.isInteger(value) ? formatDecimals(value, 0) : formatQuantity(value, quantityOf(name))}`);
    setText(this.#state, told.join(" · "));
  }

  apply(events: readonly PacketEvent[]): void {
    if (events.length === 0) return;
    const now = performance.now();
    for (const leaving of this.#queue.apply(events)) {
      const at = this.#positions.get(leaving.packet.id) ?? { x: 8, y: HEIGHT - FLOOR - 12 };
      this.#positions.delete(leaving.packet.id);
      this.#ghosts.push({ leaving, ...at, since: now });
    }
    if (this.#ghosts.length > MOST_LEAVING) this.#ghosts.splice(0, this.#ghosts.length - MOST_LEAVING);
    repaint(this);
  }

  redraw(): void {
    this.#ink = inkOf("page");
    repaint(this);
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#resized.disconnect();
    forget(this);
  }

  paint(): void {
    const width = this.#canvas.clientWidth;
    const context = this.#canvas.getContext("2d");
    if (this.#isDestroyed || width === 0 || !context) return;
    const scale = devicePixelRatio;
    if (this.#canvas.width !== Math.round(width * scale)) {
      this.#canvas.width = Math.round(width * scale);
      this.#canvas.height = Math.round(HEIGHT * scale);
      this.#positions.clear();
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);
    this.#drawWire(context, width);
    const isMoving = this.#drawWaiting(context, width - WIRE);
    this.#drawGhosts(context, width);
    this.#tell();
    if (isMoving || this.#ghosts.length > 0) repaint(this);
  }

  #drawWire(context: CanvasRenderingContext2D, width: number): void {
    const y = HEIGHT - FLOOR - 11;
    context.strokeStyle = this.#ink.line;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(width - WIRE + 8, y);
    context.lineTo(width - 8, y);
    context.lineTo(width - 15, y - 5);
    context.moveTo(width - 8, y);
    context.lineTo(width - 15, y + 5);
    context.stroke();
    context.strokeStyle = this.#ink.grid;
    context.strokeRect(0.5, 0.5, width - WIRE, HEIGHT - FLOOR + 1);
    context.fillStyle = this.#ink.muted;
    context.font = "11px Inter, ui-sans-serif, system-ui, sans-serif";
    context.fillText("to the link", width - WIRE + 6, y - 12);
  }

  /** Draws the waiting packets, each moved closer to its place; returns whether any is still
   *  moving. */
  #drawWaiting(context: CanvasRenderingContext2D, width: number): boolean {
    const places = placesFor(width - 4, HEIGHT - FLOOR - 4, this.#queue.waiting.size);
    const pace = this.#calm.matches ? 1 : 0.3;
    this.#drawTurns(context, places, width);
    let isMoving = false;
    let index = 0;
    const shown = places.columns * places.rows;
    for (const packet of this.#queue.waiting.values()) {
      if (index >= shown) break;
      const target = placeOf(index, places, width);
      // New packets come from one place further back.
      const at = this.#positions.get(packet.id) ?? placeOf(index + 1, places, width);
      at.x += (target.x - at.x) * pace;
      at.y += (target.y - at.y) * pace;
      if (Math.abs(target.x - at.x) + Math.abs(target.y - at.y) > 0.5) isMoving = true;
      this.#positions.set(packet.id, at);
      this.#drawPacket(context, at.x, at.y, places.cell, packet.flow, packet.size, packet.isMarked);
      index += 1;
    }
    const rest = this.#queue.waiting.size - shown;
    if (rest > 0) {
      context.fillStyle = this.#ink.ink;
      context.fillText(`and ${rest} more behind`, 8, 16);
    }
    return isMoving;
  }

  /** Joins the ends of neighboring rows where the path goes from one to the next. */
  #drawTurns(context: CanvasRenderingContext2D, places: Places, width: number): void {
    const rows = Math.min(places.rows, Math.ceil(this.#queue.waiting.size / places.columns));
    context.strokeStyle = this.#ink.ink;
    context.lineWidth = 1.5;
    for (let row = 0; row + 1 < rows; row += 1) {
      // The packets of even rows go to the left, away from the head.
      const { x, y } = placeOf((row + 1) * places.columns - 1, places, width);
      const edge = row % 2 === 0 ? x - 1.5 : x + places.cell - 0.5;
      const half = places.cell / 2 - 1;
      context.beginPath();
      context.moveTo(edge, y - half);
      context.lineTo(edge, y + half);
      context.stroke();
    }
  }

  #drawPacket(context: CanvasRenderingContext2D, x: number, y: number, cell: number, flow: number, size: number, isMarked: boolean): void {
    const edge = cell - (cell > 8 ? 3 : 1);
    // Small packets are drawn lower, which distinguishes a call from a download.
    const height = size < 400 ? Math.max(3, edge * 0.45) : edge;
    context.fillStyle = this.#ink.hues[flowLook(flow).hue];
    context.beginPath();
    context.roundRect(x, y + edge - height, edge, height, Math.min(3, cell / 5));
    context.fill();
    if (flow >= 8 && cell > 8) {
      // The second round of colors has a bar across.
      context.fillStyle = this.#ink.surface;
      context.fillRect(x, y + edge - height / 2 - 1, edge, 2);
    }
    if (!isMarked) return;
    context.fillStyle = this.#ink.ink;
    context.beginPath();
    context.moveTo(x + edge / 2, y - 1);
    context.lineTo(x + edge, y + edge * 0.55);
    context.lineTo(x, y + edge * 0.55);
    context.fill();
  }

  #drawGhosts(context: CanvasRenderingContext2D, width: number): void {
    const now = performance.now();
    this.#ghosts = this.#ghosts.filter(({ leaving, since }) => now - since < (this.#calm.matches ? 0 : LEAVING[leaving.how]));
    const { cell } = placesFor(width - WIRE - 4, HEIGHT - FLOOR - 4, this.#queue.waiting.size);
    for (const { leaving, x, y, since } of this.#ghosts) {
      const part = (now - since) / LEAVING[leaving.how];
      context.globalAlpha = 1 - part * part;
      if (leaving.how === "depart") {
        this.#drawPacket(context, x + part * (width - x - 12), y, cell, leaving.packet.flow, leaving.packet.size, leaving.packet.isMarked);
      } else {
        const fall = y + part * part * (HEIGHT - y);
        this.#drawPacket(context, x, fall, cell, leaving.packet.flow, leaving.packet.size, leaving.packet.isMarked);
        const edge = cell - 3;
        context.strokeStyle = this.#ink.ink;
        context.lineWidth = 2;
        context.beginPath();
        context.moveTo(x, fall);
        context.lineTo(x + edge, fall + edge);
        context.moveTo(x + edge, fall);
        context.lineTo(x, fall + edge);
        context.stroke();
      }
      context.globalAlpha = 1;
    }
  }

  /** The numbers and the list beside the picture. */
  #tell(): void {
    const { waiting, drops, marks, signals } = this.#queue;
    const oldest = waiting.values().next().value?.since;
    const age = oldest === undefined ? "" : `, the oldest for ${formatQuantity(Math.max(0, this.#now - oldest), "time", 2)}`;
    this.#count.textContent = `${waiting.size} waiting${age} · since this view was opened: ${drops} dropped, ${marks} marked`;
    if (drops + marks === this.#listed) return;
    this.#listed = drops + marks;
    const items = signals.slice(-LISTED).reverse().map(({ t, what, flow, text }) =>
      h("li", {}, h("span", { class: "number signal-time" }, `${formatDecimals(t, 4)} s`), h("span", { class: `signal-${what}` }, what === "drop" ? "✕ dropped" : "▲ marked"), h("span", { class: "named signal-flow" }, sign(flowLook(flow)), this.#flowName(flow)), h("span", { class: "signal-text" }, text)),
    );
    this.#list.replaceChildren(...(items.length > 0 ? items : [h("li", { class: "hint" }, "Nothing dropped or marked since this view was opened.")]));
  }
}

function placeOf(index: number, { cell, columns }: Places, width: number): { x: number; y: number } {
  const { column, row } = placeAt(index, columns);
  return { x: width - (column + 1) * cell, y: HEIGHT - FLOOR - (row + 1) * cell };
}
