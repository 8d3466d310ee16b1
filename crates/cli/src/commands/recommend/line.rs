//! The line of a question: options, and where they are not given, a file.

use super::Arguments;
use crate::failure::Failure;
use crate::output::say;
use goodqueue_base::units::{Cells, Duration, Framing, Rate};
use goodqueue_interop::import::measured::{Known, MeasuredLine};
use goodqueue_interop::import::{Input, any};
use goodqueue_lab::run::recommend::Asked;
use goodqueue_lab::run::recommend::ask::{BUFFER, Misread};
use std::fmt::Display;
use std::path::Path;

/// The line as text, as [`Asked`] takes it.
pub struct LineText {
    pub down: String,
    pub up: String,
    pub varies: String,
    pub rtt: String,
    pub buffer: String,
    /// The file, and the options that it stands for.
    from: Option<(String, Vec<&'static str>)>,
}

impl LineText {
    /// The options, and the figures of the file behind `--from` for those that are not given. Notes
    /// on standard error tell what was taken from the file.
    pub fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let usual = Asked::default();
        let given = |option: &Option<String>, usual: &str| option.clone().unwrap_or_else(|| usual.to_owned());
        let mut line = Self {
            down: given(&arguments.down, ""),
            up: given(&arguments.up, ""),
            varies: given(&arguments.varies, usual.varies),
            rtt: given(&arguments.rtt, usual.rtt),
            buffer: given(&arguments.buffer, usual.buffer),
            from: None,
        };
        if let Some(path) = &arguments.from {
            line.take(arguments, path)?;
        }
        Ok(line)
    }

    fn take(&mut self, arguments: &Arguments, path: &Path) -> Result<(), Failure> {
        let input = Input::load(path).map_err(Failure::input)?;
        let known = any::read(&input).map_err(Failure::input)?.measured()?;
        let tell = |note: &str| say(&format!("note: {}: {note}", input.name));
        let mut taken = Vec::new();
        let mut put = |option: &'static str, given: &Option<String>, place: &mut String, found: Option<Found>| {
            if let (None, Some(Found { value, why })) = (given, found) {
                tell(&format!("{option} {value} ({why})"));
                *place = value;
                taken.push(option);
            }
        };
        put("down", &arguments.down, &mut self.down, known.down.as_ref().map(Found::of));
        put("up", &arguments.up, &mut self.up, known.up.as_ref().map(Found::of));
        put("varies", &arguments.varies, &mut self.varies, varies(&known));
        put("rtt", &arguments.rtt, &mut self.rtt, known.rtt.as_ref().map(Found::of));
        put("buffer", &arguments.buffer, &mut self.buffer, buffer(&known));
        for note in &known.notes {
            tell(note);
        }
        if let Some(framing) = &known.framing {
            let set = set(&framing.value);
            tell(&format!("framing ({}) is not part of the search: gq export takes it with {set}", framing.origin));
        }
        for (option, way, place) in [("down", "toward you", &self.down), ("up", "from you", &self.up)] {
            if place.is_empty() {
                let name = &input.name;
                let message = format!("--{option}: is missing: {name} does not tell the rate {way}: give it, for instance");
                return Err(Failure::Input(format!("{message} --{option} 10mbit")));
            }
        }
        self.from = Some((input.name, taken));
        Ok(())
    }

    /// The failure of an option, or of the file that stands for it.
    pub fn failure(&self, error: &Misread) -> Failure {
        match &self.from {
            Some((file, taken)) if taken.contains(&error.option) => Failure::Input(format!("{file}: {error}")),
            _ => Failure::Input(format!("--{error}")),
        }
    }
}

/// A figure of a file as an option has it.
struct Found {
    value: String,
    /// Where it is from.
    why: String,
}

impl Found {
    fn of<T: Display>(known: &Known<T>) -> Self {
        Self { value: known.value.to_string(), why: known.origin.to_string() }
    }
}

/// The variation of a rate that is not constant.
fn varies(known: &MeasuredLine) -> Option<Found> {
    let rate: &Known<Rate> = known.down.as_ref().or(known.up.as_ref())?;
    let percent = (known.varies * 100.0).round();
    (percent > 0.0).then(|| Found { value: format!("{percent}%"), why: rate.origin.to_string() })
}

/// Both buffers as a range. Where one is not known, it is between the usual bounds.
fn buffer(known: &MeasuredLine) -> Option<Found> {
    let both = [&known.buffer_down, &known.buffer_up];
    let mut why: Vec<String> = both.into_iter().flatten().map(|known| known.origin.to_string()).collect();
    why.dedup();
    if why.is_empty() {
        return None;
    }
    let usual = || BUFFER.split("..").filter_map(|text| goodqueue_lab::quantity::duration(text).ok());
    let mut lasts: Vec<Duration> = both.into_iter().flatten().map(|known| known.value).collect();
    if lasts.len() < both.len() {
        lasts.extend(usual());
    }
    let (least, most) = (lasts.iter().min()?, lasts.iter().max()?);
    let value = if least == most { least.to_string() } else { format!("{least}..{most}") };
    Some(Found { value, why: why.join("; ") })
}

/// Options that tell `gq export` a framing.
fn set(framing: &Framing) -> String {
    let mut keys = vec![format!("overhead={}B", framing.overhead.get())];
    if !framing.mpu.is_zero() {
        keys.push(format!("mpu={}B", framing.mpu.get()));
    }
    if let Some((word, _)) = Cells::WORDS.iter().find(|(_, cells)| *cells == framing.cells && *cells != Cells::None) {
        keys.push(format!("cells={word}"));
    }
    let keys: Vec<String> = keys.iter().map(|key| format!("--set link.router.{key}")).collect();
    keys.join(" ")
}
