//! The words of `tc` for what a target says, by the tables of both.

use super::tc::TC;
use super::{Dialect, Form, Hold, How, Marks, Word, Write};

/// A value that its key cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue {
    /// The place of the key among the settings.
    pub at: usize,
    /// The values that it can have, in words.
    pub allowed: String,
}

/// The values that a key can have, in words, where it has another.
struct Allowed(String);

/// A queue in the words of `tc`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InTc {
    /// The kind and its options.
    pub words: Vec<String>,
    /// Places of settings that have no words.
    pub unknown: Vec<usize>,
}

impl Dialect {
    /// The words of `tc` for a queue in this target's; `None` for a kind that it has no form for.
    ///
    /// # Errors
    /// The first value that its key cannot have.
    pub fn in_tc(&self, kind: &str, settings: &[(&str, &str)]) -> Option<Result<InTc, NoValue>> {
        let theirs = self.forms.iter().find(|form| form.word == kind)?;
        let in_bytes = |form: &Form| matches!(form.limit, Hold::Bytes(_) | Hold::Needed(_));
        let same = |form: &&Form| form.kind == theirs.kind && (form.kind != "tail-drop" || in_bytes(form) == in_bytes(theirs));
        let ours = TC.forms.iter().find(same)?;
        let mut said = InTc { words: vec![ours.word.to_owned()], unknown: Vec::new() };
        for (at, (key, value)) in settings.iter().enumerate() {
            match self.setting(theirs, ours, key, value) {
                Ok(Some(words)) => said.words.extend(words),
                Ok(None) => said.unknown.push(at),
                Err(Allowed(allowed)) => return Some(Err(NoValue { at, allowed })),
            }
        }
        Some(Ok(said))
    }

    /// One setting; `None` where there are no words for it.
    fn setting(&self, theirs: &Form, ours: &Form, key: &str, value: &str) -> Result<Option<Vec<String>>, Allowed> {
        let held = |form: &Form| match form.limit {
            Hold::Packets(key) => Some((key, Write::Number)),
            Hold::Bytes(key) | Hold::Needed(key) => Some((key, Write::Bytes)),
            Hold::Unsaid => None,
        };
        if let (Some((their_key, write)), Some((our_key, _))) = (held(theirs), held(ours))
            && their_key == key
        {
            return Ok(Some(vec![our_key.to_owned(), write.in_tc(value)?]));
        }
        if matches!(theirs.marks, Marks::Key(known) if known == key) {
            let is_on = self.switch(value)?;
            return Ok(match ours.marks {
                Marks::Flags { on, off } => Some(vec![if is_on { on } else { off }.to_owned()]),
                _ => None,
            });
        }
        let Some(row) = theirs.rows().find(|row| matches!(row.how, How::Key(known, _) | How::Choice(known, _) if known == key))
        else {
            return Ok(None);
        };
        let Some(Word { how, .. }) = ours.rows().find(|word| word.param == row.param) else { return Ok(None) };
        Ok(match (row.how, how) {
            (How::Key(_, Write::Switch), How::Switch { on, off }) => {
                let word = if self.switch(value)? { on } else { off };
                Some(vec![(*word).to_owned()].into_iter().filter(|word| !word.is_empty()).collect())
            }
            (How::Key(_, write), How::Key(our_key, _)) => Some(vec![(*our_key).to_owned(), write.in_tc(value)?]),
            (How::Choice(_, their_words), How::Flags(our_words)) => {
                let name = their_words.iter().find(|(_, theirs)| *theirs == value).map(|(name, _)| *name);
                let known = || Allowed(their_words.iter().map(|(_, theirs)| *theirs).collect::<Vec<_>>().join(", "));
                let name = name.ok_or_else(known)?;
                our_words.iter().find(|(known, _)| *known == name).map(|(_, word)| vec![(*word).to_owned()])
            }
            _ => None,
        })
    }

    /// A switch, in the target's words or those that most know.
    fn switch(&self, value: &str) -> Result<bool, Allowed> {
        let [off, on] = self.style.switch;
        match value {
            "yes" | "true" | "on" | "1" => Ok(true),
            "no" | "false" | "off" | "0" => Ok(false),
            _ => Err(Allowed(format!("{on} or {off}"))),
        }
    }
}

impl Write {
    /// A value of a target as `tc` reads it.
    fn in_tc(self, value: &str) -> Result<String, Allowed> {
        let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
        let (number, unit) = value.split_at(end);
        let is_number = number.parse::<f64>().is_ok_and(f64::is_finite);
        let unit = unit.trim();
        match self {
            // A bare number counts seconds, and microseconds with tc.
            Self::Time if is_number && unit.is_empty() => Ok(format!("{number}s")),
            Self::Time if is_number && matches!(unit, "s" | "ms" | "us") => Ok(format!("{number}{unit}")),
            Self::Time => Err(Allowed("a time such as 5ms".to_owned())),
            Self::Bytes => {
                let unit = unit.trim_end_matches("iB").trim_end_matches('B');
                let is_known = is_number && matches!(unit, "" | "k" | "K" | "M" | "G");
                if is_known {
                    Ok(format!("{number}{}", unit.to_lowercase()))
                } else {
                    Err(Allowed("bytes such as 4M".to_owned()))
                }
            }
            _ if is_number && unit.is_empty() => Ok(number.to_owned()),
            _ => Err(Allowed("a number".to_owned())),
        }
    }
}
