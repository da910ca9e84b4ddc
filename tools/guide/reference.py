"""Pages of the command line and of the public names, from typer and from docstrings."""

import inspect
from types import ModuleType
from typing import Any

import typer.main

import onward
from guide import docstring
from guide.writing import block, doctest_block, page, section, table
from onward import types
from onward.cli import app


def command_page() -> dict[str, str]:
    """Return the page of all commands."""
    command: Any = typer.main.get_command(app)
    parts = [_command(["onward", name], it) for name, it in command.commands.items()]
    whole = page(
        "# Command line",
        "Every command is a thin call of a public function. A mistake of yours ends with one "
        "message and exit code 2; after Ctrl-C or a kill the same command goes on where it "
        "stopped.",
        *parts,
    )
    return {"reference/cli.md": whole}


def python_page() -> dict[str, str]:
    """Return the page of all public names."""
    public = [_public(onward, name) for name in onward.__all__]
    contract = [_public(types, name) for name in types.__all__]
    whole = page(
        "# Python",
        f"`import onward` has {len(onward.__all__)} names, which are loaded when they are first "
        "used. What a learner or a benchmark of yours has to do with are the types below them.",
        table(
            ["name", "what it is"],
            [[f"[`onward.{n}`](#{n.lower()})", _first(getattr(onward, n))] for n in onward.__all__],
        ),
        section("onward", *public),
        section("onward.types", *docstring.read(types).body, *contract),
    )
    return {"reference/python.md": whole}


def _command(path: list[str], command: Any) -> str:
    doc = inspect.cleandoc(command.help or "")
    if hasattr(command, "commands"):
        parts = [_command([*path, name], it) for name, it in command.commands.items()]
        return page(section(" ".join(path), doc), *parts)
    words = [p for p in command.params if p.param_type_name == "argument"]
    flags = [p for p in command.params if p.param_type_name == "option" and "--help" not in p.opts]
    usage = " ".join([*path, *(_word(p) for p in words), "[OPTIONS]"])
    rows = [[f"`{_word(p)}`", p.help or "", ""] for p in words]
    rows += [[_flag(p), p.help or "", _default(p)] for p in flags]
    return section(
        " ".join(path), doc, block("text", usage), table(["", "what it is", "default"], rows)
    )


def _word(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("{}").upper()
    return name if argument.required else f"[{name}]"


def _flag(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    return names + (" (required)" if option.required else "")


def _default(option: Any) -> str:
    default = option.default
    if option.required or default in (None, False, (), []) or callable(default):
        return ""
    return f"`{getattr(default, 'value', default)}`"


def _public(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    if isinstance(thing, ModuleType):
        return _names_of(name, thing)
    if not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return ""
    doc = docstring.read(thing)
    return section(
        f"`{name}`",
        block("text", f"{name}{_signature(thing)}"),
        doc.summary,
        *doc.body,
        table(["name", "what it is"], ([f"`{name}`", text] for name, text in doc.parameters)),
        doctest_block(module, doc.example),
        level=3,
    )


def _names_of(name: str, module: ModuleType) -> str:
    doc = docstring.read(module)
    listed = getattr(module, "__all__", [])
    rows = [[f"`onward.{name}.{n}`", _first(getattr(module, n))] for n in listed]
    return section(f"`{name}`", doc.summary, table(["name", "what it is"], rows), level=3)


def _signature(thing: Any) -> str:
    """Return the names that a call takes; their types stand in the code."""
    parameters = inspect.signature(thing).parameters.values()
    return f"({', '.join(_argument(p) for p in parameters if p.name[0] != '_')})"


def _argument(parameter: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    name = stars.get(parameter.kind, "") + parameter.name
    if parameter.default is inspect.Parameter.empty:
        return name
    default = repr(parameter.default)
    return f"{name}={default}" if len(default) < 20 and "<" not in default else f"{name}=…"


def _first(thing: Any) -> str:
    return docstring.read(thing).summary if getattr(thing, "__doc__", None) else ""
