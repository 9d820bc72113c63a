"""The taxonomies of Encyclo-K and KINA as data: counts add up to what the papers print."""

from __future__ import annotations

from collections import Counter

from proofstone.ingest.taxonomy import bundled_names, bundled_taxonomy
from proofstone.records.knowledge import Taxonomy


def total(taxonomy: Taxonomy, counted: str) -> int:
    return sum(node.counts[counted] for node in taxonomy.below())


def test_both_are_carried() -> None:
    assert bundled_names() == ("encyclo-k", "kina")


def test_encyclo_ks_counts_are_those_of_tables_1_and_2() -> None:
    """11 disciplines; 21,525 correct and 21,494 incorrect statements; 5,038 questions."""
    taxonomy = bundled_taxonomy("encyclo-k")
    assert len(taxonomy.below()) == 11
    assert total(taxonomy, "statements") == 21_525 + 21_494
    assert total(taxonomy, "questions") == 5038
    science, engineering = taxonomy.below()[:2]
    assert science.counts["statements"] + engineering.counts["statements"] == 18_092  # 3.2.1


def test_encyclo_ks_fields_and_subfields_are_44_and_62() -> None:
    """Table 1's own sums; section 3.1.1 says 43 subfields."""
    below = [node.stated for node in bundled_taxonomy("encyclo-k").below()]
    assert sum(stated["fields"] for stated in below) == 44
    assert sum(stated["subfields"] for stated in below) == 62


def test_kinas_levels_are_12_70_and_261_with_899_items() -> None:
    taxonomy = bundled_taxonomy("kina")
    assert Counter(len(node.path) for node in taxonomy.nodes) == {1: 12, 2: 70, 3: 261}
    assert total(taxonomy, "items") == 899


def test_kinas_disciplines_have_the_counts_that_its_leaderboard_rests_on() -> None:
    """ALL of Table 3 is the mean over disciplines weighted by these (recomputed)."""
    counts = {node.name: node.counts["items"] for node in bundled_taxonomy("kina").below()}
    assert counts == {
        "Agronomy": 40, "Economics": 34, "Education": 31, "Engineering": 308, "History": 13,
        "Law": 65, "Literature and Arts": 65, "Management": 29, "Medicine": 81, "Philosophy": 13,
        "Science": 201, "Sociology": 19,
    }  # fmt: skip


def test_what_kina_misprints_is_mended_and_noted() -> None:
    """Tables 8 and 9 print 891 items; Geochemistry's 8 are missing."""
    taxonomy = bundled_taxonomy("kina")
    by_path = {node.path: node.counts["items"] for node in taxonomy.nodes}
    assert by_path["Science", "Geology", "Geochemistry"] == 899 - 891
    assert ("Science", "Chemistry", "Radiochemistry") in by_path
    assert any("Geochemistry" in note for note in taxonomy.notes)
    assert any("Radiochemistry" in note for note in taxonomy.notes)
