//! One figure of a result: a bar per point, those of one setting side by side.

use crate::plot::choice::{Metric, Request, Scale};
use crate::plot::trade_off::axis;
use crate::plot::{PlotError, Shown, Source, distinct};
use crate::{Curve, Panel, Point, Series, Shape};

pub(crate) fn draw(source: &dyn Source, request: &Request, shown: &[Shown]) -> Result<(Panel, Vec<Curve>), PlotError> {
    if request.scale == Some(Scale::Log) {
        return Err(PlotError::new("scale", "`log`: the length of a bar is its value, so bars have a linear scale"));
    }
    let metric = Metric::only(source, request)?;
    let mut panel = Panel::default();
    let (y, factor) = axis(&metric, shown);
    panel.y = y;
    let groups = Groups::of(source, shown);
    for (curve, bars) in groups.curves.iter().enumerate() {
        let bar = |(category, place): &(usize, usize)| {
            let value = metric.values[*place];
            let mean = value.mean? * factor;
            let interval = value.ci95.map(|half| ((mean - half * factor).max(0.0), mean + half * factor));
            Some(Point { x: *category as f64, y: mean, interval, ..Point::default() })
        };
        panel.series.push(Series { curve, shape: Shape::Bars, points: bars.iter().filter_map(bar).collect() });
    }
    panel.x.categories = Some(groups.categories);
    Ok((panel, groups.named))
}

/// The arrangement of bars: by setting, with a bar per queue, where both vary; otherwise by point.
struct Groups {
    categories: Vec<String>,
    /// Looks, with names for the legend.
    named: Vec<Curve>,
    /// For each look, its categories and the places of their points in the result.
    curves: Vec<Vec<(usize, usize)>>,
}

impl Groups {
    fn of(source: &dyn Source, shown: &[Shown]) -> Self {
        let splits = &source.labels().splits;
        let queue_of = |one: &Shown| splits[one.place].queue.as_deref().unwrap_or_default();
        let settings = distinct(shown.iter().map(|one| splits[one.place].setting.as_str()));
        let queues = distinct(shown.iter().map(queue_of));
        if settings.len() < 2 || queues.len() < 2 {
            return Self {
                categories: shown.iter().map(|one| one.curve.name.clone()).collect(),
                // Names stand at the axis, so a legend would only repeat them.
                named: shown.iter().map(|one| Curve { name: String::new(), ..one.curve.clone() }).collect(),
                curves: shown.iter().enumerate().map(|(category, one)| vec![(category, one.place)]).collect(),
            };
        }
        let of_queue = |queue: &&str| -> Vec<&Shown> { shown.iter().filter(|one| queue_of(one) == *queue).collect() };
        let place = |one: &Shown| settings.iter().position(|setting| *setting == splits[one.place].setting).unwrap_or(0);
        let named = |queue: &&str| of_queue(queue).first().map(|one| Curve { name: (*queue).to_owned(), look: one.curve.look });
        Self {
            categories: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            named: queues.iter().filter_map(named).collect(),
            curves: queues.iter().map(|queue| of_queue(queue).into_iter().map(|one| (place(one), one.place)).collect()).collect(),
        }
    }
}
