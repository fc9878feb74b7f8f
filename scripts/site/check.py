"""Looks through a site: dead links and anchors, and what assistive programs stumble over."""

import os
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

_VOID = {"meta", "link", "input", "img", "br", "hr", "path", "circle"}


class _Seen(HTMLParser):
    """What there is on a page, and what is wrong with it alone."""

    def __init__(self):
        super().__init__()
        self.ids, self.links, self.findings = set(), [], []
        self.level, self.firsts, self.has_title = 0, 0, False
        self.named = None  # the button or link that needs a text: its tag and what it has so far

    def handle_starttag(self, tag, pairs):
        has = dict(pairs)
        if name := has.get("id"):
            if name in self.ids:
                self.findings.append(f"id '{name}' appears twice")
            self.ids.add(name)
        for key in ("href", "src", "aria-controls"):
            if key in has:
                self.links.append(f"#{has[key]}" if key == "aria-controls" else has[key] or "")
        if tag == "html" and not has.get("lang"):
            self.findings.append("no language is given")
        if tag == "img" and not has.get("alt"):
            self.findings.append(f"picture '{has.get('src')}' has no text")
        if tag == "input" and not has.get("aria-label"):
            self.findings.append("a field has no name")
        if tag in ("pre", "div") and has.get("tabindex") == "0" and not has.get("aria-label"):
            self.findings.append("a part that scrolls has no name")
        if tag in ("a", "button"):
            self.named = [tag, has.get("aria-label") or ""]
        self.has_title |= tag == "title"
        if match := re.fullmatch(r"h([1-6])", tag):
            self._heading(int(match[1]))

    def _heading(self, level):
        self.firsts += level == 1
        if level > self.level + 1:
            self.findings.append(f"a heading of level {level} below one of level {self.level}")
        self.level = level

    def handle_data(self, data):
        if self.named:
            self.named[1] += data.strip()

    def handle_endtag(self, tag):
        if self.named and tag == self.named[0]:
            if not self.named[1]:
                self.findings.append(f"a {tag} has no name")
            self.named = None


def findings(folder):
    """Lines: page: what is wrong."""
    seen = {}
    for path in sorted(folder.rglob("*.html")):
        page = _Seen()
        page.feed(path.read_text())
        if page.firsts != 1:
            page.findings.append(f"{page.firsts} headings of the first level")
        if not page.has_title:
            page.findings.append("no title")
        seen[os.path.relpath(path, folder)] = page
    for name, page in seen.items():
        yield from (f"{name}: {finding}" for finding in page.findings)
        for link in page.links:
            if problem := _problem(folder, seen, name, link):
                yield f"{name}: {problem}"


def _problem(folder, seen, name, link):
    parts = urlsplit(link)
    if parts.scheme in ("https", "http", "mailto", "data"):
        return None
    path = os.path.normpath(os.path.join(os.path.dirname(name), parts.path)) if parts.path else name
    if path not in seen:
        return None if (folder / path).is_file() else f"link '{link}' leads nowhere"
    if parts.fragment and unquote(parts.fragment) not in seen[path].ids:
        return f"'{link}': there is no such place on that page"
    return None
