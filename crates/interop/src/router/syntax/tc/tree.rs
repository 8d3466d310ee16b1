//! HTB with its classes.

use super::{Interface, STYLE, TC, Written, gone, header, headless, stab, words};
use crate::router::dialect::Refusal;
use crate::router::setup::Side;
use goodqueue_aqm::spec::{ClassAndParams, ParamValues};
use goodqueue_base::units::{Bytes, Rate};
use std::fmt::Write as _;

/// Most classes of a discipline: their numbers have 16 bits, and that of all ones is no class.
const MAX_CLASSES: usize = 0xfffe;

/// The lines that make the classes and the queues of their leaves.
///
/// # Errors
/// When `tc` has no words for a setting, a queue or the framing.
pub(super) fn written(dev: &Interface, side: &Side) -> Result<Written, Refusal> {
    let classes = &side.chosen.classes;
    if classes.len() > MAX_CLASSES {
        let what = format!("{} classes have no counterpart in tc: allowed {MAX_CLASSES}", classes.len());
        return Err(Refusal::plain(what).at(&side.place));
    }
    let Handles { major, minors } = Handles::of(classes);
    let leaves = side.chosen.leaves();
    let mut lines = format!("{}{}", headless(dev, side), gone(dev));
    let mut notes = vec![format!(
        "Packets find their class by filters (tc filter add dev {dev} parent {major}: ... flowid {major}:{:x}) or by the \
         priority of their socket.",
        minors.last().copied().unwrap_or_default()
    )];
    let whole = whole(dev, side)?;
    let mut default = String::new();
    let mut of_classes = String::new();
    for number in from_the_root(classes) {
        let class = &classes[number];
        let given = side.of_class(class)?;
        let handle = format!("{major}:{:x}", minors[number]);
        let parent = class.parent.map_or_else(String::new, |parent| format!("{:x}", minors[parent as usize]));
        let (ceil, settings) = settings(side, class, &given)?;
        let _ = writeln!(
            of_classes,
            "tc class add dev {dev} parent {major}:{parent} classid {handle} htb {settings} # {}",
            class.name
        );
        if given.switch("default") == Some(true) {
            default = format!(" default {:x}", minors[number]);
        }
        if leaves.contains(class.name.as_str()) {
            let phrase = side.leaf(class, ceil)?.said_in(&TC)?;
            let _ = writeln!(of_classes, "tc qdisc add dev {dev} parent {handle} {}", words(&phrase));
            phrase.notes.into_iter().for_each(|note| {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            });
        }
    }
    let _ = writeln!(lines, "tc qdisc add dev {dev} root handle {major}: {}htb{default}{whole}", stab(dev, side)?);
    lines.push_str(&of_classes);
    Ok(Written { lines, notes })
}

/// The settings of the HTB itself.
fn whole(dev: &Interface, side: &Side) -> Result<String, Refusal> {
    let chosen = &side.chosen;
    let given =
        ParamValues::new(&chosen.kind.base, &chosen.params).map_err(|error| Refusal::plain(error.to_string()).at(&side.place))?;
    let mut text = String::new();
    for (param, key) in [("r2q", "r2q"), ("direct", "direct_qlen")] {
        if let Some(value) = given.value(param).filter(|_| given.is_given(param)) {
            let _ = write!(text, " {key} {value}");
        }
    }
    let counted = header(dev.as_str());
    let told = given.size("header").filter(|_| given.is_given("header")).and_then(|size| size.bytes(side.mtu, None));
    match told.filter(|told| told.get() != counted) {
        Some(told) => {
            let what = format!("`header` of {} cannot be {told} at {dev}", chosen.kind.kind);
            Err(Refusal::plain(what).instead(Bytes::new(counted).to_string()).at(&side.place))
        }
        None => Ok(text),
    }
}

/// The ceiling of a class, and its settings.
fn settings(side: &Side, class: &ClassAndParams, given: &ParamValues<'_>) -> Result<(Rate, String), Refusal> {
    let refuse = |what: &str| Refusal::plain(what.to_owned()).at(&side.place_of(class));
    let rate = given.rate("rate").ok_or_else(|| refuse("rate: is missing"))?;
    let ceil = given.rate("ceil").unwrap_or(rate);
    let mut text = format!("rate {} ceil {}", STYLE.rate(rate), STYLE.rate(ceil));
    for (param, at) in [("burst", rate), ("cburst", ceil), ("quantum", rate)] {
        if let Some(bytes) = given.size(param).and_then(|size| size.bytes(side.mtu, Some(at))) {
            let _ = write!(text, " {param} {}", bytes.get());
        }
    }
    if let Some(value) = given.value("prio").filter(|_| given.is_given("prio")) {
        let _ = write!(text, " prio {value}");
    }
    Ok((ceil, text))
}

/// Numbers of classes, each above the one before.
struct Handles {
    major: String,
    minors: Vec<u32>,
}

impl Handles {
    /// Those that names tell, as an import makes them (`1-10`); otherwise from 1 on.
    fn of(classes: &[ClassAndParams]) -> Self {
        let told = |class: &ClassAndParams| {
            let (major, minor) = class.name.split_once('-')?;
            let number = |text: &str| u32::from_str_radix(text, 16).ok().filter(|number| (1..0xffff).contains(number));
            let (major, minor) = (number(major)?, number(minor)?);
            (format!("{major:x}-{minor:x}") == class.name).then_some((major, minor))
        };
        let all: Option<Vec<(u32, u32)>> = classes.iter().map(told).collect();
        match all.filter(|all| all.windows(2).all(|pair| pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1)) {
            Some(all) => Self {
                major: all.first().map_or_else(String::new, |(major, _)| format!("{major:x}")),
                minors: all.into_iter().map(|(_, minor)| minor).collect(),
            },
            None => Self { major: "1".to_owned(), minors: (1..).take(classes.len()).collect() },
        }
    }
}

/// Numbers of classes, each behind the one above it.
fn from_the_root(classes: &[ClassAndParams]) -> Vec<usize> {
    let above = |number: &usize| classes[*number].parent.map(|parent| parent as usize);
    let depth = |number: &usize| std::iter::successors(Some(*number), above).count();
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order.sort_by_cached_key(depth);
    order
}
