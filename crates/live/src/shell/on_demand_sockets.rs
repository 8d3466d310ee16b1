//! Packets at the far end that open something new: a socket is made that answers for their
//! destination, its other half is left to [`outside`](crate::shell::outside), and the packet
//! arrives once more.

use crate::shell::Order;
use crate::shell::place::{FAR, PORT_FAR, Place};
use crate::sys::{descriptors, on_demand_sockets, scheduling, udp};
use crate::testbed::namespace::Namespace;
use goodqueue_base::units::Duration;
use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, PoisonError};

/// Ports answered for at most; each is a descriptor in two processes.
const MAX_PORTS: usize = 500;
/// The longest frame that arrives once more; a longer one is sent again by its sender.
const MAX: usize = 1514;

/// Frames of other openings kept meanwhile.
const MAX_WAITING: usize = 1000;
/// The sender's Ethernet address in frames that arrive once more, by which the watch knows them
/// again: without it, each would be repeated for as long as the watch keeps up. It is a locally
/// administered one (IEEE 802, second bit), and hosts do not look at it.
const REPEATED: [u8; 6] = [0x02, b'g', b'q', b'a', b'i', b'n'];

/// Bytes of an Ethernet header that hold the address of the sender.
const SENDER: std::ops::Range<usize> = 6..12;

/// A protocol and a port at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NewFlow {
    /// Connections to this port.
    Tcp(u16),
    /// Datagrams to this port.
    Udp(u16),
}

impl NewFlow {
    /// Length of what one process tells another.
    pub const BYTES: usize = 4;

    /// As the processes tell one another.
    pub const fn to_bytes(self) -> [u8; Self::BYTES] {
        let (kind, port) = match self {
            Self::Tcp(port) => (0, port),
            Self::Udp(port) => (1, port),
        };
        let [high, low] = port.to_be_bytes();
        [kind, 0, high, low]
    }

    /// The other way round; `None` of other bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Option<Self> {
        let port = u16::from_be_bytes([bytes[2], bytes[3]]);
        match bytes[0] {
            0 => Some(Self::Tcp(port)),
            1 => Some(Self::Udp(port)),
            _ => None,
        }
    }

    /// Reads the opening in an IPv4 frame, and the address that the frame goes to; `None` for other
    /// frames, and for those that arrive once more.
    fn of(frame: &[u8]) -> Option<(Self, Ipv4Addr)> {
        if frame.get(SENDER) == Some(&REPEATED[..]) {
            return None;
        }
        let ip = frame.get(14..)?;
        let header = ip.first_chunk::<20>()?;
        let ports = ip.get(usize::from(header[0] & 0xF) * 4..)?.first_chunk::<4>()?;
        let port = u16::from_be_bytes([ports[2], ports[3]]);
        let opening = match header[9] {
            6 => Self::Tcp(port),
            // A later fragment has no ports.
            17 if header[6] & 0x1F == 0 && header[7] == 0 => Self::Udp(port),
            _ => return None,
        };
        Some((opening, Ipv4Addr::new(header[16], header[17], header[18], header[19])))
    }
}

/// The watch at the far end.
#[derive(Debug)]
pub struct Watch {
    frames: File,
    again: File,
    answered: BTreeSet<NewFlow>,
    not_ours: [Ipv4Addr; 2],
}

impl Watch {
    /// Opens it; frames wait from now on.
    pub fn open(order: &Order, place: &Place) -> io::Result<Self> {
        Ok(Self {
            frames: place.far.within(|| on_demand_sockets::watch(FAR))?,
            again: place.middle.within(|| on_demand_sockets::sender(PORT_FAR))?,
            answered: BTreeSet::new(),
            not_ours: [order.gateway(), order.server_address()],
        })
    }

    /// Watches until the connection to `outside` is gone. Holds `starting` while programs are
    /// started.
    pub fn run(mut self, far: &Namespace, outside: &UnixStream, starting: &Mutex<()>) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut waiting: VecDeque<Vec<u8>> = VecDeque::new();
        loop {
            let mut frame = match waiting.pop_front() {
                Some(frame) => frame,
                None => self.next(&mut buffer)?,
            };
            let Some((opening, to)) = NewFlow::of(&frame) else { continue };
            if self.not_ours.contains(&to) || self.answered.contains(&opening) || self.answered.len() >= MAX_PORTS {
                continue;
            }
            let Ok(socket) = far.within(|| answer(opening)) else { continue };
            {
                let _starting = starting.lock().unwrap_or_else(PoisonError::into_inner);
                let (protocol, port) = match opening {
                    NewFlow::Tcp(port) => ("tcp", port),
                    NewFlow::Udp(port) => ("udp", port),
                };
                Place::answer_for(far, protocol, port)?;
            }
            self.answered.insert(opening);
            descriptors::send(outside, &opening.to_bytes(), &[socket.as_fd()])?;
            self.repeat(&mut frame);
            // Frames that came meanwhile had nobody to answer them, either.
            while scheduling::wait([Some(self.frames.as_fd()), None], Duration::ZERO)?.ready {
                let mut frame = self.next(&mut buffer)?;
                match NewFlow::of(&frame) {
                    Some((known, to)) if known == opening && !self.not_ours.contains(&to) => self.repeat(&mut frame),
                    Some(_) if waiting.len() < MAX_WAITING => waiting.push_back(frame),
                    Some(_) | None => {}
                }
            }
        }
    }

    fn next(&mut self, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
        let got = self.frames.read(buffer)?;
        Ok(buffer[..got].to_vec())
    }

    /// Makes a frame arrive once more; one that is lost is sent again by its sender.
    fn repeat(&mut self, frame: &mut [u8]) {
        if frame.len() <= MAX {
            frame[SENDER].copy_from_slice(&REPEATED);
            let _ = self.again.write(frame);
        }
    }
}

/// A socket for all addresses at one port.
fn answer(opening: NewFlow) -> io::Result<OwnedFd> {
    match opening {
        NewFlow::Tcp(port) => {
            let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
            udp::accept_for_all(listener.as_fd())?;
            Ok(listener.into())
        }
        NewFlow::Udp(port) => {
            let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))?;
            udp::answer_for_all(socket.as_fd())?;
            Ok(socket.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(protocol: u8) -> Vec<u8> {
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x46, 0, 0, 60, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 192, 0, 2, 7, 1, 1, 1, 1]);
        frame.extend([0x12, 0x34, 0x01, 0xBB, 0, 0, 0, 0]);
        frame
    }

    #[test]
    fn a_frame_opens_its_port() {
        let to = Ipv4Addr::new(192, 0, 2, 7);
        assert_eq!(NewFlow::of(&frame(6)), Some((NewFlow::Tcp(443), to)));
        assert_eq!(NewFlow::of(&frame(17)), Some((NewFlow::Udp(443), to)));
        assert_eq!(NewFlow::of(&frame(1)), None);
        let mut fragment = frame(17);
        fragment[21] = 8;
        assert_eq!(NewFlow::of(&fragment), None);
        let mut repeated = frame(17);
        repeated[SENDER].copy_from_slice(&REPEATED);
        assert_eq!(NewFlow::of(&repeated), None, "arrives once more");
        for len in 0..frame(6).len() - 4 {
            assert_eq!(NewFlow::of(&frame(6)[..len]), None, "{len}");
        }
    }

    #[test]
    fn processes_understand_each_other() {
        for opening in [NewFlow::Tcp(80), NewFlow::Udp(65_535)] {
            assert_eq!(NewFlow::from_bytes(opening.to_bytes()), Some(opening));
        }
        assert_eq!(NewFlow::from_bytes([2, 0, 0, 0]), None);
    }
}
