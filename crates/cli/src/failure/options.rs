//! Faults of scenarios that were made from options.

use super::Failure;
use goodqueue_lab::scenario::plan::{Fault, PlanError};

/// The options at fault in a scenario that was made from them, whose lines nobody has seen.
pub fn at_options(error: &PlanError, option_of: impl Fn(&str) -> Option<&'static str>) -> Failure {
    let line = |fault: &Fault| {
        let place = option_of(fault.field()).map_or_else(|| fault.place(), str::to_owned);
        let help = fault.suggestion().map_or_else(String::new, |help| format!("; {help}"));
        let parameter = [".queue.", ".queue_up."].iter().find_map(|table| Some(fault.field().split_once(table)?.1));
        let parameter = parameter.filter(|name| *name != "kind").map_or_else(String::new, |name| format!("{name}: "));
        format!("{place}: {parameter}{}{help}", fault.message())
    };
    let mut lines: Vec<String> = Vec::new();
    for line in error.faults().map(line) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Failure::Input(lines.join("\nerror: "))
}
