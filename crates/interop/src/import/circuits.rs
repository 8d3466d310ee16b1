//! LibreQoS' `ShapedDevices.csv` and `network.json`: all circuits with the sites that they share.

use crate::import::config::fields;
use crate::import::{ImportError, Input};
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Rate;
use goodqueue_lab::run::circuits::{Circuit, Network, Site, Ways};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Faults of which each is told; of more, the number.
pub const MAX_FAULTS: usize = 20;
/// Longer files are of no network.
const MAX_LINES: usize = 200_000;
/// Rates of circuits in Mbit/s: LibreQoS skips slower ones.
const CIRCUITS: (f64, f64) = (0.2, 100_000.0);
/// Capacities of sites in Mbit/s.
const SITES: (f64, f64) = (0.2, 10_000_000.0);
/// The rate that is kept for a circuit without a minimum of its own, in Mbit/s.
const USUAL_LEAST: f64 = 1.0;
/// Sites behind one another.
const MAX_DEPTH: usize = 64;

/// Files that are no network: the first faults, with their lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Faults {
    first: Vec<ImportError>,
    all: usize,
}

impl Faults {
    fn one(fault: ImportError) -> Self {
        Self { first: vec![fault], all: 1 }
    }

    fn text(&self) -> String {
        let mut lines: Vec<String> = self.first.iter().map(ToString::to_string).collect();
        if self.all > self.first.len() {
            lines.push(format!("… and {} faults more", self.all - self.first.len()));
        }
        lines.join("\n")
    }

    fn add(&mut self, fault: impl FnOnce() -> ImportError) {
        self.all += 1;
        if self.first.len() < MAX_FAULTS {
            self.first.push(fault());
        }
    }
}

/// Circuits with their sites, and notes on what of the files is not in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The circuits and sites.
    pub network: Network,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// Reads the circuits, and the sites where there is a file of them.
///
/// # Errors
/// All that is wrong in the files: the first twenty faults with their lines.
pub fn read(circuits: &Input, sites: Option<&Input>) -> Result<Read, Faults> {
    let mut network = Network::default();
    let mut places = HashMap::new();
    let mut faults = Faults { first: Vec::new(), all: 0 };
    if let Some(sites) = sites {
        let json = sites.json().map_err(Faults::one)?;
        let Value::Object(nodes) = json else { return Err(Faults::one(sites.fault("is no JSON object of sites"))) };
        let mut reader = Sites { input: sites, network: &mut network, places: &mut places, faults: &mut faults };
        reader.read(&nodes, None, "", 0);
    }
    let mut notes = Vec::new();
    rows(circuits, sites.map(|_| &places), &mut network, &mut faults, &mut notes)?;
    if faults.all > 0 {
        return Err(faults);
    }
    if network.circuits.is_empty() {
        return Err(Faults::one(circuits.fault("has no circuits")));
    }
    Ok(Read { network, notes })
}

struct Sites<'a> {
    input: &'a Input,
    network: &'a mut Network,
    /// The site that circuits of each name are behind; none of a virtual one without a real one
    /// before it.
    places: &'a mut HashMap<String, Option<usize>>,
    faults: &'a mut Faults,
}

impl Sites<'_> {
    fn read(&mut self, nodes: &Map<String, Value>, parent: Option<usize>, path: &str, depth: usize) {
        let input = self.input;
        if depth > MAX_DEPTH {
            self.faults.add(|| input.fault(format!("{path}: is too deep: allowed up to {MAX_DEPTH} sites behind one another")));
            return;
        }
        for (name, node) in nodes {
            let path = if path.is_empty() { excerpt(name).to_string() } else { format!("{path} / {}", excerpt(name)) };
            let Value::Object(node) = node else {
                self.faults.add(|| input.fault(format!("{path}: is no JSON object of a site")));
                continue;
            };
            let is_virtual = node.get("virtual").and_then(Value::as_bool).unwrap_or(false);
            let rates = ["downloadBandwidthMbps", "uploadBandwidthMbps"].map(|key| self.rate(node, key, &path, is_virtual));
            let own = match rates {
                [Some(down), Some(up)] if !is_virtual => {
                    self.network.sites.push(Site { name: name.clone(), parent, rate: Ways { down, up } });
                    Some(self.network.sites.len() - 1)
                }
                _ => parent,
            };
            if self.places.insert(name.clone(), own).is_some() {
                self.faults.add(|| input.fault(format!("{path}: is there twice: circuits name their site by its name alone")));
            }
            match node.get("children") {
                None | Some(Value::Null) => {}
                Some(Value::Object(children)) => self.read(children, own, &path, depth + 1),
                Some(_) => self.faults.add(|| input.fault(format!("{path}: children: is no JSON object of sites"))),
            }
        }
    }

    fn rate(&mut self, node: &Map<String, Value>, key: &str, path: &str, is_virtual: bool) -> Option<Rate> {
        let value = node.get(key);
        let rate = value.and_then(Value::as_f64).filter(|mbit| (SITES.0..=SITES.1).contains(mbit));
        if rate.is_none() && !is_virtual {
            let (input, shown) = (self.input, value.map_or("nothing".to_owned(), ToString::to_string));
            self.faults.add(|| {
                input.fault(format!(
                    "{path}: {key}: `{}` is not a rate: allowed {} to {} Mbit/s",
                    excerpt(&shown),
                    SITES.0,
                    SITES.1
                ))
            });
        }
        rate.map(of_mbit)
    }
}

fn of_mbit(mbit: f64) -> Rate {
    Rate::bit_s((mbit * 1e6).round() as u64)
}

/// Places of the columns.
struct Columns {
    id: usize,
    parent: Option<usize>,
    down: usize,
    up: usize,
    least: [Option<usize>; 2],
}

fn rows(
    input: &Input,
    places: Option<&HashMap<String, Option<usize>>>,
    network: &mut Network,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> Result<(), Faults> {
    let text = input.text().map_err(Faults::one)?;
    let mut rows = text.lines().map(str::trim).enumerate().filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let head: Vec<String> = rows.next().map(|(_, text)| fields(text)).unwrap_or_default();
    let column = |name: &str| head.iter().position(|one| one.trim().to_lowercase().starts_with(name));
    let (Some(id), Some(down), Some(up)) = (column("circuit id"), column("download max"), column("upload max")) else {
        return Err(Faults::one(input.fault("has no columns Circuit ID, Download Max Mbps and Upload Max Mbps")));
    };
    let least = [column("download min"), column("upload min")];
    let columns = Columns { id, parent: column("parent node"), down, up, least };
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut is_site_ignored = false;
    for (number, text) in rows {
        let line = number + 1;
        if number >= MAX_LINES {
            return Err(Faults::one(input.fault(format!("has too many lines: allowed up to {MAX_LINES}"))));
        }
        let row = fields(text);
        let field = |at: usize| row.get(at).map_or("", |one| one.trim());
        let id = field(columns.id);
        if id.is_empty() {
            faults.add(|| input.fault(format!("line {line}: Circuit ID: is empty")));
            continue;
        }
        let mut rate = |at: usize, low: f64, high: f64| {
            let mbit = field(at).parse::<f64>().ok().filter(|mbit| (low..=high).contains(mbit));
            if mbit.is_none() {
                let shown = excerpt(field(at));
                faults.add(|| {
                    input.fault(format!(
                        "line {line}: {}: `{shown}` is not a rate: allowed {low} to {high} Mbit/s",
                        head[at].trim()
                    ))
                });
            }
            mbit
        };
        let (Some(down), Some(up)) = (rate(columns.down, CIRCUITS.0, CIRCUITS.1), rate(columns.up, CIRCUITS.0, CIRCUITS.1))
        else {
            continue;
        };
        let mut least = |at: Option<usize>, most: f64| match at.filter(|at| !field(*at).is_empty()) {
            Some(at) => rate(at, 0.001, most),
            None => Some(USUAL_LEAST.min(most)),
        };
        let (Some(least_down), Some(least_up)) = (least(columns.least[0], down), least(columns.least[1], up)) else { continue };
        let parent = columns.parent.map_or("", field);
        let is_named = !parent.is_empty() && !parent.eq_ignore_ascii_case("none");
        let site = match places.map(|places| places.get(parent)) {
            Some(Some(site)) => *site,
            Some(None) if is_named => {
                faults.add(|| input.fault(format!("line {line}: Parent Node: `{}` is no site of the network", excerpt(parent))));
                continue;
            }
            _ => {
                is_site_ignored |= is_named && places.is_none();
                None
            }
        };
        let circuit = Circuit {
            id: id.to_owned(),
            site,
            plan: Ways { down: of_mbit(down), up: of_mbit(up) },
            least: Ways { down: of_mbit(least_down), up: of_mbit(least_up) },
        };
        match known.get(id) {
            None => {
                known.insert(id.to_owned(), (network.circuits.len(), line));
                network.circuits.push(circuit);
            }
            // Another device of the same circuit.
            Some((place, _)) if network.circuits[*place] == circuit => {}
            Some((_, first)) => faults.add(|| {
                let id = excerpt(id);
                input.fault(format!("line {line}: Circuit ID: `{id}` has another site or other rates than in line {first}"))
            }),
        }
    }
    if is_site_ignored {
        notes.push(format!("{}: Parent Node is not used without --network: no site limits its circuits.", input.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,\
        Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n";
    const SITES: &str = r#"{
        "Region": {"downloadBandwidthMbps": 1000, "uploadBandwidthMbps": 900, "children": {
            "Town": {"virtual": true, "downloadBandwidthMbps": 500, "uploadBandwidthMbps": 500, "children": {
                "AP_A": {"downloadBandwidthMbps": 200, "uploadBandwidthMbps": 100}}}}}}"#;

    fn input(name: &str, text: &str) -> Input {
        Input::read(name, text.as_bytes()).unwrap()
    }

    fn read_both(rows: &str, sites: Option<&str>) -> Result<Read, Faults> {
        let sites = sites.map(|text| input("network.json", text));
        read(&input("devices.csv", &format!("{HEAD}{rows}")), sites.as_ref())
    }

    #[test]
    fn circuits_have_their_devices_once_and_real_sites() {
        let rows = "1,\"9 Elm St, Y\",1,a,AP_A,,100.64.0.1,,1,2,155,20,\n\
            1,\"9 Elm St, Y\",2,b,AP_A,,100.64.0.2,,1,2,155,20,\n\
            2,x,3,c,Town,,100.64.0.3,,,,25,3,\n3,y,4,d,,,100.64.0.4,,1,1,25,3,\n";
        let read = read_both(rows, Some(SITES)).unwrap();
        let names: Vec<&str> = read.network.sites.iter().map(|site| site.name.as_str()).collect();
        assert_eq!(names, ["Region", "AP_A"], "a virtual site limits nothing");
        assert_eq!((read.network.sites[1].parent, read.network.sites[0].rate.up), (Some(0), Rate::mbit(900)));
        let circuits: Vec<_> = read.network.circuits.iter().map(|one| (one.id.as_str(), one.site, one.least.up)).collect();
        assert_eq!(circuits, [("1", Some(1), Rate::mbit(2)), ("2", Some(0), Rate::mbit(1)), ("3", None, Rate::mbit(1))]);
        assert_eq!(read.notes, Vec::<String>::new());
        assert_eq!(read_both(rows, None).unwrap().notes.len(), 1, "sites are not known");
    }

    #[test]
    fn a_hundred_thousand_wrong_lines_give_twenty_messages() {
        let rows: String = (0..100_000).map(|number| format!("{number},x,1,a,AP_A,,,,1,1,fast,20,\n")).collect();
        let text = read_both(&rows, Some(SITES)).unwrap_err().to_string();
        assert_eq!(text.lines().count(), 21, "{text}");
        let first = "devices.csv: line 2: Download Max Mbps: `fast` is not a rate: allowed 0.2 to 100000 Mbit/s";
        assert_eq!(text.lines().next(), Some(first));
        assert_eq!(text.lines().last(), Some("… and 99980 faults more"));
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        for (rows, sites, wanted) in [
            ("1,x,1,a,AP_Z,,,,1,1,25,3,\n", SITES, "devices.csv: line 2: Parent Node: `AP_Z` is no site of the network"),
            (
                "1,x,1,a,,,,,1,1,25,3,\n1,x,2,a,,,,,1,1,50,3,\n",
                SITES,
                "line 3: Circuit ID: `1` has another site or other rates than in line 2",
            ),
            (",x,1,a,,,,,1,1,25,3,\n", SITES, "line 2: Circuit ID: is empty"),
            ("1,x,1,a,,,,,30,1,25,3,\n", SITES, "line 2: Download Min Mbps: `30` is not a rate: allowed 0.001 to 25 Mbit/s"),
            ("", SITES, "devices.csv: has no circuits"),
            ("1,x,1,a,,,,,1,1,25,3,\n", "[]", "network.json: is no JSON object of sites"),
            (
                "1,x,1,a,,,,,1,1,25,3,\n",
                r#"{"A": {"uploadBandwidthMbps": 3}}"#,
                "A: downloadBandwidthMbps: `nothing` is not a rate: allowed 0.2 to",
            ),
            ("1,x,1,a,,,,,1,1,25,3,\n", r#"{"A": 3}"#, "network.json: A: is no JSON object of a site"),
        ] {
            let text = read_both(rows, Some(sites)).unwrap_err().to_string();
            assert!(text.contains(wanted), "{text}");
        }
    }
}
