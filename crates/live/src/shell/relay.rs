//! Relays traffic that the program sends beyond the far end, over connections opened in the network
//! of the command.
//!
//! TCP ends at the far end, whose kernel sends across the line; bytes are copied between that
//! connection and one outside. Datagrams are copied one by one, without their codepoints.

use crate::shell::on_demand_sockets::NewFlow;
use crate::sys::{descriptors, udp};
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Connections relayed at the same time at most, and as many exchanges of datagrams.
const MAX: usize = 1000;
/// Silence after which an exchange of datagrams is over (RFC 4787 §4.3: at least two minutes).
const SILENT: Duration = Duration::from_secs(120);
/// A host outside that does not answer within this time is not there.
const CONNECTING: Duration = Duration::from_secs(30);
/// Port of name servers.
const NAMES: u16 = 53;

/// Translation of addresses to those of the network outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The address that stands for this machine.
    pub outside: Ipv4Addr,
    /// The name server of this machine.
    pub names: Option<Ipv4Addr>,
}

impl Meaning {
    fn of(self, address: SocketAddrV4) -> SocketAddrV4 {
        match self.names {
            _ if *address.ip() != self.outside => address,
            Some(names) if address.port() == NAMES => SocketAddrV4::new(names, NAMES),
            Some(_) | None => SocketAddrV4::new(Ipv4Addr::LOCALHOST, address.port()),
        }
    }
}

/// The first name server with an IPv4 address in the text of `resolv.conf`.
pub fn name_server(text: &str) -> Option<Ipv4Addr> {
    text.lines().find_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse().ok())
}

/// Takes sockets from `inside` and relays what comes to them, until `inside` is gone.
pub fn serve(inside: &UnixStream, meaning: Meaning) -> io::Result<()> {
    let busy = Arc::new(AtomicUsize::new(0));
    let mut message = [0; NewFlow::BYTES];
    while let (got @ 1.., files) = descriptors::receive(inside, &mut message)? {
        if got < message.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (Some(opening), Some(file)) = (NewFlow::from_bytes(message), files.into_iter().next()) else { continue };
        let busy = Arc::clone(&busy);
        thread(move || match opening {
            NewFlow::Tcp(_) => connections(&TcpListener::from(file), meaning, &busy),
            NewFlow::Udp(port) => datagrams(file, port, meaning, &busy),
        });
    }
    Ok(())
}

/// Without a thread nothing is relayed; the program sees a connection that does not answer.
fn thread(work: impl FnOnce() + Send + 'static) {
    let _ = std::thread::Builder::new().name("relay".to_owned()).spawn(work);
}

/// One of [`MAX`] places, free again when it is dropped.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    fn take(busy: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| (count < MAX).then_some(count + 1));
        taken.ok().map(|_| Self(Arc::clone(busy)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn connections(listener: &TcpListener, meaning: Meaning, busy: &Arc<AtomicUsize>) {
    while let Ok((near, _)) = listener.accept() {
        let Some(seat) = Permit::take(busy) else { continue };
        thread(move || {
            // One that fails ends for the program as the connection outside has ended.
            let _ = connection(&near, meaning);
            drop(seat);
        });
    }
}

fn connection(near: &TcpStream, meaning: Meaning) -> io::Result<()> {
    let std::net::SocketAddr::V4(to) = near.local_addr()? else { return Ok(()) };
    let far = TcpStream::connect_timeout(&meaning.of(to).into(), CONNECTING)?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    std::thread::scope(|scope| {
        scope.spawn(|| copy(near, &far));
        copy(&far, near);
    });
    Ok(())
}

/// Copies until one side ends, and ends the other in the same direction.
fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    if io::copy(&mut from, &mut to).is_ok() {
        let _ = to.shutdown(Shutdown::Write);
    } else {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

fn datagrams(socket: OwnedFd, port: u16, meaning: Meaning, busy: &Arc<AtomicUsize>) {
    let socket = Arc::new(socket);
    let mut exchanges: BTreeMap<udp::Ends, (Arc<UdpSocket>, Instant)> = BTreeMap::new();
    let mut buffer = vec![0; 1 << 16];
    while let Ok((got, ends)) = udp::receive(socket.as_fd(), &mut buffer) {
        let now = now();
        if !exchanges.contains_key(&ends) {
            exchanges.retain(|_, (_, last)| now.duration_since(*last) < SILENT);
            let to = meaning.of(SocketAddrV4::new(ends.to, port));
            let Some(seat) = Permit::take(busy) else { continue };
            let Ok(far) = exchange(&socket, ends, to, seat) else { continue };
            exchanges.insert(ends, (far, now));
        }
        if let Some((far, last)) = exchanges.get_mut(&ends) {
            *last = now;
            // One that is refused outside is lost, as on any way.
            let _ = far.send(&buffer[..got]);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "when to forget an exchange of datagrams; nothing is measured by it")]
fn now() -> Instant {
    Instant::now()
}

/// A socket outside whose answers go back to where the first datagram came from.
fn exchange(socket: &Arc<OwnedFd>, ends: udp::Ends, to: SocketAddrV4, seat: Permit) -> io::Result<Arc<UdpSocket>> {
    let far = Arc::new(UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?);
    far.connect(to)?;
    far.set_read_timeout(Some(SILENT))?;
    let (socket, answers) = (Arc::clone(socket), Arc::clone(&far));
    thread(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match answers.recv(&mut buffer) {
                Ok(got) => {
                    let _ = udp::answer(socket.as_fd(), ends, &buffer[..got]);
                }
                // Nobody listens there; the program may try again.
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
                Err(_) => break,
            }
        }
        drop(seat);
    });
    Ok(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_stands_for_this_machine() {
        let outside = Ipv4Addr::new(100, 64, 0, 4);
        let meaning = Meaning { outside, names: Some(Ipv4Addr::new(9, 9, 9, 9)) };
        let at = |ip, port| SocketAddrV4::new(ip, port);
        assert_eq!(meaning.of(at(outside, 8000)), at(Ipv4Addr::LOCALHOST, 8000));
        assert_eq!(meaning.of(at(outside, 53)), at(Ipv4Addr::new(9, 9, 9, 9), 53));
        assert_eq!(meaning.of(at(Ipv4Addr::new(192, 0, 2, 1), 53)), at(Ipv4Addr::new(192, 0, 2, 1), 53));
    }

    #[test]
    fn the_first_name_server_with_an_address_of_ipv4_counts() {
        assert_eq!(name_server("# x\nnameserver ::1\n nameserver 127.0.0.53\n"), Some(Ipv4Addr::new(127, 0, 0, 53)));
        assert_eq!(name_server("search example.org\n"), None);
    }
}
