//! Recordings of delivery opportunities, as mahimahi's.

use crate::import::draft::halves;
use crate::import::{Cited, Draft, ImportError, Input, Origin, Way};
use goodqueue_base::units::{Duration, Rate};
use goodqueue_lab::scenario::toml_text::quoted;
use goodqueue_lab::scenario::trace_file;

/// A line of which the recording is one direction, and another recording the other.
///
/// # Errors
/// When a file is no recording.
pub fn import(input: &Input, up: Option<&Input>) -> Result<Draft, ImportError> {
    let (down, down_rate, down_lasts) = way(input)?;
    let up = up.map(way).transpose()?;
    let fastest = up.as_ref().map_or(down_rate, |(_, rate, _)| down_rate.max(*rate));
    let lasts = up.as_ref().map_or(down_lasts, |(.., lasts)| down_lasts.max(*lasts));
    let assumed = Origin::Assumed("half of 40 ms: a recording has opportunities to send and no delays".to_owned());
    Ok(Draft {
        name: format!("recording {}", stem(&input.name)),
        made_by: format!("gq import mahimahi from {}", input.name),
        notes: vec!["The recording is read from where it lies: its path is relative to this file.".to_owned()],
        delay: halves(Duration::ms(40), &assumed),
        framing: None,
        down,
        up: up.map(|(way, ..)| way),
        fastest,
        traffic: None,
        duration: Some(Cited::quantity(lasts, Origin::Measured("the whole recording, once".to_owned()))),
    })
}

fn stem(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A direction with its mean rate and the length of its recording.
fn way(input: &Input) -> Result<(Way, Rate, Duration), ImportError> {
    let recording = trace_file::read(&input.name, input.bytes.as_slice()).map_err(|error| ImportError {
        file: input.name.clone(),
        message: error.to_string().strip_prefix(&format!("{}: ", input.name)).map_or_else(|| error.to_string(), str::to_owned),
    })?;
    let mean = recording.mean_rate();
    let rate = Cited::toml(
        format!("{{ trace = {} }}", quoted(&input.name)),
        Origin::Measured(format!("opportunities of 1500 B, {mean} in the mean over {}", recording.period())),
    );
    let buffer = Cited::quantity("500 packets", Origin::Assumed("a recording does not tell the buffer".to_owned()));
    let queue = Cited::toml("\"tail-drop\"", Origin::Assumed("a recording does not tell the queue".to_owned()));
    Ok((Way { rate, buffer, queue, burst: None }, mean, recording.period()))
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
    fn what_is_no_recording_is_refused_with_its_line() {
        let input = Input::read("x", &b"0\nsoon\n"[..]).unwrap();
        let error = import(&input, None).unwrap_err().to_string();
        assert!(error.starts_with("x: ") && error.contains("soon") && !error.contains('\n'), "{error}");
    }
}
