// What `gq serve` does under load: fifty pages at one session, then two hundred sessions that wait their turn.
//     node tools/bench/serve/load.mjs target/release/gq
// Figures are those of this machine with everything that runs on it; needs Linux (/proc) for memory and processor time.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { get, request } from "node:http";

const PAGES = 50;
const SESSIONS = 200;
const gq = process.argv[2] ?? "target/release/gq";
const preset = (duration, warmup) => readFileSync(new URL("../../../crates/serve/presets/uplink.toml", import.meta.url), "utf8").replace('duration = "55 s"', `duration = "${duration}"`).replace('warmup = "5 s"', `warmup = "${warmup}"`);
const queues = ["tail-drop", "codel", "pie", "fq-codel"].map((kind) => ({ label: kind, queue: { kind } }));

const server = spawn(gq, ["serve", "--no-open", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
const base = await new Promise((done) => server.stderr.on("data", (piece) => /http:\S+/.exec(piece)?.[0] && done(/http:\/\/[^/\s]+/.exec(piece)[0])));
const { token } = await (await fetch(`${base}/api/hello`)).json();
const post = async (path, body) => {
  const answer = await fetch(base + path, { method: "POST", headers: { "X-Goodqueue-Token": token, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const status = (field) => Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))[1]) / 1024;
const processor = () => {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
};
const quantiles = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (part) => sorted[Math.floor(part * (sorted.length - 1))].toFixed(1);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)} ms`;
};

/** Reads a stream until `done`, which ends no stream by itself; calls `onEvent` with the name of each event. */
function stream(id, onEvent) {
  return new Promise((done, fail) => {
    get(`${base}/api/sessions/${id}/stream`, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        const lines = (rest + piece).split("\n");
        rest = lines.pop();
        for (const line of lines.filter((one) => one.startsWith("event: "))) {
          onEvent(line.slice(7));
          if (line !== "event: done") continue;
          response.destroy();
          done();
        }
      });
      response.on("end", done);
      response.on("error", fail);
    }).on("error", fail);
  });
}

/** Milliseconds that a small request takes. */
function asked() {
  const begun = performance.now();
  return new Promise((done, fail) => {
    request(`${base}/api/runs`, (response) => response.resume().on("end", () => done(performance.now() - begun))).on("error", fail).end();
  });
}

const idle = status("VmRSS");
const { id } = await post("/api/sessions", { scenario_toml: preset("18 s", "2 s"), variants: queues, speed: 1, paused: true });
const gaps = [];
const counts = [];
const pages = Array.from({ length: PAGES }, async (_, page) => {
  let last;
  counts[page] = 0;
  await stream(id, (event) => {
    if (event !== "frame") return;
    const now = performance.now();
    if (last !== undefined) gaps.push(now - last);
    last = now;
    counts[page] += 1;
  });
});
const [before, begun] = [processor(), performance.now()];
await post(`/api/sessions/${id}/control`, { do: "play" });
const answers = [];
let isOver = false;
const asking = (async () => {
  while (!isOver) answers.push(await asked());
})();
await Promise.all(pages);
isOver = true;
await asking;
const seconds = (performance.now() - begun) / 1000;
console.log(`${PAGES} pages at a session of 4 queues with 16 flows, 20 s in real time:`);
console.log(`  ${Math.min(...counts)} to ${Math.max(...counts)} frames each; between two frames ${quantiles(gaps)}`);
console.log(`  another request meanwhile: ${quantiles(answers)} (${answers.length} of them)`);
console.log(`  memory ${idle.toFixed(0)} MB idle, ${status("VmHWM").toFixed(0)} MB at most; ${((100 * (processor() - before)) / seconds).toFixed(0)} % of a processor`);

const taken = [];
const start = performance.now();
const used = processor();
const ids = [];
for (let number = 0; number < SESSIONS; number += 1) {
  const since = performance.now();
  ids.push((await post("/api/sessions", { scenario_toml: preset("4 s", "1 s"), speed: null })).id);
  taken.push(performance.now() - since);
}
await Promise.all(ids.map((one) => stream(one, () => undefined)));
console.log(`${SESSIONS} sessions of 5 s with 16 flows, 64 at once and the others waiting:`);
console.log(`  taken in: ${quantiles(taken)} each; all done after ${((performance.now() - start) / 1000).toFixed(1)} s and ${(processor() - used).toFixed(1)} s of processor time`);
console.log(`  memory ${status("VmHWM").toFixed(0)} MB at most, ${status("VmRSS").toFixed(0)} MB at the end`);
server.kill("SIGTERM");
