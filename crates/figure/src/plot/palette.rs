//! Looks of queues: the same color, dash and mark as on pages (`crates/web/src/palette.ts`, whose
//! rule this is; both are tested with `crates/web/test/looks.json`).

use crate::plot::distinct::distinct;
use crate::{Hue, Look, palette};
use goodqueue_aqm::spec::Family;

/// Looks of one hue; the first six differ by their marks, all of them by dash and mark.
const MEMBERS: usize = 12;

/// The hues in the order of pages.
const HUES: [Hue; 8] = [Hue::Slate, Hue::Blue, Hue::Orange, Hue::Green, Hue::Red, Hue::Violet, Hue::Gold, Hue::Pink];

/// The color of a family; the baseline is gray.
#[must_use]
pub const fn hue(family: Family) -> Hue {
    match family {
        Family::TailDrop | Family::VirtualQueue | Family::Own => Hue::Slate,
        Family::CoDel => Hue::Blue,
        Family::FlowQueueing => Hue::Green,
        Family::Pi => Hue::Orange,
        Family::Red => Hue::Red,
        Family::Policing | Family::Blue => Hue::Violet,
        Family::Threshold => Hue::Pink,
        Family::DualQueue | Family::Classes | Family::Wrapper => Hue::Gold,
    }
}

/// The look of the `member`-th of a hue's users.
fn look(hue: Hue, member: usize) -> Look {
    let place = HUES.iter().position(|known| *known == hue).unwrap_or(0);
    Look { mark: palette::MARKS[(place + member) % palette::MARKS.len()], ..placed(hue, member) }
}

/// A hue with the dash and the mark of this place, which are the same in every hue.
fn placed(hue: Hue, place: usize) -> Look {
    Look { hue, dash: place % palette::DASH_COUNT, mark: palette::MARKS[place % palette::MARKS.len()] }
}

/// A known kind's own look: its family's hue, and dash and mark by its place among the family's.
fn own(kind: &str) -> Option<Look> {
    let mut users = [0; HUES.len()];
    goodqueue_aqm::sched::kinds().find_map(|spec| {
        let hue = hue(spec.family);
        let place = HUES.iter().position(|known| *known == hue)?;
        users[place] += 1;
        (spec.kind == kind).then(|| look(hue, users[place] - 1))
    })
}

/// Looks for a list of compared points, by the kinds of their queues; no two of them are alike
/// while there are looks left. Points of a known kind have its color, and later points of it differ
/// by dash and mark. A kind that is not known gets a color that no other one of the list has, if
/// there is one. When one kind is alone (a sweep of its parameters), its points get all colors.
/// Where several kinds are compared at several `settings` (one for each point), dash and mark tell
/// the setting, if that tells all points apart.
#[must_use]
pub fn looks(kinds: &[&str], settings: &[&str]) -> Vec<Look> {
    let (places, compared) = (distinct(settings.iter().copied()), distinct(kinds.iter().copied()));
    if places.len() > 1 && compared.len() > 1 {
        let own = looks(&compared, &[]);
        let place = |among: &[&str], one: &str| among.iter().position(|other| *other == one).unwrap_or(0);
        let at_setting = |(kind, setting): (&&str, &&str)| placed(own[place(&compared, kind)].hue, place(&places, setting));
        let looks: Vec<Look> = kinds.iter().zip(settings).map(at_setting).collect();
        if looks.iter().enumerate().all(|(at, look)| !looks[..at].contains(look)) {
            return looks;
        }
    }
    let everything = || (0..MEMBERS).flat_map(|member| HUES.iter().map(move |hue| look(*hue, member)));
    let of = |hue: Hue| (0..MEMBERS).map(move |member| look(hue, member));
    let is_alone = kinds.iter().all(|kind| Some(kind) == kinds.first());
    let mut taken: Vec<Option<Look>> = vec![None; kinds.len()];
    let free = |taken: &[Option<Look>], wanted: &[Look]| {
        let found = wanted.iter().copied().chain(everything()).find(|one| !taken.contains(&Some(*one)));
        found.or_else(|| wanted.first().copied())
    };
    let is_first = |at: usize| !kinds[..at].contains(&kinds[at]);
    for (at, kind) in kinds.iter().enumerate() {
        if let Some(own) = own(kind).filter(|_| is_first(at)) {
            let wanted: Vec<Look> = std::iter::once(own).chain(of(own.hue)).collect();
            taken[at] = free(&taken, &wanted);
        }
    }
    for (at, kind) in kinds.iter().enumerate() {
        if own(kind).is_none() && is_first(at) {
            let is_used = |hue: Hue| hue == Hue::Slate || taken.iter().flatten().any(|look| look.hue == hue);
            let wanted: Vec<Look> = everything().filter(|one| !is_used(one.hue)).collect();
            taken[at] = free(&taken, &wanted);
        }
    }
    for at in 0..kinds.len() {
        if taken[at].is_none() {
            let first = kinds.iter().position(|kind| *kind == kinds[at]).and_then(|first| taken[first]);
            let wanted: Vec<Look> = first.filter(|_| !is_alone).map(|first| of(first.hue).collect()).unwrap_or_default();
            taken[at] = free(&taken, &wanted);
        }
    }
    taken.into_iter().map(|look| look.unwrap_or_else(|| self::look(Hue::Slate, 0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    /// The looks that `crates/web/test/palette.test.ts` compares with, too.
    const CASES: &str = include_str!("../../../web/test/looks.json");

    #[test]
    fn looks_are_those_of_the_pages() {
        let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
        assert!(cases.len() > 5);
        for case in cases {
            let texts = |key: &str| -> Vec<String> {
                case[key].as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
            };
            let (kinds, settings) = (texts("kinds"), texts("settings"));
            let [kinds, settings] = [&kinds, &settings].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
            let word = |look: Look| format!("{} {} {:?}", look.hue.name(), look.dash, look.mark).to_lowercase();
            assert_eq!(looks(&kinds, &settings).into_iter().map(word).collect::<Vec<_>>(), texts("looks"), "{kinds:?}");
        }
    }
}
