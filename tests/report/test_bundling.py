"""The bundler of the page's scripts: what it makes runs in a browser as the modules would, what it does not know it
refuses."""

import re
from importlib.resources import files

import pytest

from browser import start_browser
from choral.report.bundling import ENTRY, bundle, bundle_page_scripts


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    pytest.importorskip("plotly")  # the core alone has neither pages nor a browser
    browser = start_browser(tmp_path_factory.mktemp("browser"))
    yield browser
    assert browser.messages() == []
    browser.close()


def run(browser, sources):
    """What the modules, run from start.js, push to a list."""
    return browser.script(f"window.found = [];\n{bundle(sources, 'start.js')}\nreturn window.found;")


def test_modules_keep_their_own_names_and_run_once_in_the_order_of_their_imports(browser):
    found = run(
        browser,
        {
            "start.js": (
                'import { value, count as many } from "./second.js";\n'
                'import {\n  first,\n  value as other,\n} from "./first.js";\n\n'
                "const hidden = 3; // a name that the others have too\n"
                "found.push(value, many(), other, first(2), hidden);\n"
            ),
            "first.js": (
                "// a comment with a word: import\n"
                "const hidden = 1;\nfound.push('first');\n"
                "/** Documented. */\nexport const first = (x) => {\n  // inside\n  return x + hidden;\n};\n"
                "export const value = `first /** no comment */ // neither`;\n"
            ),
            "second.js": (
                'import { first } from "./first.js";\n'
                "const hidden = 2;\nfound.push('second');\n"
                "export const value = first(hidden);\n"
                "export function count() {\n  return [...each()].length;\n}\n"
                "export function* each() {\n  yield 1;\n  yield 2;\n}\n"
            ),
        },
    )
    assert found == ["first", "second", 3, 2, "first /** no comment */ // neither", 3, 3]


def test_scripts_are_strict(browser):
    assert run(browser, {"start.js": "found.push((function () {\n  return this === undefined;\n})());"}) == [True]


def test_comments_on_their_own_lines_are_left_out():
    source = "// one\n  // two\n/** three */\nfirst(); // four\n/** five */ second(); /** six */\n"
    body = "(() => {\nfirst(); // four\n/** five */ second(); /** six */\nreturn {};"
    assert body in bundle({"a.js": source}, "a.js")


OTHER = "export const name = 1;\n"


@pytest.mark.parametrize(
    "source, message",
    [
        (
            'import { name } from "./third.js";',
            r"no module third.js \(imported by start.js\); there are other",
        ),
        ('import { nome } from "./other.js";', "start.js imports nome from other.js, which does not export it"),
        ('import { na-me } from "./other.js";', "start.js imports 'na-me' from other.js, which is not a name"),
        ('import { name } from "./start.js";', "modules import each other: start.js -> start.js"),
        ('import other from "./other.js";', "way that the bundler does not know: 'import other from"),
        ('import * as other from "./other.js";', r"does not know: 'import \* as other"),
        ('import "./other.js";', r"does not know: 'import \"./other.js\";'"),
        ('import { name } from "other";', r"does not know: 'import \{ name \} from \"other\";'"),
        ('import { name } from "./other.js"; name();', "does not know: 'import { name } from"),
        ('  import { name } from "./other.js";', "does not know: 'import { name } from"),
        ('const other = await import("./other.js");', "does not know: 'const other = await import"),
        ("const here = import.meta.url;", "does not know: 'const here = import.meta.url;'"),
        ("export default 1;", "does not know: 'export default 1;'"),
        ("export let count = 0;", "does not know: 'export let count = 0;'"),
        ("export const { a, b } = pair;", "does not know: 'export const { a, b } = pair;'"),
        ("export const a$ = 1;", r"does not know: 'export const a\$ = 1;'"),
        ("const a = 1;\nexport { a };", "does not know: 'export { a };'"),
        ('export * from "./other.js";', r"does not know: 'export \* from"),
        (
            "first();\nconst text = `one\nexport const name = 2;`;",
            "start.js, line 2: a text in backquotes must end on",
        ),
    ],
)
def test_what_is_not_understood_is_refused(source, message):
    with pytest.raises(ValueError, match=message):
        bundle({"start.js": source, "other.js": OTHER}, "start.js")


def test_circles_and_odd_names_are_refused():
    circle = {
        "start.js": 'import { a } from "./a.js";',
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;',
        "b.js": 'import { a } from "./a.js";\nexport const b = 1;',
    }
    with pytest.raises(ValueError, match="modules import each other: start.js -> a.js -> b.js -> a.js"):
        bundle(circle, "start.js")
    with pytest.raises(ValueError, match="a module must be named like pair_charts.js; got my-file.js"):
        bundle({"my-file.js": ""}, "my-file.js")
    with pytest.raises(ValueError, match=r"there is no module start.js; there are a.js."):
        bundle({"a.js": ""}, "start.js")


def test_the_page_holds_every_module_and_nothing_that_ends_a_script():
    script = bundle_page_scripts()
    names = {file.name for file in files("choral.report").joinpath("scripts").iterdir()}
    found = re.findall(r"^// ---- (.*)$", script, re.MULTILINE)
    assert sorted(found) == sorted(names)
    assert found[-1] == ENTRY
    assert not re.search(r"</script|<!--|\r", script, re.IGNORECASE)
