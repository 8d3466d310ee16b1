"""The rule that holds answers of `gq` against those of an expert, and against each other."""

import itertools
import re
import tomllib
from pathlib import Path

CASES = Path(__file__).with_name("cases.toml")
SEEDS = 5
# At most this part of the seeds may have another answer: one of 20.
MIN_SHARE = 0.95
# Rates that are no more points apart are the same answer.
STEP = 5.0
# Per cent of the rate where a queue is set up without a shaper.
WHOLE = 100.0
MAX_PAIRS = 3
MAX_ARGUED = 4
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0}


def cases():
    """The rows, and the numbers of those that are known to fail."""
    read = tomllib.loads(CASES.read_text())
    for case in read["case"]:
        case.setdefault("status", "run")
        case.setdefault("command", "recommend")
        case.setdefault("seeds", SEEDS)
    return read["case"], read["failing"]


def summary(case, made):
    """The part of an answer, the JSON that `gq` prints, by which it is judged."""
    if case["command"] == "compare":
        found, text = compared(made)
    else:
        found = {"answer": directions(made["choice"], made["line"]), "equal": []}
        for other in made["alternatives"]:
            if (one := directions(other, made["line"])) not in found["equal"]:
                found["equal"].append(one)
        text = made["text"]
    return found | {"text": excerpt(case, text)}


def directions(setup, line):
    """The queues toward the user and from the user: kind, parameters, per cent of the rate; None for nothing."""
    found = {}
    for name in ("down", "up"):
        rate = setup[f"rate_{name}_bit_s"]
        percent = None if rate is None else round(100 * rate / line[f"{name}_bit_s"], 1)
        found[name] = None if rate is None else setup[name] | {"percent": percent}
    return found


def compared(made):
    """The same of a comparison, whose queues are not shaped."""
    headline, queues = made["headline"], {}
    for point in made["points"]:
        down, *up = (queue | {"percent": WHOLE} for queue in point["set"].values())
        queues[point["queue"]] = {"down": down, "up": up[0] if up else down}
    equal = [queues[label] for label in headline["not_significantly_different"]]
    return {"answer": queues[headline["best"]], "equal": equal}, headline["text"]


def excerpt(case, text):
    """The two sentences of an answer, and those of its details that have words of the case."""
    sentences, _, details = text.partition("\n\n")
    alternatives = [word for one in case.get("accept", []) for word in one.get("says", [])]
    words = [*case.get("says", []), *case.get("never", []), *alternatives]
    return "\n".join([sentences, *(line for line in details.splitlines() if any(has(line, word) for word in words))])


def has(text, word):
    return re.search(word, text, re.IGNORECASE) is not None


def fault(case, found):
    """Why an answer is not the expert's; None if it is."""
    if "error" in found:
        return f"no answer: {found['error']}"
    faults = []
    for accepted in case["accept"]:
        both = accepted.get("both")
        wanted = {name: accepted.get(name, both) for name in ("down", "up") if name in accepted or both is not None}
        checked = (queue_fault(name, one, found["answer"][name]) for name, one in wanted.items())
        why = next(filter(None, [*checked, *unsaid(accepted, found["text"])]), None)
        if why is None:
            break
        faults.append(why)
    else:
        return "; or ".join(dict.fromkeys(faults))
    said = [f"says `{word}`" for word in case.get("never", []) if has(found["text"], word)]
    return next(iter([*unsaid(case, found["text"]), *said]), None)


def unsaid(words, text):
    return [f"does not say `{word}`" for word in words.get("says", []) if not has(text, word)]


def queue_fault(direction, wanted, queue):
    """Why the queue of a direction is none of those that are accepted; None if it is."""
    if queue is None or wanted is False:
        return None if queue is None and wanted is False else f"{direction} {said(queue)}"
    low, high = wanted.get("percent", [0, 100])
    parameters = wanted.get("parameters", {}).items()
    fits = (
        queue["kind"] in wanted["kinds"]
        and low <= queue["percent"] <= high
        and all(is_within(queue.get(name, "default"), allowed) for name, allowed in parameters)
    )
    return None if fits else f"{direction} {said(queue)}"


def is_within(value, allowed):
    """Whether a parameter is the one that is allowed, one of several, or within a range of times, `A..B`."""
    if isinstance(allowed, list):
        return value in allowed
    low, is_range, high = allowed.partition("..")
    if not is_range:
        return value == allowed
    return value != "default" and seconds(low) <= seconds(value) <= seconds(high)


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def is_same(one, other):
    """Whether two answers have the same queues in both directions, and rates within one step."""
    return all(is_same_queue(one[name], other[name]) for name in ("down", "up"))


def is_same_queue(one, other):
    if one is None or other is None:
        return one is other
    return {**one, "percent": 0} == {**other, "percent": 0} and is_step(one["percent"], other["percent"])


def largest(found):
    """The most answers of which all are the same."""
    groups = []
    for low in itertools.product(*({rate(one, name) for one in found} for name in ("down", "up"))):
        near = [one for one in found if is_near(one, low)]
        groups += [[one for one in near if is_same(one["answer"], first["answer"])] for first in near]
    return max(groups, key=len, default=[])


def is_near(one, low):
    """Whether the rates of both directions are at most a step above these."""
    rates = zip((rate(one, name) for name in ("down", "up")), low, strict=True)
    return all(mine >= least and is_step(mine, least) for mine, least in rates)


def is_step(one, other):
    return round(abs(one - other), 1) <= STEP


def rate(one, direction):
    queue = one["answer"][direction]
    return 0.0 if queue is None else queue["percent"]


def stability(found):
    """The part of the seeds with the same answer, and whether the others have one that each calls equal."""
    answers = [one for one in found if "error" not in one]
    most = largest(answers)
    others = largest([one for one in answers if one not in most])
    share = len(most) / len(found) if found else 0.0
    is_all = len(most) + len(others) >= MIN_SHARE * len(found)
    is_pair = share < MIN_SHARE and is_all and bool(others) and call_equal(most, others) and call_equal(others, most)
    return share, is_pair


def call_equal(these, those):
    """Whether each of these answers calls the others as good."""
    return all(any(is_same(one, those[0]["answer"]) for one in this["equal"]) for this in these)


def shortened(found):
    """The summaries without times, and without equal answers that no seed gave."""
    given = [one["answer"] for one in found if "answer" in one]
    kept = []
    for one in found:
        equal = [other for other in one.get("equal", []) if any(is_same(other, this) for this in given)]
        kept.append(
            {key: value for key, value in one.items() if key != "cpu_s"} | ({"equal": equal} if "equal" in one else {})
        )
    return kept


def verdict(case, found):
    """The verdict on a row from the summaries of its seeds: whether it passes, and why not."""
    if case["status"] == "argued":
        return argued(case, found)
    share, is_pair = stability(found)
    wrong = [why for one in found if (why := fault(case, one))]
    reasons = []
    if len(found) - len(wrong) < MIN_SHARE * case["seeds"]:
        missing = case["seeds"] - len(found)
        reasons += [f"{len(wrong)} of {len(found)} seeds: {wrong[0]}"] if wrong else []
        reasons += [f"{missing} of {case['seeds']} seeds have not run"] if missing else []
    if 0.0 < share < MIN_SHARE and not is_pair:
        reasons.append("the answer changes with the seed")
    return {
        "passes": not reasons,
        "why": "; ".join(reasons),
        "share": share,
        "is_pair": is_pair,
        "answer": usual(found),
    }


def argued(case, found):
    """The verdict on a row where the expert's answer is significantly worse, as a command prints."""
    figure = case["argument"]["figure"]
    why = "" if found and has(found[0]["text"], figure) else f"the command does not print `{figure}`"
    return {
        "passes": not why,
        "why": why,
        "share": 1.0,
        "is_pair": False,
        "answer": " ".join(found[0]["text"].split()) if found else "none",
    }


def usual(found):
    """The answer of most seeds, in words."""
    most = largest([one for one in found if "error" not in one])
    if not most:
        return "none"
    down, up = (said(most[0]["answer"][name]) for name in ("down", "up"))
    return down if down == up else f"{down} down, {up} up"


def said(queue):
    """A queue as people write it: `fq-codel:target=19 ms at 90 %`."""
    if queue is None:
        return "nothing set up"
    parameters = "".join(f":{name}={value}" for name, value in queue.items() if name not in ("kind", "percent"))
    share = "" if queue["percent"] == WHOLE else f" at {queue['percent']:g} %"
    return f"{queue['kind']}{parameters}{share}"


def expected(case):
    """The accepted answers in words."""
    return "; or ".join(dict.fromkeys(", ".join(parts(accepted)) for accepted in case["accept"]))


def parts(accepted):
    for name, wanted in accepted.items():
        place = "" if name == "both" else f"{name} "
        if name == "says":
            yield f"with the words `{' '.join(wanted)}`"
        elif wanted is False:
            yield f"{place}nothing set up"
        else:
            share = " at {:g} to {:g} %".format(*wanted["percent"]) if "percent" in wanted else ""
            settings = [
                f"{key} {value if isinstance(value, str) else ' or '.join(value)}"
                for key, value in wanted.get("parameters", {}).items()
            ]
            yield place + " or ".join(wanted["kinds"]) + share + "".join(f", {one}" for one in settings)


def judge(rows, summaries):
    """The verdicts on all rows that are run, and what is wrong with the rows as a whole."""
    verdicts = {
        case["number"]: verdict(case, summaries.get(case["number"], [])) for case in rows if case["status"] != "open"
    }
    faults = []
    if (pairs := sum(one["is_pair"] for one in verdicts.values())) > MAX_PAIRS:
        faults.append(f"{pairs} rows answer with a pair that they call equal: allowed {MAX_PAIRS}")
    if (count := sum(case["status"] == "argued" for case in rows)) > MAX_ARGUED:
        faults.append(f"{count} rows are argued: allowed {MAX_ARGUED}")
    return verdicts, faults
