"""Take a picture of a report for the README: ``python scripts/screenshot.py study-quick/report.html``.

Writes docs/figures/report.png by the headless Chromium that the tests use.
"""

import base64
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SIZE = (1280, 1240)


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        print(__doc__)
        return 2
    sys.path.insert(0, str(ROOT / "tests" / "testing"))
    from browser import start_browser

    with tempfile.TemporaryDirectory() as folder:
        browser = start_browser(Path(folder))
        browser.open(Path(sys.argv[1]).absolute(), size=SIZE)
        picture = browser.command("Page.captureScreenshot")["data"]
        browser.driver.quit()
    (ROOT / "docs" / "figures" / "report.png").write_bytes(base64.b64decode(picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
