//! User programs inside the guests: a server at the source, a client at the sink.

use crate::linux::job::{Job, ProgramJob, Role};
use crate::linux::report::Line;
use goodqueue_base::units::{Bytes, Class, Duration, Instant};
use goodqueue_sim::{FlowSpec, SourceSpec, WorldSpec};
use goodqueue_tcp::{Flags, ReceiverConfig, Segment, SenderConfig};
use std::collections::BTreeMap;

/// Number of flows by which queues distinguish conversations of programs; further conversations
/// share them.
pub(super) const FLOWS: usize = 64;
/// The group of these flows.
const GROUP: &str = "programs";

/// Events of running programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// Output of the server.
    Server(&'a [u8]),
    /// Output of the client.
    Client(&'a [u8]),
    /// The server exited with this code.
    ServerExit(i32),
    /// The client exited with this code at about this time; the run is over.
    ClientExit(i32, Instant),
}

/// The programs to run.
pub struct Programs<'a> {
    /// Command of the server, for the shell; it starts with the world.
    pub server: String,
    /// Command of the client.
    pub client: String,
    /// Start of the client.
    pub start: Duration,
    /// Working directory of both.
    pub folder: String,
    /// The kernel's name of the default congestion control.
    pub control: String,
    /// Receives their events.
    pub told: &'a mut dyn FnMut(Said<'_>),
    /// Links from the server to the client, and back.
    pub forward: Vec<u32>,
    /// Links from the client to the server.
    pub reverse: Vec<u32>,
    conversations: BTreeMap<(u8, u16, u16), usize>,
    over: bool,
}

impl<'a> Programs<'a> {
    /// Creates the two programs.
    pub fn new(server: String, client: String, told: &'a mut dyn FnMut(Said<'_>)) -> Self {
        Self {
            server,
            client,
            start: Duration::ms(100),
            folder: "/".to_owned(),
            control: "cubic".to_owned(),
            told,
            forward: Vec::new(),
            reverse: Vec::new(),
            conversations: BTreeMap::new(),
            over: false,
        }
    }

    /// Adds flows for the programs to a world. None of our own ends uses these.
    pub(super) fn joined(&self, spec: &WorldSpec) -> WorldSpec {
        let mut spec = spec.clone();
        let group = spec.groups.len() as u32;
        spec.groups.push(GROUP.to_owned());
        let end = Instant::ZERO + spec.warmup + spec.duration;
        spec.flows.extend((0..FLOWS as u32).map(|index| FlowSpec {
            group,
            index,
            forward: self.forward.clone(),
            reverse: self.reverse.clone(),
            // The source of the world sends nothing on them.
            start: end + Duration::secs(1),
            stop: None,
            class: Class::DEFAULT,
            weight: 1.0,
            leaf: None,
            shared_host: None,
            source: SourceSpec::Tcp {
                sender: SenderConfig::default(),
                receiver: ReceiverConfig::default(),
                header: Bytes::new(52),
            },
        }));
        spec
    }

    pub(super) fn add_to(&self, source: &mut Job, sink: &mut Job) {
        for (job, command, start) in [(source, &self.server, Duration::ZERO), (sink, &self.client, self.start)] {
            job.flows.truncate(job.flows.len().saturating_sub(FLOWS));
            job.settings.push(("net.ipv4.tcp_congestion_control".to_owned(), self.control.clone()));
            job.program = Some(ProgramJob { start, command: command.clone(), folder: self.folder.clone() });
        }
    }

    /// Flow of a packet of a program: both directions of a conversation have the same.
    pub(super) fn flow(&mut self, forward: bool, (protocol, from, to): (u8, u16, u16)) -> usize {
        let key = if forward { (protocol, from, to) } else { (protocol, to, from) };
        let next = self.conversations.len() % FLOWS;
        *self.conversations.entry(key).or_insert(next)
    }

    pub(super) fn hear(&mut self, role: Role, output: &[u8], lines: &[Line], now: Instant) {
        if !output.is_empty() {
            (self.told)(if role == Role::Source { Said::Server(output) } else { Said::Client(output) });
        }
        for line in lines {
            match (line, role) {
                (Line::Exit(code), Role::Source) => (self.told)(Said::ServerExit(*code)),
                (Line::Exit(code), Role::Sink) => {
                    self.over = true;
                    (self.told)(Said::ClientExit(*code, now));
                }
                _ => {}
            }
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }
}

/// The segment for a packet that is not TCP: no data that requires an acknowledgement.
pub(super) fn segment(forward: bool) -> Segment {
    let flags = if forward { Flags::default() } else { Flags::ACK };
    Segment { flags, ..Segment::default() }
}
