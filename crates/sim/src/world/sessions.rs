//! Sessions at work: their connections, what they are told, and what they do.
//!
//! A channel has a *stream* for its data and, when the session asks first, another for its requests, which travel the other way. A stream has a place
//! for a connection's two ends (a slot). A new connection takes the place of the one before. Their packets carry different numbers of flows, so that queues see flows of
//! their own and packets of an older one that are still under way are known and vanish on arrival. A stream has four such numbers in turn: four
//! connections later no packet of the first is left, since each needs round trips on the same path.

use super::{Control, HostKind, ReceiverHost, Route, SenderHost, World, WorldError, measure::FlowReading};
use crate::completions::Ideal;
use crate::losses::FlowSignals;
use crate::packet::{SimPacket, flow_hash};
use crate::session::{Action, After, Channel, Desk, Event, Note, Session, VideoReading, Way};
use crate::timers::Target;
use goodqueue_aqm::Qdisc;
use goodqueue_tcp::{Data, Ending, Flags, Receiver, ReceiverConfig, Sender, SenderConfig};
use goodqueue_units::{Bytes, Instant, Rng};

/// One session and what it runs on.
pub(super) struct SessionHost {
    model: Session,
    rng: Rng,
    /// Root of the streams of its connections, and how many there were.
    seed: u64,
    connections: u64,
    flow: u32,
    group: u32,
    /// Event of its own timer.
    control: u32,
    channels: Vec<u32>,
    sender: SenderConfig,
    receiver: ReceiverConfig,
    place: Place,
    pub(super) video_at_warmup: VideoReading,
}

/// Where a session's packets go.
pub(super) struct Place {
    /// Ways of data and of requests; the slot is filled in for each stream.
    pub(super) ways: [Route; 2],
    pub(super) queues: Queues,
    pub(super) ideal: Ideal,
}

/// Queues on the ways of a flow that has a weight of its own, there and back.
pub(super) struct Queues {
    pub(super) weight: f64,
    pub(super) there: Vec<u32>,
    pub(super) back: Vec<u32>,
}

/// One channel: its streams, and the event of its timer.
pub(super) struct ChannelHost {
    session: u32,
    number: Channel,
    /// Streams, by number.
    data: u32,
    request: Option<u32>,
    control: u32,
}

/// One way of a channel: what is known beside its slot's sender and receiver.
pub(super) struct Stream {
    channel: u32,
    way: Way,
    slot: u32,
    /// The first of its numbers of flows, and that of its present connection.
    first_flow: u32,
    flow: u32,
    used: bool,
    /// Numbers at which the present message begins and ends, and its bytes.
    begin: u64,
    end: u64,
    bytes: u64,
    /// What the session has yet to hear of.
    awaits_first: bool,
    awaits_all: bool,
    /// Something is not yet acknowledged.
    active: bool,
    handshake_at: Instant,
    /// Of earlier messages and connections.
    past: FlowReading,
}

/// Numbers of flows that a stream's connections use in turn.
const GENERATIONS: u32 = 4;

/// No stream has this number: the slot belongs to a plain flow.
pub(super) const NO_STREAM: u32 = u32::MAX;

impl World {
    /// Adds the session whose data flow is `flow`; its channels come as it needs them.
    pub(super) fn add_session(
        &mut self,
        model: Session,
        (rng, seed): (Rng, u64),
        flow: u32,
        settings: (&SenderConfig, &ReceiverConfig),
        place: Place,
    ) -> Result<(), WorldError> {
        let facts = &self.flows[flow as usize];
        let group = facts.group;
        let sender = SenderConfig { data: Data::Messages, ..settings.0.clone() };
        let subject = || format!("{}[{}]", self.group_names[group as usize], facts.index);
        Sender::new(&sender, rng.clone()).map_err(|e| WorldError { subject: subject(), message: e.to_string() })?;
        let session = self.sessions.len() as u32;
        let control = self.add_control(Control::Session(session));
        self.sessions.push(SessionHost {
            model,
            seed,
            rng,
            connections: 0,
            flow,
            group,
            control,
            channels: Vec::new(),
            sender,
            receiver: settings.1.clone(),
            place,
            video_at_warmup: VideoReading::default(),
        });
        self.flows[flow as usize].slot = session;
        Ok(())
    }

    pub(super) fn add_control(&mut self, control: Control) -> u32 {
        self.controls.push(control);
        self.controls.len() as u32 - 1
    }

    /// Tells a session what happened and does what it wants.
    pub(super) fn tell(&mut self, session: u32, event: Event) {
        let mut actions = std::mem::take(&mut self.actions);
        let host = &mut self.sessions[session as usize];
        host.model.handle(event, &mut Desk { now: self.now, rng: &mut host.rng, actions: &mut actions });
        for action in actions.drain(..) {
            self.perform(session, action);
        }
        self.actions = actions;
    }

    pub(super) fn tell_channel_alarm(&mut self, channel: u32) {
        let ChannelHost { session, number, .. } = self.channels[channel as usize];
        self.tell(session, Event::ChannelAlarm(number));
    }

    fn perform(&mut self, session: u32, action: Action) {
        match action {
            Action::Connect(channel) => self.connect_channel(session, channel),
            Action::Send { channel, way, bytes, after } => {
                let host = &self.channels[self.sessions[session as usize].channels[channel as usize] as usize];
                let (there, back) = match way {
                    Way::Data => (host.data, host.request),
                    Way::Request => (host.request.unwrap_or(host.data), Some(host.data)),
                };
                self.send_message(there, back, bytes, after);
            }
            Action::Wake(at) => {
                let control = self.sessions[session as usize].control;
                self.wake_session(at, control);
            }
            Action::WakeChannel(channel, at) => {
                let channel = self.sessions[session as usize].channels[channel as usize];
                let control = self.channels[channel as usize].control;
                self.wake_session(at, control);
            }
            Action::Note(note) => self.take_note(session, note),
        }
    }

    fn wake_session(&mut self, at: Instant, control: u32) {
        if at <= self.end {
            self.set_timer(at, Target::Control(control));
        }
    }

    fn take_note(&mut self, session: u32, note: Note) {
        let SessionHost { group, place: Place { ideal, .. }, .. } = self.sessions[session as usize];
        let begin = Instant::ZERO + self.warmup;
        let (now, measuring) = (self.now, self.measuring);
        let completions = &mut self.completions[group as usize];
        match note {
            Note::Began => completions.begun += u64::from(measuring),
            Note::Refused => completions.refused += u64::from(measuring),
            Note::Complete { began, bytes, round_trips } if measuring && began >= begin => {
                completions.add(bytes, now.since(began), ideal.time(bytes, round_trips));
            }
            Note::FirstByte { since } if measuring && since >= begin => completions.add_first_byte(now.since(since)),
            Note::Page { began } if measuring && began >= begin => completions.add_page(now.since(began)),
            // Playing begins once: before the measured part, too, it says how long that took.
            Note::Playing { since } => completions.add_playing(now.since(since)),
            Note::Complete { .. } | Note::FirstByte { .. } | Note::Page { .. } => {}
        }
    }

    /// A new connection on a channel of a session.
    fn connect_channel(&mut self, session: u32, number: Channel) {
        let channels = self.sessions[session as usize].channels.len();
        debug_assert!(number as usize <= channels, "channels are numbered as they come");
        if number as usize == channels {
            self.add_channel(session, number);
        }
        let channel = self.sessions[session as usize].channels[number as usize];
        let ChannelHost { data, request, .. } = self.channels[channel as usize];
        self.renew(session, data);
        if let Some(request) = request {
            self.renew(session, request);
        }
        let Stream { slot, flow, .. } = self.streams[request.unwrap_or(data) as usize];
        self.senders[slot as usize].sender.connect(self.now);
        self.transmit_now_and_then(slot, flow);
    }

    fn add_channel(&mut self, session: u32, number: Channel) {
        let channel = self.channels.len() as u32;
        let control = self.add_control(Control::Channel(channel));
        let asks = self.sessions[session as usize].model.asks();
        let data = self.add_stream(session, channel, Way::Data);
        let request = asks.then(|| self.add_stream(session, channel, Way::Request));
        self.channels.push(ChannelHost { session, number, data, request, control });
        self.sessions[session as usize].channels.push(channel);
    }

    fn add_stream(&mut self, session: u32, channel: u32, way: Way) -> u32 {
        let stream = self.streams.len() as u32;
        let slot = self.senders.len() as u32;
        let flow = self.routes.len() as u32;
        let host = &self.sessions[session as usize];
        let route = host.place.ways[usize::from(way == Way::Request)];
        let group = host.group;
        let (sender, receiver) = self.new_ends(session);
        self.senders.push(SenderHost { sender, timer_at: Instant::MAX, held_until: Instant::ZERO, rtt_samples: 0 });
        self.receivers.push(ReceiverHost { receiver, timer_at: Instant::MAX });
        self.stream_of_slot.resize(slot as usize, NO_STREAM);
        self.stream_of_slot.push(stream);
        self.flow_of_slot.push(flow);
        self.group_of_sender.push(group);
        for _ in 0..GENERATIONS {
            self.routes.push(Route { slot, kind: HostKind::Stream, ..route });
            self.tap.flows.push(FlowSignals::default());
        }
        self.weigh_stream(session, flow, way);
        self.streams.push(Stream {
            channel,
            way,
            slot,
            first_flow: flow,
            flow,
            used: false,
            begin: 0,
            end: 0,
            bytes: 0,
            awaits_first: false,
            awaits_all: false,
            active: false,
            handshake_at: Instant::ZERO,
            past: FlowReading::default(),
        });
        stream
    }

    /// Tells the queues on a flow's way its weight, unless it is that of all.
    pub(super) fn weigh(&mut self, flow: u32, queues: &Queues) {
        for (links, is_reverse) in [(&queues.there, false), (&queues.back, true)] {
            for &link in links {
                self.links[link as usize].qdisc.set_weight(flow_hash(flow, is_reverse), queues.weight);
            }
        }
    }

    /// The same for all flows of a stream. Requests go the way back.
    fn weigh_stream(&mut self, session: u32, first_flow: u32, way: Way) {
        let Queues { weight, there, back } = &self.sessions[session as usize].place.queues;
        let requests = way == Way::Request;
        for (links, is_reverse) in [(there, requests), (back, !requests)] {
            for (link, flow) in links.iter().flat_map(|link| (0..GENERATIONS).map(move |more| (*link, first_flow + more))) {
                self.links[link as usize].qdisc.set_weight(flow_hash(flow, is_reverse), *weight);
            }
        }
    }

    /// Tells queues the weights of all streams there are.
    pub(super) fn weigh_streams(&mut self) {
        for stream in 0..self.streams.len() {
            let Stream { channel, way, first_flow, .. } = self.streams[stream];
            self.weigh_stream(self.channels[channel as usize].session, first_flow, way);
        }
    }

    /// Both ends of a new connection of a session.
    fn new_ends(&mut self, session: u32) -> (Sender, Receiver) {
        let host = &mut self.sessions[session as usize];
        host.connections += 1;
        let rng = Rng::stream(host.seed, host.connections);
        let sender = Sender::new(&host.sender, rng).expect("the same settings made a sender when the session was added");
        (sender, Receiver::new(&host.receiver))
    }

    /// Puts a new connection in the place of a stream's old one.
    fn renew(&mut self, session: u32, stream: u32) {
        if !std::mem::replace(&mut self.streams[stream as usize].used, true) {
            return;
        }
        let past = self.read_stream(stream);
        self.set_active(stream, false);
        let (sender, receiver) = self.new_ends(session);
        let stream = &mut self.streams[stream as usize];
        stream.past = past;
        (stream.begin, stream.end, stream.bytes) = (0, 0, 0);
        (stream.awaits_first, stream.awaits_all) = (false, false);
        stream.flow = stream.first_flow + (stream.flow + 1 - stream.first_flow) % GENERATIONS;
        self.flow_of_slot[stream.slot as usize] = stream.flow;
        let host = &mut self.senders[stream.slot as usize];
        host.sender = sender;
        host.held_until = Instant::ZERO;
        host.rtt_samples = 0;
        self.receivers[stream.slot as usize].receiver = receiver;
    }

    /// A message on stream `there`; `back` is the stream of the other direction.
    fn send_message(&mut self, there: u32, back: Option<u32>, bytes: u64, after: After) {
        let now = self.now;
        if let Some(back) = back {
            let Stream { slot, flow, .. } = self.streams[back as usize];
            let receiver = &mut self.receivers[slot as usize].receiver;
            let ecn = receiver.codepoint();
            if let Some(acknowledgement) = receiver.flush(now) {
                self.emit_now_and_then(flow, acknowledgement, ecn);
            }
        }
        let delivered = self.message_bytes(there);
        self.set_active(there, true);
        let stream = &mut self.streams[there as usize];
        stream.past.add_delivered(delivered);
        let sender = &mut self.senders[stream.slot as usize].sender;
        stream.begin = sender.written();
        let ending = if after == After::Close { Ending::Fin } else { Ending::More };
        sender.write(Bytes::new(bytes), ending);
        stream.end = sender.written();
        stream.bytes = bytes;
        (stream.awaits_first, stream.awaits_all) = (true, true);
        let (slot, flow) = (stream.slot, stream.flow);
        self.transmit_now_and_then(slot, flow);
    }

    /// A stream begins or ends to be one of those that could lose something.
    fn set_active(&mut self, stream: u32, active: bool) {
        let stream = &mut self.streams[stream as usize];
        if stream.active != active {
            stream.active = active;
            let flow = stream.flow;
            self.add_active(flow, active);
        }
    }

    /// Bytes of the present message that have arrived.
    fn message_bytes(&self, stream: u32) -> u64 {
        let stream = &self.streams[stream as usize];
        let next = self.receivers[stream.slot as usize].receiver.delivered_bytes();
        next.saturating_sub(stream.begin).min(stream.bytes)
    }

    fn read_stream(&self, stream: u32) -> FlowReading {
        let Stream { slot, past, first_flow, .. } = &self.streams[stream as usize];
        let flows = *first_flow as usize..(*first_flow + GENERATIONS) as usize;
        let signals = self.tap.flows[flows].iter().fold(FlowSignals::default(), |sum, signals| sum.and(*signals));
        past.and(self.message_bytes(stream), self.senders[*slot as usize].sender.statistics()).with_signals(signals)
    }

    /// Everything that all channels of a session did so far.
    pub(super) fn read_session(&self, session: u32) -> FlowReading {
        let channels = self.sessions[session as usize].channels.iter().map(|&channel| &self.channels[channel as usize]);
        let mut sum = FlowReading::default();
        for channel in channels {
            sum.add(&self.read_stream(channel.data));
            if let Some(request) = channel.request {
                sum.add(&self.read_stream(request).without_delivered());
            }
        }
        sum
    }

    /// The flow of the specification that a packet with this flow number belongs to.
    pub(super) fn flow_of_specification(&self, flow: u32) -> u32 {
        let Route { kind: HostKind::Stream, slot, .. } = self.routes[flow as usize] else { return flow };
        let stream = &self.streams[self.stream_of_slot[slot as usize] as usize];
        let session = self.channels[stream.channel as usize].session;
        self.sessions[session as usize].flow
    }

    /// What the video of a session has played so far; `None` when it is no video.
    pub(super) fn read_video(&mut self, session: usize) -> Option<VideoReading> {
        self.sessions[session].model.video(self.now)
    }

    pub(super) fn group_of_session(&self, session: usize) -> u32 {
        self.sessions[session].group
    }

    /// A packet of a session has reached its end: is it of the present connection? Then it is made ready for its host.
    #[cold]
    #[inline(never)]
    pub(super) fn stream_takes(&mut self, slot: u32, packet: &mut SimPacket) -> bool {
        let number = self.stream_of_slot[slot as usize];
        let stream = &mut self.streams[number as usize];
        if packet.flow.number() != stream.flow {
            return false;
        }
        if packet.is_reverse() {
            return true;
        }
        if packet.segment.flags.has(Flags::SYN) {
            stream.handshake_at = self.now;
        } else if packet.segment.payload > 0 {
            // The short end of a message takes a whole segment's numbers.
            let session = self.channels[stream.channel as usize].session;
            packet.segment.payload = self.sessions[session as usize].sender.mss.get() as u16;
        }
        true
    }

    /// The host has taken it: is there news for the session?
    #[cold]
    #[inline(never)]
    pub(super) fn stream_has_taken(&mut self, slot: u32, packet: &SimPacket) {
        let number = self.stream_of_slot[slot as usize];
        if !packet.is_reverse() {
            self.hear_of_data(number);
            return;
        }
        let active = self.streams[number as usize].active;
        if active && self.senders[slot as usize].sender.is_finished() {
            self.set_active(number, false);
            self.tell_of(number, Event::Acknowledged);
        }
    }

    /// Data has arrived: the session hears of the first of a message, and of all of it.
    fn hear_of_data(&mut self, number: u32) {
        let stream = &mut self.streams[number as usize];
        let (way, channel) = (stream.way, stream.channel);
        let next = self.receivers[stream.slot as usize].receiver.delivered_bytes();
        let first = stream.awaits_first && next > stream.begin;
        let all = stream.awaits_all && next >= stream.end;
        stream.awaits_first &= !first;
        stream.awaits_all &= !all;
        let handshake_took = self.now.since(stream.handshake_at);
        if first && way == Way::Data {
            self.tell_of(number, |channel, _| Event::FirstByte(channel));
        }
        if !all {
            return;
        }
        if way == Way::Request {
            let data = &self.streams[self.channels[channel as usize].data as usize];
            let (slot, now) = (data.slot as usize, self.now);
            self.senders[slot].sender.accept(now, handshake_took, &mut self.receivers[slot].receiver);
        }
        self.tell_of(number, Event::Arrived);
    }

    fn tell_of(&mut self, stream: u32, event: impl FnOnce(Channel, Way) -> Event) {
        let Stream { channel, way, .. } = self.streams[stream as usize];
        let ChannelHost { session, number, .. } = self.channels[channel as usize];
        self.tell(session, event(number, way));
    }
}
