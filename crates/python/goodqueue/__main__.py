"""The ``gq`` command, also as ``python -m goodqueue``, with sweeps on a Dask cluster and into other stores."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
from collections.abc import Sequence

from goodqueue import _core
from goodqueue._store import is_url
from goodqueue.exceptions import ScenarioError, SweepError


def gq() -> int:
    """Carry out the command line as ``gq`` does and give its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sweep"] and any(a.split("=")[0] == "--dask" or is_url(a) for a in arguments):
        return sweep(arguments[1:])
    return _core.command([sys.executable, "-m", "goodqueue"], arguments)


def sweep(arguments: Sequence[str]) -> int:
    """Carry out ``sweep`` where points run elsewhere or are kept elsewhere."""
    from goodqueue.sweeping import Sweep, run_plan

    parser = argparse.ArgumentParser(prog="gq sweep", allow_abbrev=False)
    parser.add_argument("scenario", metavar="SCENARIO.toml")
    parser.add_argument("--out", required=True, metavar="PLACE", help="folder or URL for the results")
    parser.add_argument("--dask", metavar="ADDRESS", help="scheduler whose workers run the points")
    parser.add_argument("--jobs", type=int, metavar="N", help="points at the same time on this machine")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting")
    parser.add_argument("--seed", metavar="N")
    parser.add_argument("--replications", metavar="N")
    given = parser.parse_args(arguments)
    pairs = [(key, value) for key, _, value in (pair.partition("=") for pair in given.set)]
    pairs += [(key, value) for key in ("seed", "replications") if (value := getattr(given, key)) is not None]
    try:
        plan = _core.Plan.load(given.scenario)
        plan = plan.with_overrides(pairs) if pairs else plan
        found, finished, failed = run_plan(plan, given.out, jobs=given.jobs, client=given.dask, progress=None)
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return 2
    except SweepError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted: the same command resumes", file=sys.stderr)
        return 1
    before = f", {found} of them from before" if found else ""
    print(f"{finished} of {plan.point_count} points finished{before}")
    print(f"results in {given.out}", file=sys.stderr)
    answer = json.loads(Sweep(given.out).summary_json)["headline"]["text"]
    columns = shutil.get_terminal_size((120, 24)).columns
    print("\n" + "\n".join(textwrap.fill(line, columns) for line in answer.splitlines()))
    if failed:
        print(f"error: {failed} {'point' if failed == 1 else 'points'} failed: see {given.out}/failed", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(gq())
