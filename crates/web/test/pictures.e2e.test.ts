// Takes the pictures of the documentation from the real `gq serve` (tools/site/pictures.sh).
// PICTURES names the folder; without it, this is skipped.

import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawn, launch, setSpeed } from "./browser.ts";
import { address } from "./serve.ts";

const PICTURES = process.env["PICTURES"] ?? "";
const GQ = process.env["GQ"] ?? "";

describe.skipIf(PICTURES === "" || GQ === "")("pictures", () => {
  let browser: Browser;
  let server: ChildProcess;
  let page: Page;
  beforeAll(async () => {
    server = spawn(GQ, ["serve", "--no-open", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
    const url = await address(server);
    browser = await launch();
    page = await browser.newPage({ viewport: { width: 1280, height: 1010 }, colorScheme: "light" });
    await page.goto(url);
    await page.locator("#experiment-bloat").click();
  });
  afterAll(async () => {
    await browser.close();
    server.kill("SIGTERM");
  });

  it("of the playground", async () => {
    await setSpeed(page, "max");
    await page.waitForSelector(".verdict:not([hidden])", { timeout: 60_000 });
    // The ring around the slider is of no interest.
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await drawn(page);
    await page.screenshot({ path: resolve(PICTURES, "playground.png") });
  });

  it("of packets", async () => {
    await setSpeed(page, 7);
    await page.getByRole("button", { name: "Run again" }).click();
    await expect.poll(async () => Number.parseFloat((await page.locator(".clock").textContent()) ?? ""), { timeout: 30_000 }).toBeGreaterThan(9);
    await page.getByRole("button", { name: "Packets", exact: true }).click();
    await setSpeed(page, 3);
    for (const panel of [1, 2]) await page.locator(".packet-panel").nth(panel).locator(".signal-text").nth(2).waitFor({ timeout: 60_000 });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Continue" }).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await drawn(page);
    const grid = await page.locator(".packet-grid").boundingBox();
    if (!grid) throw new Error("there are no packets");
    await page.setViewportSize({ width: 1280, height: Math.ceil(grid.y + grid.height + 40) });
    await drawn(page);
    await page.screenshot({ path: resolve(PICTURES, "packets.png"), clip: { x: grid.x - 16, y: grid.y - 12, width: grid.width + 32, height: grid.height + 24 } });
  });
});
