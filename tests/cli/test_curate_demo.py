"""``onward curate demo``, as it is typed."""

from pathlib import Path

from terminal import Terminal


def test_the_help_says_what_it_does(onward: Terminal) -> None:
    code, out, _ = onward("curate", "demo", "--help")
    assert code == 0
    for word in ("--out", "--seed", "--json", "goes on where it stopped"):
        assert word in " ".join(out.split())


def test_a_folder_of_something_else_is_left_alone(onward: Terminal, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = onward("curate", "demo", "--out", tmp_path)
    assert code == 2
    assert "onward curate demo, found other files" in " ".join(err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
