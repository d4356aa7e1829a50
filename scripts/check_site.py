"""Check the built site without a browser: ``python scripts/check_site.py [docs/_build/html]``.

Every link inside leads to a file and, where it has one, to an anchor. Every page has a title, a language and one h1;
its headings skip no level; its images have alternative texts; it loads no script, style or picture from elsewhere.
Links to the outside are counted, and listed with ``--outside``: nothing is fetched.
"""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "video": "src"}
LOADED |= {"audio": "src", "embed": "src", "object": "data"}
NOT_LOADED = {"alternate", "author", "canonical", "help", "index", "next", "prev", "search"}  # relations of a link
NO_PAGES = {"chart.html", "report.html", "webpack-macros.html"}  # choral's report has tests; a template of the theme


class Page(HTMLParser):
    """What a page links to, loads and says about itself."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded, self.levels, self.faults = set(), [], [], [], []
        self.language = self.title = self.style = ""
        self.in_title = self.in_style = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Take note of a tag."""
        values = dict(attrs)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        self.in_title = self.in_title or (tag == "title" and not self.title)
        if tag == "html":
            self.language = values.get("lang") or ""
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if values.get(LOADED.get(tag)) and not NOT_LOADED & set((values.get("rel") or "").split()):
            self.loaded.append(values[LOADED[tag]])
        self.loaded += [each.split()[0] for each in (values.get("srcset") or "").split(",") if each.strip()]
        self.style += values.get("style") or ""
        self.in_style = tag == "style"
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag == "img" and "alt" not in values:
            self.faults.append(f"no alternative text: {values.get('src')}")
        if tag == "iframe" and not values.get("title"):
            self.faults.append(f"no title: iframe of {values.get('src')}")

    def handle_endtag(self, tag):
        """The end of the title or of a style."""
        self.in_title = self.in_title and tag != "title"
        self.in_style = self.in_style and tag != "style"

    def handle_data(self, data):
        """Words; those of the title and of styles are kept."""
        self.title += data if self.in_title else ""
        self.style += data if self.in_style else ""


def check_page(page):
    """Faults of a page by itself."""
    yield from page.faults
    if not page.language:
        yield "no language"
    if not page.title.strip():
        yield "no title"
    if page.levels.count(1) != 1:
        yield f"{page.levels.count(1)} headings of the first level"
    for above, below in zip(page.levels, page.levels[1:], strict=False):
        if below > above + 1:
            yield f"heading of level {below} below one of level {above}"
    outside = [each for each in page.loaded if is_outside(each)] + outside_of_style(page.style)
    yield from (f"loads from elsewhere: {each}" for each in outside)


def check_links(path, pages, root):
    """Links of a page that lead nowhere."""
    for link in (*pages[path].links, *pages[path].loaded):
        if is_outside(link) or link.startswith(("mailto:", "tel:", "data:", "blob:", "javascript:")):
            continue
        parts = urlsplit(link)
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_relative_to(root) or not target.exists():
            yield f"leads nowhere: {link}"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
            yield f"no such anchor: {link}"


def check_styles(root):
    """Style sheets that load from elsewhere."""
    for path in root.rglob("*.css"):
        for address in outside_of_style(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: loads from elsewhere: {address}"


def outside_of_style(style):
    """What a style loads from elsewhere."""
    return re.findall(r"""(?:url\(|@import\s+)\s*['"]?((?:https?:)?//[^'")\s]+)""", style)


def is_outside(link):
    """Whether a link leads to another server."""
    return link.startswith(("http://", "https://", "//"))


def main(folder="docs/_build/html", *options):
    """Print the faults; the exit status is 1 if there are any."""
    root = Path(folder).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html")) if path.name not in NO_PAGES}
    if not pages:
        raise SystemExit(f"There is no page in {folder}: run make docs.")
    faults = [
        f"{path.relative_to(root)}: {fault}"
        for path, page in pages.items()
        for fault in (*check_page(page), *check_links(path, pages, root))
    ]
    faults.extend(check_styles(root))
    print(*faults, sep="\n", end="\n" if faults else "")
    outside = Counter(link for page in pages.values() for link in page.links if is_outside(link))
    if "--outside" in options:
        print(*sorted(outside), sep="\n")
    inside = sum(not is_outside(link) for page in pages.values() for link in page.links)
    print(f"{len(pages)} pages, {inside} links inside, {len(outside)} addresses outside, {len(faults)} faults.")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
