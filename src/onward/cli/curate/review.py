"""``onward curate review``: people say what they see."""

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from onward.cli.console import console, print_json
from onward.cli.options import AsJson
from onward.curate.review.formats import Format


def review(
    retrieved: Annotated[
        Path | None,
        typer.Argument(help="A folder of onward curate retrieve; not needed once OUT is there."),
    ] = None,
    *,
    out: Annotated[Path, typer.Option(help="The folder of the campaign.")],
    images: Annotated[
        Path | None,
        typer.Option(help="A folder of images or tar shards; not needed once OUT is there."),
    ] = None,
    votes: Annotated[
        int | None, typer.Option(min=1, help="Annotators per image; 3 by default.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="A CSV (id, labels) of images with a known answer.")
    ] = None,
    gold_share: Annotated[
        float | None, typer.Option(help="How many questions are gold; 0.05 by default.")
    ] = None,
    repeat_share: Annotated[
        float | None, typer.Option(help="How many images are shown again; 0.02 by default.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Decides the order of images; 0 by default.")
    ] = None,
    invite: Annotated[
        list[str] | None,
        typer.Option(help="Print a personal link, once; an earlier one ends. May be repeated."),
    ] = None,
    revoke: Annotated[
        list[str] | None,
        typer.Option(help="Shut somebody out; their votes no longer count. May be repeated."),
    ] = None,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Ask no new questions, or go on.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Add the votes of a file.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(help="Write the votes that count to a file.")
    ] = None,
    format_: Annotated[
        Format | None, typer.Option("--format", help="Of these files; by their ending otherwise.")
    ] = None,
    host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen.")] = 8123,
    address: Annotated[
        str | None, typer.Option(help="What people open, such as https://review.example.org.")
    ] = None,
    no_serve: Annotated[bool, typer.Option("--no-serve", help="Do the rest, and end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask people what they see in each candidate, on a page that Onward serves.

    The campaign is made of all candidates if OUT is not there, then served on this machine alone,
    unless --host says otherwise. The owner's link is printed at each start; personal links are
    printed by --invite. Whatever else is asked for is done before, and also while another process
    serves the same campaign, with --no-serve. Every vote that was acknowledged is on disk.
    """
    from onward.curate.review.campaign import open_campaign
    from onward.curate.review.dashboard import counts
    from onward.curate.review.exchange import export_votes, import_file
    from onward.curate.review.making import campaign_for
    from onward.curate.review.people import invite as let_in
    from onward.curate.review.people import revoke as shut_out
    from onward.curate.review.serving import address_of, is_local, listening, need_server, serve

    screen = console()
    given = {"votes": votes, "gold_share": gold_share, "repeat_share": repeat_share, "seed": seed}
    campaign_for(retrieved, images, out, given, gold)
    sock = None
    if not no_serve:
        need_server()
        sock = listening(host, port)
        port = sock.getsockname()[1]
    opened = address_of(host, port, address) if invite or sock else ""
    told: dict[str, Any] = {"links": {}, "revoked": {}}
    with open_campaign(out) as campaign, campaign.writing():
        for name in invite or ():
            told["links"][name] = f"{opened}/join/{let_in(campaign, name)}"
        for name in revoke or ():
            told["revoked"][name] = shut_out(campaign, name)
        if pause is not None:
            campaign.set("paused", pause)
    if import_ is not None:
        told["imported"] = import_file(out, import_, format_)
    if export is not None:
        told["exported"] = {"votes": export_votes(out, export, format_), "file": str(export)}
    with open_campaign(out) as campaign:
        told |= counts(campaign)
    if not as_json:
        _tell(screen, out, told)
    if sock is None:
        if as_json:
            print_json(told)
        return

    def ready(owner: str) -> None:
        if not is_local(host):
            typer.echo(
                f"mind: {host} can be reached by others, and what is sent can be read on the way: "
                "use HTTPS in front of it on a network that is not yours",
                err=as_json,
            )
        if as_json:
            print_json({**told, "address": opened, "owner": owner})
        else:
            screen.print(f"the owner's page: {escape(owner)}", soft_wrap=True)
            screen.print(f"serving at {escape(opened)}, until Ctrl-C", soft_wrap=True)
        screen.file.flush()

    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        serve(out, sock, opened, ready)


def _tell(screen: Any, out: Path, told: dict[str, Any]) -> None:
    share = told["votes"] / told["wanted"]
    screen.print(
        f"{escape(str(out))}: {told['votes']:,} of {told['wanted']:,} votes ({share:.0%}) on "
        f"{told['items']:,} images, {told['complete']:,} of them complete"
        f"{', paused' if told['paused'] else ''}",
        soft_wrap=True,
    )
    for name, number in told["revoked"].items():
        screen.print(f"{escape(name)} is shut out: {number:,} votes no longer count")
    for name, link in told["links"].items():
        screen.print(f"for {escape(name)}, not shown again: {escape(link)}", soft_wrap=True)
    if "imported" in told:
        found = told["imported"]
        screen.print(
            f"imported {found['new']:,} of {found['read']:,} votes ({found['counted']:,} count, "
            f"{found['known']:,} were there, {found['not_in_campaign']:,} for images that are not "
            "in the campaign)",
            soft_wrap=True,
        )
    if "exported" in told:
        found = told["exported"]
        screen.print(f"{found['votes']:,} votes: {escape(found['file'])}", soft_wrap=True)
