//! Any bytes are a measurement that makes a scenario which can be run, or get a message that names
//! the file. The first byte says which reader gets the others.
#![no_main]

use goodqueue_interop::import::{Input, any, controller, flent, pcap, recording, speedtest, tc};
use goodqueue_lab::scenario::plan::Plan;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((reader, bytes)) = bytes.split_first() else { return };
    let Ok(input) = Input::read("fuzz.file", bytes) else { return };
    let draft = match reader % 8 {
        0 => any::read(&input),
        1 => controller::autorate(&input),
        2 => controller::stormguard(&input, None),
        3 => flent::import(&input),
        4 => pcap::import(&input, bytes, None).map(|captured| captured.draft),
        5 => recording::import(&input, None),
        6 => speedtest::import(&input),
        _ => tc::import(&input, None),
    };
    match draft {
        Ok(draft) => {
            let text = draft.text();
            if let Err(error) = Plan::parse_without_files("made.toml", &text) {
                // It may name the recording that it was made from.
                assert!(text.contains("trace = "), "{}\n{text}", error.text());
            }
        }
        Err(error) => assert!(error.file.starts_with("fuzz.file") && !error.message.is_empty(), "{error}"),
    }
});
