"""Run lm-eval's request phase on the bench's questions; peers.py runs this script with lm-eval.

Responses stay in memory; lm-eval writes them at the end of an evaluation only.
"""

from __future__ import annotations

import json
import sys
import time

from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.openai_completions import LocalChatCompletion


def main() -> None:
    """Print status, number of answered questions, rate and processor time (arguments: URL N
    MODEL)."""
    url, n, model = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    text = "x" * 3000
    lm = LocalChatCompletion(base_url=f"{url}/chat/completions", model=model, num_concurrent=64)
    settings = {"max_gen_toks": 512, "until": []}
    requests = [
        Instance(
            request_type="generate_until",
            doc={},
            arguments=(
                JsonChatStr(json.dumps([{"role": "user", "content": f"{i} {text}"}])),
                settings,
            ),
            idx=i,
        )
        for i in range(n)
    ]
    wall, cpu = time.perf_counter(), time.process_time()
    responses, why = [], ""
    try:
        responses = lm.generate_until(requests, disable_tqdm=True)
    except Exception as error:  # noqa: BLE001 - any of its errors ends the evaluation, nothing kept
        why = repr(error)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    figures = {"finished": len(responses) == n, "answered": sum(map(bool, responses))}
    figures |= {"why": why[:200], "rate": n / wall, "cpu_ms": 1000 * cpu / n}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
