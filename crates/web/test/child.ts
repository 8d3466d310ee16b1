// A program that a test starts, and what it said if it ended before its time.

import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";

/** Time between attempts to connect, in milliseconds. */
const AGAIN = 50;

export class Child {
  readonly #process: ChildProcess;
  readonly #over: Promise<number | string>;
  #isOver = false;
  #text = "";

  constructor(program: string, args: readonly string[]) {
    this.#process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    const keep = (piece: Buffer): void => void (this.#text += piece.toString());
    this.#process.stdout?.on("data", keep);
    this.#process.stderr?.on("data", keep);
    this.#over = new Promise((done) => {
      this.#process.once("error", (error) => done(error.message));
      this.#process.once("close", (code, signal) => done(code ?? signal ?? "unknown"));
    });
    void this.#over.then(() => (this.#isOver = true));
  }

  /** What it has written so far. */
  get text(): string {
    return this.#text;
  }

  /** Resolves when something accepts connections at this socket; fails with the program's words when it ends before. */
  async listensAt(socket: string): Promise<void> {
    while (!(await accepts(socket))) {
      if (this.#isOver) throw new Error(`${this.#process.spawnargs.join(" ")} ended with ${String(await this.#over)}: ${this.#text}`);
      await new Promise((done) => setTimeout(done, AGAIN));
    }
  }

  /** Asks the program to end; its exit code, or what ended it. Fails with its words when it had ended by itself. */
  async end(): Promise<number | string> {
    if (this.#isOver) throw new Error(`${this.#process.spawnargs.join(" ")} had ended with ${String(await this.#over)}: ${this.#text}`);
    this.#process.kill("SIGTERM");
    return this.#over;
  }
}

function accepts(socket: string): Promise<boolean> {
  return new Promise((done) => {
    const connection = connect(socket);
    connection.once("connect", () => (connection.destroy(), done(true)));
    connection.once("error", () => done(false));
  });
}
