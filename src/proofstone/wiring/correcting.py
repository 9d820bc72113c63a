"""Correcting: what people rule, retire and restore, as a part of a workspace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proofstone.engines.store import Store
from proofstone.ports import Clock
from proofstone.records import Person, Placement, Verdict
from proofstone.stages.acting import acting_person, find_person
from proofstone.wiring.actor import acting_name
from proofstone.wiring.targets import Target, find_target

if TYPE_CHECKING:
    from proofstone.stages.editing import Edited
    from proofstone.stages.following import Followed
    from proofstone.stages.retiring import Standing
    from proofstone.stages.ruling import Ruled
    from proofstone.stages.work_list import Action, Applied

__all__ = ["Correcting"]


class Correcting:
    """Corrections of what a workspace's ``store`` holds: rows that name what they correct.

    ``by`` is the name of the person who corrects, or the first digits of their actor id; without
    it, PROOFSTONE_ACTOR or else the name of this login. Rows hold a random actor id alone.
    """

    store: Store
    clock: Clock

    def rule(
        self, responses: str | Sequence[str], verdict: Verdict, *, reason: str, by: str = ""
    ) -> list[Ruled]:
        """Rules on stored replies, named RUN/ITEM/SAMPLE; nobody is asked."""
        from proofstone.stages.ruling import rule  # noqa: PLC0415

        texts = [responses] if isinstance(responses, str) else responses
        who = partial(self.person, by)
        return rule(self.store, texts, verdict, reason=reason, who=who, clock=self.clock)

    def edit(
        self,
        target: Target,
        changes: Mapping[str, Any],
        *,
        reason: str,
        by: str = "",
        forms: Sequence[Target] = (),
    ) -> Edited:
        """Makes a new version of an item or fact with these fields changed, and of ``forms`` (else
        of all that hold it): only those items differ, and the old forms stay."""
        from proofstone.stages.editing import edit  # noqa: PLC0415

        found = find_target(self.store, target, ("item", "fact"))
        chosen = [find_target(self.store, form, ("form",)) for form in forms]
        who = partial(self.person, by)
        return edit(
            self.store, found, changes, reason=reason, who=who, clock=self.clock, forms=chosen
        )

    def follow_placements(self, bank: Target, *, reason: str, by: str = "") -> Followed:
        """Makes a corrected bank whose facts stand where their sources were placed since; forms
        stay as they are."""
        from proofstone.stages.following import follow_placements  # noqa: PLC0415

        found = find_target(self.store, bank, ("bank",))
        who = partial(self.person, by)
        return follow_placements(self.store, found, reason=reason, who=who, clock=self.clock)

    def fields_of(self, target: Target) -> dict[str, Any]:
        """What of an item, fact or source can be edited, with its present values."""
        from proofstone.stages.editing import fields_of  # noqa: PLC0415
        from proofstone.stages.placed_by_hand import levels_of  # noqa: PLC0415

        found = find_target(self.store, target, ("item", "fact", "source"))
        return (
            levels_of(self.store, found) if found.kind == "source" else fields_of(self.store, found)
        )

    def place(
        self, source: Target, changes: Mapping[str, Any], *, reason: str, by: str = ""
    ) -> Placement:
        """Places a source in the taxonomy: levels by name; those left out stay. What is built of
        it afterwards stands there."""
        from proofstone.stages.placed_by_hand import place_by_hand  # noqa: PLC0415

        found = find_target(self.store, source, ("source",))
        who = partial(self.person, by)
        return place_by_hand(self.store, found, changes, reason=reason, who=who, clock=self.clock)

    def retire(self, target: Target, *, reason: str, by: str = "") -> Standing:
        """Leaves an item, or all items that rest on a fact, out of leaderboards."""
        from proofstone.stages.retiring import retire  # noqa: PLC0415

        found = find_target(self.store, target, ("item", "fact"))
        who = partial(self.person, by)
        return retire(self.store, found, reason=reason, who=who, clock=self.clock)

    def run_forms(self, names: Iterable[str]) -> list[str]:
        """Those of these forms that something was run on, each once: of the others there is no
        leaderboard yet."""
        found = {name: find_target(self.store, name, ("form",)).id for name in names}
        run = {run.item_set for _key, run in self.store.runs.of_sets(list(found.values()))}
        return [name for name, identity in found.items() if identity in run]

    def run_again(self, form: Target) -> list[str]:
        """The options of ``run`` by which a corrected form is asked as the version before it was,
        one a way of asking. Empty where that was never run."""
        from proofstone.stages.corrected import run_again  # noqa: PLC0415

        return run_again(self.store, find_target(self.store, form, ("form",)).id)

    def restore(self, target: Target, *, reason: str, by: str = "") -> Standing:
        """Takes a retired item or fact in again."""
        from proofstone.stages.retiring import restore  # noqa: PLC0415

        found = find_target(self.store, target, ("item", "fact"))
        who = partial(self.person, by)
        return restore(self.store, found, reason=reason, who=who, clock=self.clock)

    def apply_work_list(
        self, path: Path | str, action: Action, *, reason: str = "", by: str = ""
    ) -> Applied:
        """Carries out what people decided in a work list, of one kind: "retire", "edit" or "rule".

        ``reason`` stands for rows that say none. Checked whole: with any problem nothing is done.
        Applied again, what was carried out is passed over.
        """
        from proofstone.stages import work_list  # noqa: PLC0415

        apply = {
            "retire": work_list.apply_retirements,
            "edit": work_list.apply_edits,
            "rule": work_list.apply_rulings,
        }[action]
        who = partial(self.person, by)
        return apply(self.store, Path(path), reason=reason, who=who, clock=self.clock)

    def person(self, by: str = "") -> Person:
        """Who acts: known here, or added under a new random actor id."""
        return acting_person(self.store, acting_name(by), self.clock)

    def erase_person(self, name: str) -> Person:
        """Deletes a person's name and details; the rows keep the random actor id. Returns who it
        was. Raises NotFound where nobody is known so."""
        person = find_person(self.store, name)
        self.store.people.erase(person.actor)
        return person
