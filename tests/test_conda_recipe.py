"""The conda recipe says of fastdump what pyproject.toml says."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest brings

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RECIPE_FILE = ROOT / "packaging" / "conda" / "recipe.yaml"


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(RECIPE_FILE.read_text())
    return found


def as_conda(requirements: list[str]) -> set[str]:
    """Return requirements in the words of conda: `numpy >=1.26`."""
    return {re.sub(r"(?<=\w)(?=[<>=])", " ", requirement) for requirement in requirements}


def test_name_version_and_what_is_said_of_it(recipe: dict[str, Any]) -> None:
    project = PROJECT["project"]
    assert recipe["context"]["version"] == project["version"]
    assert recipe["package"] == {"name": project["name"], "version": "${{ version }}"}
    about = recipe["about"]
    assert about["summary"] == project["description"]
    assert about["license"] == project["license"]
    assert [about["license_file"]] == project["license-files"]
    scripts = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts


def test_it_runs_with_what_the_project_needs(recipe: dict[str, Any]) -> None:
    project = PROJECT["project"]
    needed = as_conda([*project["dependencies"], f"python{project['requires-python']}"])
    assert set(recipe["requirements"]["run"]) == needed


def test_it_is_built_with_what_the_build_needs(recipe: dict[str, Any]) -> None:
    # What makes files of the machine that builds is apart from what is for the one it builds for.
    tools = [line for line in recipe["requirements"]["build"] if not line.startswith("${{")]
    host = [line for line in recipe["requirements"]["host"] if line not in ("python", "pip")]
    assert {*tools, *host} == as_conda(PROJECT["dependency-groups"]["build"])
    assert as_conda(PROJECT["build-system"]["requires"]) <= set(host)


def test_its_source_is_this_checkout(recipe: dict[str, Any]) -> None:
    assert (RECIPE_FILE.parent / recipe["source"]["path"]).resolve() == ROOT
