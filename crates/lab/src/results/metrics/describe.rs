//! The name and meaning of a figure, and its form in tables: data next to the function that
//! computes it.

use serde::Serialize;

/// A figure: its description and the function that computes it.
///
/// Results, tables, the report, `gq list metric` and `docs/results.md` are made from lists of
/// these, so a figure that is in a list is everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Metric<F> {
    /// The description of the figure.
    pub about: Description,
    /// The value in one run; `None` where it is not defined.
    pub of: F,
}

/// A figure's name and meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Description {
    /// The key in `summary.json`, with dots between nested keys.
    pub name: &'static str,
    /// The kind of quantity.
    pub quantity: Quantity,
    /// The meaning of the figure, in a sentence.
    pub doc: &'static str,
    /// When results have it.
    pub presence: Presence,
    /// The direction in which values are better.
    pub better: Better,
    /// The heading of its column in the report.
    pub label: &'static str,
    /// When the report shows its column.
    pub shown: Shown,
    /// Digits after the decimal point where the usual number of them hides what matters.
    pub decimals: Option<u8>,
    /// The column in the printed table; `None` leaves it out.
    pub printed: Option<Printed>,
}

impl Description {
    /// A value of the figure as results have it: a number, and a share at most the whole. A
    /// measured part begins while packets are under way, and what of them ends in it has begun
    /// before: that may be more than all that began in it.
    #[must_use]
    pub(super) fn bounded(&self, value: Option<f64>) -> Option<f64> {
        let value = value.filter(|value| value.is_finite())?;
        Some(if self.quantity == Quantity::Ratio { value.clamp(0.0, 1.0) } else { value })
    }

    /// Whether it is a percentile, by its name: such a figure is no finer than the histogram it is
    /// read from.
    #[must_use]
    pub fn is_percentile(&self) -> bool {
        let last = self.name.rsplit('.').next().unwrap_or(self.name);
        last == "max" || last.strip_prefix('p').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
    }
}

/// The quantity that a number counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A time in seconds.
    Time,
    /// A rate in bit/s.
    Rate,
    /// Bytes.
    Bytes,
    /// Packets that wait, in the mean.
    Packets,
    /// A part of a whole, people read it in per cent.
    Ratio,
    /// A plain number.
    Number,
    /// A count of this.
    Count(&'static str),
}

impl Quantity {
    /// The unit of values; "1" for plain numbers.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Rate => "bit/s",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Ratio | Self::Number => "1",
            Self::Count(of) => of,
        }
    }

    /// The name in the data of the report.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Rate => "rate",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Ratio => "ratio",
            Self::Number | Self::Count(_) => "number",
        }
    }
}

/// When results have a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Always,
    /// When some figure of its section, the part of the name before the first dot, is defined:
    /// figures of some kinds of traffic only.
    WithSection,
}

/// The direction in which values of a figure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger ones.
    Higher,
    /// Smaller ones.
    Lower,
    /// Neither: it depends on the goal.
    Neither,
}

/// When the report shows a figure's column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// At once.
    AtOnce,
    /// When the reader asks for all columns.
    WithAll,
}

/// A column of the printed table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Printed {
    /// The first line of its heading; columns side by side with the same head share a unit.
    pub head: &'static str,
    /// The second line, before the unit: `p95`.
    pub part: &'static str,
    /// The unit.
    pub unit: PrintedUnit,
    /// Columns of a lower place stand further left; those of one place keep the order of the list.
    pub place: u8,
    /// Columns of a higher rank are left out first where there is no room.
    pub rank: u8,
    /// When it is printed.
    pub when: When,
}

impl Printed {
    /// A column that is printed where a row has a value.
    pub(crate) const fn new(head: &'static str, part: &'static str) -> Self {
        Self { head, part, unit: PrintedUnit::Suitable, place: 1, rank: 1, when: When::Defined }
    }
}

/// The unit of a printed column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrintedUnit {
    /// The quantity's own that suits the values.
    Suitable,
    /// This unit, and how many of it make one SI unit.
    Fixed(&'static str, f64),
}

/// When a column is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Always.
    Always,
    /// When a row has a value.
    Defined,
}

/// A column of the report: a description in the form that pages read.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnData {
    name: &'static str,
    label: &'static str,
    meaning: &'static str,
    quantity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    better: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decimals: Option<u8>,
    main: bool,
}

impl From<&'static Description> for ColumnData {
    fn from(about: &'static Description) -> Self {
        Self {
            name: about.name,
            label: about.label,
            meaning: about.doc,
            quantity: about.quantity.name(),
            better: match about.better {
                Better::Higher => Some("higher"),
                Better::Lower => Some("lower"),
                Better::Neither => None,
            },
            decimals: about.decimals,
            main: about.shown == Shown::AtOnce,
        }
    }
}

/// The descriptions of each of these figures.
pub fn descriptions<F>(metrics: &'static [Metric<F>]) -> impl Iterator<Item = &'static Description> {
    metrics.iter().map(|metric| &metric.about)
}

impl<F: Copy> Metric<F> {
    /// A figure that results always have, shown in the report when all columns are.
    pub(crate) const fn new(name: &'static str, quantity: Quantity, label: &'static str, doc: &'static str, of: F) -> Self {
        let about = Description {
            name,
            quantity,
            doc,
            presence: Presence::Always,
            better: Better::Neither,
            label,
            shown: Shown::WithAll,
            decimals: None,
            printed: None,
        };
        Self { about, of }
    }

    /// Larger values are better.
    pub(super) const fn higher_is_better(self) -> Self {
        Self { about: Description { better: Better::Higher, ..self.about }, ..self }
    }

    /// Smaller values are better.
    pub(super) const fn lower_is_better(self) -> Self {
        Self { about: Description { better: Better::Lower, ..self.about }, ..self }
    }

    /// The report shows it at once.
    pub(super) const fn at_once(self) -> Self {
        Self { about: Description { shown: Shown::AtOnce, ..self.about }, ..self }
    }

    /// The report shows it with this number of digits after the decimal point.
    pub(super) const fn decimals(self, decimals: u8) -> Self {
        Self { about: Description { decimals: Some(decimals), ..self.about }, ..self }
    }

    /// Marks the figure as one of some kinds of traffic only.
    pub(super) const fn with_section(self) -> Self {
        Self { about: Description { presence: Presence::WithSection, ..self.about }, ..self }
    }

    /// The printed table has it, always.
    pub(super) const fn printed(self, head: &'static str, part: &'static str, rank: u8) -> Self {
        self.in_column(Printed { rank, when: When::Always, ..Printed::new(head, part) })
    }

    /// The printed table has it where a row has a value.
    pub(super) const fn printed_if_defined(self, head: &'static str, part: &'static str, rank: u8) -> Self {
        self.in_column(Printed { rank, ..Printed::new(head, part) })
    }

    /// The printed table has it in this unit, of which the SI unit has `scale`, where a row has a
    /// value.
    pub(super) const fn printed_in(
        self,
        head: &'static str,
        part: &'static str,
        (unit, scale): (&'static str, f64),
        rank: u8,
    ) -> Self {
        self.in_column(Printed { rank, unit: PrintedUnit::Fixed(unit, scale), ..Printed::new(head, part) })
    }

    /// Sets the place of the column in the printed table.
    pub(super) const fn at_place(self, place: u8) -> Self {
        let Some(printed) = self.about.printed else { return self };
        self.in_column(Printed { place, ..printed })
    }

    const fn in_column(self, printed: Printed) -> Self {
        Self { about: Description { printed: Some(printed), ..self.about }, ..self }
    }
}
