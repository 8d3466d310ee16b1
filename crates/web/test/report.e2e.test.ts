// The built report in a real browser. `GOODQUEUE_REPORT=FILE` checks a report that `gq` wrote
// instead of the fixture.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { faults } from "./axe.ts";
import { drawn, launch, open, type Opened, processorClock } from "./browser.ts";
import { fixture, page as html } from "./fixture.ts";

const OUT = resolve(import.meta.dirname, "out");
const WIDE = { viewport: { width: 1280, height: 900 } };
const NARROW = { viewport: { width: 375, height: 812 }, deviceScaleFactor: 2, hasTouch: true };
const HOSTILE = `name = "</script><img src=x onerror=window.hacked=1>"\u2028# <!-- & -->\n`;

/** The columns of charts' files, and the titles of their axes. */
const COLUMNS: Readonly<Record<string, string>> = {
  "Utilization against delay": "point,sojourn_p95_s,ci95_s,utilization,utilization_ci95",
  "Sojourn time of the packets": "line,sojourn_time_s,packets_that_waited_at_most_this_long",
  "Queue length": "line,time_s,queue_length_packets",
  "Goodput of each flow": "point,group,flow,goodput_bit_s,ci95_bit_s",
};
const TITLES: Readonly<Record<string, string>> = {
  "Utilization against delay": "Utilization (%)",
  "Sojourn time of the packets": "Sojourn time (ms)",
  "Queue length": "Time (s)",
  "Goodput of each flow": "Goodput of a flow (Mbit/s)",
};

let browser: Browser;
const given = process.env["GOODQUEUE_REPORT"];
const file = given ?? write("fixture", fixture());

function write(name: string, data: object): string {
  mkdirSync(OUT, { recursive: true });
  const path = resolve(OUT, `${name}.html`);
  writeFileSync(path, html(data));
  return path;
}

beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());

/** Canvases on which more than the axes was drawn: pixels of a saturated or dark line color. */
async function canvases(page: Page): Promise<{ all: number; painted: number }> {
  return page.evaluate(() => {
    const all = [...document.querySelectorAll("canvas")];
    const painted = all.filter((canvas) => {
      const { data } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      let pixels = 0;
      for (let at = 3; at < data.length; at += 4) if ((data[at] ?? 0) > 200) pixels += 1;
      return pixels > 300;
    });
    return { all: all.length, painted: painted.length };
  });
}

describe.each([
  ["wide", WIDE, "light"],
  ["wide", WIDE, "dark"],
  ["narrow", NARROW, "light"],
  ["narrow", NARROW, "dark"],
] as const)("%s screen", (name, screen, colorScheme) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(browser, file, { ...screen, colorScheme });
    // Phones begin with the long sections folded.
    const folds = opened.page.locator(".fold");
    expect((await folds.count()) > 0).toBe(name === "narrow");
    for (let at = 0; at < (await folds.count()); at += 1) await folds.nth(at).click();
    await drawn(opened.page);
    await opened.page.screenshot({ path: resolve(OUT, `${name}-${colorScheme}.png`), fullPage: true });
  });
  afterAll(() => opened.page.context().close());

  it(`draws every chart in ${colorScheme} colors`, async () => {
    const { all, painted } = await canvases(opened.page);
    expect(all).toBeGreaterThan(4);
    expect(painted).toBe(all);
    expect(await opened.page.locator(".chart-place svg path").count()).toBeGreaterThan(20);
  });

  it("complains about nothing and fetches nothing", () => {
    expect(opened.complaints).toEqual([]);
    expect(opened.requests).toEqual([`file://${file}`]);
  });

  it("keeps nobody out", async () => {
    // With the tables open, they are checked too.
    await opened.page.evaluate(() => document.querySelectorAll<HTMLDetailsElement>("details.numbers").forEach((details) => (details.open = true)));
    expect(await faults(opened.page)).toEqual([]);
  });

  it("does not scroll sideways", async () => {
    expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBe(screen.viewport.width);
  });
});

describe("a finger", () => {
  it.each([["Utilization against delay", /%/], ["Sojourn time of the packets", /ms.*%/]])("reads %s", async (title, told) => {
    const { page } = await open(browser, file, { ...NARROW, colorScheme: "light" });
    const frame = page.locator(".chart-card").filter({ has: page.getByRole("heading", { name: title, exact: true }) }).locator(".plot-frame");
    await frame.scrollIntoViewIfNeeded();
    const box = await frame.boundingBox();
    if (!box) throw new Error("the chart has no place on the page");
    // Somewhere in a grid of taps there is a point near enough.
    for (const part of [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.2, 0.1]) {
      for (const height of [0.5, 0.7, 0.3, 0.1]) {
        await page.touchscreen.tap(box.x + box.width * part, box.y + box.height * height);
        if (await frame.locator(".tooltip").isVisible()) break;
      }
      if (await frame.locator(".tooltip").isVisible()) break;
    }
    expect(await frame.locator(".tooltip").textContent()).toMatch(told);
    await page.context().close();
  });
});

describe("reading", () => {
  let page: Page;
  beforeAll(async () => {
    ({ page } = await open(browser, file, { ...WIDE, colorScheme: "light", acceptDownloads: true }));
  });
  afterAll(() => page.context().close());
  const card = (title: string) => page.locator(".chart-card").filter({ has: page.getByRole("heading", { name: title, exact: true }) });

  it("switches to dark and back, charts included", async () => {
    const ground = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const text = (): Promise<string | null> => page.locator(".chart-place svg text").first().getAttribute("fill");
    const before = [await ground(), await text()];
    await page.getByRole("button", { name: "Dark theme" }).click();
    const dark = [await ground(), await text()];
    expect(dark[0]).not.toBe(before[0]);
    expect(dark[1]).not.toBe(before[1]);
    await page.getByRole("button", { name: "Light theme" }).click();
    expect([await ground(), await text()]).toEqual(before);
  });

  it("sorts by click and by key, and announces it", async () => {
    const header = page.locator(".figures").first().locator("th.figure").filter({ hasText: "p95" });
    const values = async (): Promise<number[]> => {
      const at = await header.evaluate((cell) => (cell as HTMLTableCellElement).cellIndex);
      return page.locator(".figures").first().locator(`tbody tr > :nth-child(${at + 1}) .mean`).evaluateAll((cells) => cells.map((cell) => Number(cell.textContent?.replace(/\s/g, ""))));
    };
    const given = await values();
    await header.getByRole("button").click();
    expect(await header.getAttribute("aria-sort")).toBe("ascending");
    expect(await values()).toEqual([...given].sort((a, b) => a - b));
    await header.getByRole("button").press("Enter");
    expect(await header.getAttribute("aria-sort")).toBe("descending");
    expect(await values()).toEqual([...given].sort((a, b) => b - a));
    await header.getByRole("button").press("Enter");
    expect(await header.getAttribute("aria-sort")).toBeNull();
    expect(await values()).toEqual(given);
  });

  it("tells first what people got, and marks what is outside the policy", async () => {
    const [results, call] = [page.locator(".figures").first(), page.locator(".experience").first()];
    expect((await results.locator("th.figure .sort-label").allTextContents()).slice(0, 4)).toEqual(["call: Call bad", "call: Call quality, MOS", "call: Lost", "Sojourn p95"]);
    expect(await call.locator("h3").textContent()).toBe("call");
    for (const table of [results, call]) {
      const outside = table.locator("tbody tr", { has: page.locator(".outside") });
      expect(await outside.count()).toBe(1);
      expect([await outside.locator(".name").first().textContent(), await outside.locator("strong").count()]).toEqual(["tail-drop†", 0]);
      expect(await table.locator("strong").count()).toBeGreaterThan(0);
    }
    await page.getByText("does not satisfy the policy (utilization at least 95 % of the best)").waitFor();
  });

  it("switches points off and on everywhere", async () => {
    const first = page.locator(".legend-item").first();
    const label = (await first.textContent()) ?? "";
    const seen = (): Promise<number> => page.locator(".panel-name", { hasText: new RegExp(`^${label}$`) }).count();
    const before = await seen();
    await first.click();
    expect(await first.getAttribute("aria-pressed")).toBe("false");
    expect(await seen()).toBe(0);
    await first.press("Enter");
    expect(await first.getAttribute("aria-pressed")).toBe("true");
    expect(await seen()).toBe(before);
  });

  it("tells values with their unit under the pointer", async () => {
    const plot = card("Sojourn time of the packets").locator(".u-over");
    await plot.scrollIntoViewIfNeeded();
    await plot.hover({ position: { x: 200, y: 100 } });
    const tooltip = card("Sojourn time of the packets").locator(".tooltip");
    await expect.poll(() => tooltip.textContent()).toMatch(/[\d.]+\s(ms|µs).*[\d.]+\s%/);
    await page.screenshot({ path: resolve(OUT, "tooltip.png") });
  });

  it("tells values by arrow keys", async () => {
    const frame = card("Utilization against delay").locator(".plot-frame");
    await frame.focus();
    await page.keyboard.press("ArrowRight");
    expect(await frame.locator(".tooltip").textContent()).toMatch(/Utilization[\d.]+\s%/);
    const line = card("Sojourn time of the packets").locator(".plot-frame");
    await line.focus();
    await page.keyboard.press("End");
    await expect.poll(() => line.locator(".tooltip").textContent()).toMatch(/100\s%/);
  });

  it("looks closer by dragging, in all plots over time, and back by a double click", async () => {
    await page.getByRole("button", { name: "Overlaid" }).click();
    const plot = card("Queue length").locator(".u-over");
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.boundingBox();
    if (!box) throw new Error("the plot has no place on the page");
    await page.mouse.move(box.x + 150, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + 260, box.y + 60, { steps: 5 });
    await page.mouse.up();
    const showAll = card("Sojourn time over time").locator("button", { hasText: "Show all" });
    await expect.poll(() => showAll.isEnabled()).toBe(true);
    await page.screenshot({ path: resolve(OUT, "zoomed.png") });
    await plot.dblclick();
    await expect.poll(() => showAll.isEnabled()).toBe(false);
    await page.getByRole("button", { name: "Separate" }).click();
  });

  it("gives away pictures and numbers", async () => {
    const save = async (title: string, item: string): Promise<Buffer> => {
      await card(title).locator(".menu summary").click();
      const [download] = await Promise.all([page.waitForEvent("download"), card(title).getByRole("button", { name: item }).click()]);
      const path = resolve(OUT, download.suggestedFilename());
      await download.saveAs(path);
      return readFileSync(path);
    };
    for (const title of ["Utilization against delay", "Sojourn time of the packets", "Queue length", "Goodput of each flow"]) {
      const svg = (await save(title, "Picture, SVG")).toString();
      expect(svg).toContain(title);
      expect(await page.evaluate((text) => new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror")?.textContent ?? "", svg)).toBe("");
      expect(svg.match(/<path/g)?.length).toBeGreaterThan(10);
      expect((await save(title, "Picture, PNG")).subarray(1, 4).toString()).toBe("PNG");
      const rows = (await save(title, "Numbers, CSV")).toString().split("\r\n");
      expect(rows.length).toBeGreaterThan(3);
      expect([title, rows[0]]).toEqual([title, COLUMNS[title]]);
      expect(svg).toContain(TITLES[title]);
    }
    await page.locator(".results .menu summary").first().click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Everything, JSON" }).click()]);
    expect(JSON.parse(readFileSync(await download.path(), "utf8"))).toHaveProperty("schema", "goodqueue.report/1");
  });

  it("prints every chart, whatever the theme", async () => {
    const pdf = await page.pdf({ format: "A4", path: resolve(OUT, "report.pdf") });
    expect(pdf.length).toBeGreaterThan(50_000);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect(await page.locator(".chart-print > svg").count()).toBe(await page.locator(".chart-card").count());
  });
});

describe.skipIf(given !== undefined)("other results", () => {
  it("shows hostile text as text", async () => {
    const { page, complaints } = await open(browser, write("hostile", fixture({ scenario: HOSTILE, points: 1 })), WIDE);
    expect(await page.locator(".scenario-text pre").textContent()).toBe(HOSTILE);
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each([
    ["one point, one run", { points: 1, replications: 1 }],
    ["a sweep of 24 points", { points: 24, sweep: true }],
    ["two points", { points: 2 }],
    ["600 flows", { points: 4, flows: 600 }],
  ])("shows %s", async (name, options) => {
    const opened = await open(browser, write(name.replaceAll(/[ ,]+/g, "-"), fixture(options)), { ...WIDE, colorScheme: "light" });
    await opened.page.screenshot({ path: resolve(OUT, `${name.replaceAll(/[ ,]+/g, "-")}.png`), fullPage: true });
    expect(opened.complaints).toEqual([]);
    const { all, painted } = await canvases(opened.page);
    expect(painted).toBe(all);
    expect(await faults(opened.page)).toEqual([]);
    await opened.page.context().close();
  });

  it("begins with what people get, then the tables, and draws a swept setting", async () => {
    const opened = await open(browser, write("swept", fixture({ points: 4, swept: [1, 4, 16] })), { ...WIDE, colorScheme: "light" });
    const { page } = opened;
    expect((await page.locator("main h2").allTextContents()).slice(0, 3)).toEqual(["Before you rely on this", "At a glance", "Results at the bottleneck"]);
    const [glance, sweep] = ["What people on the line get", "Over the swept setting"].map((name) => page.locator(".chart-card").filter({ has: page.getByRole("heading", { name, exact: true }) }));
    expect(await glance?.locator(".panel-name").allTextContents()).toEqual(["Call bad (%)", "Call quality, MOS", "Bulk: Goodput, all flows (Mbit/s)"]);
    await glance?.locator(".plot-frame").first().focus();
    await page.keyboard.press("ArrowRight");
    expect(await glance?.locator(".tooltip").first().textContent()).toMatch(/^tail-drop, flows=1Call bad \(%\)[\d.]+( ± [\d.]+)?$/);
    expect(await sweep?.locator(".chart-place svg").textContent()).toMatch(/tail-drop.*fq-codel/);
    await sweep?.getByLabel("Figure").selectOption("bulk.goodput_bit_s");
    expect(await sweep?.locator(".chart-place svg").textContent()).toContain("Goodput, all flows (Mbit/s)");
    await sweep?.locator(".numbers summary").click();
    await expect.poll(() => sweep?.locator(".digest tr").count()).toBe(4);
    expect(await faults(page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await page.context().close();
  });

  it("draws the best points and the baseline, says how many are not drawn, and which are the same", async () => {
    const opened = await open(browser, write("level", fixture({ points: 16, level: true, twins: true })), { ...WIDE, colorScheme: "light" });
    const pressed = opened.page.locator('.legend-item[aria-pressed="true"]');
    // The best, what is as good, the baseline, then those within the policy.
    expect((await pressed.allTextContents()).filter((name) => name === "tail-drop")).not.toEqual([]);
    expect(await pressed.count()).toBe(10);
    await opened.page.getByText("10 of 16 shown in the charts").waitFor();
    await opened.page.getByText("Identical results: tail-drop, red.").waitFor();
    // Utilization tells nothing apart here, so the delay gets bars.
    const bars = opened.page.locator(".chart-card").filter({ has: opened.page.getByRole("heading", { name: "Delay", exact: true }) });
    expect(await bars.locator(".chart-place svg").textContent()).toContain("fq-codel");
    await bars.locator(".plot-frame").focus();
    await opened.page.keyboard.press("ArrowRight");
    expect(await bars.locator(".tooltip").textContent()).toMatch(/Sojourn p95[\d.]+\s(ms|µs)/);
    await opened.page.getByRole("button", { name: "Toggle all" }).click();
    expect(await pressed.count()).toBe(16);
    expect(await opened.page.getByText("shown in the charts").isVisible()).toBe(false);
    expect(await faults(opened.page)).toEqual([]);
    expect(opened.complaints).toEqual([]);
    await opened.page.context().close();
  });

  it("opens a million points and looks closer without stutter", async () => {
    // Four queues of eight lines each.
    const data = fixture({ points: 4, flows: 2, samples: 31_250 });
    const opened = await open(browser, write("a-million-points", data), { ...WIDE, colorScheme: "light" });
    const clock = await processorClock(opened.page, "ScriptDuration");
    await drawn(opened.page);
    const plot = opened.page.locator(".chart-card").filter({ has: opened.page.getByRole("heading", { name: "Queue length", exact: true }) }).locator(".u-over").first();
    await plot.scrollIntoViewIfNeeded();
    await drawn(opened.page);
    const box = await plot.boundingBox();
    if (!box) throw new Error("the chart has no place on the page");
    const spent: number[] = [];
    for (const [from, to] of [[0.1, 0.9], [0.2, 0.8], [0.4, 0.6]] as const) {
      await opened.page.mouse.move(box.x + box.width * from, box.y + 40);
      await opened.page.mouse.down();
      await opened.page.mouse.move(box.x + box.width * to, box.y + 40, { steps: 4 });
      // All charts over time change together.
      const before = await clock();
      await opened.page.mouse.up();
      await drawn(opened.page);
      spent.push(1000 * ((await clock()) - before));
    }
    const opening = await opened.page.evaluate(() => performance.getEntriesByType("paint").find(({ name }) => name === "first-contentful-paint")?.startTime ?? NaN);
    process.stdout.write(`a million points: first paint after ${Math.round(opening)} ms, a closer look takes ${spent.map((time) => Math.round(time)).join(", ")} ms of processor time in scripts\n`);
    // Without down-sampling it takes seconds.
    expect(Math.max(...spent)).toBeLessThan(800);
    expect(opened.complaints).toEqual([]);
    await opened.page.context().close();
  });

  it("says what is wrong with data it cannot read", async () => {
    const path = resolve(OUT, "wrong.html");
    mkdirSync(OUT, { recursive: true });
    writeFileSync(path, html({ schema: "something/9" }));
    const context = await browser.newContext(WIDE);
    const page = await context.newPage();
    await page.goto(`file://${path}`);
    await page.getByText("something/9").waitFor();
    await context.close();
  });
});
