"""Are all conformance vectors as their JSON schema says?"""

import json
import pathlib
import sys

import jsonschema

folder = pathlib.Path(__file__).resolve().parent
schema = json.loads((folder / "vector.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
vectors = sorted(folder.glob("*/*.json"))
faults = [(path, error) for path in vectors for error in validator.iter_errors(json.loads(path.read_text()))]
for path, error in faults:
    print(f"{path}: {error.json_path}: {error.message[:200]}", file=sys.stderr)
if faults or not vectors:
    sys.exit(f"schema: {len(faults)} faults in {len(vectors)} vectors")
print(f"schema: {len(vectors)} vectors as it says")
