//! Scales, and a drawing's SVG and PNG.

use super::*;

fn drawing(kind: FigureKind) -> Drawing {
    let axis = |label: &str, unit: &str| AxisSpec {
        label: label.into(),
        unit: unit.into(),
        log: false,
        min: None,
        max: None,
        categories: None,
    };
    let mark =
        |x: f64| Mark { x, y: x * 2.0, low: x * 2.0 - 0.5, high: x * 2.0 + 0.5, quartiles: Some((x * 2.0 - 0.2, x * 2.0 + 0.2)) };
    Drawing {
        id: "p/1".into(),
        title: "A < B & C".into(),
        place: "Fig 1".into(),
        note: None,
        kind,
        range: false,
        x: axis("delay", "ms"),
        y: axis("queue", "packets"),
        panels: vec![Panel { title: String::new(), curves: vec![(0, (1..5).map(|x| mark(f64::from(x))).collect())] }],
        curves: vec!["reno".into()],
    }
}

#[test]
fn every_kind_is_well_formed_and_says_its_values() {
    for kind in [FigureKind::Lines, FigureKind::Bars, FigureKind::Boxes, FigureKind::Time] {
        let text = svg(&drawing(kind));
        let tree = resvg::usvg::Tree::from_str(&text, &resvg::usvg::Options::default());
        assert!(tree.is_ok(), "{kind:?}: {:?}", tree.err());
        assert!(text.contains("A &lt; B &amp; C") && text.contains("delay [ms]") && text.contains("queue [packets]"), "{text}");
        let opened = text.matches("<g ").count();
        assert_eq!(opened, text.matches("</g>").count());
        if kind != FigureKind::Time {
            assert!(text.contains("reno at "), "{text}");
        }
    }
}

#[test]
fn ticks_are_round_numbers_inside() {
    let axis =
        AxisSpec { label: String::new(), unit: String::new(), log: false, min: Some(90.0), max: Some(100.5), categories: None };
    let scale = scale::Scale::new(&axis, [95.0].into_iter(), 0.0, 100.0);
    let texts: Vec<String> = scale.ticks().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["90", "92", "94", "96", "98", "100"]);
    let log = AxisSpec { log: true, min: None, max: None, ..axis };
    let scale = scale::Scale::new(&log, [1.0, 5000.0].into_iter(), 0.0, 100.0);
    let texts: Vec<String> = scale.ticks().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["1", "10", "100", "1000"]);
}

#[test]
fn numbers_are_short() {
    let shown = [0.0, 1.0, 27.4449, 0.585_1, 123_456.0, 0.000_1, 3000.0].map(svg::short);
    assert_eq!(shown, ["0", "1", "27.44", "0.585", "1.23e5", "1.00e-4", "3000"]);
}

#[test]
fn units_scale_si_values() {
    assert_eq!(["%", "ms", "Mbit/s", "packets"].map(factor), [100.0, 1e3, 1e-6, 1.0]);
}
