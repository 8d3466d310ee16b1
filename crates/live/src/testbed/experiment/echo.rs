//! Probes that the far end sends back: one thread sends them, one takes the answers, and one at the
//! far end is the echo.

use super::datagrams::{each_datagram, each_stamp, send_stamps};
use super::shared::Shared;
use super::waiting::{LOOK, Stop};
use super::{Flow, Source};
use rustix::net::sockopt::set_ip_tos;
use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Scope;
use std::time::Duration as Wall;

/// Both ends of an echo flow.
pub(super) struct Ends {
    sender: UdpSocket,
    echo: UdpSocket,
}

impl Ends {
    pub(super) fn new(sender: UdpSocket, echo: UdpSocket) -> io::Result<Self> {
        echo.connect(sender.local_addr()?)?;
        sender.set_read_timeout(Some(LOOK))?;
        Ok(Self { sender, echo })
    }

    /// Sends probes until the flow stops, and takes answers until all is over.
    pub(super) fn run<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        flow: &Flow,
        shared: &Arc<Shared>,
        stop: &'scope Stop,
    ) -> io::Result<()> {
        let (Source::Echo { interval, packet_size, ecn }, Some(prober)) = (&flow.source, &shared.prober) else { return Ok(()) };
        let Self { sender, echo } = self;
        for socket in [&sender, &echo] {
            set_ip_tos(socket, flow.dscp << 2 | *ecn as u8)?;
        }
        std::thread::Builder::new().name("echo".to_owned()).spawn_scoped(scope, move || send_back(&echo, stop))?;
        let (answers, counted) = (sender.try_clone()?, Arc::clone(shared));
        std::thread::Builder::new().name("answers".to_owned()).spawn_scoped(scope, move || {
            let Some(prober) = &counted.prober else { return };
            each_stamp(&answers, stop, (&counted.counting, &counted.delivered), |stamp| prober.answered(stamp));
        })?;
        send_stamps(flow, stop, &sender, (*packet_size, Wall::from(*interval)), || {
            // A probe that finds no room here counts as sent, too: it never comes back.
            shared.sent.fetch_add(1, Ordering::Relaxed);
            prober.next()
        })
    }
}

fn send_back(echo: &UdpSocket, stop: &Stop) {
    each_datagram(echo, stop, |probe| {
        // An answer that finds no room is lost, as any packet may be.
        let _ = echo.send(probe);
    });
}
