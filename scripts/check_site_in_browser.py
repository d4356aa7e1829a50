"""Look at pages of the built site in Chromium: ``python scripts/check_site_in_browser.py [docs/_build/html [SHOTS]]``.

For three widths, light and dark: text has a contrast of at least 4.5 (3 if it is large), nothing is wider than the
window, nothing moves while the page loads (cumulative layout shift of at most 0.1), the console says nothing and no
request leaves the folder. With a folder SHOTS, pictures of the pages are written to it. Three browsers share the pages.
"""

import base64
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "testing"))
from browser import start_browser

PAGES = (  # those of a kind look alike: of the API two are enough, of the gallery each shows other things
    "*.html",
    "auto_examples/index.html",
    "auto_examples/*/plot_*.html",
    "recipes/*.html",
    "project/*.html",
    "api/index.html",
    "api/losses.html",
    "api/generated/choral.binomial_loss.html",
    "api/generated/choral.learners.AutoJoint.html",
)
NOT_LOOKED_AT = (
    "chart.html",
    "report.html",
    "genindex.html",
    "py-modindex.html",
)  # tests/report: the first two
WIDTHS = (390, 800, 1400)
MAX_SHIFT = 0.1
N_BROWSERS = 3  # each waits for half of its time
WATCH_SHIFTS = """
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""

# The colours of each text and of what lies behind it, as WCAG 2 compares them; canvas turns any notation into numbers.
LOW_CONTRAST = """
const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const over = (layers) => {
  context.clearRect(0, 0, 1, 1);
  for (const layer of layers) { context.fillStyle = layer; context.fillRect(0, 0, 1, 1); }
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
};
const luminance = (rgb) => {
  const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  const layers = [];
  for (let each = element; each; each = each.parentElement) layers.unshift(getComputedStyle(each).backgroundColor);
  return [getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "black" : "white", ...layers];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
  if (!text || element.closest("script, style, noscript, template, .visually-hidden, .sd-d-none")) continue;
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
  const box = element.getBoundingClientRect();
  if (box.width < 2 || box.height < 2) continue;
  const style = getComputedStyle(element), layers = behind(element);
  const [a, b] = [over(layers), over([...layers, style.color])].map(luminance);
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  if (contrast < (large ? 3 : 4.5)) found.push(`contrast ${contrast.toFixed(2)}: ${text.slice(0, 40)}`);
}
return [...new Set(found)];
"""
# Scripts of the theme choose the colours, which then change step by step.
SETTLED = """
return document.readyState === "complete" && document.documentElement.dataset.theme === arguments[0]
  && document.getAnimations().every((animation) => animation.playState !== "running");
"""
TOO_WIDE = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"


def check(browser, path, width, scheme):
    """Faults of a page at this width and colour scheme."""
    browser.open(path, size=(width, 900), scheme=scheme)
    time.sleep(1.5 if path.name == "index.html" else 0.3)  # shifts may come late; the chart is a page of its own
    browser.wait(lambda: browser.script(SETTLED, scheme))
    yield from browser.script(LOW_CONTRAST)
    if (excess := browser.script(TOO_WIDE)) > 0:
        yield f"{excess} pixels wider than the window"
    if (shift := browser.script("return window.shift")) > MAX_SHIFT:
        yield f"layout shift {shift:.2f}"
    # the theme tells the console which colours it took
    yield from (f"console: {message}" for message in browser.messages() if "[PST]" not in message)
    yield from (f"request: {url}" for url in browser.requests() if not url.startswith(("file:", "data:", "blob:")))


def main(folder="docs/_build/html", shots=None):
    """Print the faults; the exit status is 1 if there are any."""
    root = Path(folder).resolve()
    found = {pattern: sorted(root.glob(pattern)) for pattern in PAGES}
    if missing := [pattern for pattern, paths in found.items() if not paths]:
        raise SystemExit(f"There is no page {missing[0]} in {folder}: run make docs.")
    pages = [path for paths in found.values() for path in paths if path.name not in NOT_LOOKED_AT]
    with ThreadPoolExecutor(N_BROWSERS) as pool:
        shares = [pages[first::N_BROWSERS] for first in range(N_BROWSERS)]
        try:
            n_faults = sum(pool.map(lambda share: count_faults(share, root, shots), shares))
        except pytest.skip.Exception as reason:
            print(f"Not looked at in a browser: {reason}")
            return False
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, light and dark: {n_faults} faults.")
    return bool(n_faults)


def count_faults(pages, root, shots):
    """How many faults these pages have, in a browser of their own; each is printed."""
    n_faults = 0
    with tempfile.TemporaryDirectory() as profile:
        browser = start_browser(Path(profile))
        try:
            browser.command("Page.addScriptToEvaluateOnNewDocument", source=WATCH_SHIFTS)
            for path in pages:
                for width in WIDTHS:
                    for scheme in ("light", "dark"):
                        for fault in check(browser, path, width, scheme):
                            print(f"{path.relative_to(root)}, {width} pixels, {scheme}: {fault}")
                            n_faults += 1
                        if shots:
                            save_picture(
                                browser, Path(shots), f"{path.relative_to(root).with_suffix('')}-{width}-{scheme}"
                            )
        finally:
            browser.close()
    return n_faults


def save_picture(browser, folder, name):
    """A picture of what the window shows."""
    folder.mkdir(parents=True, exist_ok=True)
    picture = browser.command("Page.captureScreenshot", format="png")["data"]
    (folder / f"{name.replace('/', '-')}.png").write_bytes(base64.b64decode(picture))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
