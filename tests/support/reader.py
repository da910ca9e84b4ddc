"""Somebody who does what a page says."""

import contextlib
import doctest
import io
import json
import re
import shlex
import tomllib
import warnings
from pathlib import Path
from typing import Any

from blocks import Block
from given import lay_out
from terminal import Terminal


class Reader:
    """Does what a page says, block by block, in a folder of its own."""

    def __init__(self, here: Path, home: Path, terminal: Terminal) -> None:
        self._here, self._home, self._terminal = here, home, terminal
        self._names: dict[str, Any] = {"__name__": "page"}
        self._printed = ""

    def follow(self, block: Block) -> None:
        lay_out(block.said.get("given", ""), self._here, self._home)
        if "file" in block.said:
            (self._here / block.said["file"]).write_text(block.text)
        if "output" in block.said:
            self._compare(block)
        elif block.language == "sh":
            for command in block.commands:
                self._type(command, int(block.said.get("exit code", 0)), str(block))
        elif block.language == "python":
            self._run(block)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)

    def _type(self, command: str, expected: int, where: str) -> None:
        words = shlex.split(command)
        assert words[0] == "onward", f"{where}: nobody runs {command!r}; say why: not run: …"
        words = [str(self._home / word[2:]) if word[:2] == "~/" else word for word in words[1:]]
        with warnings.catch_warnings():
            # As in a terminal: a learner's warning is no error there.
            warnings.simplefilter("default")
            code, out, err = self._terminal(*words)
        assert code == expected, f"{where}: {command}\n{out}\n{err}"
        self._printed = out

    def _run(self, block: Block) -> None:
        if ">>>" not in block.text:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, str(block), "exec"), self._names)
            return
        test = doctest.DocTestParser().get_doctest(block.text, self._names, str(block), None, 0)
        told: list[str] = []
        failed, _ = doctest.DocTestRunner(verbose=False).run(
            test, out=told.append, clear_globs=False
        )
        self._names.update(test.globs)
        assert not failed, "".join(told)

    def _compare(self, block: Block) -> None:
        """Find every line in what was printed, whatever its numbers are."""
        printed = {_shape(line) for line in self._printed.split("\n")}
        missing = [line for line in block.text.split("\n") if line and _shape(line) not in printed]
        assert not missing, f"{block}: not printed any more:\n" + "\n".join(missing)


def _shape(line: str) -> str:
    """Return a line without its numbers, and without the lines that are drawn of them."""
    return " ".join(re.sub(r"[▁-█]+", "", re.sub(r"\d+(?:[.,]\d+)*", "0", line)).split())
