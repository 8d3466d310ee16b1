"""The outer loop of Bless, Hock and Zitterbart 2018 (algorithms 1 to 4) around GSP, and as this crate applies it to CoDel and PIE."""

import math
import random
from collections import deque

from gsp import Gsp
from pie import Pie
from vector import CE, ECT0, ECT1, NOT_ECT, Model, Rng, link, play, write

US, MS = 1_000, 1_000_000
NEVER = math.inf


class Utema:
    """Weight exp(-age / memory), sum of samples over sum of weights."""

    def __init__(self, memory):
        self.memory, self.s, self.n, self.last = memory, 0.0, 0.0, 0

    def sample(self, now, x):
        f = math.exp(-(now - self.last) / self.memory)
        self.s, self.n, self.last = f * self.s + x, f * self.n + 1, now
        return self.s / self.n


class TdrmUtemaCpa:
    """A volume counts as having arrived evenly over the time since the one before."""

    def __init__(self, memory):
        self.memory, self.s, self.t = memory, 0.0, 0.0

    def sample(self, volume, delta):
        f, weight = math.exp(-delta / self.memory), -math.expm1(-delta / self.memory)
        self.s = f * self.s + volume / (delta / 1e9) * (self.memory / 1e9) * weight
        self.t = f * self.t + self.memory / 1e9 * weight

    def rate(self):
        return self.s / self.t if self.t > 0 else None


class Steering:
    """State and steps of the outer loop; rates in bytes per second, times in ns."""

    def __init__(self, facts, native, *, u_low=0.99, u_target=1.0, target_max=30 * MS, thresh_min=200 * US, alpha_up=2.0,
                 thresh_min_up=None, thresh_down_min=200 * US, gamma=2.0, down_step=0.75, thresh_vq=None, g_vq=0.5,
                 mem_delta=2000 * MS, mem_rate=2000 * MS, rate=None, look_every=0, raise_every=0, remembered=NEVER,
                 one_packet=False):
        self.u_low, self.u_target, self.thresh_max, self.thresh_min = u_low, u_target, target_max, thresh_min
        self.alpha_up, self.thresh_min_up = alpha_up, native if thresh_min_up is None else thresh_min_up
        self.thresh_down_min, self.gamma, self.down_step, self.g_vq = thresh_down_min, gamma, down_step, g_vq
        self.thresh_vq = max(thresh_min, target_max // 2) if thresh_vq is None else thresh_vq
        self.fixed_rate, self.mtu, self.overhead = rate, facts["mtu"], facts["overhead"]
        self.look_every, self.raise_every, self.remembered, self.one_packet = look_every, raise_every, remembered, one_packet
        self.thresh_curr = max(thresh_min, min(self.thresh_min_up, target_max))
        self.thresh_up, self.discarded, self.last_discard = False, False, 0
        self.t0, self.bytes = None, 0
        self.delta, self.variance = Utema(mem_delta), Utema(mem_delta)
        self.rate_bd = TdrmUtemaCpa(mem_rate)
        self.vq_active, self.rate_vq, self.v, self.t_v = False, 0.0, 0.0, 0
        self.last_sojourn, self.next_look, self.next_raise = 0, 0, 0
        self.rate_max = 0.0
        self.set_rate(0, facts["rate"])
        self.t_rq_min = self.thresh_curr
        self.moves = {}

    def note(self, move):
        """Counts what a vector exercises."""
        self.moves[move] = self.moves.get(move, 0) + 1

    def set_rate(self, now, rate):
        usable = None if rate == 0 else self.fixed_rate or rate
        new = (usable or 0) / 8
        if self.vq_active and self.rate_max > 0 and new > 0:
            self.v, self.t_v = self.fill(now), now
            self.rate_vq *= new / self.rate_max
        self.rate_max = new
        self.floor = self.thresh_min
        if new > 0:
            if self.one_packet and rate:
                self.floor = max(self.floor, -(-self.mtu * 8 * 10**9 // rate))
            self.floor = min(self.floor, self.thresh_max)
            self.thresh_curr = max(self.thresh_curr, self.floor)
        if self.t0 is not None:
            self.t0, self.bytes = now, 0

    def virtual(self):
        return self.vq_active and self.rate_max > 0

    def fill(self, now):
        return max(0.0, self.v - self.rate_vq * ((now - self.t_v) / 1e9))

    def delay(self, now):
        """What the algorithm inside takes for the queue's delay while the virtual queue counts."""
        imagined = math.floor(self.fill(now) / self.rate_vq * 1e9 + 0.5)
        return max(imagined, self.last_sojourn) if self.last_sojourn > self.thresh_max else imagined

    def shown(self, now):
        """Bytes and packets of the virtual queue."""
        fill = self.fill(now)
        some = 1 if fill > 0 else 0
        return max(some, math.floor(fill)), max(some, math.floor(fill / self.mtu))

    def arrival(self, now, packets):
        if self.t0 is None:
            self.t0 = now
        if packets == 0:
            self.last_sojourn = 0
        self.t_rq_min = min(self.t_rq_min, self.last_sojourn)
        empty = self.fill(now) == 0 if self.virtual() else packets == 0
        if empty and self.discarded and now - self.last_discard <= self.remembered:
            self.thresh_up, self.discarded = True, False

    def departure(self, sojourn):
        self.last_sojourn = sojourn
        self.t_rq_min = min(self.t_rq_min, sojourn)

    def accepted(self, now, size):
        self.bytes += size + self.overhead
        if self.vq_active:
            self.v, self.t_v = self.fill(now) + size + self.overhead, now

    def dropped_later(self, size):
        if self.vq_active:
            self.v = max(0.0, self.v - size - self.overhead)

    def current_rate(self, now):
        return self.bytes / ((now - self.t0) / 1e9) if now - self.t0 >= 1000 else None

    def withhold(self, now):
        """Algorithm 2: is the bound raised, so that no packet is discarded?"""
        if self.rate_max == 0 or now < self.next_look:
            return False
        thresh_up, self.thresh_up = self.thresh_up, False
        low, average = self.u_low * self.rate_max, self.rate_bd.rate()
        current = self.current_rate(now)
        if not thresh_up or current is None or average is None or current >= low or average >= low:
            return False
        if not self.raise_bound(now, average):
            return False
        self.next_look = now + self.look_every
        return True

    def raise_bound(self, now, average):
        if self.vq_active:
            before = self.rate_vq
            self.v, self.t_v = self.fill(now), now
            self.rate_vq = min(self.rate_max, before + self.g_vq * (self.u_target * self.rate_max - average))
            self.note("virtual rate")
            if self.rate_vq == self.rate_max:
                self.vq_active = False
                self.note("virtual off")
            return self.rate_vq != before
        doubled = math.floor(self.thresh_curr * self.alpha_up + 0.5)
        raised = min(max(doubled, self.thresh_min_up), self.thresh_max)
        if now < self.next_raise or raised <= self.thresh_curr:
            return False
        self.thresh_curr, self.next_raise = raised, now + self.raise_every
        self.note("raise")
        return True

    def discard(self, now, backlog, packets):
        """Algorithms 1, 3 and 4: what is learned when a packet is discarded (or marked)."""
        self.discarded, self.last_discard = True, now
        if self.rate_max == 0 or now < self.next_look:
            return
        self.next_look = now + self.look_every
        current = self.current_rate(now)
        if current is not None:
            self.rate_bd.sample(self.bytes, now - self.t0)
        average = self.rate_bd.rate()
        if not self.vq_active:
            self.lower(now, average)
        target = self.u_target * self.rate_max
        if self.u_target < 1 and average is not None:
            if average > target and not self.vq_active and current is not None and current > target:
                lowest = max(self.floor, self.thresh_vq)
                self.thresh_curr = max(lowest, math.floor(self.down_step * self.thresh_curr + 0.5))
                self.note("down")
                if self.thresh_curr == lowest:
                    self.vq_active, self.rate_vq = True, self.rate_max
                    self.v, self.t_v = backlog + packets * self.overhead, now
                    self.note("virtual on")
            if self.vq_active and average > target:
                self.v, self.t_v = self.fill(now), now
                self.rate_vq = max(target, self.rate_vq + self.g_vq * (target - average))
        self.t_rq_min, self.t0, self.bytes = self.thresh_curr, now, 0

    def lower(self, now, average):
        if self.t_rq_min >= self.thresh_curr:
            return
        d = self.thresh_curr - self.t_rq_min
        d_avg = self.delta.sample(now, d)
        v_avg = self.variance.sample(now, (d - d_avg) ** 2)
        dec = self.thresh_curr - (d_avg + self.gamma * math.sqrt(v_avg))
        dec = math.floor(dec / self.thresh_down_min) * self.thresh_down_min
        if dec > 0 and average is not None and average > self.u_low * self.rate_max:
            self.thresh_curr = max(self.thresh_curr - dec, self.floor)
            self.note("lower")


class Counting:
    """Counts signals, for loads that respond to them."""

    signals = 0

    def drop(self, packet, reason):
        self.signals += 1
        super().drop(packet, reason)

    def mark(self, packet, reason):
        marked = super().mark(packet, reason)
        self.signals += marked
        return marked


class GspAs(Counting, Gsp):
    def __init__(self, ecn, facts, rng, *, preset_interval=100 * MS, **policy):
        super().__init__(ecn, facts, preset_interval=preset_interval)
        self.steering = Steering(facts, preset_interval // 40, **policy)

    def set_rate(self, now, rate):
        was_virtual = self.steering.virtual()
        self.steering.set_rate(now, rate)
        self.take_over(now, was_virtual)
        super().set_rate(now, rate)

    def see(self, now, delay):
        self.adapt(now, self.last_sojourn > self.threshold)
        self.last_sojourn, self.last_move = delay, now

    def take_over(self, now, was_virtual):
        if was_virtual and not self.steering.virtual():
            self.see(now, self.steering.last_sojourn)

    def enqueue(self, now, packet):
        steering = self.steering
        self.threshold = steering.thresh_curr
        fits = self.fits(len(self.queue), self.bytes, packet)
        if fits:
            steering.arrival(now, len(self.queue))
            if steering.virtual():
                self.see(now, steering.delay(now))
        packets = steering.shown(now)[1] if steering.virtual() else len(self.queue)
        stalled = not self.rate and packets > 0 and now - self.last_move > self.threshold
        above = self.last_sojourn > self.threshold or stalled
        self.adapt(now, above)
        if packets == 0:
            self.last_sojourn, self.last_move = 0, now
            if self.state == "overflow":
                self.state = "drain"
        if not fits:
            self.drop(packet, "overflow")
            self.state = "overflow"
            return
        if above and now > self.timeout_expiry:
            was_virtual = steering.virtual()
            withheld = steering.withhold(now)
            if not withheld:
                steering.discard(now, self.bytes, len(self.queue))
            self.take_over(now, was_virtual)
            self.threshold = steering.thresh_curr
            if not withheld:
                self.timeout_expiry = now + self.interval()
                if not self.mark(packet, "early"):
                    self.drop(packet, "early")
                    return
        steering.accepted(now, packet.len)
        self.queue.append(packet)
        self.bytes += packet.len

    def dequeue(self, now):
        if not self.queue:
            return
        steering = self.steering
        self.threshold = steering.thresh_curr
        packet = self.queue.popleft()
        self.bytes -= packet.len
        steering.departure(now - packet.stamp)
        self.see(now, steering.delay(now) if steering.virtual() else now - packet.stamp)
        self.depart(packet)
        if not self.queue and not steering.virtual():
            self.last_sojourn = 0
            if self.state == "overflow":
                self.state = "drain"


class CodelAs(Counting, Model):
    """The loop of RFC 8289 §5.5; a drop that is due may raise the target first, and is then looked at again."""

    def __init__(self, ecn, facts, rng, *, interval=100 * MS, **policy):
        super().__init__(ecn, facts["limit_packets"], facts["limit_bytes"])
        self.steering = Steering(facts, interval // 40, raise_every=max(interval, 100 * MS), one_packet=True, **policy)
        self.interval, self.mtu = interval, facts["mtu"]
        self.first_above_time = self.drop_next = self.count = self.lastcount = 0
        self.leave_episode()
        self.queue, self.bytes = deque(), 0

    def set_rate(self, now, rate):
        self.steering.set_rate(now, rate)

    def law(self, t):
        interval = max(self.interval, 2 * self.steering.thresh_curr)
        return t + max(1, math.floor(interval / math.sqrt(self.count) + 0.5))

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            return
        self.steering.arrival(now, len(self.queue))
        self.steering.accepted(now, packet.len)
        self.queue.append(packet)
        self.bytes += packet.len

    def pop(self, now):
        if not self.queue:
            # The real queue being empty says nothing while the virtual one counts.
            if not self.steering.virtual():
                self.first_above_time = 0
            return None
        packet = self.queue.popleft()
        self.bytes -= packet.len
        self.steering.departure(now - packet.stamp)
        return packet

    def ok_to_drop(self, now, packet):
        steering = self.steering
        virtual = steering.virtual()
        sojourn = steering.delay(now) if virtual else now - packet.stamp
        backlog = steering.shown(now)[0] if virtual else self.bytes
        if sojourn < steering.thresh_curr or backlog <= self.mtu:
            self.first_above_time = 0
            return False
        if self.first_above_time == 0:
            self.first_above_time = now + max(self.interval, 2 * steering.thresh_curr)
            return False
        return now >= self.first_above_time

    def still_due(self, now, packet):
        """A signal is due: is it still, after the loop has had its say?"""
        if self.steering.withhold(now) and not self.ok_to_drop(now, packet):
            return False
        self.steering.discard(now, self.bytes, len(self.queue))
        return True

    def begin_episode(self, now):
        delta = self.count - self.lastcount
        recent = now - self.drop_next < 16 * max(self.interval, 2 * self.steering.thresh_curr)
        self.dropping = True
        self.count = delta if delta > 1 and recent else 1
        self.drop_next = self.law(now)
        self.lastcount = self.count

    def leave_episode(self):
        self.dropping = self.reschedule = False

    def dequeue(self, now):
        packet = self.pop(now)
        while packet is not None:
            if not self.ok_to_drop(now, packet):
                self.leave_episode()
                break
            if self.dropping:
                if self.reschedule:
                    self.drop_next, self.reschedule = self.law(self.drop_next), False
                if now < self.drop_next:
                    break
            if not self.still_due(now, packet):
                self.leave_episode()
                break
            continues = self.dropping
            if continues:
                self.count += 1
            else:
                self.begin_episode(now)
            marked = self.mark(packet, "head")
            if continues and marked:
                self.drop_next = self.law(self.drop_next)
            if marked:
                break
            self.drop(packet, "head")
            self.steering.dropped_later(packet.len)
            self.reschedule = continues
            packet = self.pop(now)
        if packet is not None:
            self.depart(packet)
        elif not self.steering.virtual():
            self.leave_episode()


class PieAs(Counting, Pie):
    # Its virtual queue goes on while the real one is empty.
    dozes = False

    def __init__(self, ecn, facts, rng, *, t_update=15 * MS, max_burst=150 * MS, active_inactive=True, mark_ecnth=0.1, **policy):
        super().__init__(ecn, facts, rng, t_update=t_update, max_burst=max_burst, active_inactive=active_inactive,
                         mark_ecnth=mark_ecnth)
        span = max(100 * MS, 8 * t_update)
        self.steering = Steering(facts, 2500 * US, look_every=span, raise_every=span, remembered=span, **policy)
        self.target = self.steering.thresh_curr
        self.lenient = True

    def set_rate(self, now, rate):
        was_virtual = self.steering.virtual()
        self.steering.set_rate(now, rate)
        self.take_over(was_virtual)

    def take_over(self, was_virtual):
        self.target = self.steering.thresh_curr
        if was_virtual and not self.steering.virtual():
            self.last_sojourn = self.steering.last_sojourn

    def shown(self, now):
        return self.steering.shown(now) if self.steering.virtual() else (self.bytes, len(self.queue))

    def enqueue(self, now, packet):
        if not self.fits(len(self.queue), self.bytes, packet):
            self.drop(packet, "overflow")
            self.accu = 0
            return
        steering = self.steering
        steering.arrival(now, len(self.queue))
        if steering.virtual():
            self.last_sojourn = steering.delay(now)
        if self.tick is None:
            self.tick = now + math.floor(self.t_update * self.rng.uniform() + 0.5)
        shown_bytes, shown_packets = self.shown(now)
        if not self.active:
            if self.wakeful(shown_packets + 1, shown_bytes + packet.len):
                self.wake(now)
        elif self.burst == 0:
            real, self.bytes = self.bytes, shown_bytes
            due = self.drop_early()
            self.bytes = real
            if due and self.discards(now, packet):
                return
        steering.accepted(now, packet.len)
        self.queue.append(packet)
        self.bytes += packet.len

    def discards(self, now, packet):
        was_virtual = self.steering.virtual()
        withheld = self.steering.withhold(now)
        if not withheld:
            self.steering.discard(now, self.bytes, len(self.queue))
        self.take_over(was_virtual)
        if withheld:
            return False
        self.accu = 0
        if self.p < self.mark_ecnth and self.mark(packet, "early"):
            return False
        self.drop(packet, "early")
        return True

    def wake(self, now):
        self.active = True
        self.p = self.accu = self.qdelay_old = 0
        self.burst = self.max_burst
        self.last_sojourn = None
        while self.tick <= now:
            self.tick += self.t_update

    def dequeue(self, now):
        if not self.queue:
            return
        packet = self.queue.popleft()
        self.bytes -= packet.len
        self.steering.departure(now - packet.stamp)
        self.last_sojourn = self.steering.delay(now) if self.steering.virtual() else now - packet.stamp
        self.depart(packet)

    def delay(self, now):
        if not self.steering.virtual():
            return super().delay(now)
        if self.steering.shown(now)[1] == 0:
            return 0
        return self.steering.delay(now) if self.last_sojourn is None else self.last_sojourn

    def timer(self, now):
        real = self.queue, self.bytes
        if self.steering.virtual():
            self.bytes, packets = self.steering.shown(now)
            self.queue = [None] * packets
        super().timer(now)
        self.queue, self.bytes = real


def senders(model, facts, seed, steps, *, rtt=40 * MS, growth=0.01, fastest=1.15, cut=(0.5, 0.93), sizes=(1500,), codepoints=(NOT_ECT,), rates=(), pause=0):
    """Operations of a link before which packets arrive ever faster until one is signaled, and slower a round trip later."""
    chance = random.Random(seed)
    rate, now, arrival, free = facts["rate"], 1, 1, 1
    speed, seen, cuts, last_cut = 0.5, 0, deque(), 0
    for step in range(steps):
        if rates and rates[step * len(rates) // steps] != rate:
            rate = rates[step * len(rates) // steps]
            yield ["rate", now, rate]
            speed = 0.5
        if model.signals > seen:
            seen = model.signals
            cuts.append(now + rtt)
        if cuts and cuts[0] <= now:
            if cuts.popleft() >= last_cut + rtt:
                speed, last_cut = speed * cut[step * len(cut) // steps], now
        usable = rate or facts["rate"]
        if model.queue and free <= arrival and rate != 0:
            now = max(now, free)
            size = model.queue[0].len + facts["overhead"]
            free = now + size * 8 * 10**9 // usable
            yield ["dequeue", now]
        else:
            now = max(now, arrival)
            speed = min(speed + growth, fastest)
            packet = chance.choice(sizes)
            arrival = now + math.floor(packet * 8e9 / usable / speed * (0.5 + chance.random()))
            if pause and step % pause == 0:
                arrival += 20 * rtt
            yield ["enqueue", now, packet, 0, chance.choice(codepoints)]


def main():
    line = link(3_000_000, 10 * MS, 100, 10**9, overhead=14)
    quick = {"thresh_min": 4 * MS, "thresh_min_up": 10 * MS, "target_max": 60 * MS, "mem_delta": 500 * MS, "mem_rate": 500 * MS, "u_low": 0.9}
    tight = {**quick, "u_low": 0.85, "u_target": 0.92, "thresh_min_up": 8 * MS, "target_max": 20 * MS, "thresh_vq": 5 * MS}
    ecn = {"codepoints": (ECT0, ECT0, ECT1, NOT_ECT, CE)}
    short = link(3_000_000, 10 * MS, 10**9, 15_000, overhead=7)
    tiny = link(3_000_000, 10 * MS, 10, 10**9)
    rates = 9 * (3_000_000,) + (0,) + 5 * (5_000_000,) + 2 * (1_000_000,) + 3 * (None,)
    virtual = ("down", "virtual on", "virtual rate", "virtual off")
    lively = {"t_update": 5 * MS, "max_burst": 10 * MS, "active_inactive": False}
    cases = {
        ("gsp-as", "default"): (line, {}, {}, ("raise",)),
        ("gsp-as", "marks"): (line, {"preset_interval": 60 * MS, "gamma": 1.2, **quick},
                              {"sizes": (300, 1500), "cut": (0.4, 0.95), **ecn}, ("raise", "lower")),
        ("gsp-as", "virtual-queue"): (line, {**tight, "preset_interval": 50 * MS}, {"cut": (0.95, 0.5)}, (*virtual, "raise")),
        ("gsp-as", "overflow-and-idle"): (short, quick, {"growth": 0.02, "pause": 300}, ("raise",)),
        ("gsp-as", "changing-rate"): (line, {**tight, "preset_interval": 50 * MS}, {"rates": rates}, ("raise", "down")),
        ("codel-as", "default"): (line, {"mem_delta": 500 * MS, "mem_rate": 500 * MS}, {}, ("raise",)),
        ("codel-as", "marks"): (line, {"interval": 60 * MS, "gamma": 1.0, **quick},
                                {"sizes": (300, 1500), "growth": 0.02, "cut": (0.4, 0.97), **ecn}, ("raise", "lower")),
        ("codel-as", "virtual-queue"): (line, {**tight, "interval": 50 * MS}, {"growth": 0.003, "cut": (0.95, 0.5)}, virtual),
        ("codel-as", "marked-virtual-queue"): (line, {**tight, "interval": 50 * MS, "g_vq": 0.9},
                                               {"growth": 0.006, "cut": (0.95, 0.3), "rtt": 80 * MS, **ecn}, (*virtual, "raise")),
        ("codel-as", "changing-rate"): (line, {"interval": 60 * MS, **quick}, {"rates": rates}, ("raise",)),
        ("pie-as", "default"): (line, {"mem_delta": 500 * MS, "mem_rate": 500 * MS}, {}, ("raise",)),
        ("pie-as", "marks"): (line, {"mark_ecnth": 0.5, **lively, **quick},
                              {"sizes": (300, 1500), "cut": (0.5, 0.8, 0.97), **ecn}, ("raise", "lower")),
        ("pie-as", "virtual-queue"): (line, {**tight, **lively}, {"growth": 0.003, "cut": (0.95, 0.5)}, (*virtual, "lower")),
        ("pie-as", "sleeping-virtual-queue"): (tiny, {**tight, "t_update": 5 * MS, "max_burst": 10 * MS}, ecn, ("virtual on",)),
        ("pie-as", "changing-rate"): (line, {"rate": 2_800_000, **lively, **quick}, {"rates": rates, "growth": 0.02}, ("raise",)),
    }
    models = {"gsp-as": GspAs, "codel-as": CodelAs, "pie-as": PieAs}
    for (kind, name), (facts, params, load, wanted) in cases.items():
        rng = Rng(805)
        may_mark = "codepoints" in load
        model = models[kind](may_mark, facts, rng, **params)
        operations = play(model, senders(model, facts, 805, 2000, **load))
        origin = "Bless, Hock and Zitterbart 2018 in reference/steering.py"
        write(name, origin, kind, params, may_mark, facts, rng, operations)
        assert set(wanted) <= set(model.steering.moves), f"{kind}/{name} shows no more than {model.steering.moves}"


if __name__ == "__main__":
    main()
