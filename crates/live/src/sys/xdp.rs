//! AF_XDP sockets: frames in memory of ours that the kernel fills and reads, told of in four rings
//! shared with it.

use super::bpf::{Mode, Redirect};
use super::mapping::Mapping;
use super::options;
use rustix::net::xdp::{SocketAddrXdp, SocketAddrXdpFlags, XdpOptionsFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a chunk of the memory: the kernel's headroom and a frame.
const CHUNK: usize = 4096;
/// Headroom that the kernel keeps before a frame.
const HEADROOM: usize = 256;
/// The longest frame that fits.
pub const MAX: usize = CHUNK - HEADROOM;
/// Frames that wait for us at most.
const RECEIVED: u32 = 4096;
/// Entries of the fill ring. The kernel shows a frame before it says that its chunk has left the
/// ring, so each chunk may be in it once more than it is.
const FILL: u32 = 2 * RECEIVED;
/// Frames on their way out at most.
const SENT: u32 = 1024;
/// Frames that the kernel sends per call unless asked for more.
const BUDGET: libc::c_int = 64;
/// Calls in a row for frames that the kernel left in the ring; more wait for the next round.
const CALLS: usize = 8;

/// A ring of `T`s, of which one side puts in and the other takes out.
#[derive(Debug)]
struct Ring<T> {
    memory: Mapping,
    producer: usize,
    consumer: usize,
    entries: usize,
    size: u32,
    /// Our own position: what we have put in, or taken out.
    ours: u32,
    _entries: std::marker::PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    fn new(socket: BorrowedFd<'_>, offsets: &XdpRingOffset, size: u32, page: libc::off_t) -> io::Result<Self> {
        let [producer, consumer, entries] = [offsets.producer, offsets.consumer, offsets.desc].map(|offset| offset as usize);
        let len = entries + size as usize * size_of::<T>();
        debug_assert!(producer + 4 <= len && consumer + 4 <= len, "positions are before the entries");
        let memory = Mapping::new(Some(socket), len, page)?;
        Ok(Self { memory, producer, consumer, entries, size, ours: 0, _entries: std::marker::PhantomData })
    }

    fn position(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: the kernel said that a position of 32 bits is at this offset of the mapping,
        // aligned; both sides only use it as an atomic.
        unsafe { AtomicU32::from_ptr(self.memory.start.as_ptr().add(offset).cast()) }
    }

    fn entry(&self, position: u32) -> *mut T {
        // The size is a power of two.
        let index = (position & (self.size - 1)) as usize;
        // SAFETY: the index is below the size for which the mapping was made.
        unsafe { self.memory.start.as_ptr().add(self.entries).cast::<T>().add(index) }
    }

    /// Puts in `value`, for the other side to see after [`Self::publish`]; false when there is no
    /// room.
    #[inline]
    fn put(&mut self, value: T) -> bool {
        if self.ours.wrapping_sub(self.position(self.consumer).load(Ordering::Acquire)) >= self.size {
            return false;
        }
        // SAFETY: the entry is within the mapping, and the other side does not read it before the
        // position covers it.
        unsafe { self.entry(self.ours).write(value) };
        self.ours = self.ours.wrapping_add(1);
        true
    }

    #[inline]
    fn publish(&self) {
        self.position(self.producer).store(self.ours, Ordering::Release);
    }

    /// True if the other side has taken all entries.
    fn is_taken(&self) -> bool {
        self.position(self.consumer).load(Ordering::Acquire) == self.ours
    }

    /// The next entry, if there is one. It remains the next until [`Self::taken`].
    #[inline]
    fn next(&self) -> Option<T> {
        if self.position(self.producer).load(Ordering::Acquire) == self.ours {
            return None;
        }
        // SAFETY: the entry is within the mapping, and the other side has written it (position,
        // read with acquire).
        Some(unsafe { self.entry(self.ours).read() })
    }

    #[inline]
    fn taken(&mut self) {
        self.ours = self.ours.wrapping_add(1);
        self.position(self.consumer).store(self.ours, Ordering::Release);
    }
}

/// Transfer of frames into the shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transfer {
    /// The card puts them there if its driver can, otherwise the kernel copies them.
    #[default]
    Either,
    /// The kernel copies them.
    Copied,
    /// The card puts them there.
    ZeroCopy,
}

/// An AF_XDP socket on the first receive queue of an interface.
#[derive(Debug)]
pub struct XdpSocket {
    fd: OwnedFd,
    memory: Mapping,
    fill: Ring<u64>,
    completion: Ring<u64>,
    receive: Ring<libc::xdp_desc>,
    transmit: Ring<libc::xdp_desc>,
    /// Chunks for frames to be sent.
    spare: Vec<u64>,
    zero_copy: bool,
    _redirect: Redirect,
}

impl XdpSocket {
    /// On the interface of number `interface`. Frames come in from now on; the kernel does not see
    /// them any more.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open(interface: u32, mode: Mode, transfer: Transfer) -> io::Result<Self> {
        let fd = socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
        let memory = Mapping::new(None, (RECEIVED + SENT) as usize * CHUNK, 0)?;
        // The memory outlives the socket: both are closed with the returned value, or below on
        // failure, and nothing of ours but this value touches it.
        let register = XdpUmemReg {
            addr: memory.start.as_ptr() as u64,
            len: memory.len as u64,
            chunk_size: CHUNK as u32,
            headroom: 0,
            flags: XdpUmemRegFlags::empty(),
            tx_metadata_len: 0,
        };
        sockopt::set_xdp_umem_reg(&fd, register)?;
        sockopt::set_xdp_umem_fill_ring_size(&fd, FILL)?;
        sockopt::set_xdp_umem_completion_ring_size(&fd, SENT)?;
        sockopt::set_xdp_rx_ring_size(&fd, RECEIVED)?;
        sockopt::set_xdp_tx_ring_size(&fd, SENT)?;
        let offsets = sockopt::xdp_mmap_offsets(&fd)?;
        let (socket, pages) = (fd.as_fd(), [libc::XDP_UMEM_PGOFF_FILL_RING, libc::XDP_UMEM_PGOFF_COMPLETION_RING]);
        let [fill, completion] = pages.map(|page| page as libc::off_t);
        let mut fill = Ring::new(socket, &offsets.fr, FILL, fill)?;
        let completion = Ring::new(socket, &offsets.cr, SENT, completion)?;
        let receive = Ring::new(socket, &offsets.rx, RECEIVED, libc::XDP_PGOFF_RX_RING as libc::off_t)?;
        let transmit = Ring::new(socket, &offsets.tx, SENT, libc::XDP_PGOFF_TX_RING as libc::off_t)?;
        for chunk in 0..RECEIVED {
            fill.put(u64::from(chunk) * CHUNK as u64);
        }
        fill.publish();
        let redirect = Redirect::new(interface, mode)?;
        // Behind the driver there are only copies.
        let transfer = if mode == Mode::Generic { Transfer::Copied } else { transfer };
        // Without a flag the kernel tries zero copy first.
        let transfer = match transfer {
            Transfer::Either => SocketAddrXdpFlags::empty(),
            Transfer::Copied => SocketAddrXdpFlags::XDP_COPY,
            Transfer::ZeroCopy => SocketAddrXdpFlags::XDP_ZEROCOPY,
        };
        bind(&fd, &SocketAddrXdp::new(transfer, interface, 0))?;
        let zero_copy = sockopt::xdp_options(&fd)?.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY);
        // Older kernels do not know this option and send 32 frames per call.
        let _ = options::set(fd.as_fd(), libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &BUDGET);
        redirect.send_to(fd.as_fd())?;
        let spare = (RECEIVED..RECEIVED + SENT).map(|chunk| u64::from(chunk) * CHUNK as u64).collect();
        Ok(Self { fd, memory, fill, completion, receive, transmit, spare, zero_copy, _redirect: redirect })
    }

    /// True if the card reads and writes the shared memory itself.
    #[must_use]
    pub const fn is_zero_copy(&self) -> bool {
        self.zero_copy
    }

    /// Has the kernel look for frames now, where [`busy::ask`](super::busy::ask) was granted.
    #[inline]
    pub fn look(&self) {
        // SAFETY: no memory is given. An interface that is down has no frames.
        unsafe { libc::recv(self.fd.as_raw_fd(), std::ptr::null_mut(), 0, libc::MSG_DONTWAIT) };
    }

    /// The next frame that came in, if any; it stays the next until [`Self::release`].
    #[inline]
    pub fn peek(&self) -> Option<&[u8]> {
        let found = self.receive.next()?;
        // One outside of the memory would be a mistake of the kernel; an empty frame is none for
        // all that follows.
        let part = self.memory.part(found.addr, found.len).unwrap_or(NonNull::slice_from_raw_parts(self.memory.start, 0));
        // SAFETY: the part is within the memory, and the kernel leaves the chunk alone until it is
        // in the fill ring again, for which this borrow must have ended.
        Some(unsafe { part.as_ref() })
    }

    /// Gives the next frame's chunk back to the kernel.
    #[inline]
    pub fn release(&mut self) {
        if let Some(found) = self.receive.next() {
            self.receive.taken();
            // There is room for each chunk twice.
            let put = self.fill.put(found.addr & !(CHUNK as u64 - 1));
            debug_assert!(put, "the fill ring has room for all chunks");
            self.fill.publish();
        }
    }

    /// Takes a frame no longer than [`MAX`], to be sent by the next [`Self::flush`]; false when
    /// too many are on their way.
    #[inline]
    pub fn push(&mut self, frame: &[u8]) -> bool {
        if self.spare.is_empty() {
            while let Some(chunk) = self.completion.next() {
                self.completion.taken();
                self.spare.push(chunk);
            }
        }
        let Some(&chunk) = self.spare.last() else { return false };
        let Some(mut room) = self.memory.part(chunk, frame.len() as u32).filter(|_| frame.len() <= CHUNK) else { return false };
        if !self.transmit.put(libc::xdp_desc { addr: chunk, len: frame.len() as u32, options: 0 }) {
            return false;
        }
        // SAFETY: the chunk is within the memory and ours: it is neither in a ring of the kernel's
        // nor published yet.
        unsafe { room.as_mut() }.copy_from_slice(frame);
        self.spare.pop();
        true
    }

    /// Makes the kernel send pushed frames. Frames that it leaves go with the next call.
    ///
    /// # Errors
    /// When it sends nothing at all: the interface is down or gone.
    pub fn flush(&mut self) -> io::Result<()> {
        self.transmit.publish();
        // A card takes frames on its own once it was told.
        let calls = if self.zero_copy { 1 } else { CALLS };
        for _ in 0..calls {
            if self.transmit.is_taken() {
                break;
            }
            // SAFETY: no data and no address are given.
            let result =
                unsafe { libc::sendto(self.fd.as_raw_fd(), std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0) };
            if result < 0 {
                let error = io::Error::last_os_error();
                match error.raw_os_error() {
                    // It has sent its maximum per call, or waits for completions.
                    Some(libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR) => {}
                    _ => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Frames that were lost before we saw them since the start: for want of room in the ring, or
    /// because they were too long for a chunk.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn lost(&self) -> io::Result<u64> {
        let statistics = sockopt::xdp_statistics(&self.fd)?;
        Ok(statistics.rx_dropped + statistics.rx_ring_full.unwrap_or(0))
    }
}

impl AsFd for XdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Maximum number of frames per call; not yet in `libc`.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;
