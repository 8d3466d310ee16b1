//! Data files of flent (`.flent.gz`, version 4 of the format): rates and round-trip times under
//! load.

use crate::import::draft::{HEADERS, buffer, halves, line_rate, millis, one_line, usual_delay};
use crate::import::steps::{least, median};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use goodqueue_base::units::{Duration, Rate};
use serde_json::Value;

/// Round-trip times above this are no line's, in milliseconds.
const MAX_MS: f64 = 60_000.0;

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
    let json = input.json()?;
    let results = json["results"].as_object().ok_or_else(|| input.fault("is no data file of flent: it has no results"))?;
    let series: Vec<Series<'_>> = results
        .iter()
        .map(|(name, values)| Series { name, values: values.as_array().into_iter().flatten().map(Value::as_f64).collect() })
        .collect();
    let (down, up) = (total(&series, "TCP download"), total(&series, "TCP upload"));
    if down.is_none() && up.is_none() {
        return Err(input.fault("has no transfer: expected series called TCP download or TCP upload"));
    }
    let pings: Vec<&Series<'_>> =
        series.iter().filter(|series| series.name.starts_with("Ping (ms)") && is_measured(series.name)).collect();
    let all: Vec<f64> = pings.iter().flat_map(|series| series.values.iter().flatten().copied()).collect();
    if let Some(wrong) = all.iter().find(|ms| !(0.0..=MAX_MS).contains(*ms)) {
        return Err(input.fault(format!("Ping (ms): {wrong} is out of range: allowed 0 to {MAX_MS}")));
    }
    let idle = least(all.iter().copied());
    // Latency while the transfers run, which is where they have values.
    let busy = |index: usize| [&down, &up].into_iter().flatten().any(|total| total.get(index).is_some_and(|rate| *rate > 0.0));
    let loaded = pings
        .iter()
        .flat_map(|series| series.values.iter().enumerate().filter(|(index, _)| busy(*index)).filter_map(|(_, ms)| *ms));
    let loaded = median(loaded.collect());
    let (rtt, delay) = match idle {
        Some(ms) => (ms, halves(millis(ms), &Origin::Measured(format!("half of {ms:.1} ms, the least ping of the test")))),
        None => (20.0, usual_delay("the test has no pings")),
    };
    let rates = [&down, &up].map(|total| total.as_ref().and_then(|total| rate(total)));
    let is_loaded_both_ways = rates[0].is_some() && rates[1].is_some();
    let way = |rate: Option<Rate>, name: &str| rate.map(|rate| way(rate, name, rtt, loaded, is_loaded_both_ways));
    let title = ["TITLE", "NAME"].map(|key| json["metadata"][key].as_str().unwrap_or_default()).join(" ");
    let ways = Way::of_line(way(rates[0], "TCP download"), way(rates[1], "TCP upload"));
    let ways = ways.ok_or_else(|| input.fault("has no transfer that carried anything"))?;
    let note = "A test of the line does not tell which queue it has: the buffers hold for a queue without management.";
    let name = one_line(&format!("flent {}", title.trim()));
    Ok(Draft { notes: vec![note.to_owned()], ..Draft::new(name, "flent", input, delay, ways) })
}

/// Whether it is a series of its own, and no sum, mean or detail of other series.
fn is_measured(name: &str) -> bool {
    let mut parts = name.split("::");
    let first = parts.next().unwrap_or_default();
    let is_derived = ["sum", "avg", "totals", "fairness"].iter().any(|word| first.ends_with(word));
    // `TCP upload::1` is a transfer, `TCP upload::1::tcp_cwnd` a detail of one.
    !is_derived && parts.nth(1).is_none()
}

/// The sum of all transfers of a direction over time, in Mbit/s; `None` when there are none.
fn total(series: &[Series<'_>], direction: &str) -> Option<Vec<f64>> {
    let mut sum: Vec<f64> = Vec::new();
    let mut found = false;
    for one in series.iter().filter(|one| one.name.starts_with(direction) && is_measured(one.name)) {
        found = true;
        sum.resize(sum.len().max(one.values.len()), 0.0);
        for (total, value) in sum.iter_mut().zip(&one.values) {
            *total += value.unwrap_or(0.0);
        }
    }
    found.then_some(sum)
}

/// The line's rate: the median over the time in which anything was carried.
fn rate(total: &[f64]) -> Option<Rate> {
    let mbps = median(total.iter().copied().filter(|rate| *rate > 0.0).collect())?;
    line_rate(mbps * 1e6 * HEADERS)
}

fn way(rate: Rate, name: &str, idle: f64, loaded: Option<f64>, both: bool) -> Way {
    let held = match loaded {
        // With both directions loaded, a ping waits in both buffers.
        Some(loaded) if loaded - idle >= 1.0 => {
            let share = if both { 2.0 } else { 1.0 };
            let halved = if both { ", half of it for each direction" } else { "" };
            let why = format!("{loaded:.1} ms of ping under load less {idle:.1} ms{halved}");
            buffer(millis(((loaded - idle) / share).max(1.0)), rate, Origin::Estimated(why))
        }
        Some(_) => {
            buffer(Duration::ms(10), rate, Origin::Assumed("pings did not rise under load: the queue was kept short".to_owned()))
        }
        None => buffer(Duration::ms(100), rate, Origin::Assumed("the test has no pings".to_owned())),
    };
    let why = format!("median of the sum of {name}, and 1500/1448 of it with headers");
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

    #[test]
    fn what_is_no_test_is_refused() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(message("{}"), "x.flent: is no data file of flent: it has no results");
        assert_eq!(message(r#"{"results":{}}"#), "x.flent: has no transfer: expected series called TCP download or TCP upload");
        assert_eq!(message(r#"{"results":{"TCP upload":[null,0]}}"#), "x.flent: has no transfer that carried anything");
        let far = r#"{"results":{"TCP upload":[1],"Ping (ms) ICMP":[-3]}}"#;
        assert_eq!(message(far), "x.flent: Ping (ms): -3 is out of range: allowed 0 to 60000");
    }
}
