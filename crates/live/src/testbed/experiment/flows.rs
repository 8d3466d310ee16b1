//! Senders and receivers: ordinary sockets of this kernel, each pair on threads of its own.

use super::call;
use super::caller::Call;
use super::datagrams::{UDP_HEADERS, each_datagram, each_due};
use super::echo;
use super::gaps::Gaps;
use super::prober::Prober;
use super::shared::{Place, Shared};
use super::transfer_log::Log;
use super::transfers;
use super::waiting::{Deadline, LOOK, Stop, is_pause, locked, offered};
use super::{Direction, Flow, Source};
use crate::sys::tcp;
use crate::testbed::bench::Bench;
use goodqueue_sim::trace::{ProbesOutcome, TimeCounts};
use goodqueue_sim::{CallOutcome, CarriedTransfer};
use rustix::net::sockopt::{set_ip_tos, set_tcp_congestion};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::Duration as Wall;

/// Counts and times of one flow.
#[derive(Clone, Debug)]
pub struct FlowMeasured {
    /// Bytes that arrived: payload of TCP, IP bytes of UDP, those of answers of an echo.
    pub delivered_bytes: u64,
    /// Packets with data that were sent, retransmissions included.
    pub sent_packets: u64,
    /// Packets among those sent that were retransmissions.
    pub retransmitted_packets: u64,
    /// The kernel's smoothed round-trip time, sampled; empty for UDP.
    pub rtt: TimeCounts,
    /// Outcome of the probes of an echo; `None` for other flows.
    pub probes: Option<ProbesOutcome>,
    /// Outcome of a call; `None` for other flows.
    pub call: Option<CallOutcome>,
    /// Transfers that began; packets and round-trip times are counted at the end of each.
    pub transfers: Vec<CarriedTransfer>,
}

/// State of a flow; NaN where nothing is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowState {
    pub(super) delivered_bytes: u64,
    pub(super) cwnd_bytes: f64,
    pub(super) in_flight_bytes: f64,
    pub(super) srtt_s: f64,
}

impl FlowMeasured {
    pub(super) fn since(mut self, earlier: &Self) -> Self {
        self.delivered_bytes -= earlier.delivered_bytes;
        self.sent_packets = self.sent_packets.saturating_sub(earlier.sent_packets);
        self.retransmitted_packets = self.retransmitted_packets.saturating_sub(earlier.retransmitted_packets);
        self
    }
}

/// Flows that have receivers but do not send yet.
pub(super) struct Traffic {
    flows: Vec<(Flow, Ends, Arc<Shared>)>,
}

enum Ends {
    Tcp { listener: TcpListener, to: SocketAddr },
    Udp { sender: UdpSocket, receiver: UdpSocket },
    Echo(echo::Ends),
}

/// Flows that send.
pub(super) struct Live(Vec<Arc<Shared>>);

const FIRST_PORT: u16 = 10_000;
const CONNECT: Wall = Wall::from_secs(20);

impl Traffic {
    /// Opens all receivers.
    pub(super) fn new(flows: &[Flow], bench: &Bench) -> io::Result<Self> {
        let mut all = Vec::new();
        for (flow, port) in flows.iter().zip(FIRST_PORT..) {
            let (from, to) = match flow.way {
                Direction::Down => ((&bench.left, Bench::LEFT_ADDRESS), (&bench.right, Bench::RIGHT_ADDRESS)),
                Direction::Up => ((&bench.right, Bench::RIGHT_ADDRESS), (&bench.left, Bench::LEFT_ADDRESS)),
            };
            let ends = match flow.source {
                Source::Tcp { .. } | Source::Transfers { .. } => {
                    let listener = to.0.within(|| TcpListener::bind((to.1, port)))?;
                    Ends::Tcp { listener, to: (to.1, port).into() }
                }
                Source::Udp { .. } | Source::Call { .. } | Source::Echo { .. } => {
                    let receiver = to.0.within(|| UdpSocket::bind((to.1, port)))?;
                    let sender = from.0.within(|| UdpSocket::bind((from.1, port)))?;
                    receiver.set_read_timeout(Some(LOOK))?;
                    sender.connect((to.1, port))?;
                    if matches!(flow.source, Source::Echo { .. }) {
                        Ends::Echo(echo::Ends::new(sender, receiver)?)
                    } else {
                        Ends::Udp { sender, receiver }
                    }
                }
            };
            all.push((flow.clone(), ends, Arc::new(Shared::new(&flow.source))));
        }
        Ok(Self { flows: all })
    }

    /// Starts all of them, each at its time.
    pub(super) fn start<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope Stop,
        bench: &'scope Bench,
    ) -> io::Result<Live> {
        let mut live = Vec::new();
        for (flow, ends, shared) in self.flows {
            live.push(Arc::clone(&shared));
            let body = move || {
                let start = Wall::from(flow.start);
                if stop.within(start) {
                    return;
                }
                let from = if flow.way == Direction::Down { &bench.left } else { &bench.right };
                let outcome = match (ends, &flow.source) {
                    (Ends::Tcp { listener, to }, Source::Transfers { .. }) => {
                        transfers::run(scope, &flow, listener, Place { from, to }, &shared, stop)
                    }
                    (Ends::Tcp { listener, to }, Source::Tcp { control }) => {
                        tcp_flow(scope, &flow, control, &listener, Place { from, to }, &shared, stop)
                    }
                    (Ends::Udp { sender, receiver }, Source::Udp { .. }) => {
                        udp_flow(scope, &flow, &sender, receiver, &shared, stop)
                    }
                    (Ends::Udp { sender, receiver }, Source::Call { .. }) => {
                        call::run(scope, &flow, (&sender, receiver), &shared, stop)
                    }
                    (Ends::Echo(ends), Source::Echo { .. }) => ends.run(scope, &flow, &shared, stop),
                    _ => Ok(()),
                };
                if let Err(error) = outcome {
                    *locked(&shared.failure) = Some(error.to_string());
                }
            };
            std::thread::Builder::new().name("sender".to_owned()).spawn_scoped(scope, body)?;
        }
        Ok(Live(live))
    }
}

fn tcp_flow<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flow: &Flow,
    control: &str,
    listener: &TcpListener,
    Place { from, to }: Place<'_>,
    shared: &Arc<Shared>,
    stop: &'scope Stop,
) -> io::Result<()> {
    let mut stream = from.within(|| TcpStream::connect_timeout(&to, CONNECT))?;
    set_tcp_congestion(&stream, control)
        .map_err(|error| io::Error::new(error.kind(), format!("congestion control `{control}`: {error}")))?;
    if flow.dscp != 0 {
        set_ip_tos(&stream, flow.dscp << 2)?;
    }
    // The kernel has accepted already.
    let (mut incoming, _) = listener.accept()?;
    incoming.set_read_timeout(Some(LOOK))?;
    let counted = Arc::clone(shared);
    let receive = move || {
        let mut buffer = vec![0; 1 << 18];
        loop {
            match incoming.read(&mut buffer) {
                Ok(0) => return,
                Ok(got) => {
                    counted.delivered.fetch_add(got as u64, Ordering::Relaxed);
                }
                Err(error) if is_pause(&error) && !stop.within(Wall::ZERO) => {}
                Err(_) => return,
            }
        }
    };
    std::thread::Builder::new().name("receiver".to_owned()).spawn_scoped(scope, receive)?;
    stream.set_write_timeout(Some(LOOK))?;
    *locked(&shared.stream) = Some(stream.try_clone()?);
    let data = vec![0x5A; 1 << 17];
    let end = Deadline::after(offered(flow));
    while !stop.within(Wall::ZERO) && !end.is_past() {
        match stream.write(&data) {
            Ok(_) => {}
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn udp_flow<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flow: &Flow,
    sender: &UdpSocket,
    receiver: UdpSocket,
    shared: &Arc<Shared>,
    stop: &'scope Stop,
) -> io::Result<()> {
    let Source::Udp { rate, arrivals, ref rng, packet_size, ecn } = flow.source else { return Ok(()) };
    set_ip_tos(sender, flow.dscp << 2 | ecn as u8)?;
    let counted = Arc::clone(shared);
    let receive = move || {
        each_datagram(&receiver, stop, |packet| {
            counted.delivered.fetch_add(packet.len() as u64 + u64::from(UDP_HEADERS), Ordering::Relaxed);
        });
    };
    std::thread::Builder::new().name("receiver".to_owned()).spawn_scoped(scope, receive)?;
    let payload = vec![0; packet_size.saturating_sub(UDP_HEADERS) as usize];
    let mut gaps = Gaps::new(arrivals, f64::from(packet_size) * 8.0 / rate.as_bit_s().max(1) as f64, rng.clone());
    each_due(
        flow,
        stop,
        || Wall::from_secs_f64(gaps.next()),
        || {
            sender.send(&payload)?;
            shared.sent.fetch_add(1, Ordering::Relaxed);
            Ok(())
        },
    )
}

impl Live {
    /// Returns the counts of all flows so far; round-trip times, probes, calls and transfers since
    /// the last time.
    pub(super) fn read(&self) -> Vec<FlowMeasured> {
        let one = |shared: &Arc<Shared>| {
            let _together = locked(&shared.counting);
            let stream = locked(&shared.stream);
            let state = stream.as_ref().and_then(|stream| tcp::state(stream.as_fd()).ok());
            let (of_call, call) = shared.call.as_ref().map(Call::take).unzip();
            FlowMeasured {
                delivered_bytes: shared.delivered.load(Ordering::Relaxed),
                sent_packets: of_call.or(state.map(|state| state.sent)).unwrap_or_else(|| shared.sent.load(Ordering::Relaxed)),
                retransmitted_packets: state
                    .map_or_else(|| shared.retransmitted.load(Ordering::Relaxed), |state| u64::from(state.retransmitted)),
                rtt: std::mem::take(&mut *locked(&shared.rtt)),
                probes: shared.prober.as_ref().map(Prober::take),
                call,
                transfers: shared.transfers.as_ref().map(Log::take).unwrap_or_default(),
            }
        };
        self.0.iter().map(one).collect()
    }

    /// Returns the present state of all senders. In the measured part their round-trip times count.
    pub(super) fn sample(&self, is_measured: bool) -> Vec<FlowState> {
        let one = |shared: &Arc<Shared>| {
            let state = locked(&shared.stream).as_ref().and_then(|stream| tcp::state(stream.as_fd()).ok());
            if let Some(state) = state.filter(|_| is_measured) {
                locked(&shared.rtt).add(state.rtt);
            }
            let bytes = |segments: u32, mss: u32| f64::from(segments) * f64::from(mss);
            FlowState {
                delivered_bytes: shared.delivered.load(Ordering::Relaxed),
                cwnd_bytes: state.map_or(f64::NAN, |state| bytes(state.window, state.mss)),
                in_flight_bytes: state.map_or(f64::NAN, |state| bytes(state.in_flight, state.mss)),
                srtt_s: state.map_or(f64::NAN, |state| state.rtt.as_secs_f64()),
            }
        };
        self.0.iter().map(one).collect()
    }

    /// The error of one that has failed.
    pub(super) fn check(&self) -> io::Result<()> {
        let failure = self.0.iter().enumerate().find_map(|(flow, shared)| Some((flow, locked(&shared.failure).clone()?)));
        failure.map_or(Ok(()), |(flow, why)| Err(io::Error::other(format!("flow {flow}: {why}"))))
    }
}
