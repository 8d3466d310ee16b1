//! A session with a server: how it opens, its probes, and what the server tells.

use super::connection::{Clock, PATIENCE, arrival, is_pause, message, random, wait};
use crate::lock::locked;
use goodqueue_base::units::Instant;
use goodqueue_interop::measure::{End, Key, Kind, Message, Probes, Purpose};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration as Wall;

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
    pub limit_bit_s: u64,
    /// The client and the server.
    pub ends: [End; 2],
}

/// Opens a session: the client proves that it has the key, and so does the server.
pub fn open(server: SocketAddr, key: &Key) -> io::Result<(TcpStream, Session)> {
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

impl Session {
    /// Opens a further connection; the time is that of its acceptance.
    pub fn attach(&self, purpose: Purpose) -> io::Result<(TcpStream, Instant)> {
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

    /// Sends probes until the flag is set.
    pub fn send_probes(&self, socket: &UdpSocket, stop: &AtomicBool) {
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

    /// Receives their answers until the flag is set.
    pub fn receive_answers(&self, socket: &UdpSocket, stop: &AtomicBool) {
        let mut bytes = [0; 128];
        while !stop.load(Ordering::Relaxed) {
            if let Ok(size) = socket.recv(&mut bytes) {
                let back = arrival(self.clock, socket);
                locked(&self.probes).answer(back, &bytes[..size], self.id, &self.key);
            }
        }
    }

    /// Receives what the server counts until the flag is set.
    pub fn receive_ticks(&self, mut control: &TcpStream, stop: &AtomicBool) {
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
}
