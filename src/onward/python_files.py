"""Classes from Python files of a user: ``path/to/file.py:Name``."""

import hashlib
import importlib.util
import sys
import traceback
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from onward.errors import FileImportError, OnwardError, unknown


@dataclass(frozen=True)
class FileClass:
    """A class in a Python file.

    Parameters
    ----------
    path
        The file.
    name
        What the class is called in it.
    """

    path: Path
    name: str

    @cached_property
    def digest(self) -> str:
        """A hash of the whole file: a class may use anything that stands beside it."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    def load(self) -> Any:
        """Import the file, and return what has this name in it."""
        module = _imported(self.path)
        if not hasattr(module, self.name):
            known = [key for key, value in vars(module).items() if isinstance(value, type)]
            kind, file = f"class in {self.path}", f"the file {self.path}"
            raise unknown(kind, self.name, known or ["(no class)"], file)
        return getattr(module, self.name)


def file_class(argument: str, option: str) -> FileClass:
    """Return the class that an argument ``path/to/file.py:Name`` of an option names.

    Examples
    --------
    >>> file_class("net.py", "--model")
    Traceback (most recent call last):
    onward.errors.OnwardError: expected a class of a file, found 'net.py' alone. Write \
net.py:ClassName
    """
    if argument.endswith(".py"):
        raise OnwardError(
            f"expected a class of a file, found {argument!r} alone. Write {argument}:ClassName"
        )
    before, _, name = argument.rpartition(":")
    path = Path(before).expanduser()
    if not path.is_file():
        raise OnwardError(
            f"expected a Python file before the colon, found none at {path}. "
            f"Write {option} path/to/file.py:Name"
        )
    return FileClass(path, name)


def _imported(path: Path) -> ModuleType:
    name = f"onward_user_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise OnwardError(f"expected a Python file, found {path}, which Python cannot import")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # As for a script: what lies beside the file can be imported.
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever it is, the file is to be fixed
        where = f"{path}, line {_line(error, spec.origin)}"
        raise FileImportError(
            f"{where}, cannot be imported: {type(error).__name__}: {error}"
        ) from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _line(error: BaseException, file: str | None) -> int | None:
    """Return the last line of a file that an error came through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((at.lineno for at in reversed(frames) if at.filename == file), None)
