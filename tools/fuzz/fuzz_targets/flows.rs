//! Any bytes are a list of flows that keeps its promises, or get a message that names the line.
#![no_main]

use goodqueue_lab::scenario::flow_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match flow_file::read("fuzz.csv", bytes) {
        Ok(list) => {
            assert!(!list.parts.is_empty());
            for part in &list.parts {
                assert!(!part.transfers.is_empty());
                assert!(part.transfers.windows(2).all(|pair| pair[0].at <= pair[1].at));
                assert!(part.transfers.iter().all(|transfer| !transfer.size.is_zero()));
                assert!(part.path.iter().all(|path| path.nodes.len() >= 2 && path.place.starts_with("fuzz.csv:")));
            }
        }
        Err(error) => assert!(error.to_string().starts_with("fuzz.csv:")),
    }
});
