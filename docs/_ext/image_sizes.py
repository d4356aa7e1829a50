"""Pictures say how large they are, so that a browser keeps their place free and nothing moves when they come."""

import re
import struct
from pathlib import Path
from typing import Any


def size_of_png(path: Path) -> tuple[int, int]:
    """Width and height in pixels, which a PNG file says in its header."""
    with path.open("rb") as file:
        return struct.unpack(">II", file.read(24)[16:])


def add_sizes(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the pictures of a page their width and height."""
    sources = {name: Path(app.srcdir, source) for source, name in app.builder.images.items()}
    # What the gallery draws reaches the folder of images by another way.
    sources |= {path.name: path for path in Path(app.srcdir).glob("auto_examples/**/images/**/*.png")}

    def with_size(found: re.Match) -> str:
        tag, name = found[0], found[1]
        if name not in sources or re.search(r"\s(width|style)=", tag):
            return tag
        width, height = size_of_png(sources[name])
        return tag.replace("<img ", f'<img width="{width}" height="{height}" ', 1)

    if "body" in context:
        context["body"] = re.sub(r'<img [^>]*src="[^"]*_images/([^"/]+\.png)"[^>]*>', with_size, context["body"])


def setup(app: Any) -> dict[str, bool]:
    app.connect("html-page-context", add_sizes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
