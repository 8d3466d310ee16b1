//! Remarks on the classes of a queue.

use super::{Lint, Queue, Step, Traffic, Value};
use crate::scenario::plan::{ceil_of_class as ceil, rate_of_class as rate};
use goodqueue_aqm::EcnPolicy;
use goodqueue_aqm::sched::htb::{TURN_BY_RATE, turn_by_rate};
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, Size};
use goodqueue_base::units::{Bytes, Rate};

impl Lint<'_> {
    /// Packets of no class are not shaped.
    pub(super) fn classes(&mut self, step: Step, queue: &Queue) {
        if queue.chosen.kind.class.is_none() {
            return;
        }
        let (classes, key) = (&queue.chosen.classes, self.key(step, "queue"));
        if classes.is_empty() {
            let message = "has no classes: all packets leave in order, unshaped";
            self.warn(format!("{key}.class"), message, "give it `class.NAME` with a `rate`");
            return;
        }
        self.promises(classes, &key);
        let nominal = self.direction(step).nominal_rate();
        if let Some(rate) = queue.rate_of_classes().filter(|rate| *rate > nominal) {
            let message = format!("the classes may send {rate}, and the link {nominal}: packets wait where no class sorts them");
            self.warn(format!("{key}.class"), message, "keep the ceilings of the uppermost classes below the link's rate");
        }
        self.turns(&queue.chosen, &key);
        self.marks(queue, &key);
        if classes.iter().any(|class| class.params.contains(&("default", Value::Switch(true)))) {
            return;
        }
        let leaves = queue.chosen.leaves();
        let passes = |group: &Traffic| {
            let mut steps = group.parts().flat_map(|part| part.path.steps());
            steps.any(|passed| (passed.link, passed.heading) == (step.link, step.heading))
        };
        let is_unshaped = |group: &Traffic| !group.leaf.as_deref().is_some_and(|leaf| leaves.contains(leaf)) && passes(group);
        if let Some(number) = self.plan.traffic.iter().position(is_unshaped) {
            let group = &self.plan.traffic[number].name;
            let message = format!("`{group}` belongs to no class of {key}: it leaves before all others, unshaped");
            self.warn(format!("traffic.{number}.leaf"), message, "name a leaf, or give one of them `default = true`");
        }
    }

    /// Rates below a class that it cannot keep.
    fn promises(&mut self, classes: &[ClassAndParams], key: &str) {
        let mut below = vec![Rate::ZERO; classes.len()];
        for class in classes {
            if let Some(sum) = class.parent.and_then(|parent| below.get_mut(parent as usize)) {
                *sum = Rate::bit_s(sum.as_bit_s().saturating_add(rate(class).as_bit_s()));
            }
        }
        let over: Vec<(&ClassAndParams, Rate)> = classes.iter().zip(below).filter(|(class, sum)| *sum > rate(class)).collect();
        let Some((class, sum)) = over.first() else { return };
        let message = format!("the classes below it are promised {sum}, and it has {}{}", rate(class), others(over.len()));
        self.warn(format!("{key}.class.{}.rate", class.name), message, "lower their rates, and let them borrow up to a `ceil`");
    }

    /// Leaves that mark because others do by default: all share one setting.
    fn marks(&mut self, queue: &Queue, key: &str) {
        let of = |class: &&ClassAndParams| class.of.as_ref().is_some_and(|of| of.marks() && !of.marks_unasked());
        let lured: Vec<&ClassAndParams> = queue.chosen.classes.iter().filter(of).collect();
        let Some(class) = lured.first().filter(|_| queue.ecn == EcnPolicy::Mark && queue.chosen.marks_unasked()) else { return };
        let kind = class.of.as_ref().map_or("", |of| of.kind.kind);
        let message = format!("`{kind}` marks here: all leaves share `ecn`, which others have by default{}", others(lured.len()));
        self.warn(
            format!("{key}.class.{}.of", class.name),
            message,
            "on a router it would drop; `ecn = false` turns marks off for all",
        );
    }

    /// Turns of leaves that borrow, outside of what Linux takes for a good one.
    fn turns(&mut self, chosen: &KindAndParams, key: &str) {
        let r2q = chosen.params.iter().find(|(name, _)| *name == "r2q").map(|(_, value)| *value);
        let r2q = r2q.or_else(|| chosen.kind.param("r2q")?.default_value());
        let Some(Value::Number(r2q)) = r2q else { return };
        let leaves = chosen.leaves();
        let borrows =
            |class: &&ClassAndParams| class.parent.is_some() && leaves.contains(class.name.as_str()) && ceil(class) > rate(class);
        let odd: Vec<(&ClassAndParams, Turn)> =
            chosen.classes.iter().filter(borrows).filter_map(|class| Some((class, Turn::odd(class, r2q as u32)?))).collect();
        // A leaf alone waits for no other.
        let Some((class, turn)) = odd.first().filter(|_| chosen.classes.iter().filter(borrows).count() > 1) else { return };
        let Turn { in_force, why } = turn;
        let lasts = ceil(class).transmission_time(*in_force);
        let message = format!("a turn of {in_force}{why} lasts {lasts} at {}{}", ceil(class), others(odd.len()));
        self.warn(
            format!("{key}.class.{}.quantum", class.name),
            message,
            "leaves that borrow take turns: give each a `quantum`, \"1514 B\" for the shortest wait, or set `r2q`",
        );
    }
}

/// A turn, and the reason where it is not the given one.
struct Turn {
    in_force: Bytes,
    why: String,
}

impl Turn {
    /// The turn of a class, where Linux would warn about it.
    fn odd(class: &ClassAndParams, r2q: u32) -> Option<Self> {
        let [least, most] = TURN_BY_RATE.map(Bytes::new);
        match value(class, "quantum") {
            Some(Value::Size(Size::Bytes(bytes))) => {
                let in_force = Bytes::new(bytes as u64);
                (in_force < least || in_force > most).then_some(Self { in_force, why: String::new() })
            }
            Some(_) => None,
            None => {
                let by_rate = turn_by_rate(rate(class), r2q);
                let in_force = by_rate.clamp(least, most);
                let why = format!(" ({by_rate} of {} by r2q {r2q}, within {least} and {most})", rate(class));
                (in_force != by_rate).then_some(Self { in_force, why })
            }
        }
    }
}

fn others(count: usize) -> String {
    if count > 1 { format!(" (the first of {count} such classes)") } else { String::new() }
}

fn value(class: &ClassAndParams, name: &str) -> Option<Value> {
    class.params.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}
