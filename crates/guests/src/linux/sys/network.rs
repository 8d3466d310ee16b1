//! Requests of the program inside a guest to its kernel.

use super::checked;
use crate::linux::report::ConnectionState;
use std::ffi::CStr;
use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Mounts a file system that needs no device.
///
/// # Errors
/// When the kernel refuses.
pub fn mount(kind: &CStr, at: &CStr) -> io::Result<()> {
    // SAFETY: all pointers are to strings that end in zero, or null where that is allowed.
    checked(unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) }).map(|_| ())
}

/// Puts one file in another's place.
///
/// # Errors
/// When the kernel refuses.
pub fn mount_over(file: &CStr, at: &CStr) -> io::Result<()> {
    let none = std::ptr::null();
    // SAFETY: both pointers are to strings that end in zero; the others may be null.
    checked(unsafe { libc::mount(file.as_ptr(), at.as_ptr(), none, libc::MS_BIND, none.cast()) }).map(|_| ())
}

/// Makes a terminal pass bytes through as they are.
///
/// # Errors
/// When it is none.
pub fn make_raw(terminal: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the structure is plain old data for which all zeros are valid, exclusively borrowed
    // for each call.
    unsafe {
        let mut settings: libc::termios = zeroed();
        checked(libc::tcgetattr(terminal.as_raw_fd(), &raw mut settings))?;
        libc::cfmakeraw(&raw mut settings);
        checked(libc::tcsetattr(terminal.as_raw_fd(), libc::TCSANOW, &raw const settings)).map(|_| ())
    }
}

/// An Ethernet and an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Ethernet address.
    pub hardware: [u8; 6],
    /// IP address.
    pub address: Ipv4Addr,
}

fn internet(address: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    }
}

/// A socket address in the space of a general one.
fn general(address: libc::sockaddr_in) -> libc::sockaddr {
    const { assert!(size_of::<libc::sockaddr_in>() == size_of::<libc::sockaddr>()) };
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
    use std::os::fd::AsFd;
    let socket = tcp_socket()?;
    // SAFETY: plain old data for which all zeros are valid.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name) {
        *to = *from as libc::c_char;
    }
    let mut ask = |kind, fields| {
        request.ifr_ifru = fields;
        control(socket.as_fd(), kind, (&raw mut request).cast())
    };
    let mask = internet(Ipv4Addr::new(255, 255, 255, 0), 0);
    type Fields = libc::__c_anonymous_ifr_ifru;
    if own.hardware != [0; 6] {
        ask(libc::SIOCSIFHWADDR, Fields { ifru_hwaddr: hardware(own.hardware) })?;
    }
    ask(libc::SIOCSIFADDR, Fields { ifru_addr: general(internet(own.address, 0)) })?;
    ask(libc::SIOCSIFNETMASK, Fields { ifru_netmask: general(mask) })?;
    ask(libc::SIOCSIFFLAGS, Fields { ifru_flags: (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short })?;
    if own.hardware == [0; 6] {
        return Ok(());
    }
    // SAFETY: plain old data for which all zeros are valid.
    let mut entry: libc::arpreq = unsafe { zeroed() };
    entry.arp_pa = general(internet(neighbor.address, 0));
    entry.arp_ha = hardware(neighbor.hardware);
    entry.arp_flags = libc::ATF_PERM | libc::ATF_COM;
    for (to, from) in entry.arp_dev.iter_mut().take(libc::IFNAMSIZ - 1).zip(name) {
        *to = *from as libc::c_char;
    }
    control(socket.as_fd(), libc::SIOCSARP, (&raw mut entry).cast())
}

/// A TCP socket that does not wait.
///
/// # Errors
/// When there are no more descriptors.
pub fn tcp_socket() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; the descriptor it returns is new and owned by nobody
    // else.
    unsafe {
        let fd = checked(libc::socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Sets an option to bytes.
///
/// # Errors
/// When the kernel refuses.
pub fn set_bytes(socket: BorrowedFd<'_>, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: pointer and length describe `value`, which outlives the call and is only read.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), len) }).map(|_| ())
}

/// Sets an option to a number.
///
/// # Errors
/// When the kernel refuses.
pub fn set_number(socket: BorrowedFd<'_>, level: i32, option: i32, value: i32) -> io::Result<()> {
    set_bytes(socket, level, option, &value.to_ne_bytes())
}

/// Binds to a port of all addresses and listens.
///
/// # Errors
/// When the kernel refuses.
pub fn listen(socket: BorrowedFd<'_>, port: u16) -> io::Result<()> {
    bind(socket, port)?;
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::listen(socket.as_raw_fd(), 4096) }).map(|_| ())
}

/// Binds to a port of this end.
///
/// # Errors
/// When the kernel refuses.
pub fn bind(socket: BorrowedFd<'_>, port: u16) -> io::Result<()> {
    let address = internet(Ipv4Addr::UNSPECIFIED, port);
    let len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) }).map(|_| ())
}

/// Raises the number of descriptors that this process may have to `most`.
///
/// # Errors
/// When the kernel refuses.
pub fn allow_descriptors(most: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the limit outlives the call and is only read.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }).map(|_| ())
}

/// Begins to connect.
///
/// # Errors
/// When the kernel refuses at once.
pub fn connect(socket: BorrowedFd<'_>, address: Ipv4Addr, port: u16) -> io::Result<()> {
    let address = internet(address, port);
    let len = size_of_val(&address) as libc::socklen_t;
    // SAFETY: pointer and length describe `address`, which outlives the call and is only read.
    match checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len) }) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

/// The next connection, if there is one; calls on it wait.
///
/// # Errors
/// When the kernel refuses.
pub fn accept(socket: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    // SAFETY: null is allowed for both pointers; the descriptor it returns is new and owned by
    // nobody else.
    unsafe {
        match checked(libc::accept4(socket.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut(), libc::SOCK_CLOEXEC)) {
            Ok(fd) => Ok(Some(OwnedFd::from_raw_fd(fd))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Sends what fits: how much, or `None` when there is no room.
///
/// # Errors
/// When the connection is broken.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<Option<usize>> {
    // SAFETY: pointer and length describe `bytes`, which outlives the call and is only read.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    done(sent)
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

fn done(result: isize) -> io::Result<Option<usize>> {
    usize::try_from(result).map(Some).or_else(|_| match io::Error::last_os_error() {
        error if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        error => Err(error),
    })
}

/// Says that there is no more to send.
///
/// # Errors
/// When it is not connected.
pub fn finish(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes no pointers.
    checked(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(|_| ())
}

/// Whether both ends have closed.
#[must_use]
pub fn is_closed(socket: BorrowedFd<'_>) -> bool {
    /// State of sockets of past connections (`tcp_states.h`); those that wait for late packets are
    /// no sockets any more.
    const CLOSED: u8 = 7;
    information(socket).is_ok_and(|bytes| bytes[0] == CLOSED)
}

/// `TCP_INFO`, as far as we need it.
fn information(socket: BorrowedFd<'_>) -> io::Result<[u8; 248]> {
    let mut bytes = [0_u8; 248];
    let mut len = bytes.len() as libc::socklen_t;
    // SAFETY: pointer and length describe `bytes`, exclusively borrowed for the call.
    checked(unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, bytes.as_mut_ptr().cast(), &raw mut len)
    })?;
    Ok(bytes)
}

/// The state of a connection.
///
/// # Errors
/// When it is none.
pub fn state(socket: BorrowedFd<'_>) -> io::Result<ConnectionState> {
    // Places in the structure of Linux 6.7 and later.
    const MSS: usize = 16;
    const UNACKED: usize = 24;
    const SACKED: usize = 28;
    const LOST: usize = 32;
    const RETRANS: usize = 36;
    const RTT: usize = 68;
    const WINDOW: usize = 80;
    const TOTAL_RETRANS: usize = 100;
    const ACKED: usize = 120;
    const TIMEOUTS: usize = 240;
    let bytes = information(socket)?;
    let two = |at: usize| u64::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]));
    let four = |at: usize| two(at) | two(at + 2) << 16;
    let out = (four(UNACKED) + four(RETRANS)).saturating_sub(four(SACKED) + four(LOST));
    Ok(ConnectionState {
        window: four(WINDOW) * four(MSS),
        in_flight: out * four(MSS),
        rtt_us: four(RTT),
        acknowledged: four(ACKED) | four(ACKED + 4) << 32,
        retransmitted: four(TOTAL_RETRANS),
        timeouts: two(TIMEOUTS),
    })
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
        // SAFETY: the calls take no pointers; descriptors they return are new and owned by nobody
        // else.
        let poller = unsafe {
            let epoll = OwnedFd::from_raw_fd(checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?);
            let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
            let timer = OwnedFd::from_raw_fd(checked(libc::timerfd_create(libc::CLOCK_REALTIME, flags))?);
            Self { epoll, timer }
        };
        poller.control(libc::EPOLL_CTL_ADD, poller.timer.as_raw_fd(), TIMER, libc::EPOLLIN)?;
        Ok(poller)
    }

    fn control(&self, operation: i32, fd: i32, token: u64, events: i32) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        // SAFETY: the event outlives the call.
        checked(unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &raw mut event) }).map(|_| ())
    }

    /// Watches a socket.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add(&self, socket: BorrowedFd<'_>, token: u64, watch: Watch) -> io::Result<()> {
        let events = if watch == Watch::Read { libc::EPOLLIN } else { libc::EPOLLOUT | libc::EPOLLET };
        self.control(libc::EPOLL_CTL_ADD, socket.as_raw_fd(), token, events)
    }

    /// Sets the timer to a time of the wall clock, in nanoseconds.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wake_at(&self, nanos: u64) -> io::Result<()> {
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let at = libc::timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as i64 };
        let times = libc::itimerspec { it_interval: zero, it_value: at };
        // SAFETY: the times outlive the call; null is allowed for the old ones.
        checked(unsafe {
            libc::timerfd_settime(self.timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const times, std::ptr::null_mut())
        })
        .map(|_| ())
    }

    /// Waits, and gives the tokens of what has something.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(&self, tokens: &mut Vec<u64>) -> io::Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        tokens.clear();
        // SAFETY: pointer and count describe `events`, exclusively borrowed for the call.
        let count =
            match checked(unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), events.len() as i32, -1) }) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
                other => other? as usize,
            };
        for event in &events[..count] {
            let token = event.u64;
            if token == TIMER {
                let mut expired = [0_u8; 8];
                // SAFETY: pointer and length describe `expired`; that it may be read in vain is no
                // harm.
                unsafe { libc::read(self.timer.as_raw_fd(), expired.as_mut_ptr().cast(), expired.len()) };
            }
            tokens.push(token);
        }
        Ok(())
    }
}
