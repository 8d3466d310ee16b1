use super::*;
use crate::results::record::sample;
use goodqueue_aqm::Reason;
use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::trace::{PacketEvent, PacketEventKind};
use goodqueue_sim::{Series, SeriesColumn};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use std::fs::{self, File};
use std::sync::Arc;

fn packet(kind: PacketEventKind) -> PacketEvent {
    PacketEvent { at: Instant::from_nanos(1_000_000_007), link: 0, flow: 3, number: u64::MAX, len: 1500, kind }
}

#[test]
fn what_is_written_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    let facts = [("scenario_sha256", "ab".repeat(32)), ("seed", "7".to_owned())];
    let mut tables = Tables::create(&folder, TableKinds::SeriesAndPackets, &facts).unwrap();
    let outcome = sample::outcome(1);
    let links = ["bottleneck".to_owned()];
    let sojourn = Duration::ms(5);
    let packets = [
        packet(PacketEventKind::Enqueued),
        packet(PacketEventKind::Departed { sojourn }),
        packet(PacketEventKind::Dropped { reason: Reason::OverLimit, sojourn }),
        packet(PacketEventKind::Marked { reason: Reason::Head }),
    ];
    tables.record(RecordedRun { point: 4, replication: 0, links: &links, series: &outcome.series, packets: &packets });
    assert!(!dir.path().join("series.parquet").exists(), "nothing has its name before it is whole");
    tables.finish(&folder).unwrap();

    let reader = SerializedFileReader::new(File::open(dir.path().join("series.parquet")).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let fact = |key: &str| metadata.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.clone());
    assert_eq!(fact("goodqueue.schema").as_deref(), Some(SERIES_SCHEMA));
    assert_eq!(fact("goodqueue.seed").as_deref(), Some("7"));
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!((rows[1].get_uint(0).unwrap(), rows[1].get_double(5).unwrap()), (4, 7.0));
    assert_eq!(rows[2].get_string(3).unwrap(), "sojourn_s");
    assert!(rows[2].get_double(5).is_err(), "what is not a number is null");
    assert_eq!(rows[3].get_double(4).unwrap(), 0.1);

    let reader = SerializedFileReader::new(File::open(dir.path().join("packets.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0].get_ulong(5).unwrap(), u64::MAX);
    assert_eq!(rows[2].get_string(8).unwrap(), "over-limit");
    assert_eq!(rows[2].get_double(9).unwrap(), 0.005);
    assert!(rows[3].get_double(9).is_err() && rows[0].get_string(8).is_err());
    drop(folder);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn series_of_all_lengths_and_times_are_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    let mut tables = Tables::create(&folder, TableKinds::Series, &[]).unwrap();
    let mut expected = Vec::new();
    let mut rng = goodqueue_base::units::Rng::new(1);
    for point in 0..40_usize {
        let len = [1, 7, 8, 9, 300, 9_000][point % 6];
        let step = Duration::ms(1 + point as u64 % 3);
        let times: Arc<Vec<Instant>> = Arc::new((0..len).map(|at| Instant::ZERO + step * at).collect());
        // Some never, some always, some now and then without a value.
        let gaps = [0.0, 1.0, 0.3][point % 3];
        let mut column = |name: &str| SeriesColumn {
            name: name.to_owned(),
            values: times.iter().map(|_| if rng.fires(gaps) { f64::NAN } else { rng.uniform() - 0.5 }).collect(),
        };
        let columns = vec![column("sojourn_s"), column("cwnd_bytes")];
        let series = [Series { subject: format!("flow:bulk:{}", point % 5), times, columns }];
        for column in &series[0].columns {
            for (time, value) in series[0].times.iter().zip(&column.values) {
                expected.push((point, series[0].subject.clone(), column.name.clone(), time.as_secs_f64(), *value));
            }
        }
        tables.record(RecordedRun { point, replication: 3, links: &[], series: &series, packets: &[] });
    }
    tables.finish(&folder).unwrap();

    let reader = SerializedFileReader::new(File::open(dir.path().join("series.parquet")).unwrap()).unwrap();
    let column = reader.metadata().row_group(0).column(5);
    assert!(column.statistics().and_then(|facts| facts.null_count_opt()).is_some_and(|nulls| nulls > 0));
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let mut read = 0;
    for (row, (point, subject, name, time, value)) in rows.zip(&expected) {
        assert_eq!((row.get_uint(0).unwrap() as usize, row.get_uint(1).unwrap()), (*point, 3));
        assert_eq!((row.get_string(2).unwrap(), row.get_string(3).unwrap()), (subject, name));
        assert_eq!(row.get_double(4).unwrap(), *time);
        assert_eq!(row.get_double(5).ok(), value.is_finite().then_some(*value));
        read += 1;
    }
    assert_eq!(read, expected.len());
    let written: i64 = reader.metadata().row_groups().iter().map(|group| group.num_rows()).sum();
    assert_eq!(written as usize, expected.len());
}

#[test]
fn tables_that_are_given_up_leave_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    drop(Tables::create(&folder, TableKinds::Series, &[]).unwrap());
    drop(folder);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn many_rows_make_several_groups() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    let mut tables = Tables::create(&folder, TableKinds::SeriesAndPackets, &[]).unwrap();
    let links = ["bottleneck".to_owned()];
    let packets = vec![packet(PacketEventKind::Enqueued); GROUP_ROWS + 5];
    tables.record(RecordedRun { point: 0, replication: 0, links: &links, series: &[], packets: &packets });
    tables.finish(&folder).unwrap();
    let reader = SerializedFileReader::new(File::open(dir.path().join("packets.parquet")).unwrap()).unwrap();
    let groups: Vec<i64> = reader.metadata().row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(groups, [GROUP_ROWS as i64, 5]);
}
