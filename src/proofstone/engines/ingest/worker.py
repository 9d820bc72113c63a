"""The process that reads documents, one job after the other, until its input ends.

Started by ``reader_process`` with a limit of memory; whatever a file does to it, the process that
started it goes on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import BinaryIO

from proofstone.engines.ingest.confinement import confine
from proofstone.engines.ingest.documents import readable_name
from proofstone.engines.ingest.messages import (
    Answer,
    Finished,
    Job,
    Reading,
    Refused,
    decode_job,
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
    with OpenFiles() as files:
        while (body := receive(sys.stdin.buffer)) is not None:
            for answer in _answers(decode_job(body), files, answers):
                send(answers, answer)
    return 0


def _answers(job: Job, files: OpenFiles, stream: BinaryIO) -> Iterator[Answer]:
    name = os.path.basename(job.path)  # noqa: PTH119

    def shown(text: str) -> str:
        """What names the file, whatever bytes its name has."""
        return "\n".join(map(readable_name, text.replace(name, readable_name(name)).split("\n")))

    try:
        yield from read_job(job, files, lambda number: send(stream, Reading(number)))
    except BadInput as error:
        places = tuple((shown(problem.where), shown(problem.what)) for problem in error.problems)
        yield Refused(message=shown(error.message), hint=shown(error.hint), problems=places)
    except ProofstoneError as error:
        yield Refused(message=shown(error.message), hint=shown(error.hint), code=error.code)
    except MemoryError:
        files.close()
        yield Refused(message=f"{readable_name(name)} needs more memory than is allowed.")
    else:
        yield Finished()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
