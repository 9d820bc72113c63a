"""The process that reads documents, one job after the other, until its input ends.

Started by ``reader_process`` with a limit of memory; whatever a file does to it, the process that
started it goes on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from proofstone.engines.ingest.confinement import confine
from proofstone.engines.ingest.messages import (
    Answer,
    Finished,
    Job,
    Reading,
    Refused,
    receive,
    send,
)
from proofstone.engines.ingest.reading import OpenFiles, read_job
from proofstone.errors import BadInput, ProofstoneError

__all__ = ["main"]


def main() -> int:
    """Serves jobs from stdin; the answers go to what was stdout when it started."""
    confine(int(sys.argv[1]) if len(sys.argv) > 1 else 2**31)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    jobs = msgspec.msgpack.Decoder(Job)
    with OpenFiles() as files:
        while (body := receive(sys.stdin.buffer)) is not None:
            for answer in _answers(jobs.decode(body), files, answers):
                send(answers, answer)
    return 0


def _answers(job: Job, files: OpenFiles, stream: BinaryIO) -> Iterator[Answer]:
    try:
        yield from read_job(job, files, lambda number: send(stream, Reading(number)))
    except BadInput as error:
        places = tuple((problem.where, problem.what) for problem in error.problems)
        yield Refused(message=error.message, hint=error.hint, problems=places)
    except ProofstoneError as error:
        yield Refused(message=error.message, hint=error.hint, code=error.code)
    except MemoryError:
        files.close()
        yield Refused(message=f"{os.path.basename(job.path)} needs more memory than is allowed.")  # noqa: PTH119
    else:
        yield Finished()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
