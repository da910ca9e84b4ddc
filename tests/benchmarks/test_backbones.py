"""Features that a pre-trained encoder reads take the place of all others."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from clear_miniature import write_new

import onward
from onward.benchmarks import Source
from onward.checks import check_stream
from onward.data.past import Past
from onward.errors import OnwardError
from onward.hardware import Hardware
from onward.train.moco import CPU
from onward.train.pretrain import pretrain


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Untrained ones: what they are good for is not asked here."""
    out = tmp_path_factory.mktemp("weights")
    images = np.zeros((4, 16, 16, 3), np.uint8)
    pretrain(Past(images, "nothing", "nothing"), replace(CPU, image_size=16, epochs=0), 0, out)
    return str(out)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.slow
def test_emoji_read_by_a_backbone(weights: str) -> None:
    benchmark = onward.load("clear", backbone="moco", weights=weights)
    (key,) = benchmark.options.values()
    assert key.startswith("moco-")
    inputs = benchmark.table.wide["input"]
    assert inputs.shape == (len(benchmark.raw), 1792)
    # On the scale of the unlabelled first snapshot.
    first = inputs[np.flatnonzero(benchmark.raw.values("snapshot") == 0)]
    assert np.abs(first.mean(0)).max() < 0.2 / np.sqrt(1792)
    record = onward.run(benchmark, "finetune", seed=0)
    assert onward.metrics.clear.next_domain(record.matrix()) > 0.35


@pytest.mark.slow
def test_nothing_is_prepared_from_the_future(weights: str) -> None:
    assert check_stream(onward.load("clear", backbone="moco", weights=weights)).ok


def test_official_images_read_by_a_backbone(weights: str, tmp_path: Path) -> None:
    folder = write_new(tmp_path / "clear", image_only=True)
    benchmark = onward.load("clear", data=str(folder), backbone="moco", weights=weights)
    inputs = benchmark.table.wide["input"]
    assert inputs.shape == (len(benchmark.raw), 1792)
    assert (inputs[np.arange(9)] >= 0).all()  # as they are: after the last rectifier
    assert benchmark.recipes["cpu"].lr == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backbone": "moko", "weights": "w"}, "Did you mean 'moco'"),
        ({"backbone": "moco"}, "expected the weights of the backbone moco"),
        ({"weights": "w"}, "or name a --backbone that they are for"),
        ({"backbone": "moco", "weights": "w", "size": 32}, "expected no features, size"),
        ({"backbone": "moco", "weights": "nowhere"}, "onward pretrain clear --out nowhere"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(OnwardError, match=message):
        onward.load("clear", **options)  # type: ignore[arg-type]


def test_any_number_of_workers_gives_the_same_features(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_new(tmp_path / "clear", image_only=True)
    monkeypatch.setattr("onward.train.loading._BATCH_SIZE", 2)
    monkeypatch.setattr("onward.data.extracted._SHARD", 5)
    found = []
    for workers in (0, 2):
        monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / f"cache {workers}"))
        benchmark = onward.load(
            "clear", data=str(folder), backbone="moco", weights=weights, workers=workers
        )
        found.append(np.asarray(benchmark.table.wide["input"]))
    np.testing.assert_array_equal(*found)
    assert len(found[0]) > 10


def test_features_are_computed_on_the_device_of_the_benchmark(
    weights: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_new(tmp_path / "clear", image_only=True)
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    asked: list[str] = []

    def resolve_device(name: str) -> torch.device:
        asked.append(name)
        return torch.device("cpu")

    for module in ("onward.models.device", "onward.train.loading"):
        monkeypatch.setattr(f"{module}.resolve_device", resolve_device)
    options = {"backbone": "moco", "weights": weights}
    assert onward.load("clear", data=str(folder), device="cuda:1", **options).table
    source = Source("clear", str(folder), options=options, hardware=Hardware("mps", 0, 2))
    made = source.load()
    assert made.hardware == source.hardware
    assert made.table
    assert list(dict.fromkeys(asked)) == ["cuda:1", "mps"]
