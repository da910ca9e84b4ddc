"""An image as bytes of a file, opened with care: it may be anything, and of any size."""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PIL import Image, UnidentifiedImageError

from onward.data.folder_images import UNREADABLE
from onward.errors import OnwardError

_FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


@contextmanager
def opened_image(
    content: bytes, where: Callable[[], str], mend: str = "Fetch it again, or leave it out"
) -> Iterator[Image.Image]:
    """Open an encoded image, or say which one cannot be decoded.

    Parameters
    ----------
    content
        The bytes of its file.
    where
        Says where it lies, for people; asked only if something is wrong.
    mend
        What is to be done then.
    """
    try:
        with warnings.catch_warnings():
            # Pillow warns of an image that is too large before it refuses one twice as large.
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
                yield image
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise OnwardError(
            f"expected an image of at most {Image.MAX_IMAGE_PIXELS:,} pixels in {where()}, "
            f"found a decompression bomb ({error}). {mend}"
        ) from error
    except UNREADABLE as error:
        # Pillow's own words for this name the object in memory that it read from.
        unknown = isinstance(error, UnidentifiedImageError)
        reason = f"none of {', '.join(_FORMATS)}" if unknown else error
        raise OnwardError(
            f"expected an image in {where()}, found bytes that cannot be decoded ({reason}). {mend}"
        ) from error
