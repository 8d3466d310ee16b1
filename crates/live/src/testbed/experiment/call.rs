//! Calls: one thread sends numbered packets at constant gaps, one at the far end listens.

use super::datagrams::{UDP_HEADERS, each_datagram, each_due};
use super::prober::Stamp;
use super::shared::Shared;
use super::waiting::Stop;
use super::{Flow, Source};
use rustix::net::sockopt::set_ip_tos;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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
        each_datagram(&receiver, stop, |packet| {
            let (Some(stamp), Some(call)) = (Stamp::read(packet), &counted.call) else { return };
            call.hear(stamp);
            counted.delivered.fetch_add(packet.len() as u64 + u64::from(UDP_HEADERS), Ordering::Relaxed);
        });
    })?;
    let mut payload = vec![0; (packet_size.saturating_sub(UDP_HEADERS) as usize).max(Stamp::LEN)];
    let interval = Wall::from(*interval);
    each_due(
        flow,
        stop,
        || interval,
        || {
            // A packet that finds no room here counts as sent, too: nobody hears it.
            call.next().write(&mut payload);
            sender.send(&payload).map(|_| ())
        },
    )
}
