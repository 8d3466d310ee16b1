//! The functions as C calls them: wrong arguments get messages, every packet comes back.

use goodqueue_c::{
    GQ_NONE, GQ_REASONS, GqDeparture, GqLink, GqPacket, GqParam, GqReason, GqSink, gq_counters, gq_dequeue, gq_enqueue,
    gq_queue_free, gq_queue_new,
};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

fn link() -> GqLink {
    let (rate, delay) = (10_000_000, 0);
    GqLink { rate, delay, mtu: 1500, overhead: 0, limit_packets: 10, limit_bytes: GQ_NONE, ecn: 0, seed: 1 }
}

/// The message about a queue that cannot be made.
fn message(kind: &str, param: Option<(&str, f64, Option<&str>)>) -> String {
    message_on(&link(), kind.as_bytes(), param)
}

fn message_on(link: &GqLink, kind: &[u8], param: Option<(&str, f64, Option<&str>)>) -> String {
    let kind = CString::new(kind).expect("no zero");
    let words = param.map(|(name, number, word)| {
        (CString::new(name).expect("no zero"), number, word.map(|word| CString::new(word).expect("no zero")))
    });
    let param = words.as_ref().map(|(name, number, word)| GqParam {
        name: name.as_ptr(),
        number: *number,
        word: word.as_ref().map_or(null(), |word| word.as_ptr()),
    });
    let mut text = [0 as c_char; 120];
    let params = param.as_ref().map_or(null(), std::ptr::from_ref);
    // SAFETY: all pointers are to values that live until after the call.
    let queue = unsafe { gq_queue_new(kind.as_ptr(), params, usize::from(param.is_some()), link, text.as_mut_ptr(), text.len()) };
    assert!(queue.is_null(), "it was made");
    // SAFETY: the function wrote a zero.
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().expect("UTF-8").to_owned()
}

#[test]
fn what_cannot_be_made_is_explained() {
    assert!(
        message("cordial", None).starts_with("kind: `cordial` is not a queue algorithm of this version; `gq list aqm` names")
    );
    assert_eq!(message("codel", Some(("aim", 1.0, None))), "aim: `codel` has no such parameter");
    assert_eq!(message("codel", Some(("target", 60.0, None))), "target: 60 s is out of range: allowed 1 us to 10 s");
    assert_eq!(message("codel", Some(("target", f64::NAN, None))), "target: NaN is not a number from 0 on");
    let reentry = |word| message("codel", Some(("reentry", 0.0, word)));
    assert!(reentry(Some("never")).starts_with("reentry: `never` is not one of rfc8289, acm2012"));
    assert!(reentry(None).starts_with("reentry: needs a word: allowed rfc8289, acm2012"));
    assert!(message("fair", None).starts_with("of: `fair` needs the algorithm of its flows"));
    assert!(message("fair", Some(("of", 0.0, None))).starts_with("of: needs the word of an algorithm"));
}

extern "C" fn note(context: *mut c_void, packet: GqPacket, reason: GqReason, _: u64) {
    // SAFETY: the context of the test below.
    unsafe { &mut *context.cast::<Vec<(usize, GqReason)>>() }.push((packet.data as usize, reason));
}

#[test]
fn every_packet_comes_back() {
    for (kind, of) in [("tail-drop", None), ("codel", None), ("fq-codel", None), ("fair", Some(c"pie"))] {
        let name = CString::new(kind).expect("no zero");
        let of = of.map(|word| GqParam { name: c"of".as_ptr(), number: 0.0, word: word.as_ptr() });
        let params = of.as_ref().map_or(null(), std::ptr::from_ref);
        let mut back: Vec<(usize, GqReason)> = Vec::new();
        let sink = GqSink { context: std::ptr::from_mut(&mut back).cast(), dropped: Some(note), marked: None };
        // SAFETY: all pointers are to values that live until after the call.
        unsafe {
            let queue = gq_queue_new(name.as_ptr(), params, usize::from(of.is_some()), &link(), null_mut(), 0);
            assert!(!queue.is_null(), "{kind}");
            for number in 1..=15_usize {
                let data = number as *mut c_void;
                gq_enqueue(queue, 1, GqPacket { data, length: 1000, flow: 1, ecn: 2, traffic_class: 0 }, &sink);
            }
            let mut out = std::mem::MaybeUninit::<GqDeparture>::uninit();
            assert!(gq_dequeue(queue, 2, out.as_mut_ptr(), &sink));
            let departure = out.assume_init();
            assert_eq!(departure.enqueued_at, 1);
            let counters = gq_counters(queue);
            assert_eq!(counters.arrived, counters.departed + counters.dropped + counters.waiting);
            gq_queue_free(queue, 3, &sink);
            back.push((departure.packet.data as usize, GqReason::Overflow));
        }
        let mut numbers: Vec<usize> = back.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=15).collect::<Vec<_>>(), "{kind}");
    }
    // SAFETY: null is allowed.
    unsafe { gq_queue_free(null_mut(), 0, null()) };
}

#[test]
fn invalid_utf_8_and_impossible_sizes_are_explained() {
    assert_eq!(message_on(&link(), b"codel\xff", None), "kind: is not UTF-8");
    let sized = |mtu, overhead| message_on(&GqLink { mtu, overhead, ..link() }, b"cake", None);
    assert_eq!(sized(0, 0), "mtu: 0 is out of range: allowed 1 to 1000000 bytes");
    assert_eq!(sized(u32::MAX, 0), "mtu: 4294967295 is out of range: allowed 1 to 1000000 bytes");
    assert_eq!(sized(1500, u32::MAX), "overhead: 4294967295 is out of range: allowed 0 to 10000 bytes");
}

#[test]
fn an_array_of_all_reasons_has_room_for_each() {
    assert_eq!(GQ_REASONS, goodqueue_aqm::Reason::ALL.len());
    assert!(goodqueue_aqm::Reason::ALL.iter().all(|reason| (GqReason::from(*reason) as usize) < GQ_REASONS));
    let example = include_str!("../examples/link.c");
    assert!(example.contains("by_reason[GQ_REASONS]"), "the example counts by reason");
}

extern "C" fn mark(context: *mut c_void, _: GqPacket, _: GqReason) {
    // SAFETY: the context of the tests below.
    unsafe { &mut *context.cast::<Vec<(usize, GqReason)>>() }.push((0, GqReason::Head));
}

/// Returns the packets that `gq_queue_free` at `end` reports of a queue that 101 packets arrived
/// at, one of which left.
fn freed(kind: &str, param: Option<(&str, f64)>, arrival: u64, end: u64) -> Vec<(usize, GqReason)> {
    let name = CString::new(kind).expect("no zero");
    let words = param.map(|(name, number)| (CString::new(name).expect("no zero"), number));
    let param = words.as_ref().map(|(name, number)| GqParam { name: name.as_ptr(), number: *number, word: null() });
    let mut back: Vec<(usize, GqReason)> = Vec::new();
    let sink = GqSink { context: std::ptr::from_mut(&mut back).cast(), dropped: Some(note), marked: Some(mark) };
    let link = GqLink { limit_packets: 1000, ecn: 1, ..link() };
    let params = param.as_ref().map_or(null(), std::ptr::from_ref);
    // SAFETY: all pointers are to values that live until after the call.
    unsafe {
        let queue = gq_queue_new(name.as_ptr(), params, usize::from(param.is_some()), &link, null_mut(), 0);
        assert!(!queue.is_null(), "{kind}");
        for number in 1..=101_usize {
            let data = number as *mut c_void;
            let ecn = if number % 2 == 0 { 1 } else { 0 };
            gq_enqueue(queue, arrival, GqPacket { data, length: 1000, flow: 1, ecn, traffic_class: 0 }, &sink);
        }
        let mut out = std::mem::MaybeUninit::<GqDeparture>::uninit();
        assert!(gq_dequeue(queue, arrival, out.as_mut_ptr(), &sink));
        assert!(back.is_empty(), "{kind}");
        gq_queue_free(queue, end, &sink);
    }
    back
}

#[test]
fn what_waits_when_a_queue_is_freed_comes_back_as_overflow() {
    let second = 1_000_000_000;
    for (kind, param, arrival, end) in [
        ("codel", None, 1, 10 * second),
        ("fq-codel", None, 1, 10 * second),
        ("dualpi2", None, 1, 10 * second),
        ("pie", None, 1, 10 * second),
        ("shaper", Some(("rate", 1000.0)), 1, second),
        // Packets are held back until a time beyond the end of the clock.
        ("shaper", Some(("rate", 1.0)), u64::MAX - second, u64::MAX - second),
        // A clock that went backwards.
        ("shaper", Some(("rate", 1000.0)), second, 0),
    ] {
        let back = freed(kind, param, arrival, end);
        let mut numbers: Vec<usize> = back.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        assert_eq!(numbers.len(), 100, "{kind}: every packet once, and no marks");
        numbers.dedup();
        assert_eq!(numbers.len(), 100, "{kind}");
        assert!(back.iter().all(|(_, reason)| *reason == GqReason::Overflow), "{kind}");
    }
}

#[test]
fn reasons_keep_their_names_and_order_in_c() {
    for (number, reason) in goodqueue_aqm::Reason::ALL.into_iter().enumerate() {
        let here = GqReason::from(reason);
        assert_eq!((here as usize, format!("{here:?}")), (number, format!("{reason:?}")));
    }
}
