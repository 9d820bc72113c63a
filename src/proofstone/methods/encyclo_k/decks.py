"""Dealing: statements of a group from shuffled decks, so that a form uses all about equally often.

The cards of a polarity are dealt round by round: none comes a second time before all came once.
A card that may not stand in the question at hand (its origin is there already) waits in front of
its deck for the next question. Decks depend on the seed and their group alone.
"""

from __future__ import annotations

from collections.abc import Callable

from proofstone.draws import Draws
from proofstone.methods.encyclo_k.groups import Group

__all__ = ["Dealer"]


class Dealer:
    """Deals a group's statements, named by their places in ``Group.ids``.

    The group must have passed ``usable_groups`` for the recipe whose questions are dealt; then
    every hand can be made.
    """

    def __init__(self, group: Group, seed: int) -> None:
        name = "\x1f".join([*group.key.path, group.key.language])
        correct = range(group.n_correct)
        false = range(group.n_correct, len(group.ids))
        self._correct = _Deck(correct, seed, f"correct statements of {name}")
        self._false = _Deck(false, seed, f"incorrect statements of {name}")
        self._origins = group.origins
        self._origin_of = group.origins.__getitem__
        self._false_origins = {group.origins[card] for card in false}

    def deal(self, n_correct: int, n_false: int) -> list[int]:
        """A hand of statements of different origin, the correct ones first."""
        hand = self._correct.take(n_correct) + self._false.take(n_false)
        if len(set(map(self._origin_of, hand))) == len(hand):
            return hand
        self._correct.put_back(n_correct)
        self._false.put_back(n_false)
        return self._deal_apart(n_correct, n_false)

    def _deal_apart(self, n_correct: int, n_false: int) -> list[int]:
        """The same card by card. Correct cards leave enough origins for the false ones, which are
        dealt after them."""
        origins, false_origins = self._origins, self._false_origins
        dealt: set[int] = set()
        spare = len(false_origins) - n_false

        def correct_fits(card: int) -> bool:
            nonlocal spare
            origin = origins[card]
            if origin in dealt or (origin in false_origins and not spare):
                return False
            spare -= origin in false_origins
            dealt.add(origin)
            return True

        def false_fits(card: int) -> bool:
            if origins[card] in dealt:
                return False
            dealt.add(origins[card])
            return True

        correct = self._correct.pick(n_correct, correct_fits)
        return correct + self._false.pick(n_false, false_fits)


class _Deck:
    """Cards in the order in which they will be dealt; further shuffled rounds follow for ever."""

    __slots__ = ("_all", "_cards", "_next", "_purpose", "_round", "_seed")

    def __init__(self, cards: range, seed: int, purpose: str) -> None:
        self._all = cards
        self._seed = seed
        self._purpose = purpose
        self._round = 0
        self._cards: list[int] = []
        self._next = 0

    def take(self, count: int) -> list[int]:
        """The next ``count`` cards."""
        start = self._next
        self._next = end = start + count
        while len(self._cards) < end:
            self._cards = self._cards[start:] + self._shuffled_round()
            start, self._next = 0, count
            end = count
        return self._cards[start:end]

    def put_back(self, count: int) -> None:
        """Undoes the last ``take``, of ``count`` cards."""
        self._next -= count

    def pick(self, count: int, fits: Callable[[int], bool]) -> list[int]:
        """The next ``count`` cards that fit; those passed over go back to the front."""
        picked: list[int] = []
        passed: list[int] = []
        while len(picked) < count:
            (card,) = self.take(1)
            (picked if fits(card) else passed).append(card)
        if passed:
            self._cards = passed + self._cards[self._next :]
            self._next = 0
        return picked

    def _shuffled_round(self) -> list[int]:
        fresh = Draws(self._seed, self._round, self._purpose).shuffled(self._all)
        self._round += 1
        return fresh
