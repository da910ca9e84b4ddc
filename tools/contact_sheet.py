"""Draw the README's picture: python tools/contact_sheet.py."""

from pathlib import Path

from onward.demo import emoji_sheet

if __name__ == "__main__":
    out = Path(__file__).parents[1] / "docs" / "pictures" / "emoji_history.png"
    out.write_bytes(emoji_sheet())
    print(f"{out.name}: {out.stat().st_size} bytes")
