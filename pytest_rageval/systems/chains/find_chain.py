"""Find the file of the system ``chain:NAME``: a user's TOML file, or a built-in chain."""

from __future__ import annotations

from pathlib import Path

from pytest_rageval.errors import SettingError, ascii_safe, did_you_mean, short_repr
from pytest_rageval.systems.setup import SystemSetup

__all__ = ["SHIPPED", "chain_file", "chain_name", "shipped_chains"]

SHIPPED = Path(__file__).parent
"""The folder of the built-in chains; each set of them has a folder, such as ``kilt``."""

_SUFFIX = ".toml"


def chain_name(argument: str) -> str:
    """Return the name of a chain in reports: the file name without suffix, or the name of a built-in chain."""
    return Path(argument).stem if argument.endswith(_SUFFIX) else argument


def shipped_chains() -> dict[str, Path]:
    """Return name -> file of the built-in chains, such as ``kilt/nq-read``."""
    files = sorted(SHIPPED.glob(f"*/*{_SUFFIX}"))
    return {file.relative_to(SHIPPED).with_suffix("").as_posix(): file for file in files}


def chain_file(setup: SystemSetup) -> tuple[Path, str]:
    """Return the file of the chain that ``setup.argument`` names, and the file's name in messages.

    Raises:
        SettingError: no file and no built-in chain has this name.
    """
    argument, chains = setup.argument, shipped_chains()
    if argument in chains:
        return chains[argument], f"chain:{argument}"
    for folder in setup.folders or (Path(),):
        path = folder / argument
        if argument and path.is_file():
            return path, ascii_safe(Path(argument).as_posix())
    names_a_file = argument.endswith(_SUFFIX) or not chains
    hint = "" if names_a_file else f", or name a built-in chain: {did_you_mean(argument, chains)}"
    problem = f"there is no file {short_repr(argument)}; correct the path{hint}"
    raise SettingError(f"{setup.where}: {problem}", code="RAG105")
