import json
from pathlib import Path

import numpy as np
import pytest
from coloured_clip import write_coloured_clip
from curated_miniature import write_pictures, write_pool, write_vectors
from terminal import Terminal


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_coloured_clip(tmp_path_factory.mktemp("weights") / "clip.pt")


def test_from_images_to_a_page(onward: Terminal, weights: Path, tmp_path: Path) -> None:
    pool = write_pool(tmp_path / "pool", 8, {0: ["gone"]}).folder
    images = write_pictures(tmp_path / "images", 8)
    (images / "0" / "broken.jpg").write_bytes(b"")
    store, found, page = (tmp_path / name for name in ("store", "found", "page"))
    model = ("--model", "clip_small", "--weights", weights)
    words = ("curate", "embed", "--images", images, "--pool", pool, *model, "--out", store)
    code, out, err = onward(*words, "--device", "cpu", "--workers", "2", "--threads", "1")
    assert (code, err) == (0, "")
    assert "48 embeddings of 128 numbers in 2 shards" in out
    assert "1 of no use: no bytes" in out
    assert "1 of the pool that have no direction here" in out
    code, _, err = onward(*words)
    assert code == 0
    assert "already there" in err
    code, out, _ = onward(*words, "--json")
    assert json.loads(out)["buckets"] == {"0": 24, "1": 24}

    concepts = tmp_path / "concepts.json"
    colours = ("red", "green", "blue")
    listed = [{"name": one, "prompts": [f"a {one} square."]} for one in colours]
    concepts.write_text(json.dumps({"concepts": listed}))
    asked = ("curate", "retrieve", store, "--concepts", concepts, "--top", "5", "--background", "2")
    # The same weights, named in another way.
    code, out, err = onward(*asked, "--model", weights, "--out", found)
    assert (code, err) == (0, "")
    assert "30 candidates and 12 of background from 48 images in 2 buckets; 0 removed" in out
    code, out, _ = onward(*asked, "--model", weights, "--out", found, "--json")
    assert json.loads(out)["short"] == []
    code, out, _ = onward(
        *asked, *model, "--sub-queries", "--skip-bucket", "0", "--json", "--out", tmp_path / "other"
    )
    assert json.loads(out)["buckets"] == 1
    code, out, err = onward(*asked, "--model", "clip_small", "--out", tmp_path / "wrong")
    assert code == 2
    assert "expected the model that the store was made with" in " ".join(err.split())

    code, out, err = onward("curate", "preview", found, "--images", images, "--out", page)
    assert (code, err) == (0, "")
    assert "42 images" in out
    text = (page / "index.html").read_text()
    assert "not there" not in text
    assert text.count("<img ") == 42
    # What was found is right: ids begin with the colour.
    assert text.count('alt="rank 1, red_') == 2


def test_vectors_that_are_there_and_queries_that_are_there(
    onward: Terminal, tmp_path: Path
) -> None:
    held = write_vectors(tmp_path / "v.npy", 40, 6)
    (tmp_path / "names.txt").write_text("\n".join(f"n{row}" for row in range(40)))
    store = tmp_path / "store"
    words = ("curate", "embed", "--embeddings", tmp_path / "v.npy", "--out", store)
    code, _, err = onward(*words)
    assert code == 2
    assert "--ids FILE" in " ".join(err.split())
    code, out, _ = onward(*words, "--ids", tmp_path / "names.txt", "--json")
    assert (code, json.loads(out)["embedded"]) == (0, 40)
    np.save(tmp_path / "q.npy", held[[7, 3]])
    concepts = tmp_path / "c.json"
    concepts.write_text('{"concepts": [{"name": "seven"}, {"name": "three"}]}')
    queries = ("--concepts", concepts, "--queries", tmp_path / "q.npy", "--top", "1")
    code, out, _ = onward("curate", "retrieve", store, *queries, "--out", tmp_path / "found")
    assert code == 0
    assert "2 candidates and 38 of background" in out
    # A plain file of anybody, without ids or buckets.
    plain = ("curate", "retrieve", tmp_path / "v.npy", *queries, "--background", "1")
    code, out, _ = onward(*plain, "--out", tmp_path / "plain", "--json")
    assert (code, json.loads(out)["candidates"]) == (0, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("embed",), "--images or --embeddings"),
        (("embed", "--images", ".", "--embeddings", "."), "--images or --embeddings"),
        (("embed", "--images", "."), "expected --model with --images"),
        (("embed", "--images", "x", "--ids", "y", "--model", "clip_small"), "--ids with"),
        (
            ("embed", "--images", ".", "--model", "clip_small", "--device", "gpu"),
            "expected the name of a device",
        ),
        (("embed", "--images", "nowhere", "--model", "clip_small"), "found none at nowhere"),
        (("embed", "--embeddings", "nowhere"), "found none at nowhere"),
        (
            ("embed", "--embeddings", "a", "--pool", "nowhere"),
            "that onward curate pool or onward curate date",
        ),
        (("retrieve", "a", "--concepts", "clear10"), "--model or --queries"),
        (("retrieve", "a", "--concepts", "c", "--queries", "q", "--sub-queries"), "--sub-queries"),
        (("retrieve", "a", "--concepts", "c", "--queries", "q"), "found no file at c"),
        (("retrieve", "a", "--concepts", "clear10", "--queries", "q"), "found none at a"),
        (("preview", "a", "--images", "b"), "onward curate retrieve has written"),
    ],
)
def test_mistakes(
    onward: Terminal,
    words: tuple[str, ...],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = onward("curate", *words, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["embed", "retrieve", "preview"])
def test_help(onward: Terminal, verb: str) -> None:
    code, out, _ = onward("curate", verb, "--help")
    assert code == 0
    assert "--out" in out
    assert "--json" in out
