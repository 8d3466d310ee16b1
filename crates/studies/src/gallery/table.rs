//! The studies' tables: measured values next to the printed ones.

use crate::gallery::expr::{self, ExprError, Fault, Value};
use crate::gallery::files::{ColumnSpec, TableSpec};
use crate::gallery::samples::{self, Filter, Measured, Points, PointsEnv, View};
use goodqueue_lab::results::statistics::Figure;
use std::rc::Rc;

/// A filled table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The table, as `paper.toml` defines it.
    pub spec: TableSpec,
    /// Names of rows, and their cells.
    pub rows: Vec<(String, Vec<Cell>)>,
}

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Mean over replications, or why there is none.
    pub measured: Result<f64, ExprError>,
    /// Half-width of the 95 % interval.
    pub half: Option<f64>,
    /// The value that the study prints.
    pub printed: Option<f64>,
}

/// Fills a table. In its measures `row` is the axis's value: a number, or a name.
///
/// # Errors
/// When an experiment was not run or the axis is not there.
pub fn fill(paper: &str, spec: &TableSpec, measured: &Rc<[Measured]>) -> Result<Table, Fault> {
    let mut names: Vec<(String, Value)> = Vec::new();
    for id in spec.experiment.get_ref() {
        let one = samples::needed(measured, id)?;
        let axis = one.experiment.axis(spec.rows.get_ref())?;
        for at in Filter::of_spec(&spec.filter).points(&one.experiment)? {
            let value = &axis.values[at];
            if !names.iter().any(|(known, _)| *known == value.text) {
                names.push((value.text.clone(), value.value()));
            }
        }
    }
    let replications = samples::replications(measured, spec.experiment.get_ref().iter().map(String::as_str));
    let source = Rc::new(Points { measured: Rc::clone(measured), paper: paper.to_owned() });
    let rows = names.into_iter().map(|(name, row)| {
        let cells = spec.columns.iter().map(|column| {
            let ask = |view| {
                let expr = expr::parse(column.measure.get_ref(), &["row"])?;
                let env = PointsEnv { source: Rc::<Points>::clone(&source), replications, view, here: None };
                match expr::evaluate(&expr, &[("row", row.clone())], Rc::new(env))? {
                    Value::Number(number) => Ok(number),
                    other => {
                        let message = format!("the measure gives {}: expected a number", other.kind());
                        Err(ExprError { at: 0, fault: Fault::Type(message) })
                    }
                }
            };
            let each = (0..replications).map(|number| ask(View::Replication(number)).ok());
            Cell { measured: ask(View::Mean), half: Figure::of(each).ci95, printed: column.printed.get(&name).copied() }
        });
        (name.clone(), cells.collect())
    });
    Ok(Table { rows: rows.collect(), spec: spec.clone() })
}

impl Table {
    /// As comma-separated values: each column measured, half-width and printed.
    #[must_use]
    pub fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut text = quoted(self.spec.rows.get_ref());
        for column in self.spec.columns.iter().map(ColumnSpec::heading) {
            text.push_str(&format!(
                ",{},{},{}",
                quoted(&column),
                quoted(&format!("{column} ±")),
                quoted(&format!("{column} printed"))
            ));
        }
        text.push('\n');
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        for (name, cells) in &self.rows {
            text.push_str(&quoted(name));
            for cell in cells {
                text.push_str(&format!(
                    ",{},{},{}",
                    number(cell.measured.as_ref().ok().copied()),
                    number(cell.half),
                    number(cell.printed)
                ));
            }
            text.push('\n');
        }
        text
    }
}
