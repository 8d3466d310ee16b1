// How the app's pages look and whom they let in: light and dark, wide and narrow, with a stand-in
// for the server that also has a gallery and a bridge. Pictures go to test/out.

import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults } from "./axe.ts";
import { drawn, launch, setSpeed } from "./browser.ts";
import { startMock } from "./mock-server.ts";

const OUT = resolve(import.meta.dirname, "out");
const WIDE = { viewport: { width: 1440, height: 1000 } };
const NARROW = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true };

let browser: Browser;
let mock: Awaited<ReturnType<typeof startMock>>;

beforeAll(async () => {
  mkdirSync(OUT, { recursive: true });
  browser = await launch();
  mock = await startMock(resolve(import.meta.dirname, "../../serve/assets/app"));
});
afterAll(async () => {
  await browser.close();
  await mock.close();
});

describe.each([
  ["wide", WIDE],
  ["narrow", NARROW],
] as const)("%s screen", (name, screen) => {
  let page: Page;
  const complaints: string[] = [];
  const requests = new Set<string>();
  beforeAll(async () => {
    const context = await browser.newContext({ ...screen, colorScheme: "light" });
    page = await context.newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => /^(data|blob):/.test(request.url()) || requests.add(new URL(request.url()).origin));
    await page.goto(mock.url);
    await page.waitForSelector("#run");
  });
  afterAll(() => page.context().close());

  /** Looks at the page as it is now, in both themes. */
  async function look(what: string): Promise<void> {
    // Charts are drawn when they are seen, so everything has to be.
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    await page.setViewportSize({ width: screen.viewport.width, height });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await drawn(page);
      await page.screenshot({ path: resolve(OUT, `app-${what}-${name}-${colorScheme}.png`) });
      expect(await faults(page), colorScheme).toEqual([]);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(screen.viewport.width);
    expect(complaints).toEqual([]);
    await page.setViewportSize(screen.viewport);
  }

  const seconds = async (): Promise<number> => Number.parseFloat((await page.locator(".clock").textContent()) ?? "");

  it("shows the start", async () => {
    if (name === "narrow") await page.getByText("Settings", { exact: true }).first().click();
    await page.locator("#queue-1-more summary").click();
    await look("start");
    await page.locator("#queue-1-more summary").click();
    if (name === "narrow") await page.getByText("Settings", { exact: true }).first().click();
  });

  it("offers hosts, and tells a refusal as any other error", async () => {
    const settings = page.getByText("Settings", { exact: true }).first();
    if (name === "narrow") await settings.click();
    await page.locator("#more-run summary").click();
    expect(await page.locator("#host option").allTextContents()).toEqual(["the simulator", "guest kernels, virtual time (missing here)", "this machine's kernel, real time"]);
    await page.locator("#host").selectOption("linux");
    expect(await page.locator("#more-run").textContent()).toContain("there is no guest kernel");
    await page.locator("#host").selectOption("live");
    expect(await page.locator("#more-run summary").textContent()).toContain("(live)");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".problem", { hasText: "traffic `voip`: kind" }).waitFor();
    // The browser itself notes the refused request.
    expect(complaints.splice(0).filter((complaint) => !complaint.includes("422"))).toEqual([]);
    await page.locator("#host").selectOption("sim");
    await page.locator("#more-run summary").click();
    if (name === "narrow") await settings.click();
  });

  it("shows a run", async () => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Halve the rate" }).click();
    await expect.poll(seconds, { timeout: 20_000 }).toBeGreaterThan(4);
    await look("play");
  });

  it("shows the verdict", async () => {
    await setSpeed(page, "max");
    await page.waitForSelector(".verdict:not([hidden])", { timeout: 30_000 });
    await look("done");
  });

  it("shows packets", async () => {
    await setSpeed(page, 6);
    await page.getByRole("button", { name: "Run again" }).click();
    await expect.poll(seconds, { timeout: 20_000 }).toBeLessThan(20);
    await page.getByRole("button", { name: "Packets", exact: true }).click();
    await page.locator(".signals .signal-text").first().waitFor({ timeout: 30_000 });
    await look("packets");
  });

  it.each(["Runs", "Gallery", "Monitor"])("shows %s", async (link) => {
    await page.getByRole("link", { name: link, exact: true }).click();
    await page.getByRole("heading", { name: link, exact: true, level: 1 }).waitFor();
    await page.locator({ Runs: ".run-list > *", Gallery: ".rows", Monitor: ".pairs" }[link] ?? "main").first().waitFor();
    await look(link.toLowerCase());
  });

  it("asks nobody but its own server", () => {
    expect([...requests]).toEqual([new URL(mock.url).origin]);
  });
});
