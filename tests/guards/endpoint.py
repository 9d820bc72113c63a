"""An endpoint of models that reply by plain rules, the same to the same request.

``author`` takes statements from passages and falsifies them, ``solver`` answers short questions,
``talker`` says triples of a town, ``judge`` gives labels; whoever is asked a question with options
answers A.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from zlib import crc32

__all__ = ["endpoint", "triples_said"]

_BLOCK = re.compile(r"\[([^|\]]+) \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
_SAID = ("Finder-{n}", "I believe that it was Finder-{n}.", "It was Nobody-{n}.", "I do not know.")
# The label that a judge gives, by one that it may choose from; of the others the first.
_USUAL = {
    "stands": "stands", "supported": "supported", "false": "false", "fits": "fits",
    "consistent": "consistent",
}  # fmt: skip


def triples_said(town: str) -> list[dict[str, str]]:
    """Five facts of a town: three right, one wrong, one that nobody wrote of."""
    said = [(f"fact{n}", f"value {town[-1]}-{n}") for n in range(3)]
    said += [("fact3", "another value"), ("rumour", "a tale")]
    return [{"subject": town, "predicate": name, "object": value} for name, value in said]


def _response(request: dict[str, Any]) -> str:
    texts = [message["content"] for message in request["messages"]]
    blocks = [text for _name, text in _BLOCK.findall(texts[-1])]
    labels = re.findall(r"^- (\w[\w ]*):", texts[-1], re.MULTILINE)
    if "one entity" in texts[0]:
        return json.dumps(triples_said(texts[-1].partition("\n")[0]))
    if "Take from the passage" in texts[-1]:
        return json.dumps({"statements": _statements(blocks[0])})
    if "Make a false statement" in texts[-1]:
        return json.dumps(_perturbed(blocks[0]))
    if labels and blocks:
        return _labelled(request, _label(labels, blocks))
    number = re.search(r"number (\d+)", texts[-1])
    if number:
        return _SAID[int(number[1]) % len(_SAID)].format(n=number[1])
    return "Answer: A"


def _statements(passage: str) -> list[dict[str, str]]:
    texts = [text.strip() for text in re.findall(r"[^.]+[.]", passage)]
    return [{"title": text.split()[0], "text": text} for text in texts]


def _perturbed(text: str) -> dict[str, str]:
    return {
        "analysis": "what it does", "error_type": "detail falsification",
        "statement": text.replace("conducts", "insulates"), "reason": "It conducts.",
    }  # fmt: skip


def _label(labels: Sequence[str], blocks: Sequence[str]) -> str:
    if "CORRECT" in labels:
        shown = blocks[-1]
        if "do not know" in shown:
            return "NOT_ATTEMPTED"
        return "INCORRECT" if "Nobody" in shown else "CORRECT"
    if "entailment" in labels:
        return labels[crc32(blocks[1].encode()) % len(labels)]
    return next((_USUAL[label] for label in labels if label in _USUAL), labels[0])


def _labelled(request: dict[str, Any], label: str) -> str:
    cited = "passage 1" if "passage 1" in request["messages"][-1]["content"] else "none"
    if "response_format" in request:
        return json.dumps({"reason": "as it stands", "rests_on": cited, "label": label})
    return f"It is so.\nLabel: {label}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = _response(request)
        n_prompt = sum(len(message["content"]) for message in request["messages"]) // 4
        tokens = {"prompt_tokens": n_prompt, "completion_tokens": len(text) // 4 + 1}
        message = {"role": "assistant", "content": text}
        self._send(
            {
                "object": "chat.completion",
                "model": request["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {**tokens, "total_tokens": sum(tokens.values())},
            }
        )

    def do_GET(self) -> None:
        names = ("author", "judge", "solver", "talker")
        self._send({"object": "list", "data": [{"id": name, "object": "model"} for name in names]})

    def _send(self, body: object) -> None:
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Nothing: what commands print is compared."""


@contextmanager
def endpoint() -> Iterator[str]:
    """The address, while it lasts, of a proxy behind which every host is the endpoint."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
