//! The words of cake for the bytes of a frame, as `tc` takes them one after the other (tc/q_cake.c)
//! and the kernel keeps what a command does not set (net/sched/sch_cake.c).

use super::Setting;
use super::words::is_one_of_several;
use goodqueue_base::units::{Cells, Framing};

/// More bytes than these are no framing.
const MAX: f64 = 10_000.0;

/// Settings of a frame that words set; the rest stay as they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    pub overhead: Option<i64>,
    pub mpu: Option<i64>,
    pub cells: Option<Cells>,
    /// Whether packets count as Linux counts them, whatever their overhead.
    pub is_raw: bool,
}

impl Words {
    /// Takes the options of one command, or those that the kernel has.
    pub(super) fn of(options: &[(String, Setting)]) -> Self {
        options.iter().fold(Self::default(), |words, (key, setting)| words.and(key, setting))
    }

    fn and(self, key: &str, setting: &Setting) -> Self {
        let cells = Cells::WORDS.into_iter().find(|(word, _)| key == *word || (key == "noatm" && *word == "none"));
        match (key, setting, cells) {
            ("raw", ..) => Self { is_raw: true, overhead: Some(0), cells: Some(Cells::None), ..self },
            ("overhead", ..) => Self { overhead: bytes(setting).or(self.overhead), ..self },
            ("mpu", ..) => Self { mpu: bytes(setting).or(self.mpu), ..self },
            (_, Setting::Flag, Some((_, cells))) => Self { cells: Some(cells), ..self },
            (word, Setting::Flag, None) => self.named(word).unwrap_or(self),
            _ => self,
        }
    }

    /// A link that is named: its header comes on top, but that of `conservative` replaces those
    /// before.
    fn named(self, word: &str) -> Option<Self> {
        let before = Framing { cells: self.cells.unwrap_or_default(), ..Framing::NONE };
        let link = before.and(word).ok()?;
        let sum = self.overhead.filter(|_| word != "conservative").unwrap_or_default();
        let says_cells = self.cells.is_some() || link.cells != before.cells;
        Some(Self {
            overhead: Some(sum + link.overhead.get() as i64),
            mpu: if link.mpu.is_zero() { self.mpu } else { Some(link.mpu.get() as i64) },
            cells: says_cells.then_some(link.cells),
            ..self
        })
    }
}

/// A number of bytes, where it can be of a framing.
pub(super) fn bytes(setting: &Setting) -> Option<i64> {
    setting.number().filter(|bytes| bytes.is_finite() && bytes.abs() <= MAX).map(|bytes| bytes as i64)
}

/// The options of a cake before a command changes it, without those that the command's words take
/// the place of: they do not add up across commands.
pub(super) fn changed(before: Vec<(String, Setting)>, by: &[(String, Setting)]) -> Vec<(String, Setting)> {
    let (was, is) = (Words::of(&before), Words::of(by));
    let mut options: Vec<(String, Setting)> = before.into_iter().filter(|(key, _)| !is_one_of_several("cake", key)).collect();
    let mut keep = |key: &str, setting: Setting| options.push((key.to_owned(), setting));
    if is.overhead.is_none() {
        // What `raw` sets comes behind it.
        if was.is_raw {
            keep("raw", Setting::Flag);
        }
        was.overhead.into_iter().for_each(|bytes| keep("overhead", Setting::Number(bytes as f64)));
    }
    was.mpu.filter(|_| is.mpu.is_none()).into_iter().for_each(|bytes| keep("mpu", Setting::Number(bytes as f64)));
    if let Some(cells) = was.cells.filter(|_| is.cells.is_none()) {
        let word = match cells {
            Cells::None => "noatm",
            Cells::Atm => "atm",
            Cells::Ptm => "ptm",
        };
        keep(word, Setting::Flag);
    }
    options
}
