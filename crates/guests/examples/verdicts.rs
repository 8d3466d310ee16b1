//! Every kind of queue twice, packet by packet: in a kernel as the queue discipline `goodqueue`,
//! and here as the simulator runs it. Same packets, same times, same seed; says what differs.
//!
//! `cargo run --release -p goodqueue-guests --example verdicts -- [OPERATIONS] [6.12|7.3] [KIND…]`;
//! needs `make kernel-guest`.

use goodqueue_aqm::external::{OfferedPacket, QueueEvents};
use goodqueue_aqm::spec::{KindAndParams, KindSpec, LinkFacts, Value};
use goodqueue_aqm::{
    AnyQdisc, Dropped, EcnPolicy, Endpoints as Ends, FlowHash, HostHash, Limit, Packet, Qdisc, Reason, Sink, sched,
};
use goodqueue_base::units::{Bytes, Class, Duration, Ecn, Instant, Rate, Rng};
use goodqueue_guests::linux::queue::{Answer, KernelQueue};
use goodqueue_guests::linux::{GuestExecutables, Kernel, Series, inside};
use goodqueue_sim::QueueSpec;
use std::collections::BTreeMap;
use std::ffi::OsString;

const GUEST: &str = "guest";
const SEED: u64 = 20_261_123;
const RATE: Rate = Rate::mbit(10);
const FLOWS: u64 = 24;
/// Load in parts of the rate, each for a second: queues fill, hold and run empty.
const LOADS: [f64; 9] = [0.8, 1.1, 0.5, 1.4, 0.2, 1.05, 1.2, 3.0, 0.6];
const LENGTHS: [u64; 7] = [64, 200, 576, 1500, 1500, 1500, 1000];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == GUEST) {
        return Ok(inside::run(words[1].as_ref())?);
    }
    let operations = words.first().map_or(Ok(100_000), |word| word.parse())?;
    let series = if words.get(1).is_some_and(|word| word == Series::V7_3.number()) { Series::V7_3 } else { Series::V6_12 };
    let kernel = Kernel::find_with_queues(series)?;
    println!("{}, {operations} operations of each kind, seed {SEED}", kernel.noted("kernel").unwrap_or("?"));
    println!("{:24} {:>9} {:>9} {:>9} {:>11}", "kind", "packets", "dropped", "marked", "differences");
    let program = [std::env::current_exe()?.into_os_string(), OsString::from(GUEST)];
    let hosts = GuestExecutables { kernel: &kernel.program, program: &program, patience: GuestExecutables::PATIENCE };
    let mut differences = 0;
    for (name, queue) in queues() {
        if words.len() > 2 && !words[2..].contains(&name) {
            continue;
        }
        let course = Course::run(hosts, &queue, operations)?;
        println!("{name:24} {:>9} {:>9} {:>9} {:>11}", course.packets, course.dropped, course.marked, course.differences.len());
        for difference in course.differences.iter().take(3) {
            println!("    {difference}");
        }
        differences += course.differences.len();
    }
    if differences > 0 {
        return Err(format!("{differences} operations differ").into());
    }
    Ok(())
}

/// Every kind by itself, those over another one over PIE, and two deeper ones.
fn queues() -> Vec<(String, QueueSpec)> {
    let kind = |name: &str| sched::kind(name).expect("a kind");
    let pie = || KindAndParams::new(kind("pie"), Vec::new());
    let own = |spec: &'static KindSpec| match spec.kind {
        "shaper" => vec![("rate", Value::Rate(Rate::mbit(8)))],
        "cake" => vec![("rate", Value::Rate(Rate::mbit(9)))],
        _ => Vec::new(),
    };
    let spec = |kind, params, of| {
        let queue = KindAndParams::new(kind, params).over(of);
        QueueSpec::Discipline { queue, ecn: EcnPolicy::Mark, limit: Limit::packets(150) }
    };
    let mut queues = Vec::new();
    for known in sched::kinds() {
        let of = known.is_over_another().then(pie);
        let name = of.as_ref().map_or(known.kind.to_owned(), |of| format!("{}:{}", known.kind, of.kind.kind));
        queues.push((name, spec(known, own(known), of)));
    }
    let codel = || KindAndParams::new(kind("codel"), Vec::new());
    queues.push(("fair:codel".to_owned(), spec(kind("fair"), Vec::new(), Some(codel()))));
    let fair = KindAndParams::new(kind("fair"), Vec::new()).over(Some(codel()));
    queues.push(("shaper:fair:codel".to_owned(), spec(kind("shaper"), own(kind("shaper")), Some(fair))));
    queues
}

/// A packet of both.
#[derive(Clone, Copy, Debug)]
struct Both {
    offered: OfferedPacket,
    ends: Ends,
}

impl Packet for Both {
    fn len(&self) -> Bytes {
        self.offered.len
    }
    fn ecn(&self) -> Ecn {
        self.offered.ecn
    }
    fn set_ce(&mut self) {
        self.offered.ecn = Ecn::Ce;
    }
    fn flow(&self) -> FlowHash {
        self.offered.flow
    }
    fn class(&self) -> Class {
        self.offered.class
    }
    fn endpoints(&self) -> Ends {
        self.ends
    }
}

#[derive(Default)]
struct Drops(Vec<u32>);

impl Sink<Both> for Drops {
    fn dropped(&mut self, packet: Both, _: Dropped) {
        self.0.push(packet.offered.number);
    }
    fn marked(&mut self, _: &Both, _: Reason) {}
}

/// Both queues, and what was seen of them.
struct Course {
    kernel: KernelQueue,
    here: AnyQdisc<Both>,
    /// By flow: the hosts that the kernel saw.
    ends: BTreeMap<u32, Ends>,
    packets: u32,
    dropped: usize,
    marked: u32,
    differences: Vec<String>,
    /// Time of the queue's clock, which is behind that of the guest by a constant.
    clock: Instant,
}

impl Course {
    fn run(hosts: GuestExecutables<'_>, queue: &QueueSpec, operations: u32) -> Result<Self, Box<dyn std::error::Error>> {
        let QueueSpec::Discipline { queue: chosen, ecn, limit } = queue else { return Err("not a kind".into()) };
        let facts = LinkFacts {
            rate: Some(RATE),
            delay: Duration::ms(5),
            mtu: Bytes::new(1500),
            overhead: Bytes::new(18),
            limit: *limit,
        };
        let mut course = Self {
            kernel: KernelQueue::open(hosts, queue, &facts, SEED)?,
            here: AnyQdisc::build_over(chosen, &facts, *ecn, Rng::new(SEED))?,
            ends: BTreeMap::new(),
            packets: 0,
            dropped: 0,
            marked: 0,
            differences: Vec::new(),
            clock: Instant::ZERO,
        };
        course.traffic(operations)?;
        Ok(course)
    }

    /// Packets arrive at random; the line takes one when it is free.
    fn traffic(&mut self, operations: u32) -> Result<(), Box<dyn std::error::Error>> {
        let mut draw = Rng::new(7);
        let mean = LENGTHS.iter().sum::<u64>() as f64 / LENGTHS.len() as f64;
        let (mut arrival, mut free) = (Duration::ms(1).as_nanos(), None);
        for _ in 0..operations {
            if free.is_some_and(|free| free <= arrival) {
                let now = free.unwrap_or(arrival);
                free = self.take(now)?.map(|time| now + time);
                continue;
            }
            let now = arrival;
            let load = LOADS[(now / 1_000_000_000) as usize % LOADS.len()];
            let gap = 2.0 * draw.uniform() * mean / (RATE.as_bytes_s_f64() * load);
            arrival += 1 + (gap * 1e9) as u64;
            let flow = draw.below(FLOWS) as u32;
            // Numbers with all bits in use, as hashes have.
            let hash = flow.wrapping_mul(0x9E37_79B1) ^ 0x5555;
            self.offer(
                now,
                OfferedPacket {
                    number: self.packets,
                    len: Bytes::new(LENGTHS[draw.below(LENGTHS.len() as u64) as usize]),
                    ecn: Ecn::from_bits(draw.below(4) as u8),
                    flow: FlowHash(hash),
                    class: Class::new(flow as u8 % 8),
                },
            )?;
            self.packets += 1;
            if free.is_none() {
                free = Some(now);
            }
        }
        Ok(())
    }

    /// Runs what the queue here has to do until the kernel's time.
    fn advance(&mut self, answer: &Answer) {
        self.clock = Instant::from_nanos(answer.time);
        while let Some(due) = self.here.next_timer().filter(|&due| due <= self.clock) {
            self.here.handle_timer(due);
            if self.here.next_timer() == Some(due) {
                break;
            }
        }
    }

    fn offer(&mut self, now: u64, packet: OfferedPacket) -> Result<(), Box<dyn std::error::Error>> {
        let mut there = QueueEvents::default();
        let answer = self.kernel.offer(Instant::from_nanos(now), &packet, &mut there)?;
        let flow = packet.flow.0;
        if answer.hosts != [0; 2] {
            let [source, destination] = answer.hosts.map(HostHash);
            self.ends.insert(flow, Ends { source, destination });
        }
        let own = HostHash(flow);
        let ends = self.ends.get(&flow).copied().unwrap_or(Ends { source: own, destination: own });
        self.advance(&answer);
        let mut drops = Drops::default();
        self.here.enqueue(self.clock, Both { offered: packet, ends }, &mut drops);
        self.compare(&format!("arrival {}", packet.number), &mut there.dropped, &mut drops.0, &answer);
        Ok(())
    }

    /// Time that the line takes for the next packet, or until the queue is to be asked again.
    fn take(&mut self, now: u64) -> Result<Option<u64>, Box<dyn std::error::Error>> {
        let mut there = QueueEvents::default();
        let answer = self.kernel.take(Instant::from_nanos(now), &mut there)?;
        self.advance(&answer);
        let mut drops = Drops::default();
        let departure = self.here.dequeue(self.clock, &mut drops);
        let here = departure.map(|departure| (departure.packet.offered.number, departure.packet.ecn()));
        self.compare("departure", &mut there.dropped, &mut drops.0, &answer);
        if here != there.left {
            self.differ(&format!("departure: the kernel gave {:?}, the simulator {here:?}", there.left));
        }
        let Some(departure) = departure else {
            let wait = self.here.next_timer().map(|due| due.since(self.clock).as_nanos().max(1));
            return Ok(wait.filter(|_| !self.here.view().packets.is_zero()));
        };
        self.marked += u32::from(departure.packet.ecn() == Ecn::Ce);
        let wire = departure.packet.len() + Bytes::new(18);
        Ok(Some(RATE.transmission_time(wire).as_nanos()))
    }

    fn compare(&mut self, what: &str, there: &mut [u32], here: &mut [u32], answer: &Answer) {
        // In the kernel they are freed in another order.
        there.sort_unstable();
        here.sort_unstable();
        self.dropped += here.len();
        if there != here {
            self.differ(&format!("{what}: the kernel dropped {there:?}, the simulator {here:?}"));
        }
        let waiting = self.here.view().packets.get();
        if u64::from(answer.waiting) != waiting {
            self.differ(&format!("{what}: {} wait in the kernel, {waiting} in the simulator", answer.waiting));
        }
    }

    fn differ(&mut self, what: &str) {
        self.differences.push(format!("at {} ns, {what}", self.clock.as_nanos()));
    }
}
