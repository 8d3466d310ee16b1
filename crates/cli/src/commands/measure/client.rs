//! The stages of `gq measure --server`, and the result.

use super::connection::wait;
use super::load::{Load, Loaded};
use super::session::{Session, open};
use crate::lock::locked;
use crate::output::say;
use chrono::{SecondsFormat, Utc};
use goodqueue_interop::measure::{
    Clock as Offset, ClockFit, Delays, DirectionResult, Family, INTERVALS, Key, Measurement, Purpose, Responsiveness, SCHEMA,
    Window,
};
use goodqueue_lab::results::statistics::Figure;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as Wall;

/// Time of the idle line before load, and after all of it.
const IDLE: [Wall; 2] = [Wall::from_secs(5), Wall::from_secs(3)];
/// Time in which queues run empty.
const DRAIN: Wall = Wall::from_millis(1_500);

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
        let result = stages(&session, way / INTERVALS);
        stop.store(true, Ordering::Relaxed);
        result
    })
}

/// The idle line, down, up, and the idle line again.
fn stages(session: &Session, interval: Wall) -> io::Result<Measurement> {
    let idle = |time: Wall| {
        let from = session.clock.now();
        wait(time);
        Window { from, to: session.clock.now() }
    };
    say("measuring the idle line");
    let before = idle(IDLE[0]);
    wait(DRAIN);
    let offset = Offset::of(&locked(&session.probes), &[before])
        .ok_or_else(|| io::Error::other("answers no probes: is its UDP port open, too?"))?;
    say("measuring downloads");
    let down = Load::new(session, Purpose::Down, offset).run(interval)?;
    wait(DRAIN);
    say("measuring uploads");
    let up = Load::new(session, Purpose::Up, offset).run(interval)?;
    wait(DRAIN);
    let after = idle(IDLE[1]);
    wait(DRAIN);
    result(session, [before, after], down, up)
}

/// All figures.
fn result(session: &Session, idle: [Window; 2], down: Loaded, up: Loaded) -> io::Result<Measurement> {
    let probes = locked(&session.probes);
    let lost = || io::Error::other("answered no probe during a part of the measurement");
    let offset = Offset::of(&probes, &idle).ok_or_else(lost)?;
    let delays = |window| probes.delays(window, &offset).ok_or_else(lost);
    let family = if session.server.ip().to_canonical().is_ipv4() { Family::V4 } else { Family::V6 };
    let [mut client, server] = session.ends.clone();
    client.congestion_control.clone_from(&up.control);
    let mut notes = Vec::new();
    let (down, up) = (direction(family, &down, delays(down.window)?, false), direction(family, &up, delays(up.window)?, true));
    for (name, way) in [("down", &down), ("up", &up)] {
        let rate = way.goodput_bit_s.mean.unwrap_or_default();
        if rate >= 0.9 * session.limit_bit_s as f64 {
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
