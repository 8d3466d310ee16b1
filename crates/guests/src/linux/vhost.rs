//! vhost-user, device side, for a network card with one queue per direction and no offloads.
//!
//! Implements the part of the protocol (QEMU's specification, "Vhost-user Protocol") that User-Mode
//! Linux uses: kicks and interrupts travel as messages in the same streams as everything else
//! (in-band notifications), since only then is their order in virtual time defined. Without
//! checksum and segmentation offloads every frame is a packet as on the wire.

use crate::linux::error::VhostFault;
use crate::linux::liveness;
use crate::linux::memory::{GuestMemory, RegionSpec};
use crate::linux::ring::Queue;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Length of a message's header.
pub const HEADER: usize = 12;
/// Longest accepted body.
pub const MAX_BODY: usize = 1024;

const VERSION: u32 = 1;
const REPLY: u32 = 4;
const NEED_REPLY: u32 = 8;

/// Virtio 1, and protocol features.
const FEATURES: u64 = 1 << 32 | 1 << 30;
/// Replies on request, a stream for messages of the device, and in-band notifications.
const PROTOCOL_FEATURES: u64 = 1 << 3 | 1 << 5 | 1 << 14;

/// Index of the queue from which the guest receives.
pub const RECEIVE: usize = 0;
/// Index of the queue to which it sends.
pub const TRANSMIT: usize = 1;

/// Header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Request number.
    pub request: u32,
    flags: u32,
    /// Length of the body.
    pub size: usize,
}

impl Header {
    /// Parses a header.
    ///
    /// # Errors
    /// When it belongs to another protocol, or the body is too long.
    pub fn read(bytes: [u8; HEADER]) -> Result<Self, VhostFault> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = Self { request: word(0), flags: word(4), size: word(8) as usize };
        let fault = |what| Err(VhostFault::Message { request: header.request, what });
        if header.flags & 3 != VERSION {
            return fault("is not of version 1");
        }
        if header.size > MAX_BODY {
            return fault("is too long");
        }
        Ok(header)
    }
}

/// Outcome of a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The answer to send.
    pub reply: Option<Vec<u8>>,
    /// The queue with new chains.
    pub kicked: Option<usize>,
}

/// State of a card.
#[derive(Debug, Default)]
pub struct Device {
    /// The guest's memory.
    pub memory: GuestMemory,
    /// Queues [`RECEIVE`] and [`TRANSMIT`].
    pub queues: [Queue; 2],
    /// Stream for the device's own messages.
    pub interrupts: Option<UnixStream>,
}

/// Request numbers from the specification.
mod request {
    pub const GET_FEATURES: u32 = 1;
    pub const SET_FEATURES: u32 = 2;
    pub const SET_OWNER: u32 = 3;
    pub const RESET_OWNER: u32 = 4;
    pub const SET_MEM_TABLE: u32 = 5;
    pub const SET_VRING_NUM: u32 = 8;
    pub const SET_VRING_ADDR: u32 = 9;
    pub const SET_VRING_BASE: u32 = 10;
    pub const GET_VRING_BASE: u32 = 11;
    pub const SET_VRING_KICK: u32 = 12;
    pub const SET_VRING_CALL: u32 = 13;
    pub const SET_VRING_ERR: u32 = 14;
    pub const GET_PROTOCOL_FEATURES: u32 = 15;
    pub const SET_PROTOCOL_FEATURES: u32 = 16;
    pub const SET_VRING_ENABLE: u32 = 18;
    pub const SET_BACKEND_REQ_FD: u32 = 21;
    pub const VRING_KICK: u32 = 35;
    /// From the device: a queue has new chains.
    pub const BACKEND_VRING_CALL: u32 = 4;
}

/// Message that raises an interrupt for a queue and requests an answer.
#[must_use]
pub fn interrupt(queue: usize) -> [u8; HEADER + 8] {
    let mut message = [0; HEADER + 8];
    let words = [request::BACKEND_VRING_CALL, VERSION | NEED_REPLY, 8, queue as u32, 0];
    for (to, word) in message.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    message
}

/// Reads integers from a body, in order.
struct Body<'a> {
    request: u32,
    rest: &'a [u8],
}

impl Body<'_> {
    fn short(&self) -> VhostFault {
        VhostFault::Message { request: self.request, what: "is too short" }
    }

    fn u32(&mut self) -> Result<u32, VhostFault> {
        let (word, rest) = self.rest.split_first_chunk().ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(u32::from_le_bytes(*word))
    }

    fn u64(&mut self) -> Result<u64, VhostFault> {
        let (word, rest) = self.rest.split_first_chunk().ok_or_else(|| self.short())?;
        self.rest = rest;
        Ok(u64::from_le_bytes(*word))
    }
}

impl Device {
    /// Handles a message.
    ///
    /// # Errors
    /// When the guest asks for something invalid; the card is unusable afterward.
    pub fn handle(&mut self, header: Header, body: &[u8], descriptors: Vec<OwnedFd>) -> Result<Answer, VhostFault> {
        let Header { request, flags, .. } = header;
        let mut body = Body { request, rest: body };
        let mut answer = Answer::default();
        let mut value = None;
        match request {
            request::GET_FEATURES => value = Some(FEATURES),
            request::GET_PROTOCOL_FEATURES => value = Some(PROTOCOL_FEATURES),
            request::SET_FEATURES => agreed(request, body.u64()?, FEATURES)?,
            request::SET_PROTOCOL_FEATURES => agreed(request, body.u64()?, PROTOCOL_FEATURES)?,
            request::SET_OWNER | request::SET_VRING_KICK | request::SET_VRING_CALL | request::SET_VRING_ERR => {}
            request::RESET_OWNER => *self = Self::default(),
            request::SET_MEM_TABLE => self.set_memory(&mut body, descriptors)?,
            request::SET_VRING_NUM => {
                let (queue, size) = self.queue_and_number(&mut body)?;
                queue.resize(u64::from(size))?;
            }
            request::SET_VRING_BASE => {
                let (queue, base) = self.queue_and_number(&mut body)?;
                queue.start_at(base as u16);
            }
            request::GET_VRING_BASE => {
                let number = body.u32()?;
                let base = self.queue(request, number)?.position();
                value = Some(u64::from(number) | u64::from(base) << 32);
            }
            request::SET_VRING_ADDR => self.set_addresses(&mut body)?,
            request::SET_VRING_ENABLE => {
                self.queue_and_number(&mut body)?;
            }
            request::SET_BACKEND_REQ_FD => {
                let only = descriptors.into_iter().next();
                let socket = only.ok_or(VhostFault::Message { request, what: "comes without its socket" })?;
                let socket = UnixStream::from(socket);
                liveness::prepare(&socket)?;
                self.interrupts = Some(socket);
            }
            request::VRING_KICK => {
                let number = body.u32()?;
                self.queue(request, number)?;
                answer.kicked = Some(number as usize);
            }
            _ => return Err(VhostFault::Message { request, what: "is unknown" }),
        }
        if value.is_some() || flags & NEED_REPLY != 0 {
            let mut reply = Vec::with_capacity(HEADER + 8);
            for word in [request, VERSION | REPLY, 8] {
                reply.extend_from_slice(&word.to_le_bytes());
            }
            reply.extend_from_slice(&value.unwrap_or(0).to_le_bytes());
            answer.reply = Some(reply);
        }
        Ok(answer)
    }

    fn queue(&mut self, request: u32, number: u32) -> Result<&mut Queue, VhostFault> {
        let fault = VhostFault::Message { request, what: "is about a queue that this card does not have" };
        self.queues.get_mut(number as usize).ok_or(fault)
    }

    fn queue_and_number(&mut self, body: &mut Body<'_>) -> Result<(&mut Queue, u32), VhostFault> {
        let (queue, number) = (body.u32()?, body.u32()?);
        Ok((self.queue(body.request, queue)?, number))
    }

    fn set_memory(&mut self, body: &mut Body<'_>, descriptors: Vec<OwnedFd>) -> Result<(), VhostFault> {
        let (count, _padding) = (body.u32()? as usize, body.u32()?);
        if count != descriptors.len() {
            return Err(VhostFault::Message { request: body.request, what: "has not one file for each region of memory" });
        }
        self.memory.clear();
        for descriptor in descriptors {
            let spec = RegionSpec { guest: body.u64()?, size: body.u64()?, user: body.u64()?, offset: body.u64()? };
            self.memory.add(spec, File::from(descriptor))?;
        }
        Ok(())
    }

    fn set_addresses(&mut self, body: &mut Body<'_>) -> Result<(), VhostFault> {
        let (number, _flags) = (body.u32()?, body.u32()?);
        let (descriptors, used, available) = (body.u64()?, body.u64()?, body.u64()?);
        let [descriptors, used, available] = [descriptors, used, available].map(|user| self.memory.physical(user));
        let (descriptors, available, used) = (descriptors?, available?, used?);
        self.queue(body.request, number)?.place(descriptors, available, used);
        Ok(())
    }
}

/// Rejects features that were not offered.
fn agreed(request: u32, accepted: u64, offered: u64) -> Result<(), VhostFault> {
    if accepted & !offered == 0 {
        return Ok(());
    }
    Err(VhostFault::Message { request, what: "accepts what was not offered" })
}
