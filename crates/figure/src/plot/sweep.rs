//! One figure of a result over a swept setting: a line for each queue, with intervals.

use crate::plot::choice::{Metric, Request};
use crate::plot::setting::{Setting, is_queue, last};
use crate::plot::trade_off::{SPREAD, axis, is_log};
use crate::plot::{PlotError, Shown, Source, palette};
use crate::{Axis, Curve, Panel, Point, Series, Shape};
use goodqueue_lab::results::labels::Split;

pub(crate) fn draw(source: &dyn Source, request: &Request, shown: &[Shown]) -> Result<(Panel, Vec<Curve>), PlotError> {
    let none = "sweep: the result has no swept setting with two values but its queues: bars compare them";
    let setting = Setting::swept(source).ok_or_else(|| PlotError::new("figure", none))?;
    let metric = Metric::only(source, request)?;
    let mut panel = Panel::default();
    let (y, factor) = axis(&metric, shown);
    panel.y = Axis { log: is_log(request, &metric, shown), ..y };
    panel.x = across(&setting, shown);
    let lines = Line::all(source, &setting, shown);
    for (curve, line) in lines.iter().enumerate() {
        let point = |place: &usize| {
            let value = metric.values[*place];
            let mean = value.mean? * factor;
            let half = value.ci95.map(|half| half * factor);
            // An interval that nearly reaches zero must not squeeze everything else.
            let least = if panel.y.log { mean / 2.0 } else { f64::NEG_INFINITY };
            let interval = half.map(|half| ((mean - half).max(least), mean + half));
            Some(Point { x: setting.values[*place], y: mean, interval, ..Point::default() })
        };
        let points = line.places.iter().filter_map(point).collect();
        panel.series.push(Series { curve, shape: Shape::Marked, points });
    }
    Ok((panel, lines.into_iter().map(|line| line.curve).collect()))
}

/// The axis of the setting, with a tick at each of its values.
fn across(setting: &Setting, shown: &[Shown]) -> Axis {
    let mut ticks: Vec<f64> = shown.iter().map(|one| setting.values[one.place]).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let (least, most) = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(0.0));
    let log = setting.names.is_none() && least > 0.0 && most > SPREAD * least;
    Axis {
        label: setting.label.clone(),
        unit: setting.unit.clone(),
        log,
        categories: setting.names.clone(),
        ticks: if setting.names.is_none() { ticks } else { Vec::new() },
        ..Axis::default()
    }
}

/// Points that differ in the setting alone, in its order.
struct Line {
    curve: Curve,
    places: Vec<usize>,
}

impl Line {
    fn all(source: &dyn Source, setting: &Setting, shown: &[Shown]) -> Vec<Self> {
        let rest = |place: usize, queues: bool| {
            let kept = |key: &str| key != setting.key && (queues || !is_queue(key));
            let set = source.points()[place].set.iter().filter(|(key, _)| kept(key));
            set.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
        };
        let mut lines: Vec<(String, Vec<usize>)> = Vec::new();
        for one in shown {
            let key = rest(one.place, true);
            match lines.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(one.place),
                None => lines.push((key, vec![one.place])),
            }
        }
        let first = |(_, places): &(String, Vec<usize>)| places[0];
        let kinds: Vec<&str> = lines.iter().map(|line| source.points()[first(line)].queue.as_str()).collect();
        let others: Vec<String> = lines.iter().map(|line| rest(first(line), false)).collect();
        let looks = palette::looks(&kinds, &others.iter().map(String::as_str).collect::<Vec<_>>());
        let line = |((_, mut places), look): ((String, Vec<usize>), _)| {
            places.sort_by(|a, b| setting.values[*a].total_cmp(&setting.values[*b]));
            let name = name(&source.labels().splits[places[0]], setting);
            let name = if name.is_empty() { source.points()[places[0]].queue.clone() } else { name };
            Self { curve: Curve { name, look }, places }
        };
        lines.into_iter().zip(looks).map(line).collect()
    }
}

/// The name of a point without its value of the setting.
fn name(split: &Split, setting: &Setting) -> String {
    let is_value = |part: &str| part.split_once('=').is_some_and(|(name, _)| name == setting.key || name == last(&setting.key));
    let queue = match split.choices.iter().any(|(key, _)| *key == setting.key) {
        true => split
            .choices
            .iter()
            .filter(|(key, _)| *key != setting.key)
            .map(|(_, name)| name.as_str())
            .collect::<Vec<_>>()
            .join(" "),
        false => split.queue.clone().unwrap_or_default(),
    };
    let others = split.setting.split(", ").filter(|part| !part.is_empty() && !is_value(part));
    [queue.as_str()].into_iter().filter(|queue| !queue.is_empty()).chain(others).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Kind;
    use crate::{Hue, Look};
    use goodqueue_lab::results::stored::Stored;
    use serde_json::{Value, json};

    /// A result of these points: what is swept, and the opinion score of a call.
    fn kept(points: &[(Value, f64)]) -> Stored {
        let point = |(set, mos): &(Value, f64)| {
            let queue = set.get("link.l.queue").map_or("codel", |queue| queue.as_str().unwrap());
            json!({"set": set, "queue": queue, "links": {"l": {}}, "groups": {"call": {"flows": 1}}, "flows": [], "jain": {},
                "experience": {"call": {"activity": "call", "mos": {"mean": mos, "ci95": 0.1, "n": 3}}}})
        };
        let text = json!({"schema": "goodqueue.summary/1", "scenario": "home", "host": "sim", "complete": true,
            "points": points.iter().map(point).collect::<Vec<_>>()});
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("summary.json"), text.to_string()).unwrap();
        Stored::load(folder.path()).unwrap()
    }

    fn drawn(source: &Stored) -> (Panel, Vec<Curve>) {
        let request = Request::new(Kind::Sweep);
        draw(source, &request, &crate::plot::choice::shown(source, &request).unwrap()).unwrap()
    }

    fn places(panel: &Panel) -> Vec<Vec<(f64, f64)>> {
        panel.series.iter().map(|series| series.points.iter().map(|point| (point.x, point.y)).collect()).collect()
    }

    #[test]
    fn a_line_per_queue_stands_over_a_swept_number() {
        let set =
            |queue: &str, flows: u32, rtt: &str| json!({"link.l.queue": queue, "traffic.0.flows": flows, "traffic.0.rtt": rtt});
        let all = [
            (set("pie", 16, "20 ms"), 3.0),
            (set("pie", 1, "20 ms"), 4.0),
            (set("codel", 1, "20 ms"), 4.2),
            (set("codel", 16, "20 ms"), 4.1),
            (set("codel", 1, "80 ms"), 3.9),
        ];
        let (panel, curves) = drawn(&kept(&all));
        assert_eq!((panel.x.label.as_str(), panel.x.log, panel.x.ticks.as_slice()), ("Flows", true, &[1.0, 16.0][..]));
        assert_eq!(panel.y.label, "Call quality, MOS");
        assert_eq!(places(&panel), [vec![(1.0, 4.0), (16.0, 3.0)], vec![(1.0, 4.2), (16.0, 4.1)], vec![(1.0, 3.9)]]);
        let looks: Vec<(&str, Look)> = curves.iter().map(|curve| (curve.name.as_str(), curve.look)).collect();
        let look = |hue, place| Look { hue, dash: place, mark: crate::palette::MARKS[place] };
        let expected = [
            ("pie, rtt=20 ms", look(Hue::Orange, 0)),
            ("codel, rtt=20 ms", look(Hue::Blue, 0)),
            ("codel, rtt=80 ms", look(Hue::Blue, 1)),
        ];
        assert_eq!(looks, expected);
    }

    #[test]
    fn values_that_are_no_numbers_are_categories() {
        let (panel, curves) = drawn(&kept(&[(json!({"traffic.0.cc": "reno"}), 4.0), (json!({"traffic.0.cc": "cubic"}), 3.0)]));
        assert_eq!(panel.x.categories, Some(vec!["reno".to_owned(), "cubic".to_owned()]));
        assert_eq!((places(&panel), curves[0].name.as_str()), (vec![vec![(0.0, 4.0), (1.0, 3.0)]], "codel"));
    }

    #[test]
    fn quantities_share_the_unit_of_the_axis() {
        let rate = |rate: &str| (json!({"link.l.rate": rate}), 4.0);
        let (panel, _) = drawn(&kept(&[rate("500 kbit/s"), rate("8 Mbit/s")]));
        assert_eq!((panel.x.unit.as_str(), panel.x.ticks.as_slice()), ("Mbit/s", &[0.5, 8.0][..]));
        let target = |target: &str| (json!({"link.l.queue.target": target}), 4.0);
        let (panel, curves) = drawn(&kept(&[target("5 ms"), target("10 ms")]));
        assert_eq!((panel.x.unit.as_str(), panel.x.log, curves[0].name.as_str()), ("ms", false, "codel"));
    }

    #[test]
    fn the_kind_that_suits_is_a_sweep_of_a_number() {
        let cc = |cc: &str| (json!({"cc": cc}), 4.0);
        assert_eq!(Kind::suiting(&kept(&[cc("reno"), cc("cubic")])), Kind::Bars);
        assert_eq!(Kind::suiting(&kept(&[(json!({"flows": 1}), 4.0), (json!({"flows": 2}), 4.0)])), Kind::Sweep);
        assert_eq!(
            Kind::suiting(&kept(&[(json!({"link.l.queue": "pie"}), 4.0), (json!({"link.l.queue": "codel"}), 4.0)])),
            Kind::Bars
        );
    }
}
