//! Any lines are orders to a bridge, each with an answer or a refusal, and change nothing else.
#![no_main]

use goodqueue_cli::try_orders;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for answer in try_orders(text) {
        assert!(answer.is_array() || answer.is_object());
    }
});
