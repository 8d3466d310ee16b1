// The monitor of a real `gq bridge` between two networks of this machine. GQ names the program;
// without it, without root or without network namespaces these tests are skipped by name.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { faults } from "./axe.ts";
import { drawn, launch } from "./browser.ts";
import { Child } from "./child.ts";
import { address } from "./serve.ts";

const OUT = resolve(import.meta.dirname, "out");
const GQ = process.env["GQ"] ?? "";
/** The networks: two ends, and the machine between them. */
const [LEFT, BRIDGE, RIGHT] = ["left", "mid", "right"].map((name) => `gq${process.pid}${name}`) as [string, string, string];

function ip(...words: string[]): void {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
}

function allows(): boolean {
  if (GQ === "" || !existsSync(GQ) || process.getuid?.() !== 0) return false;
  const made = spawnSync("ip", ["netns", "add", LEFT]).status === 0;
  if (made) ip("netns", "del", LEFT);
  return made;
}

const isPossible = allows();
if (!isPossible) process.stdout.write("skipped: the monitor's test with a bridge (needs GQ, root, and network namespaces)\n");

describe.skipIf(!isPossible)("the monitor of a bridge", () => {
  const folder = mkdtempSync(join(tmpdir(), "goodqueue-monitor-"));
  const socket = join(folder, "control");
  let browser: Browser;
  let server: ChildProcess;
  let bridge: Child | undefined;
  let sender: ChildProcess | undefined;
  let page: Page;
  const complaints: string[] = [];

  /** A bridge that answers at its control socket. */
  async function startBridge(): Promise<Child> {
    const started = new Child("ip", ["netns", "exec", BRIDGE, GQ, "bridge", "--in", "in0", "--out", "out0", "--rate", "10mbit", "--aqm", "codel", "--offloads", "ignore", "--real-time", "off", "--control", socket]);
    await started.listensAt(socket);
    return started;
  }

  beforeAll(async () => {
    mkdirSync(OUT, { recursive: true });
    for (const name of [LEFT, BRIDGE, RIGHT]) ip("netns", "add", name);
    for (const [end, port, own] of [[LEFT, "in0", "10.9.0.1/24"], [RIGHT, "out0", "10.9.0.2/24"]] as const) {
      ip("-n", BRIDGE, "link", "add", "name", port, "type", "veth", "peer", "name", "end0", "netns", end);
      ip("-n", end, "addr", "add", own, "dev", "end0");
      ip("-n", end, "link", "set", "end0", "up");
      ip("-n", BRIDGE, "link", "set", port, "up");
    }
    bridge = await startBridge();
    server = spawn(GQ, ["serve", "--no-open", "--listen", "127.0.0.1:0", "--bridge", socket], { stdio: ["ignore", "ignore", "pipe"] });
    const url = await address(server);
    browser = await launch();
    page = await (await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: "light" })).newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    expect((await page.goto(`${url}#/monitor`))?.status()).toBe(200);
  });
  afterAll(async () => {
    sender?.kill("SIGKILL");
    await browser?.close();
    server?.kill("SIGTERM");
    try {
      await bridge?.end();
    } finally {
      for (const name of [LEFT, BRIDGE, RIGHT]) spawnSync("ip", ["netns", "del", name]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
  afterEach(({ task }) => {
    if (task.result?.state === "fail") process.stdout.write(`the bridge of "${task.name}" said: ${bridge?.text ?? ""}\n`);
  });

  /** What the page says of the bridge, with plain spaces. */
  const status = async (): Promise<string> => ((await page.getByRole("status").first().textContent()) ?? "").replace(/\s/g, " ");

  /** Fills in a value and confirms it. */
  async function change(label: string, button: string, value: string): Promise<void> {
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("button", { name: "Yes, change live traffic" }).click();
  }

  it("shows both directions, the counters and who sends", async () => {
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^down: codel at 10\.0 Mbit\/s · up: codel at 10\.0 Mbit\/s$/);
    // Fifty datagrams in every round, for as long as the test lasts.
    const program = `const s = require("node:dgram").createSocket("udp4"); s.bind(5004, () => setInterval(() => { for (let n = 0; n < 50; n += 1) s.send(Buffer.alloc(1200), 9, "10.9.0.2"); }, 20));`;
    sender = spawn("ip", ["netns", "exec", LEFT, process.execPath, "-e", program], { stdio: "ignore" });
    const flows = page.locator(".direction").first().locator(".flow-table tbody th");
    await expect.poll(() => flows.first().textContent(), { timeout: 20_000 }).toContain("10.9.0.1:5004 → 10.9.0.2:9 udp");
    await expect.poll(() => page.locator(".direction .tc").first().textContent(), { timeout: 20_000 }).toMatch(/^qdisc codel 1: dev out0 root\n Sent [1-9]\d+ bytes [1-9]\d* pkt \(dropped [1-9]\d*, overlimits \d+ requeues 0\)\n backlog \d+b \d+p requeues 0$/);
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width: 1440, height: await page.evaluate(() => document.documentElement.scrollHeight) });
      await drawn(page);
      await page.screenshot({ path: resolve(OUT, `monitor-live-${colorScheme}.png`) });
      expect(await faults(page)).toEqual([]);
    }
  });

  it("shows the present settings", async () => {
    const present = async (): Promise<string[]> => Promise.all(["Rate", "Added delay", "Algorithm", "Policy"].map((label) => page.getByLabel(label, { exact: true }).inputValue()));
    await expect.poll(present).toEqual(["10 Mbit/s", "0 s", "codel", ""]);
  });

  it("changes rate, algorithm and policy after a second click, and tells what is wrong", async () => {
    await change("Rate", "Set the rate", "5 Mbit/s");
    await expect.poll(status).toContain("down: codel at 5.00 Mbit/s");
    await page.getByLabel("Rate", { exact: true }).fill("7 Mbit/s");
    await page.getByRole("button", { name: "Set the rate" }).click();
    await page.getByRole("button", { name: "No", exact: true }).click();
    await change("Algorithm", "Set the algorithm", "gsp-as");
    await expect.poll(status).toContain("down: gsp-as at 5.00 Mbit/s · up: codel");
    await change("Policy", "Set the policy", "utilization>=0.95, delay<=20ms");
    await page.getByText("Done.").last().waitFor();
    await expect.poll(() => page.getByLabel("Algorithm", { exact: true }).inputValue()).toBe("gsp-as:u_low=0.95:target_max=20ms");
    await expect.poll(() => page.getByLabel("Policy", { exact: true }).inputValue()).toBe("utilization>=0.95, delay<=20ms");
    await change("Algorithm", "Set the algorithm", "codle");
    await page.getByText(/codle/).last().waitFor();
    await expect.poll(status).toContain("down: gsp-as at 5.00 Mbit/s");
    // The browser tells of the refusal in its own time.
    await expect.poll(() => complaints.filter((text) => text.includes("422")).length).toBe(1);
    expect(complaints.splice(0).filter((text) => !text.includes("422"))).toEqual([]);
  });

  it("says when the bridge is gone, and resumes when it is back", async () => {
    expect(await bridge?.end()).toBe(0);
    await expect.poll(status, { timeout: 20_000 }).toContain("The bridge is gone");
    bridge = await startBridge();
    await expect.poll(status, { timeout: 20_000 }).toMatch(/^down: codel at 10\.0 Mbit\/s/);
    await expect.poll(() => page.locator(".direction .flow-table tbody th").first().textContent(), { timeout: 20_000 }).toContain("10.9.0.1:5004");
    expect(complaints).toEqual([]);
  });
});
