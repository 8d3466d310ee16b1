// Draws changed charts at most once per screen frame, within a time budget that keeps the page
// responsive.

/** Something that can be drawn again. */
export interface Paintable {
  paint(): void;
}

/** Drawing budget per frame in milliseconds; remaining charts come first in the next frame. */
const BUDGET = 9;

const waiting = new Set<Paintable>();
let isAsked = false;

/** Asks for `paintable` to be drawn with one of the next frames of the screen. */
export function repaint(paintable: Paintable): void {
  waiting.add(paintable);
  ask();
}

/** Cancels a request. */
export function forget(paintable: Paintable): void {
  waiting.delete(paintable);
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
