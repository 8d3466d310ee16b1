//! LibreQoS' `ShapedDevices.csv`: one circuit.

use super::lines::{Lines, Setting, Shaper, device, numbered};
use crate::import::rows::fields;
use crate::import::tc::ifb_of;
use crate::import::{Draft, ImportError, Input};
use crate::router::dialect::libreqos::LIBREQOS;
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_lab::verdict::words::list;

/// The queue of circuits that name none, as LibreQoS comes.
const USUAL: &str = "cake";
/// The tins of all circuits, as LibreQoS comes.
const TINS: &str = "diffserv4";

/// Columns that every file has are missing from its head: those of these that were not found.
pub fn no_columns(input: &Input, head: &[String], found: [Option<usize>; 3]) -> ImportError {
    let text = head.join(",");
    let separator = [(';', "semicolons"), ('\t', "tabs")].into_iter().find(|(sign, _)| text.matches(*sign).count() >= 3);
    let named = ["Circuit ID", "Download Max Mbps", "Upload Max Mbps"].into_iter().zip(found);
    // A head in one piece has none of them, whatever it begins with.
    let is_missing = |found: Option<usize>| separator.is_some() || found.is_none();
    let missing: Vec<&str> = named.filter(|(_, found)| is_missing(*found)).map(|(name, _)| name).collect();
    let help = separator.map_or_else(String::new, |(_, name)| format!("; its fields stand between {name}: save it with commas"));
    let columns = if missing.len() == 1 { "column" } else { "columns" };
    input.fault(format!("has no {columns} {}{help}", list(&missing)))
}

/// A line from a circuit, by its number or name, or from the first.
///
/// # Errors
/// When the file has no such circuit, or a rate that no circuit can have.
pub fn import(input: &Input, circuit: Option<&str>) -> Result<Draft, ImportError> {
    let mut rows = numbered(input)?.into_iter().filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let head: Vec<String> = rows.next().map(|(_, text)| fields(text, ',')).unwrap_or_default();
    let column = |name: &str| head.iter().position(|one| one.trim().to_lowercase().starts_with(name));
    let found = ["circuit id", "download max", "upload max"].map(column);
    let [Some(id), Some(down), Some(up)] = found else {
        return Err(no_columns(input, &head, found));
    };
    let field = |row: &[String], at: usize| row.get(at).map_or_else(String::new, |one| one.trim().to_owned());
    let name = column("circuit name");
    let is_meant = |(_, row): &(usize, Vec<String>)| {
        circuit.is_none_or(|wanted| field(row, id) == wanted || name.is_some_and(|name| field(row, name) == wanted))
    };
    let mut rows = rows.map(|(line, text)| (line, fields(text, ',')));
    let Some((line, row)) = rows.by_ref().find(is_meant) else {
        return Err(
            input.fault(circuit.map_or("has no circuit".to_owned(), |wanted| format!("has no circuit {}", excerpt(wanted))))
        );
    };
    let mut lines = Lines::default();
    let mut others = 0;
    for (later, other) in rows {
        others += 1;
        let is_same = field(&other, id) == field(&row, id);
        if is_same && [down, up].into_iter().any(|at| field(&other, at) != field(&row, at)) {
            let shown = excerpt(&field(&row, id));
            return Err(input.fault(format!("line {later}: Circuit ID: `{shown}` has other rates than in line {line}")));
        }
    }
    if circuit.is_none() && others > 0 {
        lines.notes.push(format!("There are {} rows; this is the first: name a circuit with --site.", others + 1));
    }
    let said = column("sqm").map(|at| field(&row, at)).filter(|said| !said.is_empty()).unwrap_or_else(|| USUAL.to_owned());
    let (kind_down, kind_up) = said.split_once('/').unwrap_or((&said, &said));
    let dev = device(&field(&row, id));
    for (dev, at, kind) in [(dev.clone(), up, kind_up), (ifb_of(&dev), down, kind_down)] {
        let rate = Setting::new(line, &head[at], &field(&row, at));
        let mbit = rate.value.parse::<f64>().ok().filter(|mbit| (0.2..=1e7).contains(mbit));
        let mbit = mbit.ok_or_else(|| rate.wrong(input, "0.2 to 10000000"))?;
        let kind = if kind.is_empty() { USUAL } else { kind };
        let words = lines.said(input, &LIBREQOS, kind, &[])?;
        let words = words.ok_or_else(|| Setting::new(line, "sqm", kind).wrong(input, "cake or fq_codel"))?;
        let tins = if kind == "cake" { format!(" {TINS}") } else { String::new() };
        let shaper = Shaper { bit_s: (mbit * 1e6).round() as u64, burst: 0, stab: String::new() };
        lines.queue(&dev, Some(&shaper), &format!("{words}{tins}"));
    }
    lines.draft(input, "libreqos", None)
}
