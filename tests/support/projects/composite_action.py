"""Run a composite action of GitHub as its runner does, but only log the actions that it uses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_rageval.report.export.markdown import MARKER

from .installed_programs import run_program

__all__ = ["GH", "OTHERS", "OURS", "CompositeAction"]

_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_SHELLS = {"bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"], "python": ["python"]}
"""The commands of GitHub's documentation for `shell`."""

GH = """\
#!/bin/sh
echo "$@" >> "$GH_LOG"
while [ $# -gt 0 ]; do
    if [ "$1" = --jq ]; then exec jq --raw-output "$2" comments.json; fi
    shift
done
"""
"""A stand-in for the program gh: it logs its arguments, and answers from comments.json."""

OTHERS = [
    {"id": 1, "user": {"login": "github-actions[bot]"}, "body": "coverage 93 %"},
    {"id": 2, "user": {"login": "someone"}, "body": f"> {MARKER}"},
]
OURS = {"id": 3, "user": {"login": "github-actions[bot]"}, "body": f"## RAG tests\n\n{MARKER}\n"}


@dataclass
class CompositeAction:
    """One run of an action.

    Attributes:
        action: the parsed action.yml.
        folder: the checkout.
        runner: the folder of the runner's own files.
        inputs: the values under `with`.
        github: values of the context `github`, by their dotted names.
        env: more of the environment.
        uses: name of a used action -> its inputs.
        ran: names of the steps that ran.
        output: what the steps printed.
        status: exit status of the step that failed, else 0.
    """

    action: Any
    folder: Path
    runner: Path
    inputs: Mapping[str, str]
    github: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    uses: dict[str, dict[str, str]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    output: str = ""
    status: int = 0

    def __post_init__(self) -> None:
        unknown = set(self.inputs) - set(self.action["inputs"])
        assert not unknown, f"no input {unknown}"
        self._values = {f"github.{name}": value for name, value in {"token": "t0ken", **self.github}.items()}
        for name, declared in self.action["inputs"].items():
            self._values[f"inputs.{name}"] = self.inputs.get(name, self._text(declared["default"]))
        self._ids = {step["id"] for step in self.action["runs"]["steps"] if "id" in step}
        self.runner.mkdir()
        self.summary.touch()

    @property
    def summary(self) -> Path:
        return self.runner / "summary"

    @property
    def outputs(self) -> dict[str, str]:
        return {name: self._text(declared["value"]) for name, declared in self.action["outputs"].items()}

    def run(self) -> CompositeAction:
        """Run each step whose condition holds."""
        for step in self.action["runs"]["steps"]:
            if not self._holds(step.get("if", "")):
                continue
            self.ran.append(step["name"])
            if "uses" in step:
                self.uses[step["uses"].partition("@")[0]] = self._texts(step.get("with", {}))
            else:
                self._run_script(step)
        return self

    def _run_script(self, step: Any) -> None:
        script, out = self.runner / f"step{len(self.ran)}", self.runner / f"output{len(self.ran)}"
        script.write_text(step["run"], encoding="utf-8")  # unchanged: it contains no expression
        out.touch()
        env = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(out),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_REPOSITORY": self.github.get("repository", ""),
            "RUNNER_TEMP": str(self.runner),
            **self.env,
            **self._texts(step.get("env", {})),
        }
        folder = self.folder / self._text(step.get("working-directory", "."))
        status, output = run_program(folder, *_SHELLS[step["shell"]], str(script), env=env)
        self.output += output
        self.status = self.status or status
        for line in out.read_text(encoding="utf-8").splitlines():
            name, equals, value = line.partition("=")
            assert equals, f"{line!r} is not a line of GITHUB_OUTPUT"
            self._values[f"steps.{step['id']}.outputs.{name}"] = value

    def _holds(self, condition: str) -> bool:
        """Return whether a step runs; without a status function it runs only if no step failed."""
        text = condition.strip().removeprefix("${{").removesuffix("}}")
        terms = [term.strip() for term in text.split("&&") if term.strip()]
        succeeds = self.status == 0 or any(term == "!cancelled()" for term in terms)
        return succeeds and all(map(self._term, terms))

    def _term(self, term: str) -> bool:
        if term == "!cancelled()":
            return True
        first, operator, second = term.split(" ")
        value = second[1:-1] if second.startswith("'") else self._value(second)
        return (self._value(first) == value) is {"==": True, "!=": False}[operator]

    def _texts(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: self._text(value) for name, value in values.items()}

    def _text(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: self._value(match[1].strip()), text)

    def _value(self, name: str) -> str:
        """Return the value of a context; "" for one that this event lacks, as in GitHub."""
        if name not in self._values and not name.startswith("github.event."):
            assert re.fullmatch(rf"steps\.({'|'.join(self._ids)})\.outputs\.\w+", name), f"unknown: {name}"
        return self._values.get(name, "")
