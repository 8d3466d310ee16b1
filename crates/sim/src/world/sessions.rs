//! Sessions at work: their connections, their events and their actions.
//!
//! A channel has a *stream* for its data and, when the session asks first, another one for its
//! requests, which travel in the opposite direction. A stream has a place for the two ends of a
//! connection; a new connection takes the place of the previous one. Packets of successive
//! connections carry different flow numbers, so that queues see different flows, and packets of an
//! older connection that are still under way are recognized and vanish on arrival. A stream uses
//! four flow numbers in turn: four connections later no packet of the first is left, since each
//! connection needs round trips on the same path.

mod streams;

use super::error::WorldError;
use super::figures::FlowReading;
use super::flow_ends::Control;
use super::path::{FlowEnd, PathHalf};
use super::session_ends::{ChannelEnd, SessionEnd, SessionPath, flow_numbers};
use super::state::World;
use crate::ids::{ChannelId, ControlId, FlowId, SessionId, StreamId, TcpId};
use crate::outcome::VideoOutcome;
use crate::session::{Action, Channel, Event, Measurement, Payload, Session, SessionContext};
use crate::timers::Target;
use goodqueue_base::units::{Instant, Rng};
use goodqueue_tcp::{Data, Receiver, ReceiverConfig, Sender, SenderConfig};

impl World {
    /// Adds the session whose data flow is `flow`; its channels come as it needs them.
    pub(super) fn add_session(
        &mut self,
        model: Session,
        (rng, seed): (Rng, u64),
        flow: FlowId,
        settings: (&SenderConfig, &ReceiverConfig),
        path: SessionPath,
    ) -> Result<(), WorldError> {
        let facts = &self.ends.flows[flow];
        let group = facts.group;
        let sender = SenderConfig { data: Data::Messages, ..settings.0.clone() };
        let subject = || format!("{}[{}]", self.figures.group_names[group], facts.index);
        let mss = sender.mss;
        let sender = Sender::new(&sender, rng.clone()).map_err(|e| WorldError { subject: subject(), fault: e.into() })?;
        let session = self.ends.sessions.next_id();
        debug_assert_eq!(facts.end, FlowEnd::Session(session), "sessions are numbered in the order of their flows");
        let control = self.ends.controls.push(Control::Session(session));
        self.ends.sessions.push(SessionEnd {
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
            mss,
            path,
            video_at_warmup: VideoOutcome::default(),
        });
        Ok(())
    }

    /// Notifies a session of an event and performs its actions.
    pub(super) fn notify_session(&mut self, session: SessionId, event: Event) {
        let mut actions = std::mem::take(&mut self.ends.actions);
        let end = &mut self.ends.sessions[session];
        let mut context = SessionContext { now: self.clock.now, rng: &mut end.rng, actions: &mut actions };
        end.model.handle(event, &mut context);
        for action in actions.drain(..) {
            self.perform(session, action);
        }
        self.ends.actions = actions;
    }

    pub(super) fn notify_channel_alarm(&mut self, channel: ChannelId) {
        let ChannelEnd { session, number, .. } = self.ends.channels[channel];
        self.notify_session(session, Event::ChannelAlarm(number));
    }

    fn perform(&mut self, session: SessionId, action: Action) {
        match action {
            Action::Connect(channel) => self.connect_channel(session, channel),
            Action::Send { channel, direction, bytes, after } => {
                let end = &self.ends.channels[self.ends.sessions[session].channels[channel as usize]];
                let (stream, opposite) = match direction {
                    Payload::Data => (end.data, end.request),
                    Payload::Request => (end.request.unwrap_or(end.data), Some(end.data)),
                };
                self.send_message(stream, opposite, bytes, after);
            }
            Action::Wake(at) => {
                let control = self.ends.sessions[session].control;
                self.wake_session(at, control);
            }
            Action::WakeChannel(channel, at) => {
                let channel = self.ends.sessions[session].channels[channel as usize];
                let control = self.ends.channels[channel].control;
                self.wake_session(at, control);
            }
            Action::Measure(measurement) => self.record_measurement(session, measurement),
        }
    }

    fn wake_session(&mut self, at: Instant, control: ControlId) {
        if at <= self.clock.end {
            self.set_timer(at, Target::Control(control));
        }
    }

    fn record_measurement(&mut self, session: SessionId, measurement: Measurement) {
        let SessionEnd { group, path: SessionPath { ideal, .. }, .. } = &self.ends.sessions[session];
        let (now, measuring) = (self.clock.now, self.figures.measuring);
        let completions = &mut self.figures.completions[*group];
        match measurement {
            Measurement::Began => {
                completions.open += 1;
                completions.begun += u64::from(measuring);
            }
            Measurement::GivenUp => completions.open = completions.open.saturating_sub(1),
            Measurement::Refused => completions.refused += u64::from(measuring),
            Measurement::Complete { began, bytes, round_trips } => {
                completions.open = completions.open.saturating_sub(1);
                if measuring {
                    completions.add(bytes, now.since(began), ideal.time(began, bytes, round_trips));
                }
            }
            Measurement::FirstByte { since } if measuring => completions.first_byte.add(now.since(since)),
            Measurement::Page { began } if measuring => completions.pages.add(now.since(began)),
            // A video begins to play once, which also counts before the measured part.
            Measurement::Playing { since } => completions.playing.add(now.since(since)),
            Measurement::FirstByte { .. } | Measurement::Page { .. } => {}
        }
    }

    /// Opens a new connection on a channel of a session.
    fn connect_channel(&mut self, session: SessionId, number: Channel) {
        let channels = self.ends.sessions[session].channels.len();
        debug_assert!(number as usize <= channels, "channels are numbered as they come");
        if number as usize == channels {
            self.add_channel(session, number);
        }
        let channel = self.ends.sessions[session].channels[number as usize];
        let ChannelEnd { data, request, .. } = self.ends.channels[channel];
        self.replace_connection(session, data);
        if let Some(request) = request {
            self.replace_connection(session, request);
        }
        let (tcp, flow) = self.ends.streams[request.unwrap_or(data)].connection();
        self.ends.senders[tcp].sender.connect(self.clock.now);
        self.poll_sender_cold(tcp, flow);
    }

    fn add_channel(&mut self, session: SessionId, number: Channel) {
        let channel = self.ends.channels.next_id();
        let control = self.ends.controls.push(Control::Channel(channel));
        let asks = self.ends.sessions[session].model.asks();
        let data = self.add_stream(session, channel, Payload::Data);
        let request = asks.then(|| self.add_stream(session, channel, Payload::Request));
        self.ends.channels.push(ChannelEnd { session, number, data, request, control });
        self.ends.sessions[session].channels.push(channel);
    }

    /// Tells the queues on a stream's way the place of its flows. Requests take the reverse route.
    fn place_stream(&mut self, session: SessionId, first_flow: FlowId, direction: Payload) {
        let heading = if direction == Payload::Request { PathHalf::Reverse } else { PathHalf::Forward };
        for flow in flow_numbers(first_flow) {
            self.ends.sessions[session].path.place.announce(&mut self.net.links, flow, heading);
        }
    }

    /// Tells the queues the places of all streams.
    pub(super) fn place_streams(&mut self) {
        for stream in self.ends.streams.ids() {
            let (channel, first_flow, direction) = self.ends.streams[stream].origin();
            self.place_stream(self.ends.channels[channel].session, first_flow, direction);
        }
    }

    /// Makes the two ends of a connection those of a new one of a session.
    fn renew_connection(&mut self, session: SessionId, tcp: TcpId) {
        let end = &mut self.ends.sessions[session];
        let rng = end.next_stream();
        self.ends.senders[tcp].renew(&end.sender, rng);
        self.ends.receivers[tcp].receiver = Receiver::new(&end.receiver);
    }

    /// The sum over all channels of a session so far.
    pub(super) fn read_session(&self, session: SessionId) -> FlowReading {
        let mut sum = FlowReading::default();
        for &channel in &self.ends.sessions[session].channels {
            let channel = &self.ends.channels[channel];
            sum.add(&self.read_stream(channel.data));
            if let Some(request) = channel.request {
                sum.add(&self.read_stream(request).without_delivered());
            }
        }
        sum
    }

    /// The flow of the specification to which a packet with this flow number belongs.
    pub(super) fn flow_of_specification(&self, flow: FlowId) -> FlowId {
        let FlowEnd::Stream(tcp) = self.net.routes[flow].end else { return flow };
        let (channel, ..) = self.ends.streams[self.ends.stream_of(tcp)].origin();
        self.ends.sessions[self.ends.channels[channel].session].flow
    }

    /// The playback of a session's video so far; `None` when it is not a video.
    pub(super) fn read_video(&mut self, session: SessionId) -> Option<VideoOutcome> {
        self.ends.sessions[session].model.video(self.clock.now)
    }

    fn notify_of(&mut self, stream: StreamId, event: impl FnOnce(Channel, Payload) -> Event) {
        let (channel, _, direction) = self.ends.streams[stream].origin();
        let ChannelEnd { session, number, .. } = self.ends.channels[channel];
        self.notify_session(session, event(number, direction));
    }
}
