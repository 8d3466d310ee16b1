//! Quality of calls and games while a world runs.

use goodqueue_base::units::{Duration, Instant};
use goodqueue_lab::results::metrics::opinion_score;
use goodqueue_sim::{CallOutcome, Content, OpenWorld};
use serde_json::{Value, json};

/// Simulated time that calls are judged over: 50 packets of a call, 30 or more of a game. Shorter
/// ones would make an opinion of single packets.
const STRETCH: Duration = Duration::secs(1);

/// The latest complete stretch of each group.
#[derive(Debug)]
pub struct Calls {
    since: Instant,
    groups: Vec<Value>,
}

impl Calls {
    /// Begins to listen.
    pub fn of(world: &mut OpenWorld) -> Self {
        world.take_calls();
        Self { since: world.now(), groups: vec![Value::Null; world.spec().groups.len()] }
    }

    /// Returns the quality of each group's calls in the latest complete stretch; null for groups
    /// without calls, and where nothing arrived.
    pub fn look(&mut self, world: &mut OpenWorld) -> &[Value] {
        let now = world.now();
        if now.since(self.since) >= STRETCH {
            self.since = now;
            let heard = world.take_calls();
            for (number, shown) in self.groups.iter_mut().enumerate() {
                let calls = heard.iter().filter(|(group, call)| *group as usize == number && call.received > 0);
                *shown = show(&calls.map(|(_, call)| call).collect::<Vec<_>>());
            }
        }
        &self.groups
    }
}

/// Scores and delays are means over calls; losses are of all their packets.
fn show(calls: &[&CallOutcome]) -> Value {
    if calls.is_empty() {
        return Value::Null;
    }
    let mean = |figure: &dyn Fn(&CallOutcome) -> f64| calls.iter().map(|call| figure(call)).sum::<f64>() / calls.len() as f64;
    let (lost, received): (u64, u64) = calls.iter().fold((0, 0), |(l, r), call| (l + call.lost, r + call.received));
    let speaks = calls.iter().all(|call| call.content == Content::Voice);
    json!({
        "mos": speaks.then(|| mean(&opinion_score)),
        "delay_s": { "p50": mean(&|call| call.delay_p50.as_secs_f64()), "p95": mean(&|call| call.delay_p95.as_secs_f64()) },
        "lost_ratio": lost as f64 / (lost + received) as f64,
    })
}
