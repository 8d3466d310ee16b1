//! `gq import`: measurements as scenarios.

use crate::failure::{Failure, check_file};
use crate::output::print;
use clap::{Args, ValueEnum};
use goodqueue_interop::import::{Draft, Input, config, controller, flent, measurement, pcap, qlog, recording, speedtest, tc};
use goodqueue_lab::scenario::plan::Plan;
use std::path::{Path, PathBuf};

/// Arguments of `gq import`.
#[derive(Args)]
#[command(after_help = "Example: speedtest -f json > test.json; gq import speedtest test.json > home.toml; gq run home.toml")]
pub struct Arguments {
    /// Kind of file
    #[arg(value_enum)]
    format: Format,
    /// The file, packed by gzip or not; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Interface, for tc, sqm, networkd and routeros where there are several
    #[arg(long, value_name = "NAME")]
    dev: Option<String>,
    /// Site for stormguard, circuit for libreqos [default: the first]
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
    /// Where to write the transfers of a pcap as a flow list, which the scenario plays then
    #[arg(long, value_name = "FILE")]
    flows: Option<PathBuf>,
    /// Recording of the other direction, for mahimahi
    #[arg(long, value_name = "FILE")]
    up: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Result of a speed test: Ookla, networkQuality, LibreSpeed, speedtest-cli, Cloudflare,
    /// fast.com, iperf3, irtt, Crusader
    Speedtest,
    /// The result of gq measure
    Measure,
    /// Output of tc -s -j qdisc show and tc class show, or lines of tc
    Tc,
    /// A data file of flent
    Flent,
    /// The log of LibreQoS' StormGuard
    Stormguard,
    /// A log of cake-autorate
    Autorate,
    /// A recording of delivery opportunities
    Mahimahi,
    /// Packets of a link, as pcap or pcapng
    Pcap,
    /// A connection of QUIC; gq qlog compares it with a simulated one
    Qlog,
    /// /etc/config/sqm of OpenWrt
    Sqm,
    /// .network files of systemd-networkd, one below the other
    Networkd,
    /// Output of /export of RouterOS 7
    Routeros,
    /// ShapedDevices.csv of LibreQoS
    Libreqos,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // An option that does nothing would leave its user believing that it did.
    for (name, is_given, formats) in [
        ("--dev", arguments.dev.is_some(), [Format::Tc, Format::Sqm, Format::Networkd, Format::Routeros].as_slice()),
        ("--site", arguments.site.is_some(), &[Format::Stormguard, Format::Libreqos]),
        ("--flows", arguments.flows.is_some(), &[Format::Pcap]),
        ("--up", arguments.up.is_some(), &[Format::Mahimahi]),
    ] {
        if is_given && !formats.contains(&arguments.format) {
            let values: Vec<_> = formats.iter().filter_map(ValueEnum::to_possible_value).collect();
            let words: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            return Err(Failure::Input(format!("{name}: is for gq import {}", words.join(", "))));
        }
    }
    if arguments.format == Format::Pcap {
        return captured(&arguments.file, arguments.flows.as_deref());
    }
    let input = Input::load(&arguments.file).map_err(Failure::input)?;
    let dev = arguments.dev.as_deref();
    let draft = match arguments.format {
        Format::Speedtest => speedtest::import(&input),
        Format::Measure => measurement::import(&input),
        Format::Tc => input.check_json().and_then(|()| tc::import(&input, dev)),
        Format::Flent => flent::import(&input),
        Format::Stormguard => controller::stormguard(&input, arguments.site.as_deref()),
        Format::Autorate => controller::autorate(&input),
        Format::Qlog => qlog::import(&input),
        Format::Sqm => config::sqm(&input, dev),
        Format::Networkd => config::networkd(&input, dev),
        Format::Routeros => config::routeros(&input, dev),
        Format::Libreqos => config::libreqos(&input, arguments.site.as_deref()),
        Format::Pcap => unreachable!("returned above"),
        Format::Mahimahi => {
            let up = arguments.up.as_deref().map(Input::load).transpose().map_err(Failure::input)?;
            recording::import(&input, up.as_ref())
        }
    };
    put_out(&input, &draft.map_err(Failure::input)?)
}

/// Prints a scenario that can be run, whatever a file made of it.
fn put_out(input: &Input, draft: &Draft) -> Result<(), Failure> {
    let text = draft.text();
    Plan::parse(&format!("scenario made from {}", input.name), &text, Path::new(""))?;
    Ok(print(&text)?)
}

/// A recording of packets; its transfers go to a file next to the scenario.
fn captured(file: &Path, flows: Option<&Path>) -> Result<(), Failure> {
    let (input, content) = Input::open(file).map_err(Failure::input)?;
    check_file("--flows", flows)?;
    let list = flows.map(|path| path.display().to_string());
    let captured = pcap::import(&input, content, list.as_deref()).map_err(Failure::input)?;
    if let Some(path) = flows {
        let written = std::fs::write(path, &captured.list);
        written.map_err(Failure::of(format!("--flows {}: cannot be written", path.display())))?;
    }
    put_out(&input, &captured.draft)
}
