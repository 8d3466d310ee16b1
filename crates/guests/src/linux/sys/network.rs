//! Requests of the program inside a guest to its kernel.

use super::checked;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, accept_with, connect, socket_with};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Makes a terminal pass bytes through as they are.
///
/// # Errors
/// When it is none.
pub fn make_raw(terminal: BorrowedFd<'_>) -> io::Result<()> {
    let mut settings = tcgetattr(terminal)?;
    settings.make_raw();
    Ok(tcsetattr(terminal, OptionalActions::Now, &settings)?)
}

/// An Ethernet and an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Ethernet address.
    pub hardware: [u8; 6],
    /// IP address.
    pub address: Ipv4Addr,
}

/// An IP address in the space of a general one.
fn internet(address: Ipv4Addr) -> libc::sockaddr {
    const { assert!(size_of::<libc::sockaddr_in>() == size_of::<libc::sockaddr>()) };
    let sin_addr = libc::in_addr { s_addr: u32::from(address).to_be() };
    let address = libc::sockaddr_in { sin_family: libc::AF_INET as libc::sa_family_t, sin_port: 0, sin_addr, sin_zero: [0; 8] };
    // SAFETY: both are plain old data of the same size.
    unsafe { std::mem::transmute(address) }
}

fn hardware(address: [u8; 6]) -> libc::sockaddr {
    // SAFETY: plain old data for which all zeros are valid.
    let mut general: libc::sockaddr = unsafe { zeroed() };
    general.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in general.sa_data.iter_mut().zip(address) {
        *to = from as libc::c_char;
    }
    general
}

fn control(socket: BorrowedFd<'_>, request: libc::c_ulong, argument: *mut libc::c_void) -> io::Result<()> {
    // SAFETY: callers pass the structure that the request is defined for, exclusively borrowed.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), request as _, argument) }).map(|_| ())
}

/// Sets an interface up: addresses, and the neighbor's, so that nobody has to ask for them.
///
/// # Errors
/// When the kernel refuses.
pub fn set_up(name: &[u8], own: Station, neighbor: Station) -> io::Result<()> {
    let socket = tcp_socket()?;
    // SAFETY: plain old data for which all zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name) {
        *to = *from as libc::c_char;
    }
    let device = request.ifr_name;
    let mut ask = |kind, fields| {
        request.ifr_ifru = fields;
        control(socket.as_fd(), kind, (&raw mut request).cast())
    };
    let mask = internet(Ipv4Addr::new(255, 255, 255, 0));
    type Fields = libc::__c_anonymous_ifr_ifru;
    if own.hardware != [0; 6] {
        ask(libc::SIOCSIFHWADDR, Fields { ifru_hwaddr: hardware(own.hardware) })?;
    }
    ask(libc::SIOCSIFADDR, Fields { ifru_addr: internet(own.address) })?;
    ask(libc::SIOCSIFNETMASK, Fields { ifru_netmask: mask })?;
    ask(libc::SIOCSIFFLAGS, Fields { ifru_flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short })?;
    if own.hardware == [0; 6] {
        return Ok(());
    }
    // SAFETY: plain old data for which all zeros are valid.
    let mut entry: libc::arpreq = unsafe { zeroed() };
    entry.arp_pa = internet(neighbor.address);
    entry.arp_ha = hardware(neighbor.hardware);
    entry.arp_flags = libc::ATF_PERM | libc::ATF_COM;
    entry.arp_dev = device;
    control(socket.as_fd(), libc::SIOCSARP, (&raw mut entry).cast())
}

/// A TCP socket that does not wait.
///
/// # Errors
/// When there are no more descriptors.
pub fn tcp_socket() -> io::Result<OwnedFd> {
    Ok(socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?)
}

/// Binds to a port of all addresses and listens.
///
/// # Errors
/// When the kernel refuses.
pub fn listen(socket: BorrowedFd<'_>, port: u16) -> io::Result<()> {
    bind(socket, port)?;
    Ok(rustix::net::listen(socket, 4096)?)
}

/// Binds to a port of this end.
///
/// # Errors
/// When the kernel refuses.
pub fn bind(socket: BorrowedFd<'_>, port: u16) -> io::Result<()> {
    Ok(rustix::net::bind(socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?)
}

/// Begins to connect.
///
/// # Errors
/// When the kernel refuses at once.
pub fn begin_to_connect(socket: BorrowedFd<'_>, address: Ipv4Addr, port: u16) -> io::Result<()> {
    match connect(socket, &SocketAddrV4::new(address, port)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The next connection, if there is one; calls on it wait.
///
/// # Errors
/// When the kernel refuses.
pub fn accept(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    unless_blocked(accept_with(socket, SocketFlags::CLOEXEC))
}

/// Sends what fits: how much, or `None` when there is no room.
///
/// # Errors
/// When the connection is broken.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<Option<usize>> {
    unless_blocked(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL))
}

/// The result of a call that may have had to wait, which is none.
fn unless_blocked<T>(result: Result<T, Errno>) -> io::Result<Option<T>> {
    match result {
        Ok(result) => Ok(Some(result)),
        Err(Errno::AGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes all that arrives and throws it away, until the other end has no more or the connection
/// breaks.
pub fn discard(socket: BorrowedFd<'_>) {
    /// As much as a call takes.
    const MAX: usize = 1 << 30;
    loop {
        // A call that waits for all of it comes back once in a gigabyte, not for each packet; the
        // connection is read as promptly as ever. SAFETY: with MSG_TRUNC TCP writes nothing, so a
        // null pointer is allowed (tcp(7)).
        let got = unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), MAX, libc::MSG_TRUNC | libc::MSG_WAITALL) };
        if got == 0 || (got < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted) {
            return;
        }
    }
}

/// Events of a socket that are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Something to read.
    Read,
    /// Room to write, or the other end's word.
    Write,
}

/// Waits for sockets and for a time.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    timer: OwnedFd,
}

/// Key that identifies the timer.
pub const TIMER: u64 = u64::MAX;

impl Poller {
    /// Without any socket.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), EventFlags::IN)?;
        Ok(Self { epoll, timer })
    }

    /// Watches a socket.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add(&self, socket: BorrowedFd<'_>, token: u64, watch: Watch) -> io::Result<()> {
        let events = if watch == Watch::Read { EventFlags::IN } else { EventFlags::OUT | EventFlags::ET };
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(token), events)?)
    }

    /// Sets the timer to a time of the wall clock, in nanoseconds.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wake_at(&self, nanos: u64) -> io::Result<()> {
        let at = Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ };
        let times = Itimerspec { it_interval: Timespec::default(), it_value: at };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &times)?;
        Ok(())
    }

    /// Waits, and gives the tokens of what has something.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(&self, tokens: &mut Vec<u64>) -> io::Result<()> {
        let mut events = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }; 64];
        tokens.clear();
        let count = match epoll::wait(&self.epoll, &mut events, None) {
            Err(Errno::INTR) => return Ok(()),
            other => other?,
        };
        tokens.extend(events[..count].iter().map(|event| event.data.u64()));
        if tokens.contains(&TIMER) {
            // That it may be read in vain is no harm.
            let _ = rustix::io::read(&self.timer, &mut [0_u8; 8]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::inside::{SINK, SOURCE};
    use goodqueue_live::testbed::namespace::Namespace;
    use rustix::net::{Shutdown, shutdown};
    use std::collections::BTreeSet;
    use std::net::{TcpListener, UdpSocket};

    #[test]
    fn a_poller_tells_of_connections_and_of_time() {
        let listener = tcp_socket().unwrap();
        listen(listener.as_fd(), 0).unwrap();
        let port = TcpListener::from(listener.try_clone().unwrap()).local_addr().unwrap().port();
        let sender = tcp_socket().unwrap();
        begin_to_connect(sender.as_fd(), Ipv4Addr::LOCALHOST, port).unwrap();
        let poller = Poller::new().unwrap();
        poller.add(listener.as_fd(), 1, Watch::Read).unwrap();
        poller.add(sender.as_fd(), 2, Watch::Write).unwrap();
        poller.wake_at(1).unwrap();
        let (mut seen, mut tokens) = (BTreeSet::new(), Vec::new());
        while seen.len() < 3 {
            poller.wait(&mut tokens).unwrap();
            seen.extend(tokens.iter().copied());
        }
        assert_eq!(seen, BTreeSet::from([1, 2, TIMER]));
        let receiver = accept(listener.as_fd()).unwrap().unwrap();
        assert!(accept(listener.as_fd()).unwrap().is_none());
        assert_eq!(send(sender.as_fd(), &[0; 1000]).unwrap(), Some(1000));
        shutdown(&sender, Shutdown::Write).unwrap();
        discard(receiver.as_fd());
    }

    #[test]
    fn an_interface_gets_addresses_and_a_neighbor() {
        // Only root has networks.
        let Ok(place) = Namespace::new() else { return };
        place.ip("link add eth0 type veth peer name far").unwrap();
        let neighbors = place.within(|| {
            set_up(b"eth0", SOURCE, SINK)?;
            UdpSocket::bind((SOURCE.address, 0))?;
            std::fs::read_to_string("/proc/thread-self/net/arp")
        });
        let neighbors = neighbors.unwrap();
        assert!(neighbors.contains(&SINK.address.to_string()) && neighbors.contains("02:00:00:00:00:02"), "{neighbors}");
    }
}
