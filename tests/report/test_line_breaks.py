"""Names broken over lines: all of the text is kept, numbers stay whole, and no line is blank."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.page.text import broken, cell_width

WORDS = st.text(alphabet="ab0123456789 /_=?&,:;.@->", max_size=80)


@given(text=WORDS, width=st.integers(4, 40))
@settings(max_examples=300)
def test_all_of_a_text_is_kept_in_lines_that_fit(text: str, width: int) -> None:
    lines = broken(text, width).split("\n")
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_width(line) <= width for line in lines)
    assert text.strip() == "" or "" not in lines


def test_a_number_is_not_broken_at_its_point() -> None:
    assert (
        broken("sim/knows?ability=0.9; 1,000 items", 20) == "sim/knows?ability=\n0.9; 1,000 items"
    )
    assert broken("-> a/rather/long/name?of=0.95", 12) == "-> a/rather/\nlong/name?\nof=0.95"
