//! The choice of what is drawn of a result: figure, link, group, metric, points.

use crate::Curve;
use crate::plot::setting::Setting;
use crate::plot::source::Subject;
use crate::plot::{PlotError, Shown, Source, distinct, palette};
use goodqueue_lab::results::experience::Activity;
use goodqueue_lab::results::metrics::{Description, GROUP_METRICS, LINK_METRICS, Quantity};
use goodqueue_lab::results::statistics::Figure;
use goodqueue_lab::results::summary::PointSummary;

/// Kinds of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One figure of a result against another, a mark per point.
    TradeOff,
    /// Distributions of times in the queue, or of round trips.
    Cdf,
    /// Sampled values over time.
    Time,
    /// One figure of a result, a bar per point.
    Bars,
    /// One figure of a result over a swept setting, a line per queue.
    Sweep,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::TradeOff, Self::Cdf, Self::Time, Self::Bars, Self::Sweep];

    /// Returns the name of the kind in interfaces.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TradeOff => "tradeoff",
            Self::Cdf => "cdf",
            Self::Time => "time",
            Self::Bars => "bars",
            Self::Sweep => "sweep",
        }
    }

    /// The kind that shows most of a result: a sweep where a number is swept, otherwise bars.
    #[must_use]
    pub fn suiting(source: &dyn Source) -> Self {
        if Setting::swept(source).is_some_and(|setting| setting.names.is_none()) { Self::Sweep } else { Self::Bars }
    }

    /// The kind of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, PlotError> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| unknown("figure", "kind of figure", name, names))
    }
}

/// The scale of the axis of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithms.
    Log,
}

impl Scale {
    /// The scale of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<Self, PlotError> {
        match name {
            "linear" => Ok(Self::Linear),
            "log" => Ok(Self::Log),
            _ => Err(unknown("scale", "scale", name, ["linear", "log"])),
        }
    }
}

/// A request to draw a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The kind of figure.
    pub kind: Kind,
    /// A link; the first of the result where none is given.
    pub link: Option<String>,
    /// A group of flows, instead of a link.
    pub group: Option<String>,
    /// Names of figures or of sampled values; what suits the kind where none is given.
    pub metric: Vec<String>,
    /// Names of the points to draw; all where none is given.
    pub only: Vec<String>,
    /// Scale of the axis of times; what suits the values where none is given.
    pub scale: Option<Scale>,
    /// A title above the figure.
    pub title: Option<String>,
}

impl Request {
    /// A figure of this kind of all points.
    #[must_use]
    pub const fn new(kind: Kind) -> Self {
        Self { kind, link: None, group: None, metric: Vec::new(), only: Vec::new(), scale: None, title: None }
    }

    /// The group or the link that is asked for.
    pub(crate) fn subject(&self, source: &dyn Source) -> Result<Subject, PlotError> {
        let known_links = names(source, |point| point.links.iter().map(|(name, _)| name.clone()).collect());
        let known_groups = names(source, |point| point.groups.iter().map(|(name, _)| name.clone()).collect());
        let check = |field, what, name: &str, known: &[String]| {
            if known.iter().any(|known| known == name) {
                return Ok(name.to_owned());
            }
            Err(unknown(field, what, name, known.iter().map(String::as_str)))
        };
        match (&self.link, &self.group) {
            (Some(_), Some(_)) => Err(PlotError::new("group", "a figure is of a link or of a group, not of both")),
            (_, Some(group)) => Ok(Subject::Group(check("group", "group", group, &known_groups)?)),
            (Some(link), None) => Ok(Subject::Link(check("link", "link", link, &known_links)?)),
            (None, None) => known_links
                .into_iter()
                .next()
                .map(Subject::Link)
                .ok_or_else(|| PlotError::new("result", "it has no link whose queue is described")),
        }
    }

    /// That no metric is given where there is nothing to choose.
    pub(crate) fn without_metric(&self) -> Result<(), PlotError> {
        match self.metric.first() {
            None => Ok(()),
            Some(name) => {
                Err(PlotError::new("metric", format!("`{name}`: the figure {} has no metric to choose", self.kind.name())))
            }
        }
    }
}

/// All names that points have.
fn names(source: &dyn Source, of: impl Fn(&PointSummary) -> Vec<String>) -> Vec<String> {
    distinct(source.points().iter().flat_map(of))
}

pub(crate) fn unknown<'a>(field: &'static str, what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> PlotError {
    let known: Vec<&str> = known.into_iter().collect();
    let message = match goodqueue_base::spec::nearest(name, known.iter().copied()) {
        Some(close) => format!("there is no {what} `{name}`; did you mean `{close}`?"),
        None if known.is_empty() => format!("there is no {what} `{name}`"),
        None => format!("there is no {what} `{name}`: allowed {}", known.join(", ")),
    };
    PlotError::new(field, message)
}

/// The points that are asked for, in the looks that all of them have in the report.
pub(crate) fn shown(source: &dyn Source, request: &Request) -> Result<Vec<Shown>, PlotError> {
    let labels = &source.labels().names;
    if labels.is_empty() {
        return Err(PlotError::new("result", "it has no finished run"));
    }
    for name in &request.only {
        if !labels.contains(name) {
            return Err(unknown("only", "point", name, labels.iter().map(String::as_str)));
        }
    }
    let queues: Vec<&str> = source.points().iter().map(|point| point.queue.as_str()).collect();
    let settings: Vec<&str> = source.labels().splits.iter().map(|split| split.setting.as_str()).collect();
    let looks = palette::looks(&queues, &settings);
    let one = |(place, (name, look)): (usize, (&String, _))| Shown { place, curve: Curve { name: name.clone(), look } };
    let is_wanted = |shown: &Shown| request.only.is_empty() || request.only.contains(&shown.curve.name);
    Ok(labels.iter().zip(looks).enumerate().map(one).filter(is_wanted).collect())
}

/// A figure of results: what it is, and its value at each point of the result.
pub(crate) struct Metric {
    pub(crate) about: &'static Description,
    pub(crate) values: Vec<Figure>,
}

impl Metric {
    /// The figure of this name: of the group, as what it got or as what was counted, or of the
    /// link.
    pub(crate) fn named(source: &dyn Source, subject: &Subject, name: &str) -> Result<Self, PlotError> {
        let points = source.points();
        let of_group = |group: &str| -> Option<Self> {
            let got = |point: &'_ PointSummary| {
                let (_, got) = point.experience.iter().find(|(known, _)| known == group)?;
                got.figures.iter().find(|(about, _)| about.name == name)
            };
            if let Some(about) = points.iter().find_map(|point| got(point).map(|(about, _)| about)) {
                let values = points.iter().map(|point| got(point).map_or_else(Figure::default, |(_, value)| value)).collect();
                return Some(Self { about, values });
            }
            let about = GROUP_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == name)?;
            let value = |point: &PointSummary| {
                let found = point.groups.iter().find(|(known, _)| known == group);
                found.map_or_else(Figure::default, |(_, group)| group.figures.figure(name))
            };
            Some(Self { about, values: points.iter().map(value).collect() })
        };
        let of_link = |link: &str| -> Option<Self> {
            let about = LINK_METRICS.iter().map(|metric| &metric.about).find(|about| about.name == name)?;
            let value = |point: &PointSummary| point.link(link).map_or_else(Figure::default, |figures| figures.figure(name));
            Some(Self { about, values: points.iter().map(value).collect() })
        };
        let found = match subject {
            Subject::Link(link) => of_link(link),
            // A figure that a group does not have is taken from the first link, to weigh what the
            // group got against the use of the line.
            Subject::Group(group) => of_group(group).or_else(|| of_link(&points.first()?.links.first()?.0)),
        };
        let metric = found.ok_or_else(|| unknown("metric", "figure", name, known_names(source, subject)))?;
        if metric.values.iter().all(|value| value.mean.is_none()) {
            return Err(PlotError::new("metric", format!("`{name}` is not defined at any point of this result")));
        }
        Ok(metric)
    }

    /// The only figure of a kind that shows one: what people notice first, where neither a subject
    /// nor a figure is asked for.
    pub(crate) fn only(source: &dyn Source, request: &Request) -> Result<Self, PlotError> {
        let is_open = request.link.is_none() && request.group.is_none() && request.metric.is_empty();
        if let Some(noticed) = Self::noticed(source).filter(|_| is_open) {
            return Ok(noticed);
        }
        let subject = request.subject(source)?;
        match request.metric.as_slice() {
            [] => Self::delay(source, &subject),
            [one] => Self::named(source, &subject, one),
            [_, more, ..] => {
                Err(PlotError::new("metric", format!("`{more}`: the figure {} shows one metric", request.kind.name())))
            }
        }
    }

    /// The first figure that decides between queues, without losses and bad parts of calls, of
    /// which most queues have none.
    fn noticed(source: &dyn Source) -> Option<Self> {
        let groups = || source.points().iter().flat_map(|point| &point.experience);
        Activity::ALL.into_iter().find_map(|activity| {
            let (group, _) = groups().find(|(_, got)| got.activity == activity)?;
            let names = activity.deciding().map(|(_, metric)| metric.about.name);
            let mut names = names.filter(|name| !matches!(*name, "loss_ratio" | "bad_ratio"));
            names.find_map(|name| Self::named(source, &Subject::Group(group.clone()), name).ok())
        })
    }

    /// The figure that shows best what a queue does: a high percentile of a delay where there is
    /// one.
    pub(crate) fn delay(source: &dyn Source, subject: &Subject) -> Result<Self, PlotError> {
        let wanted: &[&str] = match subject {
            Subject::Link(_) => &["sojourn_s.p95"],
            Subject::Group(_) => &["one_way_delay_s.p95", "page_load_s.p95", "completion_s.p95", "rtt_s.p95", "sojourn_s.p95"],
        };
        let found = wanted.iter().find_map(|name| Self::named(source, subject, name).ok());
        found.ok_or_else(|| PlotError::new("metric", "there is no delay to draw: name a figure of gq list metric"))
    }
}

fn known_names(source: &dyn Source, subject: &Subject) -> Vec<&'static str> {
    let defined = |figures: &goodqueue_lab::results::summary::Figures| -> Vec<&'static str> {
        figures.iter().filter(|(_, value)| value.mean.is_some()).map(|(about, _)| about.name).collect()
    };
    let Some(point) = source.points().first() else { return Vec::new() };
    match subject {
        Subject::Link(link) => point.link(link).map(defined).unwrap_or_default(),
        Subject::Group(group) => {
            point.groups.iter().find(|(known, _)| known == group).map(|(_, group)| defined(&group.figures)).unwrap_or_default()
        }
    }
}

/// The title of an axis for a figure: `Sojourn time, p95`.
pub(crate) fn title(about: &Description) -> String {
    const STATISTICS: [&str; 7] = ["mean", "p25", "p50", "p75", "p95", "p99", "max"];
    let last = about.name.rsplit('.').next().filter(|last| STATISTICS.contains(last));
    let base = match (last, about.label.rsplit_once(' ')) {
        (Some(last), Some((base, end))) if end.eq_ignore_ascii_case(last) => base.trim_end_matches(','),
        // Next to the mean, columns are headed by the statistic alone.
        (Some(_), _) => mean_label(about).unwrap_or(about.label),
        (None, _) => about.label,
    };
    let is_bare = about.quantity == Quantity::Time && ["Sojourn", "Completion"].contains(&base);
    let base = if is_bare { format!("{base} time") } else { base.to_owned() };
    match last {
        Some(last) => format!("{base}, {last}"),
        None => base,
    }
}

fn mean_label(about: &Description) -> Option<&'static str> {
    let (section, _) = about.name.rsplit_once('.')?;
    let mean = LINK_METRICS.iter().map(|metric| &metric.about).find(|mean| mean.name.strip_suffix(".mean") == Some(section))?;
    mean.label.strip_suffix(" mean")
}
