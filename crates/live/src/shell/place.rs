//! The networks: the program's, the line's, the far end, and a server's.

use crate::shell::Order;
use crate::shell::refusal::refused;
use crate::sys::mount;
use crate::testbed::namespace::Namespace;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;

/// The line's port toward the far end.
pub const PORT_FAR: &str = "gq-a";
/// The line's port toward the program.
pub const PORT_NEAR: &str = "gq-b";
/// The far end's interface.
pub const FAR: &str = "wan";
/// The program's interface.
const NEAR: &str = "line0";
/// The table of routes that takes what the far end answers for.
const TABLE: u32 = 100;
/// Rules about the server and about ports come in this order.
const SERVER_RULE: u32 = 50;
const PORT_RULE: u32 = 60;

/// All networks.
#[derive(Debug)]
pub struct Place {
    /// The program's.
    pub near: Namespace,
    /// Network of the line.
    pub middle: Namespace,
    /// The other end of the line.
    pub far: Namespace,
    /// A server's, behind the far end.
    pub server: Option<Namespace>,
}

impl Place {
    /// Builds them.
    ///
    /// # Errors
    /// When the kernel refuses, or there is no `ip` program.
    pub fn build(order: &Order) -> io::Result<Self> {
        let (near, middle, far) = (network()?, network()?, network()?);
        let (gateway, address) = (order.gateway(), order.near());
        join(&far, FAR, &middle, PORT_FAR)?;
        join(&near, NEAR, &middle, PORT_NEAR)?;
        near.ip(&format!("addr add {address} peer {gateway} dev {NEAR}"))?;
        near.ip(&format!("route add default via {gateway}"))?;
        far.ip(&format!("addr add {gateway} peer {address} dev {FAR}"))?;
        // Packets that nothing answers for vanish, instead of being refused.
        far.ip("route add blackhole default")?;
        far.ip(&format!("route add local default dev lo table {TABLE}"))?;
        let server = match &order.server {
            None => None,
            Some(_) => Some(behind(&far, gateway, order.server_address())?),
        };
        Ok(Self { near, middle, far, server })
    }

    /// The far end answers for all addresses at this port.
    pub fn answer_for(far: &Namespace, protocol: &str, port: u16) -> io::Result<()> {
        far.ip(&format!("rule add priority {PORT_RULE} iif {FAR} ipproto {protocol} dport {port} lookup {TABLE}"))
    }
}

/// A network of its own.
fn network() -> io::Result<Namespace> {
    Namespace::new().map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::PermissionDenied => refused(&error),
        _ => error,
    })
}

/// A pair of interfaces.
fn join(one: &Namespace, name: &str, other: &Namespace, other_name: &str) -> io::Result<()> {
    one.ip(&format!("link add {name} type veth peer name {other_name} netns {}", other.path()))?;
    for (place, name) in [(one, name), (other, other_name)] {
        // Absent from kernels without IPv6, which have nothing to be kept quiet.
        let _ = place.set(&format!("net.ipv6.conf.{name}.disable_ipv6"), "1");
        place.ip(&format!("link set {name} up"))?;
    }
    Ok(())
}

/// A network behind the far end, with one address.
fn behind(far: &Namespace, gateway: Ipv4Addr, address: Ipv4Addr) -> io::Result<Namespace> {
    let server = network()?;
    join(&server, "eth0", far, "srv")?;
    server.ip(&format!("addr add {address} peer {gateway} dev eth0"))?;
    server.ip(&format!("route add default via {gateway}"))?;
    far.ip(&format!("addr add {gateway} peer {address} dev srv"))?;
    far.ip(&format!("rule add priority {SERVER_RULE} to {address} lookup main"))?;
    far.set("net.ipv4.ip_forward", "1")?;
    Ok(server)
}

/// Puts names and name servers of this place where programs look for them.
///
/// # Errors
/// When the kernel refuses.
pub fn names(order: &Order) -> io::Result<()> {
    let (hosts, resolver) = (Path::new("/etc/hosts"), Path::new("/etc/resolv.conf"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let texts = [(hosts, hosts_text(&read(hosts), order)), (resolver, resolver_text(&read(resolver), order.outside_address()))];
    mount::replace_files(&texts)
}

fn hosts_text(outside: &str, order: &Order) -> String {
    let ours = ["server", "outside", "gateway"];
    let names = |line: &str| line.split('#').next().unwrap_or_default().split_whitespace().skip(1).map(str::to_owned).collect();
    let kept = outside.lines().filter(|line| {
        let names: Vec<String> = names(line);
        names.iter().all(|name| !ours.contains(&name.as_str()) || (name == "server" && order.server.is_none()))
    });
    let mut text: String = kept.flat_map(|line| [line, "\n"]).collect();
    text.push_str(&format!("{} gateway\n{} outside\n", order.gateway(), order.outside_address()));
    if order.server.is_some() {
        text.push_str(&format!("{} server\n", order.server_address()));
    }
    text
}

fn resolver_text(outside: &str, server: Ipv4Addr) -> String {
    let kept = outside.lines().filter(|line| !line.trim_start().starts_with("nameserver"));
    kept.flat_map(|line| [line, "\n"]).chain([format!("nameserver {server}\n").as_str()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(server: Option<&str>) -> Order {
        let server = server.map(str::to_owned);
        Order { program: vec![], server, line: vec![], seat: vec![], depth: 3, connection: 3 }
    }

    #[test]
    fn names_of_this_place_take_the_place_of_others() {
        let outside = "127.0.0.1 localhost\n100.64.2.4 outside\n100.64.2.3 server # of the shell around\n";
        let text = hosts_text(outside, &order(None));
        assert_eq!(
            text,
            "127.0.0.1 localhost\n100.64.2.3 server # of the shell around\n100.64.3.1 gateway\n100.64.3.4 outside\n"
        );
        let text = hosts_text(outside, &order(Some("iperf3 -s")));
        assert_eq!(text, "127.0.0.1 localhost\n100.64.3.1 gateway\n100.64.3.4 outside\n100.64.3.3 server\n");
    }

    #[test]
    fn the_name_server_is_asked_through_the_line() {
        let text = resolver_text("search example.org\nnameserver 127.0.0.53\noptions edns0\n", Ipv4Addr::new(100, 64, 3, 4));
        assert_eq!(text, "search example.org\noptions edns0\nnameserver 100.64.3.4\n");
    }
}
