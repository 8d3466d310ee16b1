//! Recordings of delivery opportunities, as mahimahi's.

use crate::import::draft::halves;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use goodqueue_base::units::Duration;
use goodqueue_lab::scenario::toml_text::quoted;
use goodqueue_lab::scenario::trace_file;

/// A line of which the recording is one direction, and another recording the other.
///
/// # Errors
/// When a file is no recording.
pub fn import(input: &Input, up: Option<&Input>) -> Result<Draft, ImportError> {
    let (down, down_lasts) = way(input)?;
    let (up, up_lasts) = up.map(way).transpose()?.unzip();
    let lasts = up_lasts.map_or(down_lasts, |lasts| down_lasts.max(lasts));
    let assumed = Origin::Assumed("half of 40 ms: a recording has opportunities to send and no delays".to_owned());
    let delay = halves(Duration::ms(40), &assumed);
    Ok(Draft {
        notes: vec!["The recording is read from where it lies: its path is relative to this file.".to_owned()],
        duration: Some(Cited::quantity(lasts, Origin::Measured("the whole recording, once".to_owned()))),
        ..Draft::new(format!("recording {}", input.file_name()), "mahimahi", input, delay, (down, up))
    })
}

/// A direction with the length of its recording.
fn way(input: &Input) -> Result<(Way, Duration), ImportError> {
    let recording = trace_file::read(&input.name, input.bytes.as_slice()).map_err(|error| ImportError {
        file: input.name.clone(),
        message: error.to_string().strip_prefix(&format!("{}: ", input.name)).map_or_else(|| error.to_string(), str::to_owned),
    })?;
    if !input.is_stored {
        let why = "a scenario reads the recording from where it lies: give a file that is not packed, in plain UTF-8";
        return Err(input.fault(why));
    }
    let mean = recording.mean_rate();
    let rate = Cited::toml(
        format!("{{ trace = {} }}", quoted(&input.name)),
        Origin::Measured(format!("opportunities of 1500 B, {mean} in the mean over {}", recording.period())),
    );
    let buffer = Cited::quantity("500 packets", Origin::Assumed("a recording does not tell the buffer".to_owned()));
    Ok((Way::unmanaged(rate, mean, buffer, "a recording does not tell the queue"), recording.period()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_named_with_its_mean() {
        let input = Input::read("lte.down", &b"0\n1\n2\n4\n"[..]).unwrap();
        let text = import(&input, None).unwrap().text();
        assert!(text.contains("rate = { trace = \"lte.down\" }"), "{text}");
        assert!(text.contains("# measured: opportunities of 1500 B, 12 Mbit/s in the mean over 4 ms"), "{text}");
        assert!(text.contains("\nduration = \"4 ms\" "), "{text}");
    }

    #[test]
    fn a_recording_that_does_not_lie_there_is_refused() {
        let input = Input::read("x", "\u{feff}0\n4\n".as_bytes()).unwrap();
        let error = import(&input, None).unwrap_err().to_string();
        assert!(error.starts_with("x: a scenario reads the recording from where it lies: give a file"), "{error}");
    }

    #[test]
    fn what_is_no_recording_is_refused_with_its_line() {
        let input = Input::read("x", &b"0\nsoon\n"[..]).unwrap();
        let error = import(&input, None).unwrap_err().to_string();
        assert!(error.starts_with("x: ") && error.contains("soon") && !error.contains('\n'), "{error}");
    }
}
