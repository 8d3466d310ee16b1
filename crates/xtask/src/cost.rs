//! Cost of a packet for every kind of queue, and in whole simulations: instructions, counted by
//! valgrind.
//!
//! `--check` compares them with the table `docs/cost.md` and fails when one has grown.

use crate::result::none_of;
use crate::worlds::{self, WORLDS};
use crate::{Result, tool};
use std::fmt::Write as _;

/// Packets of the two runs whose difference is counted.
const PACKETS: [u32; 2] = [2_000, 22_000];
/// An increase by more than this share, and by more than [`SLACK`], is a regression.
const MAX_GROWTH: f64 = 0.03;
/// The same of a simulation.
const MAX_WORLD_GROWTH: f64 = 0.01;
/// Flows in the table's row of a simulation, which has flows of its own.
const WORLD: &str = "world";
/// Instructions by which a count may differ for incidental reasons, such as code layout.
const SLACK: f64 = 3.0;
const PAGE: &str = "docs/cost.md";

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    flows: String,
    instructions: f64,
}

/// Prints the table, writes it (`--write`) or holds the code to it (`--check`).
pub fn run(args: &[String]) -> Result {
    let option = match args {
        [] => None,
        [one] if one == "--write" || one == "--check" => Some(one.as_str()),
        _ => return Err("takes --check or --write, or nothing".into()),
    };
    if !tool::exists("valgrind", &["--version"]) {
        println!("skipped: instruction counts (valgrind is missing)");
        return Ok(());
    }
    tool::run("cargo", &["build", "--quiet", "--release", "-p", "goodqueue-aqm", "--example", "packet_cost"], &[])?;
    let program = tool::built("examples/packet_cost")?;
    let list = tool::output(&program, &["--list"])?;
    let mut rows = Vec::new();
    for (name, flows) in list.lines().filter_map(|line| line.split_once(' ')) {
        let instructions = instructions(&program, name, flows)?;
        rows.push(Row { name: name.to_owned(), flows: flows.to_owned(), instructions });
    }
    worlds::build()?;
    for world in &WORLDS {
        let (name, flows) = (world.name.to_owned(), WORLD.to_owned());
        rows.push(Row { name, flows, instructions: world.count()? });
    }
    for row in &rows {
        println!("{:24} {:>6} flows {:>8.1} instructions", row.name, row.flows, row.instructions);
    }
    match option {
        Some("--write") => {
            let path = tool::root().join(PAGE);
            Ok(std::fs::write(&path, page(&rows)).map_err(|error| format!("{}: {error}", path.display()))?)
        }
        Some(_) => check(&rows),
        None => Ok(()),
    }
}

/// Instructions of one packet: those of two runs, by difference.
fn instructions(program: &str, name: &str, flows: &str) -> Result<f64> {
    let mut counts = [0.0; 2];
    for (count, packets) in counts.iter_mut().zip(PACKETS) {
        *count = tool::instructions(program, &[name, flows, &packets.to_string()])?;
    }
    Ok((counts[1] - counts[0]) / f64::from(PACKETS[1] - PACKETS[0]))
}

/// The committed table's rows.
fn committed(page: &str) -> Vec<Row> {
    let rows = page.lines().filter(|line| line.starts_with("| `")).filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, flows, instructions] = cells.as_slice() else { return None };
        let instructions = instructions.parse().ok()?;
        let name = name.trim_matches('`').to_owned();
        Some(Row { name, flows: (*flows).to_owned(), instructions })
    });
    rows.collect()
}

fn check(rows: &[Row]) -> Result {
    let path = tool::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let faults = faults(&committed(&page), rows);
    none_of(&format!("regressions against {PAGE} (meant? cargo xtask cost --write)"), &faults)?;
    let [growth, world_growth] = [MAX_GROWTH, MAX_WORLD_GROWTH].map(|share| share * 100.0);
    println!("cost: {} counts, none above {PAGE} by more than {growth:.0} %, worlds {world_growth:.0} %", rows.len());
    Ok(())
}

fn faults(known: &[Row], found: &[Row]) -> Vec<String> {
    let fault = |row: &Row| {
        let Some(old) = known.iter().find(|old| old.name == row.name && old.flows == row.flows) else {
            return Some(format!("{} at {} flows: not in the table", row.name, row.flows));
        };
        let growth = row.instructions - old.instructions;
        let bound = if row.flows == WORLD { MAX_WORLD_GROWTH } else { MAX_GROWTH };
        let is_more = growth > SLACK && growth > old.instructions * bound;
        is_more.then(|| {
            format!("{} at {} flows: {:.1} instructions, were {:.1}", row.name, row.flows, row.instructions, old.instructions)
        })
    };
    found.iter().filter_map(fault).collect()
}

fn page(rows: &[Row]) -> String {
    let mut page = format!(
        "# What a packet costs\n\n\
         One enqueue and one dequeue, timers included, at a standing queue of 100 packets of 1250 bytes whose delay is below every target: the\n\
         cost of an algorithm that has nothing to signal. Kinds are chosen by name at run time, as `gq` does; a program that names the algorithm in\n\
         its types saves one `match` per call. Fair queueing visits its flows in an order that does not favor the cache.\n\n\
         `cargo xtask cost --write` made this page. Instructions (valgrind's callgrind) are the same on every x86-64 machine with the toolchain of\n\
         `rust-toolchain.toml`; `make bench-gate` fails when one grows by more than {:.0} %, or one of a simulation by more than {:.0} %.\n\
         How many packets per second that is stands on [the page of figures](speed.md).\n\n\
         `cake` over 100 flows is expensive. Up to 64 of them go to one host and share its turn, so that a packet takes 34 turns in a row, most of them of\n\
         some twenty bytes. Each is rounded by a random number, as in Linux. A turn takes 40 instructions, and no turn can be skipped: between two\n\
         packets each flow has about one, and the next random number depends on the one before.\n\n\
         `fair:pie` keeps the probability of each of its queues up to date, 66 times per second while anything waits there: as in Linux, PIE does not rest\n\
         (RFC 8033 §5.3) unless it is told to.\n\n\
         `htb` has a leaf for each flow, 1000 at most, below one site: each leaf has half of what it sends to itself and borrows the rest.\n\n\
         | queue | flows | instructions |\n|---|---|---|\n",
        MAX_GROWTH * 100.0,
        MAX_WORLD_GROWTH * 100.0
    );
    let add = |page: &mut String, row: &Row| {
        let Row { name, flows, instructions } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{name}` | {flows} | {instructions:.1} |");
    };
    rows.iter().filter(|row| row.flows != WORLD).for_each(|row| add(&mut page, row));
    page.push_str(
        "\n## Whole simulations\n\n\
         Instructions for each 1500 bytes that the bottleneck carries: senders, acknowledgements, queue, link and measuring.\n\
         `s1` to `s4` are the dumbbells of `tools/bench/peers`; `readme` is the first command of the README.\n\n\
         | simulation | flows | instructions |\n|---|---|---|\n",
    );
    rows.iter().filter(|row| row.flows == WORLD).for_each(|row| add(&mut page, row));
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, instructions: f64) -> Row {
        Row { name: name.to_owned(), flows: "1".to_owned(), instructions }
    }

    #[test]
    fn the_page_is_read_as_it_was_written() {
        let rows = [row("codel", 83.5), row("fair:pie", 210.0)];
        assert_eq!(committed(&page(&rows)), rows);
    }

    #[test]
    fn growth_is_a_fault_and_noise_is_not() {
        let known = [row("codel", 100.0), row("tail-drop", 40.0)];
        assert_eq!(faults(&known, &[row("codel", 103.0), row("tail-drop", 42.9), row("codel", 50.0)]), [""; 0]);
        assert_eq!(faults(&known, &[row("codel", 103.1)]), ["codel at 1 flows: 103.1 instructions, were 100.0"]);
        assert_eq!(faults(&known, &[row("new", 1.0)]), ["new at 1 flows: not in the table"]);
    }

    #[test]
    fn the_count_is_found_in_valgrinds_words() {
        assert_eq!(tool::collected("==7== Events    : Ir\n==7== Collected : 57105842\n==7==\n"), Some(57_105_842.0));
        assert_eq!(tool::collected("nothing"), None);
    }
}
