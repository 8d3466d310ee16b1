//! `gq-checks endpoint`: our sender or receiver at one end of a connection on a network interface,
//! with another TCP, such as a kernel's, at the other end.

use clap::Args;
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptions};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_checks::packetdrill::goodqueue::Goodqueue;
use goodqueue_checks::packetdrill::{Call, NotModelled, Packet, Returned, Setting, Stack, TcpFlags, Value};
use goodqueue_cli::failure::Failure;
use goodqueue_cli::interrupt;
use goodqueue_cli::output::print;
use goodqueue_live::clock::{Clock as _, MonotonicClock};
use goodqueue_live::frame::ETHERNET;
use goodqueue_live::sys::scheduling;
use goodqueue_live::sys::socket::{PacketSocket, ethernet};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::net::SocketAddrV4;
use std::os::fd::AsFd as _;
use std::str::FromStr;
use std::sync::atomic::Ordering;

const IPV4: [u8; 2] = [8, 0];
const ARP: [u8; 2] = [8, 6];
/// The beginning of ARP for IPv4 over Ethernet, up to the operation.
const ARP_OF_IPV4: [u8; 7] = [0, 1, 8, 0, 6, 4, 0];
/// `ENOBUFS` of Linux.
const NO_BUFFERS: i32 = 105;
const HOPS: u8 = 64;
const ANY_PORT: u16 = 0;
/// Time for which a connection that has ended answers a repeated end.
const LINGER: Duration = Duration::ms(800);
/// Longest wait for packets, so that an interrupt is heard.
const POLL: Duration = Duration::ms(100);
/// Most bytes of one write.
const MAX_WRITE: u64 = i32::MAX as u64;
/// Fields of Linux's `tcp_info` that are reported.
const FIELDS: [&str; 8] = [
    "tcpi_received_ce",
    "tcpi_received_ce_bytes",
    "tcpi_received_e0_bytes",
    "tcpi_delivered_ce",
    "tcpi_delivered_ce_bytes",
    "tcpi_delivered_e0_bytes",
    "tcpi_total_retrans",
    "tcpi_rtt",
];

/// Arguments of `gq-checks endpoint`.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 the connection has ended as it should, 1 it has not, 2 bad usage. More: docs/packetdrill.md"
)]
pub struct Arguments {
    /// Interface of the network; needs CAP_NET_RAW
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// This end; no interface of this machine may have that address, or its kernel answers too
    #[arg(long, value_name = "ADDRESS:PORT")]
    own: SocketAddrV4,
    /// The other end; port 0 stands for that of the first segment
    #[arg(long, value_name = "ADDRESS:PORT")]
    peer: SocketAddrV4,
    /// Ethernet address of the other end, or of the router to it; asked for by ARP otherwise
    #[arg(long, value_name = "MAC")]
    neighbor: Option<Mac>,
    /// Connect and send this many bytes, instead of waiting for a connection and receiving
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=MAX_WRITE))]
    send: Option<u64>,
    /// A setting of the host, such as net.ipv4.tcp_ecn=3; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = setting)]
    settings: Vec<Setting>,
    /// Give up after this many seconds
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
}

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mac([u8; 6]);

/// The reason why an option cannot be read.
#[derive(Clone, Copy, Debug, thiserror::Error)]
enum BadOption {
    #[error("is no Ethernet address: six bytes such as 02:00:00:00:00:01")]
    NoMac,
    #[error("has no `=`: KEY=VALUE, such as net.ipv4.tcp_ecn=3")]
    NoSetting,
}

impl FromStr for Mac {
    type Err = BadOption;

    fn from_str(text: &str) -> Result<Self, BadOption> {
        let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
        bytes.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok()).map(Self).ok_or(BadOption::NoMac)
    }
}

fn setting(text: &str) -> Result<Setting, BadOption> {
    let (name, value) = text.split_once('=').ok_or(BadOption::NoSetting)?;
    Ok(Setting { name: name.to_owned(), value: value.to_owned() })
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut stack = Goodqueue::new();
    for setting in &arguments.settings {
        stack.configure(setting).map_err(|refused| Failure::Input(format!("--set: no counterpart here: {refused}")))?;
    }
    let mut wire =
        Wire::open(arguments).map_err(|error| Failure::Input(format!("--interface {}: {error}", arguments.interface)))?;
    let stop = interrupt::stop_flag();
    let mut clock = MonotonicClock::start();
    let end = Instant::ZERO + Duration::secs(arguments.seconds);
    let mut program = Program::new(arguments.send);
    let mut told = false;
    loop {
        let now = clock.now();
        if now >= end || stop.load(Ordering::Relaxed) {
            return Err(Failure::Run(format!("the connection has not ended: {} after {now}", program.step.name())));
        }
        let next = turn(&mut stack, &mut wire, &mut program, now)?;
        match program.step {
            Step::Over if now >= program.ended + LINGER => return Ok(()),
            Step::Over if !mem::replace(&mut told, true) => tell(&stack, &program, now)?,
            _ => {}
        }
        let longest = next.unwrap_or(end).min(end).since(clock.now());
        scheduling::wait([Some(wire.socket.as_fd()), None], longest.min(POLL)).map_err(|error| broken(&error))?;
    }
}

/// Prints the figures of a connection that has ended: one line, so that it can be told from what
/// else a log holds.
fn tell(stack: &Goodqueue, program: &Program, now: Instant) -> Result<(), Failure> {
    let figures: serde_json::Map<String, serde_json::Value> = FIELDS
        .iter()
        .filter_map(|field| Some((field.trim_start_matches("tcpi_").to_owned(), (stack.info(now, field).ok()? as u64).into())))
        .chain([
            ("bytes".to_owned(), program.bytes.into()),
            ("seconds".to_owned(), now.since(program.began).as_secs_f64().into()),
        ])
        .collect();
    print(&format!("{}\n", serde_json::Value::Object(figures)))?;
    Ok(())
}

fn broken(error: &io::Error) -> Failure {
    Failure::Run(format!("the interface: {error}"))
}

fn refused(error: &NotModelled) -> Failure {
    Failure::Run(format!("not modeled: {error}"))
}

/// Handles all that is due: arrivals, timers, calls of the program, departures. Returns the time of
/// the next timer.
fn turn(stack: &mut Goodqueue, wire: &mut Wire, program: &mut Program, now: Instant) -> Result<Option<Instant>, Failure> {
    while let Some(packet) = wire.receive().map_err(|error| broken(&error))? {
        stack.handle_packet(now, &packet).map_err(|error| refused(&error))?;
    }
    while stack.next_timeout().is_some_and(|at| at <= now) {
        stack.handle_timeout(now).map_err(|error| refused(&error))?;
    }
    while program.advance(stack, now).map_err(|error| refused(&error))? {}
    while let Some(packet) = stack.poll_transmit(now) {
        wire.send(&packet).map_err(|error| broken(&error))?;
    }
    Ok(stack.next_timeout())
}

/// The calls of a program that sends or receives one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Wait,
    Write,
    Read,
    Acknowledged,
    Over,
}

impl Step {
    const fn name(self) -> &'static str {
        match self {
            Self::Begin | Self::Wait => "no connection",
            Self::Write | Self::Read => "data outstanding",
            Self::Acknowledged => "the end not acknowledged",
            Self::Over => "over",
        }
    }
}

struct Program {
    send: Option<u64>,
    step: Step,
    socket: i64,
    bytes: u64,
    /// When the connection was established.
    began: Instant,
    /// When both ends had what they were sent.
    ended: Instant,
}

impl Program {
    const fn new(send: Option<u64>) -> Self {
        Self { send, step: Step::Begin, socket: -1, bytes: 0, began: Instant::ZERO, ended: Instant::ZERO }
    }

    /// Makes the next call; true if it returned.
    fn advance(&mut self, stack: &mut Goodqueue, now: Instant) -> Result<bool, NotModelled> {
        let mut call = |name: &str, arguments: Vec<Value>| {
            let call = Call { name: name.to_owned(), arguments, result: Value::Any, errno: None, end: None };
            stack.call(now, &call)
        };
        let fd = Value::Integer(self.socket);
        let returned = match (self.step, self.send) {
            (Step::Begin, _) => {
                let kind = vec![Value::Any, Value::Word("SOCK_STREAM".to_owned()), Value::Any];
                self.socket = value(&call("socket", kind)?)?.unwrap_or(-1);
                if self.send.is_none() {
                    call("bind", vec![Value::Integer(self.socket), Value::Any, Value::Any])?;
                    call("listen", vec![Value::Integer(self.socket), Value::Integer(1)])?;
                }
                self.step = Step::Wait;
                return Ok(true);
            }
            (Step::Wait, Some(_)) => call("connect", vec![fd, Value::Any, Value::Any])?,
            (Step::Wait, None) => call("accept", vec![fd, Value::Any, Value::Any])?,
            (Step::Write, send) => call("write", vec![fd, Value::Any, Value::Integer(send.unwrap_or(0) as i64)])?,
            (Step::Read, _) => call("read", vec![fd, Value::Any, Value::Integer(i64::MAX)])?,
            (Step::Acknowledged, _) => {
                if stack.info(now, "tcpi_unacked")? == 0.0 {
                    (self.step, self.ended) = (Step::Over, now);
                }
                return Ok(false);
            }
            (Step::Over, _) => return Ok(false),
        };
        let Some(number) = value(&returned)? else { return Ok(false) };
        if self.step == Step::Wait {
            self.began = now;
        }
        self.step = match (self.step, self.send) {
            (Step::Wait, Some(_)) => Step::Write,
            (Step::Wait, None) => {
                self.socket = number;
                Step::Read
            }
            (Step::Write, _) => {
                self.bytes = number as u64;
                call("shutdown", vec![Value::Integer(self.socket), Value::Word("SHUT_WR".to_owned())])?;
                Step::Read
            }
            (Step::Read, _) if number > 0 => {
                self.bytes += if self.send.is_none() { number as u64 } else { 0 };
                Step::Read
            }
            (Step::Read, send) => {
                // The socket stays: it answers a repeated end.
                if send.is_none() {
                    call("shutdown", vec![Value::Integer(self.socket), Value::Word("SHUT_WR".to_owned())])?;
                }
                self.step = Step::Acknowledged;
                // The end has to leave before its acknowledgement can be looked for.
                return Ok(false);
            }
            (step, _) => step,
        };
        Ok(true)
    }
}

/// The number that a call returned; none if it blocks.
fn value(returned: &Returned) -> Result<Option<i64>, NotModelled> {
    match returned {
        Returned::Value(number) | Returned::Values(number, _) => Ok(Some(*number)),
        Returned::Error(name) => Err(NotModelled::new(*name)),
        Returned::Blocked => Ok(None),
    }
}

/// Frames of one connection, and ARP for it.
struct Wire {
    socket: PacketSocket,
    file: File,
    hardware: [u8; 6],
    neighbor: Option<[u8; 6]>,
    own: SocketAddrV4,
    peer: SocketAddrV4,
    identification: u16,
    buffer: Vec<u8>,
}

impl Wire {
    fn open(arguments: &Arguments) -> io::Result<Self> {
        let interface = ethernet(&arguments.interface)?;
        let socket = PacketSocket::new(interface.index)?;
        socket.open()?;
        Ok(Self {
            file: File::from(socket.as_fd().try_clone_to_owned()?),
            socket,
            hardware: interface.address,
            neighbor: arguments.neighbor.map(|Mac(bytes)| bytes),
            own: arguments.own,
            peer: arguments.peer,
            identification: 0,
            buffer: vec![0; 1 << 16],
        })
    }

    /// The next segment of the connection, if one has arrived.
    fn receive(&mut self) -> io::Result<Option<Packet>> {
        loop {
            let len = match self.file.read(&mut self.buffer) {
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            };
            let Some((ethernet, ip)) = self.buffer[..len].split_at_checked(ETHERNET) else { continue };
            if ethernet[12..] == ARP {
                let message = ip.to_vec();
                self.take_arp(&message)?;
                continue;
            }
            let ends = (ip.get(12..16), ip.get(16..20));
            if ethernet[12..] != IPV4 || ends != (Some(&self.peer.ip().octets()[..]), Some(&self.own.ip().octets()[..])) {
                continue;
            }
            let Some(packet) = Packet::read(ip).filter(|packet| packet.ports[1] == self.own.port()) else { continue };
            if self.peer.port() == ANY_PORT {
                self.peer.set_port(packet.ports[0]);
            }
            if packet.ports[0] == self.peer.port() {
                return Ok(Some(packet));
            }
        }
    }

    /// Learns the neighbor's address, and answers the question for ours (RFC 826).
    fn take_arp(&mut self, message: &[u8]) -> io::Result<()> {
        let (Some(asked), Some(from)) = (message.get(..8), message.get(14..18)) else { return Ok(()) };
        if asked[..7] != ARP_OF_IPV4 || from != self.peer.ip().octets() || message.get(24..28) != Some(&self.own.ip().octets()) {
            return Ok(());
        }
        let neighbor = std::array::from_fn(|place| message[8 + place]);
        self.neighbor.get_or_insert(neighbor);
        if asked[7] == 1 { self.say_arp(2, neighbor) } else { Ok(()) }
    }

    /// Sends a request (1) or an answer (2).
    fn say_arp(&mut self, operation: u8, to: [u8; 6]) -> io::Result<()> {
        let destination = if operation == 1 { [0xff; 6] } else { to };
        let words: [&[u8]; 9] = [
            &destination,
            &self.hardware,
            &ARP,
            &ARP_OF_IPV4,
            &[operation],
            &self.hardware,
            &self.own.ip().octets(),
            &to,
            &self.peer.ip().octets(),
        ];
        self.put(&words.concat())
    }

    fn send(&mut self, packet: &Packet) -> io::Result<()> {
        // Lost, as the timer finds out, while the answer is under way.
        let Some(neighbor) = self.neighbor else { return self.say_arp(1, [0; 6]) };
        let has = |flag| packet.flags.has(flag);
        let options: Vec<u8> = packet.options.iter().flat_map(|option| option.bytes()).collect();
        let mut tcp = TcpHeader {
            acknowledgment_number: packet.ack,
            ns: has(TcpFlags::AE),
            fin: has(TcpFlags::FIN),
            syn: has(TcpFlags::SYN),
            rst: has(TcpFlags::RST),
            psh: has(TcpFlags::PSH),
            ack: has(TcpFlags::ACK),
            urg: has(TcpFlags::URG),
            ece: has(TcpFlags::ECE),
            cwr: has(TcpFlags::CWR),
            urgent_pointer: packet.urgent,
            options: TcpOptions::try_from_slice(&options).map_err(io::Error::other)?,
            ..TcpHeader::new(self.own.port(), self.peer.port(), packet.seq, packet.window)
        };
        let payload = vec![0; packet.len as usize];
        let len = u16::try_from(tcp.header_len() + payload.len()).map_err(io::Error::other)?;
        let (from, to) = (self.own.ip().octets(), self.peer.ip().octets());
        let mut ip = Ipv4Header::new(len, HOPS, IpNumber::TCP, from, to).map_err(io::Error::other)?;
        ip.ecn = IpEcn::try_new(packet.ecn as u8).map_err(io::Error::other)?;
        ip.dont_fragment = true;
        ip.identification = self.identification;
        self.identification = self.identification.wrapping_add(1);
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &payload).map_err(io::Error::other)?;
        let frame = [&neighbor[..], &self.hardware, &IPV4, &ip.to_bytes(), &tcp.to_bytes(), &payload].concat();
        self.put(&frame)
    }

    /// Sends a frame. One for which the device has no room is lost.
    fn put(&mut self, frame: &[u8]) -> io::Result<()> {
        match self.file.write(frame) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock && error.raw_os_error() != Some(NO_BUFFERS) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
