//! `gq measure serve`: the sockets of the server.

use super::connection::{Clock, PATIENCE, arrival, is_pause, message, prepare, random, wait};
use crate::lock::locked;
use crate::output::say;
use goodqueue_base::units::{Bytes, Duration};
use goodqueue_interop::measure::{FRAME, Frames, Gate, Key, Kind, Limits, Message, PROBE_BYTES, Purpose, Refused};
use goodqueue_lab::results::provenance::VERSION_AND_COMMIT;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration as Wall;

/// Time between two looks at whether to stop, and between two ticks.
const LOOK: Wall = Wall::from_millis(100);
/// Memory of a thread's stack.
const STACK: usize = 256 << 10;

struct Server {
    gate: Mutex<Gate>,
    key: Key,
    clock: Clock,
    /// Bytes that have arrived on all connections.
    received: AtomicU64,
    /// Connections on which clients send.
    uploads: AtomicU32,
}

/// Opens the sockets of a server: for connections and for probes.
pub fn sockets(listen: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let listener = TcpListener::bind(listen)?;
    let probes = UdpSocket::bind(listener.local_addr()?)?;
    Ok((listener, probes))
}

/// Serves until the flag is set.
pub fn serve((listener, probes): (TcpListener, UdpSocket), key: Key, limits: Limits, stop: &AtomicBool) -> io::Result<()> {
    probes.set_read_timeout(Some(LOOK))?;
    let gate = Mutex::new(Gate::new(key.clone(), limits));
    let server = Arc::new(Server { gate, key, clock: Clock::start(), received: AtomicU64::new(0), uploads: AtomicU32::new(0) });
    say(&format!("gq measure: listening at {}", listener.local_addr()?));
    let admitting = Arc::clone(&server);
    // Waits for connections until the process ends.
    thread::Builder::new().spawn(move || {
        loop {
            match listener.accept() {
                Ok((stream, peer)) => admit(&admitting, stream, peer),
                // An error of one connection is none of the next, but there may be many.
                Err(_) => wait(Wall::from_millis(5)),
            }
        }
    })?;
    answer(&server, &probes, stop);
    Ok(())
}

/// Answers probes.
fn answer(server: &Server, socket: &UdpSocket, stop: &AtomicBool) {
    let mut bytes = [0; PROBE_BYTES + 1];
    while !stop.load(Ordering::Relaxed) {
        let Ok((size, from)) = socket.recv_from(&mut bytes) else { continue };
        let received = arrival(server.clock, socket);
        let answer = server.gate().answer(received, server.clock.now(), from.ip(), &bytes[..size]);
        if let Some(answer) = answer {
            // A lost answer is counted by the client.
            let _ = socket.send_to(&answer, from);
        }
    }
}

/// Gives a connection a thread, if there may be one more.
fn admit(server: &Arc<Server>, stream: TcpStream, peer: SocketAddr) {
    if server.gate().arrive().is_err() {
        return;
    }
    let serving = Arc::clone(server);
    let body = move || {
        if let Err(error) = serving.connection(stream, peer)
            && let Some(Refused::Bound(bound)) = error.get_ref().and_then(|inner| inner.downcast_ref())
        {
            say(&format!("warning: {}: {bound} is reached", peer.ip()));
        }
        serving.gate().leave();
    };
    if thread::Builder::new().stack_size(STACK).spawn(body).is_err() {
        server.gate().leave();
    }
}

impl Server {
    fn gate(&self) -> MutexGuard<'_, Gate> {
        locked(&self.gate)
    }

    fn connection(&self, mut stream: TcpStream, peer: SocketAddr) -> io::Result<()> {
        let control = prepare(&stream)?;
        let first = message(&mut stream)?;
        if Message::read(&first, &self.key).is_some_and(|message| message.kind == Kind::Hello) {
            return self.session(stream, peer, &first, control);
        }
        let (session, purpose, answer) = self.gate().attach(self.clock.now(), peer.ip(), &first).map_err(io::Error::other)?;
        stream.write_all(&answer)?;
        match purpose {
            Purpose::Question => Ok(()),
            Purpose::Down => self.send(&stream, session),
            Purpose::Up => {
                self.uploads.fetch_add(1, Ordering::Relaxed);
                let ended = self.receive(&stream, session);
                self.uploads.fetch_sub(1, Ordering::Relaxed);
                ended
            }
        }
    }

    /// Opens a session and goes on until the client leaves or its time is over.
    fn session(&self, mut stream: TcpStream, peer: SocketAddr, hello: &[u8; Message::BYTES], control: String) -> io::Result<()> {
        let challenge = self.gate().challenge(hello, random()?).map_err(io::Error::other)?;
        stream.write_all(&challenge.bytes)?;
        let open = message(&mut stream)?;
        let welcome = self.gate().open(self.clock.now(), peer.ip(), &challenge, &open).map_err(io::Error::other)?;
        stream.write_all(&welcome)?;
        // Of one that was told to come later there is no session.
        let (session, key) = self.gate().session(self.clock.now(), &challenge).map_err(io::Error::other)?;
        for text in [control.as_str(), VERSION_AND_COMMIT] {
            stream.write_all(&Message { session, text: text.to_owned(), ..Message::of(Kind::Welcome) }.sealed(&key))?;
        }
        say(&format!("{} measures", peer.ip()));
        let ended = self.ticks(&mut stream, session, &key);
        self.gate().close(session);
        say(&format!("{} has ended", peer.ip()));
        ended
    }

    /// Tells the client of bytes that have arrived, while it sends.
    fn ticks(&self, stream: &mut TcpStream, session: u64, key: &Key) -> io::Result<()> {
        stream.set_read_timeout(Some(LOOK))?;
        loop {
            match stream.read(&mut [0]) {
                Err(error) if is_pause(&error) => {}
                // A client says nothing more, so this is its end.
                Ok(_) => return Ok(()),
                Err(error) => return Err(error),
            }
            self.gate().alive(self.clock.now(), session).map_err(io::Error::other)?;
            if self.uploads.load(Ordering::Relaxed) > 0 {
                let (time, value) = (self.clock.now().as_nanos(), self.received.load(Ordering::Relaxed));
                stream.write_all(&Message { session, time, value, ..Message::of(Kind::Tick) }.sealed(key))?;
            }
        }
    }

    /// Sends frames until the client has enough. Numbers that come back are put into the next.
    fn send(&self, stream: &TcpStream, session: u64) -> io::Result<()> {
        stream.set_read_timeout(None)?;
        let asked = AtomicU64::new(0);
        thread::scope(|scope| {
            let body = || {
                let mut number = [0; 8];
                while (&*stream).read_exact(&mut number).is_ok() {
                    asked.store(u64::from_be_bytes(number), Ordering::Relaxed);
                }
            };
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body)?;
            let mut frame = [0x5a; FRAME];
            let ended = loop {
                let allowed = self.gate().send(self.clock.now(), session, Bytes::new(FRAME as u64));
                let Ok(time) = allowed else { break Ok(()) };
                pause(time);
                frame[..8].copy_from_slice(&asked.swap(0, Ordering::Relaxed).to_be_bytes());
                if let Err(error) = (&*stream).write_all(&frame) {
                    break Err(error);
                }
            };
            // Ends the reader.
            let _ = stream.shutdown(Shutdown::Both);
            ended
        })
    }

    /// Receives frames until the client ends, and answers numbers in them.
    fn receive(&self, mut stream: &TcpStream, session: u64) -> io::Result<()> {
        let (mut bytes, mut frames) = (vec![0; 64 << 10], Frames::default());
        stream.set_read_timeout(Some(PATIENCE))?;
        loop {
            let size = stream.read(&mut bytes)?;
            if size == 0 {
                return Ok(());
            }
            self.received.fetch_add(size as u64, Ordering::Relaxed);
            if let Some(number) = frames.take(&bytes[..size]) {
                stream.write_all(&number.to_be_bytes())?;
            }
            let allowed = self.gate().send(self.clock.now(), session, Bytes::new(size as u64));
            pause(allowed.map_err(io::Error::other)?);
        }
    }
}

fn pause(time: Duration) {
    if !time.is_zero() {
        wait(time.into());
    }
}
