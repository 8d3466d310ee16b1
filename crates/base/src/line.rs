//! A line's rate over time, for every host that transmits packets.
//!
//! [`RateSpec`] describes the rate: constant, changing in steps, or a recording of delivery
//! opportunities. [`RateCursor`] is a transmitter's place in it, which only moves forward.
//! No clock is read here: a host says when a transmission starts and hears when it ends.

mod bucket;
mod cursor;
mod opportunities;
mod spec;

pub use bucket::Bucket;
pub use cursor::RateCursor;
pub use opportunities::{Opportunities, OpportunitiesError, OpportunityCursor};
pub use spec::RateSpec;
