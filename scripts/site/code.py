"""Blocks of code: colours by Pygments, a button that copies, and the command that runs it."""

import html
import os
import re

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

_FORMAT = HtmlFormatter(nowrap=True)
_NAMES = {"lua": "Lua", "swift": "Swift", "console": "Terminal", "sh": "Shell", "ini": "Unit file"}
_PRELUDE = 'local ml = require "moonloop"\nlocal loop = ml.current()\n'
# What the examples of the reference find on standard input.
_INPUT = "printf 'one\\ntwo\\nthree\\n' | "
_FOR_TESTS = re.compile(r"^\s*(describe|it|setup|before_each|after_each|insulate|expose)\b", re.M)


def colour(text, language):
    """The text as HTML; what an example prints stands out."""
    if language in ("", "text"):
        return html.escape(text)
    if language == "console":
        return "\n".join(
            f'<span class="gp">$ </span><b>{html.escape(line[2:])}</b>' if line.startswith("$ ")
            else html.escape(line) for line in text.split("\n"))
    made = highlight(text, get_lexer_by_name(language), _FORMAT)
    return re.sub(r'<span class="c1">(--&gt;[^<]*)</span>', r'<span class="out">\1</span>', made)


def command(text, words):
    """The shell command that runs an example as it stands, or None."""
    if words[:1] != ["lua"] or len(words) > 1 or _FOR_TESTS.search(text):
        return None
    if re.match(r"(--.*\n)*return\b", text):
        return None  # a configuration, or a module
    whole = text if 'require "moonloop"' in text or "require(" in text else _PRELUDE + text
    reads = _INPUT if re.search(r"\bfd = 0\b|ml\.(fd|stream)\(0", text) else ""
    return f"{reads}moonloop run --clock virtual /dev/fd/3 3<<'LUA'\n{whole.rstrip()}\nLUA\n"


def block(page, token):
    """A fenced block of a page; what has no language and begins with `$` is a terminal's."""
    words = token.info.split()
    text = token.content.rstrip("\n")
    language = words[0] if words else ""
    if language in ("", "text") and re.match(r"\$ ", text):
        language = "console"
    page.examples += 1
    return figure(text, language, command(text, words), f"{page.title}, {page.examples}")


def figure(text, language, run=None, label=""):
    name = _NAMES.get(language, "")
    title = html.escape(f"{name or 'Text'}: {label}", quote=True)
    buttons = '<button type="button" class="copy">Copy</button>'
    if run:
        run = html.escape(run, quote=True)
        buttons += (f'<button type="button" class="copy" data-text="{run}" '
                    f'title="A command for a terminal that runs this">Copy command</button>')
    return (f'<div class="code"><div class="bar"><span>{name}</span>{buttons}</div>'
            f'<pre tabindex="0" role="region" aria-label="{title}"><code>'
            f"{colour(text, language)}</code></pre></div>\n")


def page(page, tree):
    """A page that shows one file, with the comment at its top as text and the command to run it."""
    lines = page.text.rstrip("\n").split("\n")
    name = os.path.basename(page.source)
    first = next((at for at, line in enumerate(lines) if line.startswith("--")
                  and not line.startswith("---")), None)
    page.title = name
    if "/cookbook/" in page.source and first is not None:
        page.title = lines[first].removeprefix("-- ").rstrip(".")
    page.summary = page.title
    language = {".lua": "lua", ".sh": "sh"}.get(os.path.splitext(name)[1], "ini")
    head = f"<h1>{html.escape(page.title)}</h1>\n"
    if page.kind == "example":
        head += _how_to_run(page, lines)
    else:
        head += "<p>A file of types for editors. The reference is made of it.</p>\n"
    page.body = head + figure(page.text.rstrip("\n"), language, None, name)


def _how_to_run(page, lines):
    """The commands that the file's first comment gives, else the one that suits all."""
    where = f'<p class="where"><code>{html.escape(page.source)}</code></p>\n'
    found = [line.removeprefix("--").strip() for line in lines if re.match(r"--   \S", line)]
    if not page.source.endswith(".lua"):
        return where
    if not any(line.lstrip("$ ").startswith("moonloop") or "| moonloop" in line for line in found):
        found = [f"moonloop run {page.source}"]
    text = "\n".join(line if line.startswith("$ ") else f"$ {line}" for line in found)
    return where + figure(text, "console", None, f"how to run {os.path.basename(page.source)}")
