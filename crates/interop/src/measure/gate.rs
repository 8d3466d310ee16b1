//! Admission to the server: keys, sessions, and bounds on everything that a client may cause.

use crate::measure::allowance::Allowance;
use crate::measure::key::Key;
use crate::measure::message::{Datagram, Kind, MESSAGE, Message, PROBE_BYTES};
use goodqueue_base::units::{Bytes, Duration, Instant, Rate};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Bounds of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Sessions at once: two that measure at the same time disturb each other.
    pub sessions: usize,
    /// Time that a session may take.
    pub time: Duration,
    /// The rate of all that is sent in bulk.
    pub rate: Rate,
    /// Connections at once, those without a session included.
    pub connections: usize,
    /// Connections of a session, from first to last.
    pub attached: usize,
    /// Probes of a session.
    pub probes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: 1, time: Duration::secs(300), rate: Rate::gbit(10), connections: 64, attached: 20_000, probes: 40_000 }
    }
}

/// Why a client is not served. Only those with the key learn it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The code is wrong, or the message makes no sense here.
    #[error("no message of a client with the key")]
    Stranger,
    /// There is no such session, or not any more.
    #[error("no such session")]
    NoSession,
    /// A bound is reached.
    #[error("{0} is reached")]
    Bound(&'static str),
}

/// The use of a further connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The server sends.
    Down = 1,
    /// The client sends.
    Up = 2,
    /// One question and its answer.
    Question = 3,
}

impl Purpose {
    fn of(value: u64) -> Option<Self> {
        [Self::Down, Self::Up, Self::Question].into_iter().find(|purpose| *purpose as u64 == value)
    }
}

/// An open question whether a client has the key now.
#[derive(Clone, Debug)]
pub struct Challenge {
    session: Key,
    nonce: [u8; 16],
    /// The message to send.
    pub bytes: [u8; MESSAGE],
}

struct Session {
    key: Key,
    peer: IpAddr,
    ends: Instant,
    attached: BTreeSet<u64>,
    probes: u32,
}

/// The server's knowledge of its clients.
pub struct Gate {
    key: Key,
    limits: Limits,
    connections: usize,
    sessions: BTreeMap<u64, Session>,
    allowance: Allowance,
}

impl Gate {
    /// A gate that opens to this key.
    #[must_use]
    pub fn new(key: Key, limits: Limits) -> Self {
        let allowance = Allowance::new(limits.rate);
        Self { key, limits, connections: 0, sessions: BTreeMap::new(), allowance }
    }

    /// Counts a connection that has been accepted.
    ///
    /// # Errors
    /// When there are as many as allowed.
    pub fn arrive(&mut self) -> Result<(), Refused> {
        if self.connections >= self.limits.connections {
            return Err(Refused::Bound("the number of connections"));
        }
        self.connections += 1;
        Ok(())
    }

    /// Counts a connection that has ended.
    pub fn leave(&mut self) {
        self.connections = self.connections.saturating_sub(1);
    }

    /// Answers the first message of a client.
    ///
    /// # Errors
    /// When it does not know the key.
    pub fn challenge(&self, hello: &[u8; MESSAGE], nonce: [u8; 16]) -> Result<Challenge, Refused> {
        let hello = Message::read(hello, &self.key).filter(|message| message.kind == Kind::Hello).ok_or(Refused::Stranger)?;
        let bytes = Message { nonce, ..Message::of(Kind::Challenge) }.sealed(&self.key);
        Ok(Challenge { session: self.key.of_session(&hello.nonce, &nonce), nonce, bytes })
    }

    /// Begins a session, and returns the message that tells so, or that another client measures.
    ///
    /// # Errors
    /// When the client does not answer the challenge.
    pub fn open(
        &mut self,
        now: Instant,
        peer: IpAddr,
        challenge: &Challenge,
        open: &[u8; MESSAGE],
    ) -> Result<[u8; MESSAGE], Refused> {
        let key = &challenge.session;
        Message::read(open, key)
            .filter(|message| message.kind == Kind::Open && message.nonce == challenge.nonce)
            .ok_or(Refused::Stranger)?;
        self.sessions.retain(|_, session| session.ends > now);
        if self.sessions.len() >= self.limits.sessions {
            return Ok(Message::of(Kind::Busy).sealed(key));
        }
        let id = Self::id(key);
        let ends = now + self.limits.time;
        let (attached, probes) = (BTreeSet::new(), 0);
        self.sessions.insert(id, Session { key: key.clone(), peer: peer.to_canonical(), ends, attached, probes });
        let value = self.limits.rate.as_bit_s();
        Ok(Message { session: id, value, ..Message::of(Kind::Welcome) }.sealed(key))
    }

    fn id(key: &Key) -> u64 {
        key.code(&[b"number"]).first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    }

    /// The session that a challenge has led to, with its key.
    ///
    /// # Errors
    /// When it is over or never began.
    pub fn session(&self, now: Instant, challenge: &Challenge) -> Result<(u64, Key), Refused> {
        let id = Self::id(&challenge.session);
        self.alive(now, id)?;
        Ok((id, challenge.session.clone()))
    }

    /// Whether the session goes on.
    ///
    /// # Errors
    /// When it does not.
    pub fn alive(&self, now: Instant, session: u64) -> Result<(), Refused> {
        self.sessions.get(&session).filter(|session| session.ends > now).map(|_| ()).ok_or(Refused::NoSession)
    }

    /// Ends a session.
    pub fn close(&mut self, session: u64) {
        self.sessions.remove(&session);
    }

    /// Admits a further connection of a session, and returns the session, the purpose and the
    /// answer. Each number is taken once, so that a recorded message opens nothing.
    ///
    /// # Errors
    /// When there is no such session from this address, or it has had its connections.
    pub fn attach(
        &mut self,
        now: Instant,
        peer: IpAddr,
        attach: &[u8; MESSAGE],
    ) -> Result<(u64, Purpose, [u8; MESSAGE]), Refused> {
        let id = Message::session_of(attach);
        let bound = self.limits.attached;
        let session = self.sessions.get_mut(&id).filter(|session| session.ends > now).ok_or(Refused::NoSession)?;
        let message = Message::read(attach, &session.key).filter(|message| message.kind == Kind::Attach);
        let message = message.filter(|_| session.peer == peer.to_canonical()).ok_or(Refused::Stranger)?;
        let purpose = Purpose::of(message.value).ok_or(Refused::Stranger)?;
        if session.attached.len() >= bound {
            return Err(Refused::Bound("the number of connections of a session"));
        }
        if !session.attached.insert(message.number) {
            return Err(Refused::Stranger);
        }
        let answer = Message { session: id, number: message.number, ..Message::of(Kind::Attached) };
        Ok((id, purpose, answer.sealed(&session.key)))
    }

    /// The answer of a datagram, as long as itself; `None` for all but probes of a session from its
    /// client. The two times are its arrival and now.
    pub fn answer(&mut self, received: Instant, now: Instant, from: IpAddr, datagram: &[u8]) -> Option<[u8; PROBE_BYTES]> {
        let session = self.sessions.get_mut(&Message::session_of(datagram)).filter(|session| session.ends > now)?;
        let probe = Datagram::read(datagram, &session.key)?;
        let is_probe = (probe.received, probe.answered, probe.count) == (0, 0, 0);
        if !is_probe || session.peer != from.to_canonical() || session.probes >= self.limits.probes {
            return None;
        }
        session.probes += 1;
        let (received, answered) = (received.as_nanos().max(1), now.as_nanos().max(1));
        Some(Datagram { received, answered, count: session.probes, ..probe }.sealed(&session.key))
    }

    /// Takes bytes of the rate that all sessions share, and tells how long to wait before they may
    /// be sent.
    ///
    /// # Errors
    /// When the session is over.
    pub fn send(&mut self, now: Instant, session: u64, bytes: Bytes) -> Result<Duration, Refused> {
        self.alive(now, session)?;
        Ok(self.allowance.take(now, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn at(seconds: u64) -> Instant {
        Instant::ZERO + Duration::secs(seconds)
    }

    fn opened(gate: &mut Gate, now: Instant, nonce: u8) -> (Message, Key) {
        let key = Key::from_random([7; 32]);
        let hello = Message { nonce: [nonce; 16], ..Message::of(Kind::Hello) }.sealed(&key);
        let challenge = gate.challenge(&hello, [2; 16]).unwrap();
        let session = key.of_session(&[nonce; 16], &[2; 16]);
        let open = Message { nonce: [2; 16], ..Message::of(Kind::Open) }.sealed(&session);
        let welcome = gate.open(now, PEER, &challenge, &open).unwrap();
        (Message::read(&welcome, &session).unwrap(), session)
    }

    fn gate() -> Gate {
        Gate::new(Key::from_random([7; 32]), Limits { attached: 3, probes: 2, connections: 2, ..Limits::default() })
    }

    #[test]
    fn strangers_get_no_answer() {
        let mut gate = gate();
        let hello = Message { nonce: [1; 16], ..Message::of(Kind::Hello) };
        let stranger = Key::from_random([8; 32]);
        assert_eq!(gate.challenge(&hello.sealed(&stranger), [2; 16]).unwrap_err(), Refused::Stranger);
        let key = Key::from_random([7; 32]);
        // A recorded Hello gets a challenge of its own length, and no further.
        let challenge = gate.challenge(&hello.sealed(&key), [3; 16]).unwrap();
        let recorded = Message { nonce: [2; 16], ..Message::of(Kind::Open) }.sealed(&key.of_session(&[1; 16], &[2; 16]));
        assert_eq!(gate.open(at(0), PEER, &challenge, &recorded).unwrap_err(), Refused::Stranger);
        assert_eq!(gate.session(at(0), &challenge).unwrap_err(), Refused::NoSession);
    }

    #[test]
    fn one_client_at_a_time_measures() {
        let mut gate = gate();
        let (welcome, _) = opened(&mut gate, at(0), 1);
        assert_eq!((welcome.kind, welcome.value), (Kind::Welcome, 10_000_000_000));
        assert_eq!(opened(&mut gate, at(1), 4).0.kind, Kind::Busy);
        assert_eq!(opened(&mut gate, at(301), 5).0.kind, Kind::Welcome, "the first is over");
        let third = opened(&mut gate, at(602), 6).0.session;
        gate.close(third);
        assert_eq!(opened(&mut gate, at(602), 7).0.kind, Kind::Welcome);
    }

    #[test]
    fn connections_are_attached_once_and_from_their_client() {
        let mut gate = gate();
        let (welcome, key) = opened(&mut gate, at(0), 1);
        let attach =
            |number, value| Message { session: welcome.session, number, value, ..Message::of(Kind::Attach) }.sealed(&key);
        let (session, purpose, answer) = gate.attach(at(1), PEER, &attach(1, 1)).unwrap();
        assert_eq!((session, purpose), (welcome.session, Purpose::Down));
        assert_eq!(Message::read(&answer, &key).unwrap().kind, Kind::Attached);
        assert_eq!(gate.attach(at(1), PEER, &attach(1, 1)).unwrap_err(), Refused::Stranger, "recorded");
        assert_eq!(gate.attach(at(1), OTHER, &attach(2, 1)).unwrap_err(), Refused::Stranger, "from elsewhere");
        assert_eq!(gate.attach(at(1), PEER, &attach(2, 9)).unwrap_err(), Refused::Stranger, "no purpose");
        let mapped = IpAddr::V6(Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped());
        assert_eq!(gate.attach(at(1), mapped, &attach(2, 2)).unwrap().1, Purpose::Up);
        assert!(gate.attach(at(1), PEER, &attach(3, 3)).is_ok());
        assert!(matches!(gate.attach(at(1), PEER, &attach(4, 3)), Err(Refused::Bound(_))));
        assert_eq!(gate.attach(at(300), PEER, &attach(5, 1)).unwrap_err(), Refused::NoSession);
    }

    #[test]
    fn probes_are_answered_within_bounds() {
        let mut gate = gate();
        let (welcome, key) = opened(&mut gate, at(0), 1);
        let probe = Datagram { session: welcome.session, number: 5, ..Datagram::default() };
        let bytes = probe.sealed(&key);
        assert_eq!(gate.answer(at(1), at(1), OTHER, &bytes), None);
        let answer = gate.answer(at(1), at(2), PEER, &bytes).unwrap();
        let expected = Datagram { received: 1_000_000_000, answered: 2_000_000_000, count: 1, ..probe };
        assert_eq!(Datagram::read(&answer, &key), Some(expected));
        assert_eq!(gate.answer(at(2), at(2), PEER, &answer), None, "an answer gets none");
        assert_eq!(gate.answer(at(2), at(2), PEER, &bytes[..63]), None);
        assert!(gate.answer(at(2), at(2), PEER, &bytes).is_some());
        assert_eq!(gate.answer(at(2), at(2), PEER, &bytes), None, "two are allowed");
    }

    #[test]
    fn connections_and_bytes_are_bounded() {
        let mut gate = gate();
        assert!(gate.arrive().is_ok() && gate.arrive().is_ok());
        assert!(matches!(gate.arrive(), Err(Refused::Bound(_))));
        gate.leave();
        assert!(gate.arrive().is_ok());
        let (welcome, _) = opened(&mut gate, at(0), 1);
        assert_eq!(gate.send(at(1), welcome.session, Bytes::new(10_000_000)), Ok(Duration::ZERO));
        assert_eq!(gate.send(at(1), welcome.session, Bytes::new(10_000_000)), Ok(Duration::ms(6)));
        assert_eq!(gate.send(at(300), welcome.session, Bytes::new(1)), Err(Refused::NoSession));
    }
}
