//! One endpoint, held to its bounds.

use crate::endpoint::{Datagram, Endpoint, Transmit};
use crate::error::Fault;
use crate::limits::{DATAGRAM, MAX_AT_AN_INSTANT, MAX_PAYLOAD, MAX_SEGMENTS, MAX_UNDER_WAY};
use goodqueue_base::units::{Ecn, Instant};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A datagram that an endpoint has written.
pub(super) struct Leaving {
    at: Instant,
    pub(super) payload: Vec<u8>,
    pub(super) ecn: Ecn,
}

pub(super) struct End {
    pub(super) endpoint: Box<dyn Endpoint>,
    /// When it is called next, [`Instant::MAX`] for never.
    pub(super) due: Instant,
    /// Bytes that it has sent and that have neither arrived nor been lost, with [`DATAGRAM`] for
    /// each datagram.
    under_way: usize,
    pub(super) has_sent: bool,
    /// The datagrams that leave later, in their order.
    outbox: VecDeque<Leaving>,
    buffer: Vec<u8>,
    /// The instant of the latest calls, and how many calls and datagrams it has had.
    instant: Instant,
    calls: u32,
    sent: u32,
}

impl End {
    pub(super) fn new(endpoint: Box<dyn Endpoint>, due: Instant) -> Self {
        Self {
            endpoint,
            due,
            under_way: 0,
            has_sent: false,
            outbox: VecDeque::new(),
            buffer: Vec::new(),
            instant: Instant::ZERO,
            calls: 0,
            sent: 0,
        }
    }

    pub(super) fn handle(&mut self, now: Instant, datagram: Datagram<'_>) -> Result<(), Fault> {
        caught(|| self.endpoint.handle(now, datagram))
    }

    /// Calls the endpoint because its timeout has come, or something in its outbox leaves now.
    pub(super) fn wake(&mut self, now: Instant) -> Result<(), Fault> {
        self.begin(now);
        self.calls += 1;
        if self.calls > MAX_AT_AN_INSTANT {
            return Err(Fault::Spins);
        }
        caught(|| self.endpoint.handle_timeout(now))
    }

    fn begin(&mut self, now: Instant) {
        if self.instant != now {
            self.instant = now;
            self.calls = 0;
            self.sent = 0;
        }
    }

    /// Takes all that it wants to send into the outbox.
    pub(super) fn poll(&mut self, now: Instant) -> Result<(), Fault> {
        self.begin(now);
        loop {
            self.buffer.clear();
            let (endpoint, buffer) = (&mut self.endpoint, &mut self.buffer);
            let Some(transmit) = caught(|| endpoint.poll_transmit(now, buffer))? else { return Ok(()) };
            self.take(now, transmit)?;
        }
    }

    /// Takes the datagrams in the buffer.
    fn take(&mut self, now: Instant, Transmit { ecn, segment_size, at }: Transmit) -> Result<(), Fault> {
        let bytes = self.buffer.len();
        let size = segment_size.unwrap_or(bytes);
        match segment_size {
            None if bytes > MAX_PAYLOAD => return Err(Fault::TooLarge(bytes)),
            Some(segment_size) if !(1..=MAX_PAYLOAD).contains(&size) || bytes == 0 || bytes.div_ceil(size) > MAX_SEGMENTS => {
                return Err(Fault::Segments { bytes, segment_size });
            }
            None | Some(_) => {}
        }
        let at = at.unwrap_or(now);
        if at < now {
            return Err(Fault::Past(now.since(at)));
        }
        // An earlier time than that of the datagram before would let it overtake.
        let at = self.outbox.back().map_or(at, |before| before.at.max(at));
        self.has_sent = true;
        let segments = bytes.div_ceil(size.max(1)).max(1);
        self.under_way += bytes + segments * DATAGRAM;
        if self.under_way > MAX_UNDER_WAY {
            return Err(Fault::UnderWay(self.under_way));
        }
        self.sent = self.sent.saturating_add(segments as u32);
        if self.sent > MAX_AT_AN_INSTANT {
            return Err(Fault::Floods);
        }
        if bytes == 0 {
            self.outbox.push_back(Leaving { at, payload: Vec::new(), ecn });
        }
        for payload in self.buffer.chunks(size.max(1)) {
            self.outbox.push_back(Leaving { at, payload: payload.to_vec(), ecn });
        }
        Ok(())
    }

    /// A datagram of it has arrived or is lost.
    pub(super) fn settle(&mut self, payload: usize) {
        self.under_way -= payload + DATAGRAM;
    }

    /// The next datagram that leaves by now.
    pub(super) fn next_leaving(&mut self, now: Instant) -> Option<Leaving> {
        if self.outbox.front().is_some_and(|leaving| leaving.at <= now) { self.outbox.pop_front() } else { None }
    }

    /// When it is to be called next.
    pub(super) fn next_due(&mut self, now: Instant) -> Result<Instant, Fault> {
        let endpoint = &mut self.endpoint;
        let timeout = caught(|| endpoint.poll_timeout())?.unwrap_or(Instant::MAX);
        let leaving = self.outbox.front().map_or(Instant::MAX, |leaving| leaving.at);
        Ok(timeout.min(leaving).max(now))
    }
}

/// Calls into an endpoint; a panic there is its fault.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, Fault> {
    // The endpoint is not used again after a panic.
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Fault::Panicked(text.unwrap_or("without a message").replace('\n', " "))
    })
}
