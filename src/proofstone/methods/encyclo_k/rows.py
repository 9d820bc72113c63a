"""The files that Encyclo-K reads and writes: statements, and questions made elsewhere.

Names after a bar are read as well; columns that are not named here are ignored. A missing
column, null and an empty text are the same. What has no type here is text.

Statements, one a row:

- ``text`` | ``statement`` | ``content``, and ``correct`` | ``is_correct`` | ``label`` (true,
  false, correct, incorrect, 1, 0) are required.
- ``id``: the file's own key, text or a whole number, once in the file.
- ``title``: the knowledge point.
- ``origin`` of a falsified statement: the id of the correct one in this file, or the content id
  (64 hexadecimal digits) of one elsewhere; ``error_type`` (error_types.ERROR_TYPES, in
  any usual spelling of English or Chinese); ``reason`` | ``incorrect_reason``.
- ``language``: a code such as en or zh, ``und`` for none. Where it is missing it is guessed, once
  for all such rows of a book.
- ``discipline``, ``field``, ``subfield`` | ``category`` | ``subject``, ``book`` | ``book_name``.
- ``page`` | ``page_location`` (text or a whole number), ``source`` (its title), ``licence`` |
  ``license``, and more of the source (``source_columns.SourceColumns``).
- ``written_by``, ``falsified_by``, ``checked_by``, ``filtered_by``, ``judged_by``: models, as a
  list, the JSON text of one, or with commas between them.
- ``passage`` and ``corrects``: content ids, as an export has them; ``corrects`` may be an id of
  this file.

Questions, one a row:

- ``question``; ``options`` | ``choices`` (a list of 2 to 26 texts, the JSON text of one, or an
  object by letter) or columns A, B, C, ...
- ``answer`` | ``gold``: a letter, a place counted from 0, or an option's text, as long as that
  can mean one option only; ``answer_letter`` and ``answer_index`` (from 0) say it exactly.
- In place of both, ``statement`` and an ``answer`` of true or false: one statement to be judged.
- ``id`` | ``question_id`` | ``uuid``, once in the file; ``language`` (guessed for all such rows
  together) and the levels of the taxonomy as above; ``number`` and ``corrects`` as an export has
  them.

The export of a composed question adds, to be read by people and programs and not by
``read_items``: ``asked`` (correct, incorrect), ``template`` and ``wording`` (their numbers),
``statements``, ``statements_correct`` and ``statement_ids`` in the order shown. A single
statement is exported as ``statement`` and ``answer``, with its ``reason`` and ``statement_id``.
"""

from __future__ import annotations

from proofstone.method import ComparedQuestion, JudgedText, Reviewing
from proofstone.methods.encyclo_k.extraction.rows import Claim, Draft
from proofstone.methods.encyclo_k.review import review_text
from proofstone.records.reviews import ReviewText

# Which questions to judges people are asked too, and what their verdicts amount to there.
#
# ``standing`` and the review of formats ask whether a statement can stand as it is: one that people
# would fix or drop counts as leaning. ``support`` is asked of the passage, truth of the world: a
# true statement that its passage does not support is a disagreement here, and rightly looked at.


def _drafted(row: Draft) -> JudgedText:
    text = ReviewText(text=row.text, field="text", claim="true", key_field="correct")
    return JudgedText(text, row.ground.passage, row.ground.source)


def _falsified(row: Claim) -> JudgedText | None:
    if row.false is None:
        return None
    ground, false = row.draft.ground, row.false
    text = ReviewText(
        text=false.text, field="text", claim="false", key_field="correct", because=false.reason
    )
    return JudgedText(text, ground.passage, ground.source)


_COMPARED = {
    "standing": ComparedQuestion(
        task="format",
        labels=("stands", "leans"),
        people={"keep": "stands", "fix": "leans", "drop": "leans"},
        takes=Draft,
        judged=_drafted,
    ),
    "support": ComparedQuestion(
        task="truth",
        labels=("supported", "unsupported"),
        people={"true": "supported", "false": "unsupported"},
        takes=Draft,
        judged=_drafted,
    ),
    "falsity": ComparedQuestion(
        task="truth",
        labels=("false", "true", "open"),
        people={"false": "false", "true": "true"},
        takes=Claim,
        judged=_falsified,
    ),
    "reason": ComparedQuestion(
        task="reason",
        labels=("fits", "misses"),
        people={"fits": "fits", "misses": "misses"},
        takes=Claim,
        judged=_falsified,
    ),
}


REVIEWING = Reviewing(review_text=review_text, compared=_COMPARED)
