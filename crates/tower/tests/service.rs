//! The layer and the channel, in the runtime's stopped clock.

use goodqueue_tower::{Law, Overloaded, QueueLayer, QueueService, Received, Refused, Settings, channel};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tower::{Layer, Service, ServiceExt, service_fn};

const MS: Duration = Duration::from_millis(1);

/// Works 10 ms on a request, and knows how many it works on.
fn server(
    settings: Settings,
    most: Arc<AtomicUsize>,
) -> QueueService<impl Service<u32, Response = u32, Error = Infallible, Future: Send> + Clone + Send> {
    let now = Arc::new(AtomicUsize::new(0));
    QueueLayer::new(settings).layer(service_fn(move |request: u32| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            sleep(10 * MS).await;
            now.fetch_sub(1, Ordering::Relaxed);
            Ok(request)
        }
    }))
}

/// What became of a request, and how long that took.
type Outcome = (Result<u32, Overloaded>, Duration);

/// Offers a request each `gap`, `count` in all.
async fn offer(settings: Settings, gap: Duration, count: u32) -> (Vec<Outcome>, usize) {
    let most = Arc::new(AtomicUsize::new(0));
    let server = server(settings, Arc::clone(&most));
    let mut asked = JoinSet::new();
    for request in 0..count {
        let mut server = server.clone();
        asked.spawn(async move {
            let begun = Instant::now();
            let outcome = server.ready().await.expect("always ready").call(request).await;
            let outcome = outcome.map_err(|error| *error.downcast::<Overloaded>().expect("no other error"));
            (outcome, begun.elapsed())
        });
        sleep(gap).await;
    }
    let mut outcomes = asked.join_all().await;
    outcomes.sort_by_key(|(outcome, time)| (outcome.as_ref().ok().copied(), *time));
    let counts = server.counts();
    assert_eq!(counts.waiting, 0);
    (outcomes, most.load(Ordering::Relaxed))
}

#[tokio::test(start_paused = true)]
async fn below_capacity_nobody_is_turned_away() {
    // Two at a time are 200 per second; 100 are offered.
    for law in [Law::Deadline, Law::CoDel] {
        let (outcomes, most) = offer(Settings::new(2).law(law), 10 * MS, 100).await;
        assert!(outcomes.iter().all(|(outcome, time)| outcome.is_ok() && *time == 10 * MS), "{outcomes:?}");
        assert!(most <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_waits_and_is_answered_in_order() {
    let (outcomes, most) = offer(Settings::new(2), Duration::ZERO, 20).await;
    let times: Vec<_> = outcomes.iter().map(|(_, time)| time.as_millis() / 10).collect();
    assert!(outcomes.iter().all(|(outcome, _)| outcome.is_ok()));
    assert_eq!(times, (0..20).map(|n| n / 2 + 1).collect::<Vec<_>>());
    assert_eq!(most, 2);
}

#[tokio::test(start_paused = true)]
async fn under_overload_answers_are_quick_and_work_goes_on() {
    // 500 per second for 8 s; the server can do 200.
    let (outcomes, most) = offer(Settings::new(2), 2 * MS, 4000).await;
    assert_eq!(most, 2);
    let answered: Vec<_> = outcomes.iter().filter(|(outcome, _)| outcome.is_ok()).map(|(_, time)| *time).collect();
    // Nothing of the capacity is lost.
    assert!((1600..=1604).contains(&answered.len()), "{}", answered.len());
    // Once the queue has stood for 100 ms, a request waits 5 ms at most, and then 10 ms of work.
    let slow = answered.iter().filter(|time| **time > 15 * MS).count();
    assert!(slow < 40, "{slow}");
    let shed: Vec<Overloaded> = outcomes.iter().filter_map(|(outcome, _)| outcome.err()).collect();
    assert!(shed.iter().all(|one| !one.full && one.waited > 5 * MS && one.waited <= 110 * MS));

    // Without a law all wait, in the end for twelve seconds.
    let plain = Settings::new(2).interval(Duration::MAX).target(Duration::MAX);
    let (outcomes, _) = offer(plain, 2 * MS, 4000).await;
    let longest = outcomes.iter().map(|(_, time)| *time).max().expect("some");
    assert!(outcomes.iter().all(|(outcome, _)| outcome.is_ok()) && longest > Duration::from_secs(9), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn codel_turns_away_faster_and_faster() {
    let (outcomes, _) = offer(Settings::new(2).law(Law::CoDel), Duration::from_millis(4), 2500).await;
    let shed: Vec<_> = outcomes.iter().filter(|(outcome, _)| outcome.is_err()).collect();
    assert!(shed.len() > 100, "{}", shed.len());
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_at_once() {
    let (outcomes, _) = offer(Settings::new(1).limit(3), Duration::ZERO, 10).await;
    let refused: Vec<_> = outcomes.iter().filter(|(outcome, _)| outcome.is_err()).collect();
    assert_eq!(refused.len(), 6);
    for (outcome, time) in refused {
        assert_eq!((*outcome, *time), (Err(Overloaded { waited: Duration::ZERO, full: true }), Duration::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_are_given_up_leave_their_place_to_others() {
    let server = server(Settings::new(1), Arc::default());
    let ask = |request| {
        let mut server = server.clone();
        tokio::spawn(async move { server.call(request).await })
    };
    let (first, second, third) = (ask(1), ask(2), ask(3));
    sleep(MS).await;
    // One at work, one in the queue.
    first.abort();
    second.abort();
    assert_eq!(third.await.expect("it ends").expect("it is answered"), 3);
    assert_eq!(ask(4).await.expect("it ends").expect("the place is free again"), 4);
}

#[tokio::test(start_paused = true)]
async fn a_channel_passes_on_in_order_and_hands_back_what_waited_too_long() {
    let (sender, mut receiver) = channel(&Settings::new(1));
    for number in 0..3 {
        sender.send(number).expect("there is room");
        sleep(60 * MS).await;
    }
    // 180, 120 and 60 ms ago.
    assert!(matches!(receiver.recv().await, Some(Received::Shed(0, overloaded)) if overloaded.waited == 180 * MS));
    assert!(matches!(receiver.recv().await, Some(Received::Shed(1, _))));
    // The queue has not been empty for longer than the interval.
    assert!(matches!(receiver.recv().await, Some(Received::Shed(2, _))));
    assert!(receiver.try_recv().is_none());
    sender.send(3).expect("there is room");
    sleep(90 * MS).await;
    assert_eq!(receiver.recv().await, Some(Received::Passed(3, 90 * MS)));
    let counts = sender.counts();
    assert_eq!((counts.passed, counts.shed, counts.waiting), (1, 3, 0));
}

#[tokio::test(start_paused = true)]
async fn a_channel_ends_with_its_last_sender_and_closes_with_its_receiver() {
    let (sender, mut receiver) = channel(&Settings::new(1).limit(1));
    let other = sender.clone();
    sender.send(1).expect("there is room");
    assert!(matches!(other.send(2), Err(Refused::Full(2, overloaded)) if overloaded.full));
    drop(sender);
    assert_eq!(receiver.recv().await, Some(Received::Passed(1, Duration::ZERO)));
    let waiting = tokio::spawn(async move { receiver.recv().await });
    sleep(MS).await;
    drop(other);
    assert_eq!(waiting.await.expect("it ends"), None);
    let (sender, receiver) = channel(&Settings::new(1));
    drop(receiver);
    assert_eq!(sender.send(7), Err(Refused::Closed(7)));
}
