//! Hosts beside the simulator: what this machine offers, and which of them a session asks for.

use crate::session::{Failure, Scenario};
use goodqueue_lab::run::hosts::{Backend, HostFailure, Simulator};
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A host beside the simulator, ready to run, or why this machine cannot provide it.
#[derive(Clone)]
pub struct Offer {
    /// Name of the host: `linux` or `live`.
    pub name: &'static str,
    /// The host, or the reason.
    pub host: Result<Arc<dyn Backend + Send>, HostFailure>,
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, host } = self;
        f.debug_struct("Offer").field("name", name).field("missing", &host.as_ref().err()).finish_non_exhaustive()
    }
}

/// A host that a session runs on.
#[derive(Clone)]
pub struct Place {
    pub host: Arc<dyn Backend + Send>,
    /// Held while a session runs: runs at the same time would take each other's processors.
    pub turn: Arc<Mutex<()>>,
}

/// All hosts of a server.
pub struct Hosts(Vec<(&'static str, Result<Place, HostFailure>)>);

impl Hosts {
    pub fn new(offers: Vec<Offer>) -> Self {
        let place = |Offer { name, host }| (name, host.map(|host| Place { host, turn: Arc::default() }));
        Self(offers.into_iter().map(place).collect())
    }

    /// Names, and the reason where a host cannot be had.
    pub fn shown(&self) -> Value {
        let beside =
            self.0.iter().map(|(name, place)| json!({ "name": name, "missing": place.as_ref().err().map(ToString::to_string) }));
        std::iter::once(json!({ "name": Simulator.name(), "missing": null })).chain(beside).collect()
    }

    /// The host of this name; `None` for the simulator, whose sessions are watched as they go.
    pub fn find(&self, name: Option<&str>) -> Result<Option<Place>, Failure> {
        let refuse = |why: String| Failure::unprocessable(format!("on: {why}")).with("field", "on");
        let Some(name) = name.filter(|name| *name != Simulator.name()) else { return Ok(None) };
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, Ok(place))) => Ok(Some(place.clone())),
            Some((known, Err(why))) => Err(refuse(format!("{known}: {why}"))),
            None => {
                let known = std::iter::once(Simulator.name()).chain(self.0.iter().map(|(known, _)| *known));
                Err(refuse(format!("there is no such host: allowed {}", known.collect::<Vec<_>>().join(", "))))
            }
        }
    }
}

impl Place {
    /// Refuses a scenario of which the host cannot run a variant.
    pub fn check(&self, scenario: &Scenario) -> Result<(), Failure> {
        scenario.variants.iter().try_for_each(|variant| {
            self.host.check(&variant.point).map_err(|refusal| {
                Failure::unprocessable(format!("on {}: {refusal}", self.host.name())).with("field", refusal.key)
            })
        })
    }
}
