//! Frames out of a file.

use super::link::{self, Layer, Unread};
use super::packet::{self, Frame, Packet};
use crate::import::{ImportError, Input};
use pcap_parser::{Block, InterfaceDescriptionBlock, PcapBlockOwned, PcapError, create_reader};
use std::collections::BTreeMap;
use std::io::Read;

/// The result of reading a file.
#[derive(Default)]
pub(super) struct Kept {
    /// Whether it ends within a packet.
    pub(super) is_cut: bool,
    /// Frames of 802.11 that are encrypted.
    pub(super) encrypted: u64,
    /// Packets of `pcapng` without a time.
    pub(super) untimed: u64,
    /// Packets of interfaces that the file does not describe before them.
    pub(super) undescribed: u64,
    /// Packets of interfaces whose kind of link is not read, by that.
    pub(super) unread: BTreeMap<u16, u64>,
    /// Frames with a header that is not read, by that.
    pub(super) unknown: BTreeMap<Unread, u64>,
    /// Packets that are cut or wrong within the header of IP.
    pub(super) broken: u64,
}

/// No packet is larger, with its block around it.
const MAX_BLOCK: usize = 1 << 20;
/// More interfaces than this are not a host's.
const MAX_INTERFACES: usize = 1_000;
/// Interfaces that are told apart.
const MAX_BEFORE: usize = 10_000;
/// Bytes that the kind of a file shows in.
const START: u64 = 4_096;
/// Kinds of links are the lower half of a field; the rest tells of check sequences.
const LINK: i32 = 0xffff;
/// First words of a `pcap`, which where a packet should be begin another one.
const HEADERS: [u32; 4] = [0xa1b2_c3d4, 0xa1b2_3c4d, 0xd4c3_b2a1, 0x4d3c_b2a1];
const NANOS: u64 = 1_000_000_000;

/// The format of an interface's packets: kind of link, offset and units of time stamps.
#[derive(Clone, Copy)]
struct Interface {
    link: u16,
    layer: Option<Layer>,
    offset_s: i64,
    per_second: u64,
}

impl Interface {
    fn new(link: i32, offset_s: i64, per_second: u64) -> Self {
        let link = (link & LINK) as u16;
        Self { link, layer: link::first(link), offset_s, per_second }
    }

    fn described(block: &InterfaceDescriptionBlock<'_>) -> Option<Self> {
        let power = u32::from(block.if_tsresol & 0x7f);
        let base: u64 = if block.if_tsresol & 0x80 == 0 { 10 } else { 2 };
        Some(Self::new(block.linktype.0, block.ts_offset(), base.checked_pow(power)?))
    }

    /// Nanoseconds of a time stamp.
    fn nanos(&self, ticks: u64) -> i64 {
        let nanos = u128::from(ticks) * u128::from(NANOS) / u128::from(self.per_second);
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        nanos.saturating_add(self.offset_s.saturating_mul(NANOS.cast_signed()))
    }
}

/// Frames of a file on their way to the one that takes their packets.
struct Frames<T> {
    take: T,
    interfaces: Vec<Interface>,
    /// Interfaces of the sections before, whose numbers begin again in each.
    before: usize,
    kept: Kept,
}

impl<T: FnMut(Packet)> Frames<T> {
    fn frame(&mut self, number: u32, ticks: impl FnOnce(&Interface) -> u64, data: &[u8], captured: u32, whole: u32) {
        let Some(interface) = self.interfaces.get(number as usize) else {
            self.kept.undescribed += 1;
            return;
        };
        let Some(layer) = interface.layer else {
            *self.kept.unread.entry(interface.link).or_default() += 1;
            return;
        };
        let data = data.get(..captured as usize).unwrap_or(data);
        let frame =
            Frame { at: interface.nanos(ticks(interface)), data, whole, interface: (self.before + number as usize) as u32 };
        let left_out = packet::each(layer, frame, &mut self.take);
        self.kept.encrypted += u64::from(left_out.is_encrypted);
        self.kept.broken += left_out.broken;
        if let Some(unread) = left_out.unread {
            *self.kept.unknown.entry(unread).or_default() += 1;
        }
    }

    fn block(&mut self, input: &Input, block: PcapBlockOwned<'_>) -> Result<(), ImportError> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let per_second = if header.is_nanosecond_precision() { NANOS } else { 1_000_000 };
                let interface = Interface::new(header.network.0, 0, per_second);
                if interface.layer.is_none() {
                    return Err(unread(input, interface.link));
                }
                self.interfaces = vec![interface];
            }
            PcapBlockOwned::Legacy(block) if block.caplen == 0 && HEADERS.contains(&block.ts_sec) => {
                return Err(input.fault("has another recording behind the first one: mergecap joins recordings"));
            }
            PcapBlockOwned::Legacy(block) => {
                let (seconds, parts) = (u64::from(block.ts_sec), u64::from(block.ts_usec));
                self.frame(0, |one| seconds * one.per_second + parts, block.data, block.caplen, block.origlen);
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => {
                self.before = (self.before + self.interfaces.len()).min(MAX_BEFORE);
                self.interfaces.clear();
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                if self.interfaces.len() >= MAX_INTERFACES {
                    return Err(input.fault(format!("has too many interfaces: allowed up to {MAX_INTERFACES}")));
                }
                let interface = Interface::described(&block).ok_or_else(|| {
                    let number = self.interfaces.len();
                    let said = block.if_tsresol;
                    input.fault(format!("interface {number}: if_tsresol: {said} is out of range: allowed 0 to 19 and 128 to 191"))
                })?;
                self.interfaces.push(interface);
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
                let ticks = (u64::from(block.ts_high) << 32) | u64::from(block.ts_low);
                self.frame(block.if_id, |_| ticks, block.data, block.caplen, block.origlen);
            }
            PcapBlockOwned::NG(Block::SimplePacket(_)) => self.kept.untimed += 1,
            // Statistics, names and blocks of programs have no packets.
            PcapBlockOwned::NG(_) => {}
        }
        Ok(())
    }
}

/// The fault of a file with this kind of link alone.
pub(super) fn unread(input: &Input, link: u16) -> ImportError {
    input.fault(format!("{} is not read: expected {}", link::name(link), link::READ))
}

/// Hands each packet of IP to `take`.
///
/// # Errors
/// When the file is no recording of packets, or wrong before its end.
pub(super) fn each_packet(input: &Input, mut from: impl Read + Send, take: impl FnMut(Packet)) -> Result<Kept, ImportError> {
    let unknown = || input.fault("is no recording of packets: expected pcap or pcapng");
    let unreadable = |error: std::io::Error| input.fault(format!("cannot be read: {error}"));
    // A pipe hands over a few bytes at first.
    let mut start = Vec::new();
    from.by_ref().take(START).read_to_end(&mut start).map_err(unreadable)?;
    let whole = std::io::Cursor::new(start).chain(from);
    let mut reader = create_reader(MAX_BLOCK, whole).map_err(|_| unknown())?;
    let mut frames = Frames { take, interfaces: Vec::new(), before: 0, kept: Kept::default() };
    loop {
        let offset = match reader.next() {
            Ok((offset, block)) => {
                frames.block(input, block)?;
                offset
            }
            Err(PcapError::Eof) => return Ok(frames.kept),
            Err(PcapError::UnexpectedEof) => return Ok(Kept { is_cut: true, ..frames.kept }),
            Err(PcapError::Incomplete(_)) => {
                let before = (reader.position(), reader.data().len());
                let is_filled = reader.refill().is_ok();
                if is_filled && (reader.position(), reader.data().len()) != before {
                    continue;
                }
                return Ok(Kept { is_cut: true, ..frames.kept });
            }
            Err(_) if frames.interfaces.is_empty() => return Err(unknown()),
            Err(_) => {
                let why = "is no packet: the file is damaged, or others are joined to it: mergecap joins recordings";
                return Err(input.fault(format!("byte {}: {why}", reader.consumed())));
            }
        };
        reader.consume(offset);
    }
}
