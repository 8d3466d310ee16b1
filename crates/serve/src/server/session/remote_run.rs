//! A session on another host than the simulator: it cannot be changed, and shows its end.

use super::{POLL_INTERVAL, SessionTask};
use crate::server::backends::SessionBackend;
use crate::server::clock;
use crate::session::{ApiError, Control, Ending, SessionResult, StateEvent, about, state_bytes};
use goodqueue_base::units::Instant;
use goodqueue_lab::results::record::NoRecorder;
use goodqueue_lab::run::runner::{self, Recorded, RunOptions};
use goodqueue_lab::scenario::plan::Point;
use std::sync::atomic::Ordering;
use std::sync::{Arc, TryLockError};
use std::time::Instant as Clock;

/// Runs a session on `host` to its end.
pub fn run(task: SessionTask, host: &SessionBackend) -> Result<Option<SessionResult>, ApiError> {
    let scenario = task.entry.scenario();
    let points: Vec<Point> = scenario.variants.iter().map(|variant| variant.point.clone()).collect();
    let mut memory = task.shared.memory.share();
    memory.resize(points.iter().map(state_bytes).sum())?;
    let plan = &points[0].plan;
    let end = Instant::ZERO + plan.warmup + plan.duration;
    task.entry.publisher.publish("about", &about(&scenario, end));
    let entry = Arc::clone(&task.entry);
    let mut watch = Watch { host: host.backend.name(), end_s: end.as_secs_f64(), watched: clock::now(), why: "", task };
    let _turn = loop {
        match host.turn.try_lock() {
            Ok(turn) => break turn,
            // Whoever panicked there left nothing half done: the lock guards no data.
            Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        watch.tell("queued", 0.0, "waits for a run on the same host");
        if !watch.goes_on() {
            // The order that stopped it may have no answer yet.
            watch.goes_on();
            watch.tell("stopped", 0.0, watch.why);
            return Ok(None);
        }
        watch.wait_for_orders();
    };
    watch.tell("running", 0.0, "");
    let options = RunOptions {
        jobs: 1,
        replications: 1,
        recorded: Recorded::First,
        sample_every: None,
        packets: false,
        drawn_points: points.len(),
    };
    let mut told = 0.0;
    let mut progress = |part: f64| {
        if watch.goes_on() && part > told {
            watch.tell("running", part, "");
            told = part;
        }
    };
    let report = runner::run_on(&*host.backend, &points, &options, &entry.halt, &mut progress, &mut NoRecorder);
    // The order that stopped it may have no answer yet.
    watch.goes_on();
    if let Some(failure) = report.failures.first() {
        return Err(ApiError::unprocessable(failure.to_string()));
    }
    watch.tell(if report.complete { "done" } else { "stopped" }, if report.complete { 1.0 } else { told }, watch.why);
    let ending =
        if report.complete { Ending::new(&scenario, &report, false, watch.end_s) } else { Ending::without_result(false) };
    entry.publisher.publish("done", &ending.done);
    Ok(ending.result)
}

/// Looks after the session while its host is at work.
struct Watch {
    host: &'static str,
    end_s: f64,
    /// When somebody last watched.
    watched: Clock,
    /// Why it was stopped, where nobody asked for that.
    why: &'static str,
    task: SessionTask,
}

impl Watch {
    /// Answers orders, and tells the host to stop when it shall; false from then on.
    fn goes_on(&mut self) -> bool {
        for order in self.task.orders.try_iter() {
            order.carry_out(|control| self.obey(&control));
        }
        let now = clock::now();
        if self.task.entry.publisher.readers() > 0 {
            self.watched = now;
        }
        if now.duration_since(self.watched) > self.task.shared.limits.each.unwatched {
            self.why = "nobody has watched for a while";
            self.task.entry.halt.store(true, Ordering::Relaxed);
        }
        if self.task.shared.ending.load(Ordering::Relaxed) {
            self.task.entry.halt.store(true, Ordering::Relaxed);
        }
        !self.task.entry.halt.load(Ordering::Relaxed)
    }

    fn wait_for_orders(&self) {
        if let Ok(order) = self.task.orders.recv_timeout(POLL_INTERVAL) {
            order.carry_out(|control| self.obey(&control));
        }
    }

    fn obey(&self, control: &Control) -> Result<(), ApiError> {
        if !matches!(control, Control::Stop) {
            let message = format!("a run on {} can only be stopped: the simulator can be changed while it runs", self.host);
            return Err(ApiError::conflict(message));
        }
        self.task.entry.halt.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn tell(&self, state: &str, part: f64, message: &str) {
        let state = StateEvent { t: part * self.end_s, duration: self.end_s, message, ..StateEvent::new(state) };
        self.task.entry.publisher.publish("state", &state);
    }
}
