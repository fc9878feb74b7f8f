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
# What cannot run from a terminal: specs, items that a host made, sockets on standard input, and
# what needs a server of another example.
_APART = re.compile(
    r"(?m)^\s*(describe|it|spec|test|setup|before_each|after_each|insulate|expose)\b"
    r"|\b(jobs|tick)\b(?!\x22)|ml\.reload\(\)"
    r"|fd = 0\b(?s:.*)(peer|send_fd|receive_fd|queued|flush|shutdown|:write|copy_to|bytes_written)"
    r"|port = 7070")


def colour(text, language):
    """The text as HTML; what an example prints stands out."""
    if language in ("", "text"):
        return html.escape(text)
    if language == "console":
        return "\n".join(map(_terminal, text.split("\n")))
    made = highlight(text, get_lexer_by_name(language), _FORMAT)
    return re.sub(r'<span class="c1">(--&gt;[^<]*)</span>', r'<span class="out">\1</span>', made)


def _terminal(line):
    """A line of a terminal: what is typed, with a remark behind it if there is one; or output."""
    if not line.startswith("$ "):
        return html.escape(line)
    typed, remark = re.match(r"\$ (.*?)(?:\s{3,}#?\s*(.*))?$", line).groups()
    behind = f'<span class="c1">   # {html.escape(remark)}</span>' if remark else ""
    return f'<span class="gp">$ </span><b>{html.escape(typed)}</b>{behind}'


def command(text, words):
    """The shell command that runs an example as it stands, or None."""
    if words[:1] != ["lua"] or len(words) > 1 or _APART.search(text):
        return None
    if re.match(r"(--.*\n)*return\b", text):
        return None  # a configuration, or a module
    whole = text if re.search(r'(?m)^local ml = require "moonloop"', text) else _PRELUDE + text
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
    """A page that shows one file: its first comment as text, the command to run it, the rest."""
    lines = page.text.rstrip("\n").split("\n")
    name = os.path.basename(page.source)
    page.title = tree.recipes.get(page.source, name)
    language = {".lua": "lua", ".sh": "sh"}.get(os.path.splitext(name)[1], "ini")
    if page.kind == "types":
        text, shown = ["A file of types for editors. The reference is made of it."], lines
    else:
        text, shown = _split(lines, page)
    page.summary = " ".join(text) or page.title
    body = f"<h1>{html.escape(page.title)}</h1>\n"
    body += f'<p class="where"><code>{html.escape(page.source)}</code></p>\n'
    paragraphs = "\n".join(text).split("\n\n")
    body += "".join(f"<p>{_words(paragraph)}</p>\n" for paragraph in paragraphs if paragraph)
    if page.kind == "example" and language == "lua":
        body += figure(_how_to_run(page, lines), "console", None, f"how to run {name}")
    page.body = body + figure("\n".join(shown).strip("\n"), language, None, name)


def _split(lines, page):
    """The words of the file's first comment, without commands, and the lines behind it."""
    mark = "#" if page.source.endswith((".service", ".socket", ".sh")) else "--"
    end = next((at for at, line in enumerate(lines) if not line.startswith((mark, "#!"))), 0)
    words = [line.removeprefix(mark).removeprefix(" ") for line in lines[:end]
             if not line.startswith("#!")]
    if words and words[0].rstrip(".") == page.title:
        words = words[1:]
    return [word for word in words if not re.match(r"  +\S", word)], lines[end:]


def _words(text):
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(" ".join(text.split())))


def _how_to_run(page, lines):
    """The commands of the file's first comment, else the one that suits all."""
    found = [line.removeprefix("--").strip() for line in lines if re.match(r"--  +\S", line)]
    if not any("moonloop " in line for line in found):
        word = "test" if page.source.endswith("_spec.lua") else "run"
        found = [f"moonloop {word} {os.path.basename(page.source)}"]
    return "\n".join(line if line.startswith(("$ ", ">")) else f"$ {line}" for line in found)
