"""A program that can be held to goodqueue's vectors: tail drop and CoDel (RFC 8289) in pure Python.

    gq-checks conformance --against "python3 examples/conformance/client.py"

The protocol is described in docs/conformance.md: a line of JSON comes in, a line of JSON goes out.
"""

import json
import math
import sys
from collections import deque

MS = 1_000_000


class TailDrop:
    """A FIFO queue with a limit. Packets are [number, length, codepoint, arrival]."""

    def __init__(self, head):
        self.limit, self.limit_bytes = head["link"]["limit_packets"], head["link"]["limit_bytes"]
        self.ecn, self.queue, self.bytes, self.events = head["ecn"], deque(), 0, []

    def enqueue(self, now, number, length, codepoint):
        if len(self.queue) >= self.limit or self.bytes + length > self.limit_bytes:
            self.events.append(["drop", number, "overflow"])
            return
        self.queue.append([number, length, codepoint, now])
        self.bytes += length

    def pop(self):
        packet = self.queue.popleft() if self.queue else None
        self.bytes -= packet[1] if packet else 0
        return packet

    def dequeue(self, now):
        self.depart(self.pop())

    def depart(self, packet):
        if packet:
            self.events.append(["depart", packet[0]])


class CoDel(TailDrop):
    """The loop of RFC 8289 §5.3, with a mark in the place of a drop for ECN-capable packets."""

    def __init__(self, head):
        super().__init__(head)
        self.target, self.interval = head["params"].get("target", 5 * MS), head["params"].get("interval", 100 * MS)
        self.mtu, self.first_above, self.drop_next = head["link"]["mtu"], 0, 0
        self.count, self.last_count, self.dropping = 0, 0, False

    def law(self, t):
        return t + max(1, math.floor(self.interval / math.sqrt(self.count) + 0.5))

    def next_packet(self, now):
        packet = self.pop()
        if packet is None or now - packet[3] < self.target or self.bytes <= self.mtu:
            self.first_above = 0
        elif self.first_above == 0:
            self.first_above = now + self.interval
        else:
            return packet, now >= self.first_above
        return packet, False

    def signal(self, packet):
        """True when the packet lives on, marked."""
        if not self.ecn or packet[2] == 0:
            self.events.append(["drop", packet[0], "head"])
            return False
        if packet[2] != 3:
            packet[2] = 3
            self.events.append(["mark", packet[0], "head"])
        return True

    def dequeue(self, now):
        packet, ok = self.next_packet(now)
        if self.dropping:
            self.dropping = ok
            while self.dropping and now >= self.drop_next:
                self.count += 1
                if self.signal(packet):
                    self.drop_next = self.law(self.drop_next)
                    break
                packet, self.dropping = self.next_packet(now)
                if self.dropping:
                    self.drop_next = self.law(self.drop_next)
        elif ok:
            if not self.signal(packet):
                packet, _ = self.next_packet(now)
            self.dropping = True
            added = self.count - self.last_count
            self.count = added if added > 1 and now - self.drop_next < 16 * self.interval else 1
            self.drop_next = self.law(now)
            self.last_count = self.count
        self.depart(packet)


# `my-codel` is the name under which a simulation may have it: docs/evaluate.md.
KINDS = {"tail-drop": (TailDrop, set()), "codel": (CoDel, {"target", "interval"}), "my-codel": (CoDel, set())}


def answer(line):
    print(json.dumps(line, separators=(",", ":")), flush=True)


def main():
    queue, number = None, 0
    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, dict):
            queue_class, known = KINDS.get(message["kind"], (None, set()))
            unknown = set(message["params"]) - known
            if queue_class is None or unknown:
                answer({"skip": f"no {message['kind']} here" if queue_class is None else f"no {', '.join(sorted(unknown))} here"})
                continue
            queue, number = queue_class(message), 0
            answer({"ready": True})
            continue
        if message[0] == "enqueue":
            _, now, length, _flow, codepoint = message
            queue.enqueue(now, number, length, codepoint)
            number += 1
        elif message[0] == "dequeue":
            queue.dequeue(message[1])
        # Neither queue has a timer, or asks for the link's rate.
        answer(queue.events)
        queue.events = []


if __name__ == "__main__":
    main()
