//! Data files of flent (`.flent.gz`, versions 1 to 4 of the format) and of its predecessor
//! netperf-wrapper: rates and round-trip times under load.

use crate::import::draft::{HEADERS, buffer, filled, halves, line_rate, millis, one_line, usual_delay};
use crate::import::steps::{least, median};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way, json};
use goodqueue_base::units::{Duration, Rate};
use serde_json::Value;
use std::collections::BTreeSet;

/// Round-trip times above this are no line's, in milliseconds.
const MAX_MS: f64 = 60_000.0;

/// Rates above this are no line's, in Mbit/s.
const MAX_MBIT: f64 = 1e6;

/// The newest version of the format. The first ones had no number.
const MAX_VERSION: u64 = 4;

/// Every sample with its time, next to the series on one scale of time: most of a file.
const RAW: &[&str] = &["raw_values", "RAW_VALUES"];

/// The series of a test, on one scale of time.
struct Series<'a> {
    name: &'a str,
    values: Vec<Option<f64>>,
}

/// A line from a flent test with TCP transfers and pings.
///
/// # Errors
/// When the file is no data file of flent, or has no transfer.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let json = json::read(input, RAW)?;
    let results = json["results"].as_object().ok_or_else(|| input.fault("is no data file of flent: it has no results"))?;
    if let Some(version) = json["version"].as_u64().filter(|version| *version > MAX_VERSION) {
        return Err(input.fault(format!("version: {version} of flent's format is not read: allowed 1 to {MAX_VERSION}")));
    }
    let names: BTreeSet<&str> = results.keys().map(String::as_str).collect();
    let series: Vec<Series<'_>> = results
        .iter()
        .filter(|(name, _)| is_measured(name, &names))
        .map(|(name, values)| Series { name, values: values.as_array().into_iter().flatten().map(Value::as_f64).collect() })
        .collect();
    for one in &series {
        check_unit(input, one.name, &json["metadata"]["SERIES_META"][one.name]["UNITS"])?;
    }
    for one in series.iter().filter(|one| TRANSFERS.iter().any(|kind| one.name.starts_with(kind))) {
        if let Some(wrong) = one.values.iter().flatten().find(|mbit| !(0.0..=MAX_MBIT).contains(*mbit)) {
            return Err(input.fault(format!("{}: {wrong} is out of range: allowed 0 to {MAX_MBIT}", one_line(one.name))));
        }
    }
    let [down, up] = TRANSFERS.map(|kind| total(&series, kind));
    if down.is_none() && up.is_none() {
        return Err(input.fault("has no transfer: expected series called TCP download or TCP upload"));
    }
    // Latency while the transfers run, which is where they have values.
    let busy = |index: usize| [&down, &up].into_iter().flatten().any(|total| total.get(index).is_some_and(|rate| *rate > 0.0));
    let mut pings = Vec::new();
    for one in series.iter().filter(|one| one.name.starts_with(PING)) {
        if let Some(wrong) = one.values.iter().flatten().find(|ms| !(0.0..=MAX_MS).contains(*ms)) {
            return Err(input.fault(format!("{}: {wrong} is out of range: allowed 0 to {MAX_MS}", one_line(one.name))));
        }
        pings.extend(Ping::of(one, busy));
    }
    let delay = match least(pings.iter().map(|ping| ping.idle)) {
        Some(ms) => halves(millis(ms), &Origin::Measured(format!("half of {ms:.1} ms, the least ping of the test"))),
        None => usual_delay("the test has no pings"),
    };
    let meta = &json["metadata"]["SERIES_META"];
    let [down, up] = [(&down, TRANSFERS[0]), (&up, TRANSFERS[1])].map(|(total, kind)| {
        let (mbps, how) = mean(&series, kind, meta)
            .map(|mbps| (mbps, "sum of the means of"))
            .or_else(|| Some((middle(total.as_ref()?)?, "median of the sum of")))?;
        Some((line_rate(mbps * 1e6 * HEADERS)?, format!("{how} {kind}")))
    });
    let is_loaded_both_ways = down.is_some() && up.is_some();
    let way = |found: Option<(Rate, String)>| found.map(|(rate, why)| way(rate, &why, &pings, is_loaded_both_ways));
    let title = ["TITLE", "NAME"].map(|key| json["metadata"][key].as_str().unwrap_or_default()).join(" ");
    let ways = Way::of_line(way(down), way(up));
    let ways = ways.ok_or_else(|| input.fault("has no transfer that carried anything"))?;
    let note = "A test of the line does not tell which queue it has: the buffers hold for a queue without management.";
    let name = one_line(&format!("flent {}", title.trim()));
    Ok(Draft { notes: vec![note.to_owned()], ..Draft::new(name, "flent", input, delay, ways) })
}

/// Round-trip times to one host, in milliseconds: hosts are at different distances, and only each
/// of them tells how much the line adds.
struct Ping {
    idle: f64,
    /// The median under load.
    loaded: Option<f64>,
}

impl Ping {
    fn of(series: &Series<'_>, busy: impl Fn(usize) -> bool) -> Option<Self> {
        let under_load = series.values.iter().enumerate().filter(|(index, _)| busy(*index)).filter_map(|(_, ms)| *ms);
        Some(Self { idle: least(series.values.iter().flatten().copied())?, loaded: median(under_load.collect()) })
    }

    fn rise(&self) -> Option<f64> {
        self.loaded.map(|loaded| loaded - self.idle)
    }
}

/// Names of the series that are used begin so.
const PING: &str = "Ping (ms)";
const TRANSFERS: [&str; 2] = ["TCP download", "TCP upload"];

/// Refuses a series in another unit, where the file tells units.
fn check_unit(input: &Input, name: &str, unit: &Value) -> Result<(), ImportError> {
    let is_transfer = TRANSFERS.iter().any(|kind| name.starts_with(kind));
    let expected = if is_transfer { "Mbits/s" } else { "ms" };
    match unit.as_str() {
        Some(unit) if unit != expected && (is_transfer || name.starts_with(PING)) => {
            Err(input.fault(format!("{}: `{}` is not its unit: expected {expected}", one_line(name), one_line(unit))))
        }
        _ => Ok(()),
    }
}

/// Whether it is a series of its own, and no sum, mean or detail of another one.
fn is_measured(name: &str, all: &BTreeSet<&str>) -> bool {
    let first = name.split("::").next().unwrap_or_default();
    let is_derived = ["sum", "avg", "total", "totals", "fairness"].iter().any(|word| first.ends_with(word));
    // `TCP upload::1` is a transfer; `TCP upload::1::tcp_cwnd` and `TCP upload BE::tcp_rtt` are
    // what the kernel said of one.
    let is_detail = name
        .rsplit_once("::")
        .is_some_and(|(owner, last)| owner.contains("::") || last.starts_with("tcp_") || all.contains(owner));
    !is_derived && !is_detail
}

/// The sum of all transfers of a direction over time, in Mbit/s; `None` when there are none.
fn total(series: &[Series<'_>], direction: &str) -> Option<Vec<f64>> {
    let mut sum: Vec<f64> = Vec::new();
    let mut found = false;
    for one in series.iter().filter(|one| one.name.starts_with(direction)) {
        found = true;
        sum.resize(sum.len().max(one.values.len()), 0.0);
        for (total, value) in sum.iter_mut().zip(without_gaps(&one.values)) {
            *total += value;
        }
    }
    found.then_some(sum)
}

/// The rate of a transfer at each step. A slow transfer has no value in most steps: each one that
/// it has is a mean since the one before.
fn without_gaps(values: &[Option<f64>]) -> Vec<f64> {
    let begin = values.iter().position(Option::is_some).unwrap_or(values.len());
    let mut next = 0.0;
    let mut rates: Vec<f64> = values
        .iter()
        .enumerate()
        .rev()
        .map(|(index, value)| {
            next = value.unwrap_or(next);
            if index < begin { 0.0 } else { next }
        })
        .collect();
    rates.reverse();
    rates
}

/// The sum of what flent has as the mean of each transfer of a direction, from its first byte to
/// its last; `None` where it has none of one.
fn mean(series: &[Series<'_>], direction: &str, meta: &Value) -> Option<f64> {
    let transfers = series.iter().filter(|one| one.name.starts_with(direction));
    let means: Option<Vec<f64>> = transfers.map(|one| meta[one.name]["MEAN_VALUE"].as_f64()).collect();
    Some(means?.iter().sum()).filter(|sum| *sum > 0.0)
}

/// The median over the time in which anything was carried.
fn middle(total: &[f64]) -> Option<f64> {
    median(total.iter().copied().filter(|rate| *rate > 0.0).collect())
}

fn way(rate: Rate, why: &str, pings: &[Ping], both: bool) -> Way {
    let held = match median(pings.iter().filter_map(Ping::rise).collect()) {
        Some(rise) => {
            // With both directions loaded, a ping waits in both buffers.
            let (share, halved) = if both { (2.0, ", half of it for each direction") } else { (1.0, "") };
            let rose = match pings {
                [Ping { idle, loaded: Some(loaded) }] => format!("{loaded:.1} ms of ping under load less {idle:.1} ms"),
                several => format!("pings rose by {rise:.1} ms under load, the median of {} series", several.len()),
            };
            filled(rise, share, rate, format!("{rose}{halved}"))
        }
        None => buffer(Duration::ms(100), rate, Origin::Assumed("the test has no pings".to_owned())),
    };
    let why = format!("{why}, and 1500/1448 of it with headers");
    Way::unmanaged(Cited::bit_s(rate, Origin::Measured(why)), rate, held, "a test does not tell the queue")
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_lab::scenario::plan::Plan;

    const FILE: &str = r#"{"version":4,"metadata":{"NAME":"rrul_be","TITLE":"my \u001bline"},"x_values":[0,1,2,3],
      "results":{"TCP download BE":[null,20.0,24.0,24.0],"TCP download BE2":[null,24.0,24.0,24.0],"TCP download sum":[null,44,48,48],
      "TCP download::1::tcp_cwnd":[1,2,3,4],"TCP upload BE":[null,10.0,9.0,9.0],"Ping (ms) ICMP":[20.0,100.0,120.0,140.0],"Ping (ms) avg":[20,1,1,1]}}"#;

    fn read(text: &str) -> Result<Draft, ImportError> {
        import(&Input::read("x.flent", text.as_bytes()).unwrap())
    }

    #[test]
    fn transfers_and_pings_are_a_line() {
        let text = read(FILE).unwrap().text();
        let plan = Plan::parse_without_files("imported", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scenario = plan.point(0).unwrap().plan;
        let link = scenario.main_link();
        // 48 and 9 Mbit/s of payload.
        assert_eq!(link.down.nominal_rate().as_bit_s(), 49_723_757);
        assert_eq!(link.up.nominal_rate().as_bit_s(), 9_323_204);
        assert_eq!(link.down.delay + link.up.delay, Duration::ms(20));
        // A median of 120 ms under load: 50 ms in each of two buffers.
        assert!(text.contains("buffer = \"50 ms\""), "{text}");
        assert!(!text.contains('\u{1b}'));
    }

    /// Rates down and up in bit/s, and the text.
    fn rates(results: &str) -> (u64, u64, String) {
        let text = read(&format!(r#"{{"results":{{{results}}}}}"#)).unwrap().text();
        let plan = Plan::parse_without_files("imported", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let scenario = plan.point(0).unwrap().plan;
        let link = scenario.main_link();
        (link.down.nominal_rate().as_bit_s(), link.up.nominal_rate().as_bit_s(), text)
    }

    #[test]
    fn figures_of_sockets_are_no_transfers() {
        let sockets = r#""TCP upload BE":[4,4],"TCP upload BE::tcp_rtt":[60,60],"TCP upload BE::tcp_delivery_rate":[4,4],
          "TCP upload EF::tcp_cwnd":[9,9],"TCP download::1":[30,30],"TCP download::2":[20,20],
          "TCP download::1::tcp_rtt":[80,80]"#;
        let (down, up, _) = rates(sockets);
        // 50 and 4 Mbit/s of payload.
        assert_eq!((down, up), (51_795_580, 4_143_646));
        // Hosts have names: a transfer to one of them is no detail of another.
        let (down, ..) = rates(r#""TCP download::near":[3,3],"TCP download::far":[2,2]"#);
        assert_eq!(down, 5_179_558);
    }

    #[test]
    fn steps_without_a_sample_do_not_slow_a_transfer() {
        // Two transfers of 3 and 6 Mbit/s, of which one step has one sample at most.
        let (down, ..) = rates(
            r#""TCP download::1":[null,null,3,null,null,3,null,3,null,null],
               "TCP download::2":[null,6,null,null,6,null,6,null,6,null]"#,
        );
        assert_eq!(down, 9_323_204);
    }

    #[test]
    fn hosts_at_different_distances_rise_each_by_itself() {
        let load = r#""TCP upload":[null,8,8,8]"#;
        let (_, _, text) =
            rates(&format!(r#"{load},"Ping (ms) near":[12,12.4,12.4,12.4],"Ping (ms) far":[150,150.3,150.3,150.3]"#));
        assert!(text.contains("10 ms") && text.contains("# assumed: latency did not rise under load"), "{text}");
        let (_, _, text) = rates(&format!(r#"{load},"Ping (ms) near":[12,92,92,92],"Ping (ms) far":[150,230,230,230]"#));
        assert!(text.contains("buffer_up = \"80 ms\""), "{text}");
        assert!(text.contains("# estimated: pings rose by 80.0 ms under load, the median of 2 series"), "{text}");
    }

    #[test]
    fn what_is_no_test_is_refused() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message("{}"), "x.flent: is no data file of flent: it has no results");
        assert_eq!(message(r#"{"results":{}}"#), "x.flent: has no transfer: expected series called TCP download or TCP upload");
        assert_eq!(message(r#"{"results":{"TCP upload":[null,0]}}"#), "x.flent: has no transfer that carried anything");
        let newer = message(r#"{"version":5,"results":{"TCP upload":[1]}}"#);
        assert_eq!(newer, "x.flent: version: 5 of flent's format is not read: allowed 1 to 4");
        let unit = r#"{"results":{"TCP upload":[1]},"metadata":{"SERIES_META":{"TCP upload":{"UNITS":"Kbits/s"}}}}"#;
        assert_eq!(message(unit), "x.flent: TCP upload: `Kbits/s` is not its unit: expected Mbits/s");
        let below = r#"{"results":{"TCP download":[5,-5]}}"#;
        assert_eq!(message(below), "x.flent: TCP download: -5 is out of range: allowed 0 to 1000000");
        let far = r#"{"results":{"TCP upload":[1],"Ping (ms) ICMP":[-3]}}"#;
        assert_eq!(message(far), "x.flent: Ping (ms) ICMP: -3 is out of range: allowed 0 to 60000");
    }
}
