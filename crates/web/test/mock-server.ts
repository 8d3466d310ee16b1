// A stand-in for `gq serve` that answers as agreed, with made-up queues: for looking at pages
// without building Rust. It simulates nothing; tests of behavior run against the real server.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { extname, resolve, sep } from "node:path";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { metricsFixture } from "./fixture.ts";
import type { BridgeStats, Frame, Gallery, Kinds, NewSession, PacketEvent, VariantFrame } from "../src/serve/protocol.ts";

const TYPES: Record<string, string> = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml" };
const POLICY = "default-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DURATION = 30;

export const KINDS: Kinds = {
  aqm: ["tail-drop", "codel", "fq-codel", "pie", "cp-aqm"].map((kind) => ({
    kind,
    summary: kind === "tail-drop" ? "FIFO that drops what does not fit" : "Controls the minimum sojourn time over an interval",
    parameters: kind === "tail-drop" ? [] : [
      { key: "target", unit: "time", default: "5 ms", min: "1 us", max: "10 s", about: "acceptable standing delay" },
      { key: "interval", unit: "time", default: "100 ms", min: "1 us", max: "100 s", about: "time above target before the first signal" },
      { key: "reentry", unit: "rfc8289 | acm2012 | ns2", default: "rfc8289", about: "how an episode of signals begins soon after another" },
    ],
  })),
  cc: ["cubic", "reno", "bbr"].map((kind) => ({ kind, summary: "how the window grows" })),
  traffic: ["bulk", "web", "voip", "video"].map((kind) => ({
    kind,
    summary: "traffic",
    parameters: [...(kind === "voip" ? [] : [{ key: "cc", unit: "name", default: "cubic", about: "congestion control" }]), ...(kind === "web" ? [{ key: "rate", unit: "number", default: null, about: "new connections per second, of each flow" }] : []), { key: "start", unit: "time", default: "0 s", about: "when each flow starts, drawn for each where a range is given" }],
  })),
};

const GALLERY: Gallery = {
  papers: [
    {
      id: "codel",
      title: "Controlling queue delay",
      summary: "The algorithm's first paper: loads, rates and round-trip times against RED and a plain FIFO.",
      citation: "Nichols and Jacobson, 2012",
      figures: [{ id: "1", title: "Median delay against utilization", place: "Fig 5", svg: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>" }],
      rows: [
        { id: "CD-01", place: "Fig 5", claim: "The median delay stays near the target at every rate.", metric: "largest median sojourn time, ms", expected: "≤ 10 ms", value: "7.4 ms", verdict: "holds", grade: "A" },
        { id: "CD-02", place: "Fig 6", claim: "Utilization stays above that of RED.", metric: "difference, points", expected: "> 0", value: "−0.4", verdict: "fails", grade: "B", why: "RED was given ns-2's automatic settings there." },
        { id: "CD-03", place: "§5", claim: "CPU cost is small.", verdict: "not comparable", why: "Measured on hardware that is not here." },
      ],
    },
  ],
};

interface MockSession {
  readonly scenario: string;
  readonly labels: readonly string[];
  readonly kinds: readonly string[];
  t: number;
  readonly duration: number;
  isPlaying: boolean;
  speed: number | null;
  rate: number;
  flows: number;
  changed: boolean;
  ids: number[];
  queues: { id: number; flow: number; size: number; t: number }[][];
  drops: number[];
  send: (event: string, data: unknown) => void;
  timer?: ReturnType<typeof setInterval>;
}

/** Starts it; `frames` a second are sent during a run. */
export async function startMock(folder: string, frames = 60): Promise<{ url: string; close: () => Promise<void> }> {
  const sessions = new Map<string, MockSession>();
  const server = createServer((request, response) => {
    answer(request, response, folder, sessions, frames).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => stop(server, sessions) };
}

async function stop(server: Server, sessions: Map<string, MockSession>): Promise<void> {
  for (const session of sessions.values()) clearInterval(session.timer);
  server.closeAllConnections();
  await new Promise<void>((done) => server.close(() => done()));
}

async function answer(request: IncomingMessage, response: ServerResponse, folder: string, sessions: Map<string, MockSession>, frames: number): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://mock");
  const json = (status: number, data: unknown): void => void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(data));
  const refuse = (status: number, message: string): void => json(status, { error: { message } });
  if (!pathname.startsWith("/api/")) return file(response, folder, pathname);
  if (request.method !== "GET" && request.headers["x-goodqueue-token"] !== "mock") return refuse(403, "the token is missing or wrong");
  const body = request.method === "GET" ? "" : await text(request);
  const [, , , id = "", what = ""] = pathname.split("/");
  const session = sessions.get(id);
  if (pathname === "/api/hello") return json(200, { version: "0.0.0", token: "mock", limits: { upload_bytes: 1_000_000 }, presets: [], traces: [{ id: "builtin:cellular.down", name: "cellular", mean_rate_bit_s: 1e7, seconds: 120 }], bridge: true, hosts: [{ name: "sim", missing: null }, { name: "linux", missing: "there is no guest kernel" }, { name: "live", missing: null }] });
  if (pathname === "/api/kinds") return json(200, KINDS);
  if (pathname === "/api/metrics") return json(200, metricsFixture());
  if (pathname === "/api/check") return /nonsense/.test(body) ? json(422, { error: { message: "unknown key `nonsense`", line: 3, column: 1 } }) : json(200, { warnings: [], links: ["bottleneck"], groups: ["bulk"] });
  if (pathname === "/api/traces") return /^[\d\s]+$/.test(body) ? json(201, { id: "upload:1", name: "upload", mean_rate_bit_s: 5e6, seconds: 10 }) : refuse(422, "line 1: not a number");
  if (pathname === "/api/runs") return json(200, { runs: [] });
  if (pathname === "/api/gallery") return json(200, GALLERY);
  if (pathname === "/api/bridge/stream") return bridge(response);
  if (pathname === "/api/bridge/control") return json(200, {});
  if (pathname === "/api/sessions" && request.method === "POST") {
    const { variants, speed, scenario_toml: scenario, on } = JSON.parse(body) as NewSession;
    if (on !== undefined) return refuse(422, `on ${on}: traffic \`voip\`: kind: is not supported`);
    const name = `s${sessions.size + 1}`;
    sessions.set(name, { scenario, labels: variants.map(({ label }) => label), kinds: variants.map(({ queue }) => queue.kind), t: 0, isPlaying: true, duration: /^duration = "3000 s"/m.test(scenario) ? 3000 : DURATION, speed, rate: 16e6, flows: Math.max(2, [...scenario.matchAll(/^flows = (\d+)/gm)].reduce((sum, [, flows]) => sum + Number(flows), 0)), changed: false, ids: variants.map(() => 0), queues: variants.map(() => []), drops: variants.map(() => 0), send: () => undefined });
    return json(201, { id: name });
  }
  if (!session) return refuse(404, "no such session");
  if (request.method === "DELETE") return void (clearInterval(session.timer), sessions.delete(id), json(200, {}));
  if (what === "stream") return stream(response, session, frames);
  if (what === "control") return control(session, JSON.parse(body) as Record<string, unknown>, json);
  if (what === "scenario.toml") return void response.writeHead(200, { "Content-Type": "application/toml" }).end(session.scenario);
  return refuse(404, "not here");
}

function file(response: ServerResponse, folder: string, pathname: string): void {
  const path = resolve(folder, pathname === "/" ? "index.html" : `.${pathname}`);
  if (!path.startsWith(folder + sep)) return void response.writeHead(404).end();
  try {
    response.writeHead(200, { "Content-Type": TYPES[extname(path)] ?? "application/octet-stream", "Content-Security-Policy": POLICY }).end(readFileSync(path));
  } catch {
    response.writeHead(404).end();
  }
}

function events(response: ServerResponse): (event: string, data: unknown) => void {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  return (event, data) => void response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}

function control(session: MockSession, what: Record<string, unknown>, json: (status: number, data: unknown) => void): void {
  const note = (text: string): void => {
    session.changed = true;
    session.send("note", { t: session.t, text });
  };
  if (what["do"] === "pause" || what["do"] === "play") session.isPlaying = what["do"] === "play";
  else if (what["do"] === "speed") session.speed = what["value"] as number | null;
  else if (what["do"] === "rate") (session.rate = Number.parseFloat(String(what["value"])) * 1e6), note(`rate of bottleneck: ${String(what["value"])}`);
  else if (what["do"] === "add_flows") (session.flows += Number(what["count"])), note(`${String(what["count"])} more flows`);
  else if (what["do"] === "set") note(`${String(what["key"])} = ${String(what["value"])}`);
  tellState(session);
  json(200, {});
}

function tellState(session: MockSession): void {
  const state = session.t >= session.duration ? "done" : session.isPlaying ? "running" : "paused";
  session.send("state", { state, t: session.t, duration: session.duration, speed: session.speed, changed: session.changed });
}

function stream(response: ServerResponse, session: MockSession, frames: number): void {
  session.send = events(response);
  const groups = [{ name: "bulk", kind: "bulk", flows: session.flows - 1 }, { name: "voip", kind: "voip", flows: 1 }];
  session.send("about", { link: "bottleneck", links: ["bottleneck"], groups, duration: session.duration, warmup: 5, variants: session.labels.map((label, at) => ({ label, kind: session.kinds[at] })) });
  tellState(session);
  let wasSlow = false;
  session.timer = setInterval(() => {
    if (!session.isPlaying) return;
    const dt = Math.min((session.speed ?? 100) / frames, session.duration - session.t);
    session.t += dt;
    session.send("frame", { t: session.t, dt, variants: session.kinds.map((kind, at) => variantFrame(session, kind, at)) } satisfies Frame);
    const isSlow = session.speed !== null && session.speed <= 0.05;
    if (isSlow) {
      const queue = wasSlow ? undefined : session.queues.map((one) => [...one]);
      session.send("packets", { variants: session.kinds.map((kind, at) => packetEvents(session, kind, at, dt)), ...(queue ? { queue } : {}) });
    }
    wasSlow = isSlow;
    if (session.t < session.duration) return;
    clearInterval(session.timer);
    tellState(session);
    session.send("done", { verdict: `On this line ${session.labels[1] ?? session.labels[0]} keeps 95 % of the packets under 12 ms of wait at 98 % utilization; ${session.labels[0]} makes them wait 290 ms for 1 % more.`, fingerprint: "0123456789abcdef", changed: session.changed });
    response.end();
  }, 1000 / frames);
  response.on("close", () => clearInterval(session.timer));
}

/** A sawtooth whose height is the algorithm's. */
function variantFrame(session: MockSession, kind: string, at: number): VariantFrame {
  const { t, rate, flows } = session;
  const period = kind === "tail-drop" ? 8 : 1.7;
  const phase = (t % period) / period;
  const depth = kind === "tail-drop" ? 0.26 : kind === "codel" ? 0.022 : 0.011;
  const sojourn = Math.max(0.0004, depth * (0.45 + 0.55 * phase) * (t < 2 ? t / 2 : 1) * (1 + 0.08 * Math.sin(t * 37 + at)));
  const packets = (sojourn * rate) / 12_000;
  session.drops[at] = Math.round(t * (kind === "tail-drop" ? 2.2 : 6));
  const list = Array.from({ length: flows }, (_, flow) => {
    const isCall = flow === flows - 1;
    const share = isCall ? 52_000 : ((rate - 52_000) / (flows - 1)) * (1 + 0.4 * Math.sin(t * 0.8 + flow * 2.1));
    return { group: isCall ? "voip" : "bulk", index: isCall ? 0 : flow, goodput_bit_s: share, ...(isCall ? {} : { cwnd_packets: 10 + 26 * ((t * 0.6 + flow * 0.37) % 1), rtt_s: 0.03 + sojourn }) };
  });
  return {
    link: { rate_bit_s: rate, queue_packets: packets, queue_bytes: packets * 1500, sojourn_s: { mean: sojourn, p95: sojourn * 1.3, max: sojourn * 1.5 }, throughput_bit_s: rate * (0.985 + 0.015 * Math.sin(t * 5)), utilization: 0.98 + 0.015 * Math.sin(t * 5), drops: { overflow: kind === "tail-drop" ? (session.drops[at] ?? 0) : 0, early: kind === "tail-drop" ? 0 : (session.drops[at] ?? 0) }, marks: 0, arrived: Math.round((t * rate) / 12_000) },
    groups: [{ name: "bulk", goodput_bit_s: rate - 52_000 }, { name: "voip", goodput_bit_s: 52_000, call: t < 1 ? null : { mos: 4.4 - sojourn * 4, delay_s: { p50: 0.015 + sojourn, p95: 0.015 + sojourn * 1.3 }, lost_ratio: kind === "tail-drop" ? 0 : 0.004 } }],
    flows: list,
    gauges: kind === "tail-drop" ? {} : { count: Math.floor(phase * 9), drop_next_s: phase * 0.1 },
  };
}

function packetEvents(session: MockSession, kind: string, at: number, dt: number): PacketEvent[] {
  const queue = session.queues[at] ?? [];
  const wanted = kind === "tail-drop" ? 90 : 18;
  const result: PacketEvent[] = [];
  const packets = (t: number): number => Math.floor((t * session.rate) / 12_000);
  const count = Math.min(3, packets(session.t) - packets(session.t - dt));
  // As many come as leave, two more while the queue fills, and now and then one that is dropped.
  for (let made = 0; made < (queue.length < wanted ? count + 2 : count); made += 1) {
    const id = (session.ids[at] = (session.ids[at] ?? 0) + 1);
    const flow = id % 11 === 0 ? session.flows - 1 : (id >> 1) % (session.flows - 1);
    const packet = { id, flow, size: flow === session.flows - 1 ? 100 : 1500, t: session.t };
    if (id % 17 === 0) result.push({ ...packet, id: -id, what: "drop", why: "early", text: kind === "tail-drop" ? "the queue is full" : "CoDel: above target for 103 ms, 4th drop, next in 50 ms" });
    queue.push(packet);
    result.push({ ...packet, what: "arrive" });
  }
  for (const head of queue.splice(0, count)) result.push({ ...head, t: session.t, what: "depart" });
  return result;
}

function bridge(response: ServerResponse): void {
  const send = events(response);
  let t = 0;
  const tell = (): void => {
    t += 1;
    const direction = (name: string, rate: number): BridgeStats["directions"][number] => ({
      name,
      device: name === "down" ? "eth1" : "eth0",
      aqm: "fq-codel",
      rate_bit_s: rate,
      counters: { sent_bytes: t * rate * 0.11, sent_packets: Math.round((t * rate) / 12_000), dropped: t * 3, overlimits: t * 40, requeues: 0, backlog_bytes: 21_000, backlog_packets: 14, marked: t },
      sojourn_s: { mean: 0.004 + 0.001 * Math.sin(t), p95: 0.009, max: 0.014 },
      throughput_bit_s: rate * (0.9 + 0.05 * Math.sin(t / 3)),
      gauges: { queues: 5, drop_probability: 0.012 },
      flows: [{ label: "10.0.0.2:443 → 10.0.0.9:51324 tcp", throughput_bit_s: rate * 0.5, backlog_bytes: 14_000 }, { label: "10.0.0.3:5004 → 10.0.0.9:5004 udp", throughput_bit_s: 2e6, backlog_bytes: 0 }],
    });
    send("stats", { t, directions: [direction("down", 1e8), direction("up", 2e7)] });
  };
  tell();
  const timer = setInterval(tell, 1000);
  response.on("close", () => clearInterval(timer));
}
