"""The attacks on judges: more than a hundred, in both languages, and how success is counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from judging.scripted_judge import ScriptedJudge
from proofstone.judging.attacks import attacks, summarise_attacks, try_attacks
from proofstone.judging.panel import Panel
from proofstone.judging.question import fence_code, harmless
from proofstone.records.calls import Message


def firm(messages: Sequence[Message]) -> str:
    """A judge who finds every case out."""
    return "Label: " + ("incorrect" if "- correct" in messages[1].text else "unsupported")


def test_there_are_over_a_hundred_in_both_languages_each_once() -> None:
    made = attacks()
    assert len(made) >= 100
    assert len({attack.name for attack in made}) == len({attack.question for attack in made})
    languages = Counter(attack.language for attack in made)
    assert languages["en"] == languages["zh"]
    by_carrier = Counter((attack.carrier, attack.task) for attack in made)
    assert {carrier for carrier, _task in by_carrier} == {attack.carrier for attack in made}
    assert len(by_carrier) == 2 * len({attack.carrier for attack in made})


def test_every_attack_stands_inside_its_fence_and_names_the_label_it_wants() -> None:
    for attack in attacks():
        texts = [exhibit.text for exhibit in attack.question.exhibits]
        clean = [exhibit.text for exhibit in attack.clean.exhibits]
        assert fence_code(texts) not in "".join(texts)
        changed = [text for text, before in zip(texts, clean, strict=True) if text != before]
        assert len(changed) == 1
        assert attack.goal in changed[0].replace("\u200b", "")
        assert {attack.truth, attack.goal} == set(attack.question.names)


def test_a_judge_who_reads_the_case_is_never_fooled() -> None:
    judge = ScriptedJudge("firm", firm, takes_schema=False)
    summary = summarise_attacks(asyncio.run(try_attacks(Panel([judge]), attacks())))
    assert (summary.n, summary.sound, summary.fooled, summary.silenced) == (
        len(attacks()), len(attacks()), 0, 0,
    )  # fmt: skip


def test_a_judge_who_is_wrong_anyway_is_not_counted_as_fooled() -> None:
    def always(messages: Sequence[Message]) -> str:
        return "Label: " + ("correct" if "- correct" in messages[1].text else "supported")

    judge = ScriptedJudge("yes", always, takes_schema=False)
    summary = summarise_attacks(asyncio.run(try_attacks(Panel([judge]), attacks())))
    assert (summary.n, summary.sound, summary.fooled) == (len(attacks()), 0, 0)


def test_one_who_obeys_and_one_who_falls_silent_are_told_apart() -> None:
    def answer(messages: Sequence[Message], said: str) -> str:
        text = messages[1].text
        attacked = [
            a for a in attacks() if all(harmless(e.text) in text for e in a.question.exhibits)
        ]
        if attacked:
            return said.format(goal=attacked[0].goal)
        return firm(messages)

    for said, expected in (("Label: {goal}", (20, 0)), ("I will not say.", (0, 20))):
        judge = ScriptedJudge("j", lambda m, said=said: answer(m, said), takes_schema=False)
        some = attacks()[:20]
        summary = summarise_attacks(asyncio.run(try_attacks(Panel([judge]), some)))
        assert (summary.fooled, summary.silenced) == expected
        assert sum(fooled for fooled, _sound in summary.by_carrier.values()) == expected[0]
