//! Orders of a page to a session while it runs.

use super::{Control, Environment, Session};
use crate::session::error::ApiError;
use goodqueue_base::units::Duration;
use goodqueue_lab::quantity;
use goodqueue_sim::Change;
use serde_json::Value;

/// Longest single step.
const MAX_STEP_S: f64 = 10.0;
/// Highest speed that can be asked for.
const MAX_SPEED: f64 = 1e6;

impl<S: Environment> Session<S> {
    /// Carries out an order.
    ///
    /// # Errors
    /// What cannot be done, with its field; then nothing has changed.
    pub fn control(&mut self, control: Control) -> Result<(), ApiError> {
        match control {
            Control::Pause => self.paused = true,
            Control::Play => self.paused = false,
            Control::Stop => self.stopped = true,
            Control::Speed { value } => self.speed = speed(value)?,
            Control::Step { seconds } => self.step(seconds)?,
            Control::Rate { link, value } => self.set_rate(link, &value)?,
            Control::AddFlows { group, count } => self.add_flows(&group, count)?,
            Control::Set { variant, link, key, value } => self.set(variant, link, &key, &value)?,
        }
        if !self.stopped {
            self.tell_state("");
        }
        Ok(())
    }

    fn step(&mut self, seconds: f64) -> Result<(), ApiError> {
        if !(seconds > 0.0 && seconds <= MAX_STEP_S) {
            let message = format!("`{seconds}` is out of range: allowed above 0, up to {MAX_STEP_S}");
            return Err(ApiError::field("seconds", message));
        }
        self.paused = true;
        self.advance((self.now + Duration::from_secs_f64(seconds)).min(self.end));
        self.show();
        Ok(())
    }

    /// The link that was named, or else the one that is compared.
    fn link(&self, named: Option<String>) -> String {
        named.unwrap_or_else(|| self.scenario.link.clone())
    }

    fn set_rate(&mut self, link: Option<String>, text: &str) -> Result<(), ApiError> {
        let link = self.link(link);
        let rate = quantity::rate(text).map_err(|error| ApiError::unprocessable(error.message()).with("field", "value"))?;
        let plan = &self.scenario.variants[0].point.plan;
        let most =
            plan.access.rate.as_bit_s().min((self.limits.buffer_bytes as f64 * 8.0 / plan.base_rtt().as_secs_f64()) as u64);
        if rate.as_bit_s() > most {
            let message = format!("`{text}` is more than hosts can send here: allowed up to {most} bit/s");
            return Err(ApiError::field("value", message));
        }
        for variant in &mut self.variants {
            variant.world.change(Change::Rate { link: link.clone(), rate })?;
        }
        self.changed = true;
        self.note(&format!("rate of {link}: {rate}"));
        Ok(())
    }

    fn add_flows(&mut self, group: &str, count: u32) -> Result<(), ApiError> {
        let traffic = &self.scenario.variants[0].point.plan.traffic;
        let Some(number) = traffic.iter().position(|known| known.name == group) else {
            let names: Vec<&str> = traffic.iter().map(|known| known.name.as_str()).collect();
            return Err(ApiError::field("group", format!("`{group}` is not in the scenario: allowed {}", names.join(", "))));
        };
        let each = traffic[number].parts().count() as u64;
        let room = u64::from(self.limits.flows).saturating_sub(self.variants[0].world.spec().flows.len() as u64) / each;
        if count == 0 || u64::from(count) > room {
            let message = if room == 0 {
                format!("there is no room for more flows: allowed up to {} in all", self.limits.flows)
            } else {
                format!("`{count}` is out of range: allowed 1 to {room}")
            };
            return Err(ApiError::field("count", message));
        }
        for (place, variant) in self.variants.iter_mut().enumerate() {
            let more = variant.more_flows(&self.scenario, place, number, count);
            variant.world.change(more)?;
        }
        self.changed = true;
        self.note(&format!("{count} more flows of {group}"));
        Ok(())
    }

    fn set(&mut self, variant: Option<usize>, link: Option<String>, key: &str, value: &Value) -> Result<(), ApiError> {
        let link = self.link(link);
        let scenario = &self.scenario;
        if link != scenario.link {
            let message = format!("parameters can be changed at `{}`, whose queues are compared", scenario.link);
            return Err(ApiError::field("link", message));
        }
        let which: Vec<usize> = match variant {
            Some(number) if number < self.variants.len() => vec![number],
            Some(number) => {
                let message = format!("`{number}` is out of range: allowed 0 to {}", self.variants.len() - 1);
                return Err(ApiError::field("variant", message));
            }
            None => (0..self.variants.len()).collect(),
        };
        // All are checked before one is changed. Asked of all, it concerns those that have such a
        // parameter.
        let mut changed = scenario.clone();
        let mut queues = Vec::new();
        let mut last = None;
        for number in which {
            match changed.set(number, key, value, &self.limits) {
                Ok(queue) => queues.push((number, queue)),
                Err(refused) if variant.is_none() => last = Some(refused),
                Err(refused) => return Err(refused),
            }
        }
        if queues.is_empty() {
            return Err(last.unwrap_or_else(|| ApiError::unprocessable("there is nothing to change")));
        }
        for (number, queue) in queues {
            self.variants[number].replace_queue(&link, queue, &changed.variants[number].point)?;
        }
        self.environment.changed(&changed);
        self.scenario = changed;
        self.changed = true;
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let whose = variant.map_or_else(String::new, |number| format!(" of {}", self.scenario.variants[number].label));
        self.note(&format!("{key}{whose}: {shown}"));
        Ok(())
    }
}

/// Returns the speed if it is allowed.
///
/// # Errors
/// It is not in the allowed range.
pub fn speed(value: Option<f64>) -> Result<Option<f64>, ApiError> {
    match value {
        Some(speed) if !(speed > 0.0 && speed <= MAX_SPEED) => {
            Err(ApiError::field("speed", format!("`{speed}` is out of range: allowed above 0, up to {MAX_SPEED}, or null")))
        }
        other => Ok(other),
    }
}
