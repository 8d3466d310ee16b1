//! A protocol of thirty lines alongside a CUBIC flow: a sender that keeps a fixed number of packets
//! under way, and a receiver that returns the number of each.
//!
//! `cargo run -p goodqueue-net --example fixed_window`

use goodqueue_lab::scenario::plan::Plan;
use goodqueue_net::{Datagram, Endpoint, Ends, Experiment, Instant, Transmit};

const SCENARIO: &str = r#"
goodqueue = 1
duration = "10 s"
replications = 3
[link.line]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "2 bdp"
[[traffic]]
name = "mine"
kind = "bulk"
[[traffic]]
name = "cross"
kind = "bulk"
cc = "cubic"
[sweep]
"link.line.queue" = ["tail-drop", "codel", "fq-codel"]
"#;

/// Sends `room` packets of 1200 bytes, and one more for each that the other end returns; a lost one
/// is never missed.
struct Sender {
    room: u32,
}

impl Endpoint for Sender {
    fn handle(&mut self, _: Instant, _: Datagram<'_>) {
        self.room += 1;
    }

    fn poll_transmit(&mut self, _: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.room = self.room.checked_sub(1)?;
        buffer.resize(1200, 0);
        Some(Transmit::NOW)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }
}

#[derive(Default)]
struct Receiver {
    received: u64,
    owed: u32,
}

impl Endpoint for Receiver {
    fn handle(&mut self, _: Instant, datagram: Datagram<'_>) {
        self.received += datagram.payload.len() as u64;
        self.owed += 1;
    }

    fn poll_transmit(&mut self, _: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        self.owed = self.owed.checked_sub(1)?;
        buffer.push(0);
        Some(Transmit::NOW)
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        None
    }

    fn delivered_bytes(&self) -> Option<u64> {
        Some(self.received)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::parse("fixed window", SCENARIO, "".as_ref())?;
    let experiment = Experiment::new(&plan).attach("mine", |_| Ok(Ends::new(Sender { room: 40 }, Receiver::default())));
    for point in experiment.run()?.points {
        let Some(summary) = point.summary else { continue };
        for (name, group) in &summary.groups {
            let goodput = group.figures.figure("goodput_bit_s");
            let (mean, half) = (goodput.mean.unwrap_or_default() * 1e-6, goodput.ci95.unwrap_or_default() * 1e-6);
            println!("{}: {name} {mean:.2} ± {half:.2} Mbit/s", summary.set[0].1);
        }
    }
    Ok(())
}
