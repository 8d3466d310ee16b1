//! Connections recorded as qlog: their figures, and a line on which they could have run.
//!
//! Read are both forms of draft-ietf-quic-qlog-main-schema-14, one JSON document or a sequence of
//! JSON texts (RFC 7464, or one on each line), and those of its drafts since the first of 2019, in
//! which events are lists and times may be in microseconds. Events are those of QUIC as the drafts
//! have named them: `packet_sent`, `packet_received`, `packet_lost`, `packet_dropped`, and
//! `recovery_metrics_updated` or `metrics_updated`. Everything else is passed over.

mod acked;
mod events;

use crate::import::draft::{buffer, halves, usual_delay};
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use events::{Event, Vantage, read};
use goodqueue_base::units::{Duration, Rate};

/// Figures of a recorded connection, or of one direction of it: the one with more data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connection {
    /// The title in the file.
    pub title: String,
    /// From the first packet with data to the last, in seconds.
    pub seconds: f64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// The number of these packets.
    pub packets: u64,
    /// Packets that the sender took for lost, or that the queue dropped where the file is that of a
    /// network.
    pub lost: u64,
    /// Smoothed round-trip time in seconds: least, median and 95th percentile over time.
    pub rtt_s: Option<[f64; 3]>,
    /// Congestion window in bytes, mean over time.
    pub window: Option<f64>,
    /// Bytes in flight, mean over time.
    pub in_flight: Option<f64>,
    /// Bytes of the line for each second, and the events that tell them.
    line: (f64, Basis),
    /// The number of traces in the file.
    traces: usize,
    /// Events whose time is none, and packets whose length is none.
    left_out: [usize; 2],
    /// Remarks on steps of the clock.
    steps: Vec<String>,
}

/// The events that tell the rate of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Basis {
    /// Packets that left: more than arrive, for as long as a queue grows.
    #[default]
    Sent,
    Acknowledged,
    Received,
}

/// Shorter connections tell no rate.
const MIN_SECONDS: f64 = 0.01;

/// Parts of the time of which the busiest counts as the line's rate.
const PARTS: f64 = 10.0;
/// Less than this is the length of a burst, and no part.
const MIN_PART: f64 = 0.1;
/// Packets so soon after the first left with it.
const BURST: f64 = 1e-3;
/// No path has a longer round trip, in seconds.
const MAX_RTT: f64 = 60.0;

impl Connection {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is no qlog, or has no packets.
    pub fn read(input: &Input) -> Result<Self, ImportError> {
        let recorded = read(input)?;
        let events = &recorded.events;
        let sent = timed(events, |event| if let Event::Sent(bytes) = event { Some(*bytes) } else { None });
        let received = timed(events, |event| if let Event::Received(bytes) = event { Some(*bytes) } else { None });
        let total = |packets: &[(f64, u64)]| packets.iter().map(|(_, bytes)| bytes).sum::<u64>();
        // Packets that arrive at a queue were sent by the sender; at an end, the direction with
        // more bytes counts.
        let (data, basis) = match recorded.vantage {
            Vantage::Network => (received, Basis::Received),
            Vantage::End if total(&received) > total(&sent) => (received, Basis::Received),
            Vantage::End => (sent, Basis::Sent),
        };
        let (Some((first, _)), Some((last, _))) = (data.first(), data.last()) else {
            return Err(input.fault(match recorded.without_length {
                0 => "has no packet_sent or packet_received".to_owned(),
                count => {
                    format!("has {count} packet_sent or packet_received, none with a length (raw.length, header.packet_size)")
                }
            }));
        };
        let seconds = last - first;
        let lost = events.iter().filter(|(_, event)| *event == Event::Lost).count() as u64;
        let acked = timed(events, |event| if let Event::Acked(bytes) = event { Some(*bytes) } else { None });
        let line = match basis {
            Basis::Sent if total(&acked) > total(&data) / 2 && span(&acked) >= MIN_SECONDS => {
                // Acknowledgements that were held up come at once; no line delivers faster than was
                // sent.
                (busiest(&acked).min(busiest(&data)), Basis::Acknowledged)
            }
            Basis::Sent => (mean_rate(&data) * (1.0 - lost as f64 / data.len() as f64).max(0.0), basis),
            _ => (busiest(&data), basis),
        };
        let rtt = timed(events, |event| if let Event::Metrics { rtt_s, .. } = event { *rtt_s } else { None });
        let window = timed(events, |event| if let Event::Metrics { window, .. } = event { *window } else { None });
        let in_flight = timed(events, |event| if let Event::Metrics { in_flight, .. } = event { *in_flight } else { None });
        Ok(Self {
            seconds,
            bytes: total(&data),
            packets: data.len() as u64,
            lost,
            rtt_s: over_time(&rtt, *last).map(|shares| [0.0, 0.5, 0.95].map(|part| quantile(&shares, part))),
            window: over_time(&window, *last).map(|shares| mean(&shares)),
            in_flight: over_time(&in_flight, *last).map(|shares| mean(&shares)),
            line,
            steps: recorded.steps,
            traces: recorded.traces,
            left_out: [recorded.without_time, recorded.without_length],
            title: recorded.title,
        })
    }

    /// Bits per second from the first packet to the last.
    #[must_use]
    pub fn rate_bit_s(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.bytes as f64 * 8.0 / self.seconds)
    }

    /// Share of the packets that were lost.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.lost as f64 / self.packets.max(1) as f64
    }
}

/// Seconds from the first to the last.
fn span(data: &[(f64, u64)]) -> f64 {
    data.first().zip(data.last()).map_or(0.0, |((first, _), (last, _))| last - first)
}

/// Bytes in a second after the first burst, in the mean.
fn mean_rate(data: &[(f64, u64)]) -> f64 {
    let begin = data.first().map_or(0.0, |(at, _)| at + BURST);
    let later: u64 = data.iter().filter(|(at, _)| *at >= begin).map(|(_, bytes)| bytes).sum();
    later as f64 / span(data).max(1e-9)
}

/// Bytes in a second of the busiest tenth of the time.
fn busiest(data: &[(f64, u64)]) -> f64 {
    let count = (span(data) / MIN_PART).clamp(1.0, PARTS).floor();
    if count <= 1.0 {
        return mean_rate(data);
    }
    let (first, part) = (data[0].0, span(data) / count);
    let mut parts = vec![0u64; count as usize];
    for (at, bytes) in data {
        let number = (((at - first) / part) as usize).min(parts.len() - 1);
        parts[number] += bytes;
    }
    parts.into_iter().max().unwrap_or(0) as f64 / part
}

/// The values that some events have, with their times.
fn timed<T>(events: &[(f64, Event)], wanted: fn(&Event) -> Option<T>) -> Vec<(f64, T)> {
    events.iter().filter_map(|(at, event)| Some((*at, wanted(event)?))).collect()
}

/// Returns the values with the time that each of them was the latest, sorted by value; `None`
/// without any.
fn over_time(values: &[(f64, f64)], end: f64) -> Option<Vec<(f64, f64)>> {
    let until = values.iter().skip(1).map(|(at, _)| *at).chain([end]);
    let mut shares: Vec<(f64, f64)> =
        values.iter().zip(until).map(|((at, value), until)| (*value, (until - at).max(0.0))).collect();
    if shares.is_empty() {
        return None;
    }
    if shares.iter().all(|(_, span)| *span == 0.0) {
        shares.iter_mut().for_each(|(_, span)| *span = 1.0);
    }
    shares.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    Some(shares)
}

fn quantile(shares: &[(f64, f64)], part: f64) -> f64 {
    let whole: f64 = shares.iter().map(|(_, span)| span).sum();
    let mut passed = 0.0;
    for (value, span) in shares {
        passed += span;
        if passed >= part * whole {
            return *value;
        }
    }
    shares.last().map_or(f64::NAN, |(value, _)| *value)
}

fn mean(shares: &[(f64, f64)]) -> f64 {
    let whole: f64 = shares.iter().map(|(_, span)| span).sum();
    shares.iter().map(|(value, span)| value * span).sum::<f64>() / whole
}

const FASTER: &str = "The line may carry more than this connection did: it is as fast as written here or faster.";

/// A line on which the connection could have run, and a flow of its size.
///
/// # Errors
/// When the file is no qlog, or shows no rate.
pub fn import(input: &Input) -> Result<Draft, ImportError> {
    let connection = Connection::read(input)?;
    let Connection { seconds, bytes, packets, lost, rtt_s, line: (line, basis), .. } = &connection;
    if *seconds < MIN_SECONDS {
        let fault = format!("its {packets} packets span {:.3} ms: too short for a rate: allowed 10 ms and more", seconds * 1e3);
        return Err(input.fault(fault));
    }
    if let Some(wrong) = rtt_s.iter().flatten().find(|rtt| !(0.0..=MAX_RTT).contains(rtt)) {
        return Err(input.fault(format!("smoothed_rtt: {wrong} s is out of range: allowed 0 s to {MAX_RTT} s")));
    }
    let rate = Rate::bit_s((line * 8.0).min(1e12).round() as u64);
    if rate < Rate::kbit(1) {
        return Err(input.fault("has too few bytes for a rate: allowed 1 kbit/s and more"));
    }
    let span = |seconds: f64| Duration::us((seconds * 1e6).round() as u64);
    let traffic = format!(
        "\n[[traffic]]                              # measured: {bytes} B in {packets} packets within {seconds:.1} s, {lost} of them lost\n\
         name = \"recorded\"\nkind = \"bulk\"\nsize = \"{bytes} B\"\ncc = \"cubic\"                             # assumed: a recording does not tell the control\n"
    );
    let duration = (seconds * 2.0).ceil().clamp(5.0, 3600.0);
    let (why, remark) = match basis {
        Basis::Sent => (
            "what was sent after the first packets and not lost, in the mean",
            "The log does not tell what arrived: the line may be slower than written here, if packets waited for it, or faster.",
        ),
        Basis::Acknowledged => ("what was acknowledged in the busiest tenth of the connection's time", FASTER),
        Basis::Received => ("what arrived in the busiest tenth of the connection's time", FASTER),
    };
    let line = Cited::bit_s(rate, Origin::Estimated(why.to_owned()));
    let (delay, held) = match *rtt_s {
        Some([least, _, most]) => {
            let measured = Origin::Measured(format!("half of {:.1} ms, the least smoothed round-trip time", least * 1e3));
            let lasts = format!("{:.1} ms, the 95th percentile of the round-trip time above its least", (most - least) * 1e3);
            (halves(span(least), &measured), buffer(span(most - least), rate, Origin::Estimated(lasts)))
        }
        None => {
            let assumed = Origin::Assumed("the recording has no smoothed_rtt".to_owned());
            (usual_delay("the recording has no smoothed_rtt"), buffer(Duration::ms(100), rate, assumed))
        }
    };
    let way = Way::unmanaged(line, rate, held, "a recording does not tell the queue");
    let twice = Origin::Assumed("twice the time of the recording, so that the transfer ends".to_owned());
    let mut notes = vec![
        remark.to_owned(),
        "Compare with the recording: gq run with --qlog DIR, then gq qlog RECORDING DIR/0-0-recorded-0.sqlog.".to_owned(),
    ];
    if connection.traces > 1 {
        notes.push(format!("The file has {} traces; this is the first of them with events.", connection.traces));
    }
    notes.extend(connection.steps.iter().cloned());
    for (count, entries) in connection.left_out.into_iter().zip(["events without a time", "packets without a length"]) {
        if count > 0 {
            notes.push(format!("{count} {entries} that can be one were not read."));
        }
    }
    Ok(Draft {
        notes,
        traffic: Some(traffic),
        duration: Some(Cited::quantity(format!("{duration} s"), twice)),
        ..Draft::new(format!("connection of {}", input.file_name()), "qlog", input, delay, (way, None))
    })
}

#[cfg(test)]
mod tests;
