//! Any bytes are a record of a bridge whose events are written as they were read, or get a message
//! that says where.
#![no_main]

use goodqueue_live::record::{Event, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = Reader::new(bytes) else { return };
    let before = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).map_or(bytes.len(), |(at, _)| at + 1);
    for (number, event) in reader.enumerate() {
        let Ok(event) = event else { return };
        let read = Event::from_bytes(&event.to_bytes()).expect("it was written by us");
        assert_eq!(read.to_bytes(), event.to_bytes());
        assert!(before + (number + 1) * event.to_bytes().len() <= bytes.len());
    }
});
