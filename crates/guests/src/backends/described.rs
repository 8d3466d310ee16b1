//! For tests of hosts: every key that scenarios describe, given with its example.

use goodqueue_base::spec::Param;
use goodqueue_lab::run::backend::Refusal;
use goodqueue_lab::scenario::plan::{Plan, Point};
use goodqueue_lab::scenario::schema::access::ACCESS;
use goodqueue_lab::scenario::schema::link::LINK;
use goodqueue_lab::scenario::schema::traffic::KINDS;
use std::path::Path;

pub const HEAD: &str = "goodqueue = 1\nduration = \"1 s\"\n";
pub const LINK_TABLE: &str =
    "[link.l]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"1 bdp\"\nbuffer_up = \"100 packets\"\n";

/// A scenario whose link has this line, too.
pub fn of_link(key: &str) -> String {
    format!("{HEAD}{LINK_TABLE}{key}\n[[traffic]]\nkind = \"bulk\"\n")
}

/// A scenario whose one group, `t`, has these lines.
pub fn of_traffic(keys: &str) -> String {
    format!("{HEAD}{LINK_TABLE}[[traffic]]\nname = \"t\"\n{keys}\n")
}

/// The keys that `check` honors, of the link, of access links and of these kinds of traffic. Keys
/// that no scenario with one link can have are left out.
///
/// # Panics
/// If a key is refused by another's name.
pub fn honored(kinds: &[&str], check: impl Fn(&Point) -> Result<(), Refusal>) -> Vec<String> {
    let mut honored = Vec::new();
    let mut judge = |param: &Param, key: String, scenario: &dyn Fn(&str) -> String| {
        let Some(value) = param.written() else { return };
        let Ok(plan) = Plan::parse("test", &scenario(&format!("{} = {value}", param.name)), Path::new("")) else { return };
        let Ok(points) = plan.points() else { return };
        match check(&points[0]) {
            Ok(()) => honored.push(key),
            Err(refusal) => assert_eq!(refusal.key, key, "{refusal}"),
        }
    };
    for param in LINK.params {
        let given = format!("{} =", param.name);
        let others: String =
            LINK_TABLE.lines().filter(|line| !line.starts_with(&given)).map(|line| format!("{line}\n")).collect();
        let scenario = |line: &str| format!("{HEAD}{others}{line}\n[[traffic]]\nkind = \"bulk\"\n");
        judge(param, format!("link.l.{}", param.name), &scenario);
    }
    for param in ACCESS.params {
        let scenario = |line: &str| format!("{HEAD}{LINK_TABLE}[access]\n{line}\n[[traffic]]\nkind = \"bulk\"\n");
        judge(param, format!("access.{}", param.name), &scenario);
    }
    for spec in KINDS.iter().filter(|spec| kinds.contains(&spec.kind)) {
        for param in spec.keys() {
            let needed = spec.base.params.iter().filter(|other| other.is_required() && other.name != param.name);
            let others: String = needed.map(|other| format!("{} = {}\n", other.name, other.example)).collect();
            let scenario = |line: &str| format!("{HEAD}{LINK_TABLE}[[traffic]]\nkind = \"{}\"\n{others}{line}\n", spec.kind);
            judge(param, format!("traffic `{}`: {}", spec.kind, param.name), &scenario);
        }
    }
    honored
}
