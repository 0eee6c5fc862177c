"""The JSON Schema of the YAML form: the stored file is the generated one, good models are valid, wrong ones are not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from gyrostat.io.yaml.migrations import newest
from gyrostat.io.yaml.parse import read
from gyrostat.io.yaml.schema import json_schema
from gyrostat.io.yaml.write import to_text
from gyrostat.spec.entity import Entity
from tests.support.examples import few
from tests.support.spec_models import models
from tests.support.yaml_examples import EDITS, GOOD, ForeignSpring

FOLDER = Path(__file__).parents[3] / "docs" / "reference"
VERSIONS = [None, *range(1, newest() + 1)]
OF_FORM = {"schema-version", "unknown-property", "missing-property", "property-type", "property-value", "unknown-kind"}


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    return jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("version", VERSIONS)
def test_the_stored_schema_is_the_generated_one(version):
    file = FOLDER / ("model.schema.json" if version is None else f"model.schema.v{version}.json")
    hint = f"Hint: python -m gyrostat.io.yaml.schema {version or ''} > docs/reference/{file.name}"
    assert file.is_file(), f"there is no {file.name}. {hint}"
    assert json.loads(file.read_text("utf-8")) == json_schema(version), f"{file.name} is out of date. {hint}"


def test_the_module_prints_the_schema():
    printed = subprocess.run(
        [sys.executable, "-m", "gyrostat.io.yaml.schema"], check=True, capture_output=True, text=True
    )
    assert json.loads(printed.stdout) == json_schema()
    assert printed.stdout.endswith("}\n")


def test_the_schema_knows_every_kind_of_ours_and_no_other():
    schema = json_schema()
    ours = {name for name, kind in Entity.registry.items() if kind.__module__.startswith("gyrostat.")}
    assert ForeignSpring.type_name not in ours
    assert set(schema["$defs"]) == ours | {"context", "entity"}
    assert {kind["$ref"].rpartition("/")[2] for kind in schema["$defs"]["entity"]["anyOf"]} == ours


def test_the_schema_is_a_schema(validator):
    validator.check_schema(json_schema())


def test_an_example_is_valid(validator):
    validator.validate(read(GOOD).plain())


@settings(max_examples=few(50), deadline=None)
@given(model=models())
def test_every_good_model_is_valid(validator, model):
    validator.validate(read(to_text(model)).plain())


def test_short_forms_are_valid(validator):
    body = {"rigid_body": "b", "mass": 1, "frames": {"tip": [0, 0, 1], "side": {"rotation": {"axis": "x", "angle": 1}}}}
    joint = {"kind": "revolute", "joint": "j", "axis": "-z"}
    validator.validate({"gyrostat": 1, "name": "m", "entities": [body, joint]})


@pytest.mark.parametrize("case", [case for case in EDITS if EDITS[case][2][0][1] in OF_FORM])
def test_a_mistake_of_form_is_not_valid(validator, case):
    old, new, _ = EDITS[case]
    data = read(GOOD.replace(old, new)).plain()
    assert not validator.is_valid(data)
