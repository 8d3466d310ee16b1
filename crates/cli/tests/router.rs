//! `gq import`, `gq export` and `gq doctor` as a user meets them, and the page that leads from one
//! to the other.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use support::run;

const PAGE: &str = include_str!("../../../docs/from-a-speed-test.md");

/// Options of a line that is searched quickly.
const SLOW: &str = "--down 2mbit --up 1mbit --buffer 100ms --flows 2 --cc cubic --mix call-and-ping";

/// Blocks of the page in this language.
fn blocks(language: &str) -> Vec<&'static str> {
    let open = format!("```{language}\n");
    PAGE.split(&open).skip(1).filter_map(|rest| rest.split_once("\n```").map(|(block, _)| block)).collect()
}

#[test]
fn the_page_from_a_speed_test_to_a_router_can_be_followed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("test.json"), blocks("json")[0]).unwrap();
    // Figures do not matter here; the commands and what they write do.
    let short = ["--set", "duration=2 s", "--set", "warmup=1 s", "--replications", "2", "--no-report"];
    let refusals: Vec<&str> = PAGE.lines().filter(|line| line.starts_with("error: ")).collect();
    let mut refused = Vec::new();
    for line in blocks("sh").iter().flat_map(|block| block.lines()).filter(|line| line.starts_with("gq ")) {
        let (command, file) = line.split_once(" > ").map_or((line, None), |(command, file)| (command, Some(file)));
        let mut words: Vec<&str> = command.split(' ').skip(1).collect();
        match words[0] {
            "run" => words.extend(short),
            // A slow line is searched as fast lines are, in a small part of the time.
            "recommend" => words.extend(SLOW.split(' ')),
            // The names of this machine's interfaces are not known here; the command has tests of
            // its own.
            "doctor" => words = vec!["doctor", "--help"],
            _ => {}
        }
        let (code, out, err) = run(dir.path(), &words);
        if code == 2 {
            refused.push(err.trim().to_owned());
            continue;
        }
        assert_eq!(code, 0, "{line}\n{err}");
        assert!(!out.is_empty(), "{line}");
        if let Some(file) = file {
            fs::write(dir.path().join(file), out).unwrap();
        }
    }
    assert_eq!(refused, refusals);
    let script = fs::read_to_string(dir.path().join("shape.sh")).unwrap();
    assert!(script.contains("tc qdisc add dev ifb4eth0 root handle 1: cake bandwidth 47234kbit"), "{script}");
    let router = fs::read_to_string(dir.path().join("router.toml")).unwrap();
    assert!(router.contains("rate = \"47234000 bit/s\""), "{router}");
}

const SWEEP: &str = "goodqueue = 1\nduration = \"2 s\"\n[link.l]\nrate = \"5 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"100 packets\"\n\
                     [[traffic]]\nkind = \"bulk\"\n[sweep]\n\"link.l.queue\" = [\"codel\", { kind = \"codel\", target = \"20 ms\" }]\n";

#[test]
fn a_point_of_a_sweep_must_be_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.toml"), SWEEP).unwrap();
    let (code, out, err) = run(dir.path(), &["export", "tc", "s.toml", "--dev", "eth0"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.starts_with("error: --point: is missing: s.toml has 2 points: 0 codel"), "{err}");
    let (_, _, err) = run(dir.path(), &["export", "tc", "s.toml", "--dev", "eth0", "--point", "2"]);
    assert_eq!(err, "error: --point: 2 is out of range: allowed 0 to 1\n");
    let (code, out, _) = run(dir.path(), &["export", "tc", "s.toml", "--dev", "eth0", "--point", "1"]);
    assert_eq!(code, 0);
    // One direction: its queue leaves by the interface.
    assert!(out.contains("# down, leaves by eth0: 5 Mbit/s line, shaped to 4.75 Mbit/s (95 %)\n"), "{out}");
    assert!(out.contains(" codel target 20ms interval 100ms noecn\n") && !out.contains("ifb"), "{out}");
    let (_, out, _) = run(dir.path(), &["export", "tc", "s.toml", "--dev", "eth0", "--point", "1", "--egress", "up"]);
    assert!(out.contains("# down, arrives at eth0 and waits at ifb4eth0"), "{out}");
}

#[test]
fn wrong_options_and_files_get_one_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.toml"), SWEEP).unwrap();
    fs::create_dir(dir.path().join("empty")).unwrap();
    fs::write(dir.path().join("x.json"), "{}").unwrap();
    for (words, message) in [
        (
            "export tc s.toml --point 0",
            "error: --dev: is missing: name the interface that faces the line, for instance --dev eth0",
        ),
        (
            "export tc s.toml --point 0 --dev a;b",
            "error: --dev: `a;b` is not an interface: allowed 1 to 15 letters, digits and any of . _ - @ :",
        ),
        ("export tc s.toml --point 0 --dev eth0 --percent 0", "error: --percent: 0 is out of range: allowed above 0 to 100"),
        ("export tc s.toml --point 0 --dev eth0 --percent nan", "error: --percent: NaN is out of range: allowed above 0 to 100"),
        ("export tc s.toml --point 0 --dev eth0 --link x", "error: s.toml: `x` is no link of the scenario: allowed l"),
        ("export tc empty --dev eth0", "error: empty: is no folder of results: it has no run.json"),
        (
            "export sqm s.toml --point 0 --dev eth0 --no-shaper",
            "error: s.toml: link.l.queue: a queue without a shaper has no counterpart in sqm",
        ),
        ("export libreqos s.toml --point 0", "error: s.toml: a circuit without a queue up has no counterpart in LibreQoS"),
        ("import tc x.json", "error: x.json: has no queue: expected what tc -s -j qdisc show prints, or lines of tc"),
        ("import tc nothing", "error: nothing: no such file"),
        ("import flent x.json", "error: x.json: is no data file of flent: it has no results"),
        ("import speedtest empty", "error: empty: is a directory: expected a file"),
        ("import speedtest x.json --dev eth0", "error: --dev: is for gq import tc, sqm, networkd, routeros"),
        (
            "doctor --root empty",
            "error: --root: empty: has no sys/class/net: expected a folder with files of a machine that runs Linux",
        ),
    ] {
        let (code, out, err) = run(dir.path(), &words.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str(), err.trim_end()), (2, "", message), "{words}");
    }
}

#[test]
fn a_recorded_folder_is_examined() {
    let dir = tempfile::tempdir().unwrap();
    let file = |path: &str, text: &str| {
        let path = dir.path().join("host").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    file("sys/class/net/eth0/device/uevent", "");
    file("commands/tc_-j_qdisc_show", r#"[{"kind":"pfifo_fast","handle":"0:","dev":"eth0","root":true,"options":{}}]"#);
    let (code, out, err) = run(dir.path(), &["doctor", "--root", "host", "--dev", "eth0"]);
    assert_eq!((code, err.as_str()), (1, "error: 1 problem at eth0\n"));
    assert!(out.starts_with("eth0:\n problem  queue: pfifo_fast at eth0 has no queue management"), "{out}");
    assert!(out.contains("\n          tc qdisc replace dev eth0 root fq_codel\n"), "{out}");
    let (_, out, _) = run(dir.path(), &["doctor", "--root", "host", "--dev", "eth0", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((json["schema"].as_str(), json["dev"].as_str()), (Some("goodqueue.doctor/1"), Some("eth0")));
    assert_eq!(json["findings"][0]["weight"], "problem");
}

#[test]
fn what_the_script_collects_gives_the_same_findings() {
    if !Path::new("/sys/class/net/lo").exists() || Command::new("tc").arg("-V").output().is_err() {
        println!("skipped: collecting for gq doctor (no tc, or no Linux)");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/router/collect.sh");
    let collect = format!("mkdir host && sh '{script}' lo | tar -x -C host");
    assert!(Command::new("sh").args(["-c", &collect]).current_dir(dir.path()).status().unwrap().success());
    let here = run(dir.path(), &["doctor", "--dev", "lo"]);
    assert_ne!(here.0, 2, "{}", here.2);
    assert_eq!(run(dir.path(), &["doctor", "--root", "host", "--dev", "lo"]), here);
}

#[test]
fn a_result_is_a_table_of_figures() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.toml"), SWEEP).unwrap();
    let (code, _, err) = run(dir.path(), &["run", "s.toml", "--replications", "2", "--no-report", "--out", "r"]);
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = run(dir.path(), &["export", "csv", "r", "--out", "t.csv"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    let table = fs::read_to_string(dir.path().join("t.csv")).unwrap();
    let header = table.lines().next().unwrap();
    assert!(header.starts_with("point,link.l.queue,place,"), "{header}");
    for column in ["throughput_bit_s", "throughput_bit_s.ci95", "sojourn_s.p95", "goodput_bit_s"] {
        assert!(header.split(',').any(|known| known == column), "{column}\n{header}");
    }
    let places: Vec<&str> = table.lines().skip(1).map(|line| line.split(",link l,").next().unwrap()).collect();
    assert_eq!(places.len(), 4, "{table}");
    assert!(places[2].starts_with("1,\"{\"\"kind\"\":\"\"codel\"\",\"\"target\"\":\"\"20 ms\"\"}\""), "{table}");
}

/// Both directions loaded, with a ping.
const LOADED: &str = "goodqueue = 1\nwarmup = \"1 s\"\nduration = \"9 s\"\n[link.l]\nrate = \"8 Mbit/s\"\nrate_up = \"2 Mbit/s\"\n\
                      delay = \"10 ms\"\nbuffer = \"100 ms\"\nbuffer_up = \"100 ms\"\n[[traffic]]\nkind = \"bulk\"\nflows = 2\n[[traffic]]\n\
                      name = \"up\"\nkind = \"bulk\"\ndirection = \"up\"\n[[traffic]]\nkind = \"echo\"\n";

#[test]
fn a_result_goes_to_flent_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.toml"), LOADED).unwrap();
    let (code, _, err) = run(dir.path(), &["run", "s.toml", "--replications", "1", "--no-report", "--out", "r"]);
    assert_eq!(code, 0, "{err}");
    for name in ["a.flent.gz", "b.flent.gz"] {
        let (code, out, err) = run(dir.path(), &["export", "flent", "r", "--out", name]);
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
    }
    let files = ["a.flent.gz", "b.flent.gz"].map(|name| fs::read(dir.path().join(name)).unwrap());
    assert_eq!(files[0], files[1], "equal results give equal files");
    let file = goodqueue_interop::import::Input::read("a", files[0].as_slice()).unwrap().json().unwrap();
    let results = file["results"].as_object().unwrap();
    for name in [
        "TCP download BE::1",
        "TCP download BE::2",
        "TCP download sum",
        "TCP upload BE::1",
        "TCP upload avg",
        "TCP totals",
        "Ping (ms) ICMP",
        "Ping (ms) avg",
    ] {
        assert_eq!(results[name].as_array().map(Vec::len), file["x_values"].as_array().map(Vec::len), "{name}");
    }
    assert_eq!(file["metadata"]["TEST_PARAMETERS"], serde_json::json!({"upload_streams": "1", "download_streams": "2"}));
    let sum = |at: usize, name: &str| results[name][at].as_f64().unwrap();
    assert!((sum(40, "TCP download BE::1") + sum(40, "TCP download BE::2") - sum(40, "TCP download sum")).abs() < 1e-9);
    // The line that a test of it would find.
    let (code, out, err) = run(dir.path(), &["import", "flent", "a.flent.gz"]);
    assert_eq!(code, 0, "{err}");
    let rate = |key: &str| -> f64 {
        let link = out.split_once("[link.").map_or("", |(_, link)| link);
        let line = link.lines().find_map(|line| line.strip_prefix(&format!("{key} = \""))).unwrap_or_else(|| panic!("{out}"));
        line.split(' ').next().unwrap().parse().unwrap()
    };
    assert!((7.5e6..8.3e6).contains(&rate("rate")) && (1.6e6..2.1e6).contains(&rate("rate_up")), "{out}");
    assert!(out.contains("# measured: half of 21."), "a ping of 20 ms and a little\n{out}");
}

#[test]
fn what_flent_cannot_open_gets_one_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("s.toml"), SWEEP).unwrap();
    let run_it = |more: &[&str]| {
        let words = ["run", "s.toml", "--replications", "1", "--no-report"];
        let (code, _, err) = run(dir.path(), &words.iter().chain(more).copied().collect::<Vec<_>>());
        assert_eq!(code, 0, "{err}");
    };
    run_it(&["--out", "r"]);
    run_it(&["--out", "nothing", "--record", "nothing"]);
    for (words, message) in [
        ("export flent r", "--out: is missing: name the file, for instance --out home.flent.gz"),
        ("export flent r --out x.gz", "--out x.gz: flent opens files whose names end in .flent.gz"),
        ("export flent r --out x.flent.gz --dev eth0", "--dev: means nothing for gq export flent"),
        ("export flent s.toml --point 0 --out x.flent.gz", "s.toml: is no folder of results: it has no run.json"),
        ("export flent r --out x.flent.gz --point 2", "--point: 2 is out of range: allowed 0 to 1"),
        (
            "export flent nothing --out x.flent.gz --point 0",
            "nothing/series.parquet: has no TCP flow and no ping over time: flent's plots are of these",
        ),
        ("export csv r --point 1", "--point: means nothing for gq export csv"),
        ("export tc s.toml --point 0 --dev eth0 --address 10.0.0.1", "--address: means nothing for gq export tc"),
    ] {
        let (code, out, err) = run(dir.path(), &words.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str(), err.trim_end()), (2, "", format!("error: {message}").as_str()), "{words}");
    }
    let (code, _, err) = run(dir.path(), &["export", "flent", "r", "--out", "x.flent.gz"]);
    assert!(code == 2 && err.contains("--point: is missing: "), "{err}");
    fs::write(dir.path().join("r/series.parquet"), "PAR1").unwrap();
    let (code, _, err) = run(dir.path(), &["export", "flent", "r", "--out", "x.flent.gz", "--point", "0"]);
    assert!(code == 2 && err.starts_with("error: r/series.parquet: cannot be read: "), "{err}");
}

/// The answer to a question that is quick to search, as JSON.
fn answer(dir: &Path, hardware: &str) -> serde_json::Value {
    let question = ["--down", "2mbit", "--up", "1mbit", "--rtt", "20ms", "--buffer", "100ms", "--flows", "2", "--cc", "cubic"];
    let words: Vec<&str> = ["recommend"].into_iter().chain(question).chain(["--hardware", hardware, "--json", "-"]).collect();
    let (code, out, err) = run(dir, &words);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_recommendation_goes_to_every_target() {
    let dir = tempfile::tempdir().unwrap();
    let mut answer = answer(dir.path(), "routeros");
    let [down, up] = ["rate_down_bit_s", "rate_up_bit_s"].map(|key| answer["choice"][key].as_u64().unwrap());
    let kbit = |bits: u64| (bits / 1000).to_string();
    // Kinds that every target has, with the shaped rates that were chosen.
    let scenario = answer["scenario"].as_str().unwrap().to_owned();
    for kind in ["cake", "fq-codel"] {
        let set = |line: &str| match line.split_once(" of = ") {
            Some((head, _)) => format!("{head} of = {{ kind = \"{kind}\" }} }}\n"),
            None => format!("{line}\n"),
        };
        answer["scenario"] = scenario.lines().map(set).collect::<String>().into();
        fs::write(dir.path().join("a.json"), answer.to_string()).unwrap();
        let word = kind.replace('-', "_");
        for (target, expected) in [
            ("tc", format!("{word} ")),
            ("sqm", format!("option download '{}'\n\toption upload '{}'\n\toption qdisc '{word}'", kbit(down), kbit(up))),
            ("networkd", format!("={}K\n", kbit(up))),
            ("routeros", format!("max-limit={}k/{}k", kbit(down), kbit(up))),
            ("libreqos", format!(",{word}\n")),
        ] {
            let mut words = vec!["export", target, "a.json"];
            words.extend(if target == "libreqos" { ["--address", "100.64.0.2"] } else { ["--dev", "eth0"] });
            let (code, out, err) = run(dir.path(), &words);
            assert_eq!(code, 0, "{target} {kind}: {err}");
            assert!(out.contains(&expected), "{target}: {expected}\n{out}");
        }
        let (_, out, _) = run(dir.path(), &["export", "tc", "a.json", "--dev", "eth0"]);
        let marks = if kind == "cake" { "cake bandwidth" } else { " ecn\n" };
        assert!(out.contains(marks) && !out.contains("noecn"), "{out}");
        assert!(out.contains(&format!("{}kbit", kbit(down))) && out.contains(&format!("{}kbit", kbit(up))), "{out}");
        // Framing is a matter of the line, which the search does not know.
        let framed = ["export", "tc", "a.json", "--dev", "eth0", "--set", "link.router.overhead=pppoe-llcsnap"];
        let (_, out, _) = run(dir.path(), &framed);
        let words = if kind == "cake" { " overhead 40 atm\n" } else { "stab overhead 26 linklayer atm" };
        assert_eq!(out.matches(words).count(), 2, "{out}");
    }
}

/// Checks that `gq export` can write everything that the search may choose for a router.
#[test]
fn kinds_searched_for_a_router_can_be_exported_to_it() {
    use goodqueue_interop::router::dialect::{self, Dialect};
    use goodqueue_lab::run::recommend::candidates::Hardware;
    let dialects: [(Hardware, &Dialect); 4] = [
        (Hardware::Linux, &dialect::tc::TC),
        (Hardware::OpenWrt, &dialect::tc::TC),
        (Hardware::RouterOs, &dialect::routeros::ROUTEROS),
        (Hardware::LibreQos, &dialect::libreqos::LIBREQOS),
    ];
    for (hardware, dialect) in dialects {
        for kind in hardware.kinds() {
            assert!(dialect.has(kind), "{}: {kind}", dialect.title);
        }
    }
}

#[test]
fn what_is_no_recommendation_gets_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let answer = |percent: &str, scenario: &str| {
        format!(
            r#"{{"schema":"goodqueue.recommendation/2","choice":{{"shape_percent":{percent}}},"line":{{"hardware":"any"}},"scenario":{scenario}}}"#
        )
    };
    let expected = "is no recommendation: expected schema goodqueue.recommendation/2, as gq recommend --json writes it";
    for (text, options, message) in [
        ("{}".to_owned(), "", format!("a.json: {expected}")),
        (r#"{"schema":"goodqueue.recommendation/1"}"#.to_owned(), "", format!("a.json: {expected}")),
        (" {\"schema\":".to_owned(), "", "a.json: is not JSON: EOF while parsing a value at line 1 column 11".to_owned()),
        (answer("90.0", "1"), "", "a.json: scenario: is missing".to_owned()),
        (
            answer("90.0", "\"\"").replace("any", "toaster"),
            "",
            "a.json: line.hardware: is missing or unknown: allowed any, linux, openwrt, libreqos, routeros, pfsense, opnsense"
                .to_owned(),
        ),
        (answer("null", "\"\""), "", "a.json: choice: shapes nothing, so there is nothing to set on a router".to_owned()),
        (
            answer("90.0", "\"\""),
            " --percent 90",
            "--percent 90: a recommendation has chosen its shaped rates: leave it out".to_owned(),
        ),
    ] {
        fs::write(dir.path().join("a.json"), &text).unwrap();
        // A scenario that can be read is needed to come to the options.
        if options.contains("--percent") {
            fs::write(dir.path().join("a.json"), answer("90.0", &serde_json::json!(RECOMMENDED).to_string())).unwrap();
        }
        let words = format!("export tc a.json --dev eth0{options}");
        let (code, out, err) = run(dir.path(), &words.split(' ').collect::<Vec<_>>());
        assert_eq!((code, out.as_str(), err.trim_end()), (2, "", format!("error: {message}").as_str()), "{text}");
    }
    let deep = "{\"a\":".repeat(100_000);
    fs::write(dir.path().join("a.json"), deep).unwrap();
    let (code, _, err) = run(dir.path(), &["export", "sqm", "a.json", "--dev", "eth0"]);
    assert_eq!(code, 2);
    assert!(err.starts_with("error: a.json: is not JSON: recursion limit exceeded"), "{err}");
}

/// As `gq recommend --scenario` writes it: the provider's line with a plain buffer, and the router.
const RECOMMENDED: &str = "goodqueue = 1\nduration = \"2 s\"\n[link.line]\nfrom = \"isp\"\nto = \"router\"\nrate = \"50 Mbit/s\"\n\
                           delay = \"10 ms\"\nbuffer = \"100 ms\"\n[link.router]\nfrom = \"router\"\nto = \"home\"\nrate = \"1 Gbit/s\"\n\
                           delay = \"0 s\"\nbuffer = \"10240 packets\"\nbuffer_up = \"10240 packets\"\n\
                           queue = { kind = \"shaper\", rate = \"45 Mbit/s\", of = \"fq-codel\" }\n\
                           queue_up = { kind = \"shaper\", rate = \"9 Mbit/s\", of = \"cake\" }\n\
                           [[traffic]]\nkind = \"bulk\"\npath = [\"isp\", \"home\"]\n";

/// Returns the output of an export, warnings included, from a scenario or an answer.
fn exported(dir: &Path, target: &str, source: &str, more: &[&str]) -> String {
    let place: &[&str] = if target == "libreqos" { &["--address", "100.64.0.2"] } else { &["--dev", "eth0"] };
    let words: Vec<&str> = ["export", target, source].iter().chain(place).chain(more).copied().collect();
    let (code, out, err) = run(dir, &words);
    assert_eq!(code, 0, "{words:?}: {err}");
    out + &err
}

#[test]
fn a_scenario_and_an_answer_give_the_same_text() {
    let dir = tempfile::tempdir().unwrap();
    let commands = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("note: ")).map(str::to_owned).collect()
    };
    for kind in ["cake", "fq-codel"] {
        let router = RECOMMENDED
            .replace("goodqueue = 1\n", "goodqueue = 1\nname = \"a line\"\n")
            .replace("of = \"fq-codel\"", &format!("of = \"{kind}\""))
            .replace("of = \"cake\"", &format!("of = \"{kind}\""));
        let line = format!(
            "goodqueue = 1\nname = \"a line\"\nduration = \"2 s\"\n[link.line]\nrate = \"50 Mbit/s\"\nrate_up = \"10 Mbit/s\"\n\
             delay = \"10 ms\"\nbuffer = \"80 ms\"\nbuffer_up = \"400 ms\"\nqueue = \"{kind}\"\nqueue_up = \"{kind}\"\n\
             [[traffic]]\nkind = \"bulk\"\n"
        );
        fs::write(dir.path().join("router.toml"), &router).unwrap();
        fs::write(dir.path().join("line.toml"), line).unwrap();
        for (hardware, translates) in [("linux", false), ("openwrt", true)] {
            let answer = serde_json::json!({
                "schema": "goodqueue.recommendation/2",
                "choice": { "shape_percent": 90.0 },
                "line": { "hardware": hardware },
                "scenario": router,
            });
            fs::write(dir.path().join("answer.json"), answer.to_string()).unwrap();
            for target in ["tc", "sqm", "networkd", "routeros", "libreqos"] {
                let nat: &[&str] = if translates && target != "libreqos" { &["--nat"] } else { &[] };
                let by_answer = exported(dir.path(), target, "answer.json", &[]);
                assert_eq!(exported(dir.path(), target, "router.toml", nat), by_answer, "{target} {hardware}");
                // The line with the queue is another scenario, whose comments tell other rates.
                let of_line: Vec<&str> = nat.iter().chain(&["--percent", "90"]).copied().collect();
                let by_line = exported(dir.path(), target, "line.toml", &of_line);
                assert_eq!(commands(&by_line), commands(&by_answer), "{target} {hardware}");
                let is_told = matches!(target, "sqm" | "routeros") || translates && target != "libreqos";
                let looks_behind =
                    [" nat ", " nat\n", " nat'", "NAT=yes", "cake-nat=yes"].iter().any(|word| by_answer.contains(word));
                assert_eq!(looks_behind, kind == "cake" && is_told, "{target} {hardware}\n{by_answer}");
            }
        }
    }
    let (code, _, err) = run(dir.path(), &["export", "libreqos", "line.toml", "--nat"]);
    assert_eq!((code, err.as_str()), (2, "error: --nat: means nothing for gq export libreqos\n"));
}

#[test]
fn the_queues_of_a_recommendation_are_those_of_its_router() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("r.toml"), RECOMMENDED).unwrap();
    let (code, out, err) = run(dir.path(), &["export", "tc", "r.toml", "--dev", "eth0"]);
    assert_eq!(code, 0, "{err}");
    // A shaper keeps its rate: the margin is in it.
    assert!(out.contains("htb rate 45mbit ceil 45mbit") && out.contains("cake bandwidth 9mbit"), "{out}");
}
