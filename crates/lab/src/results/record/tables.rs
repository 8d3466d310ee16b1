//! `series.parquet` and `packets.parquet`: long tables, one row for each sampled value or packet
//! event.

pub(crate) mod columns;
mod packets;
mod series;
pub(super) mod table;

use super::folder::{Folder, Settled};
use super::recorder::{RecordedRun, Recorder};
use crate::results::error::RecordError;
use columns::ColumnRows;
use series::SeriesRows;
use std::io;
use table::{GROUP_ROWS, Table};

/// Name and version of the format of `series.parquet`.
pub const SERIES_SCHEMA: &str = "goodqueue.series/1";
/// Name and version of the format of `packets.parquet`.
pub const PACKETS_SCHEMA: &str = goodqueue_sim::trace::SCHEMA;

const SERIES_COLUMNS: &str = "message series {
    required int32 point (INTEGER(32,false));
    required int32 replication (INTEGER(32,false));
    required binary subject (STRING);
    required binary name (STRING);
    required double time_s;
    optional double value;
}";

const PACKETS_COLUMNS: &str = "message packets {
    required int32 point (INTEGER(32,false));
    required int32 replication (INTEGER(32,false));
    required int64 time_ns (INTEGER(64,false));
    required binary link (STRING);
    required int32 flow (INTEGER(32,false));
    required int64 number (INTEGER(64,false));
    required int32 len_bytes (INTEGER(32,false));
    required binary event (STRING);
    optional binary reason (STRING);
    optional double sojourn_s;
}";

/// The tables to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableKinds {
    /// `series.parquet`.
    #[default]
    Series,
    /// `packets.parquet` too.
    SeriesAndPackets,
}

/// Both tables of a result while it is made.
pub struct Tables {
    series: Table<SeriesRows>,
    packets: Option<Table<ColumnRows>>,
}

impl Tables {
    /// Begins the tables in `folder`. `facts` become key-value metadata of the files.
    ///
    /// # Errors
    /// When a file cannot be begun.
    pub fn create(folder: &Folder, kinds: TableKinds, facts: &[(&str, String)]) -> Result<Self, RecordError> {
        let series = Table::create(folder, "series.parquet", SERIES_SCHEMA, SERIES_COLUMNS, facts, SeriesRows::new)?;
        let packets = match kinds {
            TableKinds::Series => None,
            TableKinds::SeriesAndPackets => {
                Some(Table::create(folder, "packets.parquet", PACKETS_SCHEMA, PACKETS_COLUMNS, facts, ColumnRows::new)?)
            }
        };
        Ok(Self { series, packets })
    }

    /// Completes the files under their temporary names, so that it is known how much room they
    /// take. A table that fails is removed, and [`finish`](Self::finish) says why.
    pub fn seal(&mut self, settled: Settled) {
        self.series.seal(settled);
        self.packets.iter_mut().for_each(|table| table.seal(settled));
    }

    /// Gives the room that the tables take on the disk to other files. [`finish`](Self::finish)
    /// gives `why` as their failure.
    pub fn give_up(&mut self, why: io::ErrorKind) {
        self.series.fail(why.into());
        self.packets.iter_mut().for_each(|table| table.fail(why.into()));
    }

    /// Completes the files and gives them their names in `folder`, which is the one they were begun
    /// in or one within.
    ///
    /// # Errors
    /// The first failure since the beginning; a table that failed is removed.
    pub fn finish(self, folder: &Folder) -> Result<(), RecordError> {
        let series = self.series.finish(folder);
        let packets = self.packets.map_or(Ok(()), |table| table.finish(folder));
        series.and(packets)
    }
}

impl Recorder for Tables {
    fn record(&mut self, run: RecordedRun<'_>) {
        for series in run.series {
            self.series.rows(|rows| rows.add(&run, series));
        }
        if let Some(table) = &mut self.packets {
            for chunk in run.packets.chunks(GROUP_ROWS) {
                table.rows(|rows| {
                    rows.add(chunk.len(), |columns| packets::add(columns, &run, chunk));
                    Ok(())
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
