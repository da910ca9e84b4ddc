"""What is wrong with a folder of TiC-CLIP's data is said, one message each, and nothing is lost."""

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damaged import LATIN
from tic_miniature import change, encoded, made, pairs, tar

from onward.data.tic_folder import TicData, read_tic
from onward.data.tic_inspected import check_tic
from onward.errors import OnwardError

YEAR, ASKED = "yearly/train/2016", "yearly/eval/retrieval/2016"
NAMED = "yearly/eval/datacompnet/2016"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tic") / "datacomp", "datacomp")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("tic") / "redcaps", "redcaps")


@pytest.fixture
def root(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONWARD_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(whole, tmp_path / "mine"))


def content(folder: Path) -> dict[Path, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def read(root: Path, **options: object) -> TicData:
    return read_tic(root, **{"side": 8, **options})  # type: ignore[arg-type]


def cut(root: Path) -> None:
    path = root / YEAR / "00000000.tar"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lose(root: Path) -> None:
    change(root / YEAR / "sizes.json", **{"00000007.tar": 12})


def miscount(root: Path) -> None:
    change(root / YEAR / "sizes.json", **{"00000000.tar": 17})


def misjudge(root: Path) -> None:
    change(root / YEAR / "00000000_stats.json", successes=15)


def mean_more(root: Path) -> None:
    change(root / YEAR / "meta.json", output_count=99)


def count_less(root: Path) -> None:
    (root / ASKED / "count.txt").write_text("3")


def add_shards(root: Path) -> None:
    (root / ASKED / "nshards.txt").write_text("2")


def no_number(root: Path) -> None:
    (root / ASKED / "count.txt").write_text("many")


def latin_number(root: Path) -> None:
    (root / ASKED / "count.txt").write_bytes(LATIN)


def latin_shards(root: Path) -> None:
    (root / ASKED / "nshards.txt").write_bytes(LATIN)


def latin_kind(root: Path) -> None:
    (root / ASKED / "dataset_type.txt").write_bytes(LATIN)


def no_json(root: Path) -> None:
    (root / YEAR / "sizes.json").write_text("{")


def another_kind(root: Path) -> None:
    (root / ASKED / "dataset_type.txt").write_text("classification")


def no_class(root: Path) -> None:
    (root / NAMED / "classnames.txt").write_text("cat\n")


def no_hole(root: Path) -> None:
    for year in (root / "yearly/eval/datacompnet").iterdir():
        (year / "zeroshot_classification_templates.txt").write_text("a photo.\n")


def no_names(root: Path) -> None:
    (root / NAMED / "classnames.txt").unlink()


def no_tests(root: Path) -> None:
    shutil.rmtree(root / "yearly/eval")


def no_shards(root: Path) -> None:
    (root / ASKED / "nshards.txt").write_text("x")


def blank(root: Path, *more: str) -> None:
    mute = {"png": encoded("PNG"), "txt": b" \n ", **dict.fromkeys(more, b"0")}
    tar(root / ASKED / "0.tar", {"a": mute, **pairs("b", "c", "d")})


def blank_with_class(root: Path) -> None:
    blank(root, "cls")


def blank_to_learn(root: Path) -> None:
    samples = pairs(*(str(number) for number in range(15)))
    tar(root / YEAR / "00000000.tar", {"a": {"jpg": encoded(), "txt": b"  \n "}, **samples})


def other_class(root: Path) -> None:
    tar(root / NAMED / "0.tar", {"a": {"png": encoded("PNG"), "cls": b"99"}})
    (root / NAMED / "count.txt").unlink()


BREAKS: dict[Callable[[Path], None], str] = {
    cut: r"expected whole tars, found .*2016/00000000.tar .*: cut or damaged",
    lose: r"all shards that are named: .* names 00000007.tar with 12 samples, which is not",
    miscount: r"sizes.json has 17 samples in 00000000.tar, found 16",
    misjudge: r"00000000_stats.json has 15 samples in 00000000.tar, found 16",
    mean_more: r"meta.json has 99 samples in all, found 16",
    count_less: r"count.txt has 3 samples in all, found 4",
    add_shards: r"expected 2 shards in .*, as nshards.txt says, found 1",
    no_number: r"a number of samples in .*count.txt, found 'many'",
    latin_number: r"a number of samples in .*count.txt, found what cannot be read",
    latin_shards: r"a number of shards in .*nshards.txt, found what cannot be read",
    latin_kind: r"a kind of test in .*dataset_type.txt, found what cannot be read",
    no_json: r"expected a JSON file .*sizes.json",
    another_kind: r"expected retrieval in .*dataset_type.txt, found 'classification'",
    no_class: r"the same classes and templates in every year",
    no_hole: r"expected \{c\} where the class stands .* found 'a photo.'",
    no_names: r"one name or template on each line of .*classnames.txt",
    no_tests: r"expected tests of the same times",
    no_shards: r"a number of shards in .*nshards.txt, found 'x'",
    blank: r"a caption in every sample, found a of .*0.tar: no caption",
    blank_with_class: r"a caption to test with in sample a of .*, found none but blanks",
    blank_to_learn: r"a caption in every sample, found a of .*00000000.tar: no caption",
    other_class: r"number of a class from 0 to 8 in cls of sample a",
}


@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.__name__)
def test_each_has_its_own_message(root: Path, broken: Callable[[Path], None]) -> None:
    broken(root)
    before = content(root)
    with pytest.raises(OnwardError, match=BREAKS[broken]):
        read(root)
    assert content(root) == before


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (lose, "names 00000007.tar with 12 samples, which is not there"),
        (miscount, "sizes.json has 17 samples in 00000000.tar, found 16"),
        (count_less, "count.txt has 3 samples in all, found 4"),
    ],
)
def test_one_can_go_on_where_only_numbers_differ(
    root: Path, broken: Callable[[Path], None], told: str
) -> None:
    right = read(root)
    broken(root)
    found = read(root, missing="skip")
    assert told in found.gaps[0]
    assert found.table.digest == right.table.digest
    assert found.without == ""


@pytest.mark.parametrize(
    ("broken", "told", "left"),
    [
        (blank, "1 sample left out, no caption: a of ", (16, 3, 0)),
        (blank_to_learn, "1 sample left out, no caption: a of ", (15, 4, 0)),
        (cut, "1 shard left out, cut or damaged: ", (0, 0, 1)),
    ],
)
def test_one_can_go_on_with_what_is_there(
    root: Path, broken: Callable[[Path], None], told: str, left: tuple[int, int, int]
) -> None:
    right = read(root)
    broken(root)
    found = read(root, missing="skip")
    assert found.gaps[0].startswith(told)
    assert found.table.digest != right.table.digest
    assert found.without == f" without 1 {told.split()[1]}"
    learned, tested, gone = left
    assert [period.name for period in found.periods] == [p.name for p in right.periods][gone:]
    if gone:
        assert found.notes == ("2016 is left out: it has 0 samples to learn and 4 to test with",)
    else:
        images = found.table.values("kind")[found.periods[0].test.rows] == "image"
        assert (len(found.periods[0].train), int(images.sum())) == (learned, tested)


def test_where_nothing_is_whole(root: Path) -> None:
    for path in root.glob("yearly/train/*/*.tar"):
        path.write_bytes(b"")
    with pytest.raises(OnwardError, match=r"both to learn and to test in .* found none: 2016 is"):
        read(root, missing="skip")


def test_long_captions_are_told_once(root: Path) -> None:
    samples = pairs("a", "b", "c")
    for key in ("a", "c"):
        samples[key]["txt"] = b"long " * 2000
    tar(root / "yearly/train/2018/0.tar", samples)
    shutil.copytree(root / ASKED, root / "yearly/eval/retrieval/2018")
    found = read(root)
    assert found.notes == ("2 captions have more than 512 bytes: they are cut",)
    (period,) = (period for period in found.periods if period.name == "2018")
    texts = found.table.wide["pair"][period.train.rows]["text"]
    assert [len(text) for text in texts] == [512, 12, 512]


def test_broken_images_are_found_by_the_check(root: Path) -> None:
    samples = pairs("fine", "cut")
    samples["cut"]["jpg"] = encoded()[:300]
    tar(root / "yearly/train/2018/0.tar", samples)
    shutil.copytree(root / ASKED, root / "yearly/eval/retrieval/2018")
    (flaw,) = check_tic(read(root))
    assert (flaw.name, "sample cut of" in flaw.where) == ("yearly/train/2018/0/cut", True)
    assert "cannot be decoded" in flaw.problem


def test_ids_without_their_json_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "2016.npy", np.zeros(1, "u8,u8"))
    with pytest.raises(OnwardError, match=r"found none named\. Say where your copy of CommonPool"):
        read(tmp_path)
    (tmp_path / "tic-datacomp_retrieval_evals_year2uids.pkl").write_bytes(b"no pickle at all")
    with pytest.raises(OnwardError, match="its pickled twin, which is never opened"):
        read(tmp_path, shards="x")


def test_a_pool_of_something_else(root: Path, tmp_path: Path) -> None:
    ids = tmp_path / "ids"
    ids.mkdir()
    np.save(ids / "2016.npy", np.zeros(1, "u8,u8"))
    path = ids / "tic-datacomp_retrieval_evals_year2uids.json"
    path.write_text(json.dumps({"2016": ["0" * 32]}))
    with pytest.raises(OnwardError, match=r"found none of the 16 there"):
        read(ids, shards=str(root / YEAR))
    tar(ids / "pool" / "0.tar", pairs("0001"))
    with pytest.raises(OnwardError, match="32 hexadecimal letters in the key or in uid"):
        read(ids, shards=str(ids / "pool"))


def change_table(root: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = root / "splits" / "train_batch_2016.csv"
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (lambda lines: ["image\ttext\n", *lines[1:]], r"columns path and caption in .*'image'"),
        (lambda lines: [*lines, "food/1.jpg\t\n"], r"row 16 of .*: no caption"),
        (lambda lines: [*lines, "food/1.jpg\t  \n"], r"row 16 of .*: no caption"),
        (lambda lines: [*lines, "food/1.jpg\n"], r"row 16 of .*: no caption"),
        (lambda lines: [*lines, "\ta fox\n"], r"row 16 of .*: no image"),
        (lambda lines: [*lines, "../secret.jpg\ta fox\n"], r"leads out of"),
        (lambda lines: [*lines, "food/none.jpg\ta fox\n"], r"food/none.jpg: no such file"),
    ],
)
def test_tables(
    tables: Path, tmp_path: Path, lines: Callable[[list[str]], list[str]], message: str
) -> None:
    root = Path(shutil.copytree(tables, tmp_path / "mine"))
    shutil.rmtree(root / "shards")
    right = read(root)
    change_table(root, lines)
    with pytest.raises(OnwardError, match=message):
        read(root)
    if "columns" not in message:
        found = read(root, missing="skip")
        (told,) = found.gaps
        assert told.startswith("1 row left out, ")
        assert (found.flaws[0].name, found.without) == ("train_batch_2016/16", " without 1 row")
        assert [len(p.train) for p in found.periods] == [len(p.train) for p in right.periods]


def test_captions_with_tabs_quotes_and_line_ends(tables: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(tables, tmp_path / "mine"))
    shutil.rmtree(root / "shards")
    path = sorted((root / "images").rglob("*.jpg"))[0].relative_to(root / "images")
    change_table(root, lambda lines: [lines[0], f'{path}\t"a ""fox""\tand\na dog"\n', *lines[1:]])
    found = read(root)
    texts = found.table.wide["pair"][found.periods[0].train.rows]["text"]
    assert texts[0] == b'a "fox" and a dog'
    assert len(texts) == 17


def test_a_batch_without_a_test(tables: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(tables, tmp_path / "mine"))
    (root / "shards" / "test_batch_2017__00000000.tar").unlink()
    with pytest.raises(OnwardError, match=r"found none called test_batch_2017"):
        read(root)


def test_a_tar_of_lists_with_another_kind(tmp_path: Path, root: Path) -> None:
    ids = tmp_path / "ids"
    ids.mkdir()
    (ids / "tic-datacomp_retrieval_evals_year2uids.json").write_text("{}")
    sink = io.BytesIO()
    np.save(sink, np.arange(3))
    with tarfile.open(ids / "2014.tar", "w") as file:
        member = tarfile.TarInfo("201403.npy")
        member.size = sink.tell()
        sink.seek(0)
        file.addfile(member, sink)
    with pytest.raises(OnwardError, match=r"\(u8,u8\), in 201403.npy of .*2014.tar, found int64"):
        read(ids, shards=str(root / YEAR))
