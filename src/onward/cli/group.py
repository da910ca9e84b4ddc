"""Groups of commands, each of which is imported when somebody asks for it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup


@dataclass(frozen=True)
class Group:
    """Commands that belong together.

    Parameters
    ----------
    words
        What they are for.
    commands
        Where each is, by its name: ``module.function`` below this package, or a further group.
    """

    words: str
    commands: "Mapping[str, str | Group]"


def typer_app(group: Group, callback: Callable[..., None]) -> typer.Typer:
    """Return a group as an application; ``callback`` has the options that stand before a command.

    All commands together take a second to import, most of them a fraction of it.
    """

    class OnDemand(TyperGroup):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            self.commands = _Commands(group.commands)  # type: ignore[assignment]

        def list_commands(self, ctx: Any) -> list[str]:
            return list(self.commands)

    return typer.Typer(
        help=group.words,
        cls=OnDemand,
        callback=callback,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


class _Commands(Mapping[str, Any]):
    """Commands by name, made when they are looked up."""

    def __init__(self, places: Mapping[str, str | Group]) -> None:
        self._places = places

    def __getitem__(self, name: str) -> Any:
        place = self._places[name]
        if isinstance(place, Group):
            command: Any = typer.main.get_group(typer_app(place, _no_options))
            command.name = name
            return command
        module, _, function = place.rpartition(".")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(getattr(import_module(f"{__package__}.{module}"), function))
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _no_options() -> None:
    pass
