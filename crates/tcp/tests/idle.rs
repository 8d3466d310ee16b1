//! The window after a silence.

mod pipe;

use goodqueue_base::units::{Bytes, Duration};
use goodqueue_tcp::cc::kinds;
use goodqueue_tcp::{CcConfig, Data, Ending, ReceiverConfig, SenderConfig};
use pipe::Pipe;

const MSS: u64 = 1448;

/// Windows in segments before and after a silence, over which nothing is outstanding.
fn windows(kind: &'static str, restart_after_idle: bool, silence: Duration) -> (u64, u64) {
    let cc = CcConfig { kind, params: Vec::new() };
    let config = SenderConfig { cc, data: Data::Messages, restart_after_idle, ..SenderConfig::default() };
    let mut pipe = Pipe::new(&config, &ReceiverConfig::default());
    pipe.sender.write(Bytes::new(150 * MSS), Ending::More);
    pipe.run(Duration::secs(10));
    assert_eq!(pipe.sender.tally().outstanding, 0, "{kind}");
    let before = pipe.sender.cwnd().get() / MSS;
    pipe.now += silence;
    pipe.sender.write(Bytes::new(MSS), Ending::More);
    pipe.run(Duration::us(1));
    (before, pipe.sender.cwnd().get() / MSS)
}

#[test]
fn a_minute_of_silence_brings_back_the_initial_window() {
    for kind in kinds().iter().map(|spec| spec.kind) {
        let (before, after) = windows(kind, true, Duration::secs(60));
        match kind {
            // Its window follows what is in flight, so it is small at the end of the data.
            "ledbat" => assert_eq!((before, after), (2, 2)),
            // These follow a model of the path, which a silence does not age.
            "bbr" | "bbr3" => assert!(before > 20 && after == before, "{kind}: {before}, then {after}"),
            _ => assert!(before > 20 && after == 10, "{kind}: {before}, then {after}"),
        }
    }
}

#[test]
fn each_timeout_of_silence_halves_the_window() {
    // The timeout is 220 ms, and the last segments left a round trip before the silence begins.
    let (before, none) = windows("reno", true, Duration::ms(50));
    assert_eq!(none, before);
    assert_eq!(windows("reno", true, Duration::ms(250)), (before, before / 2));
    assert_eq!(windows("reno", true, Duration::ms(450)), (before, before / 4));
    assert_eq!(windows("reno", false, Duration::secs(60)), (before, before));
}
