// A worker with an instance of the module: it answers questions, and between them computes the
// frames of its session.

import { Engine } from "./engine.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

const port = self as unknown as { postMessage(message: FromWorker): void; onmessage: ((event: MessageEvent<ToWorker>) => void) | null };
let engine: Engine | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
/** Why the module can do nothing more. */
let broken = "";

// Timers of no delay are slowed down to 4 ms after a while; messages are not.
const soon = new MessageChannel();
soon.port1.onmessage = () => tick();
let isSoon = false;

function schedule(wait: number): void {
  clearTimeout(timer);
  if (wait > 0) {
    timer = setTimeout(tick, wait);
  } else if (!isSoon) {
    isSoon = true;
    soon.port2.postMessage(null);
  }
}

function tick(): void {
  isSoon = false;
  clearTimeout(timer);
  const wait = guarded(() => engine?.frame() ?? -1, -1);
  if (wait >= 0) schedule(wait);
}

/** A panic of the module ends in a trap, after which it must not be entered again. */
function guarded<T>(work: () => T, instead: T): T {
  if (broken !== "") return instead;
  try {
    return work();
  } catch (error) {
    broken = `internal error, please report it: ${error instanceof Error ? error.message : String(error)}`;
    const state = { state: "failed", t: 0, duration: 0, speed: null, changed: false, message: broken };
    port.postMessage({ event: "state", data: JSON.stringify(state) });
    return instead;
  }
}

port.onmessage = ({ data }) => {
  if ("module" in data) {
    engine = new Engine(data.module, () => performance.now(), (event, text) => {
      if (event === "panic") console.error(text);
      else port.postMessage({ event, data: text });
    });
    return;
  }
  const { id, ask } = data;
  const answer = guarded(() => engine?.askText(ask) ?? "", "");
  port.postMessage({ id, answer: answer === "" ? JSON.stringify({ status: 500, error: { message: broken } }) : answer });
  // An order is followed by a frame at once, as in `gq serve`.
  if (ask.ask === "open" || ask.ask === "control") schedule(0);
};
