//! Paths: the links that packets cross, and in which direction.

pub use goodqueue_base::units::Direction;

/// One link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Index into [`super::Scenario::links`].
    pub link: usize,
    /// In which direction it is crossed.
    pub heading: Direction,
}

/// The links that a group's flows cross between their access links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// From sender to receiver.
    pub forward: Vec<Step>,
    /// From receiver to sender; empty when a link of the path is one-way and nothing has to come
    /// back.
    pub reverse: Vec<Step>,
}

impl Path {
    /// Both directions.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.forward.iter().chain(&self.reverse)
    }
}
