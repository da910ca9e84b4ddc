"""What CLEAR's tables share: which run a cell is, on the emoji edition or an official download."""

import functools
import importlib.util
from dataclasses import replace
from pathlib import Path

from onward.data.clear_features import feature_types
from onward.data.clear_listing import IMAGES, list_clear
from onward.reproduce.table import Caveats, Column, Missing, PaperTable, Row, Run

CITATION = "Lin et al., The CLEAR Benchmark, NeurIPS 2021 Datasets and Benchmarks"
EMOJI = "emoji"
# What the published numbers were measured on.
EDITION = "CLEAR10"
ON_MOCO = f"{EDITION}, linear on MoCo-YFCC features"
# Feature types of the official downloads, as the supplement heads its columns.
FEATURES = {
    "CLIP": "clip",
    "Pretrain-ImgNet": "imagenet",
    "MoCo-ImgNet": "moco_imagenet",
    "BYOL-ImgNet": "byol_imagenet",
    "MoCo-YFCC": "moco_b0",
}
_MAIN_FEATURES = "moco_b0"
_FOLDS = 5
# CPU seconds of a run. cpu: measured on the emoji edition. paper: CLEAR10's size, 10 buckets of
# 2,310 (iid) samples; a linear layer on 2,048 features measured on made-up ones, the others
# extrapolated from their multiply-accumulates.
LINEAR = {"cpu": 1.3, "paper": 16.0}
CUMULATIVE = {"cpu": 2.5, "paper": 80.0}
MLP = {"cpu": 33.0, "paper": 1400.0}
MLP_CUMULATIVE = {"cpu": 130.0, "paper": 7700.0}
RESNET18 = {"cpu": 110.0, "paper": 100_000.0}
CAVEATS = Caveats(
    data={
        EMOJI: (
            "Other data: drawings of emoji in seven dated releases and nine groups, with hand-made "
            "features (gradients and colours) where the paper has MoCo features of photos. Compare "
            "orders and signs, not levels.",
            "Streaming holds out one identity in five by seed, since the same concept returns in "
            "every release; the paper learns and tests all of a bucket.",
        )
    },
    recipe={
        "cpu": (
            "Recipe cpu: 30 epochs on features instead of 100; ResNet-18 on small images for few "
            "epochs, with EWC's Fisher information and A-GEM's reference on some samples.",
        )
    },
)


def run(row: Row, column: Column, data: str, recipe: str) -> Run | Missing:
    """Say which run a cell is, or why this data has none."""
    model = row.load.get("model", "linear")
    features = column.load.get("features", _MAIN_FEATURES)
    lacking = _lacking(model, features, data)
    if lacking is not None:
        return Missing(lacking)
    load = dict(row.load)
    if model != "resnet18" and data != EMOJI:
        load["features"] = features
    # Five seeds of streaming share one deal of the emoji's identities, into five folds. With every
    # fifth seed, repetition n deals as iid's does: the fifth that streaming tests is part of the
    # 30 % that iid tests, and a claim that compares the two compares like with like.
    shared = data == EMOJI and column.protocol == "streaming"
    found = row.run(column, data, recipe, "clear", load)
    return replace(found, seed_step=_FOLDS if shared else 1)


def _lacking(model: str, features: str, data: str) -> str | None:
    if model == "resnet18" and importlib.util.find_spec("torchvision") is None:
        return "ResNet-18 needs torchvision: pip install 'onward[vision]'"
    if data == EMOJI:
        if model != "resnet18" and features != _MAIN_FEATURES:
            return "the emoji edition has one kind of features, which stands in for MoCo-YFCC"
        return None
    if not Path(data).expanduser().is_dir():
        return None  # what is wrong with the data is said when it is loaded
    kinds, images = _offered(Path(data).expanduser())
    if model == "resnet18":
        return None if images else "the download has no images, which ResNet-18 learns from"
    return None if features in kinds else f"the download has no {features} features"


@functools.cache
def _offered(folder: Path) -> tuple[list[str], bool]:
    """Return the types of features that a download has, and whether it has images."""
    listing = list_clear(folder)
    images = all((part / IMAGES).is_dir() for part in listing.parts.values())
    return feature_types(listing), images


clear_table = functools.partial(
    PaperTable, package="onward.configs.clear.values", run=run, caveats=CAVEATS
)
