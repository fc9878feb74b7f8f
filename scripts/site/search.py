"""The index of the search: one record for each section, as a script that the page loads."""

import json
import re
from html import unescape

_SECTION = re.compile(r'(?=<h[123] id=")')
_WORDS = 1200  # characters of a section; what is further down is rarely what it is about


def index(tree):
    pages, records = [], []
    for page in tree.pages:
        if page.kind in ("home", "types", "list"):
            continue
        number = len(pages)
        pages.append([page.address, page.title])
        for part in _SECTION.split(page.body):
            match = re.match(r'<h([123]) id="([^"]*)"[^>]*>(.*?)</h\1>', part, re.S)
            title = _text(match[3]) if match else page.title
            body = _text(part[match.end():] if match else part)
            if body or match:
                anchor = match[2] if match and match[1] != "1" else ""
                records.append([number, anchor, title, body[:_WORDS]])
    made = json.dumps({"pages": pages, "records": records}, ensure_ascii=False,
                      separators=(",", ":"))
    return "searchIndex(" + made + ")\n"


def _text(markup):
    markup = re.sub(r'(?s)<a class="anchor".*?</a>|<div class="bar">.*?</div>', "", markup)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", markup)).split())
