//! Runs random operations on every kind of queue and checks the whole contract, for as long as time
//! allows:
//!
//! `fuzz_long PROGRESS MINUTES [OPERATIONS]` resumes where the file PROGRESS left off, one kind
//! after the other, schedulers first, until MINUTES have passed or every kind has had OPERATIONS (a
//! thousand million by default). `make fuzz-long MINUTES=60`.
//!
//! Work comes in chunks of a million operations on a fresh queue. The number of a chunk determines
//! its seed, policy, mix, and the choices and switches among its parameters, so that a failure can
//! be reproduced: `fuzz_long --only KIND CHUNK`.

use goodqueue_aqm::sched::{kind, kinds};
use goodqueue_aqm::spec::{KindAndParams, KindSpec, LinkFacts, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Packets, Rate};
use goodqueue_testkit::{CheckedQueue, Mix, Operations, Order};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::Duration as WallDuration;
use std::{env, fs};

const CHUNK: u64 = 1_000_000;
const WANTED: u64 = 1_000_000_000;
const MIXES: [Mix; 5] = [Mix::Everything, Mix::NotEct, Mix::ConstantRate, Mix::Huge, Mix::FrozenClock];

/// Completed chunks by kind.
type Done = BTreeMap<String, u64>;

/// Draws choices and switches of a kind, different ones for each chunk.
fn settings(spec: &'static KindSpec, rng: &mut Rng) -> Vec<(&'static str, Value)> {
    // Marking is common to all queues and is set separately.
    let own = spec.params.iter().filter(|param| param.name != "ecn");
    let choices = own.filter_map(|param| {
        let value = match param.unit {
            Unit::Choice(words) => Value::Choice(words[rng.below(words.len() as u64) as usize]),
            Unit::Switch => Value::Switch(rng.fires(0.5)),
            _ => return None,
        };
        rng.fires(0.5).then_some((param.name, value))
    });
    choices.collect()
}

fn build(spec: &'static KindSpec, policy: EcnPolicy, chunk: u64) -> AnyQdisc<SimplePacket> {
    let link = LinkFacts {
        rate: Some(Rate::mbit(10)),
        delay: Duration::ms(10),
        mtu: Bytes::new(1500),
        overhead: Bytes::new(14),
        limit: Limit { packets: Packets::new(100), bytes: Bytes::new(150_000) },
    };
    // Every kind with a single queue takes its turn within the kinds that hold another.
    let inner: Vec<_> = goodqueue_aqm::algo::KINDS.iter().flat_map(|kinds| kinds.iter()).collect();
    let inner = inner[(chunk % inner.len() as u64) as usize];
    let mut rng = Rng::stream(chunk, 2);
    let with = |own: Vec<_>, within: Vec<_>| {
        let of = spec.is_over_another().then(|| KindAndParams::new(inner, within));
        AnyQdisc::build_over(&KindAndParams::new(spec, own).over(of), &link, policy, Rng::stream(chunk, 1))
    };
    // If the settings contradict each other, use the defaults.
    let chosen = with(settings(spec, &mut rng), settings(inner, &mut rng));
    chosen.or_else(|_| with(Vec::new(), Vec::new())).expect("defaults are valid")
}

/// Runs one chunk; panics when a promise is broken.
fn run(spec: &'static KindSpec, chunk: u64) {
    let policy = if chunk.is_multiple_of(2) { EcnPolicy::Mark } else { EcnPolicy::Drop };
    let queue = build(spec, policy, chunk);
    let order = match queue {
        AnyQdisc::Managed(_) | AnyQdisc::TailDrop(_) => Order::Fifo,
        AnyQdisc::FqCoDel(_) | AnyQdisc::SfqCoDel(_) | AnyQdisc::Fair(_) | AnyQdisc::NfqCoDel(_) | AnyQdisc::FqPie(_) => {
            Order::FifoPerFlow
        }
        _ => Order::FifoPerFlowAndCodepoint,
    };
    let mix = MIXES[(chunk / 2 % MIXES.len() as u64) as usize];
    let queue = CheckedQueue::new(queue, policy, order);
    let mut queue = if spec.kind == "shaper" { queue.that_holds_back() } else { queue };
    queue.run(Operations::new(chunk, mix).take(CHUNK as usize));
}

fn read(path: &Path) -> Result<Done, Box<dyn Error>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Done::new()),
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    let entry = |line: &str| {
        let (name, chunks) = line.split_once(' ')?;
        Some((name.to_owned(), chunks.trim().parse().ok()?))
    };
    let lines = text.lines().enumerate();
    let entries = lines.map(|(at, line)| entry(line).ok_or_else(|| format!("{}:{}: `{line}`", path.display(), at + 1).into()));
    entries.collect()
}

/// Writes to another name first, so that a killed run leaves a complete file.
fn write(path: &Path, done: &Done) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for (name, chunks) in done {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} {chunks}");
    }
    let new = path.with_extension("new");
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    Ok(written.map_err(|error| format!("{}: {error}", path.display()))?)
}

/// Chunks between two progress messages.
const REPORT: u64 = 50;

#[expect(clippy::disallowed_methods, reason = "the time limit is wall time; no verdict depends on it")]
fn fuzz(path: &Path, minutes: f64, wanted: u64) -> Result<(), Box<dyn Error>> {
    let mut done = read(path)?;
    let (start, limit) = (std::time::Instant::now(), WallDuration::from_secs_f64(minutes * 60.0));
    let chunks = wanted.div_ceil(CHUNK);
    // Kinds that hold other queues, and therefore most of the code, come last in the list.
    let mut specs: Vec<_> = kinds().collect();
    specs.reverse();
    'all: for spec in specs {
        for chunk in *done.get(spec.kind).unwrap_or(&0)..chunks {
            if start.elapsed() >= limit {
                break 'all;
            }
            catch_unwind(|| run(spec, chunk)).map_err(|_| {
                format!(
                    "`{}` broke a promise in chunk {chunk}; reproduce with: fuzz_long --only {} {chunk}",
                    spec.kind, spec.kind
                )
            })?;
            done.insert(spec.kind.to_owned(), chunk + 1);
            write(path, &done)?;
            if (chunk + 1) % REPORT == 0 || chunk + 1 == chunks {
                let minutes = start.elapsed().as_secs_f64() / 60.0;
                println!("{minutes:6.1} min: {:16} {} of {chunks} million operations", spec.kind, chunk + 1);
            }
        }
    }
    report(&done, chunks);
    Ok(())
}

fn report(done: &Done, chunks: u64) {
    let of = |spec: &KindSpec| *done.get(spec.kind).unwrap_or(&0);
    for spec in kinds() {
        println!("{:16} {} of {chunks} million operations", spec.kind, of(spec));
    }
    let (all, complete) = (kinds().count(), kinds().filter(|spec| of(spec) >= chunks).count());
    println!("{complete} of {all} kinds are done");
}

fn main() -> Result<(), Box<dyn Error>> {
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
                return Err(format!("MINUTES `{minutes}` is out of range: allowed 0 to 100000").into());
            }
            fuzz(Path::new(path), minutes, rest.first().map_or(Ok(WANTED), |text| operations(text))?)
        }
        _ => Err("takes PROGRESS MINUTES [OPERATIONS], or --only KIND CHUNK".into()),
    }
}
