//! The circuits of an access network, and the sites through which they reach the Internet.

use crate::scenario::plan::Direction;
use goodqueue_base::units::Rate;
use serde::Serialize;

/// Circuits with their sites. An index stands for a site; its parent comes before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Sites that limit what passes them.
    pub sites: Vec<Site>,
    /// Circuits, each the line of one subscriber.
    pub circuits: Vec<Circuit>,
}

/// A site, an access point, or another place that many circuits share.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The name in the operator's files.
    pub name: String,
    /// The site that it is behind.
    pub parent: Option<usize>,
    /// Capacity.
    pub rate: Ways<Rate>,
}

/// The line of a subscriber.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// The identifier in the operator's files.
    pub id: String,
    /// The site that it is behind.
    pub site: Option<usize>,
    /// Its plan: the rates that it never exceeds.
    pub plan: Plan,
    /// The rates that are kept for it; a full site shares what it has in proportion to them.
    pub least: Ways<Rate>,
}

/// The rates that a subscriber pays for.
pub type Plan = Ways<Rate>;

/// A value for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Ways<T> {
    /// Toward the subscriber.
    pub down: T,
    /// From the subscriber.
    pub up: T,
}

impl<T> Ways<T> {
    /// The value of a direction, to be changed.
    pub const fn of_mut(&mut self, way: Direction) -> &mut T {
        match way {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }

    /// The values made of these.
    pub fn map<U>(&self, of: impl Fn(&T) -> U) -> Ways<U> {
        Ways { down: of(&self.down), up: of(&self.up) }
    }

    /// The value of a direction.
    #[must_use]
    pub const fn of(&self, way: Direction) -> &T {
        match way {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mbit = |rate: Rate| rate.as_bit_s() as f64 / 1e6;
        write!(f, "{}/{} Mbit/s", mbit(self.down), mbit(self.up))
    }
}

impl Network {
    /// The sites between a circuit and the Internet, the nearest first.
    pub fn path(&self, site: Option<usize>) -> impl Iterator<Item = usize> {
        std::iter::successors(site, |site| self.sites[*site].parent)
    }

    /// Replaces plans by others until `most` are left: each time the two next to one another that
    /// differ least for the fewest circuits, of which the commoner stays, so that those kept cover
    /// all rates. Returns the number of circuits that this concerns.
    pub fn merge_plans(&mut self, most: usize) -> usize {
        let log = |rate: Rate| libm::log((rate.as_bit_s().max(1)) as f64);
        let distance = |a: &Plan, b: &Plan| (log(a.down) - log(b.down)).abs() + (log(a.up) - log(b.up)).abs();
        // The plan that stays, the last one that it stands for, and their circuits.
        let mut kept: Vec<(Plan, Plan, usize)> = self.plans().into_iter().map(|plan| (plan, plan, 0)).collect();
        let place = |kept: &[(Plan, Plan, usize)], plan: Plan| kept.partition_point(|(_, last, _)| *last < plan);
        for circuit in &self.circuits {
            let place = place(&kept, circuit.plan);
            kept[place].2 += 1;
        }
        let cost = |pair: &[(Plan, Plan, usize)]| pair[0].2.min(pair[1].2) as f64 * distance(&pair[0].0, &pair[1].0);
        let mut costs: Vec<f64> = kept.windows(2).map(cost).collect();
        while kept.len() > most {
            let Some(least) = (0..costs.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b])) else { break };
            let (first, second) = (kept[least], kept.remove(least + 1));
            let plan = if second.2 > first.2 { second.0 } else { first.0 };
            kept[least] = (plan, second.1, first.2 + second.2);
            costs.remove(least);
            for pair in [least.checked_sub(1), Some(least)].into_iter().flatten().filter(|pair| pair + 1 < kept.len()) {
                costs[pair] = cost(&kept[pair..pair + 2]);
            }
        }
        let mut changed = 0;
        for circuit in &mut self.circuits {
            let plan = kept[place(&kept, circuit.plan)].0;
            changed += usize::from(plan != circuit.plan);
            circuit.plan = plan;
        }
        changed
    }

    /// The plans, rising.
    #[must_use]
    pub fn plans(&self) -> Vec<Plan> {
        let mut plans: Vec<Plan> = self.circuits.iter().map(|circuit| circuit.plan).collect();
        plans.sort_unstable();
        plans.dedup();
        plans
    }
}
