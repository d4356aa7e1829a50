"""A real browser without a window, for tests of the report; skipped where there is none, but required in CI."""

import json
import os
import shutil
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
DESKTOP = (1280, 900)
PHONE = (375, 812)


def start_browser(folder):
    """Headless Chromium with a profile and downloads below this folder."""
    selenium = _required_webdriver()
    chromium, driver = _required_program("chromium"), _required_program("chromedriver")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # the path of the driver is given, else selenium would look for one on the network
    return Browser(selenium.Chrome(options=options, service=selenium.ChromeService(driver)), folder / "downloads")


class Browser:
    """The few things that tests do with a page."""

    def __init__(self, driver, downloads):
        self.driver = driver
        self.downloads = downloads
        self.opened = None
        downloads.mkdir()
        self.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def command(self, name, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def open(self, path, *, size=DESKTOP, scheme="light"):
        """Load a file at this size and colour scheme, with empty logs."""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        width, height = size
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.messages(), self.requests()
        self.driver.get(Path(path).as_uri())
        ready = "return document.readyState === 'complete' && document.querySelector('main, body').innerText.length > 0"
        self.wait(lambda: self.script(ready))  # on a busy machine a page may be told to be there before it is drawn
        self.opened = path, size, scheme

    def visit(self, path):
        """Load a file unless it is there already: every load reads the whole of Plotly again."""
        if self.opened != (path, DESKTOP, "light"):
            self.open(path)

    def messages(self):
        """What the console said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that pages asked for since the last call; what the browser shows before the first is its own."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent if not each["documentURL"].startswith("chrome:")]

    def script(self, code, *arguments):
        """The value of JavaScript that returns one."""
        return self.driver.execute_script(code, *arguments)

    def find(self, selector):
        """The first element of a CSS selector."""
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        """The texts of all elements of a CSS selector, shown or not."""
        return self.script(
            "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)", selector
        )

    def cells(self, selector):
        """The texts of a table's body, row by row."""
        code = (
            "const rows = [...document.querySelector(arguments[0]).tBodies[0].rows];"
            "return rows.map(row => [...row.cells].map(cell => cell.textContent));"
        )
        return self.script(code, selector)

    def choose(self, selector, value):
        """Set a slider or the index of a list as a user does, events included."""
        code = (
            "const [place, value] = [document.querySelector(arguments[0]), arguments[1]];"
            "if (place.tagName === 'SELECT') place.selectedIndex = value; else place.value = value;"
            "for (const kind of ['input', 'change']) place.dispatchEvent(new Event(kind, {bubbles: true}));"
        )
        self.script(code, selector, value)

    def click(self, selector):
        """Click an element, wherever it is on the page."""
        self.script("document.querySelector(arguments[0]).click()", selector)

    def traces(self, section):
        """What the chart of a section shows now: for each trace its name, part, points and whether it is visible."""
        code = (
            "return document.querySelector(arguments[0] + ' .chart').data.map(t => "
            "({name: t.meta.name, part: t.meta.part, x: t.x, y: t.y, visible: t.visible !== false}))"
        )
        return self.script(code, section)

    def downloaded(self, name):
        """The bytes of a file that the page has been asked to download."""
        path = self.downloads / name
        self.wait(path.exists)
        content = path.read_bytes()
        path.unlink()
        return content

    def wait(self, condition):
        """Wait until it is true."""
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.driver, 10, poll_frequency=0.05).until(lambda _: condition())

    def close(self):
        """End the browser."""
        self.driver.quit()


def _required_webdriver():
    try:
        from selenium import webdriver
    except ModuleNotFoundError:
        _missing("selenium")
    return webdriver


def _required_program(name):
    return shutil.which(name) or _missing(name)


def _missing(what):
    if os.environ.get("CHORAL_REQUIRE_BROWSER"):
        pytest.fail(f"{what} must be installed: CHORAL_REQUIRE_BROWSER is set")
    pytest.skip(f"{what} is not installed")
