"""Prints the licenses of everything from elsewhere that a crate is built from: licenses.py CRATE TARGET."""

import json
import subprocess
import sys
from pathlib import Path

FILES = ("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")


def linked(metadata, crate):
    """The packages that are linked into a crate, without those that only build it."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    open_ids = [next(i for i, package in packages.items() if package["name"] == crate and package["source"] is None)]
    found = set()
    while open_ids:
        place = open_ids.pop()
        if place in found:
            continue
        found.add(place)
        for arrow in nodes[place]["deps"]:
            if any(kind["kind"] is None for kind in arrow["dep_kinds"]):
                open_ids.append(arrow["pkg"])
    outside = [packages[i] for i in found if packages[i]["source"] is not None]
    return sorted(outside, key=lambda package: (package["name"], package["version"]))


def main():
    """Prints name, version and license of each package, then each license's text once."""
    crate, target = sys.argv[1:]
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    texts = {}
    print(f"Crates from elsewhere in {crate}, with their licenses. The texts follow.\n")
    for package in linked(metadata, crate):
        name = f"{package['name']} {package['version']}"
        print(f"{name}: {package['license'] or package['license_file']}, by {', '.join(package['authors']) or 'its contributors'}")
        folder = Path(package["manifest_path"]).parent
        for path in sorted(folder.iterdir()):
            if path.is_file() and path.name.upper().startswith(FILES):
                texts.setdefault(path.read_text(encoding="utf-8", errors="replace").strip(), []).append(name)
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'=' * 80}\n\n{text}")


if __name__ == "__main__":
    main()
