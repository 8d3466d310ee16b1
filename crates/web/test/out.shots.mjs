// ../../../../../tmp/shots/shots.ts
import { mkdirSync, writeFileSync, readFileSync as readFileSync3 } from "node:fs";
import { resolve as resolve3 } from "node:path";

// test/browser.ts
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
var PLACES = [process.env["CHROMIUM"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
var FRAMES = 14;
async function launch() {
  const executablePath = PLACES.find((place) => place !== void 0 && existsSync(place));
  if (executablePath === void 0) throw new Error("no Chromium found: install it, or name it in the environment variable CHROMIUM");
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
async function drawn(page3) {
  await page3.evaluate(
    (frames) => new Promise((done) => {
      let left = frames;
      const tick = () => {
        left -= 1;
        if (left === 0) done();
        else requestAnimationFrame(tick);
      };
      requestAnimationFrame(tick);
    }),
    FRAMES
  );
}
async function setSpeed(page3, place) {
  const slider = page3.getByLabel("Speed", { exact: true });
  await slider.focus();
  await page3.keyboard.press(place === "max" ? "End" : "Home");
  if (place !== "max") for (let at = 0; at < place; at += 1) await page3.keyboard.press("ArrowRight");
}
async function open(browser2, file2, options) {
  const context = await browser2.newContext(options);
  const page3 = await context.newPage();
  const complaints = [];
  const requests = [];
  page3.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page3.on("pageerror", (error) => complaints.push(String(error)));
  page3.on("request", (request) => {
    if (!request.url().startsWith("data:") && !request.url().startsWith("blob:")) requests.push(request.url());
  });
  await page3.goto(`file://${file2}`);
  await page3.waitForSelector("footer");
  await page3.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page: page3, complaints, requests };
}

// test/fixture.ts
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0;
    return state / 2 ** 32;
  };
}
var PROFILES = [
  { kind: "tail-drop", queue: 92, swing: 26, utilization: 0.9998, spread: 0.28 },
  { kind: "red", queue: 21, swing: 14, utilization: 0.991, gauge: "drop_probability", spread: 0.16 },
  { kind: "codel", queue: 5.2, swing: 5, utilization: 0.978, gauge: "count", spread: 0.2 },
  { kind: "fq-codel", queue: 5.6, swing: 4, utilization: 0.984, gauge: "new_flows", spread: 0.01 },
  { kind: "pie", queue: 12.5, swing: 9, utilization: 0.987, gauge: "drop_probability", spread: 0.18 },
  { kind: "cp-aqm", queue: 6.4, swing: 4, utilization: 0.9931, gauge: "tokens", spread: 0.13 },
  { kind: "gsp-as", queue: 8.1, swing: 6, utilization: 0.9905, gauge: "threshold", spread: 0.22 },
  { kind: "cobalt", queue: 5.4, swing: 5, utilization: 0.9785, gauge: "drop_probability", spread: 0.19 }
];
var RATE = 1e7;
var PACKET_S = 1507 * 8 / RATE;
var SAMPLES = 1e3;
var SECONDS = 60;
function round(value) {
  return Number(value.toPrecision(6));
}
function figure(mean, random, n) {
  return { mean: round(mean), ci95: n > 1 ? round(Math.abs(mean) * (4e-3 + 0.03 * random())) : null, n };
}
function wander(times, middle, swing, period, random) {
  const step = SECONDS / times.length;
  let phase = random();
  return times.map((time) => {
    phase += step / period * (0.7 + 0.6 * random());
    const start = time < 1.5 ? 2.2 - time * 0.8 : 1;
    return round(Math.max(0, middle * start + swing * (2 * (phase % 1) - 1) + swing * 0.35 * (random() - 0.5)));
  });
}
function metricsFixture() {
  return JSON.parse(readFileSync(resolve(import.meta.dirname, "metrics.json"), "utf8"));
}
function fixture(options = {}) {
  const { flows = 16, replications = 10, points = PROFILES.length, scenario = SCENARIO, sweep = false, swept = [], samples = SAMPLES, level = false, twins = false } = options;
  const times = Array.from({ length: samples }, (_, at) => round(at * SECONDS / samples));
  const made = Array.from({ length: points }, (_, at) => {
    const profile = PROFILES[sweep ? 5 : at % PROFILES.length];
    if (level) return { ...profile, utilization: 0.9995 + 1e-4 * (at % 3) };
    return sweep ? { ...profile, label: `c_max = ${(1 + at * 0.1).toFixed(1)}`, queue: profile.queue * (1 + at * 0.4), utilization: 0.97 + 3e-3 * at } : profile;
  });
  const profiles = swept.length === 0 ? made : swept.flatMap((flows2) => made.map((profile) => ({ ...profile, label: `${profile.kind}, flows=${flows2}`, set: { "link.bottleneck.queue": profile.kind, "traffic.0.flows": flows2 }, queue: profile.queue * flows2 ** 0.3 })));
  const built = profiles.map((profile, at) => point(profile, flows, replications, twins && at === 1 ? 0 : at, times));
  if (twins) Object.assign(built[1] ?? {}, { summary: built[0]?.summary });
  const labels = profiles.map(({ label, kind }) => label ?? kind);
  const best = labels[Math.min(labels.length - 1, 3)] ?? null;
  return {
    schema: "goodqueue.report/1",
    title: "Home uplink, 16 CUBIC flows",
    sentence: "At 10 Mbit/s with 16 CUBIC flows, fq-codel and cp-aqm keep 95 % of the packets below 12 ms with the link more than 98 % busy; a plain FIFO of one BDP adds 141 ms at the 95th percentile and gains 0.7 % of throughput.",
    warnings: ["The buffer of codel (20 packets) is below one BDP: its overflow drops are the buffer\u2019s, not the algorithm\u2019s."],
    scenario_toml: scenario,
    command_line: "gq compare --rate 10mbit --rtt 100ms --buffer 1bdp --flows 16 --cc cubic --replications 10",
    seed: "18446744073709551615",
    provenance: [["processor", "a made-up one"]],
    kinds: profiles.slice(0, 3).map(({ kind }) => ({ kind, summary: `What ${kind} does, in a sentence.`, source: "A source, \xA71" })),
    metrics: metricsFixture(),
    main_link: "bottleneck",
    measured_s: [10, 60],
    notes: [],
    summary: {
      schema: "goodqueue.summary/1",
      scenario: "home uplink",
      host: "sim",
      seed: 1,
      replications,
      headline: { text: "See the sentence.", best, not_significantly_different: labels.slice(5, 6), policy: "utilization at least 95 % of the best", outside_policy: labels.slice(0, 1) },
      provenance: { version: "0.1.0", commit: "0123456789abcdef", scenario_sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", fingerprint: "a94a8fe5ccb19ba6" },
      points: built.map(({ summary }) => summary)
    },
    axes: [times],
    points: built.map(({ report }) => report)
  };
}
function point(profile, flowCount, n, number, times) {
  const random = generator(number * 977 + 11);
  const shares = Array.from({ length: flowCount }, () => 1 + profile.spread * (random() + random() + random() - 1.5) * 2);
  const total = shares.reduce((sum, share) => sum + share, 0);
  const goodputs = shares.map((share) => round(share / total * RATE * profile.utilization * 0.955));
  const jain = goodputs.reduce((sum, x) => sum + x, 0) ** 2 / (flowCount * goodputs.reduce((sum, x) => sum + x * x, 0));
  const queue = wander(times, profile.queue, profile.swing, 2.4, random);
  const waits = [...queue].map((packets) => packets * PACKET_S).sort((a, b) => a - b);
  const at = (part) => waits[Math.floor(part * (waits.length - 1))] ?? 0;
  const f = (mean) => figure(mean, random, n);
  const summary = {
    set: profile.set ?? {},
    links: {
      bottleneck: {
        utilization: { mean: profile.utilization, ci95: n > 1 ? 6e-4 + 1e-3 * random() : null, n },
        throughput_bit_s: f(RATE * profile.utilization),
        queue_packets: f(profile.queue),
        queue_bytes: f(profile.queue * 1500),
        sojourn_s: { mean: f(profile.queue * PACKET_S), p25: f(at(0.25)), p50: f(at(0.5)), p75: f(at(0.75)), p95: f(at(0.95)), p99: f(at(0.99)), max: f(at(1)) },
        drop_ratio: f(4e-3 + 0.01 * random()),
        mark_ratio: f(0),
        drops: { overflow: f(profile.kind === "tail-drop" ? 420 : 0), early: f(profile.kind === "tail-drop" ? 0 : 380) },
        departed_packets: f(82e3)
      }
    },
    groups: { bulk: { flows: flowCount, goodput_bit_s: f(RATE * profile.utilization * 0.955), rtt_s: { mean: f(0.1 + profile.queue * PACKET_S), p95: f(0.1 + at(0.95)) }, loss_ratio: f(8e-3) }, call: { flows: 1, loss_ratio: f(4e-3) } },
    experience: {
      bulk: { activity: "bulk", goodput_bit_s: f(RATE * profile.utilization * 0.955), share_of_line: f(0.99) },
      call: { activity: "call", mos: f(4.4 - profile.queue / 60), one_way_delay_s: { p50: f(0.05 + at(0.5)), p95: f(0.05 + at(0.95)), p99: f(0.05 + at(0.99)) }, loss_ratio: f(4e-3) }
    },
    jain: { goodput: { mean: round(jain), ci95: n > 1 ? 4e-3 : null, n } }
  };
  const sojourn = [...new Set(waits.map((wait) => round(wait)))];
  const series = [
    {
      subject: "link:bottleneck",
      axis: 0,
      samples_a_pair: 6,
      columns: [
        { name: "queue_packets", values: queue },
        { name: "sojourn_s", values: queue.map((packets) => packets < 0.4 ? null : round(packets * PACKET_S)) },
        { name: "throughput_bit_s", values: queue.map((packets) => round(RATE * (packets < 0.5 ? 0.8 + 0.2 * random() : 1))) },
        { name: "drops", values: times.map((time) => Math.round(time * 7)) },
        { name: "marks", values: times.map(() => 0) },
        ...profile.gauge === void 0 ? [] : [{ name: `gauge:${profile.gauge}`, values: wander(times, profile.gauge === "drop_probability" ? 0.012 : 9, profile.gauge === "drop_probability" ? 6e-3 : 6, 3, random) }]
      ]
    },
    ...Array.from({ length: Math.min(flowCount, 16) }, (_, flow) => ({
      subject: `flow:bulk:${flow}`,
      axis: 0,
      samples_a_pair: 6,
      columns: [{ name: "cwnd_bytes", values: wander(times, 14e3, 6e3, 3 + flow / 4, random) }]
    }))
  ];
  const report = {
    label: profile.label ?? profile.kind,
    kind: profile.kind,
    flows: { groups: ["bulk"], group: shares.map(() => 0), index: shares.map((_, flow) => flow), goodput_bit_s: goodputs, ci95: goodputs.map((value) => n > 1 ? round(value * 0.04) : null), total: flowCount },
    cdfs: [{ link: "bottleneck", sojourn_s: sojourn, quantile: sojourn.map((_, rank) => round((rank + 1) / sojourn.length)) }],
    series
  };
  return { summary, report };
}
var SCENARIO = `goodqueue = 1
name = "home uplink"
warmup = "10 s"
duration = "50 s"
replications = 10
seed = 1

[link.bottleneck]
rate = "10 Mbit/s"
delay = "50 ms"
buffer = "1 bdp"

[[traffic]]
kind = "bulk"
cc = "cubic"
flows = 16
start = "uniform 0 s .. 5 s"
`;
function page(data) {
  const template = readFileSync(resolve(import.meta.dirname, "../../lab/assets/report.html"), "utf8");
  const json = JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return template.replace("{{goodqueue:title}}", () => "Fixture").replace("{{goodqueue:data}}", () => json);
}

// test/mock-server.ts
import { createServer } from "node:http";
import { readFileSync as readFileSync2 } from "node:fs";
import { extname, resolve as resolve2, sep } from "node:path";
var TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml" };
var POLICY = "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
var DURATION = 30;
var KINDS = {
  aqm: ["tail-drop", "codel", "fq-codel", "pie", "cp-aqm"].map((kind) => ({
    kind,
    summary: kind === "tail-drop" ? "FIFO that drops what does not fit" : "Controls the minimum sojourn time over an interval",
    parameters: kind === "tail-drop" ? [] : [
      { key: "target", unit: "time", default: "5 ms", min: "1 us", max: "10 s", about: "acceptable standing delay" },
      { key: "interval", unit: "time", default: "100 ms", min: "1 us", max: "100 s", about: "time above target before the first signal" },
      { key: "reentry", unit: "rfc8289 | acm2012 | ns2", default: "rfc8289", about: "how an episode of signals begins soon after another" }
    ]
  })),
  cc: ["cubic", "reno", "bbr"].map((kind) => ({ kind, summary: "how the window grows" })),
  traffic: ["bulk", "web", "voip", "video"].map((kind) => ({
    kind,
    summary: "traffic",
    parameters: [...kind === "voip" ? [] : [{ key: "cc", unit: "name", default: "cubic", about: "congestion control" }], ...kind === "web" ? [{ key: "rate", unit: "number", default: null, about: "new connections a second, of each flow" }] : [], { key: "start", unit: "time", default: "0 s", about: "when each flow starts, drawn for each where a range is given" }]
  }))
};
var GALLERY = {
  papers: [
    {
      id: "codel",
      title: "Controlling queue delay",
      summary: "The algorithm's first paper: loads, rates and round-trip times against RED and a plain FIFO.",
      citation: "Nichols and Jacobson, 2012",
      figures: [{ id: "1", title: "Median delay against utilization", place: "Fig 5", svg: null, printed: "CoDel's points lie at the left" }],
      rows: [
        { id: "CD-01", place: "Fig 5", claim: "The median delay stays near the target at every rate.", metric: "largest median sojourn time, ms", expected: "\u2264 10 ms", value: "7.4 ms", verdict: "holds", grade: "A" },
        { id: "CD-02", place: "Fig 6", claim: "Utilization stays above that of RED.", metric: "difference, points", expected: "> 0", value: "\u22120.4", verdict: "fails", grade: "B", why: "RED was given ns-2's automatic settings there." },
        { id: "CD-03", place: "\xA75", claim: "CPU cost is small.", verdict: "not comparable", why: "Measured on hardware that is not here." }
      ]
    }
  ]
};
async function startMock(folder, frames = 60) {
  const sessions = /* @__PURE__ */ new Map();
  const server = createServer((request, response) => {
    answer(request, response, folder, sessions, frames).catch((error) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  return { url: `http://127.0.0.1:${port}/`, close: () => stop(server, sessions) };
}
async function stop(server, sessions) {
  for (const session of sessions.values()) clearInterval(session.timer);
  server.closeAllConnections();
  await new Promise((done) => server.close(() => done()));
}
async function answer(request, response, folder, sessions, frames) {
  const { pathname } = new URL(request.url ?? "/", "http://mock");
  const json = (status, data) => void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(data));
  const refuse = (status, message) => json(status, { error: { message } });
  if (!pathname.startsWith("/api/")) return file(response, folder, pathname);
  if (request.method !== "GET" && request.headers["x-goodqueue-token"] !== "mock") return refuse(403, "the token is missing or wrong");
  const body = request.method === "GET" ? "" : await read(request);
  const [, , , id = "", what = ""] = pathname.split("/");
  const session = sessions.get(id);
  if (pathname === "/api/hello") return json(200, { version: "0.0.0", token: "mock", limits: { upload_bytes: 1e6 }, presets: [], traces: [{ id: "builtin:cellular.down", name: "cellular", mean_rate_bit_s: 1e7, seconds: 120 }], bridge: true, hosts: [{ name: "sim", missing: null }, { name: "linux", missing: "there is no guest kernel" }, { name: "live", missing: null }] });
  if (pathname === "/api/kinds") return json(200, KINDS);
  if (pathname === "/api/metrics") return json(200, metricsFixture());
  if (pathname === "/api/check") return /nonsense/.test(body) ? json(422, { error: { message: "unknown key `nonsense`", line: 3, column: 1 } }) : json(200, { warnings: [], links: ["bottleneck"], groups: ["bulk"] });
  if (pathname === "/api/traces") return /^[\d\s]+$/.test(body) ? json(201, { id: "upload:1", name: "upload", mean_rate_bit_s: 5e6, seconds: 10 }) : refuse(422, "line 1: not a number");
  if (pathname === "/api/runs") return json(200, { runs: [] });
  if (pathname === "/api/gallery") return json(200, GALLERY);
  if (pathname === "/api/bridge/stream") return bridge(response);
  if (pathname === "/api/bridge/control") return json(200, {});
  if (pathname === "/api/sessions" && request.method === "POST") {
    const { variants: variants2, speed, scenario_toml: scenario, on } = JSON.parse(body);
    if (on !== void 0) return refuse(422, `on ${on}: traffic \`voip\`: kind: is not supported`);
    const name = `s${sessions.size + 1}`;
    sessions.set(name, { scenario, labels: variants2.map(({ label }) => label), kinds: variants2.map(({ queue }) => queue.kind), t: 0, isPlaying: true, duration: /^duration = "3000 s"/m.test(scenario) ? 3e3 : DURATION, speed, rate: 16e6, flows: Math.max(2, [...scenario.matchAll(/^flows = (\d+)/gm)].reduce((sum, [, flows]) => sum + Number(flows), 0)), changed: false, ids: variants2.map(() => 0), queues: variants2.map(() => []), drops: variants2.map(() => 0), send: () => void 0 });
    return json(201, { id: name });
  }
  if (!session) return refuse(404, "no such session");
  if (request.method === "DELETE") return void (clearInterval(session.timer), sessions.delete(id), json(200, {}));
  if (what === "stream") return stream(response, session, frames);
  if (what === "control") return control(session, JSON.parse(body), json);
  if (what === "scenario.toml") return void response.writeHead(200, { "Content-Type": "application/toml" }).end(session.scenario);
  return refuse(404, "not here");
}
function file(response, folder, pathname) {
  const path = resolve2(folder, pathname === "/" ? "index.html" : `.${pathname}`);
  if (!path.startsWith(folder + sep)) return void response.writeHead(404).end();
  try {
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream", "Content-Security-Policy": POLICY }).end(readFileSync2(path));
  } catch {
    response.writeHead(404).end();
  }
}
async function read(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}
function events(response) {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  return (event, data) => void response.write(`event: ${event}
data: ${JSON.stringify(data)}

`);
}
function control(session, what, json) {
  const note = (text) => {
    session.changed = true;
    session.send("note", { t: session.t, text });
  };
  if (what["do"] === "pause" || what["do"] === "play") session.isPlaying = what["do"] === "play";
  else if (what["do"] === "speed") session.speed = what["value"];
  else if (what["do"] === "rate") session.rate = Number.parseFloat(String(what["value"])) * 1e6, note(`rate of bottleneck: ${String(what["value"])}`);
  else if (what["do"] === "add_flows") session.flows += Number(what["count"]), note(`${String(what["count"])} more flows`);
  else if (what["do"] === "set") note(`${String(what["key"])} = ${String(what["value"])}`);
  tellState(session);
  json(200, {});
}
function tellState(session) {
  const state = session.t >= session.duration ? "done" : session.isPlaying ? "running" : "paused";
  session.send("state", { state, t: session.t, duration: session.duration, speed: session.speed, changed: session.changed });
}
function stream(response, session, frames) {
  session.send = events(response);
  const groups = [{ name: "bulk", kind: "bulk", flows: session.flows - 1 }, { name: "voip", kind: "voip", flows: 1 }];
  session.send("about", { link: "bottleneck", links: ["bottleneck"], groups, duration: session.duration, warmup: 5, variants: session.labels.map((label, at) => ({ label, kind: session.kinds[at] })) });
  tellState(session);
  let wasSlow = false;
  session.timer = setInterval(() => {
    if (!session.isPlaying) return;
    const dt = Math.min((session.speed ?? 100) / frames, session.duration - session.t);
    session.t += dt;
    session.send("frame", { t: session.t, dt, variants: session.kinds.map((kind, at) => variantFrame(session, kind, at)) });
    const isSlow = session.speed !== null && session.speed <= 0.05;
    if (isSlow) {
      const queue = wasSlow ? void 0 : session.queues.map((one) => [...one]);
      session.send("packets", { variants: session.kinds.map((kind, at) => packetEvents(session, kind, at, dt)), ...queue ? { queue } : {} });
    }
    wasSlow = isSlow;
    if (session.t < session.duration) return;
    clearInterval(session.timer);
    tellState(session);
    session.send("done", { verdict: `On this line ${session.labels[1] ?? session.labels[0]} keeps 95 % of the packets under 12 ms of wait at 98 % utilization; ${session.labels[0]} makes them wait 290 ms for 1 % more.`, fingerprint: "0123456789abcdef", changed: session.changed });
    response.end();
  }, 1e3 / frames);
  response.on("close", () => clearInterval(session.timer));
}
function variantFrame(session, kind, at) {
  const { t, rate, flows } = session;
  const period = kind === "tail-drop" ? 8 : 1.7;
  const phase = t % period / period;
  const depth = kind === "tail-drop" ? 0.26 : kind === "codel" ? 0.022 : 0.011;
  const sojourn = Math.max(4e-4, depth * (0.45 + 0.55 * phase) * (t < 2 ? t / 2 : 1) * (1 + 0.08 * Math.sin(t * 37 + at)));
  const packets = sojourn * rate / 12e3;
  session.drops[at] = Math.round(t * (kind === "tail-drop" ? 2.2 : 6));
  const list = Array.from({ length: flows }, (_, flow) => {
    const isCall = flow === flows - 1;
    const share = isCall ? 64e3 : (rate - 64e3) / (flows - 1) * (1 + 0.4 * Math.sin(t * 0.8 + flow * 2.1));
    return { group: isCall ? "voip" : "bulk", index: isCall ? 0 : flow, goodput_bit_s: share, ...isCall ? {} : { cwnd_packets: 10 + 26 * ((t * 0.6 + flow * 0.37) % 1), rtt_s: 0.03 + sojourn } };
  });
  return {
    link: { rate_bit_s: rate, queue_packets: packets, queue_bytes: packets * 1500, sojourn_s: { mean: sojourn, p95: sojourn * 1.3, max: sojourn * 1.5 }, throughput_bit_s: rate * (0.985 + 0.015 * Math.sin(t * 5)), utilization: 0.98 + 0.015 * Math.sin(t * 5), drops: { overflow: kind === "tail-drop" ? session.drops[at] ?? 0 : 0, early: kind === "tail-drop" ? 0 : session.drops[at] ?? 0 }, marks: 0, arrived: Math.round(t * rate / 12e3) },
    groups: [{ name: "bulk", goodput_bit_s: rate - 64e3 }, { name: "voip", goodput_bit_s: 64e3, call: t < 1 ? null : { mos: 4.4 - sojourn * 4, delay_s: { p50: 0.015 + sojourn, p95: 0.015 + sojourn * 1.3 }, lost_ratio: kind === "tail-drop" ? 0 : 4e-3 } }],
    flows: list,
    gauges: kind === "tail-drop" ? {} : { count: Math.floor(phase * 9), drop_next_s: phase * 0.1 }
  };
}
function packetEvents(session, kind, at, dt) {
  const queue = session.queues[at] ?? [];
  const wanted = kind === "tail-drop" ? 90 : 18;
  const result = [];
  const packets = (t) => Math.floor(t * session.rate / 12e3);
  const count = Math.min(3, packets(session.t) - packets(session.t - dt));
  for (let made = 0; made < (queue.length < wanted ? count + 2 : count); made += 1) {
    const id = session.ids[at] = (session.ids[at] ?? 0) + 1;
    const flow = id % 11 === 0 ? session.flows - 1 : (id >> 1) % (session.flows - 1);
    const packet = { id, flow, size: flow === session.flows - 1 ? 100 : 1500, t: session.t };
    if (id % 17 === 0) result.push({ ...packet, id: -id, what: "drop", why: "early", text: kind === "tail-drop" ? "the queue is full" : "CoDel: above target for 103 ms, 4th drop, next in 50 ms" });
    queue.push(packet);
    result.push({ ...packet, what: "arrive" });
  }
  for (const head of queue.splice(0, count)) result.push({ ...head, t: session.t, what: "depart" });
  return result;
}
function bridge(response) {
  const send = events(response);
  let t = 0;
  const tell = () => {
    t += 1;
    const direction = (name, rate) => ({
      name,
      device: name === "down" ? "eth1" : "eth0",
      aqm: "fq-codel",
      rate_bit_s: rate,
      counters: { sent_bytes: t * rate * 0.11, sent_packets: Math.round(t * rate / 12e3), dropped: t * 3, overlimits: t * 40, requeues: 0, backlog_bytes: 21e3, backlog_packets: 14, marked: t },
      sojourn_s: { mean: 4e-3 + 1e-3 * Math.sin(t), p95: 9e-3, max: 0.014 },
      throughput_bit_s: rate * (0.9 + 0.05 * Math.sin(t / 3)),
      gauges: { queues: 5, drop_probability: 0.012 },
      flows: [{ label: "10.0.0.2:443 \u2192 10.0.0.9:51324 tcp", throughput_bit_s: rate * 0.5, backlog_bytes: 14e3 }, { label: "10.0.0.3:5004 \u2192 10.0.0.9:5004 udp", throughput_bit_s: 2e6, backlog_bytes: 0 }]
    });
    send("stats", { t, directions: [direction("down", 1e8), direction("up", 2e7)] });
  };
  tell();
  const timer = setInterval(tell, 1e3);
  response.on("close", () => clearInterval(timer));
}

// ../../../../../tmp/shots/shots.ts
var OUT = process.argv[2];
mkdirSync(OUT, { recursive: true });
var browser = await launch();
var variants = { plain: fixture(), level: fixture({ level: true }), swept: fixture({ points: 4, swept: [1, 4, 16, 64] }), once: fixture({ replications: 1, points: 2 }), sweep: fixture({ sweep: true, points: 14 }) };
{
  const probed = fixture();
  Object.assign(probed.points[1] ?? {}, { rtt_cdfs: [{ group: "echo", rtt_s: [0.02, 0.03, 0.05], quantile: [0.2, 0.5, 1] }] });
  variants["probed"] = probed;
}
var MODE = process.argv[4] ?? "both";
if (MODE !== "app") for (const [name, data] of Object.entries(variants).filter(([name2]) => (process.env.ONLY ?? name2).split(",").includes(name2))) {
  const file2 = resolve3(OUT, `${name}.html`);
  writeFileSync(file2, page(data));
  for (const [screen, opts] of Object.entries({ wide: { viewport: { width: 1280, height: 900 } }, narrow: { viewport: { width: 375, height: 812 }, deviceScaleFactor: 2, hasTouch: true } }))
    for (const colorScheme of ["light", "dark"]) {
      if (name !== "plain" && (screen === "narrow" || colorScheme === "dark")) continue;
      const { page: page3, complaints } = await open(browser, file2, { ...opts, colorScheme, acceptDownloads: true });
      if (complaints.length) console.log(name, complaints);
      const folds = page3.locator(".fold");
      for (let at = 0; at < await folds.count(); at += 1) await folds.nth(at).click();
      await drawn(page3);
      await page3.screenshot({ path: resolve3(OUT, `${name}-${screen}-${colorScheme}.png`), fullPage: true });
      if (screen !== "wide" || colorScheme !== "light") {
        await page3.context().close();
        continue;
      }
      const record = async (tag) => {
        const texts = [];
        await page3.evaluate(() => document.querySelectorAll("details.numbers").forEach((d) => d.open = true));
        texts.push(await page3.locator("body").innerText());
        texts.push(...await page3.locator(".chart-place svg").evaluateAll((all) => all.map((one) => one.outerHTML)));
        for (const menu of await page3.locator(".chart-card .menu:visible").all()) {
          for (const label of ["Picture, SVG", "Numbers, CSV"]) {
            await menu.locator("summary").click();
            const waiting = page3.waitForEvent("download");
            await menu.getByRole("button", { name: label }).click();
            const path = await (await waiting).path();
            texts.push(readFileSync3(path, "utf8").replace(/@font-face\{[^}]*\}/g, ""));
          }
        }
        await page3.evaluate(() => dispatchEvent(new Event("beforeprint")));
        texts.push(...await page3.locator(".chart-print").evaluateAll((all) => all.map((one) => one.innerHTML)));
        await page3.evaluate(() => dispatchEvent(new Event("afterprint")));
        writeFileSync(resolve3(OUT, `${name}-${tag}.txt`), texts.join("\n=====\n"));
      };
      await record("start");
      const together = page3.getByRole("button", { name: "Overlaid" });
      if (await together.count()) {
        await together.click();
        await drawn(page3);
        await page3.screenshot({ path: resolve3(OUT, `${name}-overlaid.png`), fullPage: true });
        await record("overlaid");
      }
      for (const button of await page3.getByRole("button", { name: "Linear" }).all()) await button.click();
      for (const button of await page3.getByRole("button", { name: "All", exact: true }).all()) await button.click();
      await page3.locator(".legend-item").first().click();
      await drawn(page3);
      await page3.screenshot({ path: resolve3(OUT, `${name}-linear.png`), fullPage: true });
      await record("linear");
      const tips = [];
      for (const frame of await page3.locator(".plot-frame").all()) {
        await frame.focus();
        for (const key of ["Home", "ArrowRight", "ArrowRight", "+", "ArrowLeft", "End", "-", "0"]) {
          await page3.keyboard.press(key);
          tips.push(`${key}: ${await frame.locator(".tooltip").textContent()} ${await page3.locator(".panel-value").allTextContents()}`);
        }
      }
      writeFileSync(resolve3(OUT, `${name}-tips.txt`), tips.join("\n"));
      await page3.context().close();
    }
}
if (MODE === "report") process.exit(0);
var APP = resolve3(process.argv[3]);
var mock = await startMock(APP);
var page2 = await browser.newPage({ viewport: { width: 1280, height: 1e3 }, colorScheme: "light" });
page2.on("console", (m) => m.type() === "error" && console.log("app:", m.text()));
page2.on("pageerror", (e) => console.log("app:", String(e)));
await page2.goto(mock.url);
await page2.waitForSelector("#run");
await drawn(page2);
await page2.screenshot({ path: resolve3(OUT, "app-welcome.png"), fullPage: true });
await page2.evaluate(() => document.querySelectorAll("details").forEach((d) => d.open = true));
writeFileSync(resolve3(OUT, "app-form.txt"), await page2.locator("#app").innerHTML());
await page2.screenshot({ path: resolve3(OUT, "app-form.png"), fullPage: true });
await page2.evaluate(() => document.querySelectorAll("form details").forEach((d) => d.open = false));
await page2.locator("#run").click();
await setSpeed(page2, "max");
await page2.waitForSelector(".verdict:not([hidden])", { timeout: 6e4 });
await page2.evaluate(() => document.querySelectorAll("details.numbers").forEach((d) => d.open = true));
await drawn(page2);
await page2.waitForTimeout(800);
await drawn(page2);
await page2.screenshot({ path: resolve3(OUT, "app-done.png"), fullPage: true });
for (const name of ["runs", "gallery", "monitor"]) {
  await page2.goto(`${mock.url}#/${name}`);
  await page2.waitForTimeout(name === "monitor" ? 4e3 : 700);
  if (name === "runs") {
    for (const box of (await page2.locator("input[type=checkbox]").all()).slice(0, 2)) await box.click();
    await page2.waitForTimeout(600);
  }
  await page2.screenshot({ path: resolve3(OUT, `app-${name}.png`), fullPage: true });
  if (name !== "monitor") writeFileSync(resolve3(OUT, `app-${name}.txt`), await page2.locator("#main").innerHTML());
}
await mock.close();
await browser.close();
process.exit(0);
