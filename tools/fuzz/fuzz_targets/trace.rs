//! Any bytes are a recording that keeps its promises, or get a message that names the line.
#![no_main]

use goodqueue_lab::scenario::trace_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match trace_file::read("fuzz.down", bytes) {
        Ok(trace) => {
            let all = trace.all();
            assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(all.iter().all(|(at, size)| !at.is_zero() && *at <= trace.period() && !size.is_zero()));
            assert!(!trace.period().is_zero());
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.down:")),
    }
});
