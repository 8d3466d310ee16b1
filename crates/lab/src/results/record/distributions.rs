//! `distributions.parquet`: distributions of times over all replications, as the report draws them.

use super::folder::{Folder, Settled};
use super::tables::columns::ColumnRows;
use super::tables::table::Table;
use crate::results::distributions::Cdf;
use crate::results::error::RecordError;
use parquet::data_type::ByteArray;

/// Name and version of the format of `distributions.parquet`.
pub const DISTRIBUTIONS_SCHEMA: &str = "goodqueue.distributions/1";
/// The file.
pub const DISTRIBUTIONS_FILE: &str = "distributions.parquet";

const COLUMNS: &str = "message distributions {
    required int32 point (INTEGER(32,false));
    required binary label (STRING);
    required binary subject (STRING);
    required binary name (STRING);
    required double value;
    required double share;
}";

/// The distributions of one point.
#[derive(Clone, Copy, Debug)]
pub struct DistributedPoint<'a> {
    /// The number of the point in the order of the sweep, from zero.
    pub number: usize,
    /// The name of the point in tables.
    pub label: &'a str,
    /// Times in queues, by link.
    pub sojourn: &'a [Cdf],
    /// Round trips of probes, by group.
    pub round_trips: &'a [Cdf],
}

impl DistributedPoint<'_> {
    /// Whether it has no distribution.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sojourn.is_empty() && self.round_trips.is_empty()
    }
}

/// Writes the file, unless there is no distribution. `facts` become key-value metadata.
///
/// # Errors
/// When it cannot be written.
pub fn write_distributions(
    folder: &Folder,
    facts: &[(&str, String)],
    points: &[DistributedPoint<'_>],
    settled: Settled,
) -> Result<(), RecordError> {
    if points.iter().all(DistributedPoint::is_empty) {
        return Ok(());
    }
    let mut table = Table::create(folder, DISTRIBUTIONS_FILE, DISTRIBUTIONS_SCHEMA, COLUMNS, facts, ColumnRows::new)?;
    for point in points {
        let links = point.sojourn.iter().map(|cdf| ("link", "sojourn_s", cdf));
        let groups = point.round_trips.iter().map(|cdf| ("group", "rtt_s", cdf));
        for (of, name, cdf) in links.chain(groups) {
            let texts = [point.label, &format!("{of}:{}", cdf.subject), name].map(ByteArray::from);
            table.rows(|rows| {
                rows.add(cdf.points.len(), |columns| {
                    for &(value, share) in &cdf.points {
                        columns[0].int32(point.number as u32);
                        for (column, text) in columns[1..4].iter_mut().zip(&texts) {
                            column.text(text.clone());
                        }
                        columns[4].double(Some(value));
                        columns[5].double(Some(share));
                    }
                });
                Ok(())
            });
        }
    }
    table.seal(settled);
    table.finish(folder)
}
