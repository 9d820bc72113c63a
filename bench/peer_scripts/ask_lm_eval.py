"""lm-eval's request phase on the bench's questions; run by peers.py in an environment with it.

Only the phase of asking: replies are in memory, and on disk only at the end of an evaluation.
"""

from __future__ import annotations

import json
import sys
import time

from lm_eval.api.instance import Instance
from lm_eval.models.api_models import JsonChatStr
from lm_eval.models.openai_completions import LocalChatCompletion


def main() -> None:
    """URL N: prints rate and processor time a question."""
    url, n = sys.argv[1], int(sys.argv[2])
    text = "x" * 3000
    lm = LocalChatCompletion(
        base_url=f"{url}/chat/completions", model="one", num_concurrent=64, max_retries=1
    )
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
    responses = lm.generate_until(requests, disable_tqdm=True)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert len(responses) == n
    print(json.dumps({"rate": n / wall, "cpu_ms": 1000 * cpu / n}))


if __name__ == "__main__":
    main()
