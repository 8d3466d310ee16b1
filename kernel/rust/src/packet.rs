//! A packet of the kernel, as queues see it.

use core::ptr::NonNull;
use goodqueue_aqm::{Endpoints, FlowHash, HostHash, Packet};
use goodqueue_base::units::{Bytes, Class, Ecn};

/// The facts of a packet that a queue needs. They lie in the packet itself, in the part of
/// `struct sk_buff` that belongs to the queue in which it waits; so a queue holds nothing but where
/// that is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct GqkFacts {
    /// Bytes from the network header on.
    pub length: u32,
    /// Hash of the flow.
    pub flow: u32,
    /// Hash of the source address.
    pub source: u32,
    /// Hash of the destination address.
    pub destination: u32,
    /// ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
    /// DSCP, 0 to 63.
    pub dscp: u8,
}

/// A packet that waits.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting(NonNull<GqkFacts>);

impl Waiting {
    /// The packet with these facts.
    ///
    /// # Safety
    /// The facts are the packet's own and nobody else uses them until the packet has left the
    /// queue.
    pub(crate) const unsafe fn new(facts: NonNull<GqkFacts>) -> Self {
        Self(facts)
    }

    pub(crate) const fn facts(self) -> *mut GqkFacts {
        self.0.as_ptr()
    }

    /// The packet's DSCP.
    #[cfg(feature = "provoke")]
    pub(crate) fn dscp(&self) -> u8 {
        self.read().dscp
    }

    #[inline]
    fn read(&self) -> &GqkFacts {
        // SAFETY: the facts are there and unchanged as long as the packet waits.
        unsafe { self.0.as_ref() }
    }
}

impl Packet for Waiting {
    #[inline]
    fn len(&self) -> Bytes {
        Bytes::new(u64::from(self.read().length))
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.read().ecn)
    }
    #[inline]
    fn set_ce(&mut self) {
        // SAFETY: as above; nobody reads them meanwhile.
        unsafe { self.0.as_mut() }.ecn = Ecn::Ce as u8;
    }
    #[inline]
    fn flow(&self) -> FlowHash {
        FlowHash(self.read().flow)
    }
    #[inline]
    fn class(&self) -> Class {
        Class::from_dscp(self.read().dscp)
    }
    #[inline]
    fn endpoints(&self) -> Endpoints {
        let facts = self.read();
        Endpoints { source: HostHash(facts.source), destination: HostHash(facts.destination) }
    }
}
