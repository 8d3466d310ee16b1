//! Any operations on any kind with any parameters: either rejected with a message, or every promise
//! of the contract is kept.

use goodqueue_aqm::sched::kinds;
use goodqueue_aqm::spec::{KindAndParams, KindSpec, LinkFacts, Param, Size, Unit, Value};
use goodqueue_aqm::{AnyQdisc, EcnPolicy, Limit, Rng, SimplePacket};
use goodqueue_base::units::{Bytes, Duration, Packets, Rate};
use goodqueue_testkit::{CheckedQueue, Operation, Order};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn operation() -> impl Strategy<Value = Operation> {
    any::<[u8; Operation::ENCODED]>().prop_map(Operation::decode)
}

/// A number in `low..=high`: one of the ends, or log-uniform in between.
fn within((low, high): (f64, f64)) -> BoxedStrategy<f64> {
    let floor = low.max(1e-9);
    let spread = move |u: f64| (floor * goodqueue_aqm::math::pow(high / floor, u)).clamp(low, high);
    prop_oneof![Just(low), Just(high), (0.0..=1.0).prop_map(spread)].boxed()
}

fn value(param: &'static Param) -> BoxedStrategy<Value> {
    let number = within(param.range);
    match param.unit {
        Unit::Duration => number.prop_map(|secs| Value::Duration(Duration::from_secs_f64(secs))).boxed(),
        Unit::Rate => number.prop_map(|bits| Value::Rate(Rate::bit_s(bits as u64))).boxed(),
        Unit::Number | Unit::Ratio => number.prop_map(Value::Number).boxed(),
        Unit::Count => number.prop_map(|n| Value::Number(n.round())).boxed(),
        Unit::Switch => any::<bool>().prop_map(Value::Switch).boxed(),
        Unit::Choice(words) => select(words).prop_map(Value::Choice).boxed(),
        Unit::Size => (number, 0..3)
            .prop_map(|(n, unit)| match unit {
                0 => Value::Size(Size::Bytes(n)),
                1 => Value::Size(Size::Packets(n)),
                _ => Value::Size(Size::Time(Duration::from_secs_f64(n))),
            })
            .boxed(),
        unit => unreachable!("{unit}: drawn by `any_kind`, or no queue's"),
    }
}

/// Some of the parameters of a kind, each within its range.
fn params(spec: &'static KindSpec) -> BoxedStrategy<Vec<(&'static str, Value)>> {
    let each: Vec<_> = spec
        .params
        .iter()
        .filter(|param| !param.unit.is_another())
        .map(|param| prop::option::weighted(0.3, value(param)).prop_map(|given| given.map(|value| (param.name, value))))
        .collect();
    each.prop_map(|given| given.into_iter().flatten().collect()).boxed()
}

fn facts() -> impl Strategy<Value = LinkFacts> {
    let rate = prop_oneof![Just(None), (0u64..=10_000_000_000).prop_map(|bits| Some(Rate::bit_s(bits)))];
    let limit = prop_oneof![Just(u64::MAX), 0u64..300];
    (rate, limit.clone(), limit, 1u64..9001, 0u64..100).prop_map(|(rate, packets, kilobytes, mtu, overhead)| LinkFacts {
        rate,
        delay: Duration::ms(10),
        mtu: Bytes::new(mtu),
        overhead: Bytes::new(overhead),
        limit: Limit { packets: Packets::new(packets), bytes: Bytes::new(kilobytes.saturating_mul(1000)) },
    })
}

type Made = (&'static KindSpec, Vec<(&'static str, Value)>, KindAndParams);

fn any_kind() -> impl Strategy<Value = Made> {
    let kind = any::<Index>().prop_map(|index| {
        let all: Vec<_> = kinds().collect();
        *index.get(&all)
    });
    (kind.clone(), kind).prop_flat_map(|(outer, inner)| {
        (Just(outer), params(outer), params(inner).prop_map(move |params| KindAndParams::new(inner, params)))
    })
}

fn build((outer, values, inner): &Made, link: &LinkFacts, ecn: EcnPolicy) -> Option<AnyQdisc<SimplePacket>> {
    let inner = outer.is_over_another().then_some(inner);
    match AnyQdisc::build_over(&KindAndParams::new(outer, values.clone()).over(inner.cloned()), link, ecn, Rng::new(9)) {
        Ok(queue) => Some(queue),
        Err(error) => {
            assert!(!error.fault.to_string().is_empty() && !error.param.is_empty());
            None
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_operations_on_any_queue(
        made in any_kind(),
        link in facts(),
        marks in any::<bool>(),
        operations in vec(operation(), 0..400),
    ) {
        let policy = if marks { EcnPolicy::Mark } else { EcnPolicy::Drop };
        if let Some(queue) = build(&made, &link, policy) {
            let order = match queue {
                AnyQdisc::Managed(_) | AnyQdisc::TailDrop(_) => Order::Fifo,
                AnyQdisc::FqCoDel(_)
 | AnyQdisc::SfqCoDel(_) | AnyQdisc::Fair(_) | AnyQdisc::NfqCoDel(_) | AnyQdisc::FqPie(_) => Order::FifoPerFlow,
                _ => Order::FifoPerFlowAndCodepoint,
            };
            let shapes = |kind: &KindSpec| matches!(kind.kind, "shaper" | "cake" | "cake-mq");
            let holds_back = shapes(made.0) || made.0.is_over_another() && shapes(made.2.kind);
            let queue = CheckedQueue::new(queue, policy, order);
            let mut queue = if holds_back { queue.that_holds_back() } else { queue };
            queue.run(operations);
        }
    }
}

#[test]
fn most_random_parameters_are_accepted() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut accepted = 0;
    for _ in 0..300 {
        let made = any_kind().new_tree(&mut runner).expect("a kind").current();
        let link = facts().new_tree(&mut runner).expect("a link").current();
        accepted += usize::from(build(&made, &link, EcnPolicy::Drop).is_some());
    }
    assert!(accepted > 120, "only {accepted} of 300 accepted: the property test tests too little");
}
