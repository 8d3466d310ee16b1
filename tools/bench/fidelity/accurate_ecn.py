#!/usr/bin/env python3
"""Accurate ECN between Linux 7.3 and goodqueue's sender and receiver, over queues that mark, in virtual time.

    accurate_ecn.py [GQ]                      a table of all pairs of ends (needs `make linux-7.3`; GQ: target/release/gq)
    accurate_ecn.py --end send|receive PEER   the kernel's end: runs in a guest

The sender connects, sends 10 MB and closes. Both ends say how many marks and marked bytes arrived at the receiver, and how many of those the sender has learned of.
"""

import json
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tables import table  # noqa: E402

PORT, BYTES = 5001, 10_000_000
# Ethernet addresses of the guests, and IP addresses of the kernel's end and of ours there.
ENDS = {"send": ("02:00:00:00:00:01", "10.77.0.1", "10.77.0.11"), "receive": ("02:00:00:00:00:02", "10.77.0.2", "10.77.0.12")}
OTHER = {"send": "receive", "receive": "send"}
# Rates down and up, round-trip time, queue, congestion control. Where the way back is slow,
# acknowledgements are lost.
LINES = [
    *(("5mbit", "10ms", queue, "cubic") for queue in ("codel", "fq-codel", "pie", "cake", "dualpi2")),
    ("20/0.2mbit", "30ms", "codel", "cubic"),
    ("20mbit", "20ms", "dualpi2", "prague"),
]
# Of `struct tcp_info` of Linux 7.3: unsigned numbers of 32 bits.
OFFSETS = {
    "total_retrans": 100,
    "delivered_ce": 196,
    "received_ce": 248,
    "delivered_e0_bytes": 256,
    "delivered_ce_bytes": 260,
    "received_e0_bytes": 268,
    "received_ce_bytes": 272,
}


def figures(connection, count, began):
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512)
    if len(info) < 276:
        sys.exit(f"accurate_ecn.py: this kernel's tcp_info has {len(info)} bytes and no counters of accurate ECN")
    found = {name: struct.unpack_from("I", info, offset)[0] for name, offset in OFFSETS.items()}
    print(json.dumps({**found, "bytes": count, "seconds": time.monotonic() - began}), flush=True)


def kernel_end(role, peer):
    """The kernel's end of the connection; prints its figures before it closes."""
    with socket.socket() as own:
        if role == "receive":
            own.bind(("", PORT))
            own.listen(1)
            connection, _ = own.accept()
            began, count = time.monotonic(), 0
            while part := connection.recv(1 << 20):
                count += len(part)
            figures(connection, count, began)
            return
        began = time.monotonic()
        own.connect((peer, PORT))
        own.sendall(bytes(BYTES))
        own.shutdown(socket.SHUT_WR)
        # The other end closes when it has everything.
        own.recv(1)
        figures(own, BYTES, began)


def command(gq, role, tcps, control):
    """What the end of this role runs in a guest; `tcps` are those of both ends."""
    (_, _, ours), (neighbor, *peers) = ENDS[role], ENDS[OTHER[role]]
    peer = peers[tcps[OTHER[role]] == "goodqueue"]
    wait = "sleep 1; " if role == "send" else ""
    if tcps[role] == "Linux":
        settings = f"echo 3 > /proc/sys/net/ipv4/tcp_ecn; echo {control} > /proc/sys/net/ipv4/tcp_congestion_control; "
        known = f"ip neighbor replace {peer} lladdr {neighbor} dev eth0; "
        return f"{settings}{known}{wait}python3 {Path(__file__).resolve()} --end {role} {peer}"
    # The receiver takes the sender's port as it comes.
    own, other = (PORT + 1, PORT) if role == "send" else (PORT, 0)
    settings = f"--set net.ipv4.tcp_ecn=3 --set net.ipv4.tcp_congestion_control={control}"
    what = f" --send {BYTES}" if role == "send" else ""
    return f"{wait}{gq}-checks endpoint --interface eth0 --own {ours}:{own} --peer {peer}:{other} --neighbor {neighbor} {settings}{what}"


def run(gq, line, tcps):
    """Figures of both ends, and the summaries of the links."""
    rate, rtt, queue, control = line
    # The run ends with the client, which is the receiver; the sender has to say its figures, too.
    client = command(gq, "receive", tcps, control) + "; sleep 1"
    words = [gq, "exec", "--on", "linux-7.3", "--rate", rate, "--rtt", rtt, "--aqm", queue, "--buffer-up", "10packets"]
    words += ["--server", command(gq, "send", tcps, control), "--client", client]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    ends = [json.loads(line) for line in (done.stderr.replace("server: {", "{") + done.stdout).splitlines() if line.startswith("{")]
    lost = re.search(r"line.up: .* (\d+) of \d+ packets dropped", done.stderr)
    if done.returncode or len(ends) != 2 or not lost:
        sys.exit(f"accurate_ecn.py: {tcps} over {line}: {done.stderr}{done.stdout}")
    return *ends, int(lost[1])


def main():
    if sys.argv[1:2] == ["--end"]:
        kernel_end(*sys.argv[2:4])
        return
    gq = str(Path(sys.argv[1] if sys.argv[1:] else "target/release/gq").resolve())
    rows = []
    for line in LINES:
        for sender, receiver in (("Linux", "Linux"), ("Linux", "goodqueue"), ("goodqueue", "Linux"), ("goodqueue", "goodqueue")):
            if line[-1] == "prague" and sender == "Linux":
                # No kernel of Debian has that control.
                continue
            sent, received, lost = run(gq, line, {"send": sender, "receive": receiver})
            rate, rtt, queue, control = line
            rows.append([
                f"{rate.replace('mbit', ' Mbit/s')}, {rtt.replace('ms', ' ms')}", f"`{queue}`", f"{sender}, {control}", receiver,
                f"{8e-6 * received['bytes'] / received['seconds']:.2f}", received["received_ce"], sent["delivered_ce"],
                received["received_ce_bytes"], sent["delivered_ce_bytes"], lost,
            ])
    heads = ["line", "queue", "sender", "receiver", "Mbit/s", "marks received", "learned", "marked bytes", "learned", "acknowledgements lost"]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
