// Draws changed charts at most once per screen frame, within a time budget that keeps the page
// responsive.

/** Something that can be drawn again. */
export interface Paintable {
  paint(): void;
}

/** Drawing budget per frame in milliseconds; remaining charts come first in the next frame. */
const BUDGET = 9;

const waiting = new Set<Paintable>();
const paced = new Map<Paintable, ReturnType<typeof setTimeout>>();
let isAsked = false;

/** Asks for `paintable` to be drawn with one of the next frames of the screen. */
export function repaint(paintable: Paintable): void {
  waiting.add(paintable);
  ask();
}

/** Asks for `paintable` to be drawn after `pause` milliseconds; requests until then are one with
 *  this. */
export function repaintAfter(paintable: Paintable, pause: number): void {
  if (paced.has(paintable)) return;
  const draw = (): void => {
    paced.delete(paintable);
    repaint(paintable);
  };
  paced.set(paintable, setTimeout(draw, pause));
}

/** Cancels a request. */
export function forget(paintable: Paintable): void {
  waiting.delete(paintable);
  clearTimeout(paced.get(paintable));
  paced.delete(paintable);
}

function ask(): void {
  if (isAsked || waiting.size === 0) return;
  isAsked = true;
  requestAnimationFrame(frame);
}

function frame(): void {
  isAsked = false;
  const end = performance.now() + BUDGET;
  // In the order of the requests: postponed charts first, repeated requests last.
  for (const paintable of [...waiting]) {
    waiting.delete(paintable);
    paintable.paint();
    if (performance.now() > end) break;
  }
  ask();
}
