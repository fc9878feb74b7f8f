"""Rules of Swift sources: documentation, names, imports, arguments for what no compiler checks."""

import re
from .source import Source

_MODIFIERS = r"(?:(?:@\w+(?:\([^)]*\))?|[a-z]+(?:\([a-z]+\))?)\s+)*"
_PUBLIC = re.compile(
    rf"^\s*{_MODIFIERS}(?:public|open)\s+{_MODIFIERS}"
    r"(?P<kind>func|var|let|init|subscript|class|struct|enum|actor|protocol|typealias|macro)\b"
    r"[?!]?\s*(?P<name>`[^`]+`|[\w=<>+\-*/&|!~]*)"
)
# Witnesses whose meaning is the protocol's; documenting them would only repeat it.
_WITNESSES = {
    "description",
    "debugDescription",
    "==",
    "<",
    "hash",
    "encode",
    "rawValue",
    "RawValue",
    "id",
    "next",
    "makeIterator",
    "customMirror",
    "playgroundDescription",
}
_WITNESS_INITS = re.compile(
    r"init\??\((rawValue|from|arrayLiteral|stringLiteral|integerLiteral|floatLiteral"
    r"|booleanLiteral|nilLiteral|dictionaryLiteral)\b"
)
SUMMARY = 120

_UNCHECKED = re.compile(
    r"@unchecked\s+Sendable|nonisolated\(unsafe\)|unowned\(unsafe\)|(?<![\w.])unsafe(?![\w(:])"
    r"|\bunsafeBitCast\b|\btry!|\bas!"
)
_UNOWNED = re.compile(r"\bunowned\b(?!\()")
_DECLARED = re.compile(r"\b(?:let|var|func)\s+(?P<name>[A-Za-z_]\w*)")
_NAME = re.compile(r"_?[a-z][A-Za-z0-9]*(_(ns|us|ms|s))?|L|_|[a-z]+_\w+(?=\()")
_WAITS = re.compile(
    r"(?<!case )(?<!func )(?<![.\w])(Task\.sleep|Thread\.sleep|usleep|nanosleep|sleep)\s*\("
)
# Tests of the real kernel and of the program, and the driver that runs scenarios on real time.
MAY_WAIT = (
    "Tests/LinuxKernelTests/", "Tests/ProgramTests/", "Tests/ConformanceDriver/",
    "Tests/MainQueueProgram/",
)


def check(source: Source):
    if source.suffix != ".swift":
        return
    in_sources = source.path.startswith("Sources/")
    for number, code in enumerate(source.code, 1):
        if in_sources:
            yield from _documentation(source, number)
        if match := re.match(r"\s*(?:\w+\s+)*import\s+(Foundation\w*)", code):
            if in_sources and not source.path.startswith("Sources/MoonloopFoundation/"):
                yield source.finding(
                    number,
                    "foundation",
                    f"imports {match[1]}; it doubles the start-up time",
                    "use the standard library, Glibc or Synchronization",
                )
        if re.search(r"@testable\b", code):
            yield source.finding(
                number,
                "testable",
                "@testable sees what users of the module do not",
                "test through public or package declarations",
            )
        if (match := _UNCHECKED.search(code)) and not source.has_comment_beside(number):
            yield source.finding(
                number,
                "argument",
                f"'{match[0]}' takes the place of a check by the compiler",
                "say in one sentence beside it why it is right",
            )
        if in_sources and _UNOWNED.search(code) and not _says_who_outlives(source, number):
            yield source.finding(
                number,
                "unowned",
                "'unowned' ends the program if what it refers to goes first",
                "refer weakly, hold it until the end, or say beside it what outlives what; for "
                "several lines '// Unowned: ...' above",
            )
        for match in _DECLARED.finditer(code):
            if not _NAME.fullmatch(match["name"]):
                yield source.finding(
                    number,
                    "name",
                    f"'{match['name']}' is not in lower camel case",
                    "rename it; exceptions are L and a unit at the end, such as wait_ns",
                )
        if source.path.startswith("Tests/") and not source.path.startswith(MAY_WAIT):
            if match := _WAITS.search(code):
                yield source.finding(
                    number,
                    "sleeping",
                    f"'{match[1]}' in a test; it is slow and proves nothing",
                    "use virtual time; LinuxKernelTests and ProgramTests may wait for events",
                )


def _says_who_outlives(source: Source, number: int) -> bool:
    """Whether a comment stands beside the line, or speaks for it above, before any empty line."""
    if source.has_comment_beside(number):
        return True
    for line in reversed(source.lines[: number - 1]):
        if not line.strip():
            return False
        if re.match(r"\s*// (.*\. )?Unowned\b", line):
            return True
    return False


def _in_conformance(source: Source, number: int) -> bool:
    """Whether the line is in `extension Type: Protocol`: what is there is documented there."""
    for code in reversed(source.code[: number - 1]):
        if re.match(r"[@a-z]", code):
            return bool(re.match(r"(?:[@\w]+\s+)*extension\s+[\w.]+\s*:", code))
        if code.startswith("}"):
            return False
    return False


def _documentation(source: Source, number: int):
    match = _PUBLIC.match(source.code[number - 1])
    if not match or "override" in match[0].split():
        return
    name = match["name"] or match["kind"]
    if name in _WITNESSES or _WITNESS_INITS.search(source.code[number - 1]):
        return
    if _in_conformance(source, number):
        return
    above = number - 2
    # Attributes and arguments (`// Sendable: ...`) may stand between.
    while above >= 0 and re.match(r"\s*(@\w+(\(.*\))?\s*$|//(?!/))", source.lines[above]):
        above -= 1
    if above < 0 or not source.lines[above].lstrip().startswith("///"):
        yield source.finding(
            number,
            "docs",
            f"public '{name}' has no documentation; it is all that a user sees",
            "say in one sentence what it does, then edge cases, parameters, thread",
        )
        return
    first = above
    while first > 0 and source.lines[first - 1].lstrip().startswith("///"):
        first -= 1
    paragraph = []
    for line in source.lines[first : above + 1]:
        text = line.strip().removeprefix("///").strip()
        if not text or text.startswith("- "):
            break
        paragraph.append(text)
    summary = re.split(r"(?<=[.!?])\s", " ".join(paragraph))[0]
    if not summary.endswith((".", "?", "!", ":")) or len(summary) > SUMMARY:
        yield source.finding(
            first + 1,
            "summary",
            f"the summary of '{name}' is not a sentence of at most {SUMMARY} characters",
            "say what it does in one short sentence that ends with a full stop",
        )
