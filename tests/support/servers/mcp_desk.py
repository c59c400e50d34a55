"""A small MCP server, made with the package mcp; a process of it serves stdio, or HTTP on loopback."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent

__all__ = ["desk", "main"]

CALLS: list[str] = []


def opening(place: str, day: int = 1) -> str:
    """Return when a place opens."""
    CALLS.append(place)
    return f"{place} opens at {day + 8}:00"


def pages() -> list[dict[str, str]]:
    return [{"id": "d1", "title": "Algiers", "text": "Algiers is a film."}, {"id": "d2", "text": "Rome is old."}]


def facts() -> dict[str, Any]:
    return {"open": True, "seats": 12}


def as_text(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def refuse(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=why)], is_error=True)


def fail() -> str:
    raise ValueError("broken")


def count() -> int:
    CALLS.append("count")
    return len(CALLS)


def wait(seconds: float) -> str:
    time.sleep(seconds)
    return "waited"


def process() -> int:
    return os.getpid()


def end() -> str:
    sys.stderr.write("the desk is on fire\n")
    sys.stderr.flush()
    os._exit(3)


def desk(*more: Any) -> MCPServer:
    """Return a server with tools that work, fail, wait, count, and end the server."""
    server = MCPServer("desk", log_level="CRITICAL")
    for tool in (opening, pages, facts, as_text, refuse, fail, count, wait, process, end, *more):
        server.add_tool(tool)
    return server


def serve(folder: Path) -> None:
    """Serve over HTTP; the folder's file ``port`` has the port; a status in its file ``status`` is the only reply."""
    import uvicorn

    app = desk().streamable_http_app()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not (folder / "status").exists():
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": int((folder / "status").read_text()), "headers": []})
        await send({"type": "http.response.body", "body": b""})

    port = folder / "port"
    listening = socket.create_server(("127.0.0.1", int(port.read_text()) if port.exists() else 0))
    port.write_text(str(listening.getsockname()[1]), encoding="utf-8")
    config = uvicorn.Config(answer, log_level="critical", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


def main() -> None:
    """Note the process in the file ``RAGEVAL_DESK``; serve over stdio, or over HTTP if an argument names a folder."""
    if path := os.environ.get("RAGEVAL_DESK"):
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(f"{os.getpid()}\n")
    if sys.argv[1:]:
        serve(Path(sys.argv[1]))
    else:
        desk().run("stdio")


if __name__ == "__main__":
    main()
