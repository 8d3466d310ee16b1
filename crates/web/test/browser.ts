// The system's Chromium, with ears for everything that a quiet, self-contained page must not do.

import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

/** Where distributions put it; `CHROMIUM` names another place. */
const PLACES = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** More frames of the screen than a page has charts: each is drawn within one. */
const FRAMES = 14;

export async function launch(): Promise<Browser> {
  const executablePath = PLACES.find((place) => place !== undefined && existsSync(place));
  if (executablePath === undefined) throw new Error("no Chromium found: install it, or name it in the environment variable CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}

/** Waits until everything in view is drawn: places are measured, what could not be drawn in one frame is drawn in one of the next. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    (frames) =>
      new Promise<void>((done) => {
        let left = frames;
        const tick = (): void => {
          left -= 1;
          if (left === 0) done();
          else requestAnimationFrame(tick);
        };
        requestAnimationFrame(tick);
      }),
    FRAMES,
  );
}

/** A clock of the processor time that the page's thread uses, in seconds, for scripts or for everything (painting without a graphics
 *  card included): what else the machine does leaves it nearly alone. */
export async function processorClock(page: Page, what: "ScriptDuration" | "TaskDuration"): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.setTimeDomain", { timeDomain: "threadTicks" });
  await devtools.send("Performance.enable");
  return async () => (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === what)?.value ?? NaN;
}

/** Moves the playground's slider by keys, as those without a pointer do. */
export async function setSpeed(page: Page, place: number | "max"): Promise<void> {
  const slider = page.getByLabel("Speed", { exact: true });
  await slider.focus();
  await page.keyboard.press(place === "max" ? "End" : "Home");
  if (place !== "max") for (let at = 0; at < place; at += 1) await page.keyboard.press("ArrowRight");
}

/** A page opened from a file, and what it complained about or asked for. */
export interface Opened {
  readonly page: Page;
  readonly complaints: string[];
  readonly requests: string[];
}

export async function open(browser: Browser, file: string, options: BrowserContextOptions): Promise<Opened> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:") && !request.url().startsWith("blob:")) requests.push(request.url());
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector("footer");
  // Plots measure their place first; two frames later they are drawn.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, complaints, requests };
}
