"""The shell of a page: header, menu, the page itself, its own contents."""

import html
import os
import re

import code
import markup

_LOGO = (
    '<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><path d="M27 16a11 11 0 1 1-4-8.5" '
    'fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round"/><path d="M24.4 '
    '2.6 23.6 9l-6-1.8z" fill="currentColor"/><path d="M19.6 19.4a6 6 0 0 1-7-7 5.6 5.6 0 1 0 7 7z"'
    ' fill="var(--moon)"/></svg>'
)
_DOCUMENT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{summary}">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{up}style.css">
<script>
  const kept = (() => {{ try {{ return localStorage.getItem("theme") }} catch {{}} }})()
  document.documentElement.className = "js"
  if (kept) document.documentElement.dataset.theme = kept
</script>
<script src="{up}script.js" defer></script>
</head>
<body data-up="{up}" class="{kind}">
<a class="skip" href="#content">To the page</a>
<header>
  <button type="button" id="menu-button" aria-expanded="false" aria-controls="menu">Menu</button>
  <a class="brand" href="{up}index.html">{logo}Moonloop</a>
  <div class="search" role="search">
    <input id="search" type="search" placeholder="Search" aria-label="Search the documentation"
      autocomplete="off" spellcheck="false" role="combobox" aria-expanded="false"
      aria-controls="results" aria-autocomplete="list">
    <kbd aria-hidden="true">/</kbd>
    <ul id="results" role="listbox" aria-label="Results" hidden></ul>
  </div>
  <button type="button" id="theme" aria-label="Dark or light">◐</button>
</header>
<div class="columns">
<nav id="menu" aria-label="All pages">
{menu}
</nav>
<main id="content" tabindex="-1">
{body}
</main>
{contents}
</div>
<footer>{footer}</footer>
</body>
</html>
"""


def document(page, tree):
    title = "Moonloop" if page.kind == "home" else f"{page.title} · Moonloop"
    body = _home(page, tree) if page.kind == "home" else page.body
    return _DOCUMENT.format(
        title=html.escape(title), summary=html.escape(page.summary[:200], quote=True),
        up=page.up(), kind=page.kind, logo=_LOGO, menu=_menu(page, tree), body=body,
        contents="" if page.kind == "home" else _contents(page), footer=_footer(page))


def _to(page, target):
    return os.path.relpath(target.address, os.path.dirname(page.address) or ".")


def _menu(page, tree):
    parts = []
    for heading, links in tree.menu:
        parts.append(f'<p class="group">{html.escape(heading)}</p>\n<ul>')
        for label, target, _ in links:
            below = _below(page, tree, target)
            parts.append(f"<li>{_menu_link(page, target, label)}{below}</li>")
        parts.append("</ul>")
    return "\n".join(parts)


def _menu_link(page, target, label):
    mark = ' aria-current="page"' if target is page else ""
    return f'<a href="{_to(page, target)}"{mark}>{html.escape(label)}</a>'


def _below(page, tree, target):
    """The pages of the reference, of the recipes, below the entry of the menu that lists them."""
    if target.source == "docs/lua-api.md":
        kin = [p for p in tree.pages if p.source.startswith("docs/reference/")]
        order = {s: at for at, s in enumerate(re.findall(r"\(reference/(\S+?)\)", target.text))}
        kin.sort(key=lambda p: order.get(os.path.basename(p.source), 99))
        is_open = page is target or page in kin
    elif target.source == "docs/cookbook.md":
        is_open = page.kind == "example"
        kin = [page]
    else:
        return ""
    if not is_open:
        return ""
    rows = []
    for other in kin:
        rows.append(f"<li>{_menu_link(page, other, other.title)}</li>")
    return "<ul>" + "\n".join(rows) + "</ul>"


def _contents(page):
    """What is on the page, if that is more than two things."""
    listed = [(level, text, anchor) for level, text, anchor in page.headings if level <= 3]
    if len(listed) < 3:
        return ""
    rows = "\n".join(
        f'<li class="at{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
        for level, text, anchor in listed)
    return (f'<nav class="contents" aria-label="On this page"><p class="group">On this page</p>'
            f"<ul>\n{rows}\n</ul></nav>")


def _footer(page):
    return f"Moonloop · made from <code>{html.escape(page.source)}</code>"


def _home(page, tree):
    """The first page: what it is, a script, and the groups of pages with a line on each."""
    readme = (tree.top / "README.md").read_text()
    first = " ".join(readme.split("\n\n")[1].split())
    first = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", first)
    first = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(first))
    hello = re.search(r"(?s)```lua\n(.*?)```\n\n```text\n(.*?)```", readme)
    parts = [
        f'<div class="hero"><h1>Moonloop</h1><p>{first}</p>',
        '<p class="actions"><a class="strong" href="story.html">Ten minutes to a service</a> '
        '<a href="cookbook.html">Cookbook</a> <a href="lua-api.html">Reference</a></p></div>',
        code.figure(hello[1].rstrip(), "lua", None, "hello.lua"),
        code.figure(hello[2].rstrip().replace("scripts/moonloop", "moonloop"), "console", None,
                    "its output")]
    for heading, links in tree.menu:
        parts.append(f'<h2 id="{markup.slug(heading)}">{html.escape(heading)}</h2>')
        parts.append('<ul class="cards">')
        for label, target, about in links:
            text = _about(about)
            parts.append(f'<li><a href="{target.address}">{html.escape(label)}</a>{text}</li>')
        parts.append("</ul>")
    return "\n".join(parts)


def _about(text):
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).lstrip(":; ")
    text = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))
    return f"<p>{text}</p>" if text else ""
