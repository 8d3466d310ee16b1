// Simulations in workers of the page: no server is asked anything, and nothing leaves the page.

import { type Backend, type OnBreak, Refused, type SessionEvents } from "../serve/backend.ts";
import type { Checked, Control, Hello, Kinds, NewSession, Trace } from "../serve/protocol.ts";
import type { Handlers } from "../serve/stream.ts";
import type { Answer, Ask, FromWorker, ToWorker } from "./messages.ts";
import SessionWorker from "./worker.ts?worker&inline";

/** An event that nobody listens to yet, and its data as JSON. */
type Waiting = readonly [event: string, data: string];

/** A worker that answers questions. */
class Asked {
  readonly #worker: Worker;
  readonly #open = new Map<number, { done: (answer: unknown) => void; fail: (error: Error) => void }>();
  #next = 0;
  #waiting: Waiting[] | undefined = [];
  #onEvent: (event: string, data: string) => void = () => undefined;

  constructor(module: WebAssembly.Module) {
    this.#worker = new SessionWorker();
    this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.#hear(data);
    this.#worker.onerror = ({ message }) => this.#fail(message);
    this.#send({ module });
  }

  ask<T>(ask: Ask): Promise<T> {
    const id = this.#next++;
    return new Promise<T>((done, fail) => {
      this.#open.set(id, { done: done as (answer: unknown) => void, fail });
      this.#send({ id, ask });
    });
  }

  /** Hands over all events, those that came before this call first; the first of them after the
   *  caller is done. */
  listen(onEvent: (event: string, data: string) => void): void {
    this.#onEvent = onEvent;
    setTimeout(() => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const [event, data] of waiting) onEvent(event, data);
    });
  }

  end(): void {
    this.#worker.terminate();
    this.#fail("the session has ended");
  }

  #send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #hear(message: FromWorker): void {
    if ("event" in message) {
      if (this.#waiting) this.#waiting.push([message.event, message.data]);
      else this.#onEvent(message.event, message.data);
      return;
    }
    const question = this.#open.get(message.id);
    this.#open.delete(message.id);
    const answer = JSON.parse(message.answer) as Answer;
    if ("error" in answer) question?.fail(new Refused(answer.status, answer.error));
    else question?.done(answer.ok);
  }

  #fail(message: string): void {
    for (const { fail } of this.#open.values()) fail(new Refused(0, { message }));
    this.#open.clear();
  }
}

/** Sessions whose results can still be asked for. */
const MOST_SESSIONS = 4;

export class LocalBackend implements Backend {
  readonly #module: WebAssembly.Module;
  /** The report without its data. */
  readonly #report: string;
  /** Answers what concerns no session. */
  readonly #desk: Asked;
  readonly #sessions = new Map<string, Asked>();
  readonly #traces: Ask[] = [];
  #count = 0;

  constructor(module: WebAssembly.Module, report: string) {
    this.#module = module;
    this.#report = report;
    this.#desk = new Asked(module);
  }

  hello(): Promise<Hello> {
    return this.#desk.ask({ ask: "hello" });
  }

  kinds(): Promise<Kinds> {
    return this.#desk.ask({ ask: "kinds" });
  }

  check(scenario: string): Promise<Checked> {
    return this.#desk.ask({ ask: "check", scenario });
  }

  async uploadTrace(text: string): Promise<Trace> {
    const trace: Ask = { ask: "trace", name: String(this.#traces.length + 1), text };
    const shown = await this.#desk.ask<Trace>(trace);
    this.#traces.push(trace);
    return shown;
  }

  async createSession(session: NewSession): Promise<{ readonly id: string }> {
    const worker = new Asked(this.#module);
    try {
      for (const trace of this.#traces) await worker.ask(trace);
      await worker.ask({ ask: "open", session });
    } catch (error) {
      worker.end();
      throw error;
    }
    this.#count += 1;
    const id = String(this.#count);
    this.#sessions.set(id, worker);
    for (const [oldest] of this.#sessions) {
      if (this.#sessions.size <= MOST_SESSIONS) break;
      await this.deleteSession(oldest);
    }
    return { id };
  }

  listen(session: string, handlers: Handlers<SessionEvents>, _onBreak: OnBreak): { close(): void } {
    const all = handlers as { readonly [event: string]: ((data: unknown) => void) | undefined };
    let isOpen = true;
    this.#sessions.get(session)?.listen((event, data) => {
      if (isOpen) all[event]?.(JSON.parse(data) as unknown);
    });
    return { close: () => (isOpen = false) };
  }

  control(session: string, control: Control): Promise<unknown> {
    return this.#find(session).ask({ ask: "control", control });
  }

  deleteSession(session: string): Promise<void> {
    this.#sessions.get(session)?.end();
    this.#sessions.delete(session);
    return Promise.resolve();
  }

  sessionText(session: string, file: "scenario.toml" | "summary.json", variant?: number): Promise<string> {
    return this.#find(session).ask({ ask: "file", name: file, ...(variant === undefined ? {} : { variant }) });
  }

  async reportAddress(session: string): Promise<string> {
    const report = await this.#find(session).ask<string>({ ask: "report", template: this.#report });
    return URL.createObjectURL(new Blob([report], { type: "text/html" }));
  }

  #find(session: string): Asked {
    const worker = this.#sessions.get(session);
    if (!worker) throw new Refused(404, { message: "there is no such session: it may have been forgotten" });
    return worker;
  }
}
