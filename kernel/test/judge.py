#!/usr/bin/env python3
"""Sums up what the guest said: judge.py LOG TRANSCRIPT. Fails unless all went well to the end."""

import json
import sys


def main():
    with open(sys.argv[1], errors="replace") as file:
        lines = file.read().splitlines()
    with open(sys.argv[2]) as file:
        wanted = [line.rstrip() for line in file if line.strip()]
    passed, failed = 0, []
    for line in lines:
        if line.startswith("ok "):
            passed += 1
            print(line)
        elif line.startswith("not ok "):
            failed.append(line.removeprefix("not ok "))
        elif line.startswith("json "):
            try:
                (queue,) = [q for q in json.loads(line.removeprefix("json ")) if q["kind"] == "goodqueue"]
                missing = [name for name in ("options", "drops", "arrived") if name not in queue]
                if missing or queue["options"]["kind"] != "shaper:fq-codel":
                    failed.append(f"JSON: {queue}")
                passed += not missing
            except (ValueError, KeyError) as error:
                failed.append(f"JSON: {error}: {line}")
    said = [line.removeprefix("console ").rstrip() for line in lines if line.startswith("console ")]
    for place, line in enumerate(wanted):
        if place >= len(said) or said[place] != line:
            failed.append(
                f"docs/on-a-router.md says\n    {line}\n  and the guest\n    {said[place] if place < len(said) else 'nothing'}"
            )
            break
    else:
        passed += bool(wanted)
    if "end of the guest" not in lines:
        failed.append("the guest did not come to its end; its last lines:\n    " + "\n    ".join(lines[-12:]))
    for fault in failed:
        print(f"FAILED {fault}")
    print(f"test-kernel: {passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
