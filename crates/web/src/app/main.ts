// The app of `gq serve`.

import { Api } from "../serve/api.ts";
import { GalleryPage } from "./gallery.ts";
import { MonitorPage } from "./monitor.ts";
import { PlayPage } from "./play/page.ts";
import { RunsPage } from "./runs.ts";
import { startApp } from "./shell.ts";

startApp("gq serve does not answer", async () => {
  const api = new Api();
  const [hello, kinds] = await Promise.all([api.hello(), api.kinds()]);
  const context = { api, hello, kinds };
  return {
    version: hello.version,
    pages: [
      { name: "play", title: "Playground", make: () => new PlayPage(context) },
      { name: "runs", title: "Runs", make: () => new RunsPage(context) },
      { name: "gallery", title: "Gallery", make: () => new GalleryPage(context) },
      { name: "monitor", title: "Monitor", make: () => new MonitorPage(context) },
    ],
  };
});
