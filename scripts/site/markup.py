"""Markdown to HTML with markdown-it-py, as GitHub reads it: headings, links, tables, entries."""

import html
import itertools
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

import code

_ENTRY = re.compile(r"^### `([\w.:]+)")


def entries(page):
    """What a page of the reference explains: the entry, and where."""
    found = {}
    for line in page.text.split("\n"):
        if match := _ENTRY.match(line):
            found.setdefault(match[1], (page, match[1]))
    return found


def slug(text):
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def render(page, tree):
    """Fills in the page's body, title, headings and summary."""
    if page.kind in ("types", "example"):
        return code.page(page, tree)
    md = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = md.parse(page.text)
    page.examples = 0
    _headings(page, tokens)
    for before, token in zip([None, *tokens], tokens):
        _inline(page, tree, token, bool(before) and before.type == "heading_open")
    md.add_render_rule("fence", lambda _, tokens, at, *__: code.block(page, tokens[at]))
    md.add_render_rule("code_block", lambda _, tokens, at, *__: code.block(page, tokens[at]))
    md.add_render_rule("heading_close", _heading_close)
    for at, token in enumerate(tokens):
        if token.type == "th_open" and not tokens[at + 1].content:
            token.tag = tokens[at + 2].tag = "td"  # it is no heading of its column
    numbers = itertools.count(1)
    md.add_render_rule("table_open", lambda *_: (
        f'<div class="scroll" role="region" aria-label="Table {next(numbers)}" tabindex="0">'
        "<table>\n"))
    md.add_render_rule("table_close", lambda *_: "</table></div>\n")
    page.body = md.renderer.render(tokens, md.options, {})
    if not page.summary:
        page.summary = next((_plain(t) for t in tokens if t.type == "inline"
                             and _plain(t) != page.title), page.title)


def _plain(token):
    return "".join(t.content if t.type in ("text", "code_inline") else
                   " " if t.type == "softbreak" else "" for t in token.children or [])


def _headings(page, tokens):
    """Gives each heading an anchor: an entry's is its name, the others' are GitHub's."""
    used, in_part = {}, False
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = _plain(tokens[at + 1])
        # Levels follow each other: what the reference says before its first class is level 2.
        level = int(token.tag[1])
        in_part = in_part or level == 2
        level -= level > 2 and not in_part
        token.tag = tokens[at + 2].tag = f"h{level}"
        if level == 1 and not page.title:
            page.title = text
        is_code = tokens[at + 1].children[0].type == "code_inline"
        is_entry = is_code and page.source.startswith("docs/reference")
        match = _ENTRY.match(f"### `{text}") if is_entry else None
        anchor = match[1] if match else slug(text)
        used[anchor] = used.get(anchor, 0) + 1
        if used[anchor] > 1:
            anchor += f"-{used[anchor] - 1}"
        token.attrSet("id", anchor)
        if match:
            token.attrSet("class", "entry")
        tokens[at + 2].attrSet("id", anchor)
        if level > 1:
            page.headings.append((level, match[1] if match else text, anchor))


def _heading_close(self, tokens, at, *_):
    token = tokens[at]
    anchor, level = token.attrGet("id"), int(token.tag[1])
    link = ""
    if level > 1:
        name = html.escape(_plain(tokens[at - 1]), quote=True)
        link = f'<a class="anchor" href="#{anchor}" aria-label="Link to {name}">#</a>'
    return f"{link}</{token.tag}>\n"


def _inline(page, tree, token, is_heading):
    """Links of one paragraph; names of entries become links to them, except in headings."""
    if token.type != "inline":
        return
    opened, made = [], []
    for child in token.children:
        if child.type == "link_open":
            opened.append(child)
            _link(page, tree, child)
        elif child.type == "link_close":
            child.tag = opened.pop().tag
        elif child.type == "image":
            child.attrSet("src", tree.resolve(page, child.attrGet("src")) or "")
            label = html.escape(child.content, quote=True)
            scroll = f'<span class="picture" role="region" aria-label="{label}" tabindex="0">'
            made += [Token("html_inline", "", 0, content=scroll), child]
            child = Token("html_inline", "", 0, content="</span>")
        elif child.type == "code_inline" and not opened and not is_heading:
            child = _entry_link(page, tree, child) or child
        made.append(child)
    token.children = made


def _link(page, tree, child):
    target = child.attrGet("href")
    if re.match(r"https?:|mailto:", target):
        child.attrSet("rel", "noopener")
        return
    found = tree.resolve(page, target)
    if found is None:  # a file of the repository that the site does not show
        child.tag, child.attrs = "span", {"class": "file", "title": target.lstrip("./")}
    else:
        child.attrSet("href", found)


def _entry_link(page, tree, child):
    name = re.match(r"[\w.:]*", child.content)[0]
    if name not in tree.entries and not name.startswith(("ml.", "loop:")):
        name = re.sub(r"^[a-z_]+(?=[:.])", "item", name)  # `timer:invalidate`: of all items
    if name not in tree.entries or not re.fullmatch(r"[\w.:]+(\(.*\)|\s*\{.*\})?", child.content):
        return None
    target, anchor = tree.entries[name]
    if "." not in name and ":" not in name:
        return None  # `it`, `test`: words that have other meanings too
    text = html.escape(child.content)
    child.type, child.tag = "html_inline", ""
    here = page.address.count("/")
    address = "" if target is page else "../" * here + target.address
    child.content = f'<a class="name" href="{address}#{anchor}"><code>{text}</code></a>'
    return child
