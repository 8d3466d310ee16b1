//! Judges of queues and senders that are not of goodqueue's own making.
//!
//! - [`conformance`]: vectors of queue verdicts, for our queues and for other programs.
//! - [`packetdrill`]: the script language of packetdrill, against any TCP in user space.
#![forbid(unsafe_code)]

pub mod conformance;
pub mod packetdrill;
