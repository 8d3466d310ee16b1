//! Calls: one thread sends numbered packets at constant gaps, one at the far end listens.

use super::datagrams::{each_stamp, send_stamps};
use super::shared::Shared;
use super::waiting::Stop;
use super::{Flow, Source};
use rustix::net::sockopt::set_ip_tos;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread::Scope;
use std::time::Duration as Wall;

/// Sends packets until the flow stops, and listens until all is over.
pub(super) fn run<'scope>(
    scope: &'scope Scope<'scope, '_>,
    flow: &Flow,
    (sender, receiver): (&UdpSocket, UdpSocket),
    shared: &Arc<Shared>,
    stop: &'scope Stop,
) -> io::Result<()> {
    let (Source::Call { interval, packet_size, ecn, .. }, Some(call)) = (&flow.source, &shared.call) else { return Ok(()) };
    set_ip_tos(sender, flow.dscp << 2 | *ecn as u8)?;
    let counted = Arc::clone(shared);
    std::thread::Builder::new().name("listener".to_owned()).spawn_scoped(scope, move || {
        let Some(call) = &counted.call else { return };
        each_stamp(&receiver, stop, (&counted.counting, &counted.delivered), |stamp| call.hear(stamp));
    })?;
    // A packet that finds no room here counts as sent, too: nobody hears it.
    send_stamps(flow, stop, sender, (*packet_size, Wall::from(*interval)), || call.next())
}
