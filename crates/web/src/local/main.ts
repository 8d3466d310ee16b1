// The playground as one file: the simulator runs in workers of the page, and no server is needed.

import { startApp } from "../app/shell.ts";
import { PlayPage } from "../app/play/page.ts";
import { LocalBackend } from "./backend.ts";
import type { WithUnpacked } from "./parts.ts";

startApp("The playground cannot start", async () => {
  const { module, report } = (globalThis as unknown as WithUnpacked).goodqueueUnpacked;
  const backend = new LocalBackend(await WebAssembly.compile(module), report);
  const [hello, kinds] = await Promise.all([backend.hello(), backend.kinds()]);
  const context = { api: backend, hello, kinds };
  return { version: hello.version, pages: [{ name: "play", title: "Playground", make: () => new PlayPage(context) }] };
});
