"""A run that is killed again and again ends with the bytes of one that was left in peace."""

import itertools
import random
import subprocess
import sys
import time
from pathlib import Path

import killable
import pytest


def _start(out: Path, trace: Path, checkpoint_seconds: float) -> "subprocess.Popen[bytes]":
    script = [sys.executable, killable.__file__, str(out), str(trace), str(checkpoint_seconds)]
    return subprocess.Popen(script)


def _steps(trace: Path) -> list[tuple[float, int]]:
    content = trace.read_bytes() if trace.exists() else b""
    whole = len(content) // killable.RECORD.size * killable.RECORD.size
    return list(killable.RECORD.iter_unpack(content[:whole]))


def _files(out: Path) -> dict[str, bytes]:
    (run,) = out.glob("clear/er/*")
    names = ["scores.jsonl", *(f"predictions/{i:03d}.parquet" for i in range(7))]
    return {name: (run / name).read_bytes() for name in names}


def _kill_and_resume(tmp_path: Path, kills: int, checkpoint_seconds: float) -> list[int]:
    """Return how many steps were done again after each kill."""
    peace, out = tmp_path / "peace", tmp_path / "killed"
    assert _start(peace, tmp_path / "peace.trace", checkpoint_seconds).wait() == 0
    whole = [step for _, step in _steps(tmp_path / "peace.trace")]
    assert whole == list(range(len(whole)))
    rng = random.Random(0)
    sessions = []
    for number in itertools.count():
        trace = tmp_path / f"{number}.trace"
        process = _start(out, trace, checkpoint_seconds)
        if number < kills:
            # The moment is drawn in steps of work, so that kills fall anywhere in the run.
            reach = rng.randrange(1, 2 * len(whole) // (kills + 1))
            while process.poll() is None and len(_steps(trace)) < reach:
                time.sleep(0.002)
            process.kill()
        if process.wait() == 0:
            sessions.append(_steps(trace))
            break
        sessions.append(_steps(trace))
    assert _files(out) == _files(peace)
    redone = []
    for before, after in itertools.pairwise(session for session in sessions if session):
        again = [moment for moment, step in before if step >= after[0][1]]
        seconds = before[-1][0] - again[0] if again else 0.0
        print(f"killed in step {before[-1][1]}: {len(again)} steps done again ({seconds:.3f} s)")
        redone.append(len(again))
    print(
        f"{len(redone)} kills of a run of {len(whole)} steps, a checkpoint every "
        f"{checkpoint_seconds:g} s: the same bytes"
    )
    return redone


@pytest.mark.slow
def test_with_a_checkpoint_at_every_step_a_kill_costs_one_step(tmp_path: Path) -> None:
    redone = _kill_and_resume(tmp_path, kills=2, checkpoint_seconds=0)
    assert redone
    assert max(redone) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("checkpoint_seconds", [0.0, 0.03])
def test_twenty_kills(tmp_path: Path, checkpoint_seconds: float) -> None:
    redone = _kill_and_resume(tmp_path, kills=20, checkpoint_seconds=checkpoint_seconds)
    assert len(redone) >= 15
    if checkpoint_seconds == 0:
        assert max(redone) <= 1
