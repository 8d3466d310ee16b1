//! Flow queueing (placeholder until the next commit).

/// Fair queueing over any algorithm.
#[derive(Clone, Debug, Default)]
pub struct FairQueue;
