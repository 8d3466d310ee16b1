//! The sink: receives data and discards it.

use super::{Reports, named};
use crate::linux::job::{FIRST_SERVICE, Job};
use crate::linux::report::Line;
use crate::linux::sys::network::{self, Poller, TIMER, Watch};
use goodqueue_live::sys::tcp;
use rustix::net::sockopt::set_tcp_congestion;
use std::io;
use std::os::fd::AsFd;
use std::thread::Builder;

/// Stack size of a thread that only waits.
const STACK: usize = 1 << 16;

pub(super) fn run(job: &Job, reports: &mut Reports) -> io::Result<()> {
    let poller = Poller::new()?;
    let mut listeners = Vec::new();
    for (place, flow) in job.services().0.into_iter().enumerate() {
        let socket = network::tcp_socket()?;
        // Some controls need their own kind of feedback.
        set_tcp_congestion(&socket, &flow.control).map_err(|error| named(&flow.control, &error.into()))?;
        tcp::set(socket.as_fd(), libc::TCP_MAXSEG, flow.mss)?;
        if let Some(window) = flow.window {
            tcp::set(socket.as_fd(), libc::TCP_WINDOW_CLAMP, window)?;
        }
        network::listen(socket.as_fd(), FIRST_SERVICE + place as u16)?;
        poller.add(socket.as_fd(), place as u64, Watch::Read)?;
        listeners.push(socket);
    }
    poller.wake_at(job.epoch + job.until.as_nanos())?;
    reports.say(&[Line::Ready])?;
    let mut tokens = Vec::new();
    loop {
        poller.wait(&mut tokens)?;
        for token in &tokens {
            if *token == TIMER {
                reports.say(&[Line::Done])?;
            } else if let Some(listener) = listeners.get(*token as usize) {
                while let Some(socket) = network::accept(listener.as_fd())? {
                    // A thread that waits inside the kernel costs least: a system call costs more
                    // here than processing a packet.
                    Builder::new().stack_size(STACK).spawn(move || network::discard(socket.as_fd()))?;
                }
            }
        }
    }
}
