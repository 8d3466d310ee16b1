//! The sockets of `gq measure --server`: one session with a server.

use super::connection::{Clock, PATIENCE, arrival, is_pause, message, random, wait};
use super::load::{Load, Loaded};
use crate::output::say;
use chrono::{SecondsFormat, Utc};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use goodqueue_lab::results::statistics::Figure;
use goodqueue_measure::{
    Clock as Offset, ClockFit, Delays, DirectionResult, End, Family, INTERVALS, Key, Kind, Measurement, Message, Probes, Purpose,
    Responsiveness, SCHEMA, Window,
};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration as Wall;

/// Time of the idle line before load, and after all of it.
const IDLE: [Wall; 2] = [Wall::from_secs(5), Wall::from_secs(3)];
/// Time in which queues run empty.
const DRAIN: Wall = Wall::from_millis(1_500);
/// Mean time between two probes. Each is up to half of it early or late.
const PROBE_MS: u64 = 40;

/// A session, and what has been seen in it.
pub struct Session {
    pub server: SocketAddr,
    pub id: u64,
    pub key: Key,
    pub clock: Clock,
    pub probes: Mutex<Probes>,
    /// Server's time and bytes that had arrived there then.
    pub ticks: Mutex<Vec<(u64, u64)>>,
    /// Numbers of connections.
    pub attached: AtomicU64,
    limit_bit_s: u64,
    ends: [End; 2],
}

/// Measures a line; a direction takes `way` at most.
pub fn measure(server: SocketAddr, key: &Key, way: Wall) -> io::Result<Measurement> {
    let (control, session) = open(server, key)?;
    let socket = UdpSocket::bind(if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(server)?;
    socket.set_read_timeout(Some(Wall::from_millis(100)))?;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| session.send_probes(&socket, &stop));
        scope.spawn(|| session.receive_answers(&socket, &stop));
        scope.spawn(|| session.receive_ticks(&control, &stop));
        let result = session.stages(way / INTERVALS);
        stop.store(true, Ordering::Relaxed);
        result
    })
}

/// Opens a session: the client proves that it has the key, and so does the server.
fn open(server: SocketAddr, key: &Key) -> io::Result<(TcpStream, Session)> {
    let mut stream = TcpStream::connect_timeout(&server, PATIENCE)?;
    stream.set_nodelay(true)?;
    let nonce = random()?;
    stream.write_all(&Message { nonce, ..Message::of(Kind::Hello) }.sealed(key))?;
    let stranger = || io::Error::other("does not know this key, or has as many clients as it takes");
    let challenge = message(&mut stream).map_err(|error| if is_pause(&error) { error } else { stranger() })?;
    let challenge = Message::read(&challenge, key).filter(|message| message.kind == Kind::Challenge).ok_or_else(stranger)?;
    let session = key.of_session(&nonce, &challenge.nonce);
    stream.write_all(&Message { nonce: challenge.nonce, ..Message::of(Kind::Open) }.sealed(&session))?;
    let mut welcome = || -> io::Result<Message> {
        let welcome = Message::read(&message(&mut stream)?, &session).ok_or_else(stranger)?;
        match welcome.kind {
            Kind::Welcome => Ok(welcome),
            Kind::Busy => Err(io::Error::other("another client measures: try again in a minute")),
            _ => Err(stranger()),
        }
    };
    let (first, control, gq) = (welcome()?, welcome()?.text, welcome()?.text);
    let end = |address: SocketAddr, gq: &str, congestion_control: String| End {
        address: address.ip().to_canonical().to_string(),
        gq: gq.to_owned(),
        congestion_control,
    };
    let session = Session {
        server,
        id: first.session,
        key: session,
        clock: Clock::start(),
        probes: Mutex::default(),
        ticks: Mutex::default(),
        attached: AtomicU64::new(0),
        limit_bit_s: first.value,
        ends: [end(stream.local_addr()?, VERSION_AND_COMMIT, String::new()), end(server, &gq, control)],
    };
    Ok((stream, session))
}

pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Opens a further connection; the time is that of its acceptance.
    pub fn attach(&self, purpose: Purpose) -> io::Result<(TcpStream, goodqueue_base::units::Instant)> {
        let mut stream = TcpStream::connect_timeout(&self.server, PATIENCE)?;
        let accepted = self.clock.now();
        stream.set_nodelay(true)?;
        let number = self.attached.fetch_add(1, Ordering::Relaxed);
        let attach = Message { session: self.id, number, value: purpose as u64, ..Message::of(Kind::Attach) };
        stream.write_all(&attach.sealed(&self.key))?;
        let answer = Message::read(&message(&mut stream)?, &self.key);
        match answer.filter(|answer| answer.kind == Kind::Attached && answer.number == number) {
            Some(_) => Ok((stream, accepted)),
            None => Err(io::Error::other("the server refuses a connection")),
        }
    }

    fn send_probes(&self, socket: &UdpSocket, stop: &AtomicBool) {
        for number in 0_u64.. {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let probe = locked(&self.probes).next(self.clock.now(), self.id, &self.key);
            let Some(probe) = probe else { return };
            // A probe that is not sent counts as lost on the way up.
            let _ = socket.send(&probe);
            wait(Wall::from_millis(PROBE_MS / 2 + number * 31 % (PROBE_MS + 1)));
        }
    }

    fn receive_answers(&self, socket: &UdpSocket, stop: &AtomicBool) {
        let mut bytes = [0; 128];
        while !stop.load(Ordering::Relaxed) {
            if let Ok(size) = socket.recv(&mut bytes) {
                let back = arrival(self.clock, socket);
                locked(&self.probes).answer(back, &bytes[..size], self.id, &self.key);
            }
        }
    }

    fn receive_ticks(&self, mut control: &TcpStream, stop: &AtomicBool) {
        // Short, so that the end of the measurement is noticed between two ticks.
        let (mut bytes, mut got) = ([0; Message::BYTES], 0);
        let _ = control.set_read_timeout(Some(Wall::from_millis(100)));
        while !stop.load(Ordering::Relaxed) {
            match control.read(&mut bytes[got..]) {
                Ok(0) => return,
                Ok(more) => got += more,
                Err(error) if is_pause(&error) => {}
                Err(_) => return,
            }
            if got == bytes.len() {
                got = 0;
                if let Some(tick) = Message::read(&bytes, &self.key).filter(|tick| tick.kind == Kind::Tick) {
                    locked(&self.ticks).push((tick.time, tick.value));
                }
            }
        }
    }

    /// The idle line, down, up, and the idle line again.
    fn stages(&self, interval: Wall) -> io::Result<Measurement> {
        let idle = |time: Wall| {
            let from = self.clock.now();
            wait(time);
            Window { from, to: self.clock.now() }
        };
        say("measuring the idle line");
        let before = idle(IDLE[0]);
        wait(DRAIN);
        let offset = Offset::of(&locked(&self.probes), &[before])
            .ok_or_else(|| io::Error::other("answers no probes: is its UDP port open, too?"))?;
        say("measuring downloads");
        let down = Load::new(self, Purpose::Down, offset).run(interval)?;
        wait(DRAIN);
        say("measuring uploads");
        let up = Load::new(self, Purpose::Up, offset).run(interval)?;
        wait(DRAIN);
        let after = idle(IDLE[1]);
        wait(DRAIN);
        self.result([before, after], down, up)
    }

    fn result(&self, idle: [Window; 2], down: Loaded, up: Loaded) -> io::Result<Measurement> {
        let probes = locked(&self.probes);
        let lost = || io::Error::other("answered no probe during a part of the measurement");
        let offset = Offset::of(&probes, &idle).ok_or_else(lost)?;
        let delays = |window| probes.delays(window, &offset).ok_or_else(lost);
        let family = if self.server.ip().to_canonical().is_ipv4() { Family::V4 } else { Family::V6 };
        let [mut client, server] = self.ends.clone();
        client.congestion_control.clone_from(&up.control);
        let mut notes = Vec::new();
        let (down, up) =
            (direction(family, &down, delays(down.window)?, false), direction(family, &up, delays(up.window)?, true));
        for (name, way) in [("down", &down), ("up", &up)] {
            let rate = way.goodput_bit_s.mean.unwrap_or_default();
            if rate >= 0.9 * self.limit_bit_s as f64 {
                notes.push(format!("The rate {name} is close to the limit of the server: the line may be faster."));
            }
            if !way.stable {
                notes.push(format!("The rate {name} was not stable: its last intervals differ by more than 5 %."));
            }
        }
        for (side, end) in [("server", &server), ("client", &client)] {
            if end.congestion_control != "cubic" {
                let control = &end.congestion_control;
                notes.push(format!("The {side} sent with {control}, which may not fill the buffer: it may be deeper."));
            }
        }
        Ok(Measurement {
            schema: SCHEMA.to_owned(),
            date: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            client,
            server,
            family,
            idle: delays(idle[0])?,
            down,
            up,
            clock: ClockFit::from(&offset),
            origins: Measurement::origins(),
            notes,
        })
    }
}

/// The figures of a direction.
fn direction(family: Family, loaded: &Loaded, delays: Delays, is_up: bool) -> DirectionResult {
    let goodput = loaded.volume.goodput(loaded.window);
    let seconds = loaded.window.span().as_secs_f64();
    let per_second = |count: u32| f64::from(count) / seconds.max(1.0);
    let (probes, questions) = (per_second(delays.probes), per_second(loaded.trips.question_s.len() as u32));
    let line = |goodput| family.line_rate(goodput, probes, questions, is_up);
    let line_rate = Figure { mean: goodput.mean.map(line), ci95: goodput.ci95.map(|half| half * line(1e9) / 1e9), n: goodput.n };
    DirectionResult {
        goodput_bit_s: goodput,
        line_rate_bit_s: line_rate,
        connections: loaded.connections,
        stable: loaded.stable,
        from_s: loaded.window.from.as_secs_f64(),
        seconds,
        responsiveness: Responsiveness::of(&loaded.trips),
        loaded: delays,
    }
}
