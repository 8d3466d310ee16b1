//! Any text is a baseline that is written as it was read, or gets a message.
#![no_main]

use goodqueue_lab::verdict::gate::Baseline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Baseline::parse(text) {
        Ok(baseline) => {
            let again = Baseline::parse(&baseline.to_toml()).expect("it was written by us");
            assert_eq!(again.to_toml(), baseline.to_toml());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
