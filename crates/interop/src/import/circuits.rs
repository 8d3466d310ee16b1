//! LibreQoS' `ShapedDevices.csv` and `network.json`: all circuits with the sites that they share.

pub mod treeguard;

use crate::import::config::libreqos;
use crate::import::rows::fields;
use crate::import::{ImportError, Input};
use goodqueue_base::spec::nearest;
use goodqueue_base::spec::quantity::excerpt;
use goodqueue_base::units::Rate;
use goodqueue_lab::run::circuits::{Circuit, Network, Site, Ways};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Faults of which each is told; of more, the number.
pub const MAX_FAULTS: usize = 20;
/// Longer files are of no network.
const MAX_LINES: usize = 200_000;
/// Rates of circuits in Mbit/s: LibreQoS refuses slower ones.
const CIRCUITS: (f64, f64) = (0.1, 100_000.0);
/// Capacities of sites in Mbit/s.
const SITES: (f64, f64) = (0.1, 10_000_000.0);
/// Queues that the column sqm may name for a direction.
const QUEUES: [&str; 4] = ["cake", "fq_codel", "none", ""];
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
    /// The place of the circuit that each device belongs to, by the device's identifier.
    pub devices: HashMap<String, usize>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// Reads the circuits, and the sites where there is a file of them.
///
/// # Errors
/// All that is wrong in the files: the first twenty faults with their lines.
pub fn read(circuits: &Input, sites: Option<&Input>) -> Result<Read, Faults> {
    let mut network = Network::default();
    let mut places = Places::default();
    let mut faults = Faults { first: Vec::new(), all: 0 };
    let mut notes = Vec::new();
    if let Some(sites) = sites {
        let json = sites.json().map_err(Faults::one)?;
        let Value::Object(nodes) = json else { return Err(Faults::one(sites.fault("is no JSON object of sites"))) };
        let (network, places, faults) = (&mut network, &mut places, &mut faults);
        let mut reader = Sites { input: sites, network, places, faults, unlimited: 0 };
        reader.read(&nodes, None, "", 0);
        if reader.unlimited > 0 {
            let name = &sites.name;
            notes.push(format!("{name}: {} sites have no rate of their own: they limit nothing.", reader.unlimited));
        }
    }
    // LibreQoS takes a file without sites for a flat network, whatever the circuits name.
    let places = sites.map(|_| &places).filter(|places| !places.names.is_empty());
    let why = if sites.is_some() { "in a network without sites" } else { "without --network" };
    let devices = rows(circuits, places, why, &mut network, &mut faults, &mut notes)?;
    if faults.all > 0 {
        return Err(faults);
    }
    if network.circuits.is_empty() {
        return Err(Faults::one(circuits.fault("has no circuits")));
    }
    shape(&circuits.name, &mut network, &mut notes);
    Ok(Read { network, devices, notes })
}

/// The sites that circuits of each name and identifier are behind; none of a virtual one without a
/// real one before it.
#[derive(Default)]
struct Places {
    names: HashMap<String, Option<usize>>,
    ids: HashMap<String, Option<usize>>,
}

/// Makes minima that are together above their site's rate the usual ones, as LibreQoS does, and
/// notes which plans are above it.
fn shape(name: &str, network: &mut Network, notes: &mut Vec<String>) {
    let least = |a: Ways<Rate>, b: Ways<Rate>| Ways { down: a.down.min(b.down), up: a.up.min(b.up) };
    let rate = |site: usize| network.sites[site].rate;
    let most = |site| network.path(Some(site)).map(rate).fold(rate(site), least);
    let most: Vec<Ways<Rate>> = (0..network.sites.len()).map(most).collect();
    let mut kept = vec![[0; 2]; network.sites.len()];
    for circuit in &network.circuits {
        if let Some(site) = circuit.site {
            kept[site][0] += circuit.least.down.as_bit_s();
            kept[site][1] += circuit.least.up.as_bit_s();
        }
    }
    let (mut above, mut leveled) = (0, 0);
    for circuit in &mut network.circuits {
        let Some(site) = circuit.site else { continue };
        let (rate, plan) = (most[site], circuit.plan);
        above += usize::from(plan.down > rate.down || plan.up > rate.up);
        if kept[site][0] > rate.down.as_bit_s() || kept[site][1] > rate.up.as_bit_s() {
            let usual = of_mbit(USUAL_LEAST);
            let least = Ways { down: usual.min(plan.down), up: usual.min(plan.up) };
            leveled += usize::from(std::mem::replace(&mut circuit.least, least) != least);
        }
    }
    if above > 0 {
        notes.push(format!("{name}: {above} circuits have a plan above the rate of their site: they are shaped to the site's."));
    }
    if leveled > 0 {
        notes.push(format!(
            "{name}: {leveled} circuits have minima of {USUAL_LEAST} Mbit/s in place of their own: those of their site are \
             together above its rate."
        ));
    }
}

struct Sites<'a> {
    input: &'a Input,
    network: &'a mut Network,
    places: &'a mut Places,
    faults: &'a mut Faults,
    /// Real sites that have no rate.
    unlimited: usize,
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
            let is_named_so = node.get("type").and_then(Value::as_str).is_some_and(|kind| kind.eq_ignore_ascii_case("virtual"));
            let is_virtual = is_named_so || node.get("virtual").and_then(Value::as_bool).unwrap_or(false);
            let own = if is_virtual {
                parent
            } else {
                let [down, up] = ["downloadBandwidthMbps", "uploadBandwidthMbps"].map(|key| self.rate(node, key, &path));
                self.unlimited += usize::from(down.is_none() && up.is_none());
                let rate = Ways { down: down.unwrap_or(of_mbit(SITES.1)), up: up.unwrap_or(of_mbit(SITES.1)) };
                self.network.sites.push(Site { name: name.clone(), parent, rate });
                Some(self.network.sites.len() - 1)
            };
            if self.places.names.insert(name.clone(), own).is_some() {
                self.faults.add(|| input.fault(format!("{path}: is there twice: circuits name their site by its name alone")));
            }
            if let Some(id) = node.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
                self.places.ids.insert(id.to_owned(), own);
            }
            match node.get("children") {
                None | Some(Value::Null) => {}
                Some(Value::Object(children)) => self.read(children, own, &path, depth + 1),
                Some(_) => self.faults.add(|| input.fault(format!("{path}: children: is no JSON object of sites"))),
            }
        }
    }

    /// A rate, as number or text; none is as much as there is before the site, as LibreQoS has it.
    fn rate(&mut self, node: &Map<String, Value>, key: &str, path: &str) -> Option<Rate> {
        let value = node.get(key).filter(|value| !value.is_null())?;
        let mbit = value.as_f64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
        if mbit == Some(0.0) {
            return None;
        }
        let rate = mbit.filter(|mbit| (SITES.0..=SITES.1).contains(mbit));
        if rate.is_none() {
            let (input, shown) = (self.input, value.to_string());
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
    parent_id: Option<usize>,
    down: usize,
    up: usize,
    least: [Option<usize>; 2],
    sqm: Option<usize>,
}

/// A heading without what differs between versions: `Circuit ID`, `circuit_id`, `CircuitID`.
fn plain(heading: &str) -> String {
    let letters = heading.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_lowercase().trim_end_matches("mbps").to_owned()
}

/// Text of a table; where it is not UTF-8, that of Western Europe, as spreadsheets write it.
fn text_of(input: &Input) -> Cow<'_, str> {
    let western = |_| Cow::Owned(input.bytes.iter().map(|byte| char::from(*byte)).collect());
    std::str::from_utf8(&input.bytes).map_or_else(western, Cow::Borrowed)
}

fn rows(
    input: &Input,
    places: Option<&Places>,
    why: &str,
    network: &mut Network,
    faults: &mut Faults,
    notes: &mut Vec<String>,
) -> Result<HashMap<String, usize>, Faults> {
    let text = text_of(input);
    let mut rows = text.lines().map(str::trim).enumerate().filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let head: Vec<String> = rows.next().map(|(_, text)| fields(text, ',')).unwrap_or_default();
    let column = |name: &str| head.iter().position(|one| plain(one) == name);
    let found = ["circuitid", "downloadmax", "uploadmax"].map(column);
    let [Some(id), Some(down), Some(up)] = found else {
        return Err(Faults::one(libreqos::no_columns(input, &head, found)));
    };
    let least = [column("downloadmin"), column("uploadmin")];
    let (parent, parent_id, device) = (column("parentnode"), column("parentnodeid"), column("deviceid"));
    let mut devices = HashMap::new();
    let columns = Columns { id, parent, parent_id, down, up, least, sqm: column("sqm") };
    let mut known: HashMap<String, (usize, usize)> = HashMap::new();
    let mut is_site_ignored = false;
    let mut chosen = 0;
    for (number, text) in rows {
        let line = number + 1;
        if number >= MAX_LINES {
            return Err(Faults::one(input.fault(format!("has too many lines: allowed up to {MAX_LINES}"))));
        }
        let row = fields(text, ',');
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
        let sqm = columns.sqm.map_or("", field).to_lowercase();
        if !sqm.splitn(2, '/').all(|queue| QUEUES.contains(&queue.trim())) {
            let shown = excerpt(&sqm);
            faults.add(|| {
                input.fault(format!("line {line}: sqm: `{shown}` is not known: allowed cake, fq_codel, none, or one for each direction as cake/fq_codel"))
            });
            continue;
        }
        let parent = columns.parent.map_or("", field);
        let parent_id = columns.parent_id.map_or("", field);
        let is_named = !parent.is_empty() && !parent.eq_ignore_ascii_case("none");
        let place = |places: &Places| places.ids.get(parent_id).or_else(|| places.names.get(parent)).copied();
        let site = match places.map(place) {
            Some(Some(site)) => site,
            Some(None) if is_named => {
                faults.add(|| {
                    let mut names: Vec<&str> = places.iter().flat_map(|places| places.names.keys().map(String::as_str)).collect();
                    names.sort_unstable();
                    let near = nearest(parent, names);
                    let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    input.fault(format!("line {line}: Parent Node: `{}` is no site of the network{help}", excerpt(parent)))
                });
                continue;
            }
            Some(None) if !parent_id.is_empty() => {
                let shown = excerpt(parent_id);
                faults.add(|| input.fault(format!("line {line}: Parent Node ID: `{shown}` is no id of a site of the network")));
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
        let place = known.get(id).map_or(network.circuits.len(), |(place, _)| *place);
        devices.insert(device.map_or("", field).to_owned(), place);
        match known.get(id) {
            None => {
                known.insert(id.to_owned(), (network.circuits.len(), line));
                chosen += usize::from(!sqm.is_empty());
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
    if places.is_some() && network.circuits.iter().all(|circuit| circuit.site.is_none()) {
        notes.push(format!("{}: no circuit names a site of the network: no site limits its circuits.", input.name));
    }
    if is_site_ignored {
        notes.push(format!("{}: Parent Node is not used {why}: no site limits its circuits.", input.name));
    }
    if chosen > 0 {
        notes.push(format!(
            "{}: sqm of {chosen} circuits is not used: all circuits have each of the queues compared.",
            input.name
        ));
    }
    Ok(devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,\
        Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment,sqm\n";
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
        let none = read_both("3,y,4,d,,,100.64.0.4,,1,1,25,3,\n", Some(SITES)).unwrap().notes;
        assert!(none.len() == 1 && none[0].contains("no circuit names a site"), "{none:?}");
    }

    #[test]
    fn headings_and_sites_of_all_versions_are_read() {
        let sites = r#"{
            "Core": {"id": "core-1", "downloadBandwidthMbps": "1000", "uploadBandwidthMbps": 0, "type": "site", "children": {
                "Ring": {"type": "Virtual", "children": {
                    "AP": {"id": "ap-1", "downloadBandwidthMbps": 62.5, "uploadBandwidthMbps": 30, "type": "ap"}}},
                "PoP": {"downloadBandwidthMbps": 0, "uploadBandwidthMbps": null}}}}"#;
        let head = "#LibreQoS - autogenerated file - START\nCircuitID,Parent Node ID,Parent Node,IPv6,Download Min,upload_min_mbps,\
            Download Max Mbps,UploadMax,Comment,sqm\n";
        let rows = "1,ap-1,moved,fdd7::/56,1,1,25,2.5,Se\u{f1}or,cake/FQ_CODEL\n2,,PoP,fdd8::/56,0.5,0.1,1.5,0.1,,\n";
        let western: Vec<u8> = format!("{head}{rows}").chars().map(|c| c as u8).collect();
        let devices = Input::read("devices.csv", western.as_slice()).unwrap();
        let Read { network, notes, .. } = read(&devices, Some(&input("network.json", sites))).unwrap();
        let rates: Vec<_> = network.sites.iter().map(|site| (site.name.as_str(), site.rate.down, site.parent)).collect();
        let none = of_mbit(super::SITES.1);
        assert_eq!(rates, [("Core", Rate::gbit(1), None), ("PoP", none, Some(0)), ("AP", Rate::kbit(62_500), Some(0))]);
        let circuits: Vec<_> = network.circuits.iter().map(|one| (one.site, one.plan.up, one.least.down)).collect();
        assert_eq!(circuits, [(Some(2), Rate::kbit(2500), Rate::mbit(1)), (Some(1), Rate::kbit(100), Rate::kbit(500))]);
        assert!(notes[0].contains("1 sites have no rate") && notes[1].contains("sqm of 1 circuits"), "{notes:?}");
    }

    #[test]
    fn plans_and_minima_fit_their_site_as_in_libreqos() {
        let rows: String = (0..5).map(|number| format!("{number},x,1,a,AP_A,,,,{},1,500,50,\n", 30 + 10 * number)).collect();
        let read = read_both(&rows, Some(SITES)).unwrap();
        for circuit in &read.network.circuits {
            assert_eq!(circuit.plan.down, Rate::mbit(500), "a plan keeps its name");
            assert_eq!(circuit.least.down, Rate::mbit(1), "250 Mbit/s are kept of 200");
        }
        assert!(read.notes[0].contains("5 circuits have a plan above"), "{:?}", read.notes);
        assert!(read.notes[1].contains("5 circuits have minima of 1 Mbit/s"), "{:?}", read.notes);
    }

    #[test]
    fn a_flat_network_has_no_sites_whatever_circuits_name() {
        let read = read_both("1,x,1,a,Generated_PN_1,,,,1,1,25,3,\n", Some("{}")).unwrap();
        assert_eq!(read.network.circuits[0].site, None);
        assert!(read.notes[0].contains("Parent Node is not used in a network without sites"), "{:?}", read.notes);
    }

    #[test]
    fn a_hundred_thousand_wrong_lines_give_twenty_messages() {
        let rows: String = (0..100_000).map(|number| format!("{number},x,1,a,AP_A,,,,1,1,fast,20,\n")).collect();
        let text = read_both(&rows, Some(SITES)).unwrap_err().to_string();
        assert_eq!(text.lines().count(), 21, "{text}");
        let first = "devices.csv: line 2: Download Max Mbps: `fast` is not a rate: allowed 0.1 to 100000 Mbit/s";
        assert_eq!(text.lines().next(), Some(first));
        assert_eq!(text.lines().last(), Some("… and 99980 faults more"));
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        for (rows, sites, wanted) in [
            ("1,x,1,a,Tower,,,,1,1,25,3,\n", SITES, "devices.csv: line 2: Parent Node: `Tower` is no site of the network"),
            (
                "1,x,1,a,ap_1,,,,1,1,25,3,\n",
                r#"{"AP_1": {"downloadBandwidthMbps": 100, "uploadBandwidthMbps": 100}}"#,
                "devices.csv: line 2: Parent Node: `ap_1` is no site of the network; did you mean `AP_1`?",
            ),
            (
                "1,x,1,a,,,,,1,1,25,3,\n1,x,2,a,,,,,1,1,50,3,\n",
                SITES,
                "line 3: Circuit ID: `1` has another site or other rates than in line 2",
            ),
            (",x,1,a,,,,,1,1,25,3,\n", SITES, "line 2: Circuit ID: is empty"),
            ("1,x,1,a,,,,,30,1,25,3,\n", SITES, "line 2: Download Min Mbps: `30` is not a rate: allowed 0.001 to 25 Mbit/s"),
            ("", SITES, "devices.csv: has no circuits"),
            ("1,x,1,a,,,,,1,1,25,3,,cake/pie\n", SITES, "line 2: sqm: `cake/pie` is not known: allowed cake, fq_codel, none"),
            ("1,x,1,a,,,,,1,1,25,3,\n", "[]", "network.json: is no JSON object of sites"),
            (
                "1,x,1,a,,,,,1,1,25,3,\n",
                r#"{"A": {"downloadBandwidthMbps": "wide"}}"#,
                "A: downloadBandwidthMbps: `\"wide\"` is not a rate: allowed 0.1 to",
            ),
            ("1,x,1,a,,,,,1,1,25,3,\n", r#"{"A": 3}"#, "network.json: A: is no JSON object of a site"),
        ] {
            let text = read_both(rows, Some(sites)).unwrap_err().to_string();
            assert!(text.contains(wanted), "{text}");
        }
    }
}
