"""The review in a real browser: fifty images by keyboard, undo, a restart, narrow and dark."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from review_server import Served
from small_campaign import invited, retrieved

from onward.curate.concepts import Concept
from onward.curate.review.exchange import read_votes
from onward.curate.review.making import Rules, make_campaign

pytestmark = pytest.mark.slow

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 844}
EVIL = '"><script>document.title="caught"</script>'
OPTIONS = {
    "computer": "computer (laptop/tablet/desktop/keyboard/etc.)",
    "camera": "camera (digital/film/etc.)",
    "bus": "bus (exterior/interior/etc.)",
    "pullover": "sweater (sweater/sweatshirt/hoodies/etc.)",
    "dress": "dress (formal dress/casual dress/etc.)",
    "racing": "racing (car/bike/runner/etc.)",
    "cosplay": "cosplay (cartoon/Halloween/mascot/etc.)",
    "baseball": "baseball (baseball/player/field/etc.)",
    "soccer": "soccer (soccer/player/field/etc.)",
    "hockey": "hockey (ice hockey/field hockey/etc.)",
    "evil": EVIL,
}
IMAGES = 50


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    concepts = [Concept(name, (name,), option=option) for name, option in OPTIONS.items()]
    found, images = retrieved(tmp_path, IMAGES, concepts)
    for at in range(IMAGES):  # pictures that a person can tell apart
        picture = Image.new("RGB", (640, 480), f"hsl({7 * at}, 60%, 70%)")
        ImageDraw.Draw(picture).text((240, 180), str(at), fill="black", font_size=120)
        picture.save(images / f"photo-{at}.png")
    rules = Rules(votes=1, gold_share=0, repeat_share=0)
    server = Served(make_campaign(found, images, tmp_path / "campaign", rules).folder)
    server.start()
    with contextlib.closing(contextlib.ExitStack()) as stack:
        stack.callback(server.end)
        yield server


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Any]]:
    contexts = []

    def at(address: str, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.said, page.asked = [], []
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(address)
        return page

    yield at
    for context in contexts:
        context.close()


def begin(page: Any) -> None:
    page.wait_for_function("() => document.activeElement.textContent === 'Begin'")
    page.keyboard.press("Enter")
    ready(page)


def ready(page: Any, not_question: str = "") -> str:
    """Wait for an image that is there; return its question."""
    page.wait_for_function(
        """(before) => {
            const image = document.getElementById("shown");
            return !image.hidden && image.complete && image.naturalWidth
                && image.dataset.question !== before;
        }""",
        arg=not_question,
    )
    return str(page.locator("#shown").get_attribute("data-question"))


def press(page: Any, *keys: str) -> str:
    """Answer by keyboard; return the question that was answered."""
    question = ready(page)
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    return question


def saved(page: Any) -> None:
    page.wait_for_function("() => document.getElementById('saved').dataset.state === 'saved'")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_fifty_images_with_undo_and_a_restart(
    served: Served, opened: Callable[..., Any], viewport: dict[str, int], tmp_path: Path
) -> None:
    (token,) = invited(served.folder, "Ann")
    page = opened(f"{served.address}/join/{token}", viewport=viewport)
    begin(page)
    keys = [*"1234567890a", "n"]
    expected: dict[str, list[str]] = {}
    names = list(OPTIONS)

    def answer(number: int) -> None:
        at = number % len(keys)
        question = press(page, keys[at])
        expected[question] = [names[at]] if at < len(names) else []

    for number in range(20):
        answer(number)
    # Enter alone is no answer, and none of the above excludes the others.
    before = ready(page)
    page.keyboard.press("Enter")
    assert "Select at least one" in page.locator("#hint").inner_text()
    assert ready(page) == before
    page.keyboard.press("1")
    page.keyboard.press("n")
    assert page.locator("input[name=label]:checked").count() == 0
    page.keyboard.press("3")
    assert not page.locator("input[name=none]").is_checked()
    page.keyboard.press("s")
    page.keyboard.press("Enter")
    expected[before] = ["bus"]
    # Undo twice: both answers are there again, and one is corrected.
    ready(page, before)
    page.keyboard.press("u")
    assert ready(page) == before
    assert page.locator("input[name=sensitive]").is_checked()
    page.keyboard.press("Backspace")
    earlier = ready(page, before)
    assert page.locator("input[name=label]:checked").count() == 1
    page.keyboard.press("2" if expected[earlier] != ["camera"] else "1")
    page.keyboard.press("Enter")
    expected[earlier] = sorted([*expected[earlier], "camera"], key=names.index)
    assert ready(page, earlier) == before
    page.keyboard.press("Enter")
    for number in range(22, 32):
        answer(number)
    saved(page)
    assert page.said == []
    # The server dies under somebody's hands, and comes back.
    served.end()
    answer(32)
    answer(33)
    page.wait_for_function("() => document.getElementById('saved').dataset.state === 'trouble'")
    served.start()
    saved(page)
    page.said.clear()  # the browser itself notes that nobody answered
    while len(expected) < 40:
        answer(len(expected))
    saved(page)
    # A reload goes on with the same image, and undo reaches behind it.
    before = ready(page)
    page.reload()
    assert ready(page) == before
    page.keyboard.press("u")
    ready(page, before)
    assert page.locator("form input:checked").count() >= 1
    page.keyboard.press("Enter")
    while len(expected) < IMAGES:
        answer(len(expected))
    page.get_by_text("Nothing is left for you").wait_for()
    saved(page)
    assert page.locator("#submit").is_disabled()
    page.locator("#undo").focus()  # back from the end, too
    page.keyboard.press("Enter")
    ready(page)
    page.locator("#shown").evaluate("(image) => document.activeElement.blur()")
    page.keyboard.press("Enter")
    page.get_by_text("Nothing is left for you").wait_for()
    assert page.locator("#answered").inner_text() == str(IMAGES)
    assert page.said == []
    assert all(one.startswith(served.address) for one in page.asked)
    assert page.title() != "caught"

    votes = read_votes(served.folder).to_pylist()
    assert len(votes) == IMAGES
    count = sorted(tuple(vote["labels"]) for vote in votes)
    assert count == sorted(tuple(labels) for labels in expected.values())
    assert sum(vote["sensitive"] for vote in votes) == 1


def test_the_next_image_is_there_before_it_is_asked_for(
    served: Served, opened: Callable[..., Any]
) -> None:
    (token,) = invited(served.folder, "Ann")
    page = opened(f"{served.address}/join/{token}", viewport=WIDE)
    begin(page)
    page.wait_for_load_state("networkidle")
    first = ready(page)
    loaded = [one for one in page.asked if "/image/" in one]
    assert len(set(loaded)) == 3
    page.context.set_offline(True)
    for _ in range(2):  # two more without a network
        press(page, "1")
        first = ready(page, first)
    page.context.set_offline(False)
    saved(page)
    assert read_votes(served.folder).num_rows == 2


def test_by_touch_on_a_narrow_screen(served: Served, opened: Callable[..., Any]) -> None:
    (token,) = invited(served.folder, "Ann")
    page = opened(f"{served.address}/join/{token}", viewport=NARROW, has_touch=True, is_mobile=True)
    page.get_by_role("link", name="Begin").tap()
    first = ready(page)
    for selector in ("#answer label", ".deeds button"):
        for box in page.locator(selector).all():
            size = box.bounding_box()
            assert size["height"] >= 44, selector
            assert size["x"] >= 0
            assert size["x"] + size["width"] <= NARROW["width"]
    submit = page.locator("#submit").bounding_box()
    assert submit["y"] + submit["height"] <= NARROW["height"]
    assert page.locator("#shown").bounding_box()["height"] >= 180
    page.get_by_text("camera", exact=False).first.tap()
    page.locator("#submit").tap()
    second = ready(page, first)
    page.locator("#undo").tap()
    assert ready(page, second) == first
    assert page.get_by_label("camera").is_checked()
    assert page.said == []


def test_labels_for_those_who_listen(served: Served, opened: Callable[..., Any]) -> None:
    (token,) = invited(served.folder, EVIL)
    page = opened(f"{served.address}/join/{token}", viewport=WIDE)
    assert EVIL in page.locator("h1").inner_text()
    begin(page)
    group = page.get_by_role("group", name="Select one or more elements")
    assert group.get_by_role("checkbox").count() == len(OPTIONS) + 1
    for name in ("computer", "None of the above"):
        assert group.get_by_role("checkbox", name=name).count() == 1
    assert page.get_by_role("checkbox", name="Sensitive content").count() == 1
    assert page.get_by_role("button", name="Undo: back to the image before").count() == 1
    assert page.get_by_role("img", name="The image to judge").is_visible()
    assert page.title() != "caught"
    assert page.said == []


def test_the_owners_page(served: Served, opened: Callable[..., Any]) -> None:
    (token,) = invited(served.folder, EVIL)
    page = opened(f"{served.address}/join/{token}", viewport=WIDE)
    begin(page)
    for _ in range(5):
        press(page, "1")
    saved(page)
    owner = opened(served.owner, viewport=WIDE)
    owner.get_by_role("link", name="To the dashboard").click()
    assert owner.get_by_role("progressbar").get_attribute("aria-valuenow") == "5"
    assert owner.get_by_role("rowheader", name=EVIL).count() == 1
    owner.get_by_label("name").fill("Ben")
    owner.get_by_role("button", name="make a personal link").click()
    owner.wait_for_function("() => document.getElementById('link').textContent.includes('/join/')")
    link = owner.locator("#link").inner_text().partition(": ")[2]
    begin(opened(link, viewport=WIDE))
    owner.get_by_role("button", name="pause").click()
    owner.get_by_role("button", name="resume").wait_for()
    owner.get_by_role("row", name=EVIL).get_by_role("button", name="revoke").click()
    owner.get_by_text("revoked").wait_for()
    press(page, "1")
    page.get_by_text("This link has been revoked").wait_for()
    for width in (WIDE, NARROW):
        owner.set_viewport_size(width)
        wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        assert not owner.evaluate(wide)
    assert owner.title() != "caught"
    assert owner.said == []
    assert all(one.startswith(served.address) for one in owner.asked)
    assert read_votes(served.folder).num_rows == 0
