//! The classes of the hierarchy: who may send, who borrows, whose turn it is.

use super::ordered_set::OrderedSet;
use super::waits::Waits;
use super::{HtbClass, MAX_DEPTH, PRIORITIES};
use alloc::vec::Vec;
use goodqueue_base::units::{Bytes, Duration, Framing, Rate};

/// The most that a bucket owes, and the longest time that it counts: a minute.
const MAX_WAIT: i64 = 60_000_000_000;

/// Steps of a search after which Linux gives up. Each round that was never begun takes two, since
/// what has begun again passes the turn on.
const MAX_STEPS: usize = 65_535;

/// Time of transmission as Linux computes it: a multiplication and a shift that stand for the
/// division by the rate.
#[derive(Clone, Copy, Debug)]
struct Pace {
    factor: u32,
    shift: u8,
}

impl Pace {
    fn new(rate: Rate) -> Self {
        let bytes_s = (rate.as_bit_s() / 8).max(1);
        let (mut nanos, mut shift) = (1_000_000_000_u64, 0);
        loop {
            // The upper bits are lost where the kernel loses them.
            let factor = (nanos / bytes_s) as u32;
            if factor >> 31 != 0 || nanos >> 63 != 0 {
                return Self { factor, shift };
            }
            nanos <<= 1;
            shift += 1;
        }
    }

    fn nanos(self, bytes: Bytes) -> i64 {
        (bytes.get().wrapping_mul(u64::from(self.factor)) >> self.shift) as i64
    }
}

/// A token bucket in time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    pace: Pace,
    depth: i64,
    tokens: i64,
}

impl Bucket {
    fn new(rate: Rate, burst: Duration) -> Self {
        let depth = burst.as_nanos() as i64;
        Self { pace: Pace::new(rate), depth, tokens: depth }
    }

    fn charge(&mut self, bytes: Bytes, since: i64) {
        let tokens = (self.tokens + since).min(self.depth) - self.pace.nanos(bytes);
        self.tokens = if tokens <= -MAX_WAIT { 1 - MAX_WAIT } else { tokens };
    }
}

/// The permission of a class to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Neither its own nor a parent's: it is above its ceiling.
    Blocked,
    /// With a parent's tokens.
    Borrows,
    /// With its own.
    Sends,
}

/// The order of service among the classes of one row, or the children of one class.
#[derive(Clone, Debug, Default)]
struct Round {
    places: OrderedSet,
    /// The place whose turn it is.
    turn: Option<u32>,
    /// The place that had the turn when it left.
    left: Option<u32>,
}

impl Round {
    fn advance(&mut self) {
        self.turn = self.turn.and_then(|place| self.places.next(place + 1));
    }

    /// The place whose turn it is, if the round is not over.
    fn at(&mut self) -> Option<u32> {
        if let Some(left) = self.left.take()
            && self.turn.is_none()
        {
            self.turn = self.places.next(left);
        }
        self.turn
    }

    fn begin(&mut self) {
        self.turn = self.places.next(0);
    }
}

#[derive(Clone, Debug)]
struct Node {
    parent: Option<u32>,
    level: usize,
    /// Place among the children of its parent.
    sibling: u32,
    rate: Bucket,
    ceil: Bucket,
    /// Time of the buckets.
    at: i64,
    mode: Mode,
    /// The priorities at which it, or a class below, has packets.
    active: u8,
    priority: u8,
    quantum: i64,
    /// Bytes left of its turn, by the level at which it is served.
    deficits: [i64; MAX_DEPTH],
    children: Vec<u32>,
    /// Children that borrow, by priority; none of a leaf.
    feeds: Vec<Round>,
}

/// All classes and their order of service.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Classes that send with their own tokens, by level and priority.
    rows: Vec<Round>,
    masks: [u8; MAX_DEPTH],
    waits: Vec<Waits>,
    /// No later than the first change of a mode, by level.
    near: [i64; MAX_DEPTH],
    framing: Framing,
}

fn bits(mut mask: u8) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < PRIORITIES).then_some(bit)
    })
}

impl Tree {
    /// The tree of `classes`, whose parents are checked.
    pub(super) fn new(classes: &[HtbClass], framing: Framing) -> Self {
        let mut nodes: Vec<Node> = classes
            .iter()
            .map(|class| Node {
                parent: class.parent,
                level: 0,
                sibling: 0,
                rate: Bucket::new(class.rate, class.burst),
                ceil: Bucket::new(class.ceil, class.cburst),
                at: 0,
                mode: Mode::Sends,
                active: 0,
                priority: class.priority.min(PRIORITIES as u8 - 1),
                quantum: class.quantum.get() as i64,
                deficits: [0; MAX_DEPTH],
                children: Vec::new(),
                feeds: Vec::new(),
            })
            .collect();
        for class in 0..nodes.len() as u32 {
            if let Some(parent) = nodes[class as usize].parent {
                nodes[class as usize].sibling = nodes[parent as usize].children.len() as u32;
                nodes[parent as usize].children.push(class);
            }
        }
        let mut tree = Self {
            rows: alloc::vec![Round::default(); MAX_DEPTH * PRIORITIES],
            masks: [0; MAX_DEPTH],
            waits: alloc::vec![Waits::default(); MAX_DEPTH],
            near: [0; MAX_DEPTH],
            nodes,
            framing,
        };
        for class in 0..tree.nodes.len() {
            if !tree.nodes[class].children.is_empty() {
                let above = core::iter::successors(tree.nodes[class].parent, |above| tree.nodes[*above as usize].parent);
                tree.nodes[class].level = MAX_DEPTH - 1 - above.count();
                tree.nodes[class].feeds = alloc::vec![Round::default(); PRIORITIES];
            }
        }
        tree.make_room();
        tree
    }

    /// Takes memory for the rounds and the waits that there may be.
    fn make_room(&mut self) {
        let count = self.nodes.len();
        for (level, waits) in self.waits.iter_mut().enumerate() {
            if self.nodes.iter().any(|node| node.level == level) {
                *waits = Waits::new(count);
            }
        }
        for leaf in (0..count as u32).filter(|class| self.nodes[*class as usize].level == 0).collect::<Vec<_>>() {
            let priority = usize::from(self.nodes[leaf as usize].priority);
            let mut at = Some(leaf);
            while let Some(class) = at {
                let node = &mut self.nodes[class as usize];
                let row = &mut self.rows[node.level * PRIORITIES + priority];
                if row.places.is_unset() {
                    row.places = OrderedSet::new(count);
                }
                if node.level > 0 && node.feeds[priority].places.is_unset() {
                    node.feeds[priority].places = OrderedSet::new(node.children.len());
                }
                at = node.parent;
            }
        }
    }

    /// Whether a class has none below it.
    pub(super) fn is_leaf(&self, class: u32) -> bool {
        self.nodes.get(class as usize).is_some_and(|node| node.children.is_empty())
    }

    /// A leaf has packets.
    pub(super) fn activate(&mut self, leaf: u32) {
        let node = &mut self.nodes[leaf as usize];
        if node.active == 0 {
            node.active = 1 << node.priority;
            self.join(leaf);
        }
    }

    /// A leaf has none any more.
    pub(super) fn deactivate(&mut self, leaf: u32) {
        if self.nodes[leaf as usize].active != 0 {
            self.part(leaf);
            self.nodes[leaf as usize].active = 0;
        }
    }

    /// The class that a class borrows from, and its place among the children there.
    fn lender(&self, class: u32) -> Option<(u32, u32)> {
        let node = &self.nodes[class as usize];
        node.parent.filter(|_| node.mode == Mode::Borrows).map(|parent| (parent, node.sibling))
    }

    /// A class, active and in its new mode, joins its parents' rounds and the row of the one that
    /// sends.
    fn join(&mut self, mut class: u32) {
        let mut mask = self.nodes[class as usize].active;
        while mask != 0
            && let Some((parent, sibling)) = self.lender(class)
        {
            let above = &mut self.nodes[parent as usize];
            for priority in bits(mask) {
                let places = &mut above.feeds[priority].places;
                if !places.is_empty() {
                    // The parent is in its place already.
                    mask &= !(1 << priority);
                }
                places.insert(sibling);
            }
            above.active |= mask;
            class = parent;
        }
        let node = &self.nodes[class as usize];
        if node.mode == Mode::Sends && mask != 0 {
            self.masks[node.level] |= mask;
            for priority in bits(mask) {
                self.rows[node.level * PRIORITIES + priority].places.insert(class);
            }
        }
    }

    /// A class, active and in its old mode, leaves what it has joined.
    fn part(&mut self, mut class: u32) {
        let mut mask = self.nodes[class as usize].active;
        while mask != 0
            && let Some((parent, sibling)) = self.lender(class)
        {
            let above = &mut self.nodes[parent as usize];
            let mut emptied = 0;
            for priority in bits(mask) {
                let feed = &mut above.feeds[priority];
                if feed.turn == Some(sibling) {
                    (feed.turn, feed.left) = (None, Some(sibling));
                }
                feed.places.remove(sibling);
                if feed.places.is_empty() {
                    emptied |= 1 << priority;
                }
            }
            mask = emptied;
            above.active &= !mask;
            class = parent;
        }
        let (level, mode) = (self.nodes[class as usize].level, self.nodes[class as usize].mode);
        if mode == Mode::Sends {
            for priority in bits(mask) {
                let row = &mut self.rows[level * PRIORITIES + priority];
                if row.turn == Some(class) {
                    row.advance();
                }
                row.places.remove(class);
                if row.places.is_empty() {
                    self.masks[level] &= !(1 << priority);
                }
            }
        }
    }

    /// The mode of a class when `since` has passed, and how long it lasts.
    fn mode_after(&self, class: u32, since: i64) -> (Mode, i64) {
        let node = &self.nodes[class as usize];
        let (own, most) = (node.rate.tokens + since, node.ceil.tokens + since);
        match (most < 0, own >= 0) {
            (true, _) => (Mode::Blocked, -most),
            (false, true) => (Mode::Sends, 0),
            (false, false) => (Mode::Borrows, -own),
        }
    }

    /// Brings a class into the mode that it has when `since` has passed since its buckets' time.
    /// Returns how long it lasts, unless it sends.
    fn change_mode(&mut self, class: u32, since: i64) -> Option<i64> {
        let (mode, lasts) = self.mode_after(class, since);
        let before = self.nodes[class as usize].mode;
        if mode != before {
            let is_active = self.nodes[class as usize].active != 0;
            if is_active && before != Mode::Blocked {
                self.part(class);
            }
            self.nodes[class as usize].mode = mode;
            if is_active && mode != Mode::Blocked {
                self.join(class);
            }
        }
        (mode != Mode::Sends).then_some(lasts)
    }

    fn wait(&mut self, class: u32, now: i64, lasts: i64) {
        let level = self.nodes[class as usize].level;
        let at = now + lasts.max(1);
        self.near[level] = self.near[level].min(at);
        self.waits[level].insert(class, at);
    }

    /// Charges a packet of a leaf that was served at `level` to it and all classes above it.
    pub(super) fn charge(&mut self, leaf: u32, level: usize, len: Bytes, now: i64) {
        let bytes = self.framing.wire(len);
        let mut at = Some(leaf);
        while let Some(class) = at {
            let node = &mut self.nodes[class as usize];
            let since = (now - node.at).min(MAX_WAIT);
            if node.level >= level {
                node.rate.charge(bytes, since);
            } else {
                node.rate.tokens += since;
            }
            node.ceil.charge(bytes, since);
            node.at = now;
            at = node.parent;
            let before = node.mode;
            let lasts = self.change_mode(class, 0);
            let node = &self.nodes[class as usize];
            if before != node.mode {
                if before != Mode::Sends {
                    self.waits[node.level].remove(class);
                }
                if let Some(lasts) = lasts {
                    self.wait(class, now, lasts);
                }
            }
        }
    }

    /// Carries out the changes of modes that are due at a level. Returns when the next one is due
    /// at the earliest.
    pub(super) fn settle(&mut self, level: usize, now: i64) -> i64 {
        if now < self.near[level] {
            return self.near[level];
        }
        // As long as nothing waits, Linux looks again after a second.
        self.near[level] = i64::MAX;
        let next = loop {
            let Some((at, class)) = self.waits[level].first() else { break now + 1_000_000_000 };
            if at > now {
                break at;
            }
            self.waits[level].remove(class);
            let since = (now - self.nodes[class as usize].at).min(MAX_WAIT);
            if let Some(lasts) = self.change_mode(class, since) {
                self.wait(class, now, lasts);
            }
        };
        self.near[level] = next;
        next
    }

    /// The priorities at which classes of a level send with their own tokens.
    pub(super) fn priorities(&self, level: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.masks[level])
    }

    /// The leaf whose turn it is at a level and a priority.
    pub(super) fn leaf(&mut self, level: usize, priority: usize) -> Option<u32> {
        let mut way = [0_u32; MAX_DEPTH];
        let mut depth = 0;
        if self.masks[level] & 1 << priority == 0 {
            return None;
        }
        for _ in 0..MAX_STEPS {
            match self.round(level, priority, &way[..depth]).at() {
                Some(place) => {
                    let class = match way[..depth].last() {
                        Some(above) => self.nodes[*above as usize].children[place as usize],
                        None => place,
                    };
                    if self.nodes[class as usize].level == 0 {
                        return Some(class);
                    }
                    way[depth] = class;
                    depth += 1;
                }
                None => {
                    self.round(level, priority, &way[..depth]).begin();
                    if depth > 0 {
                        depth -= 1;
                        self.round(level, priority, &way[..depth]).advance();
                    }
                }
            }
        }
        None
    }

    fn round(&mut self, level: usize, priority: usize, way: &[u32]) -> &mut Round {
        match way.last() {
            Some(class) => &mut self.nodes[*class as usize].feeds[priority],
            None => &mut self.rows[level * PRIORITIES + priority],
        }
    }

    /// The turn of a leaf that is served at a level is over.
    pub(super) fn pass(&mut self, leaf: u32, level: usize) {
        let node = &self.nodes[leaf as usize];
        let priority = usize::from(node.priority);
        match node.parent.filter(|_| level > 0) {
            Some(parent) => self.nodes[parent as usize].feeds[priority].advance(),
            None => self.rows[priority].advance(),
        }
    }

    /// Takes bytes from the turn of a leaf that is served at a level.
    pub(super) fn spend(&mut self, leaf: u32, level: usize, bytes: Bytes) {
        let node = &mut self.nodes[leaf as usize];
        node.deficits[level] -= bytes.get() as i64;
        if node.deficits[level] < 0 {
            node.deficits[level] += node.quantum;
            self.pass(leaf, level);
        }
    }
}
