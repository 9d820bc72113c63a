"""A stand-in for ``local_child``: the same first line, and a server that dies when it is told to.

``python fake_child.py STARTS [HOW]``: a line is added to the file STARTS at each start, and a file
STARTS.gone is made when stdin closes. HOW is ``serve`` (default), ``silent`` (no address ever),
``crash``, ``babble``, ``no-runner`` or ``deaf`` (does not end when its stdin closes).
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

KEY = "key-of-the-fake-child"
BOTH = threading.Barrier(2)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != f"Bearer {KEY}":
            return self.answer(401, {"error": {"message": "Invalid API Key", "code": 401}})
        text = body["messages"][-1]["content"]
        if text == "die":
            die("assertion failed in the middle of things")
        if text == "die together":
            BOTH.wait()
            die("ran out of memory")
        said = json.dumps({name: body[name] for name in sorted(body) if name != "messages"})
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return self.answer(200, {"model": body["model"], "choices": [choice]})

    def answer(self, status: int, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def die(words: str) -> None:
    sys.stderr.write(f"{sys.argv[0]}: {words}\n")
    sys.stderr.flush()
    os._exit(7)


def say(**fields: str) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def main(starts: str, how: str = "serve") -> None:
    with Path(starts).open("a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    if how == "crash":
        die("this machine is too old")
    if how == "babble":
        sys.stdout.write("Hello!\n")
        sys.stdout.flush()
    elif how == "no-runner":
        say(error="no-runner", detail="no module")
    elif how != "silent":
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        say(address=f"http://127.0.0.1:{server.server_port}", key=KEY)
    sys.stdin.read()
    Path(f"{starts}.gone").touch()
    if how == "deaf":
        time.sleep(60)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
