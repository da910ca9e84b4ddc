"""Output of a run of several processes: rank 0 prints, or the process that fails."""

import contextlib
import errno
import os
import signal
import sys
import traceback
from collections.abc import Iterator

import typer
from rich.console import Console

from onward import distributed
from onward.errors import OnwardError

_SHARED = ("run", "reproduce")


@contextlib.contextmanager
def one_voice(command: str | None) -> Iterator[None]:
    """End with one message and the exit code of an `OnwardError`, whoever notices it.

    Not every command can be shared out among processes.
    """
    try:
        if distributed.world_size() == 1:
            yield
            return
    except OnwardError as error:
        _say(error)
        sys.exit(error.exit_code)
    except MemoryError as error:
        _say(
            OnwardError(
                f"expected the data and the model to fit in memory, found that they do not "
                f"({error or 'out of memory'}). Free memory, or choose smaller images or a smaller "
                "model"
            )
        )
        sys.exit(2)
    except RuntimeError as error:
        if "home directory" not in str(error):
            raise
        # What pathlib says of ~somebody, whom this machine does not know.
        _say(OnwardError("expected a path, found one with a ~ of somebody unknown. Spell it out"))
        sys.exit(2)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        # What is left in the buffer would be tried again at the end.
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        _say(OnwardError("expected room for the answer, found a full disk. Make room, or redirect"))
        sys.exit(2)
    aloud = sys.stderr
    signal.signal(signal.SIGTERM, lambda number, frame: _end(128 + number))
    try:
        with contextlib.ExitStack() as stack:
            if not distributed.is_main_process():
                silence = stack.enter_context(open(os.devnull, "w"))  # noqa: PTH123
                stack.enter_context(contextlib.redirect_stdout(silence))
                stack.enter_context(contextlib.redirect_stderr(silence))
            if command not in _SHARED:
                raise OnwardError(
                    f"expected one of {', '.join(_SHARED)} to share out among processes, found "
                    f"{command}. Run it in one process, without torchrun"
                )
            yield
    except SystemExit as end:
        if end.code:
            _end(end.code if isinstance(end.code, int) else 1)
        distributed.shut_down()
        raise
    except OnwardError as error:
        if distributed.first_to_fail():
            with contextlib.redirect_stderr(aloud):
                _say(error)
        _end(error.exit_code)
    except Exception as error:  # noqa: BLE001 (it is shown as it is, once)
        if distributed.first_to_fail():
            traceback.print_exc(file=aloud)
            where = f"process {distributed.rank()} of {distributed.world_size()}"
            run = "; ".join([where, *getattr(error, "__notes__", ())])
            print(f"onward: {run}: {type(error).__name__}: {error}", file=aloud)
        _end(1)


def _end(code: int) -> None:
    """End this process at once: others may wait for it in a collective, and it must not for them.

    Run folders are whole at any time.
    """
    for stream in (sys.stdout, sys.stderr, sys.__stderr__):
        if stream is not None:
            stream.flush()
    os._exit(code)


def only_once() -> None:
    """End the command here in all processes but the first, which goes on to report."""
    if not distributed.is_main_process():
        raise typer.Exit


def _say(error: OnwardError) -> None:
    plain = str(error).replace("[", r"\[")
    Console(stderr=True).print(f"[bold red]onward:[/] {plain}", soft_wrap=True)
