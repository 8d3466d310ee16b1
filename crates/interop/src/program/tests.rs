use super::*;
use goodqueue_aqm::{AnyQdisc, Counters, EcnPolicy, Limit, NoSink, Qdisc, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration as Span, Rate};

const LINK: LinkFacts = LinkFacts {
    rate: Some(Rate::mbit(10)),
    delay: Span::ms(5),
    mtu: Bytes::new(1500),
    overhead: Bytes::ZERO,
    limit: Limit::packets(50),
};

fn kind(program: &str) -> HostedKind {
    let command = ["python3", "-c", program].map(str::to_owned).to_vec();
    HostedKind::new("mine", command, Duration::from_secs(20), Some(Arc::default()))
}

/// Whether there is a Python to write programs in.
fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: no python3");
    }
    found
}

/// 4000 arrivals, twice as many as departures.
fn load(queue: &mut AnyQdisc<SimplePacket>) -> Counters {
    for step in 1..4000_u64 {
        let now = Instant::ZERO + Span::us(step * 700);
        queue.enqueue(now, SimplePacket::new(1500), &mut NoSink);
        if step % 2 == 0 {
            queue.dequeue(now, &mut NoSink);
        }
    }
    queue.counters()
}

fn built(kind: &HostedKind) -> Result<AnyQdisc<SimplePacket>, ParamError> {
    AnyQdisc::build_own(kind, &LINK, EcnPolicy::Drop, Rng::new(1))
}

#[test]
fn a_program_decides_as_the_same_algorithm_here() {
    if !has_python() {
        return;
    }
    let client = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/conformance/client.py");
    let command = ["python3", client].map(str::to_owned).to_vec();
    let mine = HostedKind::new("my-codel", command, Duration::from_secs(20), None);
    let listed = goodqueue_aqm::sched::kind("codel").expect("listed");
    let mut ours = AnyQdisc::build(listed, &[], &LINK, EcnPolicy::Drop, Rng::new(1)).expect("builds");
    let expected = load(&mut ours);
    // The second queue is served by the process of the first.
    for _ in 0..2 {
        let mut queue = built(&mine).expect("starts");
        assert_eq!(load(&mut queue), expected);
    }
    assert_eq!(mine.trouble().message(), None);
    assert!(expected.early().packets.get() + expected.overflow().packets.get() > 1000);
}

#[test]
fn what_a_program_may_not_do_is_said_and_stops() {
    if !has_python() {
        return;
    }
    let answers = |answer: &str| {
        format!(
            "import sys\nfor line in sys.stdin:\n    print('{{\"ready\":true}}' if line[0] == '{{' else '{answer}', flush=True)"
        )
    };
    let said = |answer: &str| {
        let kind = kind(&answers(answer));
        load(&mut built(&kind).expect("starts"));
        assert!(kind.trouble().stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)));
        kind.trouble().message().expect("trouble")
    };
    assert!(said("[]").contains("packets wait and none leaves"), "{}", said("[]"));
    assert!(said("nothing").contains("is `nothing`"));
    assert!(said("[[\"drop\",7,\"head\"]]").contains("on the arrival of packet 0 it decides about others"));
    assert!(said("[[\"timer\",1]]").contains("a timer needs a time that is not over"));
}

#[test]
fn a_program_that_cannot_start_or_refuses_builds_no_queue() {
    let absent = HostedKind::new("mine", vec!["/no/such/program".to_owned()], Duration::from_secs(1), None);
    assert!(built(&absent).unwrap_err().fault.to_string().starts_with("`/no/such/program`: "));
    if has_python() {
        let refusing = kind("import sys\nfor line in sys.stdin:\n    print('{\"skip\":\"no mine here\"}', flush=True)");
        assert!(built(&refusing).unwrap_err().to_string().ends_with("says: no mine here"));
    }
}
