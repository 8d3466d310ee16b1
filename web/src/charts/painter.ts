// Draws what changed, at most once a frame of the screen, and never so long that the page stutters.

/** Something that can be drawn again. */
export interface Paintable {
  paint(): void;
}

/** Milliseconds of a frame that drawing may take; what is left over comes first in the next one. */
const BUDGET = 9;

const waiting = new Set<Paintable>();
let isAsked = false;

/** Asks for `paintable` to be drawn with one of the next frames of the screen. */
export function repaint(paintable: Paintable): void {
  waiting.add(paintable);
  ask();
}

/** Forgets a wish. */
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
  // In the order of the wishes: who was left over is first, who asks again is last.
  for (const paintable of [...waiting]) {
    waiting.delete(paintable);
    paintable.paint();
    if (performance.now() > end) break;
  }
  ask();
}
