//! Quality of calls and games while a world runs.

use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::call::Stretch;
use goodqueue_sim::call::emodel::Scale;
use goodqueue_sim::{CallOutcome, OpenWorld};
use serde_json::{Value, json};
use std::collections::VecDeque;

/// Simulated time between two looks: 50 packets of a call, 30 or more of a game. Shorter ones would
/// make an opinion of single packets.
const STRETCH: Duration = Duration::secs(1);
/// Speech is rated over this many of them: 8 s, as windows of calls are.
const STRETCHES: usize = 8;

/// The latest complete stretches of each group.
#[derive(Debug)]
pub struct Calls {
    since: Instant,
    shown: Vec<Value>,
    recent: Vec<VecDeque<Stretch>>,
}

impl Calls {
    /// Begins to listen.
    pub fn of(world: &mut OpenWorld) -> Self {
        world.take_calls();
        let groups = world.spec().groups.len();
        Self { since: world.now(), shown: vec![Value::Null; groups], recent: vec![VecDeque::new(); groups] }
    }

    /// Returns the quality of each group's calls in the latest complete stretch; null for groups
    /// without calls, and where nothing arrived.
    pub fn look(&mut self, world: &mut OpenWorld) -> &[Value] {
        let now = world.now();
        if now.since(self.since) >= STRETCH {
            self.since = now;
            let heard = world.take_calls();
            for (number, (shown, recent)) in self.shown.iter_mut().zip(&mut self.recent).enumerate() {
                let calls = || heard.iter().filter(|(group, _)| *group as usize == number).map(|(_, call)| call);
                let windows = calls().filter_map(|call| call.heard.as_ref()).flat_map(|heard| &heard.windows);
                let stretch: Stretch = windows.sum();
                if recent.len() == STRETCHES {
                    recent.pop_front();
                }
                if stretch.frames() > 0 {
                    recent.push_back(stretch);
                }
                *shown = show(&calls().filter(|call| call.received > 0).collect::<Vec<_>>(), recent);
            }
        }
        &self.shown
    }
}

/// Scores and delays are means over calls; losses are of all their packets.
fn show(calls: &[&CallOutcome], recent: &VecDeque<Stretch>) -> Value {
    if calls.is_empty() {
        return Value::Null;
    }
    let mean = |figure: &dyn Fn(&CallOutcome) -> f64| calls.iter().map(|call| figure(call)).sum::<f64>() / calls.len() as f64;
    let (lost, received): (u64, u64) = calls.iter().fold((0, 0), |(l, r), call| (l + call.lost, r + call.received));
    let heard: Stretch = recent.iter().sum();
    let score = || Scale::NARROWBAND.mos(heard.rate(&Scale::NARROWBAND));
    json!({
        "mos": (!recent.is_empty()).then(score),
        "delay_s": { "p50": mean(&|call| call.delay_p50.as_secs_f64()), "p95": mean(&|call| call.delay_p95.as_secs_f64()) },
        "lost_ratio": lost as f64 / (lost + received) as f64,
    })
}
