"""What the plugin adds to a session that does not use it: ``pytest --collect-only`` of one test.

    python tests/benchmarks/startup.py [--pairs N]

Target: at most +10 ms and +3 MiB, as the median over pairs of runs with and without the plugin. Also lists the modules
that only the run with the plugin imports, with the time of each module without its imports.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from importlib.metadata import entry_points
from pathlib import Path
from statistics import quantiles

from measuring import Cost, alternate, environment, pytest_command, table

PLUGIN = "pytest_rageval.plugin"
_IMPORT = re.compile(r"import time:\s*(\d+) \|\s*\d+ \|\s*(\S+)$", re.MULTILINE)


def added_costs(pairs: int, folder: Path, with_it: list[str], without: list[str], autoload: bool) -> list[Cost]:
    """Return what the plugin added in each pair of runs."""
    more, less = alternate(pairs, (with_it, folder, autoload), (without, folder, autoload))
    return [one.minus(other) for one, other in zip(more, less, strict=True)]


def imports(command: list[str], folder: Path) -> dict[str, int]:
    """Return the modules that a command imports, with the microseconds of each without its imports."""
    program, *rest = command
    process = subprocess.run(
        [program, "-X", "importtime", *rest, "-s"],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return {name: int(micros) for micros, name in _IMPORT.findall(process.stderr)}


def sides(folder: Path) -> dict[str, tuple[list[str], list[str], bool]]:
    """Return the commands with and without the plugin, and whether plugins are loaded by their entry points.

    The side without our plugin loads an empty one, because pytest searches all installed packages for any name.
    """
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_one.py").write_text("def test_one():\n    pass\n")
    (folder / "empty_plugin.py").write_text("")
    bare = pytest_command("--collect-only", "-p", "no:cacheprovider")
    others = {point.name for point in entry_points(group="pytest11")} - {PLUGIN, "xdist", "xdist.looponfail"}
    alone = [*bare, *(f"-pno:{name}" for name in sorted(others))]
    return {
        "named with -p, alone": ([*bare, "-p", PLUGIN], [*bare, "-p", "empty_plugin"], False),
        "by its entry point, with xdist": (alone, [*alone, "-p", f"no:{PLUGIN}"], True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What the plugin adds to a session that does not use it.")
    parser.add_argument("--pairs", type=int, default=31, help="pairs of runs (default: %(default)s)")
    pairs: int = parser.parse_args().pairs
    rows = [["added to pytest --collect-only", "wall ms", "quartiles", "CPU ms", "peak MiB"]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = sides(folder)
        for label, (with_it, without, autoload) in commands.items():
            costs = added_costs(pairs, folder, with_it, without, autoload)
            low, _, high = quantiles([1000 * cost.wall for cost in costs], n=4)
            typical = Cost.median(costs)
            wall, cpu = f"{1000 * typical.wall:+.1f}", f"{1000 * typical.cpu:+.1f}"
            rows.append([label, wall, f"{low:+.1f} .. {high:+.1f}", cpu, f"{typical.peak:+.2f}"])
        print(table(rows))
        with_it, without, _ = next(iter(commands.values()))
        modules_without = imports(without, folder)
        new = {module: micros for module, micros in imports(with_it, folder).items() if module not in modules_without}
    print(f"\n{len(new)} modules that only the plugin imports, {sum(new.values()) / 1000:.1f} ms by -X importtime:\n")
    slowest = sorted(new.items(), key=lambda entry: -entry[1])
    print(table([["module", "us"], *([module, str(micros)] for module, micros in slowest)]))


if __name__ == "__main__":
    main()
