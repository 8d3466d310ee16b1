//! Any bytes are a connection whose figures are numbers, or get a message that names the file.
#![no_main]

use goodqueue_interop::import::Input;
use goodqueue_interop::import::qlog::{self, Connection};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::read("fuzz.sqlog", bytes) else { return };
    match Connection::read(&input) {
        Ok(connection) => {
            assert!((0.0..=1.0).contains(&connection.loss()));
            assert!(connection.rate_bit_s().is_none_or(|rate| rate.is_finite() && rate >= 0.0));
            let _ = qlog::import(&input);
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.sqlog"), "{error}"),
    }
});
