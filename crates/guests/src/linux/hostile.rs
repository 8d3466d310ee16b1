//! Tests that whatever a guest writes into its memory or sends as messages, this process does not
//! panic, hang, or access memory that it should not.

use crate::linux::event_queue::Message;
use crate::linux::frame::{self, Connection, set_ecn};
use crate::linux::memory::{GuestMemory, MemoryFault, RegionSpec};
use crate::linux::report::Line;
use crate::linux::ring::{Queue, RingFault, Use};
use crate::linux::sys::memory_file;
use crate::linux::vhost::{Device, HEADER, Header};
use goodqueue_base::units::Ecn;
use proptest::prelude::*;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;

const SIZE: u64 = 1 << 16;
/// Nonzero, so that addresses and file offsets differ.
const BASE: u64 = 0x10_0000;
const DESCRIPTORS: u64 = BASE;
const AVAILABLE: u64 = BASE + 0x1000;
const USED: u64 = BASE + 0x2000;

/// A guest's memory with these bytes at its start, zeros after them.
fn memory(bytes: &[u8]) -> GuestMemory {
    let file = memory_file(SIZE).expect("memory");
    file.write_all_at(bytes, 0).expect("room");
    let mut memory = GuestMemory::default();
    memory.add(RegionSpec { guest: BASE, size: SIZE, user: BASE, offset: 0 }, file).expect("a region");
    memory
}

fn queue(size: u64) -> Queue {
    let mut queue = Queue::default();
    queue.resize(size).expect("a power of two");
    queue.place(DESCRIPTORS, AVAILABLE, USED);
    queue
}

/// Writes descriptors (address, length, flags, next) and makes one chain available that starts at
/// the first.
fn offer(memory: &GuestMemory, descriptors: &[(u64, u32, u16, u16)]) {
    for (number, (at, len, flags, next)) in descriptors.iter().enumerate() {
        let place = DESCRIPTORS + 16 * number as u64;
        let bytes = [&at.to_le_bytes()[..], &len.to_le_bytes(), &flags.to_le_bytes(), &next.to_le_bytes()].concat();
        memory.write(place, &bytes).expect("inside");
    }
    memory.publish(AVAILABLE + 2, 1).expect("inside");
}

fn take(descriptors: &[(u64, u32, u16, u16)], purpose: Use) -> Result<Option<u16>, RingFault> {
    let memory = memory(&[]);
    offer(&memory, descriptors);
    queue(4).take(&memory, purpose, &mut Vec::new())
}

#[test]
fn a_good_chain_is_taken_and_given_back() {
    let memory = memory(&[]);
    offer(&memory, &[(BASE + 0x3000, 12, 1, 1), (BASE + 0x4000, 1500, 0, 0)]);
    let (mut queue, mut pieces) = (queue(4), Vec::new());
    assert_eq!(queue.take(&memory, Use::Read, &mut pieces), Ok(Some(0)));
    assert_eq!(pieces.iter().map(|piece| piece.len).collect::<Vec<_>>(), [12, 1500]);
    assert_eq!(queue.take(&memory, Use::Read, &mut pieces), Ok(None), "it is taken once");
    queue.give_back(&memory, 0, 7).expect("a ring");
    assert_eq!(memory.load(USED + 2), Ok(1));
    let mut entry = [0; 8];
    memory.read(USED + 4, &mut entry).expect("inside");
    assert_eq!(entry, [0, 0, 0, 0, 7, 0, 0, 0]);
}

#[test]
fn bad_chains_are_faults() {
    assert_eq!(take(&[(BASE, 1, 1, 0)], Use::Read), Err(RingFault::Endless), "it bites its tail");
    assert_eq!(take(&[(BASE, 1, 1, 9)], Use::Read), Err(RingFault::Descriptor(9, 4)));
    assert_eq!(take(&[(BASE, 1, 4, 0)], Use::Read), Err(RingFault::Indirect));
    assert_eq!(take(&[(BASE, 1, 2, 0)], Use::Read), Err(RingFault::Direction));
    assert_eq!(take(&[(BASE, 1, 0, 0)], Use::Write), Err(RingFault::Direction));
    let memory = memory(&[]);
    memory.publish(AVAILABLE + 2, 5).expect("inside");
    assert_eq!(queue(4).take(&memory, Use::Read, &mut Vec::new()), Err(RingFault::Overfull(5, 4)));
}

#[test]
fn addresses_at_all_ends_are_held_to_the_region() {
    let memory = memory(&[]);
    let mut byte = [0];
    for outside in [0, BASE - 1, BASE + SIZE, u64::MAX] {
        assert!(memory.read(outside, &mut byte).is_err(), "{outside:#x}");
        assert!(memory.write(outside, &byte).is_err(), "{outside:#x}");
        assert!(memory.load(outside).is_err(), "{outside:#x}");
        assert!(memory.physical(outside).is_err(), "{outside:#x}");
    }
    assert!(memory.read(BASE + SIZE - 1, &mut byte).is_ok());
    assert!(memory.load(BASE + SIZE - 1).is_err(), "half of it is outside");
    assert!(memory.load(BASE + 1).is_err(), "odd");
    assert!(memory.read(BASE + 1, &mut vec![0; SIZE as usize]).is_err());
}

fn again(file: &File) -> File {
    file.try_clone().expect("a descriptor")
}

#[test]
fn memory_that_is_cut_short_is_a_fault_and_not_the_end() {
    let file = memory_file(SIZE).expect("memory");
    let mut memory = GuestMemory::default();
    memory.add(RegionSpec { guest: BASE, size: SIZE, user: BASE, offset: 0 }, again(&file)).expect("a region");
    offer(&memory, &[(BASE + 0x3000, 12, 0, 0)]);
    file.set_len(0).expect("a file");
    let gone = RingFault::Memory(MemoryFault::Detached { at: AVAILABLE + 2, len: 2 });
    assert_eq!(queue(4).take(&memory, Use::Read, &mut Vec::new()), Err(gone));
    // A device that writes into it nevertheless does no harm.
    let _ = queue(4).give_back(&memory, 0, 7);
}

#[test]
fn memory_that_is_not_there_is_refused() {
    let file = memory_file(4096).expect("memory");
    let mut memory = GuestMemory::default();
    let region = |size, offset| RegionSpec { guest: 0, size, user: 0, offset };
    for (size, offset) in [(8192, 0), (4096, 4096), (4096, u64::MAX), (u64::MAX, 0), (0, 0)] {
        assert!(memory.add(region(size, offset), again(&file)).is_err(), "{size} at {offset}");
    }
    let last = RegionSpec { guest: u64::MAX, ..region(4096, 0) };
    assert!(memory.add(last, again(&file)).is_err());
    assert!(memory.add(region(4096, 0), again(&file)).is_ok());
}

/// Sends a message to a card: number, flags, body; regions of memory come with `files` files of one
/// page.
fn handle(device: &mut Device, request: u32, flags: u32, body: &[u8], files: usize) {
    let mut bytes = [0; HEADER];
    bytes[..4].copy_from_slice(&request.to_le_bytes());
    bytes[4..8].copy_from_slice(&flags.to_le_bytes());
    bytes[8..].copy_from_slice(&(body.len() as u32).to_le_bytes());
    let Ok(header) = Header::read(bytes) else { return };
    let files = (0..files).map(|_| OwnedFd::from(memory_file(SIZE).expect("memory"))).collect();
    // Errors are acceptable; panics and hangs are not.
    let _ = device.handle(header, body, files);
    let Device { memory, queues, .. } = device;
    for queue in queues {
        let mut pieces = Vec::new();
        while let Ok(Some(head)) = queue.take(memory, Use::Read, &mut pieces) {
            for piece in &pieces {
                let _ = memory.read(piece.at, &mut vec![0; (piece.len as usize).min(2048)]);
            }
            if queue.give_back(memory, head, 1).is_err() {
                break;
            }
        }
    }
}

/// Numbers that are likely to reach special cases.
fn telling() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        0..64_u64,
        (0..SIZE).prop_map(|offset| BASE + offset),
        any::<u64>(),
        Just(BASE),
        Just(SIZE),
    ]
}

proptest! {
    #[test]
    fn any_memory_is_walked_without_harm(bytes in prop::collection::vec(any::<u8>(), 0x3000), size in 0..9_u32, first: u16) {
        let memory = memory(&bytes);
        let mut queue = queue(1 << size);
        queue.start_at(first);
        let mut pieces = Vec::new();
        for _ in 0..600 {
            let Ok(Some(head)) = queue.take(&memory, Use::Read, &mut pieces) else { break };
            prop_assert!(head < 1 << size && pieces.len() <= 1 << size);
            let _ = queue.give_back(&memory, head, 1);
        }
    }

    #[test]
    fn nearly_good_memory_is_walked_without_harm(
        descriptors in prop::collection::vec((telling(), any::<u32>(), 0..4_u16, 0..10_u16), 8),
        heads in prop::collection::vec(0..10_u16, 8),
        offered in 0..12_u16,
    ) {
        let memory = memory(&[]);
        offer(&memory, &descriptors);
        for (slot, head) in heads.iter().enumerate() {
            memory.publish(AVAILABLE + 4 + 2 * slot as u64, *head).unwrap();
        }
        memory.publish(AVAILABLE + 2, offered).unwrap();
        let (mut queue, mut pieces) = (queue(8), Vec::new());
        let mut taken = 0;
        while let Ok(Some(_)) = queue.take(&memory, Use::Read, &mut pieces) {
            taken += 1;
            prop_assert!(taken <= 8, "no more than were offered");
            for piece in &pieces {
                let _ = memory.read(piece.at, &mut vec![0; (piece.len as usize).min(4096)]);
            }
        }
    }

    #[test]
    fn any_messages_are_survived(
        messages in prop::collection::vec((0..40_u32, any::<u32>(), prop::collection::vec(telling(), 0..20), 0..3_usize), 1..20),
    ) {
        let mut device = Device::default();
        for (request, flags, words, files) in messages {
            let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            // Counts and queue numbers are 32 bits wide, and small if valid.
            if let Some(first) = body.first_chunk_mut::<8>() {
                *first = (u64::from(files as u32) | (words[0] & 0xFF) << 32).to_le_bytes();
            }
            handle(&mut device, request, flags & !3 | 1, &body, files);
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..1600), text in ".{0,80}") {
        let mut bytes = bytes;
        if let Some(start) = bytes.first_chunk_mut::<24>() {
            // Valid enough to be parsed further.
            (start[12], start[13], start[14], start[23]) = (8, 0, 0x45, 6);
        }
        if let Some(packet) = frame::tcp(&bytes) {
            let mut connection = Connection::default();
            let _ = connection.reverse(&packet);
            let _ = connection.forward(&packet);
            let _ = connection.forward(&packet);
            let _ = connection.reverse(&packet);
        }
        set_ecn(&mut bytes, Ecn::Ce);
        if let Some(first) = bytes.first_chunk() {
            let _ = Header::read(*first);
        }
        if let Some(first) = bytes.first_chunk() {
            let _ = Message::read(*first);
        }
        let _ = Line::read(&text);
        let _ = crate::linux::job::Job::read(&text);
    }
}
