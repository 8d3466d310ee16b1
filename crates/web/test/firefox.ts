// The system's Firefox without a window, through Marionette: what a test of a page needs of it.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where distributions put it; `FIREFOX` names another place. */
const PLACES = [process.env["FIREFOX"], "/usr/bin/firefox-esr", "/usr/bin/firefox"];

export const FIREFOX = PLACES.find((place) => place !== undefined && existsSync(place));

/** Milliseconds until it must have started. */
const START_MS = 60_000;
/** Milliseconds that a script may take: longer than any test. */
const SCRIPT_MS = 3_600_000;

const later = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

export class Firefox {
  readonly #process: ChildProcess;
  readonly #profile: string;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, { done: (value: unknown) => void; fail: (error: Error) => void }>();
  #received = Buffer.alloc(0);
  #count = 0;

  private constructor(process: ChildProcess, profile: string, socket: Socket) {
    this.#process = process;
    this.#profile = profile;
    this.#socket = socket;
    socket.on("data", (data) => this.#hear(data));
  }

  static async launch(): Promise<Firefox> {
    if (FIREFOX === undefined) throw new Error("no Firefox found: install it, or name it in the environment variable FIREFOX");
    const profile = mkdtempSync(join(tmpdir(), "goodqueue-firefox-"));
    writeFileSync(join(profile, "user.js"), 'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n');
    const child = spawn(FIREFOX, ["--headless", "--no-remote", "--marionette", "--profile", profile], { stdio: "ignore", env: { ...process.env, HOME: profile } });
    const port = join(profile, "MarionetteActivePort");
    for (let waited = 0; !existsSync(port) || readFileSync(port, "utf8").trim() === ""; waited += 100) {
      if (waited > START_MS || child.exitCode !== null) throw new Error("Firefox does not start");
      await later(100);
    }
    const socket = connect(Number(readFileSync(port, "utf8")), "127.0.0.1");
    const firefox = new Firefox(child, profile, socket);
    await firefox.#ask("WebDriver:NewSession", {});
    await firefox.#ask("WebDriver:SetTimeouts", { script: SCRIPT_MS });
    return firefox;
  }

  async open(address: string): Promise<void> {
    await this.#ask("WebDriver:Navigate", { url: address });
  }

  /** The value of the function's body `script`, which may await. */
  async run<T>(script: string): Promise<T> {
    const body = `const done = arguments[arguments.length - 1]; (async () => { ${script} })().then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    const answer = (await this.#ask("WebDriver:ExecuteAsyncScript", { script: body, args: [] })) as { readonly value: { readonly value?: T; readonly error?: string } };
    if (answer.value.error !== undefined) throw new Error(answer.value.error);
    return answer.value.value as T;
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.#process.once("exit", done));
    this.#socket.destroy();
    this.#process.kill();
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** A message is its length in bytes, a colon, and [0, number, name, parameters]; its answer is
   *  [1, number, error, result]. */
  #ask(name: string, parameters: object): Promise<unknown> {
    this.#count += 1;
    const number = this.#count;
    const text = JSON.stringify([0, number, name, parameters]);
    return new Promise((done, fail) => {
      this.#waiting.set(number, { done, fail });
      this.#socket.write(`${Buffer.byteLength(text)}:${text}`);
    });
  }

  #hear(data: Buffer): void {
    this.#received = Buffer.concat([this.#received, data]);
    for (;;) {
      const colon = this.#received.indexOf(":");
      const end = colon + 1 + Number(this.#received.subarray(0, Math.max(colon, 0)).toString());
      if (colon < 0 || this.#received.length < end) return;
      const message = JSON.parse(this.#received.subarray(colon + 1, end).toString()) as unknown;
      this.#received = this.#received.subarray(end);
      // The first message is a greeting.
      if (!Array.isArray(message)) continue;
      const [, number, error, result] = message as [number, number, { readonly message: string } | null, unknown];
      const asked = this.#waiting.get(number);
      this.#waiting.delete(number);
      if (error) asked?.fail(new Error(error.message));
      else asked?.done(result);
    }
  }
}
