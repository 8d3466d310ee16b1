// Requests to the server that the page came from, and to no other.

import type { Metrics } from "../report/data.ts";
import { type Backend, type OnBreak, Refused, type SessionEvents } from "./backend.ts";
import type { Checked, Control, Gallery, Hello, Kinds, NewSession, Refusal, Runs, Trace } from "./protocol.ts";
import { type Handlers, listen } from "./stream.ts";

/** The status of something that is not there yet, and how often it is asked for. */
const NOT_YET = 409;
const ATTEMPTS = 10;

/** Everything the page asks of its server. */
export class Api implements Backend {
  #token: string | undefined;

  async hello(): Promise<Hello> {
    const hello = await this.#json<Hello>("GET", "api/hello");
    this.#token = hello.token;
    return hello;
  }

  /** What the figures of summaries are. */
  metrics(): Promise<Metrics> {
    return this.#json("GET", "api/metrics");
  }

  kinds(): Promise<Kinds> {
    return this.#json("GET", "api/kinds");
  }

  check(scenario: string): Promise<Checked> {
    return this.#json("POST", "api/check", scenario, "text/plain");
  }

  uploadTrace(text: string): Promise<Trace> {
    return this.#json("POST", "api/traces", text, "text/plain");
  }

  createSession(session: NewSession): Promise<{ readonly id: string }> {
    return this.#json("POST", "api/sessions", JSON.stringify(session), "application/json");
  }

  listen(session: string, handlers: Handlers<SessionEvents>, onBreak: OnBreak): { close(): void } {
    return listen<SessionEvents>(`api/sessions/${encodeURIComponent(session)}/stream`, handlers, onBreak);
  }

  control(session: string, what: Control): Promise<unknown> {
    return this.#json("POST", `api/sessions/${encodeURIComponent(session)}/control`, JSON.stringify(what), "application/json");
  }

  async deleteSession(session: string): Promise<void> {
    await this.#request("DELETE", `api/sessions/${encodeURIComponent(session)}`, undefined, undefined, true);
  }

  /** A file of a session. Results are written a moment after a run is done, so the answer "not
   *  yet" is asked again. */
  async sessionText(session: string, file: "scenario.toml" | "summary.json", variant?: number): Promise<string> {
    const path = `api/sessions/${encodeURIComponent(session)}/${file}${variant === undefined ? "" : `?variant=${variant}`}`;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.text(path);
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== NOT_YET || attempt === ATTEMPTS) throw error;
        await new Promise((done) => setTimeout(done, 300));
      }
    }
  }

  reportAddress(session: string): Promise<string> {
    return Promise.resolve(`api/sessions/${encodeURIComponent(session)}/report.html`);
  }

  runs(): Promise<Runs> {
    return this.#json("GET", "api/runs");
  }

  gallery(): Promise<Gallery> {
    return this.#json("GET", "api/gallery");
  }

  async text(path: string): Promise<string> {
    return (await this.#request("GET", path)).text();
  }

  bridge(line: string): Promise<unknown> {
    return this.#json("POST", "api/bridge/control", JSON.stringify({ line }), "application/json");
  }

  async #json<T>(method: string, path: string, body?: string, type?: string): Promise<T> {
    const response = await this.#request(method, path, body, type);
    const text = await response.text();
    return (text === "" ? {} : JSON.parse(text)) as T;
  }

  async #request(method: string, path: string, body?: string, type?: string, keepalive = false): Promise<Response> {
    const headers: Record<string, string> = {};
    if (type !== undefined) headers["Content-Type"] = type;
    if (method !== "GET" && this.#token !== undefined) headers["X-Goodqueue-Token"] = this.#token;
    let response: Response;
    try {
      response = await fetch(path, { method, headers, keepalive, credentials: "same-origin", ...(body === undefined ? {} : { body }) });
    } catch {
      throw new Refused(0, { message: "gq serve does not answer. Is it still running?" });
    }
    if (!response.ok) throw new Refused(response.status, refusalIn(await response.text(), response.status));
    return response;
  }
}

/** The error in the body of an answer; an unexpected body is shown as it is. */
export function refusalIn(text: string, status: number): Refusal {
  try {
    const { error } = JSON.parse(text) as { error?: Partial<Refusal> };
    if (typeof error?.message === "string") return { ...error, message: error.message };
  } catch {
    // Not from our server's handlers: a proxy, or a limit that answers in plain text.
  }
  return { message: text.trim() === "" ? `the server answered ${status}` : text.trim().slice(0, 300) };
}
