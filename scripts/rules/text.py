"""Rules for any text: width of lines, words, open ends, and paths of one machine."""

import re
from .source import Source

COLUMNS = 100
WIDE = {".swift", ".c", ".h", ".lua", ".py", ""}  # not: tables of Markdown, data

# word (a pattern); where it must not appear ("code": identifiers too, "prose": comments and pages);
# what to do
WORDS = [
    (r"\bevent[ -]loops?\b", "prose", "the field's word is 'run loop'"),
    (r"\b(runloops?|Runloops?|RunLoops)\b", "prose", "write 'run loop'"),  # a type is `RunLoop`
    (r"\bloop iterations?\b|\biterations? of the (run )?loop\b", "prose", "the word is 'pass'"),
    (r"(?-i:\bwakeups?\b)", "prose", "write 'wake-up' (the thing) or 'wake up' (to do it)"),
    (r"\bwhite-?list|\bblack-?list", "code", "write 'allow list' or 'deny list'"),
    (r"\bsanity[ -]check", "prose", "say what is checked"),
    (r"\butili[sz]e", "prose", "write 'use'"),
    (r"\bin order to\b", "prose", "write 'to'"),
    (r"\b(obviously|simply|basically|of course)\b", "prose", "leave it out"),
    (r"\banew\b", "prose", "write 'again'"),
    (r"\binside of\b", "prose", "write 'inside'"),
    (r"\bmend(s|ed|ing)?\b", "prose", "write 'fix'"),
    (r"\bdear(er|est)\b", "prose", "write 'more expensive' or 'slower'"),
    (r"\bto and fro\b", "prose", "write 'back and forth'"),
    (r"\bhears? of\b", "prose", "say which handler is called"),
    (
        r"\bnobody (else|hears|waits|reads|listens|counts|holds|took|depends|starts)\b",
        "prose",
        "a program or thread is 'none' or 'no other'; or say what does not happen",
    ),
    (r"\b(is|are|be) told(?=[.,;:]| (at|by|with|in)\b)", "prose", "write 'reported'"),
    (r"\bwhoever\b", "prose", "say who or what it is"),
    (r"\b(he|him|his)\b", "prose", "a program is 'it'"),
    (r", about[.,;]", "prose", "write 'approximate' before the figure"),
    (
        r"\b(?!FileManager\b)[A-Z]\w*(Manager|Helper|Utils?|Misc)\b",
        "code",
        "name it for what it does",
    ),
]
WORDS = [(re.compile(word, re.I if word.islower() else 0), where, do) for word, where, do in WORDS]

# Split, so that this file does not contain what it looks for.
MACHINE = re.compile(r"(?<![\w.*])/(work|farm|root|tmp/ml|home/[a-z]\w*)/")
OPEN_END = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")


def check(source: Source):
    for number, line in enumerate(source.lines, 1):
        comment, code = source.comments[number - 1], source.code[number - 1]
        is_prose = source.suffix == ".md"
        if (
            source.suffix in WIDE
            and len(line) > COLUMNS
            and not source.is_generated
            and not line.startswith("---@")  # an annotation cannot be broken
            and not re.search(r"https?://\S{60,}", line)
        ):
            yield source.finding(
                number,
                "columns",
                f"{len(line)} columns; two files must fit side by side",
                f"break the line before column {COLUMNS + 1}",
            )
        if line != line.rstrip() and not is_prose:
            yield source.finding(
                number,
                "blanks",
                "blanks at the end of the line; they make noise in diffs",
                "remove them",
            )
        if "\t" in line and source.suffix in WIDE:
            yield source.finding(
                number, "blanks", "a tab; its width differs by editor", "use spaces"
            )
        if match := MACHINE.search(line):
            yield source.finding(
                number,
                "machine-path",
                f"'{match[0]}' exists on one machine only",
                "use a path from the top of the repository",
            )
        if match := OPEN_END.search(line if is_prose else comment):
            yield source.finding(
                number,
                "open-end",
                f"{match[0]} without an issue will be forgotten",
                f"do it, drop it, or write TODO(#issue)",
            )
        for word, where, do in WORDS:
            text = line if is_prose or where == "code" else comment
            if match := word.search(text):
                yield source.finding(number, "word", f"'{match[0]}': one word for one thing", do)
