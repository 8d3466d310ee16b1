//! An HTB with several leaves, as a queue of our kind `htb`.

use super::path::{Path, children, classes, default_leaf, leaf_of_all, leaves, major, minor, missing_default};
use super::recognize::{Untold, recognize};
use super::shaper::{Shaper, rate_of};
use super::{Bucket, Discipline, Emulated, Setting, ShapedRate, TcError};
use crate::router::dialect::kind;
use goodqueue_aqm::sched::htb::{MAX_DEPTH, PRIORITIES, TURN_BY_RATE, turn_by_rate};
use goodqueue_aqm::spec::{ClassAndParams, KindAndParams, Size, Value};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::{Bytes, Cells, Framing, Rate};
use std::collections::{BTreeMap, BTreeSet};

/// The classes of an interface, and what is above them.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The HTB's own name, with its handle and interface.
    pub source: String,
    /// The queue in our words. The class `1:10` is called `1-10`.
    pub chosen: KindAndParams,
    /// Whether leaves mark.
    pub marks: bool,
    /// The packets that wait in a leaf without a discipline, where the file tells them.
    pub length: Option<u32>,
    /// The rate of what shapes above.
    pub rate: ShapedRate,
    /// The bytes that a shaper above may send at once.
    pub burst: Option<Bucket>,
    /// The line that netem emulates above.
    pub emulated: Emulated,
    /// The sum of the ceilings at the root.
    pub ceilings: Rate,
    /// The leaf of packets that no filter chooses; `None`: they pass the classes by.
    pub default: Option<String>,
    /// Settings that have no place in a scenario, in sentences.
    pub notes: Vec<String>,
}

/// Keys of a class for a bucket, in `tc`'s three spellings.
const BUCKETS: [(&str, [&str; 3]); 2] =
    [("burst", ["burst", "buffer", "maxburst"]), ("cburst", ["cburst", "cbuffer", "cmaxburst"])];

/// Bytes of a bucket that is not told, and of ours by default.
const BUCKET: f64 = 1_600.0;

/// `r2q` that is not told, and ours by default.
const R2Q: u32 = 10;

/// Notes on leaves; each is made once, however many it is true of.
const MAX_NOTES: usize = 20;

/// The name of a class in a scenario: `1-10` of `1:10`.
fn name(handle: &str) -> String {
    format!("{}-{:x}", major(handle), minor(handle))
}

impl Tree {
    /// The classes of an interface; `None` where it has no HTB with several leaves.
    ///
    /// # Errors
    /// When a value is none of its key, or classes are too deep.
    pub(super) fn of(all: &[Discipline], dev: &str) -> Result<Option<Self>, TcError> {
        let Some(path) = Path::to_classes(all, dev)? else { return Ok(None) };
        let htb = path.last();
        let mut found = classes(all, htb)?;
        found.retain(|class| minor(&class.handle) > 0);
        found.sort_by_key(|class| minor(&class.handle));
        found.dedup_by_key(|class| minor(&class.handle));
        let shaper = Shaper::on(&path)?;
        let mut tree = Self {
            source: htb.placed(&htb.name()),
            chosen: KindAndParams::new(kind("htb"), Vec::new()),
            marks: false,
            length: None,
            rate: shaper.rate.clone(),
            burst: shaper.burst,
            emulated: Emulated::default(),
            ceilings: Rate::ZERO,
            default: None,
            notes: path.notes.clone(),
        };
        for netem in path.disciplines.iter().filter(|found| found.kind == "netem") {
            tree.notes.extend(tree.emulated.add(netem, false)?);
        }
        let r2q = tree.take_whole(htb, path.header)?;
        let children = children(all, htb);
        let leaves = leaves(&found);
        tree.take_default(all, htb, &leaves, &children);
        tree.take_framing(shaper, &found, &leaves);
        tree.take_classes(dev, &found, &leaves, &children, r2q)?;
        tree.notes.push(
            "Filters say which packets belong to which class: a scenario's traffic names it, `leaf = \"1-10\"` for class 1:10."
                .to_owned(),
        );
        Ok(Some(tree))
    }

    /// Takes the settings of the HTB itself; returns its `r2q`.
    fn take_whole(&mut self, htb: &Discipline, header: u64) -> Result<u32, TcError> {
        let whole = |key: &str, most: f64| match htb.option(key) {
            None => Ok(None),
            Some(setting) => match setting.number().filter(|number| (0.0..=most).contains(number)) {
                Some(number) => Ok(Some(number as u32)),
                None => Err(htb.wrong(key, &setting.text())),
            },
        };
        let r2q = whole("r2q", 1e9)?.filter(|r2q| *r2q > 0).unwrap_or(R2Q);
        if r2q != R2Q {
            self.chosen.params.push(("r2q", Value::Number(f64::from(r2q))));
        }
        self.length = whole("direct_qlen", 1e6)?;
        if let Some(length) = self.length {
            self.chosen.params.push(("direct", Value::Number(f64::from(length))));
        }
        if header == 0 {
            self.chosen.params.push(("header", Value::Size(Size::Bytes(0.0))));
        }
        Ok(r2q)
    }

    fn take_default(&mut self, all: &[Discipline], htb: &Discipline, leaves: &[&Discipline], children: &[&Discipline]) {
        let (of_default, note) = default_leaf(htb, leaves, children);
        self.notes.extend(note);
        self.default = leaf_of_all(all, htb, leaves).or(of_default).map(|class| name(&class.handle));
        if self.default.is_none() {
            self.notes.push(format!(
                "{} has no {}: packets that no filter puts into a class leave before all others, unshaped.",
                htb.name(),
                missing_default(htb)
            ));
        }
    }

    /// Takes the framing of one leaf, that of the default where there is one: a queue has one.
    fn take_framing(&mut self, mut shaper: Shaper, found: &[&Discipline], leaves: &[&Discipline]) {
        let is_default = |class: &&&Discipline| Some(name(&class.handle)) == self.default;
        let Some(chosen) = leaves.iter().find(is_default).or(leaves.first()) else { return };
        shaper.take_framing(chosen);
        if let Some(Framing { overhead, mpu, cells }) = shaper.framing {
            let size = |bytes: Bytes| Value::Size(Size::Bytes(bytes.get() as f64));
            self.chosen.params.push(("overhead", size(overhead)));
            self.chosen.params.extend((!mpu.is_zero()).then(|| ("mpu", size(mpu))));
            let word = Cells::WORDS.iter().find(|(_, known)| *known == cells && cells != Cells::None);
            self.chosen.params.extend(word.map(|(word, _)| ("cells", Value::Choice(word))));
        }
        self.notes.append(&mut shaper.notes);
        let words = |class: &Discipline| ["overhead", "mpu", "linklayer"].map(|key| class.option(key).map(Setting::text));
        if let Some(other) = found.iter().find(|class| words(class) != words(chosen)) {
            self.notes.push(format!(
                "Class {} counts other framing than {}: the scenario has that of {} for all.",
                other.handle, chosen.handle, chosen.handle
            ));
        }
    }

    fn take_classes(
        &mut self,
        dev: &str,
        found: &[&Discipline],
        leaves: &[&Discipline],
        children: &[&Discipline],
        r2q: u32,
    ) -> Result<(), TcError> {
        let numbers: BTreeMap<u32, u32> = (0..).zip(found).map(|(number, class)| (minor(&class.handle), number)).collect();
        let leaves: BTreeSet<u32> = leaves.iter().map(|class| minor(&class.handle)).collect();
        let queues: BTreeMap<u32, &Discipline> =
            children.iter().filter_map(|child| Some((minor(child.parent.as_deref()?), *child))).collect();
        let mut remarks = Remarks::default();
        let mut marks = BTreeMap::new();
        for class in found {
            let minor = minor(&class.handle);
            let parent = class.parent.as_deref().map(self::minor).filter(|parent| *parent > 0);
            let above = parent.and_then(|parent| numbers.get(&parent).copied());
            if parent.is_some() && above.is_none() {
                remarks.add("its parent is not in the file: it is taken for one at the root".to_owned(), class);
            }
            let is_leaf = leaves.contains(&minor);
            let (rate, ceil) = rates(class, &mut remarks)?;
            if above.is_none() {
                self.ceilings = Rate::bit_s(self.ceilings.as_bit_s().saturating_add(ceil.as_bit_s()));
            }
            let mut params = vec![("rate", Value::Rate(rate))];
            if ceil != rate {
                params.push(("ceil", Value::Rate(ceil)));
            }
            buckets(class, &mut params)?;
            let mut of = None;
            if is_leaf {
                turns(class, rate, r2q, &mut params)?;
                if let Some(queue) = queues.get(&minor) {
                    let Leaf { chosen, marks: is_marking, limit, notes } = leaf(dev, queue)?;
                    notes.into_iter().for_each(|note| remarks.add(note, class));
                    params.extend(limit.map(|limit| ("limit", Value::Size(limit))));
                    if chosen.kind.marks.is_possible() {
                        marks.entry(is_marking).or_insert(class.handle.as_str());
                    }
                    of = Some(chosen);
                }
                if Some(name(&class.handle)) == self.default {
                    params.push(("default", Value::Switch(true)));
                }
            }
            self.chosen.classes.push(ClassAndParams { name: name(&class.handle), parent: above, params, of });
        }
        self.marks = marks.contains_key(&true);
        if let (Some(on), Some(off)) = (marks.get(&true), marks.get(&false)) {
            self.notes.push(format!("The queue of class {on} marks and that of {off} does not: in the scenario all mark."));
        }
        if let Some(deep) = self.too_deep() {
            let (class, dev) = (format!("class {}", self.chosen.classes[deep].name.replace('-', ":")), excerpt(dev));
            return Err(TcError::Deep { class, dev, most: MAX_DEPTH });
        }
        let is_silent = |class: &&&Discipline| class.is_whole && class.option("quantum").is_none();
        if found.iter().filter(|class| leaves.contains(&minor(&class.handle))).find(is_silent).is_some() {
            self.notes.push(
                "The turns (quantum) of classes are not in the file: tc -d class show prints them; here they follow from r2q."
                    .to_owned(),
            );
        }
        self.notes.extend(remarks.said());
        Ok(())
    }

    /// A class that is below more than the kernel allows, or below itself.
    fn too_deep(&self) -> Option<usize> {
        let above = |number: usize| self.chosen.classes[number].parent.map(|parent| parent as usize);
        let depth = |number: usize| std::iter::successors(Some(number), |number| above(*number)).take(MAX_DEPTH + 1).count();
        (0..self.chosen.classes.len()).find(|number| depth(*number) > MAX_DEPTH)
    }
}

/// The rate and the ceiling of a class.
fn rates(class: &Discipline, remarks: &mut Remarks) -> Result<(Rate, Rate), TcError> {
    const LEAST: Rate = Rate::bit_s(8);
    let Some(rate) = rate_of(class, "rate")? else {
        return Err(class.in_line(TcError::NoRate { class: excerpt(&class.name()) }));
    };
    let rate = rate.max(LEAST);
    let ceil = rate_of(class, "ceil")?.map_or(rate, |ceil| ceil.max(LEAST));
    if ceil < rate {
        remarks.add(format!("its ceil of {ceil} is below its rate of {rate}, and holds"), class);
    }
    Ok((rate.min(ceil), ceil))
}

/// The buckets of a class, where they are not ours by default.
fn buckets(class: &Discipline, params: &mut Vec<(&'static str, Value)>) -> Result<(), TcError> {
    for (param, keys) in BUCKETS {
        let Some((key, setting)) = keys.iter().find_map(|key| Some((*key, class.option(key)?))) else { continue };
        match setting.bytes().map(f64::ceil).filter(|bytes| (0.0..=1e9).contains(bytes)) {
            Some(BUCKET) => {}
            Some(bytes) => params.push((param, Value::Size(Size::Bytes(bytes)))),
            None => return Err(class.wrong(key, &setting.text())),
        }
    }
    Ok(())
}

/// The priority and the turn of a leaf, where they are not ours by default.
fn turns(class: &Discipline, rate: Rate, r2q: u32, params: &mut Vec<(&'static str, Value)>) -> Result<(), TcError> {
    if let Some(setting) = class.option("prio") {
        let number = setting.number().filter(|number| *number >= 0.0).ok_or_else(|| class.wrong("prio", &setting.text()))?;
        // The kernel has so many, and takes the last for all behind it.
        let number = number.trunc().min(PRIORITIES as f64 - 1.0);
        if number > 0.0 {
            params.push(("prio", Value::Number(number)));
        }
    }
    if let Some(setting) = class.option("quantum") {
        let bytes = setting.bytes().filter(|bytes| (0.0..=1e9).contains(bytes));
        let bytes = bytes.ok_or_else(|| class.wrong("quantum", &setting.text()))?.trunc();
        let [least, most] = TURN_BY_RATE.map(Bytes::new);
        let by_rate = turn_by_rate(rate, r2q).clamp(least, most).get() as f64;
        if bytes > 0.0 && bytes != by_rate {
            params.push(("quantum", Value::Size(Size::Bytes(bytes))));
        }
    }
    Ok(())
}

/// Remarks on classes, each with the first class it is true of and a count.
#[derive(Default)]
struct Remarks(BTreeMap<String, (String, usize)>);

impl Remarks {
    fn add(&mut self, remark: String, class: &Discipline) {
        let (_, count) = self.0.entry(remark).or_insert_with(|| (class.handle.clone(), 0));
        *count += 1;
    }

    fn said(self) -> impl Iterator<Item = String> {
        self.0.into_iter().take(MAX_NOTES).map(|(remark, (first, count))| {
            let others = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            format!("Class {first}{others}: {}.", remark.trim_end_matches('.'))
        })
    }
}

/// The queue of a leaf.
struct Leaf {
    chosen: KindAndParams,
    /// Whether it marks.
    marks: bool,
    /// The limit that it was given or that the kernel takes.
    limit: Option<Size>,
    /// Settings that have no place in a scenario.
    notes: Vec<String>,
}

/// The queue of a leaf; tail drop, with a note, where gq has none of its kind.
fn leaf(dev: &str, queue: &Discipline) -> Result<Leaf, TcError> {
    // Both hold packets back by themselves.
    let is_shaper = matches!(queue.kind.as_str(), "tbf" | "netem");
    let found = match recognize(dev, queue) {
        Err(TcError::Unknown { .. }) => None,
        found => Some(found?).filter(|_| !is_shaper),
    };
    let Some(mut found) = found else {
        let notes = vec![format!("{} is not a queue of a leaf here: it is a plain FIFO in the scenario", excerpt(&queue.kind))];
        return Ok(Leaf { chosen: KindAndParams::new(kind("tail-drop"), Vec::new()), marks: false, limit: None, notes });
    };
    found.notes.extend(queue.option("bandwidth").map(|setting| queue.left_out("bandwidth", setting)));
    let limit = match (found.limit, found.untold_limit) {
        (Some(limit), _) | (None, Untold::Reported(limit) | Untold::Usual(limit) | Untold::Unknown(limit)) => limit,
    };
    let chosen = KindAndParams::new(found.kind, found.params);
    Ok(Leaf { chosen, marks: found.marks, limit: Some(limit), notes: found.notes })
}
