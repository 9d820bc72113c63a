"""Short texts in nearly the same words are found where they are as alike as was asked for."""

from __future__ import annotations

import pytest

from proofstone.search.near_duplicates import near_duplicates

RUN = 5  # characters of what is compared


def signs(n: int) -> str:
    """A text with ``n`` different runs."""
    return "".join(chr(0x4E00 + place) for place in range(n + RUN - 1))


@pytest.mark.parametrize(("share", "of"), [(55, 100), (14, 25), (28, 50), (7, 10), (35, 50)])
def test_a_pair_that_is_just_so_alike_is_found(share: int, of: int) -> None:
    """``share`` of ``of`` runs are shared, though 0.55 * 100 is more than 55 to a machine."""
    whole, part = signs(of), signs(share)
    assert near_duplicates([whole, part], share / of) == {1: 0}
    assert near_duplicates([part, whole], share / of) == {1: 0}


def test_a_pair_that_is_less_alike_stays() -> None:
    assert near_duplicates([signs(100), signs(54)], 0.55) == {}
