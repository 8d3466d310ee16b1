// What the playground needs of whatever runs its simulations: a server, or the page itself.

import type { About, Checked, Control, Done, Frame, Hello, Kinds, NewSession, Note, Packets, Refusal, SessionState, Trace } from "./protocol.ts";
import type { Handlers } from "./stream.ts";

/** The events of a session. */
export interface SessionEvents {
  readonly about: About;
  readonly frame: Frame;
  readonly packets: Packets;
  readonly state: SessionState;
  readonly note: Note;
  readonly done: Done;
}

/** The connection to a session broke (and will come back, unless it is the end), or came back. */
export type OnBreak = (isBroken: boolean, isFinal: boolean) => void;

/** Runs simulations. */
export interface Backend {
  hello(): Promise<Hello>;
  kinds(): Promise<Kinds>;
  check(scenario: string): Promise<Checked>;
  uploadTrace(text: string): Promise<Trace>;
  createSession(session: NewSession): Promise<{ readonly id: string }>;
  /** Calls the handlers with what happens in a session, from its beginning, until it is closed. */
  listen(session: string, handlers: Handlers<SessionEvents>, onBreak: OnBreak): { close(): void };
  control(session: string, what: Control): Promise<unknown>;
  /** Ends a session and forgets it; also called when the page closes. */
  deleteSession(session: string): Promise<void>;
  sessionText(session: string, file: "scenario.toml" | "summary.json", variant?: number): Promise<string>;
  /** The address of a finished session's report. */
  reportAddress(session: string): Promise<string>;
}

/** The request was rejected, or nothing answered. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, refusal: Refusal) {
    super(inWords(refusal));
    this.status = status;
  }
}

/** The message with the place it is about, unless the message names it itself. */
export function inWords({ message, line, column }: Refusal): string {
  if (line === undefined || /\bline \d/.test(message)) return message;
  return `line ${line}${column === undefined ? "" : `, column ${column}`}: ${message}`;
}
