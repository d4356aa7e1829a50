"""Formulas as MathML, which browsers draw themselves: no script, no fonts to load, nothing from another server."""

from html import escape

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.util import logging

logger = logging.getLogger(__name__)


def to_mathml(node, display):
    """The formula of a node; a command that is not known is a warning, so that it fails the build."""
    latex = node.astext().replace("{aligned}", "{align*}")
    if display == "block" and "\\\\" in latex and "\\begin" not in latex:
        latex = rf"\begin{{align*}}{latex}\end{{align*}}"
    mathml = convert(latex, display=display).replace("<mi>&</mi>", "<mi>&amp;</mi>")
    if "\\" in mathml or "&amp;" in mathml:
        logger.warning("latex2mathml does not know a command of this formula: %s", latex, location=node)
    return mathml.replace("<math ", f'<math aria-label="{escape(node.astext())}" ', 1)


def visit_inline(translator, node):
    """A formula in a line of text."""
    translator.body.append(to_mathml(node, "inline"))
    raise SkipNode


def visit_block(translator, node):
    """A formula of its own; a wide one scrolls, and can be reached by the keyboard."""
    names = "".join(f'<span id="{name}"></span>' for name in node.get("ids", ()))
    translator.body.append(f'<div class="math" tabindex="0">{names}{to_mathml(node, "block")}</div>\n')
    raise SkipNode


def setup(app):
    """Register the way to draw formulas; conf.py chooses it by ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
