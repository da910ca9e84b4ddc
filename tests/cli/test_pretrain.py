import json
import sys
from pathlib import Path

import pytest

from onward.cli import main


def onward(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str | Path
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["onward", *map(str, words)])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    code = end.value.code
    return (code if isinstance(code, int) else 0), out, err


def test_weights_are_written_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    weights = tmp_path / "weights"
    words = (
        "pretrain",
        "clear",
        "--training",
        "epochs=1",
        "--training",
        "image_size=8",
        "--out",
        weights,
    )
    hardware = ("--device", "cpu", "--workers", "2", "--threads", "1", "--precision", "fp32")
    code, out, _ = onward(monkeypatch, capsys, *words, *hardware)
    assert (code, "small on 1266 images (emoji of 2016-06-17)" in out) == (0, True)
    card = json.loads((weights / "card.json").read_text())
    assert (card["recipe"]["epochs"], card["recipe"]["image_size"], len(card["loss_by_epoch"])) == (
        1,
        8,
        1,
    )
    code, out, _ = onward(monkeypatch, capsys, *words)
    assert (code, "complete already: not trained again" in out) == (0, True)
    code, _, err = onward(monkeypatch, capsys, *words, "--seed", "1")
    assert (code, "expected weights of this seed" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("claer",), "Did you mean 'clear'?"),
        (("clear", "--recipe", "papr"), "Did you mean 'paper'?"),
        (("clear", "--data", "emojis"), "Did you mean 'emoji'?"),
        (("clear", "--training", "epoch=1"), "Did you mean 'epochs'?"),
        (("clear", "--training", "encoder=resnet19"), "Did you mean 'resnet18'?"),
        (("clear", "--training", "optimizer=adamv"), "Did you mean 'adam"),
        (("clear", "--precision", "fp8"), "expected precision as one of fp32, bf16, fp16"),
        (("clear", "--precision", "bf16", "--training", "precision=bf16"), "expected one value of"),
        (("clear", "--device", "gpu"), "expected the name of a device, such as cuda:0"),
        (("clear", "--device", "cpu", "--precision", "fp16"), "precision fp32 or bf16 on a CPU"),
    ],
)
def test_mistakes_end_with_a_message(
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    code, _, err = onward(monkeypatch, capsys, "pretrain", *words, "--out", tmp_path)
    assert (code, message in err) == (2, True)
    assert not list(tmp_path.iterdir())
