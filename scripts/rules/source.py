"""A source file as the rules see it: its lines, then these as code alone and as comments alone."""

import re
from typing import NamedTuple

# Where a comment or a string begins, by language; the longest first. Each opener names its closer.
_C_LIKE = [("//", "\n"), ("/*", "*/"), ('"', '"'), ("'", "'")]
_SWIFT = [("//", "\n"), ("/*", "*/"), ('#"""', '"""#'), ('"""', '"""'), ('#"', '"#'), ('"', '"')]
_LUA = [
    ("--[[", "]]"),
    ("--[=[", "]=]"),
    ("--", "\n"),
    ("[==[", "]==]"),
    ("[=[", "]=]"),
    ("[[", "]]"),
    ('"', '"'),
    ("'", "'"),
]
_HASH = [("#", "\n"), ('"""', '"""'), ('"', '"'), ("'", "'")]
_OPENERS = {".swift": _SWIFT, ".c": _C_LIKE, ".h": _C_LIKE, ".lua": _LUA, ".py": _HASH}
_COMMENTS = ("//", "/*", "--", "#")


class Finding(NamedTuple):
    """What a rule has to say about a line."""

    path: str
    line: int
    rule: str
    what: str  # the fact, then why it matters
    do: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.what}; {self.do}"


class Source:
    """A text file of the repository, by its path from the top."""

    def __init__(self, path: str, text: str):
        self.path, self.text = path, text
        self.stem, _, suffix = path.rsplit("/", 1)[-1].rpartition(".")
        self.suffix = "." + suffix if self.stem else ""
        self.lines = text.split("\n")
        code, comments = _mask(text, _OPENERS.get(self.suffix, []))
        self.code, self.comments = code.split("\n"), comments.split("\n")

    def finding(self, line: int, rule: str, what: str, do: str) -> Finding:
        return Finding(self.path, line, rule, what, do)

    def has_comment_beside(self, line: int) -> bool:
        """Whether a comment stands on the line (1 is the first) or directly above it."""
        if self.comments[line - 1].strip():
            return True
        above = line - 2
        while above >= 0 and re.match(r"\s*@\w+(\(.*\))?\s*$", self.code[above]):
            above -= 1
        return above >= 0 and bool(self.comments[above].strip()) and not self.code[above].strip()


def _mask(text: str, openers) -> tuple[str, str]:
    """The text twice: blanks for all that is no code, and blanks for all that is no comment."""
    blank = re.sub(r"[^\n]", " ", text)
    if not openers:
        return text, blank
    start = re.compile("|".join(re.escape(opener) for opener, _ in openers))
    closers = dict(openers)
    code, comments, at = [], [], 0
    while match := start.search(text, at):
        opener = match[0]
        end = _end_of(text, match.end(), closers[opener], opener in ('"', "'", '"""'))
        is_comment = opener.startswith(_COMMENTS) and not opener.startswith('#"')
        code += [text[at : match.start()], blank[match.start() : end]]
        comments += [
            blank[at : match.start()],
            (text if is_comment else blank)[match.start() : end],
        ]
        at = end
    return "".join(code) + text[at:], "".join(comments) + blank[at:]


def _end_of(text: str, at: int, closer: str, escapes: bool) -> int:
    """The offset after the closer; before the end of line where that is the closer."""
    while at < len(text):
        if escapes and text[at] == "\\":
            at = _after_escape(text, at)
        elif text.startswith(closer, at):
            return at if closer == "\n" else at + len(closer)
        elif text[at] == "\n" and len(closer) == 1 and closer in "\"'":
            return at  # an unfinished string, or an apostrophe: it ends with its line
        else:
            at += 1
    return at


def _after_escape(text: str, at: int) -> int:
    """The offset after a backslash and what it escapes; Swift's `\\(...)` is skipped as a whole."""
    if text[at + 1 : at + 2] != "(":
        return at + 2
    depth, at = 1, at + 2
    while at < len(text) and depth and text[at] != "\n":
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at
