// The page without a server: its module against `gq`, and the page read from a file in browsers.
// GQ_MODULE names the module and GQ the program; without them these tests are skipped by name
// (crates/web/playground.sh sets both).

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { START } from "../src/app/play/model.ts";
import { playOf, sessionOf } from "../src/app/play/toml.ts";
import { pack } from "../src/app/share.ts";
import { Engine } from "../src/local/engine.ts";
import type { Answer, Ask } from "../src/local/messages.ts";
import type { Done, Hello, NewSession } from "../src/serve/protocol.ts";
import { launch, open } from "./browser.ts";
import { Firefox, FIREFOX } from "./firefox.ts";

const [MODULE, GQ, NATIVE] = ["GQ_MODULE", "GQ", "NATIVE"].map((name) => process.env[name] ?? "") as [string, string, string];
const isReady = [MODULE, GQ].every((file) => file !== "" && existsSync(file));
if (!isReady) process.stdout.write("skipped: the playground without a server (GQ_MODULE or GQ names no file)\n");
else if (FIREFOX === undefined) process.stdout.write("skipped: the playground without a server in Firefox (not installed)\n");

const PAGE = resolve(import.meta.dirname, "../dist/playground/playground.html");

/** Runs what is set, as fast as possible, and tells what the page says at the end. */
const RUN = `
  const until = async (find) => { for (;;) { const found = find(); if (found) return found; await new Promise((done) => setTimeout(done, 50)); } };
  (await until(() => document.getElementById("run"))).click();
  await until(() => document.querySelector(".verdict-links a"));
  return [...document.querySelectorAll(".verdict .hint")].at(-1).textContent;`;

/** Presets with few events, which take a short time also without optimization. */
const PRESETS = ["dsl", "lte", "uplink"];

/** Scenarios with which simulators are compared. */
const PEERS = resolve(import.meta.dirname, "../../../tools/bench/peers");

/** Pages of the course with the settings of their experiments: tools/site/stage.py links them. */
const COURSE = resolve(import.meta.dirname, "../../../docs/course");
const LABS = readdirSync(COURSE).flatMap((page) => {
  const settings = /<!-- play: (.*) -->/.exec(readFileSync(join(COURSE, page), "utf8"))?.[1];
  return settings === undefined ? [] : [[page, JSON.parse(settings) as unknown] as const];
});

interface Ran {
  readonly fingerprint: string;
  readonly processor_s: number;
}

interface Simulated extends Ran {
  readonly session: NewSession;
  /** Its only variant, as a file for gq. */
  readonly scenario: string;
}

/** Runs a preset, or a scenario of tools/bench/peers, in an instance of the module, as fast as possible. */
function simulate(subject: string, seconds?: number): Simulated {
  let done: Done | undefined;
  const before = process.cpuUsage();
  // A clock that stands still: every frame is as long as it may be.
  const engine = new Engine(new WebAssembly.Module(readFileSync(MODULE)), () => 0, (name, data) => {
    if (name === "done") done = JSON.parse(data) as Done;
  });
  const hello = ask(engine, { ask: "hello" }) as { ok: Hello };
  const preset = hello.ok.presets.find(({ id }) => id === subject)?.scenario_toml;
  const text = preset ?? readFileSync(join(PEERS, `${subject}.toml`), "utf8");
  const toml = seconds === undefined ? text : text.replace(/^duration = .*/m, `duration = "${seconds} s"`);
  const variant = preset === undefined ? { label: "tail drop", queue: { kind: "tail-drop" } } : { label: "fq_codel", queue: { kind: "fq-codel" } };
  const session: NewSession = { scenario_toml: toml, variants: [variant], seed: 5, speed: null, paused: false };
  expect(ask(engine, { ask: "open", session })).toEqual({ ok: {} });
  const { ok: scenario } = ask(engine, { ask: "file", name: "scenario.toml", variant: 0 }) as { ok: string };
  while (engine.frame() >= 0);
  const { user, system } = process.cpuUsage(before);
  return { fingerprint: done?.fingerprint ?? "", processor_s: (user + system) / 1e6, session, scenario };
}

function ask(engine: Engine, question: Ask): Answer {
  return JSON.parse(engine.askText(question)) as Answer;
}

/** Runs a program and tells the processor time that it took, and what it printed. */
function timed(command: readonly string[], input = ""): { readonly processor_s: number; readonly said: string } {
  const script = 'TIMEFORMAT="%U %S"; time "$@" 2>/dev/null';
  const { stdout, stderr } = spawnSync("bash", ["-c", script, "bash", ...command], { encoding: "utf8", input });
  const [user, system] = (stderr.trim().split("\n").at(-1) ?? "").split(" ").map(Number) as [number, number];
  return { processor_s: user + system, said: stdout };
}

/** Runs a session of the module as machine code. */
function runAsMachineCode(session: NewSession): Ran {
  const { processor_s, said } = timed([NATIVE], JSON.stringify(session));
  return { fingerprint: (JSON.parse(said) as Done).fingerprint, processor_s };
}

/** Runs a scenario of the module with gq, into `folder`. */
function runNatively(scenario: string, folder: string): Ran {
  mkdirSync(folder);
  const file = join(folder, "scenario.toml");
  // Recordings of the page are files of the repository for gq.
  writeFileSync(file, scenario.replaceAll("builtin:", `${resolve(import.meta.dirname, "../../../examples/traces")}/`));
  const { processor_s } = timed([GQ, "run", file, "--jobs", "1", "--replications", "1", "--out", join(folder, "out")]);
  const summary = JSON.parse(readFileSync(join(folder, "out/summary.json"), "utf8")) as { provenance: { fingerprint: string } };
  return { fingerprint: summary.provenance.fingerprint, processor_s };
}

describe.skipIf(!isReady)("the playground without a server", () => {
  const folder = mkdtempSync(join(tmpdir(), "goodqueue-local-"));
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  it.each(PRESETS)("gives the fingerprint of gq run: %s", (preset) => {
    const { fingerprint, scenario } = simulate(preset);
    expect(fingerprint).toBe(runNatively(scenario, join(folder, preset)).fingerprint);
  });

  it("gives the stored verdict", () => {
    const stored = resolve(import.meta.dirname, "../../lab/tests/verdict");
    let done: Done | undefined;
    const engine = new Engine(new WebAssembly.Module(readFileSync(MODULE)), () => 0, (name, data) => {
      if (name === "done") done = JSON.parse(data) as Done;
    });
    const variants = ["tail-drop", "pie", "fq-codel"].map((kind) => ({ label: kind, queue: { kind } }));
    const session: NewSession = { scenario_toml: readFileSync(join(stored, "line.toml"), "utf8"), variants, seed: 7, speed: null, paused: false };
    expect(ask(engine, { ask: "open", session })).toEqual({ ok: {} });
    while (engine.frame() >= 0);
    const summary = done?.summary as { headline: unknown } | undefined;
    expect(summary?.headline).toEqual(JSON.parse(readFileSync(join(stored, "headline.json"), "utf8")));
  });

  it.each(LABS)("can run the experiment of the course's page %s", (_page, play) => {
    const engine = new Engine(new WebAssembly.Module(readFileSync(MODULE)), () => 0, () => undefined);
    expect(ask(engine, { ask: "open", session: sessionOf(playOf(play)) })).toEqual({ ok: {} });
    expect(engine.frame()).toBeGreaterThanOrEqual(0);
  });

  /** With NATIVE set, for docs/serve.md; NATIVE and GQ are then release builds. */
  it.skipIf(NATIVE === "").each([["uplink", 3000], ["dsl", 3000], ["cable", 1500], ["fibre", 300], ["s4", 20]] as const)("has a speed: %s, %i s", (subject, seconds) => {
    const ours = simulate(subject, seconds);
    const [machineCode, run] = [runAsMachineCode(ours.session), runNatively(ours.scenario, join(folder, `${subject}-long`))];
    expect(ours.fingerprint).toBe(machineCode.fingerprint);
    expect(ours.fingerprint).toBe(run.fingerprint);
    const than = ({ processor_s }: Ran) => `${processor_s.toFixed(2)} s (ratio ${(processor_s / ours.processor_s).toFixed(2)})`;
    process.stdout.write(`${subject}, ${seconds} s: ${ours.processor_s.toFixed(2)} s of processor time in the module, ${than(machineCode)} as machine code, ${than(run)} by gq run\n`);
  }, 300_000);

  it("runs from a file, asks nobody, and says the same in every browser", async () => {
    const address = `${PAGE}#/play?s=${await pack({ ...START, speed: null })}`;
    const { page, complaints, requests } = await open(browser, address, { viewport: { width: 1440, height: 1000 } });
    const said = await page.evaluate(`(async () => {${RUN}})()`);
    expect(said).toMatch(/fingerprint [0-9a-f]{8}/);
    const [report] = await Promise.all([page.waitForEvent("popup"), page.locator(".verdict-links a").click()]);
    await report.waitForSelector("table");
    expect(complaints).toEqual([]);
    expect(requests).toHaveLength(1);
    if (FIREFOX === undefined) return;
    const firefox = await Firefox.launch();
    try {
      await firefox.open(`file://${address}`);
      expect(await firefox.run(RUN)).toBe(said);
      expect(await firefox.run("return performance.getEntriesByType('resource').filter(({ name }) => !/^(data|blob):/.test(name)).length")).toBe(0);
    } finally {
      await firefox.close();
    }
  });
});
