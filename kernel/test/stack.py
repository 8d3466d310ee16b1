#!/usr/bin/env python3
"""Sums stack frames along the calls of the kernel library: stack.py OBJECT

OBJECT is the library linked into one relocatable object, compiled with -Zemit-stack-sizes. Frames come
from its section .stack_sizes, calls from its disassembly. The kernel has 16 kB of stack for everything,
and a packet may come when some of it is used. So this fails when a chain of calls takes more than
1 kB on the way of a packet, or 4 kB in a call for netlink.

Calls through pointers: those of core::fmt reach what is formatted and what it is written to, nested
three deep (a message, a range in it, a number in that); all others reach reports of drops and marks, and
closures. A panic leaves the library for good and is counted apart, on top of each chain: 4 kB.
"""

import re
import struct
import subprocess
import sys

ENTRY = "gqk_work"
LIMITS = {"enqueue": 1024, "dequeue": 1024, "reset": 1024, "write": 4096, "make": 4096}
WITH_PANIC = 4096
TOPS = re.compile(r"^goodqueue_kernel::entry::(enqueue|dequeue|reset|make|write)\b")
# A successor of a queue is not made here, as the module keeps the queues from before a change; nor
# is an algorithm of a program's own, nor a queue of another program.
# Nor is anything written as {:#?}.
NEVER = re.compile(r"^<goodqueue_aqm::(sched::succession::Succession|external::|custom::Custom)|PadAdapter")
# Outer disciplines have been called by their names, in entry.rs, before a call that is for any.
ANY = re.compile(r"^<goodqueue_aqm::sched::AnyQdisc<.*>::(enqueue|dequeue)$")
NAMED = re.compile(r"^<goodqueue_aqm::sched::(shaper::Shaper|priority::Priority)<.*>::(enqueue|dequeue)$")
MADE = re.compile(r"AnyQdisc<.*>>::(succeed|build_own|open)")
FORMATS = re.compile(r"core::fmt|num::imp::flt2dec")
ITEMS = re.compile(r"^core::fmt::(write|builders)|^<core::fmt::builders")
WRITERS = re.compile(r"as core::fmt::Write>::write_(str|char)")
GAUGES = re.compile(r"gauges|statistics")
PANICS = re.compile(
    r"panic|rust_begin_unwind|handle_error|handle_alloc|unwrap_failed|expect_failed|slice_.*fail|capacity_overflow"
)
NESTED = 3
# Return address and what gqk_enter() keeps.
CALL = 8


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def frames(path):
    """Bytes of the frame of each function, by its section and offset."""
    sizes = {}
    relocations = {}
    section = None
    for line in run("readelf", "-W", "--relocs", path).splitlines():
        if line.startswith("Relocation section"):
            section = line.split("'")[1]
        elif section == ".rela.stack_sizes" and re.match(r"^[0-9a-f]{16} ", line):
            words = line.split()
            relocations[int(words[0], 16)] = (words[4], int(words[6], 16) if len(words) > 6 else 0)
    dump = run("objdump", "-s", "-j", ".stack_sizes", path)
    data = bytearray()
    for line in dump.splitlines():
        match = re.match(r"^ ([0-9a-f]+) ((?:[0-9a-f]{2,8} ){1,4})", line)
        if match:
            data += bytes.fromhex(match.group(2).replace(" ", ""))
    at = 0
    while at < len(data):
        where = relocations.get(at, ("?", struct.unpack_from("<Q", data, at)[0]))
        at += 8
        size = shift = 0
        while True:
            byte = data[at]
            at += 1
            size |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        sizes[where] = size
    return sizes


def functions(path):
    """Name by section and offset, for all functions."""
    names = {}
    sections = {}
    for line in run("readelf", "-W", "--sections", path).splitlines():
        match = re.match(r"^\s*\[\s*(\d+)\]\s+(\S+)", line)
        if match:
            sections[match.group(1)] = match.group(2)
    for line in run("readelf", "-W", "--syms", path).splitlines():
        words = line.split()
        if len(words) == 8 and words[3] == "FUNC":
            names[(sections.get(words[6], "?"), int(words[1], 16))] = words[7]
    return names


def calls(path):
    """Called functions by function; "*" stands for a call through a pointer."""
    graph, current, target = {}, None, None
    for line in run("objdump", "-dr", "--no-show-raw-insn", path).splitlines():
        match = re.match(r"^[0-9a-f]+ <(.+)>:$", line)
        if match:
            current = graph.setdefault(match.group(1), set())
            target = None
            continue
        if current is None:
            continue
        relocated = re.search(r"\sR_X86_64_\w+\s+(.+)$", line)
        if relocated:
            # What stands in the instruction is not where it goes. Other distances from a symbol
            # than this one are jumps within a function that is in two parts.
            match = re.match(r"^(\S+)-0x4$", relocated.group(1))
            if target is not None and match:
                name = match.group(1)
                current.add("*" if name.startswith("__x86_indirect_thunk") else name)
            target = None
            continue
        if target:
            current.add(target)
        match = re.search(r"\t(call|jmp)\s+(.*)$", line)
        target = None
        if match:
            direct = re.match(r"[0-9a-f]+ <([^+>]+)>$", match.group(2))
            target = direct.group(1) if direct else "*" if match.group(2).startswith("*") else ""
    return graph


def addressed(path, names):
    """Functions whose address is stored."""
    found, section = set(), ""
    for line in run("readelf", "-W", "--relocs", path).splitlines():
        if line.startswith("Relocation section"):
            section = line.split("'")[1]
            continue
        words = line.split()
        stored = section.startswith((".rela.rodata", ".rela.data")) and len(words) > 4 and words[2] == "R_X86_64_64"
        loaded = section.startswith(".rela.text") and len(words) > 4 and words[2] in ("R_X86_64_32S", "R_X86_64_64")
        if stored or loaded:
            offset = int(words[6], 16) if len(words) > 6 else 0
            found.add(names.get((words[4], offset), words[4]))
    return found


def demangled(names):
    output = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout
    return dict(zip(names, (re.sub(r"\[[0-9a-f]{10,}\]", "", line) for line in output.splitlines())))


class Chains:
    """Deepest chains of calls."""

    def __init__(self, size, graph, pointers, names, with_panics):
        self.size, self.graph, self.names, self.with_panics = size, graph, names, with_panics
        pointers = [name for name in pointers if not NEVER.search(names[name])]
        self.formats = [name for name in pointers if FORMATS.search(names[name])]
        self.writers = [name for name in pointers if WRITERS.search(names[name])]
        self.gauges = [name for name in pointers if GAUGES.search(names[name])]
        self.others = [name for name in pointers if name not in self.formats and name not in self.gauges]
        self.depth, self.via, self.open = {}, {}, set()

    def targets(self, name, nested):
        own = self.names[name]
        for target in sorted(self.graph.get(name, ())):
            known = self.names.get(target, target)
            # Who writes bytes does not format.
            if WRITERS.search(own) and FORMATS.search(known) and not WRITERS.search(known):
                continue
            if ANY.search(own) and NAMED.search(known):
                continue
            if NEVER.search(known) or (not self.with_panics and PANICS.search(known)):
                continue
            if target != "*":
                yield target, nested
            elif ITEMS.search(own) and not WRITERS.search(own):
                yield from ((other, nested - 1) for other in self.formats if nested > 0)
            else:
                found = self.writers if FORMATS.search(own) else self.gauges if GAUGES.search(own) else self.others
                yield from ((other, nested) for other in found)

    def deepest(self, name, nested=NESTED):
        key = (name, nested)
        if key in self.depth:
            return self.depth[key]
        if key in self.open:
            return 0
        self.open.add(key)
        best, via = 0, None
        for target in self.targets(name, nested):
            below = self.deepest(*target)
            if below > best:
                best, via = below, target
        self.open.discard(key)
        self.depth[key] = self.size.get(name, 0) + CALL + best
        self.via[key] = via
        return self.depth[key]

    def show(self, name):
        key = (name, NESTED)
        while key:
            print(f"  {self.size.get(key[0], 0):6} {self.names.get(key[0], key[0])[:150]}")
            key = self.via.get(key)


def main():
    path = sys.argv[1]
    sys.setrecursionlimit(20000)
    symbols = functions(path)
    size = {}
    for (section, offset), bytes_ in frames(path).items():
        name = symbols.get((section, offset)) or section
        size[name] = max(size.get(name, 0), bytes_)
    graph = calls(path)
    names = demangled(sorted(set(graph) | set(size) | set().union(*graph.values())))
    faults = [name for name in graph if MADE.search(names[name])]
    if faults:
        print("stack: what NEVER excludes is made all the same")
    pointers = sorted(name for name in addressed(path, symbols) if name in graph)
    plain = Chains(size, graph, pointers, names, False)
    whole = Chains(size, graph, pointers, names, True)
    tops = {}
    for name in graph:
        match = TOPS.search(names[name])
        if match and (match.group(1) not in tops or plain.deepest(name) > plain.deepest(tops[match.group(1)])):
            tops[match.group(1)] = name
    for what, most in LIMITS.items():
        if what not in tops:
            print(f"stack: {what} is not there under its name")
            faults.append(what)
            continue
        total, panicking = plain.deepest(tops[what]), whole.deepest(tops[what])
        limit = max(most, WITH_PANIC)
        print(f"stack: {what:8} {total:5} of {most} bytes; with a panic {panicking} of {limit}")
        if total > most:
            plain.show(tops[what])
        elif panicking > limit:
            whole.show(tops[what])
        faults += [what] * (total > most or panicking > limit)
    sys.exit(1 if faults else 0)


main()
