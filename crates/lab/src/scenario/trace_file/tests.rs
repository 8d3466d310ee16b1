use super::*;
use proptest::prelude::*;

fn parse(text: &str) -> Result<Opportunities, FileError> {
    read("link.down", text.as_bytes())
}

fn at(ms: u64, packets: u64) -> (Duration, Bytes) {
    (Duration::ms(ms), Bytes::new(1500 * packets))
}

#[test]
fn lines_with_the_same_time_add_up() {
    let trace = parse("3\n5\n5\n5\n8\n").expect("good");
    assert_eq!(trace.all(), [at(3, 1), at(5, 3), at(8, 1)]);
    assert_eq!(trace.period(), Duration::ms(8));
}

#[test]
fn what_stands_at_zero_belongs_to_the_end() {
    let trace = parse("0\n0\n4\n").expect("good");
    assert_eq!(trace.all(), [at(4, 3)]);
}

#[test]
fn the_last_line_break_is_optional_and_may_be_of_either_kind() {
    let plain = parse("1\n2\n").expect("good");
    assert_eq!(parse("1\n2").as_ref(), Ok(&plain));
    assert_eq!(parse("1\r\n2\r\n").as_ref(), Ok(&plain));
}

#[test]
fn an_error_names_the_line() {
    let error = parse("1\n2\nthree\n").expect_err("wrong");
    assert_eq!(error.to_string(), "link.down:3: `three` is not a whole number of milliseconds");
    assert_eq!(error.place(), Place::Line(3));
    assert_eq!(parse("").expect_err("empty").place(), Place::Whole);
}

#[test]
fn a_day_is_the_longest_recording() {
    assert!(parse(&"86400000\n".repeat(8)).is_ok());
    let slow = parse("86400000\n").expect_err("less than a bit per second").to_string();
    assert!(slow.contains("bits in 86400 s: allowed from 1 bit/s on average"), "{slow}");
    assert!(parse("86400001\n").is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), b'0'..=b'9', any::<u8>()], 0..200)) {
        let _ = read("link.down", bytes.as_slice());
    }

    #[test]
    fn every_line_counts_once(mut times in proptest::collection::vec(0u64..50, 1..100)) {
        times.sort_unstable();
        prop_assume!(times.last() > Some(&0));
        let text: String = times.iter().map(|ms| format!("{ms}\n")).collect();
        let trace = parse(&text).expect("good");
        let total: Bytes = trace.all().iter().map(|o| o.1).sum();
        prop_assert_eq!(total, Bytes::new(1500 * times.len() as u64));
        prop_assert!(trace.all().windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert!(trace.all()[0].0 > Duration::ZERO);
        prop_assert_eq!(trace.all().last().map(|o| o.0), Some(trace.period()));
    }
}
