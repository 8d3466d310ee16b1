//! The rows of `packets.parquet`.

use super::columns::Column;
use crate::results::record::recorder::RecordedRun;
use goodqueue_base::units::Duration;
use goodqueue_sim::trace::{PacketEvent, PacketEventKind};
use parquet::data_type::ByteArray;

/// Adds events as values of all columns.
pub(super) fn add(columns: &mut [Column], run: &RecordedRun<'_>, packets: &[PacketEvent]) {
    let links: Vec<ByteArray> = run.links.iter().map(|name| ByteArray::from(name.as_str())).collect();
    for packet in packets {
        let seconds = |span: Duration| Some(span.as_secs_f64());
        let (event, reason, sojourn) = match packet.kind {
            PacketEventKind::Enqueued => ("enqueued", None, None),
            PacketEventKind::Departed { sojourn } => ("departed", None, seconds(sojourn)),
            PacketEventKind::Dropped { reason, sojourn } => ("dropped", Some(reason), seconds(sojourn)),
            PacketEventKind::Marked { reason } => ("marked", Some(reason), None),
        };
        columns[0].int32(run.point as u32);
        columns[1].int32(run.replication);
        columns[2].int64(packet.at.as_nanos());
        columns[3].text(links[packet.link as usize].clone());
        columns[4].int32(packet.flow);
        columns[5].int64(packet.number);
        columns[6].int32(packet.len);
        columns[7].text(ByteArray::from(event));
        columns[8].text(reason.map(|reason| ByteArray::from(reason.name())));
        columns[9].double(sojourn);
    }
}
