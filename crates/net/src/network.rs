//! One world with endpoints in it.

use crate::drive::Drive;
use crate::endpoint::{Ends, FlowFacts};
use crate::error::NetError;
use goodqueue_base::units::Rng;
use goodqueue_sim::{Continue, Outcome, OutsideWorld, Progress, SourceSpec, WorldSpec};
use goodqueue_tcp::Data;

/// Makes the ends of a flow.
pub(crate) type Make<'a> = dyn Fn(&FlowFacts<'_>) -> Result<Ends, Box<dyn std::error::Error>> + Sync + 'a;

/// Seeds of endpoints, apart from the other random streams of a world.
const SEED_STREAM: u64 = 0x454E_4450 << 32;

/// One replication of one point: a world, and the groups of flows whose ends are the program's.
pub struct Network<'a> {
    spec: &'a WorldSpec,
    attached: Vec<(u32, &'a Make<'a>)>,
}

impl<'a> Network<'a> {
    /// The network of a specification, see [`goodqueue_lab::scenario::build::world`]. All ends are
    /// ours so far.
    #[must_use]
    pub const fn new(spec: &'a WorldSpec) -> Self {
        Self { spec, attached: Vec::new() }
    }

    /// Puts endpoints that `make` makes at the ends of each flow of the group `name`.
    ///
    /// # Errors
    /// When there is no such group.
    pub fn attach(mut self, name: &str, make: &'a Make<'a>) -> Result<Self, NetError> {
        let Some(group) = self.spec.groups.iter().position(|known| known == name) else {
            let known: Vec<String> = self.spec.groups.iter().map(|name| format!("`{name}`")).collect();
            return Err(NetError::NoGroup { name: name.to_owned(), known: known.join(", ") });
        };
        self.attached.push((group as u32, make));
        Ok(self)
    }

    /// Runs to the end, or until `progress` says to stop.
    ///
    /// # Errors
    /// When the world or an endpoint cannot be made, or an endpoint does what it must not.
    pub fn run(self, progress: &mut dyn FnMut(Progress) -> Continue) -> Result<Outcome, NetError> {
        let groups: Vec<u32> = self.attached.iter().map(|(group, _)| *group).collect();
        let world = OutsideWorld::with_datagrams(self.spec, &groups)?;
        let mut drive = Drive::new(self.spec, world);
        for (number, flow) in (0..).zip(&self.spec.flows) {
            let Some((_, make)) = self.attached.iter().rev().find(|(group, _)| *group == flow.group) else { continue };
            let name = &self.spec.groups[flow.group as usize];
            let SourceSpec::Tcp { sender, receiver, .. } = &flow.source else { continue };
            let size = match sender.data {
                Data::Bytes(size) => Some(size.get()),
                Data::Unlimited | Data::Messages => None,
            };
            let stream = u64::from(flow.group) << 32 | u64::from(flow.index);
            let seed = Rng::stream(self.spec.seed ^ SEED_STREAM, stream).next_u64();
            let facts = FlowFacts { group: name, index: flow.index, start: flow.start, size, seed, sender, receiver };
            let title = format!("{name}[{}]", flow.index);
            let ends = make(&facts).map_err(|error| NetError::Making { flow: title.clone(), message: error.to_string() })?;
            drive.add(number, title, ends);
        }
        drive.run(progress)
    }
}
