import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { isSeenIn, placesIn } from "../src/app/gallery.ts";
import { isDeliberate, placesOf, remarkInWords } from "../src/app/play/beside.ts";
import { heard, scoreInWords } from "../src/app/play/call-board.ts";
import { EXPERIMENTS } from "../src/app/play/experiments.ts";
import { kindOf } from "../src/app/play/files.ts";
import { bothRates, canonical, groupNames, labelsOf, mainKeys, newTraffic, type Play, START, valueOf, withSetting } from "../src/app/play/model.ts";
import { PacketQueue, placeAt, placesFor } from "../src/app/play/packets.ts";
import { fileToml, playFrom, playOf, scenarioToml, sessionOf, Unreadable } from "../src/app/play/toml.ts";
import { nearestSpeed, SPEEDS, speedInWords } from "../src/app/play/transport.ts";
import { firstSentence, localTime } from "../src/app/run-words.ts";
import { pack, unpack } from "../src/app/share.ts";
import { refusalIn } from "../src/serve/api.ts";
import { inWords } from "../src/serve/backend.ts";
import type { Kinds, Parameter, Warning } from "../src/serve/protocol.ts";

const SCENARIOS = resolve(import.meta.dirname, "../../../examples/scenarios");

const PLAY: Play = {
  scenario: {
    form: "fields",
    link: { rate: { trace: "upload:1" }, rtt: "33.5 ms", buffer: "1 bdp" },
    traffic: [{ kind: "web", flows: 2, settings: { rate: 5, cc: "reno", start: "uniform 0 s .. 5 s" } }, { kind: "voip", flows: 1, settings: {} }],
    warmup: "5 s",
    duration: "20 s",
  },
  variants: [{ kind: "codel", settings: { target: "10 ms", ecn: true } }, { kind: "fair", settings: { flows: 256, of: { kind: "pie", target: "5 ms" } } }],
  seed: 7,
  speed: null,
  host: "live",
};

describe("experiments", () => {
  it.each(EXPERIMENTS.map((experiment) => [experiment.id, experiment] as const))("%s survives an address and a file", async (_id, { play }) => {
    expect(playOf(await unpack(await pack(play)))).toEqual(play);
    expect(playFrom(fileToml(play), "x.toml", START)).toEqual({ ...play, speed: START.speed });
    expect(new Set(labelsOf(play.variants)).size).toBe(play.variants.length);
  });

  it.each(EXPERIMENTS.map((experiment) => [experiment.title, experiment] as const))("%s names its runs", (title, { play }) => {
    expect(sessionOf(play).scenario_toml).toContain(`\nname = ${JSON.stringify(title)}\n`);
  });

  it("have names of their own", () => {
    expect(new Set(EXPERIMENTS.map(({ id }) => id)).size).toBe(EXPERIMENTS.length);
    expect({ ...EXPERIMENTS[0]?.play.scenario, name: undefined }).toEqual(START.scenario);
  });
});

describe("runs of own settings", () => {
  it("are named by their line and traffic", () => {
    expect(scenarioToml(START)).toContain('\nname = "DSL, 16 Mbit/s: 4 bulk, 1 voip"\n');
    expect(scenarioToml(PLAY)).toContain('\nname = "recorded rate, RTT 33.5 ms: 2 web, 1 voip"\n');
  });

  it("keep the name of their file", () => {
    const text = scenarioToml(START).replace(/name = .*/, 'name = "at home"');
    expect(scenarioToml(playFrom(text, "x.toml", START))).toContain('\nname = "at home"\n');
  });

  it("are listed with times that are read the same everywhere", () => {
    expect(localTime(new Date(2026, 10, 5, 23, 4, 9).getTime() / 1000)).toBe("2026-11-05 23:04:09");
  });

  it.each([
    ["cake is best: MOS 4.33, ping 0.1 % lost. The others: worse.", "cake is best: MOS 4.33, ping 0.1 % lost."],
    ["no end", "no end"],
    ["", ""],
  ])("%s: the first sentence", (text, first) => expect(firstSentence(text)).toBe(first));
});

describe("groups of one kind", () => {
  const group = (settings: Play["variants"][number]["settings"], kind = "bulk"): { kind: string; flows: number; settings: typeof settings } => ({ kind, flows: 1, settings });
  it.each([
    [[group({ cc: "cubic" }), group({ cc: "bbr" })], ["bulk-cubic", "bulk-bbr"]],
    [[group({ cc: "cubic", rtt_extra: "50 ms" }), group({ cc: "cubic" }), group({}, "voip")], ["bulk-50-ms", undefined, undefined]],
    [[group({ cc: "cubic" }), group({ cc: "cubic" })], [undefined, undefined]],
    [[group({ cc: "cubic", name: "mine" }), group({ cc: "bbr" })], [undefined, undefined]],
    [[group({ ecn: true }), group({ ecn: false })], ["bulk-ecn", "bulk-no-ecn"]],
  ])("%#: are named by what differs", (traffic, names) => {
    expect(groupNames(traffic)).toEqual(names);
  });

  it("keep a name that somebody gave", () => {
    const traffic = [group({ cc: "cubic", name: "mine" }), group({ cc: "bbr", name: "bulk-bbr" })];
    const play: Play = { ...START, scenario: { ...(START.scenario as Extract<Play["scenario"], { form: "fields" }>), traffic } };
    expect(playFrom(fileToml(play), "x.toml", START).scenario).toEqual(play.scenario);
  });
});

describe("a line's way back", () => {
  it.each([
    ["50/10 Mbit/s", { down: "50 Mbit/s", up: "10 Mbit/s" }],
    ["50/10mbit", { down: "50 mbit", up: "10 mbit" }],
    ["1 Gbit/s / 500 kbit/s", { down: "1 Gbit/s", up: "500 kbit/s" }],
    ["50 Mbit/s", { down: "50 Mbit/s" }],
    ["fast", { down: "fast" }],
  ])("%s", (text, rates) => {
    expect(bothRates(text)).toEqual(rates);
  });

  it("survives a file and an address, with what is left empty", async () => {
    const fields = START.scenario as Extract<Play["scenario"], { form: "fields" }>;
    for (const up of [{ rate: "2 Mbit/s", buffer: "", queue: "fq-codel" }, { rate: "", buffer: "100 packets", queue: "" }]) {
      const play: Play = { ...START, scenario: { ...fields, link: { ...fields.link, up } } };
      expect(playFrom(fileToml(play), "x.toml", START)).toEqual(play);
      expect(playOf(await unpack(await pack(play)))).toEqual(play);
    }
    const text = fileToml({ ...START, variants: START.variants.slice(0, 1) }).replace("queue =", 'queue_up = { kind = "codel", target = "9 ms" }\nqueue =');
    expect(playFrom(text, "x.toml", START).scenario.form).toBe("text");
  });
});

describe("names of other programs", () => {
  it("become ours", () => {
    const kinds: Kinds = { aqm: [{ kind: "fq-codel", aliases: ["fq_codel"], title: "FQ-CoDel", summary: "" }], cc: [], traffic: [] };
    const variants = ["fq_codel", "FQ-CoDel", "fq-codel", "codle"].map((kind) => ({ kind, settings: {} }));
    expect(canonical(kinds, { ...START, variants }).variants.map(({ kind }) => kind)).toEqual(["fq-codel", "fq-codel", "fq-codel", "codle"]);
  });
});

describe("remarks", () => {
  const warning = (field: string, points = [0]): Warning => ({ field, message: "m", help: "h", points });
  it.each([
    ["link.bottleneck.queue.ecn", [0, 2], ["queue-0", "queue-2"]],
    ["link.bottleneck.queue", [1], ["queue-1"]],
    ["link.bottleneck.buffer", [0], ["line"]],
    ["link.bottleneck.queue_up.ecn", [0], ["line"]],
    ["link.other.queue.ecn", [0], ["list"]],
    ["traffic.1.start", [0], ["traffic-1"]],
    ["duration", [0], ["list"]],
  ])("%s stand next to their setting", (field, points, places) => {
    expect(placesOf(warning(field, points), "bottleneck")).toEqual(places);
  });

  it("are not made of a queue that drops on purpose", () => {
    const variants = [{ kind: "codel", settings: {} }, { kind: "codel", settings: { ecn: true } }, { kind: "pie", settings: {} }];
    expect(isDeliberate(warning("link.bottleneck.queue.ecn", [0]), variants)).toBe(true);
    expect(isDeliberate(warning("link.bottleneck.queue.ecn", [0, 2]), variants)).toBe(false);
    expect(isDeliberate(warning("link.bottleneck.queue.ecn", [1]), variants)).toBe(false);
  });

  it("say the setting once", () => {
    expect([remarkInWords(warning("link.a.queue.ecn"), "beside"), remarkInWords(warning("link.a.queue.ecn"), "list"), remarkInWords(warning("duration"), "list")]).toEqual(["queue.ecn: m; h.", "link.a.queue.ecn: m; h.", "duration: m; h."]);
  });
});

describe("opinion scores", () => {
  it.each([[4.41, "very good"], [4.34, "very good"], [4.2, "good"], [3.6, "fair"], [3.2, "poor"], [1, "bad"]])("%s is %s", (mos, words) => {
    expect(scoreInWords(mos)).toBe(words);
  });

  it("stand alongside the share of the time that is bad, where that is known", () => {
    const call = { mos: 3.923, delay_s: { p50: 0.1, p95: 0.2 }, lost_ratio: 0 };
    expect(heard({ ...call, bad_ratio: 0.1429 })).toEqual([["of the time bad", "14\u00a0%"], ["score, fair", "3.92"]]);
    expect(heard(call)).toEqual([["score, fair", "3.92"]]);
    expect(heard(undefined)).toEqual([["score", "–"]]);
  });
});

describe("places in a paper", () => {
  it.each([
    ["Fig 1(b), 4.2", ["fig1b", "42"]],
    ["Fig 2(a,b), 4.3", ["fig2a", "fig2b", "43"]],
    ["Fig 3(a-d), 4.4", ["fig3a", "fig3b", "fig3c", "fig3d", "44"]],
    ["Fig 12", ["fig12"]],
    ["Eq (2), 4.3", ["eq2", "43"]],
    ["", []],
  ])("%s", (place, expected) => {
    expect(placesIn(place)).toEqual(expected);
  });
});

describe("what is said of a figure", () => {
  it.each([
    ["fig5", "Fig 5 delay", true],
    ["fig5", "Fig 5(c)", true],
    ["fig5c", "Fig 5(c)", true],
    ["fig5c", "Fig 5(d)", false],
    ["fig5", "Fig 51", false],
    ["table2", "table 2", true],
    ["43", "Fig 4(3)", false],
  ])("%s in %s: %s", (said, figure, isSeen) => {
    expect(isSeenIn(said, figure)).toBe(isSeen);
  });
});

describe("scenario files", () => {
  it("come back as the same settings", () => {
    expect(playFrom(fileToml(PLAY), "x.toml", START)).toEqual({ ...PLAY, speed: START.speed, host: START.host });
    expect(playFrom(fileToml({ ...PLAY, variants: PLAY.variants.slice(0, 1) }), "x.toml", START)).toEqual({ ...PLAY, variants: PLAY.variants.slice(0, 1), speed: START.speed, host: START.host });
  });

  it("have the first queue at the link and all of them in the sweep", () => {
    const text = fileToml(PLAY);
    expect(text).toContain('delay = "16.75 ms"');
    expect(text).toContain('queue = { kind = "codel", target = "10 ms", ecn = true }');
    expect(text).toContain('"link.bottleneck.queue" = [');
    expect(scenarioToml(PLAY)).not.toContain("[sweep]");
  });

  it.each(readdirSync(SCENARIOS).filter((name) => name.endsWith(".toml")))("%s of the examples is taken as text", (name) => {
    const text = readFileSync(resolve(SCENARIOS, name), "utf8");
    const { scenario, variants } = playFrom(text, name, START);
    if (scenario.form !== "text") throw new Error("these say more than the form can");
    expect(scenario.text).not.toMatch(/^\[sweep\]/m);
    expect(scenario.text).toContain("[[traffic]]");
    expect(variants.length).toBeGreaterThan(0);
  });

  it("keep what stands behind a sweep", () => {
    const text = 'goodqueue = 1\nname = "x"\n[sweep]\n"link.a.queue" = [\n  "codel",\n]\n[link.a]\nrate = "1 Mbit/s"\n[[traffic]]\nkind = "bulk"\n';
    const { scenario } = playFrom(text, "x", START);
    expect(scenario.form === "text" && scenario.text).toBe('goodqueue = 1\nname = "x"\n[link.a]\nrate = "1 Mbit/s"\n[[traffic]]\nkind = "bulk"\n');
  });

  it("are refused with their place", () => {
    expect(() => playFrom("goodqueue = 1\nrate = = 3\n", "x", START)).toThrow(/^line 2, column \d+: /);
    expect(() => playFrom("a = 1\n", "x", START)).toThrow(Unreadable);
  });
});

describe("state in the address", () => {
  it("comes back", async () => {
    const packed = await pack(PLAY);
    expect(packed).toMatch(/^[A-Za-z0-9_-]+$/);
    expect(playOf(await unpack(packed))).toEqual(PLAY);
  });

  it("of another shape gives the start", () => {
    expect(playOf(null)).toEqual(START);
    expect(playOf({ scenario: { form: "fields", link: 3 }, variants: [1, {}], seed: -1, speed: "x", host: "<b>" })).toEqual(START);
  });

  it("does not unpack into more than a playground", async () => {
    await expect(unpack(await pack("x".repeat(2_000_000)))).rejects.toThrow("more than");
    await expect(unpack("!!!")).rejects.toThrow();
  });
});

describe("new traffic", () => {
  const key = (name: string, required: boolean, example: string): Parameter => ({ key: name, unit: "rate", default: "required", about: "", required, example });
  const kinds: Kinds = {
    aqm: [],
    cc: [],
    traffic: [
      { kind: "on-off", summary: "", parameters: [key("peak", true, "5 Mbit/s"), key("mean_on", true, "20 ms"), key("packet_size", false, "200 B")] },
      { kind: "bulk", summary: "", parameters: [key("size", false, "1 MB"), key("cc", false, "reno")] },
    ],
  };

  it("has every key that has no default, and no other", () => {
    expect(newTraffic(kinds, "on-off", 2)).toEqual({ kind: "on-off", flows: 2, settings: { peak: "5 Mbit/s", mean_on: "20 ms" } });
    expect(mainKeys(kinds, "on-off")).toEqual(["peak", "mean_on"]);
  });

  it("names the control of TCP traffic", () => {
    expect(newTraffic(kinds, "bulk", 1).settings).toEqual({ cc: "cubic" });
    expect(mainKeys(kinds, "bulk")).toEqual([]);
  });
});

describe("settings", () => {
  it.each([
    ["10 ms", "10 ms"],
    ["0.05", 0.05],
    [" true ", true],
    ["1e3", 1000],
    ["1500 B", "1500 B"],
  ])("%s is read as a file means it", (text, value) => expect(valueOf(text)).toBe(value));

  it("without a value have their default", () => expect(withSetting({ a: 1, b: 2 }, "a", "")).toEqual({ b: 2 }));

  it("tell queues apart", () => {
    expect(labelsOf([{ kind: "codel", settings: {} }, { kind: "codel", settings: { target: "1 ms", ecn: true } }, { kind: "codel", settings: {} }])).toEqual(["codel", "codel, target 1 ms, ecn", "codel (2)"]);
  });
});

describe("files", () => {
  it.each([
    ["a.toml", "1\n2\n", "scenario"],
    ["cell.down", "0\n3\n3\n17\n", "trace"],
    ["x.txt", "goodqueue = 1\n", "scenario"],
    ["empty", "", "scenario"],
  ] as const)("%s", (name, text, kind) => expect(kindOf(name, text)).toBe(kind));
});

describe("speeds", () => {
  it("are found again on the slider", () => {
    for (const [at, speed] of SPEEDS.entries()) expect(nearestSpeed(speed)).toBe(at);
    expect(speedInWords(null)).toBe("as fast as it goes");
  });
});

describe("packets", () => {
  it("lie along one path, on which neighbors touch", () => {
    const places = Array.from({ length: 12 }, (_, index) => placeAt(index, 5));
    expect(places[0]).toEqual({ column: 0, row: 0 });
    places.slice(1).forEach(({ column, row }, at) => {
      const before = places[at] ?? { column: 0, row: 0 };
      expect(Math.abs(column - before.column) + Math.abs(row - before.row)).toBe(1);
    });
  });

  const arrive = (id: number, flow = 0): { t: number; what: "arrive"; flow: number; size: number; id: number } => ({ t: id / 1000, what: "arrive", flow, size: 1500, id });

  it("wait, are marked, leave and fall", () => {
    const queue = new PacketQueue();
    queue.reset([{ t: 0, flow: 1, size: 100, id: 1 }]);
    const gone = queue.apply([arrive(2), arrive(3), { ...arrive(3), what: "mark", text: "above the threshold" }, { ...arrive(1), what: "depart" }, { ...arrive(2), what: "drop", text: "CoDel: above target" }, { ...arrive(9), what: "drop", why: "overflow" }]);
    expect([...queue.waiting.keys()]).toEqual([3]);
    expect(queue.waiting.get(3)?.isMarked).toBe(true);
    expect(gone.map(({ packet, how }) => [packet.id, how])).toEqual([[1, "depart"], [2, "drop"], [9, "drop"]]);
    expect(queue.signals.map(({ what, text }) => `${what} ${text}`)).toEqual(["mark above the threshold", "drop CoDel: above target", "drop overflow"]);
    expect([queue.drops, queue.marks]).toEqual([2, 1]);
  });

  it("are bounded, lost departures or not", () => {
    const queue = new PacketQueue();
    for (let id = 0; id < 50_000; id += 1) queue.apply([arrive(id)]);
    expect(queue.waiting.size).toBe(20_000);
  });

  it("get cells in which they all fit", () => {
    for (const count of [0, 10, 100, 400, 2000]) {
      const { columns, rows } = placesFor(600, 110, count);
      expect(columns * rows).toBeGreaterThanOrEqual(Math.min(count, 2640));
    }
  });
});

describe("hosts", () => {
  it("are named in the request for a run, which has no speed elsewhere than in the simulator", () => {
    const request = sessionOf({ ...PLAY, speed: 5 });
    expect(request).toMatchObject({ on: "live", speed: null, paused: false, link: "bottleneck", seed: 7 });
    expect(request.variants.map(({ queue }) => queue.kind)).toEqual(["codel", "fair"]);
    const simulated = sessionOf({ ...PLAY, speed: 5, host: "sim" });
    expect(simulated).toMatchObject({ speed: 5 });
    expect("on" in simulated).toBe(false);
  });

  it("stay as they are when a file is opened", () => {
    expect(playFrom(fileToml(PLAY), "a.toml", PLAY).host).toBe("live");
  });
});

describe("refusals", () => {
  it("are told with their place, once", () => {
    expect(inWords({ message: "unknown key", line: 3, column: 7 })).toBe("line 3, column 7: unknown key");
    expect(inWords({ message: "scenario.toml line 3: unknown key", line: 3 })).toBe("scenario.toml line 3: unknown key");
  });

  it("of another kind are told as they are", () => {
    expect(refusalIn("Payload too large", 413).message).toBe("Payload too large");
    expect(refusalIn("", 502).message).toBe("the server answered 502");
    expect(refusalIn('{"error":{"message":"no","line":2}}', 422)).toEqual({ message: "no", line: 2 });
  });
});
