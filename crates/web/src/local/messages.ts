// What the page and the worker that holds the module say to each other. Questions and answers are
// those of crates/serve/src/wasm/desk.rs.

import type { Control, NewSession, Refusal } from "../serve/protocol.ts";

/** A question to the module. */
export type Ask =
  | { readonly ask: "hello" | "kinds" }
  | { readonly ask: "check"; readonly scenario: string }
  | { readonly ask: "trace"; readonly name: string; readonly text: string }
  | { readonly ask: "open"; readonly session: NewSession }
  | { readonly ask: "control"; readonly control: Control }
  | { readonly ask: "file"; readonly name: string; readonly variant?: number }
  | { readonly ask: "report"; readonly template: string };

/** The module's answer to it. */
export type Answer = { readonly ok: unknown } | { readonly status: number; readonly error: Refusal };

/** To the worker: first the compiled module, then questions. */
export type ToWorker = { readonly module: WebAssembly.Module } | { readonly id: number; readonly ask: Ask };

/** From the worker: the answer to question `id`, or an event; both as JSON. */
export type FromWorker = { readonly id: number; readonly answer: string } | { readonly event: string; readonly data: string };
