//! Traffic of many households as fluid, in one direction: each transfer flows at the rate that the
//! plan and the sites before it leave, without packets. A full site shares its capacity among the
//! circuits that want more in proportion to the rates kept for them, as HTB does.

use super::demand::{Course, Process};
use goodqueue_base::units::Rng;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The sites in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Capacity of each site, bit/s.
    pub capacity: Vec<f64>,
    /// The site before each one, which has a smaller index.
    pub parent: Vec<Option<usize>>,
    /// Capacities from later times on, in order of time.
    pub changes: Vec<Change>,
}

impl Tree {
    /// The sites between a home and the root, the nearest first.
    pub fn path(&self, site: Option<usize>) -> impl Iterator<Item = usize> + use<'_> {
        std::iter::successors(site, |site| self.parent[*site])
    }
}

/// Another capacity of a site.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The time, in seconds.
    pub at: f64,
    /// The site.
    pub site: usize,
    /// Its capacity from then on, bit/s.
    pub capacity: f64,
}

/// A household in use.
#[derive(Clone, Debug, PartialEq)]
pub struct Home<'a> {
    /// The site that it is behind.
    pub site: Option<usize>,
    /// The rate of its plan, bit/s.
    pub plan: f64,
    /// Its share where a site is full, relative to others.
    pub weight: f64,
    /// The processes of this direction.
    pub processes: Vec<&'a Process>,
    /// For its random numbers.
    pub seed: u64,
}

/// The times of a run, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// By this time all processes have begun.
    pub begun: f64,
    /// Time before measuring begins.
    pub warmup: f64,
    /// The end.
    pub end: f64,
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flowed {
    /// The share of the measured time in which each site could not give all that was wanted.
    pub full: Vec<f64>,
    /// Mean rate through each site, bit/s.
    pub carried: Vec<f64>,
    /// Mean rate of all homes together, bit/s.
    pub total: f64,
    /// The rate that each watched home could have, as steps of time and bit/s from zero on.
    pub available: Vec<Vec<(f64, f64)>>,
}

/// Time between two looks at the sites and the watched homes, in seconds.
const LOOK: f64 = 0.1;
/// Weight of the newest segment in a player's throughput, and the part of it that it asks for, as
/// in the simulator's player.
const NEWEST: f64 = 0.4;
const CAUTION: f64 = 0.8;

/// Runs the homes, and watches some of them. Results mean nothing after `stop`.
#[must_use]
pub fn run(tree: &Tree, homes: &[Home<'_>], watched: &[usize], span: Span, stop: &AtomicBool) -> Flowed {
    let mut flow = Flow::new(tree, homes);
    for (number, home) in homes.iter().enumerate() {
        flow.begin(number, home, span.begun);
    }
    let mut result = Flowed {
        full: vec![0.0; tree.capacity.len()],
        carried: vec![0.0; tree.capacity.len()],
        total: 0.0,
        available: vec![Vec::new(); watched.len()],
    };
    let looks = (span.end / LOOK) as u64;
    let measured = (0..looks).filter(|look| *look as f64 * LOOK >= span.warmup).count().max(1) as f64;
    let mut changes = tree.changes.iter().peekable();
    for look in 0..looks {
        let now = look as f64 * LOOK;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        flow.advance(now);
        while let Some(change) = changes.next_if(|change| change.at <= now) {
            flow.change(change, now);
        }
        for (number, steps) in watched.iter().zip(&mut result.available) {
            let rate = flow.available(*number);
            if steps.last().is_none_or(|(_, last)| *last != rate) {
                steps.push((now, rate));
            }
        }
        if now >= span.warmup {
            for site in 0..tree.capacity.len() {
                result.full[site] += f64::from(flow.is_full(site, 0.0)) / measured;
            }
            for (state, home) in flow.states.iter().zip(homes) {
                let rate = state.carried();
                result.total += rate / measured;
                for site in flow.path(home.site) {
                    result.carried[site] += rate / measured;
                }
            }
        }
    }
    result
}

/// A transfer under way.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    process: usize,
    bits: f64,
    left: f64,
    weight: f64,
    began: f64,
}

/// A home at a time.
#[derive(Clone, Debug)]
struct State {
    transfers: Vec<Transfer>,
    players: Vec<Player>,
    constant: f64,
    /// The rate that it has, and since when its transfers have been counted with it.
    rate: f64,
    since: f64,
    /// Distinguishes the latest end of a transfer from those that were foreseen before.
    version: u64,
    rng: Rng,
}

/// A player of video.
#[derive(Clone, Copy, Debug, Default)]
struct Player {
    throughput: Option<f64>,
    ahead: f64,
    at: f64,
}

impl State {
    fn carried(&self) -> f64 {
        if self.transfers.is_empty() { self.constant.min(self.rate) } else { self.rate }
    }

    /// The rate of the transfers for each unit of weight.
    fn pace(&self) -> f64 {
        let weight: f64 = self.transfers.iter().map(|transfer| transfer.weight).sum();
        (self.rate - self.constant).max(0.0) / weight.max(f64::MIN_POSITIVE)
    }

    fn count(&mut self, now: f64) {
        let moved = self.pace() * (now - self.since);
        for transfer in &mut self.transfers {
            transfer.left -= moved * transfer.weight;
        }
        self.since = now;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin { home: usize, process: usize },
    End { home: usize, version: u64 },
}

struct Flow<'a> {
    tree: &'a Tree,
    /// Capacity of each site now.
    capacity: Vec<f64>,
    homes: &'a [Home<'a>],
    states: Vec<State>,
    /// The sites and homes directly behind each site.
    sites_of: Vec<Vec<usize>>,
    homes_of: Vec<Vec<usize>>,
    /// The sum of what the homes and sites behind each site want, of a site no more than it has.
    wanted: Vec<f64>,
    want_of: Vec<f64>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    number: u64,
    shares: Vec<(usize, f64)>,
}

/// A part of a site's capacity that a home or a site behind it wants.
#[derive(Clone, Copy, Debug)]
struct Claim {
    who: Who,
    want: f64,
    weight: f64,
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Home(usize),
    Site(usize),
}

const NS: f64 = 1e9;

impl<'a> Flow<'a> {
    fn new(tree: &'a Tree, homes: &'a [Home<'a>]) -> Self {
        let count = tree.capacity.len();
        let (mut sites_of, mut homes_of) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (site, parent) in tree.parent.iter().enumerate() {
            sites_of.iter_mut().skip(parent.unwrap_or(count)).take(1).for_each(|list: &mut Vec<usize>| list.push(site));
        }
        for (number, home) in homes.iter().enumerate() {
            homes_of.iter_mut().skip(home.site.unwrap_or(count)).take(1).for_each(|list: &mut Vec<usize>| list.push(number));
        }
        let state = |home: &Home<'_>| State {
            transfers: Vec::new(),
            players: vec![Player::default(); home.processes.len()],
            constant: 0.0,
            rate: home.plan,
            since: 0.0,
            version: 0,
            rng: Rng::new(home.seed),
        };
        Self {
            tree,
            capacity: tree.capacity.clone(),
            homes,
            states: homes.iter().map(state).collect(),
            sites_of,
            homes_of,
            wanted: vec![0.0; count],
            want_of: vec![0.0; homes.len()],
            events: BinaryHeap::new(),
            number: 0,
            shares: Vec::new(),
        }
    }

    fn path(&self, site: Option<usize>) -> impl Iterator<Item = usize> + use<'a> {
        self.tree.path(site)
    }

    fn at(&mut self, when: f64, event: Event) {
        self.number += 1;
        self.events.push(Reverse(((when * NS) as u64, self.number, event)));
    }

    /// Puts the first events of a home in.
    fn begin(&mut self, number: usize, home: &Home<'_>, begun: f64) {
        for (process, course) in home.processes.iter().map(|process| &process.course).enumerate() {
            if let Course::Constant(rate) = course {
                self.states[number].constant += rate;
            } else {
                let first = self.states[number].rng.uniform() * begun;
                self.at(first, Event::Begin { home: number, process });
            }
        }
        self.note(number);
    }

    fn advance(&mut self, until: f64) {
        let end = (until * NS) as u64;
        while let Some(Reverse((at, _, event))) = self.events.peek().copied().filter(|Reverse((at, ..))| *at <= end) {
            self.events.pop();
            let now = at as f64 / NS;
            match event {
                Event::Begin { home, process } => self.start(home, process, now),
                Event::End { home, version } if self.states[home].version == version => self.finish(home, now),
                Event::End { .. } => {}
            }
        }
    }

    fn start(&mut self, home: usize, process: usize, now: f64) {
        let state = &mut self.states[home];
        state.count(now);
        let (bits, weight) = match &self.homes[home].processes[process].course {
            Course::Constant(_) => return,
            Course::Endless { weight } => (f64::INFINITY, *weight),
            Course::Again { bits, weight, .. } => (*bits, *weight),
            Course::Arriving { bits, weight, interval, is_poisson } => {
                let (bits, weight) = (*bits, *weight);
                let gap = if *is_poisson { -libm::log(1.0 - state.rng.uniform()) * interval } else { *interval };
                self.at(now + gap, Event::Begin { home, process });
                (bits, weight)
            }
            Course::Video { ladder, segment, .. } => {
                let most = state.players[process].throughput.map_or(0.0, |throughput| CAUTION * throughput);
                let rung = ladder.iter().rev().find(|rate| **rate <= most).or(ladder.first()).copied().unwrap_or(0.0);
                (rung * segment, 1.0)
            }
        };
        self.states[home].transfers.push(Transfer { process, bits, left: bits, weight, began: now });
        self.note(home);
        self.reshare(home, now);
    }

    /// The transfer that has least left has ended.
    fn finish(&mut self, home: usize, now: f64) {
        let state = &mut self.states[home];
        state.count(now);
        let last = |(a, b): (&Transfer, &Transfer)| (a.left / a.weight).total_cmp(&(b.left / b.weight));
        let ended = (0..state.transfers.len()).min_by(|a, b| last((&state.transfers[*a], &state.transfers[*b])));
        let Some(transfer) = ended.map(|ended| state.transfers.swap_remove(ended)) else { return };
        let process = transfer.process;
        let next = match &self.homes[home].processes[process].course {
            Course::Again { pause, .. } => Some(now + pause.0 + state.rng.uniform() * (pause.1 - pause.0)),
            Course::Video { segment, buffer, .. } => {
                let player = &mut state.players[process];
                let throughput = transfer.bits / (now - transfer.began).max(1e-6);
                player.throughput = Some(player.throughput.map_or(throughput, |old| old + NEWEST * (throughput - old)));
                player.ahead = (player.ahead - (now - player.at)).max(0.0) + segment;
                player.at = now;
                Some(now + (player.ahead + segment - buffer).max(0.0))
            }
            Course::Constant(_) | Course::Endless { .. } | Course::Arriving { .. } => None,
        };
        if let Some(next) = next {
            self.at(next, Event::Begin { home, process });
        }
        self.note(home);
        self.reshare(home, now);
    }

    /// Brings up to date what a home wants.
    fn note(&mut self, home: usize) {
        let (state, plan) = (&self.states[home], self.homes[home].plan);
        let want = if state.transfers.is_empty() { state.constant.min(plan) } else { plan };
        let more = want - std::mem::replace(&mut self.want_of[home], want);
        self.want_more(self.homes[home].site, more);
    }

    /// Brings up to date what the sites want from `site` on.
    fn want_more(&mut self, site: Option<usize>, mut more: f64) {
        for site in self.path(site) {
            let capacity = self.capacity[site];
            let before = self.wanted[site].min(capacity);
            self.wanted[site] += more;
            more = self.wanted[site].min(capacity) - before;
        }
    }

    /// Gives a site another capacity, and shares again what that concerns: all behind the last site
    /// on the way that is full, or was.
    fn change(&mut self, change: &Change, now: f64) {
        let (site, wanted) = (change.site, self.wanted[change.site]);
        let were_full: Vec<usize> = self.path(Some(site)).filter(|site| self.is_full(*site, 0.0)).collect();
        let before = wanted.min(std::mem::replace(&mut self.capacity[site], change.capacity));
        self.want_more(self.tree.parent[site], wanted.min(change.capacity) - before);
        let is_concerned = |one: &usize| self.is_full(*one, 0.0) || were_full.contains(one);
        let top = self.path(Some(site)).filter(is_concerned).last().unwrap_or(site);
        self.reshare_behind(top, now);
    }

    /// Whether more is wanted of a site than it has, with this much on top.
    fn is_full(&self, site: usize, more: f64) -> bool {
        self.wanted[site] + more > self.capacity[site] * (1.0 + 1e-6)
    }

    /// Shares again what a change at a home concerns: all behind the last site on the way that
    /// is full, or was.
    fn reshare(&mut self, home: usize, now: f64) {
        let plan = self.homes[home].plan;
        let concerned = self.path(self.homes[home].site).filter(|site| self.is_full(*site, plan)).last();
        match concerned {
            Some(site) => self.reshare_behind(site, now),
            None => self.set(home, self.want_of[home], now),
        }
    }

    /// Shares the capacity of a site again among all behind it.
    fn reshare_behind(&mut self, site: usize, now: f64) {
        let mut shares = std::mem::take(&mut self.shares);
        shares.clear();
        self.share(site, self.capacity[site], None, &mut shares);
        for (home, rate) in &shares {
            self.set(*home, *rate, now);
        }
        self.shares = shares;
    }

    /// Gives a home a rate, and foresees the end of its next transfer.
    fn set(&mut self, home: usize, rate: f64, now: f64) {
        let state = &mut self.states[home];
        state.count(now);
        state.rate = rate;
        state.version += 1;
        let (pace, version) = (state.pace(), state.version);
        let left = state.transfers.iter().map(|transfer| transfer.left / transfer.weight).reduce(f64::min);
        if let Some(left) = left.filter(|left| left.is_finite() && pace > 0.0) {
            self.at(now + (left / pace).max(0.0), Event::End { home, version });
        }
    }

    /// The rate that a home could have now if it wanted all of its plan.
    fn available(&self, home: usize) -> f64 {
        let Home { site, plan, .. } = self.homes[home];
        let more = plan - self.want_of[home];
        let Some(site) = self.path(site).filter(|site| self.is_full(*site, more)).last() else { return plan };
        let mut shares = Vec::new();
        self.share(site, self.capacity[site], Some(home), &mut shares);
        shares.iter().find(|(number, _)| *number == home).map_or(plan, |(_, rate)| *rate)
    }

    /// The rate that a home wants; all of its plan if it is the eager one.
    fn want(&self, home: usize, eager: Option<usize>) -> f64 {
        if eager == Some(home) { self.homes[home].plan } else { self.want_of[home] }
    }

    fn claim(&self, site: usize, eager: Option<usize>) -> Claim {
        let homes = self.homes_of[site].iter().map(|home| (self.want(*home, eager), self.homes[*home].weight));
        let sites = self.sites_of[site].iter().map(|site| self.claim(*site, eager)).map(|claim| (claim.want, claim.weight));
        let add = |(want, weight): (f64, f64), (more, heavier): (f64, f64)| {
            (want + more, weight + if more > 0.0 { heavier } else { 0.0 })
        };
        let (want, weight) = homes.chain(sites).fold((0.0, 0.0), add);
        Claim { who: Who::Site(site), want: want.min(self.capacity[site]), weight }
    }

    /// Shares a rate among all behind a site.
    fn share(&self, site: usize, rate: f64, eager: Option<usize>, shares: &mut Vec<(usize, f64)>) {
        let homes = self.homes_of[site].iter().map(|home| Claim {
            who: Who::Home(*home),
            want: self.want(*home, eager),
            weight: self.homes[*home].weight,
        });
        let sites = self.sites_of[site].iter().map(|site| self.claim(*site, eager));
        let mut claims: Vec<Claim> = homes.chain(sites).filter(|claim| claim.want > 0.0).collect();
        claims.sort_by(|a, b| (a.want / a.weight).total_cmp(&(b.want / b.weight)));
        let (mut rate, mut weight) = (rate, claims.iter().map(|claim| claim.weight).sum::<f64>());
        for claim in claims {
            let share = claim.want.min(rate * claim.weight / weight.max(f64::MIN_POSITIVE));
            rate -= share;
            weight -= claim.weight;
            match claim.who {
                Who::Home(home) => shares.push((home, share)),
                Who::Site(site) => self.share(site, share, eager, shares),
            }
        }
    }
}

#[cfg(test)]
mod tests;
