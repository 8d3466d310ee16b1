//! The source: sends on every flow as its job says, and reads the kernel's view of it.

use super::{Reports, SINK, named};
use crate::linux::job::{FIRST_PORT, FlowJob, Job};
use crate::linux::report::{ConnectionState, Line};
use crate::linux::sys::network::{self, Poller, TIMER, Watch};
use goodqueue_live::sys::tcp;
use rustix::net::sockopt::set_tcp_congestion;
use rustix::net::{Shutdown, shutdown};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Bytes per write.
const PART: usize = 1 << 16;

/// Events in time order; simultaneous events are ordered as declared here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start(usize),
    Stop(usize),
    From,
    Sample,
    Until,
}

/// A connection and the data left to send.
struct Flow<'a> {
    job: &'a FlowJob,
    /// Port of the sink.
    port: u16,
    /// Last known state of a closed connection.
    last: Option<ConnectionState>,
    socket: Option<OwnedFd>,
    left: Option<u64>,
    stopped: bool,
}

impl Flow<'_> {
    fn start(&mut self, number: usize, poller: &Poller) -> io::Result<()> {
        let socket = network::tcp_socket()?;
        set_tcp_congestion(&socket, &self.job.control).map_err(|error| named(&self.job.control, &error.into()))?;
        tcp::set(socket.as_fd(), libc::TCP_MAXSEG, self.job.mss)?;
        network::bind(socket.as_fd(), FIRST_PORT + number as u16)?;
        network::begin_to_connect(socket.as_fd(), SINK.address, self.port)?;
        poller.add(socket.as_fd(), number as u64, Watch::Write)?;
        self.socket = Some(socket);
        Ok(())
    }

    /// Sends until the socket is full or no data is left.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(socket) = self.socket.as_ref().filter(|_| !self.stopped) else { return Ok(()) };
        loop {
            let most = self.left.map_or(PART, |left| left.min(PART as u64) as usize);
            if most == 0 {
                self.stopped = true;
                return Ok(shutdown(socket, Shutdown::Write)?);
            }
            let Some(sent) = network::send(socket.as_fd(), &bytes[..most])? else { return Ok(()) };
            self.left = self.left.map(|left| left - sent as u64);
        }
    }

    /// Releases a connection that both ends have closed.
    fn let_go(&mut self) {
        let known = self.socket.as_ref().filter(|_| self.stopped).and_then(|socket| tcp::state(socket.as_fd()).ok());
        if let Some(state) = known.filter(|state| state.closed) {
            self.last = Some(state.into());
            self.socket = None;
        }
    }

    fn state(&self) -> Option<ConnectionState> {
        self.socket.as_ref().map_or(self.last, |socket| Some(tcp::state(socket.as_fd()).ok()?.into()))
    }

    fn stop(&mut self) {
        self.stopped = true;
        if let Some(socket) = &self.socket {
            // A connection that is not established yet has nothing to finish.
            let _ = shutdown(socket, Shutdown::Write);
        }
    }
}

/// Report lines for present and past connections.
fn states(flows: &[Flow<'_>], line: impl Fn(u32, ConnectionState) -> Line) -> Vec<Line> {
    flows.iter().enumerate().filter_map(|(number, flow)| Some(line(number as u32, flow.state()?))).collect()
}

/// Report lines for sampled flows, including those not connected yet.
fn samples(flows: &[Flow<'_>], at: u64) -> Vec<Line> {
    let watched = flows.iter().enumerate().filter(|(_, flow)| flow.job.watched);
    watched.map(|(number, flow)| Line::Sample(at, number as u32, flow.state().unwrap_or_default())).collect()
}

pub(super) fn run(job: &Job, reports: &mut Reports) -> io::Result<()> {
    let poller = Poller::new()?;
    let bytes = vec![0; PART];
    fn flow((job, port): (&FlowJob, u16)) -> Flow<'_> {
        Flow { job, port, last: None, socket: None, left: job.size, stopped: false }
    }
    let mut flows: Vec<Flow<'_>> = job.flows.iter().zip(job.services().1).map(flow).collect();
    let mut events = BTreeSet::from([(job.from.as_nanos(), Event::From), (job.until.as_nanos(), Event::Until)]);
    for (number, flow) in job.flows.iter().enumerate() {
        events.insert((flow.start.as_nanos(), Event::Start(number)));
        events.extend(flow.stop.map(|stop| (stop.as_nanos(), Event::Stop(number))));
    }
    events.extend(job.sample.map(|period| (period.as_nanos(), Event::Sample)));
    reports.say(&[Line::Ready])?;
    let mut tokens = Vec::new();
    while let Some(&(next, event)) = events.first() {
        poller.wake_at(job.epoch + next)?;
        poller.wait(&mut tokens)?;
        let mut due = false;
        for token in &tokens {
            match flows.get_mut(*token as usize) {
                // A flow with an error has ended, as its figures show.
                Some(flow) => {
                    flow.stopped |= flow.send(&bytes).is_err();
                    flow.let_go();
                }
                None => due |= *token == TIMER,
            }
        }
        if !due {
            continue;
        }
        events.remove(&(next, event));
        match event {
            Event::Start(number) => flows[number].start(number, &poller)?,
            Event::Stop(number) => flows[number].stop(),
            Event::From => reports.say(&states(&flows, Line::From))?,
            Event::Sample => {
                reports.say(&samples(&flows, next))?;
                let again = next + job.sample.map_or(0, |period| period.as_nanos());
                events.extend((again <= job.until.as_nanos()).then_some((again, Event::Sample)));
            }
            Event::Until => {
                let mut lines = states(&flows, Line::Until);
                lines.push(Line::Done);
                reports.say(&lines)?;
            }
        }
    }
    // The job is done; the host ends the guest.
    loop {
        poller.wait(&mut tokens)?;
    }
}
