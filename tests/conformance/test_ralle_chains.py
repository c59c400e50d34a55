"""RaLLe's 38 published experiments as chains: each one imports, loads, and renders what it must."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_rageval.datasets.imports import ImportResult, Order
from pytest_rageval.datasets.imports.ralle_chain import take
from pytest_rageval.systems.chains.chain import Chain
from pytest_rageval.systems.chains.chain_file import read_chain


@pytest.fixture(scope="module")
def folder(rageval_data: Path) -> Path:
    path = rageval_data / "systems" / "ralle_chains"
    if not path.is_dir():
        pytest.skip(f"RaLLe's chains are not at {path}")
    return path


def chains(folder: Path, target: Path) -> dict[str, Chain]:
    """Return each experiment as a chain, by the name of its file."""
    read = {}
    for path in sorted(folder.glob("*.json")):
        if path.name == "rendered.json":
            continue
        result = ImportResult()
        take(Order((path,)), result)
        assert not result.lost
        file = target / f"{path.stem}.toml"
        file.write_text(result.chain, encoding="utf-8")
        read[path.name] = read_chain(file, file.name)
    return read


def test_all_experiments_import_and_load(folder: Path, tmp_path: Path) -> None:
    read = chains(folder, tmp_path)
    assert len(read) == 38
    for name, chain in read.items():
        published = json.loads((folder / name).read_text(encoding="utf-8"))["chain_config"]["chain"]
        kinds = {"Retriever": ("retrieve",), "LLM": ("generate",), "Identity": ("template", "python")}
        assert all(each.do in kinds[action["function"]] for each, action in zip(chain.actions, published, strict=True))
        assert [each.k for each in chain.retrieves] == [each["npassage"] for each in published if "npassage" in each]
