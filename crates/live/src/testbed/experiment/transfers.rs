//! Transfers over connections of their own: one thread begins them at their times, each has a
//! thread that sends it, and one at the far end accepts and receives.

use super::shared::{Place, Shared};
use super::waiting::{Deadline, LOOK, Stop, is_pause, locked, offered};
use super::{Flow, Source};
use crate::sys::tcp;
use goodqueue_sim::Transfer;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_ip_tos, set_tcp_congestion, socket_error};
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{Builder, Scope};
use std::time::Duration as Wall;

/// Bytes per read and write.
const PART: usize = 1 << 17;
/// Stack size of a thread that sends or receives one transfer.
const STACK: usize = 1 << 18;

/// Begins the transfers of a flow at their times, until it stops.
pub(super) fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flow: &Flow,
    listener: TcpListener,
    place: Place<'scope>,
    shared: &Arc<Shared>,
    stop: &'scope Stop,
) -> io::Result<()> {
    let Source::Transfers { control, list } = &flow.source else { return Ok(()) };
    listener.set_nonblocking(true)?;
    let counted = Arc::clone(shared);
    Builder::new().name("acceptor".to_owned()).spawn_scoped(scope, move || {
        while let Some(stream) = accepted(&listener, stop) {
            let counted = Arc::clone(&counted);
            // Without a thread nobody receives the transfer, and it never ends.
            let _ = Builder::new().stack_size(STACK).spawn_scoped(scope, move || receive(stream, &counted, stop));
        }
    })?;
    let mut clock = Deadline::after(offered(flow));
    for (number, transfer) in (0..).zip(list.iter().copied()) {
        if stop.within(Wall::from(transfer.at).saturating_sub(clock.passed())) || clock.is_past() {
            break;
        }
        let (control, shared, dscp) = (control.clone(), Arc::clone(shared), flow.dscp);
        Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
            if let Err(error) = send((number, transfer), &control, dscp, place, &shared, stop) {
                *locked(&shared.failure) = Some(error.to_string());
            }
        })?;
    }
    Ok(())
}

/// Whether a socket is ready before all is over.
fn is_ready(socket: BorrowedFd<'_>, what: PollFlags, stop: &Stop) -> bool {
    let look = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
    while !stop.within(Wall::ZERO) {
        match poll(&mut [PollFd::from_borrowed_fd(socket, what)], Some(&look)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return true,
            Err(_) => return false,
        }
    }
    false
}

/// The next connection; `None` when all is over.
fn accepted(listener: &TcpListener, stop: &Stop) -> Option<TcpStream> {
    while is_ready(listener.as_fd(), PollFlags::IN, stop) {
        if let Ok((stream, _)) = listener.accept() {
            return Some(stream);
        }
    }
    None
}

fn receive(mut stream: TcpStream, counted: &Shared, stop: &Stop) {
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(LOOK)));
    let mut buffer = vec![0; PART];
    while ready.is_ok() {
        match stream.read(&mut buffer) {
            Ok(got @ 1..) => {
                counted.delivered.fetch_add(got as u64, Ordering::Relaxed);
            }
            Err(error) if is_pause(&error) && !stop.within(Wall::ZERO) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// Sends one transfer. It has ended when the far end, which has everything, closes.
fn send(
    (number, transfer): (u32, Transfer),
    control: &str,
    dscp: u8,
    place: Place<'_>,
    shared: &Shared,
    stop: &Stop,
) -> io::Result<()> {
    place.from.enter()?;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
    set_tcp_congestion(&socket, control)
        .map_err(|error| io::Error::new(io::Error::from(error).kind(), format!("congestion control `{control}`: {error}")))?;
    if dscp != 0 {
        set_ip_tos(&socket, dscp << 2)?;
    }
    let Some(log) = &shared.transfers else { return Ok(()) };
    log.begin(number, transfer);
    match connect(&socket, &place.to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    // A connection that finds no way is a transfer that does not end.
    if !is_ready(socket.as_fd(), PollFlags::OUT, stop) || !matches!(socket_error(&socket), Ok(Ok(()))) {
        return Ok(());
    }
    let mut stream = TcpStream::from(socket);
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(LOOK))?;
    stream.set_read_timeout(Some(LOOK))?;
    let data = vec![0x5A; PART];
    let mut left = transfer.size.get();
    while left > 0 && !stop.within(Wall::ZERO) {
        match stream.write(&data[..left.min(PART as u64) as usize]) {
            Ok(sent) => left -= sent as u64,
            Err(error) if is_pause(&error) => {}
            Err(_) => return Ok(()),
        }
    }
    stream.shutdown(Shutdown::Write)?;
    loop {
        match stream.read(&mut [0]) {
            Ok(0) => break,
            Err(error) if is_pause(&error) && !stop.within(Wall::ZERO) => {}
            Ok(_) | Err(_) => return Ok(()),
        }
    }
    log.end(number);
    if let Ok(state) = tcp::state(stream.as_fd()) {
        shared.sent.fetch_add(state.sent, Ordering::Relaxed);
        shared.retransmitted.fetch_add(state.retransmitted.into(), Ordering::Relaxed);
        locked(&shared.rtt).add(state.rtt);
    }
    Ok(())
}
