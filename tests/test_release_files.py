"""Files that a release and its host read: they are well formed, and name what exists."""

from pathlib import Path

import pytest
import yaml

import mheal

ROOT = Path(__file__).parent.parent
FILES = [ROOT / "CITATION.cff", ROOT / ".pre-commit-config.yaml", *ROOT.glob(".github/**/*.yml")]


def read(path):
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_is_yaml(path):
    assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict)


def test_the_citation_is_of_this_version():
    citation = read("CITATION.cff")
    assert mheal.__version__.partition(".dev")[0] == citation["version"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert {"authors", "title", "type"} <= set(citation["preferred-citation"])


def test_the_workflow_runs_what_a_change_must_pass():
    workflow = read(".github/workflows/ci.yml")
    steps = workflow["jobs"]["run"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o111


def test_hooks_are_the_tools_of_make_lint():
    hooks = [hook for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    commands = [hook["entry"].removeprefix(".venv/bin/").replace(" --force-exclude", "") for hook in hooks]
    lint = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    assert all(f"$(BIN)/{command}\n" in lint for command in commands)
    assert len(commands) == 3


def test_forms_for_issues_have_what_the_host_requires():
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"):
        form = read(path)
        if path.name != "config.yml":
            assert {"name", "description", "body"} <= set(form)
            inputs = [part for part in form["body"] if part["type"] != "markdown"]
            assert len({part["id"] for part in inputs}) == len(inputs) > 0
            assert all(part["attributes"]["label"] for part in inputs)
