//! `gq import` of routers' configurations, and the refusals of `gq measure`, as a user meets them.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use support::{gq, run};

const SQM: &str = "config queue 'wan'\n\toption enabled '1'\n\toption interface 'pppoe-wan'\n\toption download '23500'\n\
                   \toption upload '4700'\n\toption qdisc 'cake'\n\toption script 'piece_of_cake.qos'\n\toption linklayer 'atm'\n\
                   \toption overhead '40'\n";
const NETWORKD: &str = "[Match]\nName=wan0\n\n[CAKE]\nParent=root\nBandwidth=31M\nOverheadBytes=22\nMPUBytes=64\nRTTSec=60ms\n\n\
                        [Match]\nName=ifb4wan0\n\n[CAKE]\nParent=root\nBandwidth=72M\nOverheadBytes=22\nMPUBytes=64\nRTTSec=60ms\n";
const ROUTEROS: &str = "# by RouterOS 7.16\n/queue type\nadd fq-codel-limit=700 fq-codel-target=9ms kind=fq-codel name=short\n\
                        /queue simple\nadd max-limit=12M/63M name=line queue=short/short target=ether2\n";
const LIBREQOS: &str = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,\
                        Download Max Mbps,Upload Max Mbps,Comment\n12,Mill Lane 4,12,r,,,100.64.0.12,,1,1,55,5.5,\n";

/// Kind, a good file, lines of its scenario, the place of a fault in it with a wrong value, and the
/// message.
type Row = (&'static str, &'static str, &'static [&'static str], [&'static str; 2], &'static str);

const FILES: &[Row] = &[
    (
        "sqm",
        SQM,
        &[
            "rate = \"23500000 bit/s\" # set: bandwidth of cake 1: at ifb4pppoe-wan",
            "rate_up = \"4700000 bit/s\" # set: bandwidth of cake 1: at pppoe-wan",
            "overhead = \"40 B\" # set: ",
            "cells = \"atm\" # set: ",
        ],
        ["'4700'", "'fast'"],
        "line 5: upload: `fast` is not a value of it: allowed 0 to 10000000000",
    ),
    (
        "networkd",
        NETWORKD,
        &[
            "rate = \"72000000 bit/s\" # set: bandwidth of cake 1: at ifb4wan0",
            "rate_up = \"31000000 bit/s\" # set: bandwidth of cake 1: at wan0",
            "queue = { kind = \"cake\", target = \"3 ms\", interval = \"60 ms\", ecn = true } # set: ",
            "mpu = \"64 B\" # set: ",
        ],
        ["=31M", "=31T"],
        "line 6: Bandwidth: `31T` is not a value of it: allowed a rate such as 9500k, 1 kbit/s to 10 Tbit/s",
    ),
    (
        "routeros",
        ROUTEROS,
        &[
            "rate = \"12000000 bit/s\" # set: ceil of htb 1:1 at ifb4ether2",
            "rate_up = \"63000000 bit/s\" # set: ceil of htb 1:1 at ether2",
            "buffer = \"700 packets\" # set: limit of fq_codel 10: at ifb4ether2",
        ],
        ["=9ms", "=soon"],
        "line 3: fq-codel-target: `soon` is not a value of it: allowed a time such as 5ms",
    ),
    (
        "libreqos",
        LIBREQOS,
        &[
            "rate = \"55000000 bit/s\" # set: ",
            "rate_up = \"5500000 bit/s\" # set: ",
            "queue = { kind = \"cake\", tins = \"diffserv4\",",
        ],
        [",5.5,", ",0.1,"],
        "line 2: Upload Max Mbps: `0.1` is not a value of it: allowed 0.2 to 10000000",
    ),
];

/// A file without the blanks that line up its remarks.
fn plain(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn configurations_give_the_figures_that_they_set() {
    for (kind, file, lines, ..) in FILES {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config"), file).unwrap();
        let (code, out, err) = run(dir.path(), &["import", kind, "config"]);
        assert_eq!((code, err.as_str()), (0, ""), "{kind}");
        let text = plain(&out);
        for line in *lines {
            assert!(text.contains(line), "{kind}: {line}\n{text}");
        }
        assert!(text.starts_with(&format!("# Made by gq import {kind} from config.\n")), "{text}");
        assert!(text.contains("# assumed: half of 20 ms: a configuration does not say how long the path is"), "{text}");
        assert!(!text.contains("# measured"), "{text}");
        fs::write(dir.path().join("line.toml"), out).unwrap();
        let (code, _, err) = run(dir.path(), &["check", "line.toml"]);
        assert_eq!(code, 0, "{kind}: {err}");
    }
}

#[test]
fn wrong_configurations_get_one_line_and_no_scenario() {
    for (kind, file, _, [right, wrong], message) in FILES {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config"), file.replace(right, wrong)).unwrap();
        let told = run(dir.path(), &["import", kind, "config"]);
        assert_eq!(told, (2, String::new(), format!("error: config: {message}\n")), "{kind}");
        fs::write(dir.path().join("config"), "hello\n").unwrap();
        let (code, out, err) = run(dir.path(), &["import", kind, "config"]);
        assert!(code == 2 && out.is_empty() && err.starts_with("error: config: "), "{kind}: {err}");
        assert_eq!(err.lines().count(), 1, "{kind}: {err}");
        assert!(!err.contains(" tc "), "it is no output of tc: {kind}: {err}");
    }
}

#[test]
fn configurations_answer_a_recommendation() {
    for (kind, file, lines, ..) in FILES {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("config"), file).unwrap();
        // The file is read, and then there is no such host.
        let (code, out, err) = run(dir.path(), &["recommend", "--from", "config", "--check", "bsd"]);
        assert!(code == 2 && out.is_empty(), "{kind}: {err}");
        let rate = lines[0].split('"').nth(1).unwrap();
        let mbit = rate.trim_end_matches(" bit/s").parse::<f64>().unwrap() / 1e6;
        assert!(err.contains(&format!("note: config: down {mbit} Mbit/s (set: ")), "{kind}: {err}");
    }
}

#[test]
fn an_imported_configuration_is_piped_to_check() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config"), SQM).unwrap();
    let mut import = gq(dir.path(), &["import", "sqm", "config"]).spawn().unwrap();
    let piped = Stdio::from(import.stdout.take().unwrap());
    let checked = gq(dir.path(), &["check", "/dev/stdin"]).stdin(piped).output().unwrap();
    assert!(import.wait().unwrap().success() && checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

/// A scenario with a flow list, `list.csv`.
const LISTED: &str = r#"goodqueue = 1
duration = "1 s"
replications = 2
[link.line]
rate = "10 Mbit/s"
delay = "5 ms"
buffer = "100 ms"
queue = "fq-codel"
[[traffic]]
name = "list"
kind = "flow-list"
file = "list.csv"
"#;

/// A recording of packets without any.
const NO_PACKETS: [u8; 24] = [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0];

#[test]
fn a_file_is_not_written_over_by_its_reader() {
    let dir = tempfile::tempdir().unwrap();
    let inside = |name: &str| dir.path().join(name);
    fs::write(inside("sqm"), SQM).unwrap();
    fs::write(inside("s.toml"), LISTED).unwrap();
    fs::write(inside("list.csv"), "start, size\n0 s, 9 kB\n").unwrap();
    fs::write(inside("p.pcap"), NO_PACKETS).unwrap();
    fs::write(inside("key"), "0123456789abcdef0123456789abcdef").unwrap();
    fs::write(inside("before.json"), include_str!("../../interop/src/import/measurement/line.json")).unwrap();
    for (name, file) in [("hard.toml", "s.toml"), ("hard.pcap", "p.pcap")] {
        fs::hard_link(inside(file), inside(name)).unwrap();
    }
    let made = run(dir.path(), &["run", "s.toml", "--no-report", "--out", "r"]);
    assert_eq!(made.0, 0, "{}", made.2);
    let made = run(dir.path(), &["gate", "s.toml", "--baseline", "base.toml", "--write"]);
    assert_eq!(made.0, 0, "{}", made.2);
    let measure = "measure --server 127.0.0.1:1 --key";
    let lines = [
        ("import pcap p.pcap --flows ./p.pcap", "--flows ./p.pcap"),
        ("import pcap p.pcap --flows hard.pcap", "--flows hard.pcap"),
        ("import pcap - --flows p.pcap < p.pcap", "--flows p.pcap"),
        ("export tc s.toml --dev eth0 --out ./s.toml", "--out ./s.toml"),
        ("export tc s.toml --dev eth0 --out hard.toml", "--out hard.toml"),
        ("export tc s.toml --dev eth0 --out list.csv", "--out list.csv"),
        ("export tc - --dev eth0 --out sqm < sqm", ""),
        ("export csv r --out r/summary.json", "--out r/summary.json"),
        ("export csv r --out r/run.json", "--out r/run.json"),
        ("plot r --out r/summary.json", ""),
        (&format!("{measure} @key --json key"), "--json key"),
        (&format!("{measure} 0123456789abcdef0123456789abcdef --verify before.json --json before.json"), "--json before.json"),
        ("recommend --from before.json --json before.json", "--json before.json"),
        ("recommend --from before.json --scenario before.json", "--scenario before.json"),
        ("run s.toml --json s.toml", "--json s.toml"),
        ("run s.toml --json hard.toml", "--json hard.toml"),
        ("run s.toml --json list.csv", "--json list.csv"),
        ("compare --aqm codel,pie --rate 10mbit --traffic s.toml --json s.toml", ""),
        ("gate s.toml --baseline s.toml --write", "--baseline s.toml"),
        ("gate s.toml --baseline base.toml --json base.toml", "--json base.toml"),
    ];
    let contents = || -> Vec<Vec<u8>> {
        let files = ["sqm", "s.toml", "list.csv", "p.pcap", "key", "before.json", "base.toml", "r/summary.json", "r/run.json"];
        files.map(|name| fs::read(inside(name)).unwrap()).to_vec()
    };
    let before = contents();
    for (words, option) in lines {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("\"$GQ\" {words}")]).env("GQ", env!("CARGO_BIN_EXE_gq")).current_dir(dir.path());
        let output = shell.output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words}: {err}");
        let message = format!("error: {option}: is a file that is read: name another one\n");
        assert!(option.is_empty() || err.ends_with(&message), "{words}: {err}");
        assert!(contents() == before, "{words}");
    }
}

#[test]
fn a_named_pipe_is_no_measurement() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success());
    for words in ["import sqm pipe", "import pcap pipe", "qlog pipe", "recommend --from pipe"] {
        let (code, _, err) = run(dir.path(), &words.split(' ').collect::<Vec<_>>());
        assert_eq!(
            (code, err.as_str()),
            (2, "error: pipe: cannot be read: it is a named pipe, which may never end\n"),
            "{words}"
        );
    }
}

#[test]
fn measure_refuses_what_it_cannot_do() {
    let dir = tempfile::tempdir().unwrap();
    let key = "0123456789abcdef0123456789abcdef";
    fs::write(dir.path().join("short"), "0123\n").unwrap();
    fs::write(dir.path().join("before.json"), "{}").unwrap();
    for (words, message) in [
        ("", "--server: is missing; the host of gq measure serve"),
        ("--server ::1", "--key: is missing; gq measure serve prints it"),
        ("--server ::1 --key 0123", "--key: is no key: expected 128"),
        ("--server ::1 --key @short", "--key @short: is no key: expected 128"),
        ("--server ::1 --key @none", "none: no such file"),
        ("--server ::1:x --key KEY", "--server ::1:x: "),
        ("--server 192.0.2.1:99999 --key KEY", "--server 192.0.2.1:99999: "),
        ("--server ::1 --key KEY --verify before.json", "--verify before.json: "),
        ("--server ::1 --key KEY --json none/after.json", "--json none/after.json: "),
        ("--server ::1 --key KEY --listen ::1", "--listen: is for gq measure serve"),
        ("serve", "--listen: is missing; for instance 192.0.2.1:8018"),
        ("serve --listen ::1 --server ::1", "--server: is for gq measure without serve"),
        ("serve --listen ::1:99999", "--listen ::1:99999: "),
        ("serve --listen ::1 --key 0123", "--key: is no key: expected 128"),
        ("serve --listen ::1 --limit 5", "--limit: `5` has no unit: allowed from 1 kbit/s, for instance 100 Mbit/s"),
        ("serve --listen ::1 --limit 0mbit", "--limit: `0mbit` is too low: allowed from 1 kbit/s"),
        ("serve --listen ::1 --limit 1bit", "--limit: `1bit` is too low: allowed from 1 kbit/s"),
        // An address for documentation is none of this machine, and no key comes before that.
        ("serve --listen 192.0.2.9", "--listen 192.0.2.9: "),
    ] {
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let words: Vec<&str> = words.into_iter().map(|word| if word == "KEY" { key } else { word }).collect();
        let (code, out, err) = run(dir.path(), &[&["measure"], words.as_slice()].concat());
        assert!(code == 2 && out.is_empty() && err.starts_with(&format!("error: {message}")), "{words:?}: {code} {err}");
        assert_eq!(err.lines().count(), 1, "{words:?}: {err}");
        assert!(!err.contains("0123"), "no message repeats a key: {err}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing was written");
}

#[test]
fn measure_says_that_nobody_answers() {
    let dir = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = format!("127.0.0.1:{port}");
    let key = "0123456789abcdef0123456789abcdef";
    let words = ["measure", "--server", &server, "--key", key, "--json", "after.json"];
    let (code, out, err) = run(dir.path(), &words);
    assert!(code == 1 && out.is_empty() && err.starts_with(&format!("error: --server {server}: ")), "{code} {err}");
    assert!(!dir.path().join("after.json").exists());
}
