"""Commands, typed as a person does."""

import sys
from pathlib import Path

import pytest

from onward.cli import main


class Terminal:
    """Types commands and reads what comes back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: str | Path) -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", ["onward", *map(str, words)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capsys.readouterr()
        code = end.value.code
        return (code if isinstance(code, int) else 0), out, err
