//! The expression of a queue in a target's configuration: one table per target, and the sentence
//! made from it.
//!
//! A [`Dialect`] lists the kinds of queues that a target has as [`Form`]s, and for each parameter
//! of a kind how the target says it ([`How`]). [`Dialect::say`] walks through all parameters of a
//! queue. What the target cannot say is a [`Refusal`] when the scenario asks for it, and a note
//! when it is only a default of ours.

pub mod in_tc;
pub mod libreqos;
mod linux;
pub mod networkd;
pub mod routeros;
pub mod tc;
mod words;
mod write;

use goodqueue_aqm::spec::{KindAndParams, KindSpec, ParamValues, Value};
use goodqueue_aqm::{Limit, sched};
use goodqueue_base::units::{Bytes, Rate};
pub use write::{Style, Write};

/// A target's words.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of the target in messages.
    pub title: &'static str,
    /// The target's way of writing quantities.
    pub style: &'static Style,
    /// The kinds of queues it has.
    pub forms: &'static [Form],
}

/// A kind of queue as a target has it.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Our kind.
    pub kind: &'static str,
    /// The target's word for it.
    pub word: &'static str,
    /// The target's setting for the limit.
    pub limit: Hold,
    /// The target's setting for marking.
    pub marks: Marks,
    /// The target's settings for each parameter that it can set; of the others it has Linux's
    /// values.
    pub words: &'static [&'static [Word]],
}

/// A target's way to express the limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Packets, under this key.
    Packets(&'static str),
    /// Bytes, under this key.
    Bytes(&'static str),
    /// Bytes, under this key, which the target does not go without.
    Needed(&'static str),
    /// The limit has no counterpart.
    Unsaid,
}

/// A target's way to express whether a queue marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// One word for each.
    Flags {
        /// The word of a queue that marks.
        on: &'static str,
        /// The word of a queue that drops.
        off: &'static str,
    },
    /// The word when it marks, and nothing when it drops.
    Flag(&'static str),
    /// A switch under this key.
    Key(&'static str),
    /// The queue always marks packets that are ECN-capable.
    Always,
    /// The queue never marks.
    Never,
}

/// A target's expression of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Our parameter.
    pub param: &'static str,
    /// The target's way.
    pub how: How,
}

/// A target's way to say a parameter.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// A key and a quantity.
    Key(&'static str, Write),
    /// A key and one of its words for ours; an empty word says nothing.
    Choice(&'static str, &'static [(&'static str, &'static str)]),
    /// A word of its own for each of ours; an empty word says nothing.
    Flags(&'static [(&'static str, &'static str)]),
    /// A word of its own for on and off; an empty word says nothing.
    Switch {
        /// When on.
        on: &'static str,
        /// When off.
        off: &'static str,
    },
    /// The target has this value only; `None`: the setting stays automatic.
    Only(Option<Value>),
    /// The target has no word for the parameter: the value follows from the other settings, and
    /// ours is the one that the target works out.
    Derived(fn(&ParamValues<'_>) -> Option<Value>),
    /// Several keys that follow from several parameters at once.
    Together(Together),
    /// Said with another parameter or with the shaper, or a matter of the simulation: nothing is
    /// said for it.
    Model,
}

/// Keys with their values from parameters and what their numbers refer to.
pub type Together = fn(&ParamValues<'_>, &Wanted<'_>) -> Result<Vec<(&'static str, String)>, Refusal>;

/// A queue and what its numbers refer to.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Kind and parameters.
    pub chosen: &'a KindAndParams,
    /// Whether it marks.
    pub marks: bool,
    /// The queue's own limit, if it was given one.
    pub limit: Option<Limit>,
    /// The queue's limit in the scenario: its own limit, or else the line's buffer.
    pub held: Limit,
    /// Largest packet.
    pub mtu: Bytes,
    /// Rate that times of queue refer to.
    pub rate: Rate,
}

/// A queue in a target's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The kind.
    pub word: &'static str,
    /// Keys with their values; a word of its own has an empty value.
    pub settings: Vec<(&'static str, String)>,
    /// The differences from the scenario, with reasons, in sentences.
    pub notes: Vec<String>,
}

/// A setting that a target cannot express.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}{what}{}", nearest.as_ref().map_or_else(String::new, |nearest| format!("; the nearest is {nearest}")))]
pub struct Refusal {
    /// The place of the setting in the scenario, with a colon; empty when unknown.
    pub place: String,
    /// The setting that has no counterpart.
    pub what: String,
    /// The nearest substitute that the target has.
    pub nearest: Option<String>,
}

impl Refusal {
    /// A refusal of something that has no near substitute.
    #[must_use]
    pub fn plain(what: String) -> Self {
        Self { place: String::new(), what, nearest: None }
    }

    /// Returns the refusal with the nearest substitute.
    #[must_use]
    pub fn instead(self, nearest: impl Into<String>) -> Self {
        Self { nearest: Some(nearest.into()), ..self }
    }

    /// Returns the refusal with the place in the scenario.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { place: format!("{place}: "), ..self }
    }
}

/// Kinds to try in place of one that a target lacks, nearest first.
const NEAREST: &[(&str, &[&str])] = &[
    ("tail-drop", &["fq-codel", "cake"]),
    ("codel", &["fq-codel", "cake"]),
    ("codel-as", &["codel", "fq-codel", "cake"]),
    ("gsp", &["codel", "fq-codel", "cake"]),
    ("gsp-as", &["codel", "fq-codel", "cake"]),
    ("cobalt", &["codel", "cake", "fq-codel"]),
    ("pie", &["fq-pie", "codel", "fq-codel", "cake"]),
    ("pie-as", &["pie", "codel", "fq-codel", "cake"]),
    ("docsis-pie", &["pie", "codel", "fq-codel", "cake"]),
    ("pi", &["pie", "codel", "fq-codel", "cake"]),
    ("rem", &["pie", "red", "codel", "fq-codel", "cake"]),
    ("cp-aqm", &["red", "pie", "codel", "fq-codel", "cake"]),
    ("red", &["ared", "choke", "codel", "fq-codel", "cake"]),
    ("ared", &["red", "codel", "fq-codel", "cake"]),
    ("choke", &["red", "fq-codel", "cake"]),
    ("blue", &["sfb", "red", "codel", "fq-codel", "cake"]),
    ("sfb", &["fq-codel", "cake"]),
    ("avq", &["red", "codel", "fq-codel", "cake"]),
    ("phantom-queue", &["codel", "red", "fq-codel", "cake"]),
    ("fq-codel", &["cake"]),
    ("sfq-codel", &["fq-codel", "cake"]),
    ("nfq-codel", &["fq-codel", "cake"]),
    ("fair", &["fq-codel", "cake"]),
    ("fq-pie", &["fq-codel", "cake"]),
    ("cake", &["fq-codel"]),
    ("cake-mq", &["cake", "fq-codel"]),
    ("dualpi2", &["fq-codel", "cake", "pie"]),
    ("jobs", &["cake", "fq-codel"]),
    ("htb", &["cake", "fq-codel"]),
    ("priority", &["cake", "fq-codel"]),
    ("shaper", &["cake", "fq-codel"]),
];

impl Dialect {
    /// The forms of a kind; several where the limit decides.
    fn forms(&self, kind: &str) -> impl Iterator<Item = &'static Form> {
        self.forms.iter().filter(move |form| form.kind == kind)
    }

    /// Whether it has the kind.
    #[must_use]
    pub fn has(&self, kind: &str) -> bool {
        self.forms(kind).next().is_some()
    }

    /// The queue in this target's words.
    ///
    /// # Errors
    /// The kind or a given parameter that it has no words for, with the nearest that it has.
    pub fn say(&self, wanted: &Wanted<'_>) -> Result<Phrase, Refusal> {
        let kind = wanted.chosen.kind;
        let form = self.form_of(wanted).ok_or_else(|| self.lacks(wanted.chosen))?;
        let mut phrase = Phrase { word: form.word, settings: Vec::new(), notes: Vec::new() };
        self.say_limit(form, wanted, &mut phrase);
        let given = ParamValues::new(&kind.base, &wanted.chosen.params)
            .map_err(|error| Refusal::plain(format!("`{}`: {error}", kind.kind)))?;
        for param in kind.params.iter().filter(|param| param.name != "ecn" && !param.unit.is_another()) {
            let Some(word) = form.rows().find(|word| word.param == param.name) else {
                if given.is_given(param.name) {
                    return Err(self.wordless(kind, param.name));
                }
                continue;
            };
            self.say_word(form, word, &given, wanted, &mut phrase)?;
        }
        self.say_marks(form, wanted, &mut phrase)?;
        Ok(phrase)
    }

    fn form_of(&self, wanted: &Wanted<'_>) -> Option<&'static Form> {
        let in_bytes = wanted.limit.is_some_and(|limit| limit.bytes != Limit::NONE.bytes);
        let fits = |form: &&Form| matches!((form.limit, in_bytes), (Hold::Bytes(_), true) | (Hold::Packets(_), false));
        let kind = wanted.chosen.kind.kind;
        self.forms(kind).find(fits).or_else(|| self.forms(kind).next())
    }

    fn say_limit(&self, form: &Form, wanted: &Wanted<'_>, phrase: &mut Phrase) {
        let limit = match (wanted.limit, form.limit) {
            (Some(limit), _) => limit,
            (None, Hold::Needed(key)) => {
                phrase.notes.push(format!("{} needs {key}: it is what the line's buffer holds.", form.word));
                wanted.held
            }
            (None, _) => return,
        };
        let mtu = wanted.mtu.get().max(1);
        let in_packets = limit.packets != Limit::NONE.packets;
        let in_bytes = limit.bytes != Limit::NONE.bytes;
        match form.limit {
            Hold::Packets(key) if in_packets => phrase.settings.push((key, limit.packets.get().to_string())),
            Hold::Packets(key) if in_bytes => {
                let packets = limit.bytes.get().div_ceil(mtu);
                phrase.settings.push((key, packets.to_string()));
                phrase.notes.push(format!("{key} counts packets: {} are {packets} of {mtu} B.", limit.bytes));
            }
            Hold::Bytes(key) | Hold::Needed(key) if in_bytes => phrase.settings.push((key, write::written(limit.bytes))),
            Hold::Bytes(key) | Hold::Needed(key) if in_packets => {
                let bytes = Bytes::new(limit.packets.get().saturating_mul(mtu));
                phrase.settings.push((key, write::written(bytes)));
                phrase.notes.push(format!("{key} counts bytes: {} of {mtu} B are {bytes}.", limit.packets));
            }
            Hold::Unsaid if in_packets || in_bytes => {
                phrase.notes.push(format!("{} cannot set the limit of {}.", self.title, form.word));
            }
            Hold::Packets(_) | Hold::Bytes(_) | Hold::Needed(_) | Hold::Unsaid => {}
        }
    }

    fn say_word(
        &self,
        form: &Form,
        word: &Word,
        given: &ParamValues<'_>,
        wanted: &Wanted<'_>,
        phrase: &mut Phrase,
    ) -> Result<(), Refusal> {
        let kind = wanted.chosen.kind;
        let value = given.value(word.param);
        let said = |ours: &str, pairs: &'static [(&'static str, &'static str)]| {
            pairs.iter().find(|(known, _)| *known == ours).map(|(_, theirs)| *theirs)
        };
        let unsayable = |value: Value, nearest: String| {
            let what = format!("`{}` of {} cannot be {value} in {}", word.param, kind.kind, self.title);
            Refusal::plain(what).instead(nearest)
        };
        match (word.how, value) {
            (How::Together(together), _) => phrase.settings.extend(together(given, wanted)?),
            (How::Model, _) | (_, None) => {}
            (How::Key(key, write), Some(value)) => {
                let text = write.text(self.style, value, wanted.mtu, wanted.rate);
                let (text, note) = text.map_err(|nearest| unsayable(value, nearest.0))?;
                phrase.settings.push((key, text));
                phrase.notes.extend(note.map(|note| format!("{key}: {note}.")));
            }
            (How::Choice(_, pairs) | How::Flags(pairs), Some(Value::Choice(ours))) => match (said(ours, pairs), word.how) {
                (Some(""), _) => {}
                (Some(theirs), How::Choice(key, _)) => phrase.settings.push((key, theirs.to_owned())),
                (Some(theirs), _) => phrase.settings.push((theirs, String::new())),
                (None, _) => return Err(unsayable(Value::Choice(ours), pairs[0].0.to_owned())),
            },
            (How::Switch { on, off }, Some(Value::Switch(is_on))) => {
                let theirs = if is_on { on } else { off };
                if !theirs.is_empty() {
                    phrase.settings.push((theirs, String::new()));
                }
            }
            (How::Only(only), Some(value)) if only != Some(value) => {
                let there = only.map_or_else(|| "automatic".to_owned(), |only| only.to_string());
                if given.is_given(word.param) {
                    return Err(unsayable(value, there));
                }
                let note =
                    format!("{} cannot set `{}` of {}: here it is {value}, there {there}.", self.title, word.param, form.word);
                phrase.notes.push(note);
            }
            (How::Derived(derive), Some(value)) => match derive(given) {
                Some(derived) if derived != value => return Err(unsayable(value, derived.to_string())),
                Some(_) | None => {}
            },
            (How::Only(_) | How::Choice(..) | How::Flags(_) | How::Switch { .. }, Some(_)) => {}
        }
        Ok(())
    }

    fn say_marks(&self, form: &Form, wanted: &Wanted<'_>, phrase: &mut Phrase) -> Result<(), Refusal> {
        let kind = wanted.chosen.kind.kind;
        match (form.marks, wanted.marks) {
            (Marks::Flags { on, .. } | Marks::Flag(on), true) => phrase.settings.push((on, String::new())),
            (Marks::Flags { off, .. }, false) => phrase.settings.push((off, String::new())),
            (Marks::Key(key), marks) => phrase.settings.push((key, self.style.switch[usize::from(marks)].to_owned())),
            (Marks::Always, false) => {
                let what = format!("{kind} that drops in place of marking has no counterpart in {}", self.title);
                return Err(Refusal::plain(what).instead("ecn = true"));
            }
            (Marks::Never, true) => {
                let what = format!("{kind} that marks has no counterpart in {}", self.title);
                return Err(Refusal::plain(what).instead("ecn = false"));
            }
            (Marks::Flag(_) | Marks::Never, false) | (Marks::Always, true) => {}
        }
        Ok(())
    }

    /// The nearest kind that it has, in our words.
    #[must_use]
    pub fn nearest(&self, kind: &str) -> Option<&'static str> {
        let candidates = NEAREST.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, near)| near);
        candidates.iter().copied().find(|near| self.has(near))
    }

    fn lacks(&self, chosen: &KindAndParams) -> Refusal {
        let what = format!("`{}` has no counterpart in {}", chosen.name(), self.title);
        Refusal { nearest: self.nearest(chosen.kind.kind).map(str::to_owned), ..Refusal::plain(what) }
    }

    fn wordless(&self, kind: &KindSpec, param: &str) -> Refusal {
        let what = format!("`{param}` of {} has no counterpart in {}", kind.kind, self.title);
        Refusal::plain(what).instead(format!("{} without it", kind.kind))
    }
}

impl Form {
    /// The target's settings, then Linux's value of each parameter that it cannot set.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &'static Word> {
        let own = || self.words.iter().copied().flatten();
        let others = linux::rows(self.kind).filter(move |row| own().all(|word| word.param != row.param));
        own().chain(others)
    }
}

/// Our description of a kind.
///
/// # Panics
/// When there is no such kind: a mistake in a table, found by the tables' test.
#[must_use]
pub fn kind(name: &str) -> &'static KindSpec {
    sched::kind(name).expect("the tables name kinds that exist")
}

#[cfg(test)]
mod tests;
