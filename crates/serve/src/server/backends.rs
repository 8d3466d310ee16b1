//! Backends beside the simulator: what this machine offers, and which of them a session asks for.

use crate::session::{ApiError, Scenario};
use goodqueue_lab::run::backend::{Backend, BackendFailure, Simulator};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A host beside the simulator, ready to run, or why this machine cannot provide it.
#[derive(Clone)]
pub struct Offer {
    /// Name of the host: `linux` or `live`.
    pub name: &'static str,
    /// The host, or the reason.
    pub host: Result<Arc<dyn Backend + Send>, BackendFailure>,
}

/// A host that a session runs on.
#[derive(Clone)]
pub struct SessionBackend {
    pub backend: Arc<dyn Backend + Send>,
    /// Held while a session runs: runs at the same time would take each other's processors.
    pub turn: Arc<Mutex<()>>,
}

/// All hosts of a server.
pub struct Backends(Vec<(&'static str, Result<SessionBackend, BackendFailure>)>);

impl Backends {
    pub fn new(offers: Vec<Offer>) -> Self {
        let ready = |Offer { name, host }| (name, host.map(|backend| SessionBackend { backend, turn: Arc::default() }));
        Self(offers.into_iter().map(ready).collect())
    }

    /// Names, and the reason where a host cannot be had.
    pub fn describe(&self) -> Value {
        let beside =
            self.0.iter().map(|(name, host)| json!({ "name": name, "missing": host.as_ref().err().map(ToString::to_string) }));
        std::iter::once(json!({ "name": Simulator.name(), "missing": null })).chain(beside).collect()
    }

    /// The host of this name; `None` for the simulator, whose sessions are watched as they go.
    pub fn find(&self, name: Option<&str>) -> Result<Option<SessionBackend>, ApiError> {
        let Some(name) = name.filter(|name| *name != Simulator.name()) else { return Ok(None) };
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, Ok(host))) => Ok(Some(host.clone())),
            Some((known, Err(why))) => Err(ApiError::field("on", format!("{known}: {why}"))),
            None => {
                let known = std::iter::once(Simulator.name()).chain(self.0.iter().map(|(known, _)| *known));
                let allowed = known.collect::<Vec<_>>().join(", ");
                Err(ApiError::field("on", format!("there is no such host: allowed {allowed}")))
            }
        }
    }
}

impl SessionBackend {
    /// Refuses a scenario of which the host cannot run a variant.
    pub fn check(&self, scenario: &Scenario) -> Result<(), ApiError> {
        scenario.variants.iter().try_for_each(|variant| {
            self.backend.check(&variant.point).map_err(|refusal| {
                ApiError::unprocessable(format!("on {}: {refusal}", self.backend.name())).with("field", refusal.key)
            })
        })
    }
}
