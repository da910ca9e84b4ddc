"""Which data IIRC is made of: recognised in a folder, read, and described."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from onward.benchmarks.iirc_stream import Plan, numbers_of, require_known
from onward.benchmarks.parts import folder_of
from onward.data.cifar import cifar_folder, read_cifar
from onward.data.emoji_history import with_features, with_images
from onward.data.iirc_emoji import emoji_hierarchy, load_iirc_emoji
from onward.data.iirc_hierarchy import read_hierarchy
from onward.data.iirc_official import official_classes, official_orders
from onward.data.iirc_orders import require_order
from onward.data.iirc_split import CIFAR, IMAGENET
from onward.data.image_classes import has_image_classes, read_image_classes
from onward.errors import OnwardError, unknown
from onward.table import images_as_inputs
from onward.types import Card, Table

IMAGE = "image"
_CITATION = "Abdelsalam et al., IIRC: Incremental Implicitly-Refined Classification, CVPR 2021"
_CHOICES = {"edition": ("full", "lite"), "order": ("released", "sorted"), "features": (IMAGE,)}
_BELONGS = {
    "edition": "imagenet",
    "order": "imagenet",
    "size": "imagenet",
    "subgroups": "emoji",
    "features": "emoji",
}
# The emoji edition: 31 classes in ten periods.
_FIRST, _EACH = 4, 3
_SIZE = 224


def is_iirc(folder: Path) -> bool:
    """Whether a folder holds images that IIRC can be made of."""
    return has_image_classes(folder) or cifar_folder(folder) is not None


def recognised(data: str) -> tuple[str, Path | None]:
    """Say which data it is (``emoji``, ``cifar`` or ``imagenet``), and where it lies."""
    if data == "emoji":
        return "emoji", None
    root = folder_of("iirc", data)
    if not root.is_dir():
        raise OnwardError(f"expected a folder with data of iirc, found none at {root}")
    if has_image_classes(root):
        return "imagenet", root
    cifar = cifar_folder(root)
    if cifar is not None:
        return "cifar", cifar
    raise OnwardError(
        f"expected cifar-100-python, or train and val with images by class, in {root}, found "
        "neither. Unpack the data there, see docs/benchmarks/iirc_guide.md"
    )


def require_own(kind: str, given: Mapping[str, Any]) -> None:
    """Raise if an option belongs to other data, or two of them contradict each other."""
    for name, value in given.items():
        if _BELONGS.get(name, kind) != kind:
            raise OnwardError(
                f"expected no {name} with {kind}: it is an option of {_BELONGS[name]}. Leave it out"
            )
        if name in _CHOICES and value not in _CHOICES[name]:
            raise unknown(name, str(value), _CHOICES[name], "docs/benchmarks/iirc_guide.md")
    if kind == "emoji" and ("hierarchy" in given or "incremental" in given):
        raise OnwardError("expected the emoji edition with its own hierarchy, found another one")
    if "hierarchy" in given and ("incremental" in given or "edition" in given):
        raise OnwardError(
            "expected a hierarchy of your own without edition and incremental, which choose among "
            "the released ones"
        )


def planned(kind: str, given: Mapping[str, Any]) -> Plan:
    """Return what a stream is cut by, as the options say."""
    shares = IMAGENET if kind == "imagenet" else CIFAR
    shares = replace(shares, validation=given.get("validation", shares.validation))
    asked = {n: given[n] for n in ("configuration", "subclasses_only", "judge") if n in given}
    if "hierarchy" in given:
        own, order = read_hierarchy(Path(given["hierarchy"]).expanduser())
        if order is not None:
            require_order(order, own)
        return Plan(own, shares, (order,) if order else (), **asked)
    if kind == "emoji":
        classes = emoji_hierarchy(given.get("subgroups", "chosen"))
        return Plan(classes, shares, first=_FIRST, each=_EACH, **asked)
    incremental = given.get("incremental", False)
    orders = official_orders(kind, edition=given.get("edition", "full"), incremental=incremental)
    return Plan(official_classes(kind, incremental=incremental), shares, orders, **asked)


def read(kind: str, folder: Path | None, plan: Plan, given: Mapping[str, Any]) -> Table:
    """Read the samples."""
    if folder is None:
        return load_iirc_emoji(given.get("subgroups", "chosen"))
    if kind == "cifar":
        table = read_cifar(folder)
        require_known(table, plan.classes)
        return table
    # The released code lists the classes without a superclass first.
    alone = [name for name, up in plan.classes.parent.items() if up is None]
    listed = [*alone, *(name for name, up in plan.classes.parent.items() if up is not None)]
    if "hierarchy" in given:
        _require_all_folders(folder / "train", listed)
    order, size = given.get("order", "released"), given.get("size", _SIZE)
    return read_image_classes(folder, listed, order=order, size=size)


def _require_all_folders(folder: Path, listed: list[str]) -> None:
    """Raise if a hierarchy of a user's own leaves classes out: that is hardly meant."""
    others = sorted({path.name for path in folder.iterdir() if path.is_dir()} - set(listed))
    if others:
        raise OnwardError(
            f"expected every class of {folder} in the hierarchy, found {others[0]!r} and "
            f"{len(others) - 1} more that are not. List them in other_sub_classes, or move them "
            "away"
        )


def preparing(kind: str, given: Mapping[str, Any]) -> Callable[[Table], Table]:
    """Return what gives samples their input: features of emoji, or pixels."""
    if kind != "emoji":
        return images_as_inputs
    return with_images if given.get("features") == IMAGE else _features


def _features(table: Table) -> Table:
    """Features on the scale of 2016, which is in no period, and not divided by their width."""
    return with_features(table, divide=False)


def described(kind: str, summary: str, table: Table, plan: Plan) -> Card:
    """Return the card."""
    titles = {"emoji": "IIRC, emoji edition", "cifar": "IIRC-CIFAR", "imagenet": "IIRC-ImageNet"}
    licences = {"emoji": "art Apache-2.0 (Noto)", "cifar": "CIFAR-100's", "imagenet": "the images'"}
    return Card(
        title=titles[kind],
        summary=summary,
        licence=f"{licences[kind]}; released hierarchies and orders of classes MIT (IIRC)",
        citation=_CITATION,
        numbers=numbers_of(table, plan),
        pictures=("pooled", "confusion"),
    )
