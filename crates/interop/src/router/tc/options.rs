//! Options of a discipline in words.

use super::words::{Shape, like, shape};
use super::{Discipline, Setting, TcError};
use goodqueue_base::spec::quantity::excerpt;

/// The option that stands for the memory of cake that `-s` prints.
pub(super) const MEMORY_IN_FORCE: &str = "memory in force";

/// Whether a line is one that `tc` prints below a discipline, whose settings it has.
pub(super) fn goes_on(last: &mut Discipline, line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    if first == "linklayer" || (last.is_whole && matches!(first, "overhead" | "mpu" | "mtu" | "tsize")) {
        last.options.retain(|(key, _)| !key.starts_with("stab "));
        return Reader::over(line).stab(last).is_ok();
    }
    if let (true, Some(memory)) = (last.kind.starts_with("cake"), line.strip_prefix("memory used: ")) {
        let limit = memory.split(" of ").nth(1).unwrap_or_default().trim();
        last.extend([(MEMORY_IN_FORCE.to_owned(), Setting::Text(limit.to_owned()))]);
        return true;
    }
    // iproute2 up to 5.0 prints half of sfb's settings below, and its times in brackets.
    if last.kind == "sfb" && line.starts_with("increment ") {
        let words: Vec<&str> =
            line.split(|c: char| c.is_whitespace() || "()".contains(c)).filter(|word| !word.is_empty()).take(20).collect();
        let keys = [("increment", 1), ("decrement", 3), ("penalty_rate", 6), ("penalty_burst", 8), ("rehash", 9), ("db", 10)];
        let read = keys.iter().filter_map(|(key, at)| Some(((*key).to_owned(), Setting::Text((*words.get(*at)?).to_owned()))));
        last.extend(read);
        return true;
    }
    false
}

/// Whether a command of cake, all of whose words are known, has another.
fn is_misspelled(found: &Discipline, word: &str) -> bool {
    !found.is_whole && like(&found.kind) == "cake" && word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The words of a discipline, from its place on.
pub(super) struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn of(words: &[&'a str]) -> Self {
        Self { words: words.to_vec(), at: 0 }
    }

    pub(super) fn over(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect(), at: 0 }
    }

    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let word = self.peek();
        self.at += 1;
        word
    }

    fn value(&mut self, key: &str) -> Result<&'a str, TcError> {
        self.next().ok_or_else(|| TcError::NoValue { key: key.to_owned() })
    }

    /// Reads one word of the discipline's place, with its value. `false` before any other word.
    pub(super) fn place(&mut self, found: &mut Discipline) -> Result<bool, TcError> {
        let Some(word) = self.peek() else { return Ok(false) };
        self.at += 1;
        match word {
            "dev" => self.value(word)?.clone_into(&mut found.dev),
            "root" => {
                found.parent = None;
                found.is_placed = true;
            }
            "parent" => {
                found.parent = Some(self.value(word)?.to_owned());
                found.is_placed = true;
            }
            "handle" | "classid" => self.value("handle")?.clone_into(&mut found.handle),
            "refcnt" | "leaf" | "ingress_block" | "egress_block" => self.at += 1,
            "estimator" => self.at += 2,
            "offloaded" => {}
            "stab" => self.stab(found)?,
            _ => {
                self.at -= 1;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads `overhead 8 mpu 64 linklayer atm` of a table of sizes, whose words could be those of a
    /// kind.
    pub(super) fn stab(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        while let Some(word) = self.peek() {
            if !matches!(word, "overhead" | "mpu" | "linklayer" | "mtu" | "tsize") {
                return Ok(());
            }
            self.at += 1;
            let value = self.value(word)?;
            found.options.push((format!("stab {word}"), Setting::Text(value.to_owned())));
        }
        Ok(())
    }

    /// Reads options. A word that the kind does not have never takes one that it has for its value,
    /// so that a list, a flag or an option of another version moves nothing.
    pub(super) fn options(&mut self, found: &mut Discipline) -> Result<(), TcError> {
        let mut curve = String::new();
        while let Some(word) = self.peek() {
            if found.is_whole && self.place(found)? {
                continue;
            }
            self.at += 1;
            let known = shape(&found.kind, word);
            let key = format!("{curve}{word}");
            let setting = match known {
                // Below `ingress` tc prints a ruler.
                None if word.starts_with("--") => continue,
                // tc refuses the line; a variable may hold any word.
                None if is_misspelled(found, word) => {
                    let owner = excerpt(&found.name());
                    return Err(TcError::Word { owner, word: excerpt(word) });
                }
                None => self.unknown(&found.kind),
                Some(Shape::Curve) => {
                    curve = format!("{word} ");
                    continue;
                }
                Some(Shape::Flag) => Setting::Flag,
                Some(Shape::Key) => match self.peek().filter(|next| shape(&found.kind, next).is_none()) {
                    Some(value) => {
                        self.at += 1;
                        Setting::Text(value.to_owned())
                    }
                    // Versions of tc leave out values of classes.
                    None if found.is_whole => continue,
                    None => return Err(TcError::NoValue { key }),
                },
            };
            found.options.push((key, setting));
        }
        Ok(())
    }

    /// Reads the numbers behind a word that the kind does not have.
    fn unknown(&mut self, kind: &str) -> Setting {
        let mut values = Vec::new();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || "-+.(".contains(c));
        while let Some(value) = self.peek().filter(|next| is_number(next) && shape(kind, next).is_none()) {
            values.push(value);
            self.at += 1;
        }
        if values.is_empty() { Setting::Flag } else { Setting::Text(values.join(" ")) }
    }
}
