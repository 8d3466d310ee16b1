//! From what one run measured to its figures. A figure is a [`Metric`]: a function and what is to
//! be said of it.

mod describe;
mod fairness;
mod groups;
mod links;
mod unit;
mod values;

use goodqueue_base::units::Duration;
use goodqueue_sim::{FlowOutcome, LinkOutcome, Outcome};
use serde::{Deserialize, Serialize};

pub use describe::{
    Better, ColumnData, Description, Metric, Presence, Printed, PrintedUnit, Quantity, Shown, When, descriptions,
};
pub use fairness::{FLOW_METRICS, FairnessMetric, FlowMetric, JAIN_METRICS};
pub use groups::{GROUP_METRICS, Group, GroupMetric};
pub use links::{LINK_METRICS, LinkMetric};
pub use unit::unit_that_suits;
pub use values::MIN_TIME_S;

/// The figures of one run: small, whatever the run's length. `None` where a figure is not defined.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFigures {
    /// One entry for each observed link.
    pub links: Vec<LinkFigures>,
    /// One entry for each group of flows.
    pub groups: Vec<GroupFigures>,
    /// One entry for each flow.
    pub flows: Vec<FlowFigures>,
    /// Values in the order of [`JAIN_METRICS`].
    pub jain: Vec<Option<f64>>,
    /// Hash of the trace of events.
    pub fingerprint: u64,
    /// Events handled.
    pub events: u64,
}

/// The most groups whose shares of each link are told: more are circuits, and few cross a link.
pub const MAX_SHARES: usize = 1_000;

/// Figures of one link in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    /// The link's name.
    pub name: String,
    /// Values in the order of [`LINK_METRICS`].
    pub values: Vec<Option<f64>>,
    /// The share of each group in the bits sent, in the order of the groups; undefined when nothing
    /// was sent. Empty with more than [`MAX_SHARES`] groups.
    pub group_share: Vec<Option<f64>>,
}

/// Figures of one group in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupFigures {
    /// The group's name.
    pub name: String,
    /// The number of flows.
    pub flows: u32,
    /// Values in the order of [`GROUP_METRICS`].
    pub values: Vec<Option<f64>>,
}

/// Figures of one flow in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowFigures {
    /// The group of the flow, as an index into the groups.
    pub group: u32,
    /// The number of the flow within the group.
    pub index: u32,
    /// Data delivered once, over the whole measured part.
    pub goodput_bit_s: Option<f64>,
}

impl RunFigures {
    /// The figures of a run whose measured part was `span` long. `base_rtts` are the round-trip
    /// times of the groups' empty paths; a group without one has no figures above it.
    #[must_use]
    pub fn of(outcome: &Outcome, span: Duration, base_rtts: &[Duration]) -> Self {
        let mut of_groups: Vec<Vec<&FlowOutcome>> = outcome.groups.iter().map(|_| Vec::new()).collect();
        for flow in &outcome.flows {
            of_groups[flow.group as usize].push(flow);
        }
        let base_rtts = base_rtts.iter().copied().map(Some).chain(std::iter::repeat(None));
        let groups = outcome.groups.iter().zip(of_groups).zip(base_rtts).map(|((group, flows), base_rtt)| GroupFigures {
            name: group.name.clone(),
            flows: flows.len() as u32,
            values: {
                let group = Group::new(group, flows, span, base_rtt);
                GROUP_METRICS.iter().map(|metric| metric.about.bounded((metric.of)(&group))).collect()
            },
        });
        Self {
            links: outcome.links.iter().map(|link| LinkFigures::of(link, outcome.groups.len(), span)).collect(),
            groups: groups.collect(),
            flows: outcome.flows.iter().map(|flow| FlowFigures::of(flow, span)).collect(),
            jain: JAIN_METRICS.iter().map(|metric| (metric.of)(&outcome.flows)).collect(),
            fingerprint: outcome.fingerprint,
            events: outcome.events,
        }
    }
}

impl LinkFigures {
    fn of(link: &LinkOutcome, groups: usize, span: Duration) -> Self {
        let all: f64 = link.group_bits.iter().map(|(_, bits)| bits).sum();
        let mut group_share = vec![(all > 0.0).then_some(0.0); if groups > MAX_SHARES { 0 } else { groups }];
        for &(group, bits) in &link.group_bits {
            if let Some(share) = group_share.get_mut(group as usize) {
                *share = Some(bits / all);
            }
        }
        let values = LINK_METRICS.iter().map(|metric| metric.about.bounded((metric.of)(link, span))).collect();
        Self { name: link.name.clone(), values, group_share }
    }

    /// The value of one of [`LINK_METRICS`]; `None` when it is not defined in this run or there is
    /// no such figure.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        let place = LINK_METRICS.iter().position(|known| known.about.name == metric)?;
        self.values[place]
    }
}

impl GroupFigures {
    /// The value of one of [`GROUP_METRICS`]; `None` when it is not defined in this run or there is
    /// no such figure.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        let place = GROUP_METRICS.iter().position(|known| known.about.name == metric)?;
        self.values[place]
    }
}

impl FlowFigures {
    fn of(flow: &FlowOutcome, span: Duration) -> Self {
        let goodput_bit_s = (fairness::FLOW_GOODPUT.of)(flow, span);
        Self { group: flow.group, index: flow.index, goodput_bit_s }
    }
}

#[cfg(test)]
mod tests;
