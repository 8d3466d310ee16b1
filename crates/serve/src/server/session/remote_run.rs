//! A session on another host than the simulator: it cannot be changed, and shows its end.

use super::{Order, POLL_INTERVAL, SessionTask};
use crate::server::clock;
use crate::server::hosts::Place;
use crate::session::{Control, Ending, Failure, OutOfMemory, SessionResult, about, state_bytes, time};
use axum::http::StatusCode;
use goodqueue_base::units::Instant;
use goodqueue_lab::results::record::NoRecorder;
use goodqueue_lab::run::runner::{self, Recorded, RunOptions};
use goodqueue_lab::scenario::plan::Point;
use serde_json::json;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, TryLockError};
use std::time::Instant as Clock;

/// Runs a session on `place` to its end.
pub fn run(work: SessionTask, place: &Place) -> Result<Option<SessionResult>, Failure> {
    let points: Vec<Point> = work.scenario.variants.iter().map(|variant| variant.point.clone()).collect();
    let mut memory = work.memory.share();
    let exhausted = |error: OutOfMemory| Failure::unprocessable(error.to_string());
    memory.resize(points.iter().map(state_bytes).sum()).map_err(exhausted)?;
    let plan = &points[0].plan;
    let end = Instant::ZERO + plan.warmup + plan.duration;
    let stop = Arc::clone(&work.halt);
    work.publisher.publish("about", &about(&work.scenario, end));
    let mut watch = Watch { host: place.host.name(), end_s: time(end), watched: clock::now(), why: "", work };
    let turn = loop {
        match place.turn.try_lock() {
            Ok(turn) => break Some(turn),
            // Whoever panicked there left nothing half done: the lock guards no data.
            Err(TryLockError::Poisoned(poisoned)) => break Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
        watch.tell("queued", 0.0, "waits for a run on the same host");
        if !watch.goes_on() {
            break None;
        }
        watch.wait_for_orders();
    };
    if turn.is_none() {
        watch.goes_on();
        watch.tell("stopped", 0.0, watch.why);
        return Ok(None);
    }
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
    let report = runner::run_on(&*place.host, &points, &options, &stop, &mut progress, &mut NoRecorder);
    // The order that stopped it may have no answer yet.
    watch.goes_on();
    if let Some(failure) = report.failures.first() {
        return Err(Failure::unprocessable(failure.to_string()));
    }
    watch.tell(if report.complete { "done" } else { "stopped" }, if report.complete { 1.0 } else { told }, watch.why);
    let (scenario, publisher) = (&watch.work.scenario, &watch.work.publisher);
    let ending = if report.complete { Ending::new(scenario, &report, false, watch.end_s) } else { Ending::without_result(false) };
    publisher.publish("done", &ending.done);
    Ok(ending.leavings)
}

/// Looks after the session while its host is at work.
struct Watch {
    host: &'static str,
    end_s: f64,
    /// When somebody last watched.
    watched: Clock,
    /// Why it was stopped, where nobody asked for that.
    why: &'static str,
    work: SessionTask,
}

impl Watch {
    /// Answers orders, and tells the host to stop when it shall; false from then on.
    fn goes_on(&mut self) -> bool {
        while let Ok(order) = self.work.orders.try_recv() {
            self.answer(order);
        }
        let now = clock::now();
        if self.work.publisher.readers() > 0 {
            self.watched = now;
        }
        if now.duration_since(self.watched) > self.work.limits.each.unwatched {
            self.why = "nobody has watched for a while";
            self.work.halt.store(true, Ordering::Relaxed);
        }
        if self.work.ending.load(Ordering::Relaxed) {
            self.work.halt.store(true, Ordering::Relaxed);
        }
        !self.work.halt.load(Ordering::Relaxed)
    }

    fn wait_for_orders(&self) {
        match self.work.orders.recv_timeout(POLL_INTERVAL) {
            Ok(order) => self.answer(order),
            Err(RecvTimeoutError::Timeout) => {}
            // Nobody can ask any more: the server has let go of the session.
            Err(RecvTimeoutError::Disconnected) => self.work.halt.store(true, Ordering::Relaxed),
        }
    }

    fn answer(&self, order: Order) {
        let Order { control, answer } = order;
        // Whoever asked may be gone.
        let _ = answer.send(self.obey(&control));
    }

    fn obey(&self, control: &Control) -> Result<(), Failure> {
        match control {
            Control::Stop => {
                self.work.halt.store(true, Ordering::Relaxed);
                Ok(())
            }
            Control::Pause
            | Control::Play
            | Control::Speed { .. }
            | Control::Step { .. }
            | Control::Rate { .. }
            | Control::AddFlows { .. }
            | Control::Set { .. } => {
                let message = format!("a run on {} can only be stopped: the simulator can be changed while it runs", self.host);
                Err(Failure::new(StatusCode::CONFLICT, message))
            }
        }
    }

    fn tell(&self, state: &str, part: f64, message: &str) {
        let mut told = json!({ "state": state, "t": part * self.end_s, "duration": self.end_s, "speed": null, "changed": false });
        if !message.is_empty() {
            told["message"] = json!(message);
        }
        self.work.publisher.publish("state", &told);
    }
}
