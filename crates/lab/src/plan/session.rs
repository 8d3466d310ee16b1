//! Transfers, pages and video: what they do with their connections.

use super::reader::{self, Field, Table};
use super::scenario::{LONGEST, Timing};
use super::sender::SIZES;
use super::tree::Value;
use crate::diagnostic::Fault;
use crate::quantity::Limits;
use goodqueue_sim::{Arrivals, ConnectionUse, HttpVersion, PageSpec, SessionSpec, VideoSpec, WebSpec};
use goodqueue_units::{Bytes, Duration, Rate};

/// The kinds that are read here.
pub(super) const KINDS: &[&str] = &["bulk-with-pauses", "short", "web", "page", "video"];

const MOST_CONNECTIONS_PER_S: f64 = 1e6;
const MOST_OBJECTS: u64 = 100_000;
const MOST_CONNECTIONS: u64 = 1_000;
const MOST_RUNGS: usize = 64;
/// Requests are sent before anything is known of the path, so they are small.
const REQUESTS: Limits<Bytes> = Limits::new(Bytes::new(1), Bytes::new(1_000_000));
const OBJECTS: Limits<Bytes> = Limits::new(Bytes::new(1_000), Bytes::new(1 << 26));
/// A constant of PackMime's law, 1/305 s.
const SERVER_DELAY_SCALE: Duration = Duration::ns(3_278_689);

/// What a session of `kind` does; `None` when it has a fault, which is reported.
pub(super) fn read(table: &Table<'_>, kind: &str) -> Option<SessionSpec> {
    match kind {
        "bulk-with-pauses" => Some(bulk_with_pauses(table)),
        "short" => short(table),
        "web" => web(table),
        "page" => Some(page(table)),
        _ => video(table),
    }
}

/// A time, or a range of times to draw from.
fn pause(table: &Table<'_>, default: (Duration, Duration)) -> (Duration, Duration) {
    let range = |field: Field<'_>| match Timing::read(Limits::new(Duration::ZERO, LONGEST))(field)? {
        Timing::Fixed(span) => Ok((span, span)),
        Timing::Uniform(low, high) => Ok((low, high)),
        Timing::Triangular(..) => {
            let help = "write a time or a range like \"uniform 5 s .. 15 s\"".to_owned();
            Err(field.fault("pauses are drawn from a uniform range".to_owned(), Some(help)))
        }
    };
    table.optional("pause", range).unwrap_or(default)
}

fn bulk_with_pauses(table: &Table<'_>) -> SessionSpec {
    let size = table.optional("size", reader::bytes(SIZES));
    let keep = table.optional("keep_connection", reader::switch);
    SessionSpec::BulkWithPauses {
        size: size.unwrap_or(Bytes::new(1_000_000)),
        pause: pause(table, (Duration::secs(5), Duration::secs(15))),
        connection: if keep == Some(true) { ConnectionUse::Kept } else { ConnectionUse::Fresh },
    }
}

fn short(table: &Table<'_>) -> Option<SessionSpec> {
    let size = table.required("size", "write the bytes of each transfer, for instance size = \"64 MB\"", reader::bytes(SIZES));
    let intervals = Limits::new(Duration::us(1), LONGEST);
    let interval = table.required(
        "interval",
        "write the time from one beginning to the next, for instance interval = \"2 s\"",
        reader::duration(intervals),
    );
    let arrivals = table.optional("arrivals", reader::choice(&["periodic", "poisson"]));
    let arrivals = if arrivals == Some("poisson") { Arrivals::Poisson } else { Arrivals::Periodic };
    Some(SessionSpec::Short { size: size?, interval: interval?, arrivals })
}

fn web(table: &Table<'_>) -> Option<SessionSpec> {
    let help = "write the new connections a second, for instance rate = 5";
    let rate = table.required("rate", help, |field| {
        let rate = reader::number(field)?;
        if rate > 0.0 && rate <= MOST_CONNECTIONS_PER_S {
            return Ok(rate);
        }
        let message = format!("`{}` is out of range: allowed above 0 to {MOST_CONNECTIONS_PER_S}", field.node.shown());
        Err(field.fault(message, Some("it counts new connections a second".to_owned())))
    });
    let version = table.optional("http", reader::choice(&["1.0", "1.1"]));
    let delays = Limits::new(Duration::ZERO, Duration::secs(60));
    let server_delay_scale = table.optional("server_delay_scale", reader::duration(delays));
    Some(SessionSpec::Web(WebSpec {
        connections_per_s: rate?,
        version: if version == Some("1.1") { HttpVersion::Http11 } else { HttpVersion::Http10 },
        server_delay_scale: server_delay_scale.unwrap_or(SERVER_DELAY_SCALE),
    }))
}

fn page(table: &Table<'_>) -> SessionSpec {
    let objects = table.optional("objects", reader::count(Limits::new(1, MOST_OBJECTS)));
    let size = table.optional("size", reader::bytes(OBJECTS));
    let connections = table.optional("connections", reader::count(Limits::new(1, MOST_CONNECTIONS)));
    let request = table.optional("request_size", reader::bytes(REQUESTS));
    let server_delay = table.optional("server_delay", reader::duration(Limits::new(Duration::ZERO, LONGEST)));
    SessionSpec::Page(PageSpec {
        objects: objects.unwrap_or(50) as u32,
        object: size.unwrap_or(Bytes::new(12_000)),
        connections: connections.unwrap_or(6) as u32,
        request: request.unwrap_or(Bytes::new(350)),
        server_delay: server_delay.unwrap_or(Duration::ZERO),
        pause: pause(table, (Duration::ZERO, Duration::ZERO)),
    })
}

fn video(table: &Table<'_>) -> Option<SessionSpec> {
    let usual = || [350, 700, 1_500, 3_000, 6_000].map(Rate::kbit).to_vec();
    let ladder = match table.get("ladder") {
        None => Some(usual()),
        Some(_) => table.optional("ladder", read_ladder),
    };
    let spans = Limits::new(Duration::ms(10), LONGEST);
    let segment = table.optional("segment", reader::duration(spans)).unwrap_or(Duration::secs(2));
    let buffer = table.optional("buffer", |field| {
        let buffer = reader::duration(spans)(field)?;
        if buffer < segment {
            let message = format!("`{}` is out of range: allowed from one segment, {segment}", field.node.shown());
            return Err(field.fault(message, None));
        }
        Ok(buffer)
    });
    let request = table.optional("request_size", reader::bytes(REQUESTS));
    Some(SessionSpec::Video(VideoSpec {
        ladder: ladder?,
        segment,
        buffer: buffer.unwrap_or(Duration::secs(10).max(segment)),
        request: request.unwrap_or(Bytes::new(300)),
    }))
}

/// Bitrates, rising.
fn read_ladder(field: Field<'_>) -> Result<Vec<Rate>, Fault> {
    let help = || Some("write rising bitrates, for instance [\"1 Mbit/s\", \"3 Mbit/s\"]".to_owned());
    let Value::Array(items) = &field.node.value else {
        return Err(field.fault(format!("is {}: expected a list of rates", field.node.kind()), help()));
    };
    if items.is_empty() || items.len() > MOST_RUNGS {
        return Err(field.fault(format!("has {} bitrates: allowed 1 to {MOST_RUNGS}", items.len()), help()));
    }
    let mut ladder: Vec<Rate> = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let path = format!("{}.{number}", field.path);
        let at = Field { node: item, path: &path };
        let rate = reader::rate(Limits::new(Rate::kbit(1), super::link::FASTEST))(at)?;
        if ladder.last().is_some_and(|last| *last >= rate) {
            return Err(at.fault(format!("`{}` is not above the bitrate before it", item.shown()), help()));
        }
        ladder.push(rate);
    }
    Ok(ladder)
}
