"""What a matrix of 80 cells costs: recorded Chinese answers scored by five rule metrics, against bare pytest.

    python tests/benchmarks/matrix.py [--cases N] [--rounds N]

Target: 11,400 cases in under 15 s, and half as many in half the time. Every case has an answer of about 100 characters
in a file for ``--rag-answers``. Answers and gold answers are made of the words of a few invented sentences. There are
as many bare tests, parametrized and empty. Times are of whole processes, medians of alternating runs.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path

from measuring import Cost, alternate, bare_project, pytest_command, table

TOPICS, TASKS = 16, 5
LENGTH = 100  # approximate characters of an answer
SUBJECTS = (
    "苍鹭线的末班船",
    "海港卡的押金",
    "城堡线的电车",
    "码头的办事处",
    "市议会的决定",
    "北岸的候船室",
    "渔人桥的检票员",
)
TIMES = ("晚上十一点一刻", "周末和节假日", "2024年3月以后", "每天清晨六点", "夏季的三个月里", "雾天的早晨")
ACTIONS = (
    "从盐码头开出",
    "全额退还给持卡人",
    "每九分钟一班",
    "保管四十五天",
    "没有获得通过",
    "只收5.5克朗",
    "由志愿者看管",
)
REASONS = ("因为乘客人数增加了12%", "按照新的收费办法", "除非船长另有通知", "与往年没有两样", "为了方便岛上的居民")
CASES = """
from pytest_rageval import rag_case


@rag_case("jsonl:cases.jsonl", metrics=["token_f1", "exact_match", "rouge_1", "rouge_2", "rouge_l"])
def test_case(rag):
    pass
"""


def random_answer(words: random.Random) -> str:
    """Return an answer of about 100 characters."""
    text = ""
    while len(text) < LENGTH:
        text += f"{words.choice(SUBJECTS)}{words.choice(TIMES)}{words.choice(ACTIONS)}，{words.choice(REASONS)}。"
    return text


def rag_project(folder: Path, n: int) -> list[str]:
    """Write ``n`` cases with their recorded answers and return the command that runs them."""
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_cases.py").write_text(CASES)
    words = random.Random(n)
    with (folder / "cases.jsonl").open("w") as cases, (folder / "answers.jsonl").open("w") as answers:
        for number in range(n):
            cell, gold = number % (TOPICS * TASKS), random_answer(words)
            topic = cell // TASKS
            record = {
                "id": f"q{number}",
                "question": f"第{number}个问题：{words.choice(SUBJECTS)}怎么样？",
                "answers": [gold],
                "topic_1": f"领域{topic // 4}",
                "topic": f"主题{topic}",
                "task": f"任务{cell % TASKS}",
                "language": "zh",
            }
            cases.write(json.dumps(record, ensure_ascii=False) + "\n")
            answer = gold if number % 7 == 0 else random_answer(words)
            answers.write(json.dumps({"id": f"q{number}", "answer": answer}, ensure_ascii=False) + "\n")
    return pytest_command("-p", "pytest_rageval.plugin", "--rag-answers", "answers.jsonl")


def main() -> None:
    parser = argparse.ArgumentParser(description="What a matrix of 80 cells costs, against bare pytest.")
    parser.add_argument("--cases", type=int, default=11_400, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: %(default)s)")
    args = parser.parse_args()
    costs: dict[tuple[str, int], Cost] = {}
    with tempfile.TemporaryDirectory() as name:
        for n in (args.cases // 2, args.cases):
            sides = {"bare": Path(name, f"bare{n}"), "rag": Path(name, f"rag{n}")}
            commands = {"bare": bare_project(sides["bare"], n), "rag": rag_project(sides["rag"], n)}
            measured = alternate(args.rounds, *((commands[side], folder, False) for side, folder in sides.items()))
            costs |= {(side, n): Cost.median(side_costs) for side, side_costs in zip(sides, measured, strict=True)}
    half, whole = args.cases // 2, args.cases
    rows = [["", "wall s", "CPU s", "peak MiB"]]
    for (side, n), cost in costs.items():
        rows.append([f"{n:,} {side}", f"{cost.wall:.2f}", f"{cost.cpu:.2f}", f"{cost.peak:.1f}"])
    for label, one, other, wished in (
        (f"{whole:,} rag / bare", ("rag", whole), ("bare", whole), "wished < 15 s"),
        ("whole / half, rag", ("rag", whole), ("rag", half), "wished about 2"),
    ):
        a, b = costs[one], costs[other]
        rows.append([label, f"{a.wall / b.wall:.2f}", f"{a.cpu / b.cpu:.2f}", wished])
    print(table(rows))


if __name__ == "__main__":
    main()
