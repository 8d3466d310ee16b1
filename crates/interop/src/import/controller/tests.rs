use super::*;
use goodqueue_base::units::Rate;
use goodqueue_lab::scenario::plan::{Plan, Scenario};

const STORMGUARD: &str = "schema_version;timestamp_unix_ms;site;direction;queue_mbps;active_ping_rtt_ms;baseline_rtt_ms
1;1000;\"Tower;1\";download;100;22.5;20.0
1;1000;\"Tower;1\";upload;20;;20.0
1;2000;\"Tower;1\";download;100;24;21.0
1;3000;\"Tower;1\";download;80.5;80;
1;3000;Other;download;500;5;5
";

fn scenario(draft: &Draft) -> Scenario {
    let text = draft.text();
    let plan = Plan::parse_without_files("imported", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan.point(0).unwrap().plan
}

fn input(text: &str) -> Input {
    Input::read("log", text.as_bytes()).unwrap()
}

#[test]
fn a_site_of_stormguard_is_a_line_whose_rate_follows_its_queue() {
    let draft = stormguard(&input(STORMGUARD), None).unwrap();
    let found = scenario(&draft);
    let link = found.main_link();
    assert_eq!(link.down.nominal_rate(), Rate::mbit(100));
    assert!(draft.text().contains(r#"[["0 us", "100000000 bit/s"], ["2000000 us", "80500000 bit/s"]]"#), "{}", draft.text());
    assert_eq!(link.up.nominal_rate(), Rate::mbit(20));
    assert_eq!(link.down.delay + link.up.delay, Duration::ms(20));
    assert_eq!(found.name, "line of Tower;1");
    let other = stormguard(&input(STORMGUARD), Some("Other")).unwrap();
    assert_eq!(scenario(&other).main_link().down.nominal_rate(), Rate::mbit(500));
}

#[test]
fn wrong_logs_get_one_message() {
    let message = |text: &str| stormguard(&input(text), None).unwrap_err().to_string();
    assert_eq!(message(""), "log: has no column `timestamp_unix_ms`: expected the header of StormGuard's log");
    let header = "timestamp_unix_ms;site;direction;queue_mbps\n";
    assert_eq!(message(header), "log: has no rows");
    assert_eq!(message(&format!("{header}1;a;download")), "log: line 2: has 3 fields: expected 4");
    assert_eq!(message(&format!("{header}x;a;download;1")), "log: line 2: timestamp_unix_ms: `x` is not a number");
    assert_eq!(message(&format!("{header}1;a;download;NaN")), "log: has no rates: expected the log of a controller");
    let unknown = stormguard(&input(STORMGUARD), Some("x\ny")).unwrap_err().to_string();
    assert_eq!(unknown, "log: has no site `x y`: allowed Other, Tower;1");
}

#[test]
fn rows_that_are_wrong_or_out_of_order_are_counted() {
    let row = |ms: &str, mbps: &str| format!("{ms};a;down;{mbps}\n");
    let usual = "timestamp_unix_ms;site;direction;queue_mbps\n".to_owned() + &row("5000", "50") + &row("6000", "40");
    for (rows, covers, note) in [
        (row("2000", "30") + &row("3000", "20"), 3, "# 1 rows are earlier than the one before: the clock was set"),
        (row("1672531201000", "30") + &row("1672531203000", "20"), 4, "# 1 rows are more than an hour after the one before"),
        (row("7000", "-1") + &row("7100", "0") + &row("8000", "9e300"), 3, "# 3 rates are out of range: allowed 1 bit/s to"),
    ] {
        let text = stormguard(&input(&(usual.clone() + &rows)), None).unwrap().text();
        assert!(text.contains(note) && text.contains(&format!("the log covers {covers} s")), "{note}\n{text}");
        let is_whole = text.contains("30000000 bit/s") && text.contains("20000000 bit/s");
        assert!(note.contains("rates") || is_whole, "{text}");
    }
    let sideways = stormguard(&input(&(usual + "7000;a;sideways;5\n")), None).unwrap_err().to_string();
    assert_eq!(sideways, "log: line 4: direction: `sideways` is not known: allowed download, upload");
}

#[test]
fn lines_of_autorate_are_read_by_their_header() {
    let text = "SUMMARY_HEADER; LOG_DATETIME; LOG_TIMESTAMP; CAKE_DL_RATE_KBPS; CAKE_UL_RATE_KBPS
SUMMARY; 2026-01-01-00:00:00; 100.0; 20000; 5000
SUMMARY; 2026-01-01-00:00:01; 101.5; 25000; 5000
";
    let draft = autorate(&input(text)).unwrap();
    assert!(draft.text().contains(r#"[["0 us", "20000000 bit/s"], ["1500000 us", "25000000 bit/s"]]"#), "{}", draft.text());
    assert_eq!(scenario(&draft).main_link().up.nominal_rate(), Rate::mbit(5));
}

#[test]
fn lines_of_autorate_without_a_header_have_their_usual_columns() {
    let load = "LOAD; 2026-01-01-00:00:00; 100.0; 100000000; 900; 100; 20000; 5000\n";
    let draft = autorate(&input(load)).unwrap();
    assert_eq!(scenario(&draft).main_link().down.nominal_rate(), Rate::mbit(20));
    let mut data: Vec<String> = (0..33).map(|number| number.to_string()).collect();
    data[0] = "DATA".to_owned();
    (data[12], data[17], data[31], data[32]) = ("-4000".to_owned(), "34000".to_owned(), "20000".to_owned(), "5000".to_owned());
    let draft = autorate(&input(&data.join("; "))).unwrap();
    let found = scenario(&draft);
    assert_eq!(found.main_link().down.delay + found.main_link().up.delay, Duration::ms(30));
    assert_eq!(found.main_link().down.nominal_rate(), Rate::mbit(20));
}

#[test]
fn a_long_log_is_thinned() {
    let lines: String = (0..10_000).map(|n| format!("LOAD; x; {n}; 0; 0; 0; {}; 5000\n", 10_000 + n % 7)).collect();
    let draft = autorate(&input(&lines)).unwrap();
    let found = scenario(&draft);
    assert!(draft.text().len() < 200_000);
    assert_eq!(found.duration, Duration::secs(600));
}

#[test]
fn round_trips_of_nought_or_less_are_not_measured() {
    let head = "timestamp_unix_ms;site;direction;queue_mbps;baseline_rtt_ms\n";
    let none = stormguard(&input(&format!("{head}1;a;down;5;0\n1000;a;down;6;0\n")), None).unwrap().text();
    assert!(none.contains("# assumed: half of 20 ms") && none.contains("# 2 round-trip times are not above 0 s."), "{none}");
    let some = stormguard(&input(&format!("{head}1;a;down;5;0\n1000;a;down;6;24\n")), None).unwrap().text();
    assert!(some.contains("# measured: half of 24.0 ms"), "{some}");
    let data = |columns: &str, rows: &[&str]| {
        let rows: String = rows.iter().enumerate().map(|(n, row)| format!("DATA; {n}; {row}; 20000; 5000\n")).collect();
        autorate(&input(&format!("DATA_HEADER; LOG_TIMESTAMP; {columns}; CAKE_DL_RATE_KBPS; CAKE_UL_RATE_KBPS\n{rows}")))
            .unwrap()
            .text()
    };
    let none = data("RTT_US", &["0", "0"]);
    assert!(none.contains("# assumed: half of 20 ms") && none.contains("# 2 round-trip times are not above 0 s."), "{none}");
    // The difference of two clocks, which one reflector got wrong.
    let some = data("DL_OWD_US; UL_OWD_US", &["-4000; 34000", "-90000; 20000"]);
    assert!(some.contains("# measured: half of 30.0 ms") && some.contains("# 1 round-trip times are not above 0 s."), "{some}");
}
