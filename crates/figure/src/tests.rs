//! Scales, legends and the SVG of small figures.

use super::*;
use crate::palette::Look;

fn figure(shape: Shape) -> Figure {
    let axis = |label: &str, unit: &str| Axis { label: label.into(), unit: unit.into(), ..Axis::default() };
    let point = |x: f64| Point {
        x,
        y: x * 2.0,
        interval: Some((x * 2.0 - 0.5, x * 2.0 + 0.5)),
        quartiles: Some((x * 2.0 - 0.2, x * 2.0 + 0.2)),
        across: None,
        words: format!("reno at {x} ms"),
    };
    Figure {
        id: "p/1".into(),
        title: "A < B & C".into(),
        size: Size { width: 520.0, columns: 1 },
        panels: vec![Panel {
            title: String::new(),
            height: 250.0,
            x: axis("delay", "ms"),
            y: axis("queue", "packets"),
            shaded: Vec::new(),
            series: vec![Series { curve: 0, shape, points: (1..5).map(|x| point(f64::from(x))).collect() }],
            references: Vec::new(),
        }],
        curves: vec![Curve { name: "reno".into(), look: Look::of(0) }],
    }
}

const SHAPES: [Shape; 8] =
    [Shape::Marked, Shape::Line, Shape::Steps, Shape::Scatter, Shape::Band, Shape::Bars, Shape::Boxes, Shape::Strokes];

#[test]
fn every_shape_is_drawn_with_title_axes_and_legend() {
    for shape in SHAPES {
        let svg = figure(shape).to_svg(Theme::Page, Font::Sans);
        assert!(svg.contains("A &lt; B &amp; C") && svg.contains("delay (ms)") && svg.contains("queue (packets)"), "{svg}");
        assert!(svg.contains(">reno</text>"));
        assert!(roxmltree::Document::parse(&svg).is_ok(), "{shape:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{shape:?}");
        let has_words = matches!(shape, Shape::Marked | Shape::Scatter | Shape::Bars | Shape::Boxes);
        assert_eq!(svg.contains("<title>reno at 2 ms</title>"), has_words, "{shape:?}");
    }
}

#[test]
fn a_page_has_both_schemes_and_print_has_one() {
    let page = figure(Shape::Line).to_svg(Theme::Page, Font::Sans);
    let print = figure(Shape::Line).to_svg(Theme::Print, Font::Serif);
    assert!(page.contains("prefers-color-scheme:dark") && !print.contains("prefers-color-scheme"));
    assert!(print.contains("DejaVu Serif"));
}

#[test]
fn a_line_breaks_where_a_value_is_missing() {
    let mut broken = figure(Shape::Line);
    broken.panels[0].series[0].points[1].y = f64::NAN;
    let svg = broken.to_svg(Theme::Page, Font::Sans);
    let path = svg.lines().find(|line| line.contains("stroke-linejoin")).expect("a line");
    assert_eq!(path.matches('M').count(), 2, "{path}");
}

#[test]
fn references_are_drawn_within_the_axes_and_explained() {
    let mut with = figure(Shape::Marked);
    let reference = |x: f64, value, low, high| Reference { curve: 0, x, value, low, high, words: "printed: 5 ± 1".into() };
    with.panels[0].references = vec![
        reference(2.0, Some(5.0), Some(4.0), Some(6.0)),
        reference(3.0, None, Some(3.0), None),
        reference(4.0, None, None, Some(30.0)),
    ];
    let svg = with.to_svg(Theme::Page, Font::Sans);
    assert_eq!(svg.matches("class=\"curve reference\"").count(), 3);
    assert!(svg.contains("as the study prints it") && svg.contains("<title>printed: 5 ± 1</title>"));
    // The axis reaches as far as what is printed.
    assert!(svg.contains(">30</text>"), "{svg}");
}

#[test]
fn shared_reference_is_drawn_once_in_a_color_of_its_own() {
    let mut with = figure(Shape::Marked);
    let reference = |curve| Reference { curve, x: 2.0, value: None, low: Some(4.0), high: Some(6.0), words: String::new() };
    with.panels[0].references = vec![reference(0), reference(1), reference(2)];
    let svg = with.to_svg(Theme::Page, Font::Sans);
    assert_eq!(svg.matches("class=\"curve reference\"").count(), 1);
    let drawn = &svg[svg.find("class=\"curve reference\"").unwrap()..];
    assert!(drawn.lines().nth(1).unwrap().contains("class=\"a\""), "{drawn}");
    assert!(svg.contains("what agrees with the study") && !svg.contains("as the study prints it"));
}

#[test]
fn a_curve_under_another_is_said_to_be() {
    let mut two = figure(Shape::Marked);
    let copy = Series { curve: 1, ..two.panels[0].series[0].clone() };
    two.panels[0].series.push(copy);
    two.curves.push(Curve { name: "cubic".into(), look: Look::of(1) });
    assert!(two.to_svg(Theme::Page, Font::Sans).contains("reno (coincides with cubic)"));
    two.panels[0].series[1].points[3].y += 1.0;
    assert!(!two.to_svg(Theme::Page, Font::Sans).contains("coincides"));
}

#[test]
fn ticks_are_round_numbers_inside() {
    let axis = Axis { min: Some(90.0), max: Some(100.5), ..Axis::default() };
    let texts = |axis: &Axis, values: &[f64]| -> Vec<String> {
        let scale = scale::Scale::new(axis, values.iter().copied(), 0.0, 240.0);
        scale.ticks(40.0).into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(texts(&axis, &[95.0]), ["90", "92", "94", "96", "98", "100"]);
    let log = Axis { log: true, ..Axis::default() };
    assert_eq!(texts(&log, &[1.0, 5000.0]), ["1", "10", "100", "1000"]);
}

#[test]
fn numbers_are_short() {
    let shown = [0.0, 1.0, 27.4449, 0.585_1, 123_456.0, 0.000_1, 3000.0].map(short);
    assert_eq!(shown, ["0", "1", "27.44", "0.585", "1.23e5", "1.00e-4", "3000"]);
}
