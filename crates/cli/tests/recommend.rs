//! `gq recommend` as a user meets it.

use serde_json::Value;
use std::fs;
use std::process::Command;

/// Exit code, standard output, standard error.
fn recommend(folder: &std::path::Path, arguments: &str) -> (i32, String, String) {
    let words = ["recommend"].into_iter().chain(arguments.split_whitespace());
    let output = Command::new(env!("CARGO_BIN_EXE_gq")).args(words).current_dir(folder).output().expect("gq starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

const KNOWN: &str =
    "--down 4mbit --up 2mbit --rtt 20ms --buffer 500ms --flows 2 --cc cubic --mix call-and-ping --hardware openwrt";

#[test]
fn a_known_line_gets_a_queue_a_rate_and_a_scenario_that_runs() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = recommend(dir.path(), &format!("{KNOWN} --json answer.json --scenario line.toml"));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains("\n\nSet SQM (") && out.contains(" kbit/s down and "), "{out}");
    let answer: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("answer.json")).unwrap()).unwrap();
    assert_eq!(answer["schema"], "goodqueue.recommendation/2");
    let choice = &answer["choice"];
    for direction in ["down", "up"] {
        assert!(["cake", "fq-codel"].contains(&choice[direction]["kind"].as_str().unwrap()), "{choice}");
    }
    let percent = answer["shape_percent"].as_f64().unwrap();
    assert!([85.0, 90.0, 95.0].contains(&percent) && choice["shape_percent"] == answer["shape_percent"], "{percent}");
    assert_eq!(choice["rate_down_bit_s"].as_f64().unwrap(), 4e6 * percent / 100.0);
    // Under a shaper with flow queueing nobody waits behind the modem's half second.
    let p95 = |of: &Value| of["experience"]["ping"]["rtt_s.p95"]["mean"].as_f64().unwrap();
    assert!(p95(choice) < 0.1 && p95(&answer["without"]) > 0.3, "{} {}", p95(choice), p95(&answer["without"]));
    assert!(answer["experience"]["ping"]["rtt_s.p95"]["ci95"].is_number(), "an interval over eight blocks");
    assert!(answer["alternatives"].is_array() && answer["undetermined"].is_array());
    // The same question has the same answer.
    let (_, again, _) = recommend(dir.path(), &format!("{KNOWN} --jobs 1 --json -"));
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), answer);
    let (code, ..) = {
        let output =
            Command::new(env!("CARGO_BIN_EXE_gq")).args(["check", "line.toml"]).current_dir(dir.path()).output().unwrap();
        (output.status.code().unwrap(), output)
    };
    assert_eq!(code, 0);
}

#[test]
fn wrong_options_are_named_with_what_is_allowed() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        ("--down 5 --up 1mbit", "--down: `5` has no unit"),
        ("--down 1kbit --up 1mbit", "--down: `1kbit` is out of range: allowed 16 kbit/s to 100 Gbit/s"),
        ("--down 1mbit --up 1mbit --rtt 50ms..20ms", "--rtt: `50ms..20ms` ends below its beginning"),
        ("--down 1mbit --up 1mbit --buffer 1h", "--buffer: `1h` is out of range: allowed 1 ms to 20 s"),
        ("--down 1mbit --up 1mbit --flows 0..3", "--flows: `0` is not a number of flows: allowed 1 to 1000"),
        ("--down 1mbit --up 1mbit --mix hoem", "--mix: `hoem` is not known: allowed evening,"),
        ("--down 1mbit --up 1mbit --hardware cisco", "--hardware: `cisco` is not known: allowed any, linux, openwrt"),
        ("--down 1mbit --up 1mbit --cc cubic,bbr,reno", "--cc: `cubic,bbr,reno` names 3 controls: allowed one or two"),
        ("--down 1mbit --up 1mbit --varies 95%", "--varies: `95%` is out of range: allowed 0 % to 90 %"),
        ("--down 1mbit --up 1mbit --varies 10", "--varies: `10` is out of range: allowed 0 % to 90 %; 10 % is written 10%"),
        ("--down 1mbit --up 1mbit --policy x=1", "--policy: `x` is not known: allowed of_best"),
        ("--down 1mbit --up 1mbit --check sim", "--check sim: the answer is from the simulator already: allowed linux"),
        ("--down 1mbit --up 1mbit --check live", "would take hours: use linux, guest kernels in virtual time"),
        ("--down 1mbit --up 1mbit --check bsd", "--check bsd: there is no such host: allowed"),
        ("--down 1mbit --up 1mbit --line wifi", "--line: `wifi` is not there yet: "),
        ("--down 1mbit --up 1mbit --line isdn", "--line: `isdn` is not known: allowed adsl, vdsl, docsis, lte, leo, geo, fiber"),
        ("--down 1mbit --up 1mbit --overhead 1kB", "--overhead: `1kB` is out of range: allowed 0 B to 256 B"),
        ("--down 1mbit --up 1mbit --modem red", "--modem: `red` is not known: allowed fifo, pie"),
        ("--down 1mbit --up 1mbit --hosts 0", "--hosts: `0` is not a number of devices: allowed 1 to 250"),
        ("--down 1mbit --up 1mbit --cpu 5", "--cpu: `5` has no unit"),
        ("--down 1mbit --up 1mbit --want speed", "--want: `speed` is not known: allowed throughput, l4s"),
        ("--down 1mbit --up 1mbit --json missing/a.json", "--json: `missing/a.json` cannot be written"),
        ("--down 1mbit", "--up"),
    ] {
        let (code, _, error) = recommend(dir.path(), arguments);
        assert!(code == 2 && error.contains(said), "{arguments}: {error}");
    }
}

/// A line of 4 and 2 Mbit/s with half a second of buffer, as networkQuality writes it.
const MEASURED: &str = r#"{"base_rtt":20,"dl_throughput":3861333,"ul_throughput":1930667,"dl_responsiveness":115.3846,
  "ul_responsiveness":115.3846}"#;

#[test]
fn a_measurement_becomes_the_configuration_of_a_router() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("test.json"), MEASURED).unwrap();
    let pipe = "\"$GQ\" recommend --from test.json --hardware openwrt --flows 2 --cc cubic --mix call-and-ping 2> said \
                | tee line.toml | \"$GQ\" export sqm -";
    let mut shell = Command::new("sh");
    let output =
        shell.args(["-c", pipe]).env("GQ", env!("CARGO_BIN_EXE_gq")).current_dir(dir.path()).output().expect("sh starts");
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    let [line, said] = ["line.toml", "said"].map(|name| fs::read_to_string(dir.path().join(name)).unwrap());
    assert!(output.status.success(), "{said}{error}");
    // The figures of the file are those of the line, and people read where they are from.
    for key in
        ["rate = \"4 Mbit/s\"", "rate_up = \"2 Mbit/s\"", "buffer = \"500 ms\"", "delay = \"10 ms\"", "delay_up = \"10 ms\""]
    {
        assert!(line.contains(key), "{key}\n{line}");
    }
    assert!(said.contains("note: test.json: down 4 Mbit/s (measured: dl_throughput, 3861333 bit/s of payload"), "{said}");
    assert!(said.contains("note: test.json: buffer 500 ms (estimated: 60 s / dl_responsiveness"), "{said}");
    assert!(said.contains("\n\nSet SQM ("), "{said}");
    // A section that OpenWrt takes as it is.
    let option = |key: &str| {
        let start = format!("\toption {key} '");
        let found = out.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix('\''));
        found.unwrap_or_else(|| panic!("{key}\n{out}"))
    };
    assert!(out.contains("config queue 'wan'\n"), "{out}");
    assert_eq!((option("enabled"), option("interface")), ("1", "wan"));
    let [down, up] = ["download", "upload"].map(|key| option(key).parse::<u32>().unwrap());
    assert!((3_400..=3_800).contains(&down) && (1_700..=1_900).contains(&up), "{down} {up}");
    assert!(["cake", "fq_codel"].contains(&option("qdisc")) && option("script").ends_with(".qos"), "{out}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.starts_with("note: --dev is not given: the section is for `wan`"), "{error}");
}

#[test]
fn former_names_of_mixes_get_a_note() {
    let dir = tempfile::tempdir().unwrap();
    for (name, now) in [("home", "rfc7928"), ("gaming-household", "gaming")] {
        let note = format!("note: the mix `{name}` is called `{now}` now\n");
        // The question is read, and then there is no such host.
        let (code, out, error) = recommend(dir.path(), &format!("--down 8mbit --up 2mbit --mix {name} --check bsd"));
        assert!(code == 2 && out.is_empty() && error.starts_with(&note), "{error}");
        let output = Command::new(env!("CARGO_BIN_EXE_gq")).args(["list", "mix", name]).output().expect("gq starts");
        assert_eq!(String::from_utf8_lossy(&output.stderr), note);
    }
    let (_, _, error) = recommend(dir.path(), "--down 8mbit --up 2mbit --mix rfc7928 --check bsd");
    assert!(!error.contains("note"), "{error}");
}

#[test]
fn options_go_before_a_file_and_faults_are_named() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("test.json", MEASURED),
        ("far.json", r#"{"base_rtt":9000,"dl_throughput":4e6,"ul_throughput":2e6}"#),
        ("queues", "tc qdisc add dev eth0 root cake bandwidth 16mbit docsis\n"),
        ("bare", "tc qdisc add dev eth0 root fq_codel\n"),
        ("wrong", "hello\n"),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
    }
    for (arguments, said) in [
        ("--from test.json --down 5", "error: --down: `5` has no unit"),
        ("--from test.json --buffer 1h", "error: --buffer: `1h` is out of range: allowed 1 ms to 20 s"),
        ("--from test.json --hardware cisco", "error: --hardware: `cisco` is not known"),
        ("--from far.json", "error: far.json: rtt: `9 s` is out of range: allowed 100 us to 5 s"),
        ("--from queues", "error: --down: is missing: queues does not tell the rate toward you: give it, for instance 10mbit"),
        ("--from queues --down 1", "note: queues: up 16 Mbit/s (set: bandwidth of cake"),
        ("--from queues --down 1", "note: queues: overhead docsis (set: "),
        ("--from bare --up 1mbit", "error: --down: is missing: bare does not tell the rate toward you"),
        ("--from wrong", "error: wrong: is nothing that gq import reads: expected a speed test, "),
        ("--from nothing", "error: nothing: no such file"),
        ("--from test.json --json - --scenario -", "error: --scenario -: standard output is for --json - already"),
    ] {
        let (code, out, error) = recommend(dir.path(), arguments);
        assert!(code == 2 && out.is_empty() && error.contains(said), "{arguments}: {error}");
        assert_eq!(error.matches("error: ").count(), 1, "{arguments}: {error}");
    }
}

#[test]
fn a_slow_router_shapes_the_uplink_with_the_framing_of_the_line() {
    let dir = tempfile::tempdir().unwrap();
    let line = "--line docsis --cpu 3mbit --down 8mbit --up 2mbit --rtt 20ms --buffer 500ms --flows 2 --cc cubic";
    let (code, out, error) =
        recommend(dir.path(), &format!("{line} --mix call-and-ping --hardware openwrt --json answer.json --scenario line.toml"));
    assert_eq!(code, 0, "{error}");
    assert!(out.contains(" up and 0 down, which shapes nothing there"), "{out}");
    assert!(out.contains("8 Mbit/s is more than the 3 Mbit/s that the router can shape"), "{out}");
    assert!(out.contains("overhead 18, mpu 64"), "{out}");
    let answer: Value = serde_json::from_str(&fs::read_to_string(dir.path().join("answer.json")).unwrap()).unwrap();
    assert!(answer["choice"]["rate_down_bit_s"].is_null() && answer["choice"]["rate_up_bit_s"].is_number(), "{answer}");
    let output = Command::new(env!("CARGO_BIN_EXE_gq"))
        .args(["export", "sqm", "answer.json", "--dev", "wan"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("option download '0'") && text.contains("option overhead '"), "{text}");
}

/// Needs the guest kernel (`make linux`).
#[test]
fn kernel_senders_check_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, error) = recommend(dir.path(), &format!("{KNOWN} --check linux --json -"));
    if code == 2 && error.contains("make linux") {
        eprintln!("skipped: {error}");
        return;
    }
    assert_eq!(code, 0, "{error}");
    let answer: Value = serde_json::from_str(&out).unwrap();
    let check = &answer["check"];
    assert_eq!((&check["host"], &check["candidates"][0]), (&Value::from("linux"), &answer["choice"]["label"]));
    assert_eq!(check["satisfies_policy"], true, "{check}");
    let ping = check["figures"].as_array().unwrap().iter().find(|held| held["metric"] == "rtt_s.p95").expect("a ping");
    assert!(ping["checked"]["mean"].as_f64().unwrap() < 0.1, "{ping}");
    assert_eq!(check["left_out"], serde_json::json!([]), "kernel senders carry all of this mix");
}
