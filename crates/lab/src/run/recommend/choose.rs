//! The choice among candidates: what users of the router type, unless runs show better.
//!
//! The usual queue at nine tenths of the rate is the answer to begin with. Another kind takes its
//! place only with better grades, corner by corner and on average, since what differs by less is
//! not worth leaving what everybody runs. A higher rate takes it where it is shown to be as good, a
//! lower one where it is shown to be better, step by step. The line stays as it is unless that is
//! worse in what is not good there; above 1 Gbit/s it must be shown to be.

use crate::results::experience::Activity;
use crate::run::recommend::candidates::Candidate;
use crate::run::recommend::question::Question;
use crate::run::recommend::race;
use crate::run::recommend::tried::Tried;
use crate::verdict::rule::{self, Key, MIN_REPLICATIONS, Standing, has_better_grades, has_better_mean_grades};
use crate::verdict::{Grade, Policy};

/// Tells for each candidate whether it satisfies the policy, compared with the best queue among
/// them. The line as it is takes part without setting the bound: its utilization is bought with its
/// delay.
#[must_use]
pub(super) fn satisfying(policy: &Policy, all: &[&Tried]) -> Vec<bool> {
    let queues: Vec<_> = all.iter().filter(|one| one.candidate.is_shaped()).map(|one| one.contender()).collect();
    let links = ["down", "up"];
    all.iter().map(|one| policy.refuses(&one.contender(), &queues, &links).is_none()).collect()
}

/// A choice; candidates are places in the list.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    /// The candidate that is named.
    pub best: usize,
    /// The best of those that set something up, with which the search goes on.
    pub shaped: Option<usize>,
    /// Those that are not worse than that one.
    pub kept: Vec<usize>,
    /// Those that do as well.
    pub as_good: Vec<usize>,
    /// Those of which the runs do not tell whether they are worse.
    pub open: Vec<usize>,
    /// Those that are significantly worse than `shaped` in what people notice.
    pub worse: Vec<usize>,
    /// Whether further runs are not expected to change the choice.
    pub is_settled: bool,
}

/// Chooses among those that are left and satisfy the policy, by their blocks in these settings.
/// Where none satisfies it, all take part. Returns `None` where none has run.
pub(super) fn choose(question: &Question, keys: &[Key], all: &[&Tried], settings: &[usize]) -> Option<Chosen> {
    let left: Vec<usize> =
        (0..all.len()).filter(|place| all[*place].dropped.is_none() && all[*place].rounds(settings) > 0).collect();
    let satisfies = satisfying(&question.policy, &left.iter().map(|place| all[*place]).collect::<Vec<_>>());
    let satisfying: Vec<usize> =
        left.iter().zip(satisfies).filter(|(_, satisfies)| *satisfies).map(|(place, _)| *place).collect();
    let places = if satisfying.is_empty() { left } else { satisfying };
    let ranked = places.iter().map(|place| Ranked {
        candidate: &all[*place].candidate,
        runs: race::contender(&all[*place].candidate, &all[*place].within(settings)),
    });
    let ranked: Vec<Ranked<'_>> = ranked.collect();
    let field = Field { question, keys, ranked };
    let kind = field.kind().unwrap_or_default();
    let shaped = (!kind.is_empty()).then(|| field.share(&kind));
    let best = field.best(shaped)?;
    let rival = shaped.unwrap_or(best);
    let standings: Vec<Standing> = (0..places.len()).map(|one| field.standing(one, best)).collect();
    let of = |wanted: Standing| {
        let others = (0..places.len()).filter(|one| *one != best && standings[*one] == wanted);
        others.map(|one| places[one]).collect()
    };
    Some(Chosen {
        best: places[best],
        shaped: shaped.map(|one| places[one]),
        kept: (0..places.len()).filter(|one| field.standing(*one, rival) != Standing::Worse).map(|one| places[one]).collect(),
        as_good: of(Standing::AsGood),
        open: of(Standing::Open),
        worse: (0..places.len()).filter(|one| field.is_noticed(*one, rival)).map(|one| places[one]).collect(),
        is_settled: shaped.is_none_or(|shaped| field.is_settled(&kind, shaped, best)),
    })
}

/// A candidate with its runs.
struct Ranked<'a> {
    candidate: &'a Candidate,
    runs: rule::Candidate<'a>,
}

/// The candidates among which a choice is made.
struct Field<'a> {
    question: &'a Question,
    keys: &'a [Key],
    ranked: Vec<Ranked<'a>>,
}

impl Field<'_> {
    /// The one that is named, where this is the best that sets something up.
    fn best(&self, shaped: Option<usize>) -> Option<usize> {
        let Some(best) = shaped else { return (!self.ranked.is_empty()).then_some(0) };
        let is_enough =
            |nothing: &usize| self.has_enough(&self.ranked[*nothing].runs) && self.has_enough(&self.ranked[best].runs);
        let nothing = self.nothing().filter(is_enough);
        Some(nothing.filter(|nothing| self.serves_as_well(*nothing, best)).unwrap_or(best))
    }

    fn nothing(&self) -> Option<usize> {
        self.ranked.iter().position(|one| *one.candidate == Candidate::NOTHING)
    }

    fn percent(&self, one: usize) -> f64 {
        self.ranked[one].candidate.percent().unwrap_or(0.0)
    }

    /// Those of each kind, the highest rate first.
    fn by_kind(&self) -> Vec<Vec<usize>> {
        let order = self.question.candidates(self.question.first_share());
        let of = |usual: &Candidate| {
            let mut own: Vec<usize> =
                (0..self.ranked.len()).filter(|one| self.ranked[*one].candidate.has_queues_of(usual)).collect();
            own.sort_by(|a, b| self.percent(*b).total_cmp(&self.percent(*a)));
            own
        };
        order.iter().map(of).filter(|own| !own.is_empty()).collect()
    }

    /// The place among those of one kind, by rate, at which the search begins.
    fn first(&self, kind: &[usize]) -> usize {
        let far = |place: &usize| (self.percent(kind[*place]) - 100.0 * self.question.first_share()).abs();
        (0..kind.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    }

    /// The kind that is named, as its candidates: the usual one unless another has better grades.
    fn kind(&self) -> Option<Vec<usize>> {
        let better = |held: Vec<usize>, other: Vec<usize>| {
            let [one, two] = [&held, &other].map(|kind| &self.ranked[kind[self.first(kind)]].runs);
            let is_better = has_better_grades(self.keys, two, one) && has_better_mean_grades(self.keys, two, one);
            if is_better { other } else { held }
        };
        self.by_kind().into_iter().reduce(better)
    }

    /// The share of one kind that is named.
    fn share(&self, kind: &[usize]) -> usize {
        let mut place = self.first(kind);
        let from = place;
        while place > 0 && self.standing(kind[place - 1], kind[place]) == Standing::AsGood {
            place -= 1;
        }
        if place == from {
            while kind.get(place + 1).is_some_and(|lower| self.is_better(*lower, kind[place])) {
                place += 1;
            }
        }
        kind[place]
    }

    /// Whether a lower rate is shown to be better for what people notice, and worse for nothing of
    /// that.
    fn is_better(&self, lower: usize, held: usize) -> bool {
        self.is_noticed(held, lower) && !self.is_noticed(lower, held)
    }

    /// Whether people notice that one is worse than another.
    fn is_noticed(&self, one: usize, other: usize) -> bool {
        let noticed: Vec<Key> = self.keys.iter().filter(|key| key.is_interactive()).copied().collect();
        self.standing_by(&noticed, one, other) == Standing::Worse
    }

    fn standing(&self, one: usize, other: usize) -> Standing {
        self.standing_by(self.keys, one, other)
    }

    /// The standing of one against another by grades, and by the worst figure at equal ones.
    fn standing_by(&self, keys: &[Key], one: usize, other: usize) -> Standing {
        let [one, other] = [one, other].map(|place| &self.ranked[place].runs);
        if !self.has_enough(one) || !self.has_enough(other) {
            return Standing::Open;
        }
        if has_better_grades(keys, other, one) {
            return Standing::Worse;
        }
        keys.iter().map(|key| key.standing(one, other)).max().unwrap_or(Standing::AsGood)
    }

    fn has_enough(&self, one: &rule::Candidate<'_>) -> bool {
        one.replications() >= MIN_REPLICATIONS as usize
    }

    /// Whether the line as it is is not worse, by the means where the runs do not tell. A shaper
    /// that takes several cores needs proof.
    fn serves_as_well(&self, nothing: usize, best: usize) -> bool {
        let [line, other] = [nothing, best].map(|one| &self.ranked[one].runs);
        match self.standing_of_nothing(nothing, best) {
            Standing::AsGood => true,
            Standing::Open => self.question.takes_cores() || !self.not_good(nothing).iter().any(|key| key.is_behind(line, other)),
            Standing::Worse => false,
        }
    }

    fn standing_of_nothing(&self, nothing: usize, best: usize) -> Standing {
        self.standing_by(&self.not_good(nothing), nothing, best)
    }

    /// The figures that are not good on the line as it is, for one comparison. Where people do more
    /// than ping, the times of transfers and the rates of videos keep no one from leaving it.
    fn not_good(&self, nothing: usize) -> Vec<Key> {
        let has_people = self.keys.iter().any(|key| key.is_graded() && key.activity != Activity::Ping);
        let counts = |key: &&Key| !has_people || key.is_graded() || key.activity == Activity::Ping;
        let is_good = |key: &&Key| key.own_grade(&self.ranked[nothing].runs) == Some(Grade::Good);
        self.keys.iter().filter(counts).filter(|key| !is_good(key)).map(|key| key.once()).collect()
    }

    /// Whether it is known how the line as it is and the neighbors in rate stand against the best.
    fn is_settled(&self, kind: &[usize], shaped: usize, best: usize) -> bool {
        if self.nothing().is_some_and(|nothing| self.standing_of_nothing(nothing, shaped) == Standing::Open) {
            return false;
        }
        let place = kind.iter().position(|one| *one == best);
        let is_open = |one: usize, other: usize| self.standing(one, other) == Standing::Open;
        !place.is_some_and(|place| {
            let higher = place.checked_sub(1).is_some_and(|higher| is_open(kind[higher], best));
            higher || kind.get(place + 1).is_some_and(|lower| is_open(best, *lower))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::experience::GroupExperience;
    use crate::run::recommend::Asked;
    use crate::run::recommend::race::Block;
    use crate::scenario::plan::Direction;
    use crate::verdict::rule::LinkUse;

    /// Deciding figures of the activities, in their order.
    type Figures<'a> = &'a [(Activity, &'a [f64])];

    const CALL: (Activity, &[f64]) = (Activity::Call, &[0.0, 4.3]);
    const BULK: (Activity, &[f64]) = (Activity::Bulk, &[]);

    fn question() -> Question {
        let asked = Asked { down: "50mbit", up: "10mbit", rtt: "20ms", hardware: "openwrt", ..Asked::default() };
        asked.question().expect("a question")
    }

    /// Five rounds in one setting, with the same luck for all candidates.
    fn tried(candidate: Candidate, goodput: f64, figures: Figures<'_>) -> Tried {
        let group = |activity: Activity, deciding: &[f64], luck: f64| {
            let mut values = vec![None; activity.metrics().len()];
            for ((place, _), value) in activity.deciding().zip(deciding) {
                values[place] = Some(value * (1.0 + 0.001 * luck));
            }
            let goodput_bit_s = Some(goodput);
            let (group, heading) = (activity.name().to_owned(), Direction::Down);
            GroupExperience { group, activity, heading, is_l4s: false, base_rtt_s: 0.02, values, goodput_bit_s }
        };
        let block = |(round, luck): (u32, f64)| {
            let groups = figures.iter().chain([&BULK]);
            let groups = groups.map(|(activity, deciding)| group(*activity, deciding, luck)).collect();
            Block { setting: 0, round, groups, links: [LinkUse::default(); 2] }
        };
        let blocks = (0..).zip([0.0, 1.0, -1.0, 0.5, -0.5]).map(block).collect();
        Tried { blocks, ..Tried::new(candidate) }
    }

    /// The label of the choice, and whether it is settled.
    fn chosen(question: &Question, all: &[Tried]) -> (String, bool) {
        let keys: Vec<Key> = question.keys(&all[0].blocks[0].groups).into_iter().map(Key::cautious).collect();
        let chosen = choose(question, &keys, &all.iter().collect::<Vec<_>>(), &[0]).expect("a choice");
        (all[chosen.best].candidate.to_string(), chosen.is_settled)
    }

    fn at(question: &Question, kind: &str, share: f64) -> Candidate {
        let own = question.candidates(share).into_iter().find(|one| one.down.kind == kind);
        own.expect("the hardware has it")
    }

    #[test]
    fn another_kind_needs_a_better_grade() {
        let question = question();
        let cake = || tried(at(&question, "cake", 0.9), 45e6, &[CALL, (Activity::Page, &[2.0])]);
        let fq = |page: f64| tried(at(&question, "fq-codel", 0.9), 45e6, &[CALL, (Activity::Page, &[page])]);
        assert_eq!(chosen(&question, &[cake(), fq(1.0)]).0, "cake at 90 %");
        let slow = tried(at(&question, "cake", 0.9), 45e6, &[CALL, (Activity::Page, &[3.0])]);
        assert_eq!(chosen(&question, &[slow, fq(1.0)]).0, "fq-codel at 90 %");
    }

    #[test]
    fn a_rate_moves_only_where_it_is_shown() {
        let question = question();
        let ping =
            |share: f64, late: f64| tried(at(&question, "cake", share), share * 50e6, &[CALL, (Activity::Ping, &[late, 0.03])]);
        let equal = [ping(0.95, 0.0), ping(0.9, 0.0), ping(0.85, 0.0)];
        assert_eq!(chosen(&question, &equal), ("cake at 95 %".to_owned(), true));
        let late = [ping(0.95, 0.2), ping(0.9, 0.0), ping(0.85, 0.0)];
        assert_eq!(chosen(&question, &late), ("cake at 90 %".to_owned(), true));
        let later = [ping(0.95, 0.4), ping(0.9, 0.2), ping(0.85, 0.0)];
        assert_eq!(chosen(&question, &later).0, "cake at 85 %");
    }

    #[test]
    fn a_line_where_all_is_good_stays_as_it_is() {
        let question = question();
        let cake = tried(at(&question, "cake", 0.9), 45e6, &[CALL, (Activity::Page, &[0.5])]);
        let nothing = |page: f64| tried(Candidate::NOTHING, 50e6, &[CALL, (Activity::Page, &[page])]);
        assert_eq!(chosen(&question, &[nothing(0.9), cake.clone()]), ("nothing set up".to_owned(), true));
        assert_eq!(chosen(&question, &[nothing(3.5), cake]).0, "cake at 90 %");
    }
}
