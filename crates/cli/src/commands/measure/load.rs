//! Load in one direction, and the questions that are asked meanwhile.

use super::connection::{PATIENCE, prepare, wait};
use super::session::Session;
use crate::lock::locked;
use goodqueue_base::units::Instant;
use goodqueue_interop::measure::{Clock, FRAME, Frames, JUDGED, Purpose, Ramp, Step, Trips, Volume, Window, pause};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, Scope};
use std::time::Duration as Wall;

/// Time between two samples of the bytes that have arrived.
const SAMPLE: Wall = Wall::from_millis(100);
/// The rate that questions reckon with until one is measured.
const UNKNOWN_BIT_S: u64 = 1_000_000;

/// Figures of a direction under load.
pub struct Loaded {
    /// The intervals that are the result.
    pub window: Window,
    pub volume: Volume,
    /// Answers within the window.
    pub trips: Trips,
    pub connections: u32,
    pub stable: bool,
    /// Congestion control at this end.
    pub control: String,
}

/// A connection that loads the line.
struct Loading {
    stream: TcpStream,
    /// A question for the next frame up.
    asked: AtomicU64,
}

/// A number on its way.
enum Passed {
    Asked(u64, Instant),
    Answered(u64, Instant),
}

/// The times of one question on a connection of its own, or of one on a loaded connection.
enum Trip {
    Foreign { tcp_s: f64, question_s: f64 },
    Own(f64),
}

/// Load in the making.
pub struct Load<'a> {
    session: &'a Session,
    purpose: Purpose,
    offset: Clock,
    stop: AtomicBool,
    arrived: AtomicU64,
    connections: Mutex<Vec<Arc<Loading>>>,
    trips: Mutex<Vec<(Instant, Trip)>>,
    /// The latest rate, in bit/s, which bounds questions.
    rate: AtomicU64,
}

impl<'a> Load<'a> {
    pub fn new(session: &'a Session, purpose: Purpose, offset: Clock) -> Self {
        Self {
            session,
            purpose,
            offset,
            stop: AtomicBool::new(false),
            arrived: AtomicU64::new(0),
            connections: Mutex::default(),
            trips: Mutex::default(),
            rate: AtomicU64::new(UNKNOWN_BIT_S),
        }
    }

    /// Adds connections until the rate is stable.
    pub fn run(self, interval: Wall) -> io::Result<Loaded> {
        let outcome = thread::scope(|scope| {
            let outcome = self.ramp(scope, interval);
            self.stop.store(true, Ordering::Relaxed);
            // Ends readers and writers.
            locked(&self.connections).drain(..).for_each(|one| drop(one.stream.shutdown(Shutdown::Both)));
            outcome
        });
        let (window, volume, connections, stable, control) = outcome?;
        let mut trips = Trips::default();
        for (_, trip) in locked(&self.trips).drain(..).filter(|(at, _)| (window.from..window.to).contains(at)) {
            match trip {
                Trip::Foreign { tcp_s, question_s } => {
                    trips.tcp_s.push(tcp_s);
                    trips.question_s.push(question_s);
                }
                Trip::Own(own_s) => trips.own_s.push(own_s),
            }
        }
        Ok(Loaded { window, volume, trips, connections, stable, control })
    }

    #[allow(clippy::type_complexity, reason = "the parts of `Loaded` without the trips")]
    fn ramp<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        interval: Wall,
    ) -> io::Result<(Window, Volume, u32, bool, String)> {
        let (passed, seen) = channel();
        let (mut ramp, mut volume, mut marks) = (Ramp::default(), Volume::default(), Vec::new());
        let mut control = self.add(scope, &passed)?;
        scope.spawn(move || self.ask(&seen));
        marks.push(self.session.clock.now());
        loop {
            let began = self.session.clock.now();
            while self.session.clock.now().since(began) < interval.try_into().unwrap_or(goodqueue_base::units::Duration::MAX) {
                wait(SAMPLE);
                self.sample(&mut volume);
            }
            let window = Window { from: began, to: self.session.clock.now() };
            marks.push(window.to);
            let rate = volume.rate(window);
            self.rate.store(rate as u64, Ordering::Relaxed);
            match ramp.interval(rate) {
                Step::Add => control = self.add(scope, &passed)?,
                Step::End { stable } => {
                    // Of uploads, the last ticks are still on their way.
                    wait(2 * SAMPLE);
                    self.sample(&mut volume);
                    let window = Window { from: marks[marks.len() - 1 - JUDGED], to: window.to };
                    let connections = locked(&self.connections).len() as u32;
                    return Ok((window, volume, connections, stable, control));
                }
            }
        }
    }

    /// Adds what has arrived to the volume.
    fn sample(&self, volume: &mut Volume) {
        if self.purpose == Purpose::Down {
            volume.add(self.session.clock.now(), self.arrived.load(Ordering::Relaxed));
            return;
        }
        for (time, total) in locked(&self.session.ticks).drain(..) {
            volume.add(self.offset.at_client(Instant::from_nanos(time)), total);
        }
    }

    /// Opens one connection more, and returns its congestion control.
    fn add<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, passed: &Sender<Passed>) -> io::Result<String> {
        let (stream, _) = self.session.attach(self.purpose)?;
        let control = prepare(&stream)?;
        let one = Arc::new(Loading { stream, asked: AtomicU64::new(0) });
        locked(&self.connections).push(Arc::clone(&one));
        let (writing, answers, questions) = (Arc::clone(&one), passed.clone(), passed.clone());
        match self.purpose {
            Purpose::Down => drop(scope.spawn(move || self.receive(&one.stream, &answers))),
            _ => {
                scope.spawn(move || self.send(&writing, &questions));
                scope.spawn(move || self.numbers(&one.stream, &answers));
            }
        }
        Ok(control)
    }

    fn receive(&self, mut stream: &TcpStream, answers: &Sender<Passed>) {
        let (mut bytes, mut frames) = (vec![0; 64 << 10], Frames::default());
        while let Ok(size) = stream.read(&mut bytes) {
            if size == 0 || self.stop.load(Ordering::Relaxed) {
                return;
            }
            self.arrived.fetch_add(size as u64, Ordering::Relaxed);
            if let Some(number) = frames.take(&bytes[..size]) {
                let _ = answers.send(Passed::Answered(number, self.session.clock.now()));
            }
        }
    }

    fn send(&self, one: &Loading, questions: &Sender<Passed>) {
        let mut frame = [0xa5; FRAME];
        while !self.stop.load(Ordering::Relaxed) {
            let number = one.asked.swap(0, Ordering::Relaxed);
            frame[..8].copy_from_slice(&number.to_be_bytes());
            if number != 0 {
                let _ = questions.send(Passed::Asked(number, self.session.clock.now()));
            }
            if (&one.stream).write_all(&frame).is_err() {
                return;
            }
        }
    }

    /// Receives answers of numbers that went up.
    fn numbers(&self, mut stream: &TcpStream, answers: &Sender<Passed>) {
        // Answers are rare; the end of the load ends the connection.
        let _ = stream.set_read_timeout(None);
        let mut number = [0; 8];
        while stream.read_exact(&mut number).is_ok() {
            let _ = answers.send(Passed::Answered(u64::from_be_bytes(number), self.session.clock.now()));
        }
    }

    /// Asks on connections of their own and on those that load the line, by turns.
    fn ask(&self, seen: &Receiver<Passed>) {
        for number in 1.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let began = self.session.clock.now();
            if let Ok((stream, accepted)) = self.session.attach(Purpose::Question) {
                let answered = self.session.clock.now();
                drop(stream);
                let (tcp_s, question_s) = (accepted.since(began).as_secs_f64(), answered.since(accepted).as_secs_f64());
                locked(&self.trips).push((began, Trip::Foreign { tcp_s, question_s }));
            }
            if let Some((asked, own_s)) = self.ask_loaded(number, seen) {
                locked(&self.trips).push((asked, Trip::Own(own_s)));
            }
            let least = Wall::from(pause(self.rate.load(Ordering::Relaxed) as f64));
            let used = Wall::from(self.session.clock.now().since(began));
            // In small steps, so that the end is noticed.
            for _ in 0..least.saturating_sub(used).as_millis() / 20 {
                if self.stop.load(Ordering::Relaxed) {
                    return;
                }
                wait(Wall::from_millis(20));
            }
        }
    }

    /// Asks on one of the connections that load the line; `None` without an answer in time.
    fn ask_loaded(&self, number: u64, seen: &Receiver<Passed>) -> Option<(Instant, f64)> {
        let one = {
            let connections = locked(&self.connections);
            Arc::clone(connections.get(number as usize % connections.len().max(1))?)
        };
        let mut asked = None;
        if self.purpose == Purpose::Down {
            asked = Some(self.session.clock.now());
            (&one.stream).write_all(&number.to_be_bytes()).ok()?;
        } else {
            one.asked.store(number, Ordering::Relaxed);
        }
        loop {
            match seen.recv_timeout(PATIENCE.min(Wall::from_secs(5))).ok()? {
                Passed::Asked(of, at) if of == number => asked = Some(at),
                Passed::Answered(of, at) if of == number => return asked.map(|asked| (asked, at.since(asked).as_secs_f64())),
                // An answer that came too late.
                _ => {}
            }
        }
    }
}
