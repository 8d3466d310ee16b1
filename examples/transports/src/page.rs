//! The page of the scoreboard, in Markdown.

use crate::kernel::{self, Against};
use crate::matrix::{Place, Queue};
use crate::measure::{Measured, Values};
use crate::speed::Speed;
use crate::stack::{Stack, Tested};
use goodqueue_lab::results::statistics::Figure;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Introduction of the page.
const HEAD: &str = "# QUIC stacks alongside our TCP: scoreboard

`make transports` wrote this page. It is a tool, not a ranking: what is measured is the interaction with that queue and that competitor,
with the defaults of each library. [transports.md](transports.md) describes what runs, and how to put a stack of your own into such a network.

## Method

- *Tested* is one flow of a stack, unmodified from its registry, under one of its congestion controls. The first three rows have our own TCP in its place.
- It shares a line with one CUBIC flow of our TCP, whose congestion control follows Linux ([fidelity.md](fidelity.md)): `examples/transports/bulk.toml`, 5 s of warm-up, 20 s measured
  (10 s on lines of 100 Mbit/s), 3 replications of seed 1. Figures are means with the 95 % interval (Student's t), where three replications allow only a wide one.
- *Share*: its part of the goodput of both. *Delay*: time that its packets spent in the queue, beyond the empty line. *Lost*: its packets that were lost on the way from server to client.
  *Use*: part of the line in use by both.
- *100 kB*: ten transfers on connections of their own, handshake included, alongside the CUBIC flow (`transfers.toml`, 16 s); a number in parentheses says how many of ten ended where not all did.
- *20 kB*: median time of a response over one connection, a request 100 ms after each response, alongside the CUBIC flow (`requests.toml`, 10 s).
- One build of `examples/transports` measured all rows; those alongside a Linux kernel may be of an earlier one.
- A row that *failed* shows the message of the first run that ended early. `too many gaps in stream buffer` is a limit of quinn-proto and noq-proto: they keep at most 1024 separate pieces
  of a stream while data before them is missing, and end the connection beyond. A burst of losses on a line of 100 Mbit/s can make more of them. The network loses datagrams and does nothing else
  to them: none arrives twice or out of order, which `examples/transports/src/gaps.rs` tests. The limit needs windows for flow control beyond the library's defaults, as they are here.
- Packets of QUIC have at most 1452 bytes of payload and 28 of headers, those of our TCP 1448 and 52. Windows for flow control are 64 MiB.

| queue | is |
|---|---|
| tail drop, 1 BDP | FIFO of one bandwidth-delay product |
| CoDel, FQ-CoDel, PIE | their defaults, 1000 packets, no marks |
| DualPI2 | its defaults, 1000 packets; it marks what is ECN-capable, which are packets of quinn-proto, noq-proto and s2n-quic, and not those of the CUBIC flow |
| cellular | FIFO of 1000 packets; the rate of `examples/traces/cellular.down`, a synthetic trace in the format of recordings, times 2 (mean 10 Mbit/s) and times 20 (mean 100 Mbit/s) |
| policer | token bucket of one bandwidth-delay product that drops what finds no tokens |
| 0.5 % random loss | FIFO of one bandwidth-delay product, and this loss on the line toward the client |

";

/// Everything measured.
pub type Scores = BTreeMap<(usize, usize), Measured>;
/// Figures measured alongside a kernel's CUBIC: those of [`kernel::tested`], and lines of
/// [`kernel::PLACES`].
pub type Beside = BTreeMap<(usize, usize), Against>;

/// The page.
pub fn text(tested: &[Tested], places: &[Place], scores: &Scores, beside: &Beside, speeds: &[Speed]) -> String {
    let mut text = HEAD.to_owned();
    let total = Place::all().count();
    if places.len() < total {
        let _ = writeln!(text, "This page has {} of {total} lines; the others were not measured in this run.\n", places.len());
    }
    overview(&mut text, tested, places, scores);
    for queue in Queue::ALL {
        if places.iter().any(|place| place.queue == queue) {
            section(&mut text, queue, tested, places, scores);
        }
    }
    beside_linux(&mut text, tested, (places, scores), beside);
    speed(&mut text, speeds);
    text
}

/// Shares by queue, over all lines.
fn overview(text: &mut String, tested: &[Tested], places: &[Place], scores: &Scores) {
    let queues: Vec<Queue> = Queue::ALL.into_iter().filter(|queue| places.iter().any(|place| place.queue == *queue)).collect();
    let lines: Vec<String> = places.iter().filter(|place| place.queue == queues[0]).map(|place| place.line()).collect();
    let _ = writeln!(
        text,
        "## Shares at a glance\n\nPercent of the goodput of both flows; 50 is half. The range is over the lines of {}.\n",
        lines.join("; ")
    );
    let _ = writeln!(text, "| tested | {} |", queues.iter().map(|queue| queue.name()).collect::<Vec<_>>().join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(queues.len()));
    for (row, one) in tested.iter().enumerate() {
        let cells: Vec<String> = queues
            .iter()
            .map(|queue| {
                let of = places.iter().enumerate().filter(|(_, place)| place.queue == *queue);
                let means: Vec<f64> = of.filter_map(|(place, _)| figure(&scores.get(&(row, place))?.share).mean).collect();
                let least = means.iter().copied().fold(f64::INFINITY, f64::min);
                let most = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if means.is_empty() { "–".to_owned() } else { format!("{:.0} to {:.0}", least * 100.0, most * 100.0) }
            })
            .collect();
        let _ = writeln!(text, "| {} | {} |", one.name(), cells.join(" | "));
    }
    text.push('\n');
}

fn section(text: &mut String, queue: Queue, tested: &[Tested], places: &[Place], scores: &Scores) {
    let _ = writeln!(text, "## {}\n", queue.name());
    for (place_number, place) in places.iter().enumerate().filter(|(_, place)| place.queue == queue) {
        let _ = writeln!(text, "**{}**\n", place.line());
        text.push_str(
            "| tested | share % | use % | delay mean ms | delay p95 ms | lost % | 100 kB p50 ms | 100 kB p95 ms | 20 kB ms |\n",
        );
        text.push_str("|---|---|---|---|---|---|---|---|---|\n");
        for (row, one) in tested.iter().enumerate() {
            let Some(measured) = scores.get(&(row, place_number)) else { continue };
            let _ = writeln!(text, "| {} | {} |", one.name(), cells(measured));
        }
        text.push('\n');
    }
}

/// Shares alongside a kernel's CUBIC, and those alongside ours.
fn beside_linux(text: &mut String, tested: &[Tested], (places, scores): (&[Place], &Scores), beside: &Beside) {
    let Some(kernel) = beside.values().next().map(|row| &row.kernel) else { return };
    let _ = writeln!(
        text,
        "## Alongside the CUBIC of Linux\n\nShare in percent alongside one CUBIC flow of a Linux kernel (package {kernel}) in place of ours, on lines of {}. Both ends of a stack are programs \
         in guests of that kernel,\nover its UDP sockets and in virtual time ([linux.md](linux.md)): `transports serve` and `transports get`. These sockets carry no ECN. In the first row, both flows are the TCP of that kernel. \
         Scenario and seeds are those of the other tables, with 2 s of warm-up and 5 s measured,\nsince guests are slow; the columns *ours* repeat shares of those tables. `transports --linux` measures this, after `make linux`.\n",
        kernel::PLACES[0].line()
    );
    text.push_str("| tested |");
    for place in kernel::PLACES {
        let _ = write!(text, " {}: Linux | ours | use % |", place.queue.name());
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(3 * kernel::PLACES.len()));
    for (number, one) in kernel::tested().enumerate() {
        let name = if one.stack == Stack::Tcp { format!("Linux TCP {}", one.control) } else { one.name() };
        let row = tested.iter().position(|known| *known == one);
        let _ = write!(text, "| {name} |");
        for (column, place) in kernel::PLACES.iter().enumerate() {
            let ours = places.iter().position(|known| known == place).and_then(|known| scores.get(&(row?, known)));
            let ours = ours.map_or_else(|| "–".to_owned(), |measured| shown(&measured.share, 100.0, 1));
            let _ = match beside.get(&(number, column)) {
                None => write!(text, " – | {ours} | – |"),
                Some(Against { failure: Some(failure), .. }) => {
                    write!(text, " failed: {} | {ours} | – |", failure.replace('|', "/"))
                }
                Some(against) => {
                    write!(text, " {} | {ours} | {} |", shown(&against.share, 100.0, 1), shown(&against.utilization, 100.0, 1))
                }
            };
        }
        text.push('\n');
    }
    text.push('\n');
}

fn cells(measured: &Measured) -> String {
    if let Some(failure) = &measured.failure {
        return format!("failed: {} | | | | | | |", failure.replace('|', "/"));
    }
    let ended = figure(&measured.transfers).mean;
    let ended = ended.filter(|ended| *ended < 10.0).map_or_else(String::new, |ended| format!(" ({ended:.1})"));
    [
        shown(&measured.share, 100.0, 1),
        shown(&measured.utilization, 100.0, 1),
        shown(&measured.delay_mean, 1e3, 1),
        shown(&measured.delay_p95, 1e3, 1),
        shown(&measured.lost, 100.0, 2),
        shown(&measured.transfer_p50, 1e3, 0) + &ended,
        shown(&measured.transfer_p95, 1e3, 0),
        shown(&measured.response, 1e3, 1),
    ]
    .join(" | ")
}

fn speed(text: &mut String, speeds: &[Speed]) {
    text.push_str(
        "## Speed\n\nOne bulk flow under CUBIC alone on a line of 100 Mbit/s with 20 ms and tail drop of one bandwidth-delay product, 10 s. \
         Packets are those with data; processor time is that of the whole run,\nboth ends of the stack with their cryptography included. What is not spent in the stack is spent in \
         this project: events, line, queue and figures. Each call is timed by the wall clock, which costs about 50 ns: other load on the machine makes the shares uncertain.",
    );
    if cfg!(debug_assertions) {
        text.push_str(
            " This program was built with the profile for development, which is slower throughout; compare the shares.",
        );
    }
    text.push_str(
        "\n\n\
         | stack | packets per processor second | of it in the stack % | in ours % | ours per packet us |\n|---|---|---|---|---|\n",
    );
    for Speed { stack, packets, cpu, in_stack } in speeds {
        let (stack_part, ours) = in_stack.map_or(("–".to_owned(), 1.0), |part| (format!("{:.0}", part * 100.0), 1.0 - part));
        let per_packet = cpu * ours / packets * 1e6;
        let _ =
            writeln!(text, "| {} | {:.0} | {stack_part} | {:.0} | {per_packet:.2} |", stack.name(), packets / cpu, ours * 100.0);
    }
}

fn figure(values: &Values) -> Figure {
    Figure::of(values.iter().copied())
}

fn shown(values: &Values, scale: f64, decimals: usize) -> String {
    let figure = figure(values);
    match (figure.mean, figure.ci95) {
        (Some(mean), Some(half)) => format!("{:.decimals$} ± {:.decimals$}", mean * scale, half * scale),
        (Some(mean), None) => format!("{:.decimals$}", mean * scale),
        (None, _) => "–".to_owned(),
    }
}
