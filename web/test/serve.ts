// What tests of a running `gq serve` share.

import type { ChildProcess } from "node:child_process";

/** The address that the server says it listens at. */
export function address(server: ChildProcess): Promise<string> {
  return new Promise((done, fail) => {
    let text = "";
    server.stderr?.on("data", (piece: Buffer) => {
      text += piece.toString();
      const found = /https?:\/\/[^\s]+/.exec(text);
      if (found) done(found[0].endsWith("/") ? found[0] : `${found[0]}/`);
    });
    server.once("exit", (code) => fail(new Error(`gq serve ended with ${String(code)}: ${text}`)));
  });
}
