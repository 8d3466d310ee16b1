//! Effects of a network on the datagrams of a flow by the time that a stack gives up: gaps and
//! reordering.

use crate::matrix::{Place, Queue};
use crate::measure::{BULK, Bench, plan};
use crate::stack::{Stack, Tested};
use crate::work::Work;
use goodqueue_net::{Datagram, Duration, Endpoint, Ends, Instant, Recovery, Transmit};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

/// Datagrams of a source: encrypted, so that no two are equal.
#[derive(Default)]
struct Seen {
    /// Number of each by its hash, in the order in which it was sent.
    sent: HashMap<u64, u64>,
    /// Number of the latest that has arrived.
    latest: Option<u64>,
    /// Arrivals of datagrams that were sent before one that had arrived, or of the same.
    disordered: u64,
    /// When one arrived after others that are missing.
    gaps: Vec<Instant>,
    now: Instant,
}

fn hash(payload: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    payload.hash(&mut hasher);
    hasher.finish()
}

/// An end whose datagrams from the source are watched.
struct Watched {
    end: Box<dyn Endpoint>,
    is_source: bool,
    seen: Arc<Mutex<Seen>>,
}

impl Endpoint for Watched {
    fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        if !self.is_source {
            let mut seen = self.seen.lock().expect("no panic with it");
            seen.now = now;
            let number = seen.sent[&hash(datagram.payload)];
            let next = seen.latest.map_or(0, |latest| latest + 1);
            seen.disordered += u64::from(number < next);
            if number > next {
                seen.gaps.push(now);
            }
            seen.latest = seen.latest.max(Some(number));
        }
        self.end.handle(now, datagram);
    }

    fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let transmit = self.end.poll_transmit(now, buffer)?;
        if self.is_source {
            let mut seen = self.seen.lock().expect("no panic with it");
            for payload in buffer.chunks(transmit.segment_size.unwrap_or(buffer.len())) {
                let number = seen.sent.len() as u64;
                seen.sent.insert(hash(payload), number);
            }
        }
        Some(transmit)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.end.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
    }

    fn delivered_bytes(&self) -> Option<u64> {
        self.end.delivered_bytes()
    }

    fn is_complete(&self) -> bool {
        self.end.is_complete()
    }

    fn recovery(&mut self) -> Recovery {
        self.end.recovery()
    }
}

#[test]
fn a_stack_ends_a_connection_with_more_gaps_than_it_keeps() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(folder.path()).expect("keys");
    let place = Place { queue: Queue::TailDrop, rate: 100, rtt: 100 };
    let tested = Tested { stack: Stack::Quinn, control: "bbr" };
    let settings = [("duration".to_owned(), "5 s".to_owned()), ("replications".to_owned(), "1".to_owned())];
    let plan = plan(BULK, place, tested.control, folder.path()).and_then(|plan| Ok(plan.with_overrides(&settings)?));
    let seen = Arc::new(Mutex::new(Seen::default()));
    let around = |ends: Ends| {
        let watched = |end, is_source| Watched { end, is_source, seen: seen.clone() };
        Ends::new(watched(ends.source, true), watched(ends.sink, false))
    };
    let run = bench.run_with(tested, &plan.expect("a scenario"), &Work::Download, around);
    let error = run.map(|_| ()).expect_err("quinn-proto gives up").to_string();
    assert!(error.contains("tested[0], sink, at ") && error.ends_with("too many gaps in stream buffer"), "{error}");
    let seen = seen.lock().expect("no panic with it");
    // Datagrams were lost, and nothing else: none came twice or was overtaken.
    assert_eq!(seen.disordered, 0);
    // More than the 1024 gaps that it keeps, within the time that repairing them takes.
    let recent = seen.gaps.iter().filter(|at| seen.now.since(**at) < Duration::ms(500)).count();
    assert!(recent > 1024, "{recent} of {}", seen.gaps.len());
}

#[test]
fn garbage_from_the_network_breaks_no_stack() {
    /// Sends bytes of no protocol.
    struct Garbage(u64);
    impl Endpoint for Garbage {
        fn handle(&mut self, _: Instant, _: Datagram<'_>) {}
        fn poll_transmit(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
            if self.0 * 1_000_000 > now.as_nanos() {
                return None;
            }
            self.0 += 1;
            let mut state = self.0;
            buffer.extend((0..self.0 % 1452).map(|_| crate::machine::next(&mut state) as u8));
            Some(Transmit::NOW)
        }
        fn poll_timeout(&mut self) -> Option<Instant> {
            Some(Instant::from_nanos(self.0 * 1_000_000))
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(folder.path()).expect("keys");
    let place = Place { queue: Queue::TailDrop, rate: 10, rtt: 20 };
    let settings = [("warmup", "0 s"), ("duration", "5 s"), ("replications", "1")];
    let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
    for tested in Tested::all().filter(|tested| tested.stack != Stack::Tcp && tested.control == "cubic") {
        let plan = plan(BULK, place, tested.control, folder.path()).and_then(|plan| Ok(plan.with_overrides(&settings)?));
        let plan = plan.expect("a scenario");
        // To a server, then to a client.
        for is_client_foreign in [false, true] {
            let around = |ends: Ends| {
                if is_client_foreign {
                    Ends { source: Box::new(Garbage(1)), ..ends }
                } else {
                    Ends { sink: Box::new(Garbage(1)), ..ends }
                }
            };
            let run = bench.run_with(tested, &plan, &Work::Download, around);
            // A server that ignores all of it has had nothing to do.
            let error = run.err().map_or_else(String::new, |error| error.to_string());
            let is_idle = !is_client_foreign
                && error.ends_with("at 5.000000000 s: has sent nothing since the flow's start, and waits for no timeout");
            assert!(error.is_empty() || is_idle, "{}: {error}", tested.name());
        }
    }
}
