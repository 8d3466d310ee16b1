//! The receive ring of a packet socket (TPACKET version 2), shared with the kernel.
//!
//! Version 3 hands over blocks and holds a block back for up to a millisecond, which is of no use
//! to a queue.

use super::mapping::{self, Mapping};
use super::options;
use super::socket::{self, Interface, PacketSocket};
use crate::segments::{self, Offload};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Bytes of the ring's blocks, and of those for joined frames, at most. The kernel takes a power of
/// two of pages for each, which 15 joined frames nearly fill.
const BLOCK: usize = 1 << 16;
const LONG_BLOCK: usize = 1 << 20;
/// Room for a frame with its header, unless frames are longer.
const SHORT_FRAME: usize = 2048;

/// A receive ring.
#[derive(Debug)]
pub struct Ring {
    memory: Mapping,
    frame_size: usize,
    frames: usize,
    next: usize,
    offloads: bool,
}

/// Treatment of received frames that offloads have joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offloads {
    /// As they are, with the kernel's description of them.
    On,
    /// Not at all: a joined frame is longer than a frame may be.
    Off,
}

/// The ring keeps a header of its own before each frame.
const HEADER: usize = 128;

/// An interface that frames come in from.
#[derive(Debug)]
pub struct Opened {
    /// The interface they leave by, and its index.
    pub socket: PacketSocket,
    /// Ring that they come in through.
    pub ring: Ring,
    /// The longest single frame, tags included.
    pub longest: u32,
}

/// Opens the Ethernet interface `name` of the network namespace that the thread is in, with room
/// for `frames` frames. They come in from now on.
///
/// # Errors
/// When there is no such interface, or the kernel refuses.
pub fn open(name: &str, offloads: Offloads, frames: usize) -> io::Result<Opened> {
    let interface @ Interface { index, .. } = socket::ethernet(name)?;
    let longest = interface.longest_frame();
    let mut socket = PacketSocket::new(index)?;
    let room = match offloads {
        Offloads::Off => longest as usize,
        Offloads::On => {
            socket.tell_offloads()?;
            segments::MAX.max(longest as usize)
        }
    };
    let ring = Ring::new(&socket, frames, room)?;
    socket.open()?;
    Ok(Opened { socket, ring, longest })
}

/// A frame in the ring, ours until it is released.
#[derive(Debug)]
pub struct RingFrame<'a> {
    /// Bytes of the frame, as many as fit.
    pub bytes: &'a [u8],
    /// Length of the frame on the wire.
    pub wire_len: u32,
    /// When the kernel received it: seconds and nanoseconds of the wall clock.
    pub stamp: (u32, u32),
    /// The VLAN tag that the kernel took out of it: protocol and tag.
    pub tag: Option<(u16, u16)>,
    /// True if the sender left the checksum to a network card.
    pub checksum_not_ready: bool,
    /// The work left to a network card, where the socket reports it.
    pub offload: Option<Offload>,
}

impl Ring {
    /// A ring of at least `frames` frames of up to `room` bytes each. Its frames report the work
    /// left to a network card when `socket` asks for that.
    ///
    /// # Errors
    /// When the kernel refuses, most often for want of memory.
    pub fn new(socket: &PacketSocket, frames: usize, room: usize) -> io::Result<Self> {
        // Frames fill blocks, and blocks fill pages, so that each frame is right behind another.
        let needed = room + HEADER;
        let frame_size = if needed <= SHORT_FRAME { SHORT_FRAME } else { needed.next_multiple_of(mapping::page_size()) };
        let most = if frame_size > BLOCK / 2 { LONG_BLOCK } else { BLOCK };
        let block = (most / frame_size).max(1) * frame_size;
        socket.set(libc::PACKET_VERSION, libc::tpacket_versions::TPACKET_V2 as libc::c_int)?;
        let blocks = (frames * frame_size).div_ceil(block);
        let frames = blocks * (block / frame_size);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: blocks as u32,
            tp_frame_size: frame_size as u32,
            tp_frame_nr: frames as u32,
        };
        options::set(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let memory = Mapping::new(Some(socket.as_fd()), blocks * block, 0)?;
        Ok(Self { memory, frame_size, frames, next: 0, offloads: socket.tells_offloads() })
    }

    fn slot(&self) -> *mut u8 {
        debug_assert!(self.next < self.frames, "within the ring");
        // SAFETY: `next` is below the number of frames, so the offset is within the mapping.
        unsafe { self.memory.start.as_ptr().add(self.next * self.frame_size) }
    }

    fn status(&self) -> &AtomicU32 {
        // SAFETY: every frame begins with its 32-bit status, aligned as frames are; the kernel
        // writes it too, so it is only ever used as an atomic.
        unsafe { AtomicU32::from_ptr(self.slot().cast()) }
    }

    /// The next frame, if the kernel has filled it; it stays the next until [`Ring::release`].
    #[inline]
    pub fn peek(&self) -> Option<RingFrame<'_>> {
        let status = self.status().load(Ordering::Acquire);
        if status & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let slot = self.slot();
        // SAFETY: the kernel has handed the frame over (status, read with acquire), so it does not
        // write it any more; the header is within the frame, aligned, and plain old data.
        let header = unsafe { std::ptr::read(slot.cast::<libc::tpacket2_hdr>()) };
        let offset = usize::from(header.tp_mac).min(self.frame_size);
        let len = (header.tp_snaplen as usize).min(self.frame_size - offset);
        // SAFETY: offset and length were just held to the frame's size, and the kernel leaves it
        // alone until it is released, for which this borrow must have ended.
        let bytes = unsafe { std::slice::from_raw_parts(slot.add(offset), len) };
        // The kernel puts it right before the frame.
        let offload = offset.checked_sub(Offload::BYTES).filter(|_| self.offloads).map(|before| {
            // SAFETY: `before` and the ten bytes from there end at `offset`, which is within the
            // frame.
            Offload::from_bytes(unsafe { std::ptr::read(slot.add(before).cast::<[u8; Offload::BYTES]>()) })
        });
        let tagged = status & libc::TP_STATUS_VLAN_VALID != 0;
        let protocol = if status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { header.tp_vlan_tpid } else { 0x8100 };
        Some(RingFrame {
            bytes,
            wire_len: header.tp_len,
            stamp: (header.tp_sec, header.tp_nsec),
            tag: tagged.then_some((protocol, header.tp_vlan_tci)),
            checksum_not_ready: status & libc::TP_STATUS_CSUMNOTREADY != 0,
            offload,
        })
    }

    /// Gives the next frame back to the kernel.
    #[inline]
    pub fn release(&mut self) {
        fence(Ordering::Release);
        self.status().store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next += 1;
        if self.next == self.frames {
            self.next = 0;
        }
    }
}
