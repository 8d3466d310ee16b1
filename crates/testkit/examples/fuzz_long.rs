//! Random operations on every kind of queue, every promise checked after each, for as long as there is time:
//!
//! `fuzz_long PROGRESS MINUTES [OPERATIONS]` goes on where the file PROGRESS says it stopped, kind by kind in turn, until MINUTES have
//! passed or every kind has had OPERATIONS (a thousand million by default). `make fuzz-long MINUTES=60`.
//!
//! Work is done in chunks of a million operations on a fresh queue; a chunk's number gives its seed, policy and mix, so that a fault can
//! be had again: `fuzz_long --only KIND CHUNK`.

use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{Chosen, KindSpec, LinkFacts};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, SimplePacket};
use goodqueue_testkit::{CheckedQueue, Mix, Operations, Order};
use goodqueue_units::{Bytes, Duration, Packets, Rate};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration as WallDuration;
use std::{env, fs};

const CHUNK: u64 = 1_000_000;
const WANTED: u64 = 1_000_000_000;
const MIXES: [Mix; 5] = [Mix::Everything, Mix::NotEct, Mix::ConstantRate, Mix::Huge, Mix::FrozenClock];

/// Chunks done, by kind.
type Done = BTreeMap<String, u64>;

fn build(spec: &'static KindSpec, policy: EcnPolicy, chunk: u64) -> AnyQdisc<SimplePacket> {
    let link = LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit { packets: Packets::new(100), bytes: Bytes::new(150_000) },
    };
    // Every kind of one queue takes its turn within those that hold another.
    let inner: Vec<_> = goodqueue_aqm::algo::KINDS.iter().flat_map(|kinds| kinds.iter()).collect();
    let of = Chosen::new(inner[(chunk % inner.len() as u64) as usize], Vec::new());
    let of = spec.is_over_another().then_some(&of);
    AnyQdisc::build_over(spec, &[], of, &link, policy, Rng::stream(chunk, 1)).expect("defaults are valid")
}

/// One chunk; panics when a promise is broken.
fn run(spec: &'static KindSpec, chunk: u64) {
    let policy = if chunk.is_multiple_of(2) { EcnPolicy::Mark } else { EcnPolicy::Drop };
    let queue = build(spec, policy, chunk);
    let order = match queue {
        AnyQdisc::Managed(_) | AnyQdisc::TailDrop(_) => Order::Fifo,
        AnyQdisc::FqCoDel(_) | AnyQdisc::Fair(_) | AnyQdisc::NfqCoDel(_) | AnyQdisc::FqPie(_) => Order::FifoPerFlow,
        AnyQdisc::Several(_) => Order::FifoPerFlowAndCodepoint,
    };
    let mix = MIXES[(chunk / 2 % MIXES.len() as u64) as usize];
    let queue = CheckedQueue::new(queue, policy, order);
    let mut queue = if spec.kind == "shaper" { queue.that_holds_back() } else { queue };
    queue.run(Operations::new(chunk, mix).take(CHUNK as usize));
}

fn read(path: &Path) -> Result<Done, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Done::new()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    let entry = |line: &str| {
        let (name, chunks) = line.split_once(' ')?;
        Some((name.to_owned(), chunks.trim().parse().ok()?))
    };
    let lines = text.lines().enumerate();
    let entries = lines.map(|(at, line)| entry(line).ok_or_else(|| format!("{}:{}: `{line}`", path.display(), at + 1)));
    entries.collect()
}

/// Written to another name first: a killed run leaves a whole file.
fn write(path: &Path, done: &Done) -> Result<(), String> {
    let mut text = String::new();
    for (name, chunks) in done {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {chunks}");
    }
    let new = path.with_extension("new");
    fs::write(&new, text).and_then(|()| fs::rename(&new, path)).map_err(|error| format!("{}: {error}", path.display()))
}

#[expect(clippy::disallowed_methods, reason = "how long to go on is a matter of wall time; no verdict depends on it")]
fn fuzz(path: &Path, minutes: f64, wanted: u64) -> Result<(), String> {
    let mut done = read(path)?;
    let (start, limit) = (std::time::Instant::now(), WallDuration::from_secs_f64(minutes * 60.0));
    let chunks = wanted.div_ceil(CHUNK);
    loop {
        let mut is_over = true;
        for spec in kinds() {
            let next = *done.get(spec.kind).unwrap_or(&0);
            if next >= chunks {
                continue;
            }
            if start.elapsed() >= limit {
                report(&done, chunks);
                return Ok(());
            }
            is_over = false;
            catch_unwind(|| run(spec, next)).map_err(|_| {
                format!("`{}` broke a promise in chunk {next}; again: fuzz_long --only {} {next}", spec.kind, spec.kind)
            })?;
            done.insert(spec.kind.to_owned(), next + 1);
            write(path, &done)?;
        }
        if is_over {
            report(&done, chunks);
            return Ok(());
        }
    }
}

fn report(done: &Done, chunks: u64) {
    for spec in kinds() {
        let done = done.get(spec.kind).unwrap_or(&0);
        println!("{:16} {done} of {chunks} million operations", spec.kind);
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let operations = |text: &str| text.parse::<u64>().map_err(|error| format!("OPERATIONS `{text}`: {error}"));
    match words.as_slice() {
        ["--only", name, chunk] => {
            let spec = kind(name).ok_or_else(|| format!("`{name}` is not a kind of queue"))?;
            run(spec, chunk.parse().map_err(|error| format!("CHUNK `{chunk}`: {error}"))?);
            Ok(())
        }
        [path, minutes, rest @ ..] if rest.len() <= 1 => {
            let minutes: f64 = minutes.parse().map_err(|error| format!("MINUTES `{minutes}`: {error}"))?;
            if !(0.0..=100_000.0).contains(&minutes) {
                return Err(format!("MINUTES `{minutes}` is out of range: allowed 0 to 100000"));
            }
            fuzz(Path::new(path), minutes, rest.first().map_or(Ok(WANTED), |text| operations(text))?)
        }
        _ => Err("takes PROGRESS MINUTES [OPERATIONS], or --only KIND CHUNK".to_owned()),
    }
}
