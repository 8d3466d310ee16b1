use super::*;
use goodqueue_lab::scenario::plan::Plan;

/// As Ookla's CLI writes it; figures of our own.
const OOKLA: &str = r#"{"type":"result","timestamp":"2026-03-01T10:00:00Z",
  "ping":{"jitter":0.4,"latency":18.0,"low":17.5,"high":19.2},
  "download":{"bandwidth":6000000,"bytes":60000000,"elapsed":10000,"latency":{"iqm":98.0,"low":20.0,"high":180.0,"jitter":9.0}},
  "upload":{"bandwidth":1200000,"bytes":9000000,"elapsed":7500,"latency":{"iqm":418.0,"low":19.0,"high":600.0,"jitter":60.0}},
  "packetLoss":0,"isp":"Example \"DSL\"\nLtd"}"#;

fn imported(text: &str) -> String {
    import(&Input::read("test.json", text.as_bytes()).unwrap()).unwrap().text()
}

fn refusal(text: &str) -> String {
    import(&Input::read("test.json", text.as_bytes()).unwrap()).unwrap_err().to_string()
}

fn plan(text: &str) -> goodqueue_lab::scenario::plan::Scenario {
    let plan = Plan::parse_without_files("imported", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan.point(0).unwrap().plan
}

#[test]
fn a_test_with_loaded_latency_is_a_line_with_two_directions() {
    let text = imported(OOKLA);
    let scenario = plan(&text);
    let link = scenario.main_link();
    // 48 Mbit/s of payload are 49.72 Mbit/s of IP packets.
    assert_eq!(link.down.nominal_rate(), Rate::kbit(49_720));
    assert_eq!(link.up.nominal_rate(), Rate::kbit(9_945));
    assert_eq!(link.down.delay + link.up.delay, Duration::ms(18));
    // 80 ms at 49.72 Mbit/s, 400 ms at 9.945 Mbit/s.
    assert_eq!(link.down.queue.as_ref().unwrap().limit.bytes.get(), 497_200);
    assert_eq!(link.up.queue.as_ref().unwrap().limit.bytes.get(), 497_250);
    assert!(text.contains("# measured: download.bandwidth, 6000000 B/s of payload"), "{text}");
    assert!(text.contains("# estimated: upload.latency.iqm, 418.0 ms under load, less 18.0 ms idle"), "{text}");
    assert!(scenario.name.contains("Example"), "{}", scenario.name);
}

#[test]
fn round_trips_per_minute_are_a_latency() {
    let text = imported(
        r#"{"base_rtt":20,"dl_throughput":100000000,"ul_throughput":20000000,"dl_responsiveness":600,"ul_responsiveness":100}"#,
    );
    let scenario = plan(&text);
    // 100 ms less 20 ms at 103.6 Mbit/s.
    assert_eq!(scenario.main_link().down.queue.as_ref().unwrap().limit.bytes.get(), 1_036_000);
    // One figure for both directions, from a test that loads them at once.
    let both = imported(r#"{"base_rtt":20,"dl_throughput":100000000,"ul_throughput":20000000,"responsiveness":600}"#);
    assert!(both.contains("60 s / responsiveness"), "{both}");
}

#[test]
fn latency_that_did_not_rise_tells_no_buffer() {
    let text =
        imported(r#"{"base_rtt":24.5,"dl_throughput":3e8,"ul_throughput":4e7,"dl_responsiveness":800,"ul_responsiveness":4000}"#);
    plan(&text);
    // 75 ms down; up 15 ms, less than the idle line.
    assert!(text.contains("buffer = \"50.5 ms\""), "{text}");
    assert!(text.contains("buffer_up = \"10 ms\"") && text.contains("# assumed: latency did not rise under load"), "{text}");
}

/// As LibreSpeed's CLI writes it; figures of our own.
const LIBRESPEED: &str = r#"{"timestamp":"2026-04-02T08:00:00Z","server":{"name":"Example"},"bytes_sent":25000000,
  "bytes_received":62500000,"ping":9.5,"jitter":0.7,"upload":20.0,"download":50.0}"#;

#[test]
fn rates_of_librespeed_are_in_mbit() {
    let by_itself = imported(LIBRESPEED);
    assert!(by_itself.contains("# measured: download, 50 Mbit/s of payload"), "{by_itself}");
    let link = plan(&by_itself).main_link().clone();
    assert_eq!((link.down.nominal_rate(), link.up.nominal_rate()), (Rate::kbit(51_800), Rate::kbit(20_720)));
    // Newer versions write a list, and the bytes tell the unit where the tool does not.
    let listed = imported(&format!("[{{\"download\":1.0,\"upload\":1.0}},{LIBRESPEED}]"));
    assert!(listed.contains("rate = \"51.8 Mbit/s\"") && listed.contains("# The file has 2 results"), "{listed}");
    let older = imported(&LIBRESPEED.replace("\"jitter\":0.7,", ""));
    assert!(older.contains("rate = \"51.8 Mbit/s\""), "{older}");
    let other = imported(r#"{"bytes_sent":25000000,"bytes_received":62500000,"ping":9.5,"upload":2e7,"download":5e7}"#);
    assert!(other.contains("(speedtest-cli)") && other.contains("rate = \"51.8 Mbit/s\""), "{other}");
}

#[test]
fn what_a_test_lacks_is_assumed_and_said() {
    let text = imported(r#"{"download":50000000.5,"upload":10000000,"ping":null}"#);
    plan(&text);
    assert!(text.contains("# assumed: half of 20 ms: the test has no idle latency"), "{text}");
    assert!(text.contains("# assumed: the test has no latency under load"), "{text}");
}

#[test]
fn wrong_files_get_one_message() {
    for (text, message) in [
        ("", "test.json: is not JSON: EOF while parsing a value at line 1 column 0"),
        ("[]", "test.json: is not the result of a known speed test"),
        (r#"{"download":{"bandwidth":1e400}}"#, "test.json: is not JSON: number out of range"),
        (
            r#"{"download":{"bandwidth":-5}}"#,
            "test.json: download.bandwidth: -40 bit/s is out of range: allowed 1 kbit/s to 1000 Gbit/s",
        ),
        (r#"{"download":{"bandwidth":1e6}}"#, "test.json: upload.bandwidth: is missing"),
        (
            r#"{"download":{"bandwidth":1e6},"upload":{"bandwidth":"fast\u001b[2J"}}"#,
            "test.json: upload.bandwidth: `\"fast\\u001b[2J\"` is not a number",
        ),
        (
            r#"{"dl_throughput":1e6,"ul_throughput":1e6,"dl_responsiveness":0}"#,
            "test.json: dl_responsiveness: 0 is out of range: allowed 1 round trip a minute and more",
        ),
        (
            r#"{"dl_throughput":1e6,"ul_throughput":1e6,"base_rtt":1e9}"#,
            "test.json: base_rtt: 1000000000 ms is out of range: allowed 0 to 60000 ms",
        ),
    ] {
        let found = refusal(text);
        assert!(found.starts_with(message), "{text}: {found}");
        assert!(!found.contains('\n'), "{found}");
    }
}
