//! Offloads: refused, or switched off and later back by a process that outlives the bridge, whatever happens to it.

use super::OffloadPolicy;
use crate::failure::Failure;
use crate::output::{itself, say};
use clap::Args;
use goodqueue_live::sys::ethtool::{Offload, Offloads, Switch};
use std::io::{self, Read};
use std::process::{Child, Command, Stdio};

/// Arguments of the process that puts interfaces back as they were.
#[derive(Args)]
pub struct KeeperArguments {
    /// INTERFACE:OFFLOAD that was on
    #[arg(value_name = "INTERFACE:OFFLOAD")]
    switched: Vec<String>,
}

/// Whoever puts things back at the end.
pub struct Keeper(Option<Child>);

impl Keeper {
    /// The bridge has ended: waits until everything is as it was.
    pub fn end(mut self) {
        if let Some(child) = &mut self.0 {
            drop(child.stdin.take());
            // It says itself what it could not put back.
            let _ = child.wait();
        }
    }
}

/// What joins received frames, so that a queue would see many packets as one.
const JOINING: [Offload; 2] = [Offload::Gro, Offload::Lro];
/// What joins them so that they cannot be taken apart again.
const FOR_GOOD: [Offload; 1] = [Offload::Lro];

/// Sees to offloads as asked for.
pub fn settle(interfaces: [&String; 2], policy: OffloadPolicy) -> Result<Keeper, Failure> {
    let mut on = Vec::new();
    for name in interfaces {
        let unknown = |error| Failure::Input(format!("{name}: {error}"));
        let offloads = Offloads::of(name).map_err(unknown)?;
        for &offload in if policy == OffloadPolicy::Split { &FOR_GOOD[..] } else { &JOINING } {
            if offloads.is_on(offload).map_err(unknown)? {
                on.push((name.as_str(), offload));
            }
        }
    }
    if on.is_empty() || policy == OffloadPolicy::Ignore {
        return Ok(Keeper(None));
    }
    if matches!(policy, OffloadPolicy::Refuse | OffloadPolicy::Split) {
        let list = |separator: &str| {
            on.iter()
                .map(|(name, offload)| format!("ethtool -K {name} {} off", offload.name()))
                .collect::<Vec<_>>()
                .join(separator)
        };
        return Err(Failure::Input(format!(
            "received packets would be joined to larger ones before the queue sees them: run `{}`, or give --offloads set",
            list("; ")
        )));
    }
    // First the one who puts them back, then the change: nothing can be left behind.
    let child = spawn(&on)?;
    let keeper = Keeper(Some(child));
    for (name, offload) in on {
        let switched = Offloads::of(name).and_then(|offloads| offloads.set(offload, Switch::Off));
        if let Err(error) = switched {
            keeper.end();
            return Err(Failure::Run(format!("{name}: {} cannot be switched off: {error}", offload.name())));
        }
    }
    Ok(keeper)
}

fn spawn(on: &[(&str, Offload)]) -> Result<Child, Failure> {
    let failed = |error| Failure::Run(format!("no process can be started: {error}"));
    let (program, first) = itself().split_first().ok_or_else(|| failed(io::ErrorKind::NotFound.into()))?;
    Command::new(program)
        .args(first)
        .arg("bridge-keeper")
        .args(on.iter().map(|(name, offload)| format!("{name}:{}", offload.name())))
        .stdin(Stdio::piped())
        .spawn()
        .map_err(failed)
}

/// Waits until the bridge is gone, then puts things back.
pub fn run(arguments: &KeeperArguments) -> Result<(), Failure> {
    // Signals of the terminal are for the bridge.
    let held = goodqueue_live::sys::signals::Signals::hold();
    let mut nothing = [0; 16];
    let mut bridge = std::io::stdin().lock();
    while !matches!(bridge.read(&mut nothing), Ok(0) | Err(_)) {}
    drop(held);
    for text in &arguments.switched {
        let (name, offload) = text.rsplit_once(':').unwrap_or((text, ""));
        let Some(offload) = Offload::by_name(offload) else {
            return Err(Failure::Input(format!("`{text}` is not INTERFACE:OFFLOAD")));
        };
        let restored = Offloads::of(name).and_then(|offloads| offloads.set(offload, Switch::On));
        if let Err(error) = restored {
            say(&format!("{name}: {} cannot be switched on again: {error}", offload.name()));
        }
    }
    Ok(())
}
