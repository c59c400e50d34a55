"""Programs that try to escape or stop a sandbox or to exhaust the machine, and how each must end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["ANY_VALUE", "ONE_OF_EACH", "ROWS", "SECRET", "Row"]

SECRET = "sk-planted-4f1c9e"  # noqa: S105
ANY_ERROR = "."
ANY_VALUE = object()
TIME = "^time limit: "
MEMORY = "^memory limit: "
OUTPUT = "^output limit: "


@dataclass(frozen=True)
class Row:
    """A program and how it must end.

    Attributes:
        name: what it tries.
        code: the program; ``HOME``, ``PORT`` and ``PLANTED`` stand for a folder, a port and a file of the test.
        ends: what its error must match; None if it may end in any way.
        value: the value that it must have if it has no error; `ANY_VALUE` if it may have any.
        tools, calls: the functions that it may call, and how many calls are recorded (None: any number).
        size: bytes of what a tool returns, which our own process has to hold.
    """

    name: str
    code: str
    ends: str | None = ANY_ERROR
    value: Any = None
    tools: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    calls: int | None = 0
    size: int = 0

    def code_for(self, home: Path, port: int) -> str:
        """Return the program for a folder and a port of the test."""
        names = {"PLANTED": home / "planted.txt", "HOME": home, "PORT": port}
        return re.sub(r"\b(PLANTED|HOME|PORT)\b", lambda match: str(names[match.group()]), self.code)


def forever(body: str) -> str:
    return f"while True:\n    {body}"


def caught(body: str) -> str:
    return f"try:\n        {body}\n    except BaseException: pass"


def fails() -> None:
    raise ValueError("no such page")


READS = (
    Row("read passwd", "open('/etc/passwd').read()"),
    Row("read keys", "import os\n[open('HOME/.ssh/' + name).read() for name in os.listdir('HOME/.ssh')]"),
    Row("read the project", "open('PLANTED').read()"),
    Row("read by a path object", "from pathlib import Path\nPath('PLANTED').read_text()"),
    Row("read the first process", "open('/proc/1/environ').read()", None, value=ANY_VALUE),
    Row("read its own process", "open('/proc/self/environ').read()", None, value=ANY_VALUE),
    Row("read its parent", "import os\nopen(f'/proc/{os.getppid()}/environ').read()", None, value=ANY_VALUE),
    Row("read the environment", "import os\nos.environ['PLANTED_API_KEY']"),
    Row("read a variable", "import os\nos.getenv('PLANTED_API_KEY') + ''"),
    Row("list a folder", "import os\nos.listdir('HOME')[0]"),
)
WRITES = (
    Row("write to the project", "open('PLANTED', 'w').write('changed')"),
    Row("write outside", "open('HOME/written', 'w').write('x')"),
    Row("write by a path object", "from pathlib import Path\nPath('HOME/written').write_text('x')"),
    Row("remove a file", "import os\nos.remove('PLANTED')"),
    Row("fill its folder", "for i in range(100):\n    open(f'/tmp/filled{i}', 'w').write('a' * 10**8)"),
)
NETWORK = (
    Row("connect to us", "import socket\nsocket.create_connection(('127.0.0.1', PORT), 2).send(b'x')"),
    Row("ask us", "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:PORT', timeout=2).read()"),
    Row("connect outside", "import socket\nsocket.create_connection(('1.1.1.1', 53), 2)"),
    Row("resolve a name", "import socket\nsocket.getaddrinfo('example.com', 80)"),
)
TIMES = (
    Row("loop", "while True: pass", TIME),
    Row("loop that catches all", forever(caught("while True: pass")), TIME),
    Row("loop in one call", "sum(i for i in range(10**12))", f"{TIME}|{MEMORY}"),
    Row("regular expression", "import re\nre.match('(a+)+$', 'a' * 40 + 'b')", None, value=None),
    Row(
        "regular expression that refers back",
        r"import re" "\n" r"re.match(r'(a|aa)+\1$', 'a' * 60 + 'b')",
        None,
        value=None,
    ),
    Row("sleep", "import time\ntime.sleep(10**6)\n'awake'", None, value="awake"),
)
MEMORIES = (
    Row("allocate without end", "held = []\nwhile True:\n    held.append('a' * 10**6)", f"{MEMORY}|{TIME}"),
    Row("allocate and catch", "held = []\n" + forever(caught("held.append('a' * 10**6)")), ANY_ERROR),
    Row("a text of 10 GB", "'a' * 10**10", ANY_ERROR),
    Row("an integer of 10**8 digits", "10**10**8", ANY_ERROR),
    Row("a value of 100 MB", "'a' * 10**8", ANY_ERROR),
    Row("a value of 200 MB", "'a' * (2 * 10**8)", ANY_ERROR),
    Row("a list of 10**7", "[0] * 10**7", ANY_ERROR),
    Row("an argument of 50 MB", "take('a' * 5 * 10**7)", ANY_ERROR, tools={"take": lambda text: len(text)}),
    Row("a result of 200 MB", "give()", ANY_ERROR, tools={"give": lambda: "a" * (2 * 10**8)}, calls=1, size=2 * 10**8),
    Row("a result of 15 MB in another alphabet", "len(give())", None, value=5 * 10**6, calls=1, size=15 * 10**6,
        tools={"give": lambda: "\u6f22" * (5 * 10**6)}),
    Row("print 10**7 lines", "for i in range(10**7):\n    print(i)", OUTPUT),
    Row("print one long line", "print('a' * 10**8)", f"{OUTPUT}|{MEMORY}"),
    Row("print and catch all", forever(caught("print('a' * 1000)")), OUTPUT),
    Row("raise a long message", "raise ValueError('a' * 10**8)", ANY_ERROR),
)  # fmt: skip
DEPTHS = (
    Row("call itself", "def again(): return again()\nagain()", ANY_ERROR),
    Row("a deep list", "deep = []\nfor _ in range(100_000): deep = [deep]\ndeep", "nested more than 50 deep"),
    Row("a list in itself", "loop = []\nloop.append(loop)\nloop", None, value=ANY_VALUE),
    Row("deep source", "(" * 10**5 + ")" * 10**5, ANY_ERROR),
    Row("long source", "x = 1\n" * 10**5 + "x", None, value=1),
)
PROCESSES = (
    Row("fork bomb", "import os\n" + forever("os.fork()")),
    Row("threads", "import threading\n" + forever("threading.Thread(target=print).start()")),
    Row("subprocess", "import subprocess\nsubprocess.run(['touch', 'HOME/written'])"),
    Row("a shell", "import os\nos.system('touch HOME/written')", None, value=ANY_VALUE),
    Row("C", "import ctypes\nctypes.CDLL(None).system(b'touch HOME/written')", None, value=ANY_VALUE),
    Row("ignored signals", "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + forever("pass")),
    Row(
        "a detached child",
        "import os\nif os.fork() == 0:\n    os.setsid()\n    " + "while True: pass",
        None,
        value=ANY_VALUE,
    ),
    Row("exit", "import os\nos._exit(0)"),
)
INSIDES = (
    Row("classes of all", "().__class__.__bases__[0].__subclasses__()", None, value=ANY_VALUE),
    Row("classes in a format", "'{0.__class__.__mro__[1].__subclasses__}'.format(1)", None, value=ANY_VALUE),
    Row("import by name", "__import__('os').system('touch HOME/written')", None, value=ANY_VALUE),
    Row("import in eval", "eval(\"__import__('os').environ['PLANTED_API_KEY']\")", ANY_ERROR),
    Row("open in eval", "eval(\"open('PLANTED').read()\")", ANY_ERROR),
    Row("globals of a tool", "tool.__globals__", ANY_ERROR, tools={"tool": fails}),
    Row("code of a tool", "tool.__code__.co_consts", ANY_ERROR, tools={"tool": fails}),
    Row("frames", "import sys\nsys._getframe(1).f_globals", ANY_ERROR),
    Row("our modules", "import pytest_rageval", None, value=None),
)
TOOLS = (
    Row("a tool that raises", "fails()", r"^ValueError: no such page \(line 1\)$", tools={"fails": fails}, calls=1),
    Row("a tool that raises, caught", "try:\n    fails()\nexcept ValueError as error:\n    said = str(error)\nsaid",
        None, value="no such page", tools={"fails": fails}, calls=1),
    Row("a tool that returns an object", "give()", "type object", tools={"give": object}, calls=1),
    Row("a tool that does not exist", "missing(1)", "^NameError: ", tools={"fails": fails}),
    Row("5,000 calls", "for i in range(5000):\n    give()", "^tool call limit: ", tools={"give": int}, calls=100),
    Row("calls without end, all errors caught", forever(caught("give()")), "^tool call limit: ",
        tools={"give": int}, calls=100),
    Row("a function of a tool's name", "def give():\n    return 'own'\ngive()", None, value="own", tools={"give": int}),
    Row("controls in an error", "raise ValueError('\\x1b[31mred\\u202e')",
        r"^ValueError: \\x1b\[31mred\\u202e \(line 1\)$"),
)  # fmt: skip
ROWS = (*READS, *WRITES, *NETWORK, *TIMES, *MEMORIES, *DEPTHS, *PROCESSES, *INSIDES, *TOOLS)

ONE_OF_EACH = tuple(
    row
    for row in ROWS
    if row.name in ("read keys", "read the environment", "write to the project", "write outside", "connect to us",
                    "fork bomb", "a detached child", "exit", "classes of all", "globals of a tool")
)  # fmt: skip
"""A program or two for each way out, for tests of what lies above the sandbox."""
