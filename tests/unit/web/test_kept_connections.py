"""A local server keeps a connection open after an error that it has answered."""

from __future__ import annotations

import json
import subprocess
import sys
from http.client import HTTPConnection
from select import select

PROGRAM = """
from pytest_rageval.web.judge_api import ServedJudge, judge_api
from pytest_rageval.web.serving import listening_socket, run_until_signal

def reply(messages):
    return {"good": "right"}[messages[0]["content"]]

with listening_socket("127.0.0.1", 0) as listener:
    print(listener.getsockname()[1], flush=True)
    run_until_signal(judge_api(ServedJudge("accuracy_judged", "0", reply)), listener, None)
"""


def test_an_unexpected_error_of_a_served_judge_leaves_the_connection_open() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        connection = HTTPConnection("127.0.0.1", int(process.stdout.readline()), timeout=10)
        try:
            for content, status in (("bad", 500), ("good", 200)):
                body = {"model": "accuracy_judged", "messages": [{"role": "user", "content": content}]}
                connection.request("POST", "/v1/chat/completions", json.dumps(body))
                answer = connection.getresponse()
                answer.read()
                assert answer.status == status
                assert not select([connection.sock], [], [], 0.2)[0]  # the end of the connection would be readable
        finally:
            connection.close()
            process.terminate()
