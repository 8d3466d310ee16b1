// What tests of a running `gq serve` share.

import type { ChildProcess } from "node:child_process";

/** The address that the server says it listens at, with the token where it asks for one. */
export function address(server: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    server.stderr?.on("data", (piece: Buffer) => {
      text += piece.toString();
      // The line is complete: a piece may end within the token.
      const found = /(https?:\/\/\S+)\n/.exec(text)?.[1];
      if (found !== undefined) done(new URL(found).href);
    });
    server.once("error", fail);
    server.once("exit", (code) => fail(new Error(`gq serve ended with ${String(code)}: ${text}`)));
  });
}
