"""The classes of a recording, as commands of tc made them: in the form of vectors, with the buckets that tc gave the kernel."""

UNITS = {"kbit": 10**3, "mbit": 10**6, "k": 1024, "b": 1}
TICK = 64  # ns, in which tc counts buckets; it cuts times to whole microseconds before
HZ = 1000  # as the recording kernel tells tc


def amount(word):
    digits = word.rstrip("bitkm")
    return int(digits) * UNITS[word[len(digits):] or "b"]


def options(words):
    """Names and what follows them."""
    return dict(zip(words[::2], words[1::2]))


def bucket(size, rate):
    """How long `size` bytes take at `rate` in bit/s; by default one packet and what arrives within one tick of the kernel's timer."""
    size = amount(size) if size else rate // 8 // HZ + 1600
    micros = int(1e6 * (size / (rate / 8)))
    return {"time": int(micros * (1000 / TICK)) * TICK}


def minor(handle):
    return int(handle.split(":")[1] or "0", 16)


def read(path):
    """Classes in the order of their numbers, of a discipline's line and tc's commands below it."""
    first, *commands = [line.split() for line in path.read_text().splitlines()]
    default = int(options(first[1:]).get("default", "0"), 16)
    classes = {}
    for _, what, _, _, _, *words in commands:
        if what == "class":
            given = options(words[:4] + words[5:])
            number, parent = minor(given["classid"]), minor(given["parent"])
            classes[number] = {"id": number, **({"parent": parent} if parent else {}), "params": params(given)}
            if number == default:
                classes[number]["params"]["default"] = True
        else:
            given = options([word for word in words if word not in ("pfifo", "codel", "ecn")])
            leaf = classes[minor(given["parent"])]
            leaf["params"]["limit"] = {"packets": int(given.get("limit", 1000))}
            if "codel" in words:
                leaf["of"] = {"kind": "codel", "params": {"arithmetic": "linux"}}
    return [classes[number] for number in sorted(classes)]


def params(given):
    rate = amount(given["rate"])
    ceil = amount(given.get("ceil", given["rate"]))
    return {
        "rate": rate,
        "ceil": ceil,
        "burst": bucket(given.get("burst"), rate),
        "cburst": bucket(given.get("cburst"), ceil),
        **{key: int(given[key]) for key in ("quantum", "prio") if key in given},
    }
