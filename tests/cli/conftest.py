import pytest
from terminal import Terminal


@pytest.fixture
def onward(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    monkeypatch.setenv("COLUMNS", "200")
    return Terminal(monkeypatch, capsys)
