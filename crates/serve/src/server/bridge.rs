//! The monitor: what a running `gq bridge` says on its control socket, once per second, for as many
//! pages as care.
//!
//! The bridge may end and start again: then the socket is opened again, and pages are told that it
//! was gone and is back.

use crate::server::stream::Publisher;
use crate::session::ApiError;
use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

/// From one reading to the next.
const PERIOD: Duration = Duration::from_secs(1);
/// Time that the bridge may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// A longer answer is none of a bridge's.
const MAX_ANSWER: usize = 1 << 20;
/// The bridge takes no longer line.
const MAX_LINE: usize = 4000;

/// Watches one bridge.
pub struct Monitor {
    socket: Arc<PathBuf>,
    publisher: Arc<Publisher>,
}

impl Monitor {
    /// Begins to watch, on the present runtime.
    pub fn start(socket: PathBuf) -> Self {
        let (socket, publisher) = (Arc::new(socket), Arc::new(Publisher::default()));
        tokio::spawn(watch(Arc::clone(&socket), Arc::clone(&publisher)));
        Self { socket, publisher }
    }

    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Passes a command on and gives the bridge's answer.
    pub async fn order(&self, line: &str) -> Result<Value, ApiError> {
        if line.is_empty() || line.len() > MAX_LINE || line.contains(|c: char| c.is_control()) {
            return Err(ApiError::field("line", format!("allowed one line of 1 to {MAX_LINE} characters")));
        }
        let answer = ask(&self.socket, line).await.map_err(|error| ApiError::new(StatusCode::BAD_GATEWAY, error.to_string()))?;
        match answer["error"].as_str() {
            Some(error) => Err(ApiError::unprocessable(error)),
            None => Ok(answer),
        }
    }
}

/// Why a bridge has no answer that can be shown.
#[derive(Debug, thiserror::Error)]
enum BridgeError {
    #[error("the bridge cannot be reached: {0}")]
    Unreachable(#[from] io::Error),
    #[error("the bridge does not answer")]
    Late,
    #[error("the bridge answers with something else than JSON")]
    NotJson,
    #[error("the bridge gives no figures")]
    NoFigures,
}

#[cfg(unix)]
async fn connect(socket: &Path) -> io::Result<tokio::net::UnixStream> {
    tokio::net::UnixStream::connect(socket).await
}

#[cfg(not(unix))]
async fn connect(_: &Path) -> io::Result<tokio::io::Empty> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "bridges run on Linux only"))
}

/// One line to the bridge, one line of JSON back.
async fn ask(socket: &Path, line: &str) -> Result<Value, BridgeError> {
    let talk = async {
        let mut stream = connect(socket).await?;
        stream.write_all(format!("{line}\n").as_bytes()).await?;
        let mut answer = String::new();
        BufReader::new(stream.take(MAX_ANSWER as u64)).read_line(&mut answer).await?;
        io::Result::Ok(answer)
    };
    let answer = timeout(ANSWER_TIMEOUT, talk).await.map_err(|_| BridgeError::Late)??;
    serde_json::from_str(&answer).map_err(|_| BridgeError::NotJson)
}

async fn watch(socket: Arc<PathBuf>, publisher: Arc<Publisher>) {
    let mut ticks = interval(PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let begun = Instant::now();
    let mut before: Option<(Instant, Value)> = None;
    let mut gone = false;
    loop {
        ticks.tick().await;
        match ask(&socket, "stats").await {
            Ok(qdiscs) if qdiscs.is_array() => {
                if gone {
                    gone = false;
                    before = None;
                    publisher.publish("back", &json!({}));
                }
                let now = Instant::now();
                let last = before.as_ref().map(|(at, values)| (now.duration_since(*at).as_secs_f64(), values));
                publisher.publish("stats", &stats(begun.elapsed().as_secs_f64(), &qdiscs, last));
                before = Some((now, qdiscs));
            }
            answer => {
                let error = answer.err().unwrap_or(BridgeError::NoFigures);
                gone = true;
                publisher.publish("gone", &json!({ "message": error.to_string() }));
            }
        }
    }
}

/// Returns the statistics of both directions; `before` has the values of an earlier answer, and the
/// seconds since then.
fn stats(t: f64, qdiscs: &Value, before: Option<(f64, &Value)>) -> Value {
    let names = ["down", "up"];
    let all = qdiscs.as_array().map(Vec::as_slice).unwrap_or_default();
    let directions = all.iter().zip(names).enumerate().map(|(number, (now, name))| {
        let before = before.and_then(|(span, values)| Some((span, values.get(number)?)));
        direction(name, now, before)
    });
    json!({ "t": t, "directions": directions.collect::<Vec<_>>() })
}

/// Fields that say what a queue is rather than what it counts.
const COUNTERS: [(&str, &str); 14] = [
    ("sent_bytes", "bytes"),
    ("sent_packets", "packets"),
    ("dropped", "drops"),
    ("overlimits", "overlimits"),
    ("requeues", "requeues"),
    ("backlog_bytes", "backlog"),
    ("backlog_packets", "qlen"),
    ("marked", "ecn_mark"),
    ("stalls", "stalls"),
    ("malformed", "malformed"),
    ("ring_overflows", "ring_overflows"),
    ("no_buffer", "no_buffer"),
    ("oversize", "oversize"),
    ("send_failures", "send_failures"),
];
const OTHERS: [&str; 4] = ["drop_overlimit", "outages", "handle", "root"];

fn direction(name: &str, now: &Value, before: Option<(f64, &Value)>) -> Value {
    let number = |value: &Value, field: &str| value[field].as_f64();
    let counters: Map<String, Value> =
        COUNTERS.iter().filter_map(|(ours, theirs)| Some(((*ours).to_owned(), json!(number(now, theirs)?)))).collect();
    let known = |field: &str| OTHERS.contains(&field) || COUNTERS.iter().any(|(_, theirs)| *theirs == field);
    let gauges: Map<String, Value> = now
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(field, value)| value.is_number() && !known(field))
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    // Times of the packets that left lately; without any there is nothing to say.
    let seconds = |field: &str| number(&now["recent_sojourn_us"], field).map(|micros| micros * 1e-6);
    let sojourn = seconds("mean");
    let sojourn = sojourn.map(|mean| json!({ "mean": mean, "p95": seconds("p95"), "max": seconds("max") }));
    let throughput = before.and_then(|(span, before)| {
        let more = number(now, "bytes")? - number(before, "bytes")?;
        (span > 0.0).then(|| (more * 8.0 / span).max(0.0))
    });
    let flows = now["flows"].as_array().cloned().unwrap_or_default();
    json!({
        "name": name,
        "device": now["dev"],
        "aqm": now["kind"].as_str().unwrap_or_default().replace('_', "-"),
        "rate_bit_s": now["options"]["rate"].as_f64().map_or(0.0, |bytes| bytes * 8.0),
        "settings": {
            "aqm": now["options"]["aqm"],
            "policy": now["options"]["policy"],
            "delay_s": number(&now["options"], "delay").map(|micros| micros * 1e-6),
        },
        "counters": counters,
        "sojourn_s": sojourn,
        "throughput_bit_s": throughput.unwrap_or(0.0),
        "gauges": gauges,
        "flows": flows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qdisc(bytes: u64) -> Value {
        json!({
            "kind": "fq_codel", "dev": "b", "options": { "rate": 1_250_000, "delay": 5000, "aqm": "fq-codel:target=10ms", "policy": null }, "bytes": bytes, "packets": 10, "drops": 1, "overlimits": 0,
            "requeues": 0, "backlog": 3000, "qlen": 2, "ecn_mark": 4, "recent_sojourn_us": { "mean": 1500, "p95": 4000, "max": 9000 }, "new_flows": 2.0,
            "stalls": 0,
        })
    }

    #[test]
    fn figures_are_those_of_tc_in_si_units() {
        let (before, now) = (json!([qdisc(1000), qdisc(0)]), json!([qdisc(126_000), qdisc(0)]));
        let shown = stats(3.0, &now, Some((1.0, &before)));
        let down = &shown["directions"][0];
        assert_eq!(
            (&down["aqm"], &down["rate_bit_s"], &down["throughput_bit_s"]),
            (&json!("fq-codel"), &json!(1e7), &json!(1e6))
        );
        assert_eq!((&down["counters"]["dropped"], &down["counters"]["marked"]), (&json!(1.0), &json!(4.0)));
        assert_eq!((&down["sojourn_s"]["p95"], &down["gauges"]), (&json!(0.004), &json!({ "new_flows": 2.0 })));
        assert_eq!(down["settings"], json!({ "aqm": "fq-codel:target=10ms", "policy": null, "delay_s": 0.005 }));
        assert_eq!(shown["directions"][1]["name"], "up");
    }
}
