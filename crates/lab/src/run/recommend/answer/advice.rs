//! Advice that follows from the line, the router and the aim: what else to type, and what no queue
//! can change.

use crate::run::recommend::access::{LineKind, Modem, shown};
use crate::run::recommend::candidates::{Candidate, Hardware, L4S};
use crate::run::recommend::corners::Line;
use crate::run::recommend::question::{Question, Want};
use crate::run::recommend::tried::Tried;
use crate::scenario::mix::BACKUP;
use crate::verdict::rule::Key;
use goodqueue_base::units::{Bytes, Cells, Direction, Duration, Framing, Rate};

/// Rates from which a small router may be too slow to shape. Our choice.
const FAST: Rate = Rate::mbit(300);
/// A full packet that takes longer makes a call wait noticeably. Our choice.
const SLOW_PACKET: Duration = Duration::ms(25);
/// Round-trip times from which a conversation suffers: G.114 has 150 ms each way.
const FAR: Duration = Duration::ms(300);
/// A buffer that delays nobody much: an increase below 20 to 30 ms is under control
/// (bufferbloat.net).
const THIN_BUFFER: Duration = Duration::ms(20);

/// Sentences for this answer. `got` says what people get by some figures.
pub fn advice(question: &Question, best: &Tried, got: impl Fn(&[Key]) -> String) -> Vec<String> {
    let candidate = &best.candidate;
    let all = [
        varying(&question.line, candidate),
        framing(&question.line, candidate),
        cpu(question, candidate),
        modem(&question.line, candidate),
        hosts(&question.line, question.hardware, candidate),
        router(question.hardware, candidate),
        slow(&question.line),
        far(&question.line),
        thin(&question.line, candidate),
        elsewhere(question, candidate),
        backup(question, candidate),
        marks(&question.line),
        aim(question, best, got),
    ];
    all.into_iter().flatten().collect()
}

/// Why nothing is set up, where the question leaves no other candidate; after "Leave it as it is:".
pub fn only_choice(question: &Question) -> Option<String> {
    if question.want == Want::Throughput && question.has_no_candidates() {
        return Some("the modem's buffer holds what is under way, which is all that throughput needs".to_owned());
    }
    let most = question.cpu.filter(|_| question.has_no_candidates())?;
    Some(match question.line.access.modem {
        Modem::Fifo => format!("the router shapes no faster than {most}, and the line is faster both ways"),
        Modem::Pie => format!("the router shapes no faster than {most}, and the modem's own PIE keeps the uplink short"),
    })
}

/// The remedy, after "this line cannot carry …", where nothing that was tried makes it usable.
pub fn remedy(question: &Question, best: &Candidate) -> &'static str {
    let rates = best.shaped_rates(&question.line).into_iter().zip([question.line.down, question.line.up]);
    let is_left = |most: Rate| rates.into_iter().any(|(shaped, rate)| shaped.is_none() && rate > most);
    if question.cpu.is_some_and(is_left) { "a faster router may change that" } else { "nothing that was tried changes that" }
}

/// The rates of the bad hours, and the shaper that follows the line.
fn varying(line: &Line, candidate: &Candidate) -> Option<String> {
    if !line.varies_much() {
        return None;
    }
    let bad = |rate: Rate| Rate::bit_s((rate.as_bit_s() as f64 * (1.0 - line.varies)).round() as u64);
    let [down, up] = candidate.shaped_rates(line);
    let [down, up] = [down.unwrap_or(bad(line.down)), up.unwrap_or(bad(line.up))].map(|rate| rate.as_bit_s() / 1000);
    let fixed = if candidate.is_shaped() {
        "the fixed rates above are those of the bad hours"
    } else {
        "a fixed rate would be that of the bad hours"
    };
    let rates = [("dl", down, line.down), ("ul", up, line.up)].map(|(way, least, usual)| {
        let usual = usual.as_bit_s() as f64 / 1000.0;
        let most = usual * (1.0 + line.varies);
        format!(
            "min_{way}_shaper_rate_kbps={least}, base_{way}_shaper_rate_kbps={usual:.0} and max_{way}_shaper_rate_kbps={most:.0}"
        )
    });
    let mut text = format!(
        "No fixed rate fits a line that varies by {:.0} %: an adaptive shaper (cake-autorate) with {} does better; {fixed}",
        line.varies * 100.0,
        rates.join(", ")
    );
    text.push_str(match line.access.step() {
        Some(_) => "; the rate changes with the satellite, so expect 40 to 50 ms of variation at best, and shape up first.",
        None => "; test again in the evening.",
    });
    Some(text)
}

/// The framing to type, and the rate that a speed test shows with it.
fn framing(line: &Line, candidate: &Candidate) -> Option<String> {
    let framing = line.access.framing;
    if framing == Framing::NONE || !candidate.is_shaped() {
        return None;
    }
    let full = Bytes::new(1500);
    // A speed test counts what TCP carries: a packet less 52 bytes of headers.
    let share = (full.get() - 52) as f64 / framing.wire(full).get() as f64;
    let source = match framing.cells {
        Cells::None => "the rates of the line",
        Cells::Atm | Cells::Ptm => "the rates that the modem shows (sync)",
    };
    Some(format!(
        "Set the framing as well: {} ({}); rates count it, so give {source}, of which a speed test shows at most {:.0} %.",
        shown(framing),
        typed(framing),
        share * 100.0
    ))
}

/// Framing in the words of tc-cake(8).
fn typed(framing: Framing) -> String {
    let mpu = if framing.mpu.is_zero() { String::new() } else { format!(" mpu {}", framing.mpu.get()) };
    let cells = Cells::WORDS.iter().find(|(_, cells)| *cells == framing.cells && *cells != Cells::None);
    let cells = cells.map_or(String::new(), |(word, _)| format!(" {word}"));
    format!("cake: `overhead {}{mpu}{cells}`", framing.overhead.get())
}

fn cpu(question: &Question, candidate: &Candidate) -> Option<String> {
    let rates = candidate.shaped_rates(&question.line);
    let Some(most) = question.cpu else {
        let fastest = rates.into_iter().flatten().max().filter(|rate| *rate >= FAST)?;
        let alone = if rates[0] > rates[1] { "; if it is at its limit during a test, shape up alone (--cpu RATE)" } else { "" };
        return Some(format!("Shaping to {fastest} takes a fast router: look at its CPU{alone}."));
    };
    if question.has_no_candidates() {
        return None;
    }
    let left = [("Toward you", rates[0], question.line.down), ("From you", rates[1], question.line.up)];
    let (way, _, rate) = left.into_iter().find(|(_, shaped, rate)| shaped.is_none() && *rate > most)?;
    let fits = if candidate.is_shaped() { "" } else { ", and shaping the other direction alone does not help noticeably" };
    Some(format!("{way} nothing is shaped: {rate} is more than the {most} that the router can shape{fits}."))
}

fn modem(line: &Line, candidate: &Candidate) -> Option<String> {
    let stays = line.access.modem == Modem::Pie && candidate.shaped[1].is_none();
    stays.then(|| "The modem's own PIE keeps the uplink short, so nothing is shaped there.".to_owned())
}

/// Fairness between devices, where there are several.
fn hosts(line: &Line, hardware: Hardware, candidate: &Candidate) -> Option<String> {
    if line.access.hosts < 2 {
        return None;
    }
    let words = "`nat dual-dsthost` down and `nat dual-srchost` up";
    Some(if candidate.is_shaped() && candidate.kind() == "cake" {
        format!("With {words}, a device with many flows gets no more than its share, as one that hogs the line with 100 does.")
    } else if hardware.kinds().contains(&"cake") {
        format!(
            "Without cake a device gets a share for each of its flows, so one with 100 hogs the line: cake with {words} shares \
             between devices."
        )
    } else {
        "A device gets a share for each of its flows, so one with 100 hogs the line; fairness between devices needs cake."
            .to_owned()
    })
}

/// The steps on this router besides the numbers.
fn router(hardware: Hardware, candidate: &Candidate) -> Option<String> {
    if !candidate.is_shaped() {
        return None;
    }
    let kind = candidate.kind();
    match hardware {
        Hardware::RouterOs => Some(format!(
            "On RouterOS make {kind} the queue type of a simple queue with these rates as max-limit, and disable the FastTrack rule, \
             which bypasses simple queues."
        )),
        Hardware::LibreQos => Some(format!(
            "In LibreQoS give each subscriber {kind}, at the plan's rate where the shaper is what makes the plan; the subscriber's \
             router needs none, unless packets wait in its own uplink."
        )),
        Hardware::PfSense => Some(format!(
            "Make a limiter with these rates for each direction, with {kind} as its scheduler or queue management, and assign both in a \
             floating rule."
        )),
        Hardware::OpnSense => Some(format!(
            "Under Firewall, Shaper make a pipe with these rates for each direction, with {kind} as its scheduler or queue management, and \
             a rule that sends each direction into its pipe."
        )),
        Hardware::Any | Hardware::Linux | Hardware::OpenWrt => None,
    }
}

/// Packets that take long on the wire, whatever the queue.
fn slow(line: &Line) -> Option<String> {
    let slower = line.down.min(line.up);
    let packet = slower.transmission_time(line.access.framing.wire(Bytes::new(1500)));
    (packet >= SLOW_PACKET).then(|| {
        format!(
            "At {slower} one full packet takes {:.0} ms, which no queue can change: reduce the MTU, or accept it.",
            packet.as_secs_f64() * 1e3
        )
    })
}

fn far(line: &Line) -> Option<String> {
    let is_geo = line.access.kind.is_some_and(|kind: &LineKind| kind.name == "geo");
    (is_geo || line.rtt.low >= FAR)
        .then(|| format!("Calls stay poor by distance: no queue shortens the {} of the way.", line.rtt.low))
}

fn thin(line: &Line, candidate: &Candidate) -> Option<String> {
    let is_thin = line.buffer.high <= THIN_BUFFER && !candidate.is_shaped();
    is_thin.then(|| format!("The buffer holds no more than {}, so a shaper would cost rate and gain little.", line.buffer.high))
}

/// Where else to look, if something jitters on a line that is left as it is.
fn elsewhere(question: &Question, candidate: &Candidate) -> Option<String> {
    (!candidate.is_shaped() && question.want == Want::People && !question.has_no_candidates()).then(|| {
        "If a call or game jitters all the same, the queue of the line is not the cause: measure while the line is idle, and look at \
         Wi-Fi and the route."
            .to_owned()
    })
}

fn backup(question: &Question, candidate: &Candidate) -> Option<String> {
    let is_cake = candidate.is_shaped() && candidate.kind() == "cake";
    (is_cake && question.mixes.len() == 1 && question.mixes.iter().any(|mix| mix.name == BACKUP))
        .then(|| "Mark backups and seeding as CS1 or LE, and cake's tin for bulk lets everything else go first.".to_owned())
}

/// The queue from which switches mark for DCTCP (Linux, Documentation/networking/dctcp.rst).
fn marks(line: &Line) -> Option<String> {
    let has_dctcp = [line.control.low, line.control.high].contains(&"dctcp");
    let text = "Senders of DCTCP want every switch to mark from a queue of about 20 packets (30 kB) at 1 Gbit/s and 65 (100 kB) at \
                10 Gbit/s on; fq-codel and codel do it by time, with ce_threshold 240us and 80us.";
    has_dctcp.then(|| text.to_owned())
}

/// The price of the aim.
fn aim(question: &Question, best: &Tried, got: impl Fn(&[Key]) -> String) -> Option<String> {
    match question.want {
        Want::People => None,
        Want::Throughput => {
            let groups = &best.blocks.first()?.groups;
            let keys: Vec<Key> = Key::all(groups).into_iter().filter(Key::is_interactive).collect();
            let price = (!keys.is_empty()).then(|| got(&keys))?;
            Some(format!("A deep buffer is for large transfers alone; what it costs the others: {price}."))
        }
        Want::L4s => {
            let has = question.hardware.has_l4s();
            let missing = if has { "" } else { "This router has no DualPI2. " };
            let is_dual = [Direction::Down, Direction::Up].into_iter().zip([&best.candidate.down, &best.candidate.up]);
            let chosen = is_dual.into_iter().any(|(_, queue)| queue.kind == L4S);
            let other = if chosen {
                "fq-codel with ce_threshold 1ms and ce_threshold_selector 1/3 (type it yourself), which marks L4S alone, is an alternative"
            } else {
                "fair queueing keeps them apart; with ce_threshold_selector 1/3 (Linux 5.18; type it yourself) it marks L4S alone"
            };
            Some(format!(
                "{missing}DualPI2 helps where both ends speak L4S (TCP Prague, SCReAM, Apple's); classic senders get no better than PIE \
                 from it, and {other}."
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::recommend::Asked;

    /// Advice for the first candidate that is picked.
    fn said(asked: Asked<'_>, pick: impl Fn(&Candidate) -> bool) -> String {
        let question = Asked { down: "500mbit", up: "50mbit", mix: "call-and-ping", ..asked }.question().expect("a question");
        let candidate = question.all_candidates().into_iter().find(|one| pick(one)).expect("a candidate");
        advice(&question, &Tried::new(candidate), |_| String::new()).join("\n")
    }

    #[test]
    fn a_line_that_varies_is_sent_to_an_adaptive_shaper() {
        let text = said(Asked { line: "lte", ..Asked::default() }, Candidate::is_shaped);
        assert!(text.contains("cake-autorate") && text.contains("min_dl_shaper_rate_kbps=300000"), "{text}");
        assert!(said(Asked { line: "leo", ..Asked::default() }, |_| true).contains("shape up first"));
        assert!(!said(Asked::default(), |_| true).contains("autorate"));
    }

    #[test]
    fn framing_is_something_to_type() {
        let text = said(Asked { line: "adsl", ..Asked::default() }, Candidate::is_shaped);
        assert!(text.contains("overhead 44, ATM (cake: `overhead 44 atm`)") && text.contains("at most 83 %"), "{text}");
        assert!(said(Asked { line: "vdsl", ..Asked::default() }, Candidate::is_shaped).contains("`overhead 30 ptm`"));
    }

    #[test]
    fn a_slow_router_is_told_what_it_leaves() {
        let text = said(Asked { cpu: "100mbit", ..Asked::default() }, Candidate::is_shaped);
        assert!(text.contains("Toward you nothing is shaped: 500 Mbit/s is more than the 100 Mbit/s"), "{text}");
        assert!(said(Asked::default(), Candidate::is_shaped).contains("shape up alone (--cpu RATE)"));
        let question = Asked { down: "500mbit", up: "50mbit", mix: "call-and-ping", cpu: "1mbit", ..Asked::default() };
        let why = only_choice(&question.question().expect("a question")).expect("a reason");
        assert_eq!(why, "the router shapes no faster than 1 Mbit/s, and the line is faster both ways");
        let asked = Asked { cpu: "1mbit", ..Asked::default() };
        assert!(!said(asked, |_| true).contains("nothing is shaped"));
        let question = |asked: Asked<'_>| Asked { down: "5mbit", up: "2mbit", ..asked }.question().expect("a question");
        assert_eq!(remedy(&question(asked), &Candidate::NOTHING), "a faster router may change that");
        assert_eq!(remedy(&question(Asked::default()), &Candidate::NOTHING), "nothing that was tried changes that");
    }

    #[test]
    fn devices_share_with_cake_alone() {
        let hosts = Asked { hosts: "4", ..Asked::default() };
        assert!(said(hosts, |one| one.kind() == "cake").starts_with("Shaping to"));
        assert!(said(hosts, |one| one.kind() == "cake").contains("With `nat dual-dsthost` down and `nat dual-srchost` up"));
        assert!(said(hosts, |one| one.kind() == "fq-codel").contains("Without cake a device gets a share for each of its flows"));
        let other = said(Asked { hardware: "pfsense", ..hosts }, Candidate::is_shaped);
        assert!(other.contains("fairness between devices needs cake") && other.contains("limiter"), "{other}");
    }

    #[test]
    fn senders_of_dctcp_are_told_where_to_mark() {
        assert!(said(Asked { cc: "cubic,dctcp", ..Asked::default() }, |_| true).contains("ce_threshold 240us"));
        assert!(!said(Asked::default(), |_| true).contains("DCTCP"));
    }

    #[test]
    fn limits_of_nature_are_said() {
        let slow = Asked { down: "1mbit", up: "128kbit", mix: "call-and-ping", ..Asked::default() };
        assert_eq!(
            super::slow(&slow.question().expect("a question").line).as_deref(),
            Some("At 128 kbit/s one full packet takes 94 ms, which no queue can change: reduce the MTU, or accept it.")
        );
        assert!(said(Asked { line: "geo", ..Asked::default() }, |_| true).contains("Calls stay poor by distance"));
        assert!(said(Asked { buffer: "5ms", ..Asked::default() }, |one| !one.is_shaped()).contains("gain little"));
        assert!(said(Asked::default(), |one| !one.is_shaped()).contains("look at Wi-Fi and the route"));
        assert!(said(Asked { hardware: "routeros", ..Asked::default() }, Candidate::is_shaped).contains("FastTrack"));
        assert!(said(Asked { want: "l4s", ..Asked::default() }, |_| true).contains("both ends speak L4S"));
    }
}
