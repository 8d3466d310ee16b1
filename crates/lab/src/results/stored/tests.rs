//! Tests that results are read back as they were written.

use super::*;
use crate::results::distributions::Cdf;
use crate::results::record::{DistributedPoint, Folder, RecordedRun, Recorder, Settled, TableKinds, Tables, write_distributions};
use goodqueue_base::units::Instant;
use goodqueue_sim::{Series, SeriesColumn};
use std::sync::Arc;

fn series(subject: &str, values: [f64; 2]) -> Series {
    let columns = ["sojourn_s", "queue_packets"].map(|name| SeriesColumn { name: name.to_owned(), values: values.to_vec() });
    let times = [500_000_000, 1_000_000_000].map(Instant::from_nanos).to_vec();
    Series { subject: subject.to_owned(), times: Arc::new(times), columns: columns.to_vec() }
}

#[test]
fn series_and_distributions_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    let mut written = Tables::create(&folder, TableKinds::Series, &[]).unwrap();
    let all = [series("link:a", [0.25, f64::NAN]), series("flow:b:0", [3.0, 4.0])];
    for (point, replication) in [(0, 1), (0, 2), (1, 0)] {
        written.record(RecordedRun { point, replication, links: &[], series: &all, packets: &[] });
    }
    written.finish(&folder).unwrap();
    let got = tables::lines(dir.path(), "sojourn_s", &|subject| subject == "link:a").unwrap();
    assert_eq!(got.iter().map(|line| line.point).collect::<Vec<_>>(), [0, 1], "the first replication of each point");
    assert_eq!(got[0].points[0], (0.5, 0.25));
    assert!(got[0].points[1].0 == 1.0 && got[0].points[1].1.is_nan());
    assert_eq!(tables::sampled(dir.path()).unwrap().len(), 4);

    let cdf = Cdf { subject: "a".to_owned(), points: vec![(0.001, 0.5), (0.002, 1.0)] };
    let point = DistributedPoint { number: 0, label: "codel", sojourn: std::slice::from_ref(&cdf), round_trips: &[] };
    write_distributions(&folder, &[], &[point], Settled::InPassing).unwrap();
    let got = tables::distributions(dir.path()).unwrap();
    let expected = StoredDistribution { label: "codel".to_owned(), subject: "link:a".to_owned(), points: cdf.points };
    assert_eq!(got, [expected]);
}

#[test]
fn missing_file_is_empty_and_a_broken_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(tables::distributions(dir.path()).unwrap(), []);
    for bytes in [&b""[..], b"PAR1", b"PAR1\xff\xff\xff\x7fPAR1", &[0; 4096]] {
        std::fs::write(dir.path().join("series.parquet"), bytes).unwrap();
        let error = tables::sampled(dir.path()).unwrap_err().to_string();
        assert!(error.contains("series.parquet: cannot be read: ") && error.lines().count() == 1, "{error}");
    }
}
