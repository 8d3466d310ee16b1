//! Any text is a script that gets a verdict, or a message that names line and column.
#![no_main]

use goodqueue_checks::packetdrill::goodqueue::Goodqueue;
use goodqueue_checks::packetdrill::{Settings, parse, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(script) => {
            let _ = run(&script, &mut Goodqueue::new(), &Settings::default());
        }
        Err(error) => assert!(error.place.line > 0 && error.place.column > 0 && !error.message.is_empty()),
    }
});
