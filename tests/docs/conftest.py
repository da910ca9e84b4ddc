from pathlib import Path

import pytest
from reader import Reader
from terminal import Terminal

from onward.data.cache import cache_folder


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Reader:
    here, home = tmp_path / "here", tmp_path / "home"
    here.mkdir()
    home.mkdir()
    monkeypatch.setenv("ONWARD_CACHE", str(cache_folder()))
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COLUMNS", "100")
    return Reader(here, home, Terminal(monkeypatch, capsys))
