"""The scripts of the page, put together into one: readers see modules, the page holds a single classic script.

Why not let the browser import the modules? A page that is opened as a file has no origin, so browsers refuse to load
modules that lie beside it, and the page must be one file anyway. An import map onto ``data:`` addresses would need
``data:`` among the sources of scripts in the page's policy, and then any text that gets into the page could become a
script. One inline script with its hash in the policy works in every browser, from a file as from a server.

So each module becomes a function that is called once and returns what the module exports. Names that are not exported
cannot collide. Modules run in the order in which a browser would run them: what is imported first, runs first.
"""

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

ENTRY = "start.js"

IMPORT = re.compile(r'^import\s*\{([^{}]*)\}\s*from\s*"\./([^"/]+)";[ \t]*$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|function\*?) ([A-Za-z_]\w*)[ (])", re.MULTILINE)
IMPORTED_NAME = re.compile(r"([A-Za-z_]\w*)(?: as ([A-Za-z_]\w*))?")
# What is left of these words after the replacements was not understood; import() and import.meta are refused too.
NOT_UNDERSTOOD = re.compile(r"^\s*(?:import|export)\b.*$|^.*\bimport\s*[.(].*$", re.MULTILINE)
COMMENT_LINE = re.compile(r"^[ \t]*(?://.*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE)
FILE_NAME = re.compile(r"[a-z][a-z0-9_]*\.js")


def bundle_page_scripts() -> str:
    """The modules in ``choral/report/scripts`` as one script."""
    folder = files("choral.report").joinpath("scripts")
    sources = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".js")}
    return bundle(sources, ENTRY)


def bundle(sources: Mapping[str, str], entry: str) -> str:
    r"""One classic script that does what the module ``entry`` and all that it imports do.

    The bundler understands one way to import, ``import { name, other as mine } from "./file.js";``, and one way to
    export, ``export const name = ...`` or ``export function name() ...``, each at the start of a line. It refuses all
    else rather than guess, and texts in backquotes that go over several lines, in which a line could look like code.
    Lines that hold nothing but a comment are left out, to keep pages small.

    Parameters
    ----------
    sources : mapping from file name to source
        ES modules that lie in one folder.
    entry : str
        The file name of the module to start with.

    Returns
    -------
    script : str
        With the ends of lines that the sources have.

    Raises
    ------
    ValueError
        Where a module is missing, imports itself through others, imports what is not exported, or is written in a way
        that is not understood.

    Examples
    --------
    >>> sources = {
    ...     "start.js": 'import { double } from "./numbers.js";\ndocument.title = double(21);\n',
    ...     "numbers.js": "export const double = (x) => 2 * x;\n",
    ... }
    >>> print(bundle(sources, "start.js"))
    (() => {
    "use strict";
    // ---- numbers.js
    const $numbers = (() => {
    const double = (x) => 2 * x;
    return { double };
    })();
    // ---- start.js
    const $start = (() => {
    const { double } = $numbers;
    document.title = double(21);
    return {};
    })();
    })();
    """
    modules = [_wrap_module(name, sources) for name in dict.fromkeys(_in_order(sources, entry, ()))]
    return "\n".join(["(() => {", '"use strict";', *modules, "})();"])


def _in_order(sources: Mapping[str, str], name: str, importers: tuple[str, ...]) -> Iterator[str]:
    """All that a module imports, then the module itself; ``importers`` leads from the entry to here."""
    where = f" (imported by {importers[-1]})" if importers else ""
    if name in importers:
        raise ValueError(f"modules import each other: {' -> '.join((*importers, name))}.")
    if name not in sources:
        raise ValueError(f"there is no module {name}{where}; there are {', '.join(sorted(sources))}.")
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"a module must be named like pair_charts.js; got {name}{where}.")
    for found in IMPORT.finditer(sources[name]):
        yield from _in_order(sources, found[2], (*importers, name))
    yield name


def _wrap_module(name: str, sources: Mapping[str, str]) -> str:
    source = sources[name]
    for number, line in enumerate(source.split("\n"), start=1):
        if line.count("`") % 2:
            raise ValueError(f"{name}, line {number}: a text in backquotes must end on the line where it starts.")
    exported = EXPORT.findall(source)
    body = IMPORT.sub(lambda found: _import_statement(name, found, sources), COMMENT_LINE.sub("", source))
    body = EXPORT.sub("", body)
    left = NOT_UNDERSTOOD.search(body)
    if left:
        raise ValueError(f"{name} imports or exports in a way that the bundler does not know: {left[0].strip()!r}.")
    returned = f"{{ {', '.join(exported)} }}" if exported else "{}"
    return f"// ---- {name}\nconst {_variable(name)} = (() => {{\n{body.strip()}\nreturn {returned};\n}})();"


def _import_statement(importer: str, found: re.Match[str], sources: Mapping[str, str]) -> str:
    """The import of some names as a statement that reads them from an object."""
    names, module = found[1], found[2]
    exported = EXPORT.findall(sources[module])
    parts = []
    for part in filter(None, (part.strip() for part in names.split(","))):
        imported = IMPORTED_NAME.fullmatch(part)
        if not imported:
            raise ValueError(f"{importer} imports {part!r} from {module}, which is not a name.")
        if imported[1] not in exported:
            raise ValueError(f"{importer} imports {imported[1]} from {module}, which does not export it.")
        parts.append(f"{imported[1]}: {imported[2]}" if imported[2] else imported[1])
    return f"const {{ {', '.join(parts)} }} = {_variable(module)};"


def _variable(name: str) -> str:
    """The variable that holds the exports of a module; no module's own name starts like this."""
    return f"${name.removesuffix('.js')}"
