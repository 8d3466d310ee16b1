#!/usr/bin/env python3
"""Soak test: runs `gq bridge` with real TCP through it, changes queue, rate and delay meanwhile, and watches memory and descriptors.

    tools/bench/live/soak.py [--gq PATH] [--minutes 30] [--rate 5mbit] [--csv FILE]

Needs root and the `ip` program. Creates three network namespaces and removes them afterward. Fails if memory or
descriptors grow after the first fifth of the time, if a packet is lost outside of the queue, or if the transfer is corrupted.
"""
import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LEFT, RIGHT = "10.78.0.1", "10.78.0.2"
PORT = 5201
CHANGES = [
    "aqm down codel:target=10ms", "aqm down fq-codel", "rate down 8mbit", "aqm down pie", "delay up 5ms", "aqm down cp-aqm", "rate down 5mbit",
    "aqm down tail-drop", "delay up 10ms",
]


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


class Network:
    """left - (port-a, the bridge, port-b) - right."""

    def __init__(self):
        self.names = [f"gq-soak-{part}-{os.getpid()}" for part in ("left", "middle", "right")]

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", name)
            left, middle, right = self.names
            for place, end, port, address in [(left, "left", "port-a", LEFT), (right, "right", "port-b", RIGHT)]:
                ip("-n", place, "link", "add", end, "type", "veth", "peer", "name", port, "netns", middle)
                # One segment per frame: a sender on the same machine would otherwise pass joined
                # segments.
                ip("-n", place, "link", "set", end, "gso_max_segs", "1", "up")
                ip("-n", middle, "link", "set", port, "up")
                ip("-n", place, "addr", "add", f"{address}/24", "dev", end)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, stderr=subprocess.DEVNULL)

    def inside(self, number, work):
        """Calls `work` on a thread within this network namespace."""
        def run():
            with open(f"/run/netns/{self.names[number]}") as file:
                if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), 0) != 0:
                    sys.exit("setns is refused")
            work()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread


class Transfer:
    """Bytes from left to right as fast as TCP will, with a digest at both ends."""

    def __init__(self):
        self.over = threading.Event()
        self.digests = {}
        self.received = 0

    def send(self):
        digest, block = hashlib.blake2b(), os.urandom(65536)
        with socket.create_connection((RIGHT, PORT), timeout=30) as connection:
            while not self.over.is_set():
                sent = connection.send(block)
                digest.update(block[:sent])
        self.digests["sent"] = digest.hexdigest()

    def receive(self):
        digest = hashlib.blake2b()
        with socket.create_server((RIGHT, PORT)) as server:
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(65536):
                    digest.update(data)
                    self.received += len(data)
        self.digests["received"] = digest.hexdigest()


def resident(pid):
    """Resident kB of a process."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def ask(path, command):
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(path)
        control.sendall(command.encode() + b"\n")
        return json.loads(control.makefile().readline())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gq", default="gq")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", default="5mbit")
    parser.add_argument("--csv")
    options = parser.parse_args()
    seconds = options.minutes * 60
    rows, problems = [], []
    with tempfile.TemporaryDirectory() as folder, Network() as network:
        control = f"{folder}/control"
        command = ["ip", "netns", "exec", network.names[1], options.gq, "bridge", "--in", "port-a", "--out", "port-b", "--rate", options.rate, "--rate-up", "50mbit",
                   "--delay", "10ms", "--aqm", "codel", "--offloads", "set", "--control", control, "--metrics", "127.0.0.1:9190", "--stats", "10s"]
        with open(f"{folder}/said", "w+") as said:
            bridge = subprocess.Popen(command, stdout=said, stderr=said)
            try:
                while not os.path.exists(control):
                    if bridge.poll() is not None:
                        said.seek(0)
                        sys.exit(f"the bridge does not run: {said.read()}")
                    time.sleep(0.1)
                transfer = Transfer()
                receiver = network.inside(2, transfer.receive)
                time.sleep(0.5)
                sender = network.inside(0, transfer.send)
                start, step = time.monotonic(), 0
                while (now := time.monotonic() - start) < seconds:
                    time.sleep(10)
                    rows.append((round(now), resident(bridge.pid), len(os.listdir(f"/proc/{bridge.pid}/fd")), transfer.received))
                    answer = ask(control, CHANGES[step % len(CHANGES)])
                    if "error" in answer:
                        problems.append(f"{CHANGES[step % len(CHANGES)]}: {answer}")
                    step += 1
                transfer.over.set()
                sender.join(30)
                receiver.join(60)
                stats = ask(control, "stats")
            finally:
                if bridge.poll() is None:
                    bridge.send_signal(signal.SIGTERM)
                code = bridge.wait(10)
                said.seek(0)
                last = said.read().splitlines()[-12:]
    if options.csv:
        pathlib.Path(options.csv).write_text("seconds,resident_kb,descriptors,received_bytes\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    settled = [row for row in rows if row[0] >= seconds / 5] or rows
    memory, files = [row[1] for row in settled], [row[2] for row in settled]
    print(json.dumps(stats)[:2000])
    print("\n".join(last))
    print(f"{len(rows)} samples over {rows[-1][0]} s, {step} changes; resident {memory[0]} kB then, {memory[-1]} kB at the end ({min(memory)} to {max(memory)}); "
          f"descriptors {min(files)} to {max(files)}; {transfer.received} bytes received, {'the same' if len(set(transfer.digests.values())) == 1 else 'NOT the same'} as sent")
    # A page or two for a deeper stack is not a leak; a real leak soon exceeds this.
    if max(memory) > memory[0] + 512:
        problems.append("memory grew")
    if max(files) > files[0] + 1 or files[-1] > files[0]:
        problems.append("descriptors grew")
    if len(transfer.digests) != 2 or len(set(transfer.digests.values())) != 1:
        problems.append("what was received is not what was sent")
    outside = sum(side[name] for side in stats for name in ("ring_overflows", "no_buffer", "oversize", "send_failures"))
    if outside:
        problems.append(f"{outside} packets were lost outside of the queue")
    if code != 0:
        problems.append(f"the bridge ended with {code}")
    sys.exit("; ".join(problems) or 0)


if __name__ == "__main__":
    main()
