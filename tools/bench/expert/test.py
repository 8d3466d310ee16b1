#!/usr/bin/env python3
"""Tests of the rule, of the runner, and of the stored answers; with GQ, a program, also asks six rows in seconds each."""

import io
import json
import os
import stat
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import judge
import run

CASE = {
    "number": 1,
    "status": "run",
    "command": "recommend",
    "options": "--down 50mbit",
    "situation": "a line",
    "seeds": 5,
    "accept": [
        {"both": {"kinds": ["cake"], "percent": [85, 95]}},
        {"down": False, "up": {"kinds": ["fq-codel"], "parameters": {"target": "15 ms..30 ms"}}, "says": ["adaptive"]},
    ],
    "says": ["Overhead"],
    "never": ["tail-?drop"],
}


def setup(down, up=None):
    """A setup as `gq recommend` prints it, on a line of 100 Mbit/s: kind, per cent and parameters of each direction."""
    made = {}
    for name, queue in (("down", down), ("up", up or down)):
        kind, percent, *parameters = queue or ("tail-drop", None)
        made[name] = {"kind": kind} | (parameters[0] if parameters else {})
        made[f"rate_{name}_bit_s"] = None if percent is None else percent * 10**6
    return made


def answer(choice, text="Set it up.\n\nOverhead 44.", alternatives=(), seed=1):
    line = {"down_bit_s": 10**8, "up_bit_s": 10**8}
    made = {"choice": choice, "line": line, "alternatives": list(alternatives), "text": text}
    return {"seed": seed} | judge.summary(CASE, made)


CAKE_90 = setup(("cake", 90))
CODEL_90 = setup(("fq-codel", 90))


class TheExpertsAnswer(unittest.TestCase):
    def fault(self, *made):
        return judge.fault(CASE, answer(*made))

    def test_needs_kind_and_rate(self):
        self.assertIsNone(self.fault(CAKE_90))
        self.assertIn("down fq-codel at 90 %", self.fault(CODEL_90))
        self.assertIn("down cake at 80 %", self.fault(setup(("cake", 80))))
        self.assertIn("up cake at 99 %", self.fault(setup(("cake", 90), ("cake", 99))))
        self.assertIn("down nothing set up", self.fault(setup(None)))

    def test_may_leave_a_direction_alone(self):
        text = "Overhead 8.\n\nAn ADAPTIVE shaper does better."
        one_way = {"down": None, "up": ("fq-codel", 90, {"target": "19 ms"})}
        made = setup(("tail-drop", None), one_way["up"])
        self.assertIsNone(self.fault(made, text))
        self.assertIn("does not say `adaptive`", self.fault(made))
        late = setup(("tail-drop", None), ("fq-codel", 90, {"target": "1.5 s"}))
        self.assertIn("up fq-codel:target=1.5 s", self.fault(late, text))
        self.assertIn("up fq-codel at 90 %", self.fault(setup(("tail-drop", None), ("fq-codel", 90)), text))

    def test_has_words_and_not_others(self):
        self.assertEqual(self.fault(CAKE_90, "Set it up."), "does not say `Overhead`")
        self.assertEqual(self.fault(CAKE_90, "Overhead: use Taildrop."), "says `tail-?drop`")

    def test_is_missing_after_an_error(self):
        self.assertEqual(judge.fault(CASE, {"seed": 1, "error": "no line"}), "no answer: no line")

    def test_of_a_comparison_is_its_headline(self):
        case = CASE | {"command": "compare", "accept": [{"down": {"kinds": ["pie"]}}], "says": [], "never": []}
        point = {"queue": "pie:target=20 ms", "set": {"link.line.queue": {"kind": "pie", "target": "20 ms"}}}
        headline = {"best": point["queue"], "not_significantly_different": [], "text": "Use pie."}
        found = judge.summary(case, {"headline": headline, "points": [point]})
        self.assertIsNone(judge.fault(case, found))
        self.assertEqual(judge.usual([found]), "pie:target=20 ms")

    def test_lists_and_ranges_of_parameters(self):
        self.assertTrue(judge.is_within("default", ["default", "dual-srchost"]))
        self.assertTrue(judge.is_within("600 ms", "400 ms..0.9 s"))
        self.assertTrue(judge.is_within("500 µs", "100 us..20 ms"))
        self.assertFalse(judge.is_within("default", "400 ms..0.9 s"))
        self.assertFalse(judge.is_within("100 ms", "400 ms..0.9 s"))


class TheSameAnswer(unittest.TestCase):
    def test_has_the_same_queues_and_rates_within_a_step(self):
        def of(*queues):
            return answer(setup(*queues))["answer"]

        cake = of(("cake", 90))
        self.assertTrue(judge.is_same(cake, of(("cake", 95))))
        self.assertFalse(judge.is_same(cake, of(("cake", 96))))
        self.assertTrue(judge.is_same(of(("cake", 72.3)), of(("cake", 67.3))))
        self.assertFalse(judge.is_same(cake, of(("cake", 90), ("fq-codel", 90))))
        self.assertFalse(judge.is_same(cake, of(("cake", 90, {"interval": "30 ms"}))))
        self.assertFalse(judge.is_same(cake, of(None)))
        self.assertTrue(judge.is_same(of(None), of(None)))

    def test_counts_no_chain_of_steps(self):
        found = [answer(setup(("cake", percent))) for percent in (85, 90, 95, 90)]
        self.assertEqual(judge.stability(found), (0.75, False))

    def test_of_nineteen_seeds_is_enough(self):
        found = [answer(CAKE_90, seed=seed) for seed in range(19)] + [answer(CODEL_90, seed=20)]
        case = CASE | {"seeds": 20}
        self.assertTrue(judge.verdict(case, found)["passes"])
        found[0] = answer(CODEL_90)
        why = judge.verdict(case, found)["why"]
        self.assertIn("2 of 20 seeds: ", why)
        self.assertIn("the answer changes with the seed", why)
        self.assertIn("15 of 20 seeds have not run", judge.verdict(case, [answer(CAKE_90)] * 5)["why"])

    def test_may_be_a_pair_that_calls_itself_equal(self):
        twins = [answer(CAKE_90, alternatives=[CODEL_90])] * 3 + [answer(CODEL_90, alternatives=[CAKE_90])] * 2
        self.assertEqual(judge.stability(twins), (0.6, True))
        one_sided = twins[:3] + [answer(CODEL_90)] * 2
        self.assertEqual(judge.stability(one_sided), (0.6, False))
        idle = {"cpu_s": 1.0} | answer(CAKE_90, alternatives=[CODEL_90, setup(("fq-pie", 90))])
        self.assertEqual(judge.shortened([idle, twins[4]])[0], twins[0])
        rows = [CASE | {"number": number} for number in range(4)]
        faults = [judge.judge(rows[:count], dict.fromkeys(range(4), twins))[1] for count in (3, 4)]
        self.assertEqual(faults, [[], ["4 rows answer with a pair that they call equal: allowed 3"]])


class Cases(unittest.TestCase):
    def test_are_complete(self):
        cases, failing = judge.cases()
        self.assertEqual([case["number"] for case in cases], list(range(1, 28)))
        self.assertEqual(sum(case["seeds"] == 20 for case in cases), 10)
        self.assertEqual(sum("quick" in case for case in cases), 6)
        self.assertLessEqual(sum(case["status"] == "argued" for case in cases), judge.MAX_ARGUED)
        needed = {"run": ["options", "accept"], "argued": ["argument"], "open": ["reason"]}
        for case in cases:
            for key in ("situation", "source", *needed[case["status"]]):
                self.assertIn(key, case, f"row {case['number']}")
        self.assertLessEqual(set(failing), {case["number"] for case in cases if case["status"] != "open"})

    def test_have_stored_answers_that_pass_unless_named(self):
        cases, failing = judge.cases()
        verdicts, faults = judge.judge(cases, run.stored())
        wrong = {number: one["why"] for number, one in verdicts.items() if not one["passes"]}
        self.assertEqual(
            (sorted(wrong), faults), (failing, []), "\n".join(f"row {n}: {why}" for n, why in wrong.items())
        )

    @unittest.skipUnless("GQ" in os.environ, "GQ names no program")
    def test_are_answered_in_seconds(self):
        cases, failing = judge.cases()
        with tempfile.TemporaryDirectory() as folder:
            asker = run.Asker(os.environ["GQ"], 5, Path(folder))
            for case in (case for case in cases if "quick" in case):
                found = asker.summary(case, 1, case["quick"])
                self.assertNotIn("error", found, f"row {case['number']}")
                if case["number"] not in failing:
                    self.assertIsNone(judge.fault(case, found), f"row {case['number']}: {found}")


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.gq = self.folder / "gq"
        made = {
            "choice": CAKE_90,
            "line": {"down_bit_s": 10**8, "up_bit_s": 10**8},
            "alternatives": [],
            "text": "Overhead.",
        }
        (self.folder / "made.json").write_text(json.dumps(made))

    def asker(self, last=""):
        here = self.folder
        self.gq.write_text(
            f'#!/bin/sh\n[ $1 = --version ] && exit\necho "$@" >>{here}/asked\ncat {here}/made.json\n{last}\n'
        )
        self.gq.chmod(self.gq.stat().st_mode | stat.S_IXUSR)
        return run.Asker(self.gq, 1, self.folder / "kept")

    def asked(self):
        file = self.folder / "asked"
        return len(file.read_text().splitlines()) if file.exists() else 0

    def test_goes_on_where_it_stopped(self):
        self.asker().summary(CASE, 2)
        with redirect_stderr(io.StringIO()) as said:
            found = run.answered(self.asker(), [CASE])
        self.assertEqual(self.asked(), 5)
        self.assertIn("[4/5, 0 s] row 1, seed 5: a line\nrow 1: passes\n", said.getvalue())
        text, passes = run.page(self.asker(), [CASE], found)
        self.assertTrue(passes)
        self.assertIn(
            "| 1 | a line | cake at 85 to 95 %; or down nothing set up, up fq-codel, target 15 ms..30 ms, with", text
        )
        self.assertIn("| cake at 90 % | 5 of 5 | passes | 0.0 s |", text)

    def test_asks_another_build_anew(self):
        self.asker().summary(CASE, 1)
        self.asker("# another").summary(CASE, 1)
        self.assertEqual(self.asked(), 2)

    def test_asks_again_after_an_error(self):
        failing = self.asker("echo error: no room >&2; exit 1")
        for _ in range(2):
            self.assertEqual(failing.summary(CASE, 1)["error"], "no room")
        self.assertEqual((self.asked(), list((self.folder / "kept").glob("*.json"))), (2, []))

    def test_of_an_argued_row_looks_for_the_figure(self):
        argument = {"command": "gq compare --rate 1mbit", "figure": "Overhead"}
        case = CASE | {"status": "argued", "argument": argument}
        found = run.answered(self.asker(), [case])
        self.assertTrue(judge.verdict(case, found[1])["passes"])
        case["argument"] = argument | {"figure": "worse"}
        self.assertFalse(judge.verdict(case, run.answered(self.asker(), [case])[1])["passes"])


if __name__ == "__main__":
    unittest.main()
