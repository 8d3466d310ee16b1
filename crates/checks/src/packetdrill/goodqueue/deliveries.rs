//! The segments that the other end has, kept to count how many an acknowledgement adds.

use std::collections::BTreeMap;

/// Runs of segments that were acknowledged, by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Deliveries {
    /// All below are acknowledged.
    una: u64,
    /// Runs at or above `una`: first number, and one above the last.
    above: BTreeMap<u64, u64>,
}

impl Deliveries {
    /// Takes a cumulative acknowledgement. Returns the runs that are new.
    pub(super) fn acknowledge(&mut self, una: u64) -> Vec<(u64, u64)> {
        let added = self.report(self.una, una);
        while let Some((first, past)) = self.above.pop_first() {
            if first >= una || past > una {
                self.above.insert(first.max(una), past);
                break;
            }
        }
        self.una = self.una.max(una);
        added
    }

    /// Takes a selective acknowledgement of the segments from `first` on that are below `past`.
    /// Returns the runs that are new.
    pub(super) fn report(&mut self, first: u64, past: u64) -> Vec<(u64, u64)> {
        let mut added = Vec::new();
        let mut first = first.max(self.una);
        let mut at = first;
        if first >= past {
            return added;
        }
        if let Some((&begin, &end)) = self.above.range(..first).next_back()
            && end >= first
        {
            self.above.remove(&begin);
            (first, at) = (begin, end);
        }
        while at <= past
            && let Some((&begin, &end)) = self.above.range(at..=past).next()
        {
            self.above.remove(&begin);
            if begin > at {
                added.push((at, begin));
            }
            at = at.max(end);
        }
        if at < past {
            added.push((at, past));
            at = past;
        }
        self.above.insert(first, at);
        added
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_segment_is_new_once(steps in prop::collection::vec((0u64..40, 0u64..12, any::<bool>()), 1..60)) {
            let mut deliveries = Deliveries::default();
            let mut known = BTreeSet::new();
            for (first, count, cumulative) in steps {
                let (from, past) = if cumulative { (0, first) } else { (first, first + count) };
                let runs = if cumulative { deliveries.acknowledge(past) } else { deliveries.report(from, past) };
                let added: Vec<u64> = runs.into_iter().flat_map(|(first, past)| first..past).collect();
                let expected: Vec<u64> = (from..past).filter(|number| !known.contains(number)).collect();
                prop_assert_eq!(&added, &expected);
                known.extend(added);
            }
        }
    }
}
