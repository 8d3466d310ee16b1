//! A simulated server of eight workers, 10 ms per request, that is offered less and more than the
//! 800 requests per second that it can do; in virtual time.

use goodqueue_tower::{Law, QueueLayer, Settings};
use goodqueue_units::Rng;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

const WORKERS: usize = 8;
const WORK: Duration = Duration::from_millis(10);
const SPAN: Duration = Duration::from_secs(20);
/// An answer that comes later is of no use to whoever asked.
const PATIENCE: Duration = Duration::from_millis(250);

/// Seconds until each answer, of the requests that were answered, and how many were offered.
async fn offer(settings: Settings, per_second: f64) -> (Vec<f64>, usize) {
    let server = ServiceBuilder::new().layer(QueueLayer::new(settings)).service(service_fn(|()| async {
        tokio::time::sleep(WORK).await;
        Ok::<_, Infallible>(())
    }));
    let (mut rng, answered) = (Rng::new(1), Arc::new(Mutex::new(Vec::new())));
    let (start, mut at, mut offered, mut asked) = (tokio::time::Instant::now(), 0.0, 0, tokio::task::JoinSet::new());
    while at < SPAN.as_secs_f64() {
        tokio::time::sleep_until(start + Duration::from_secs_f64(at)).await;
        let (mut server, answered) = (server.clone(), Arc::clone(&answered));
        asked.spawn(async move {
            let asked = tokio::time::Instant::now();
            if server.ready().await.expect("always ready").call(()).await.is_ok() {
                answered.lock().expect("no panic").push(asked.elapsed().as_secs_f64());
            }
        });
        offered += 1;
        at -= libm::log(1.0 - rng.uniform()) / per_second;
    }
    asked.join_all().await;
    let mut answered = answered.lock().expect("no panic").clone();
    answered.sort_by(f64::total_cmp);
    (answered, offered)
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    println!("| offered /s | queue | answered % | p50 ms | p99 ms | answered within 250 ms, /s |\n|---|---|---|---|---|---|");
    let plain = Settings::new(WORKERS).interval(Duration::MAX).target(Duration::MAX);
    let queues = [
        ("no limit", plain.limit(1_000_000)),
        ("1000 places", plain.limit(1000)),
        ("CoDel", Settings::new(WORKERS).law(Law::CoDel)),
        ("deadline", Settings::new(WORKERS)),
    ];
    for per_second in [400.0, 760.0, 1000.0, 1600.0] {
        for (name, settings) in queues {
            let (times, offered) = offer(settings, per_second).await;
            let quantile = |part: f64| times[((times.len() - 1) as f64 * part) as usize] * 1e3;
            let useful = times.iter().filter(|time| **time <= PATIENCE.as_secs_f64()).count();
            println!(
                "| {per_second} | {name} | {:.1} | {:.1} | {:.1} | {:.0} |",
                100.0 * times.len() as f64 / offered as f64,
                quantile(0.5),
                quantile(0.99),
                useful as f64 / SPAN.as_secs_f64()
            );
        }
    }
}
