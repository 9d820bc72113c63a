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

from proofstone.methods.encyclo_k.question_rows import read_items, recognises, write_item
from proofstone.methods.encyclo_k.statement_rows import read_facts, write_fact

__all__ = ["read_facts", "read_items", "recognises", "write_fact", "write_item"]
