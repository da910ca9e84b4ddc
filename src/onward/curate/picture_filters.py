"""Which answers are images that are wanted: the filters that CLEAR's authors released."""

import io
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

from onward.curate.client import FetchError

NO_IMAGE, DAMAGED, BOMB = "not an image", "a damaged image", "a decompression bomb"
_ENDINGS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp"}
# Large enough for any camera, and a quarter of a gigabyte once it is decoded.
_MOST_PIXELS = 80_000_000


@dataclass(frozen=True)
class Filters:
    """What an image has to be.

    Parameters
    ----------
    min_bytes
        As large as this at least.
    min_edge
        Its shorter edge has so many pixels at least.
    max_aspect
        Its longer edge is so many times its shorter one at most.
    """

    min_bytes: int = 10
    min_edge: int = 120
    max_aspect: float = 2.0


@dataclass(frozen=True)
class Picture:
    """An image that passed: its bytes as they came, and what they say about it."""

    content: bytes
    ending: str
    width: int
    height: int


def look_at(content: bytes, filters: Filters) -> Picture:
    """Return an image if it is one and passes the filters, or say why not."""
    if len(content) < filters.min_bytes:
        raise FetchError(f"smaller than {filters.min_bytes} bytes")
    try:
        with Image.open(io.BytesIO(content), formats=list(_ENDINGS)) as image:
            width, height = image.size
            if width * height > _MOST_PIXELS:
                raise FetchError(BOMB)
            if min(width, height) < filters.min_edge:
                raise FetchError(f"an edge shorter than {filters.min_edge} pixels")
            if max(width, height) > filters.max_aspect * min(width, height):
                raise FetchError(f"longer than {filters.max_aspect:g} times its other edge")
            ending = _ENDINGS[image.format or ""]
            # A JPEG is read to its end, and decoded to an eighth of its size only.
            image.draft(None, (width // 8, height // 8))
            image.load()
    except UnidentifiedImageError as error:
        raise FetchError(NO_IMAGE) from error
    except Image.DecompressionBombError as error:
        raise FetchError(BOMB) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise FetchError(DAMAGED) from error
    return Picture(content, ending, width, height)
