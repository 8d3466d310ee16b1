use super::thin::{Buckets, thin_cdf};
use super::*;
use crate::results::record::{Folder, Settled};
use goodqueue_base::units::{Duration, Instant};
use goodqueue_sim::Series;
use goodqueue_sim::SeriesColumn;
use goodqueue_sim::trace::TimeCounts;
use serde_json::Value;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const HOSTILE: &str =
    "# </script><script>alert(1)</script> <!-- & \u{2028}\u{2029} ]]> {{goodqueue:data}} {{goodqueue:title}} \"quoted\"\n";

fn figure(mean: f64) -> Value {
    json!({ "mean": mean, "ci95": mean / 30.0, "n": 10 })
}

fn summary(points: usize, flows: usize) -> Value {
    let flows: Vec<Value> = (0..flows)
        .map(|index| json!({ "group": "bulk", "index": index, "goodput_bit_s": figure(612_345.678_9 + index as f64) }))
        .collect();
    let point = json!({ "set": {}, "links": { "bottleneck": { "utilization": figure(0.987_654_321) } }, "flows": flows });
    json!({ "schema": "goodqueue.summary/1", "seed": 18_446_744_073_709_551_615_u64, "points": vec![point; points] })
}

/// A series that rises and falls like a sending window, different for each `salt`.
fn series(subject: &str, names: &[&str], samples: u64, salt: u64) -> Series {
    let sample = |at: u64| (((at + salt * 37) * 7_919 % 10_007) as f64).sqrt() * 1_234.567;
    Series {
        subject: subject.to_owned(),
        times: Arc::new((0..samples).map(|at| Instant::ZERO + Duration::ms(10).mul_f64(at as f64)).collect()),
        columns: names
            .iter()
            .map(|name| SeriesColumn { name: (*name).to_owned(), values: (0..samples).map(sample).collect() })
            .collect(),
    }
}

fn input<'a>(summary: &'a Value, text: &'a str, points: Vec<ReportPoint<'a>>) -> ReportInput<'a> {
    ReportInput {
        title: text,
        sentence: text,
        warnings: &[],
        scenario_toml: text,
        command_line: Some(text),
        summary,
        provenance: &[],
        main_link: "bottleneck",
        measured_s: Some((10.0, 110.0)),
        points,
    }
}

fn point(number: usize, series: &[Series]) -> ReportPoint<'_> {
    ReportPoint {
        label: format!("point {number}"),
        kind: "codel".to_owned(),
        cdfs: vec![Cdf { subject: "bottleneck".to_owned(), points: vec![(0.0, 0.25), (0.005, 0.75), (0.02, 1.0)] }],
        rtt_cdfs: Vec::new(),
        series,
    }
}

/// The data of a page, parsed as a browser does: up to the first `</script`, then as JSON.
fn render(input: &ReportInput<'_>) -> String {
    let mut page = Vec::new();
    write_to(&mut page, input).unwrap();
    String::from_utf8(page).unwrap()
}

fn embedded(page: &str) -> Value {
    let start = page.find("id=\"goodqueue-data\"").expect("the data element is there");
    let text = &page[start..];
    let text = &text[text.find('>').expect("the tag ends") + 1..];
    let text = &text[..text.to_ascii_lowercase().find("</script").expect("the element ends")];
    serde_json::from_str(text).expect("the element holds JSON")
}

#[test]
fn template_has_each_slot_once_and_fetches_nothing() {
    assert_eq!(TEMPLATE.matches(TITLE_SLOT).count(), 1);
    assert_eq!(TEMPLATE.matches(DATA_SLOT).count(), 1);
    assert!(TEMPLATE.find(TITLE_SLOT) < TEMPLATE.find(DATA_SLOT));
    for fetched in ["<link rel=\"stylesheet\"", "<script src=", "@import", "url(http", "src=\"http"] {
        assert!(!TEMPLATE.contains(fetched), "the template contains {fetched}");
    }
}

/// The template is generated and must match its sources (`make web` after a change).
#[test]
fn template_is_built_from_the_sources_at_hand() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
    // A packaged crate contains only the template.
    if !web.is_dir() {
        return;
    }
    let stated =
        TEMPLATE.split_once("name=\"goodqueue-sources\" content=\"").expect("the template says what it was built from").1;
    assert_eq!(
        &stated[..16],
        format!("{:016x}", sources_hash(&web)),
        "crates/web has changed since the template was built: run `make web`"
    );
}

/// 64-bit FNV-1a of each source's path and bytes, in the order of the paths, as
/// `crates/web/build/sources.ts` computes it.
fn sources_hash(web: &Path) -> u64 {
    let mut paths = Vec::new();
    for source in [
        "app.html",
        "build",
        "package-lock.json",
        "package.json",
        "report.html",
        "src",
        "tsconfig.json",
        "vite.app.config.ts",
        "vite.config.ts",
    ] {
        collect(&web.join(source), &mut paths);
    }
    let mut named: Vec<(String, &Path)> = paths
        .iter()
        .map(|path| {
            let inside = path.strip_prefix(web).unwrap();
            let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
            (parts.join("/"), path.as_path())
        })
        .collect();
    named.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for (name, path) in named {
        let text = fs::read(path).unwrap();
        for byte in name.bytes().chain([b'\n']).chain(text) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

fn collect(path: &Path, into: &mut Vec<PathBuf>) {
    if !path.is_dir() {
        into.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).unwrap() {
        let entry = entry.unwrap();
        if !entry.file_name().to_string_lossy().starts_with('.') {
            collect(&entry.path(), into);
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let summary = summary(1, 1);
    let page = render(&input(&summary, HOSTILE, vec![point(0, &[])]));
    assert_eq!(embedded(&page)["scenario_toml"], HOSTILE);
    assert_eq!(embedded(&page)["sentence"], HOSTILE);
    assert!(!page.contains("<script>alert"));
    let data = &page[page.find("id=\"goodqueue-data\"").unwrap()..];
    assert!(!data.contains(['\u{2028}', '\u{2029}']));
    let title = &page[page.find("<title>").unwrap()..page.find("</title>").unwrap()];
    assert!(title.contains("&lt;/script&gt;&lt;script&gt;alert(1)"), "{title}");
}

#[test]
fn eight_queues_with_sixteen_flows_fit_in_five_megabytes() {
    let summary = summary(8, 16);
    let all: Vec<Vec<Series>> = (0..8)
        .map(|number| {
            let link = ["queue_packets", "queue_bytes", "sojourn_s", "throughput_bit_s", "gauge:count", "gauge:drop_probability"];
            let flow = ["goodput_bit_s", "cwnd_bytes", "srtt_s"];
            let mut all = vec![series("link:bottleneck", &link, 11_000, number)];
            all.extend((0..16).map(|index| series(&format!("flow:bulk:{index}"), &flow, 11_000, number * 100 + index)));
            all
        })
        .collect();
    let points = all.iter().enumerate().map(|(number, series)| point(number, series)).collect();
    let page = render(&input(&summary, "home uplink", points));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let data = embedded(&page);
    assert_eq!(data["axes"].as_array().unwrap().len(), 2, "links share one axis, flows another");
    assert_eq!(data["points"][7]["series"].as_array().unwrap().len(), 17, "no flow is left out");
    assert!(data["points"][0]["series"][0]["columns"][0]["values"].as_array().unwrap().len() > 1_500);
}

#[test]
fn very_many_flows_stay_bounded_and_the_page_says_so() {
    let summary = summary(2, 10_000);
    let all: Vec<Series> = (0..10_000).map(|index| series(&format!("flow:bulk:{index}"), &["cwnd_bytes"], 500, index)).collect();
    let page = render(&input(&summary, "crowd", vec![point(0, &all), point(1, &all)]));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let data = embedded(&page);
    assert_eq!(data["notes"].as_array().unwrap().len(), 2, "{}", data["notes"]);
    let flows = &data["points"][0]["flows"];
    assert_eq!((flows["total"].as_u64(), flows["index"].as_array().unwrap().len()), (Some(10_000), 4_096));
    assert_eq!(flows["index"][4_095], 9_999, "the largest is kept");
}

#[test]
fn summary_keeps_whole_numbers_and_rounds_the_others() {
    let summary = summary(1, 1);
    let data = embedded(&render(&input(&summary, "t", vec![point(0, &[])])));
    assert_eq!(data["summary"]["seed"], 18_446_744_073_709_551_615_u64);
    assert_eq!(data["seed"], "18446744073709551615");
    assert_eq!(data["summary"]["points"][0]["links"]["bottleneck"]["utilization"]["mean"], 0.987654);
    assert!(data["summary"]["points"][0].get("flows").is_none());
    assert_eq!(data["points"][0]["flows"]["goodput_bit_s"][0], 612_346.0);
}

#[test]
fn thinning_keeps_every_peak() {
    let values: Vec<f64> = (0..1_000)
        .map(|at| {
            if at == 617 {
                1e9
            } else if at == 333 {
                -5.0
            } else {
                1.0
            }
        })
        .collect();
    let times: Vec<f64> = (0..1_000).map(f64::from).collect();
    let buckets = Buckets::new(values.len(), 100);
    let (thin, at): (Vec<f64>, Vec<f64>) = (buckets.extremes(&values).collect(), buckets.times(&times).collect());
    assert_eq!(thin.len(), at.len());
    assert!(thin.len() <= 100);
    assert!(thin.contains(&1e9) && thin.contains(&-5.0));
    assert!(at.windows(2).all(|pair| pair[0] < pair[1]), "times rise strictly");
}

#[test]
fn means_of_buckets_leave_gaps_out() {
    let buckets = Buckets::new(6, 4);
    let means = |values: [f64; 6]| buckets.means(&values).collect::<Vec<f64>>();
    assert_eq!(means([1.0, 2.0, 6.0, f64::NAN, 4.0, 5.0]), [3.0, 4.5]);
    assert!(means([1.0, 2.0, 3.0, f64::NAN, f64::NAN, f64::NAN])[1].is_nan());
    assert!(Buckets::new(6, 6).keep_all() && !buckets.keep_all());
}

#[test]
fn short_series_and_gaps_are_kept_as_they_are() {
    let kept: Vec<f64> = Buckets::new(3, 100).extremes(&[3.0, f64::NAN, 1.0]).collect();
    assert!(kept.len() == 3 && kept[0] == 3.0 && kept[1].is_nan() && kept[2] == 1.0);
    let values = [f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN, 2.0, f64::NAN, 1.0];
    let gaps: Vec<f64> = Buckets::new(8, 4).extremes(&values).collect();
    assert!(gaps[0].is_nan() && gaps[1].is_nan());
    assert_eq!(gaps[2..], [2.0, 1.0]);
}

#[test]
fn odd_lengths_never_repeat_a_time() {
    for samples in 1..60 {
        for limit in 2..20 {
            let times: Vec<f64> = (0..samples).map(f64::from).collect();
            let buckets = Buckets::new(times.len(), limit);
            let at: Vec<f64> = buckets.times(&times).collect();
            assert_eq!(at.len(), buckets.extremes(&times).count(), "{samples} samples, limit {limit}");
            assert!(at.windows(2).all(|pair| pair[0] < pair[1]), "{samples} samples, limit {limit}: {at:?}");
        }
    }
}

#[test]
fn thinned_distribution_stays_close_to_the_whole_one() {
    let whole: Vec<(f64, f64)> =
        (1..=20_000).map(|at| (f64::from(at) * 1e-6, f64::from(at) / 20_000.0)).map(|(wait, part)| (wait, part * part)).collect();
    let thin = thin_cdf(&whole, 600);
    assert!(thin.len() < 1_300, "{}", thin.len());
    assert_eq!((thin[0], thin[thin.len() - 1]), (whole[0], whole[whole.len() - 1]));
    // Drawn as steps, the reduced line is below the full one by at most one step of height.
    for &(x, quantile) in &whole {
        let below = thin.iter().rev().find(|point| point.0 <= x).unwrap().1;
        assert!((0.0..=0.012).contains(&(quantile - below)), "at {x}: {below} for {quantile}");
    }
}

#[test]
fn a_distribution_ends_at_one() {
    let mut times = TimeCounts::new();
    assert!(Cdf::new("empty", &times).points.is_empty());
    [1, 1, 2, 40].into_iter().for_each(|milliseconds| times.add(Duration::ms(milliseconds)));
    let cdf = Cdf::new("bottleneck", &times);
    let quantiles: Vec<f64> = cdf.points.iter().map(|point| point.1).collect();
    assert_eq!(quantiles, [0.5, 0.75, 1.0]);
    assert!((cdf.points[2].0 - 0.040).abs() < 0.000_1, "{:?}", cdf.points);
}

#[test]
fn round_trips_of_probes_are_there_where_there_are_probes() {
    let summary = summary(1, 1);
    let mut probed = point(0, &[]);
    assert!(embedded(&render(&input(&summary, "t", vec![probed.clone()])))["points"][0].get("rtt_cdfs").is_none());
    probed.rtt_cdfs = vec![Cdf { subject: "echo".to_owned(), points: vec![(0.02, 0.5), (0.03, 1.0)] }];
    let data = embedded(&render(&input(&summary, "t", vec![probed])));
    let expected = serde_json::json!([{ "group": "echo", "rtt_s": [0.02, 0.03], "quantile": [0.5, 1] }]);
    assert_eq!(data["points"][0]["rtt_cdfs"], expected);
}

#[test]
fn file_appears_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(dir.path()).unwrap();
    let summary = summary(1, 1);
    let report = input(&summary, "t", vec![point(0, &[])]);
    let write = |name: &str| folder.write_by(name, Settled::OnDisk, &mut |out| write_to(out, &report));
    assert_eq!(fs::read_to_string(write("report.html").unwrap()).unwrap(), render(&report));
    // A folder of that name cannot be replaced by a file.
    fs::create_dir(dir.path().join("blocked.html")).unwrap();
    assert!(write("blocked.html").is_err());
    drop(folder);
    let mut names: Vec<String> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["blocked.html", "report.html"]);
}

#[test]
fn the_letters_of_the_page_are_one_rule() {
    let rule = font_face();
    assert!(rule.starts_with("@font-face{font-family:Inter;") && rule.ends_with('}') && rule.contains("woff2"));
}
