// How fluently a run is drawn and whether memory grows: four queues, sixteen flows, real time.
// LOAD_SECONDS says how long to look (ten minutes: 600); without it, this is skipped. With GQ the
// real server is asked, with LOAD_PAGE the page of that file, without a server and also in Firefox;
// else the stand-in.

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Browser, CDPSession } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Play, START } from "../src/app/play/model.ts";
import { pack } from "../src/app/share.ts";
import { launch, processorClock } from "./browser.ts";
import { Firefox, FIREFOX } from "./firefox.ts";
import { startMock } from "./mock-server.ts";
import { address } from "./serve.ts";

const SECONDS = Number(process.env["LOAD_SECONDS"] ?? 0);
/** The file that a variable names, from the folder that npm was called in. */
const file = (name: string): string | undefined => {
  const path = process.env[name];
  return path === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? "", path);
};
const GQ = file("GQ");
const PAGE = file("LOAD_PAGE");

const PLAY: Play = {
  ...START,
  scenario: {
    form: "fields",
    link: { rate: "10 Mbit/s", rtt: "40 ms", buffer: "200 ms" },
    traffic: [{ kind: "bulk", flows: 16, settings: { cc: "cubic", start: "uniform 0 s .. 5 s" } }],
    warmup: "0 s",
    duration: "3000 s",
  },
  variants: ["tail-drop", "codel", "fq-codel", "pie"].map((kind) => ({ kind, settings: {} })),
  speed: 1,
};

describe.skipIf(SECONDS === 0)("a long run", () => {
  let browser: Browser;
  let server: ChildProcess | undefined;
  let mock: Awaited<ReturnType<typeof startMock>> | undefined;
  let url = "";
  beforeAll(async () => {
    if (PAGE !== undefined) {
      url = `file://${PAGE}`;
    } else if (GQ === undefined) {
      mock = await startMock(resolve(import.meta.dirname, "../../serve/assets/app"));
      url = mock.url;
    } else {
      server = spawn(GQ, ["serve", "--no-open", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
      url = await address(server);
    }
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    await mock?.close();
    server?.kill("SIGTERM");
  });

  it(
    "is drawn fluently in bounded memory",
    async () => {
      const page = await browser.newPage({ viewport: { width: 1440, height: 1000 } });
      await page.goto(`${url}#/play?s=${await pack(PLAY)}`);
      await expect.poll(() => page.getByLabel("Traffic 1: flows").inputValue()).toBe("16");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      const devtools = await page.context().newCDPSession(page);
      await page.waitForTimeout(Math.min(20_000, SECONDS * 250));
      const painted = await page.evaluate(() => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime ?? NaN);
      const busy = await processorClock(page, "TaskDuration");
      const before = await heap(devtools);
      const busyBefore = await busy();
      const frames = await page.evaluate(countFrames, SECONDS * 1000);
      const spent = (await busy()) - busyBefore;
      const after = await heap(devtools);
      const milliseconds = (1000 * spent) / frames.screen;
      process.stdout.write(
        `first paint ${Math.round(painted)} ms; ${(frames.screen / SECONDS).toFixed(1)} frames per second, longest gap ${Math.round(frames.gap)} ms, ` +
          `${milliseconds.toFixed(1)} ms of processor time a frame; heap ${megabytes(before)} then ${megabytes(after)} MB\n`,
      );
      // Whole-run stretches are full within minutes; until then, their arrays are there already.
      // What may grow is bounded.
      expect(after).toBeLessThan(before * 1.25 + 4e6);
      expect(frames.screen / SECONDS).toBeGreaterThan(10);
      await page.close();
    },
    (SECONDS + 120) * 1000,
  );
});

describe.skipIf(SECONDS === 0 || PAGE === undefined || FIREFOX === undefined)("a long run in Firefox", () => {
  it(
    "is drawn fluently",
    async () => {
      const firefox = await Firefox.launch();
      try {
        await firefox.open(`file://${resolve(PAGE ?? "")}#/play?s=${await pack(PLAY)}`);
        await firefox.run('while (!document.getElementById("run")) await new Promise((done) => setTimeout(done, 50)); document.getElementById("run").click();');
        await new Promise((done) => setTimeout(done, 5000));
        const frames = await firefox.run<Frames>(`return await (${countFrames.toString()})(${SECONDS * 1000})`);
        process.stdout.write(`Firefox: ${(frames.screen / SECONDS).toFixed(1)} frames per second, longest gap ${Math.round(frames.gap)} ms\n`);
        expect(frames.screen / SECONDS).toBeGreaterThan(10);
      } finally {
        await firefox.close();
      }
    },
    (SECONDS + 120) * 1000,
  );
});

/** Bytes in use after a collection, arrays of numbers included. */
async function heap(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize } = await devtools.send("Runtime.getHeapUsage");
  return usedSize + backingStorageSize;
}

interface Frames {
  readonly screen: number;
  /** The longest time between two, in milliseconds. */
  readonly gap: number;
}

/** Frames of the screen within so many milliseconds; runs in the page. */
function countFrames(span: number): Promise<Frames> {
  return new Promise<Frames>((done) => {
    const start = performance.now();
    let [screen, gap, last] = [0, 0, start];
    const tick = (): void => {
      const now = performance.now();
      gap = Math.max(gap, now - last);
      last = now;
      screen += 1;
      if (now - start < span) requestAnimationFrame(tick);
      else done({ screen, gap });
    };
    requestAnimationFrame(tick);
  });
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
