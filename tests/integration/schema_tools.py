"""Validates presets against the JSON Schema, and twenty mistakes in one of them, which must not validate.

    schema_tools.py SCHEMA PRESETS
"""

import copy
import json
import pathlib
import sys

import jsonschema
import tomli

# What is set, and where: section, key, value. None takes the key out.
MISTAKES = [
    ("train", "bach", 32),  # typos
    ("experiment", "round", 10),
    ("trian", "batch", 32),
    ("fleet.group", "cuont", 3),
    ("train", "batch", "32"),  # wrong types
    ("train", "batch", 32.5),
    ("train", "nesterov", "yes"),
    ("experiment", "rounds", [30]),
    ("data", "split", 3),
    ("fleet.group", "uplink", True),
    ("train", "batch", 0),  # out of range
    ("train", "momentum", 1.0),
    ("experiment", "target-accuracy", 85),
    ("fleet.group", "compute", -1),
    ("train", "method", "fedavg"),  # unknown words
    ("model", "name", "resnet81"),
    ("fleet.group", "round-trip", "40 seconds"),
    ("model", "batch", 32),  # in the wrong section
    ("train", "participation", 0.5),
    ("fleet.group", "count", None),  # missing
]


def main(schema_path, presets):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    paths = sorted(pathlib.Path(presets).glob("*.toml"))
    assert len(paths) > 10, paths
    for path in paths:
        error = jsonschema.exceptions.best_match(validator.iter_errors(tomli.loads(path.read_text())))
        assert error is None, f"{path.name}: {error.json_path}: {error.message}"
    right = tomli.loads((pathlib.Path(presets) / "fedavg.toml").read_text())
    for section, key, value in MISTAKES:
        wrong = copy.deepcopy(right)
        table = wrong["fleet"]["group"][0] if section == "fleet.group" else wrong.setdefault(section, {})
        if value is None:
            del table[key]
        else:
            table[key] = value
        assert not validator.is_valid(wrong), f"{section}.{key} = {value} validates"
    print(f"{len(paths)} presets validate, {len(MISTAKES)} mistakes do not")


main(*sys.argv[1:])
