"""Rules of size: lines of a file, a script and a function. Old offenders may only shrink."""

import ast
import re
from .source import Source

FILE, SCRIPT, FUNCTION = 500, 80, 70
SIZED = {".swift", ".c", ".h", ".lua", ".py"}

_SWIFT_FUNCTION = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:[a-z]+(?:\([a-z]+\))?\s+)*?"
    r"(?:func\s+(?P<name>`[^`]+`|[^\s(<]+)|(?P<kind>init|deinit|subscript)\b[?!]?)"
)
_C_FUNCTION = re.compile(r"^[A-Za-z_][^;={}]*?\b(?P<name>\w+)\s*\([^;]*$")
_LUA_FUNCTION = re.compile(r"\bfunction\b\s*(?P<name>[\w.:]*)")
_LUA_BLOCK = re.compile(r"\b(function|if|do|repeat|end|until)\b")


def check(source: Source):
    lines = len(source.lines) - (source.lines[-1] == "")
    is_script = re.fullmatch(r"scripts/[^/.]+", source.path)
    limit = SCRIPT if is_script else FILE
    if lines > limit and (is_script or source.suffix in SIZED) and not source.is_generated:
        yield source.finding(
            1,
            "file-length",
            f"{lines} lines, limit {limit}; a file holds one concept",
            "split it by concept: Type+Aspect",
        ), lines
    for name, first, last in functions(source):
        if last - first + 1 > FUNCTION:
            yield source.finding(
                first,
                "function-length",
                f"'{name}' has {last - first + 1} lines, limit {FUNCTION}; it must fit a screen",
                "move its stages into functions of their own",
            ), last - first + 1


def functions(source: Source):
    """The functions of a file: name, first line, last line."""
    if source.suffix == ".swift":
        yield from _braced(source, _SWIFT_FUNCTION)
    elif source.suffix in (".c", ".h"):
        yield from _braced(source, _C_FUNCTION)
    elif source.suffix == ".lua":
        yield from _lua(source)
    elif source.suffix == ".py":
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, ast.FunctionDef):
                yield node.name, node.lineno, node.end_lineno


def _braced(source: Source, pattern):
    for index, line in enumerate(source.code):
        match = pattern.match(line)
        if not match or (
            source.suffix == ".swift" and re.match(r"\s*(return|case|let|var)\b", line)
        ):
            continue
        last = _end_of_body(
            source.code, index, match.start("name") if match["name"] else match.end()
        )
        if last is not None:
            yield match["name"] or match["kind"], index + 1, last + 1


def _end_of_body(code, index, column):
    """The line of the brace that closes the body; None if the declaration has no body."""
    parens = braces = 0
    for at in range(index, len(code)):
        text = code[at][column if at == index else 0 :]
        for character in text:
            parens += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
            if character == "{" and (braces or parens == 0):
                braces += 1
            elif character == "}":
                if braces == 0:
                    return None
                braces -= 1
                if braces == 0:
                    return at
        if braces == 0 and parens == 0 and not _goes_on(code, at):
            return None
    return None


def _goes_on(code, at):
    """Whether a declaration without an open bracket goes on in the next line."""
    following = code[at + 1].strip() if at + 1 < len(code) else ""
    return following.startswith(("{", "->", "where", "throws", "async", ":"))


def _lua(source: Source):
    open_blocks = []
    for number, line in enumerate(source.code, 1):
        for match in _LUA_BLOCK.finditer(line):
            if match[0] in ("end", "until"):
                name, first = open_blocks.pop() if open_blocks else (None, number)
                if name is not None:
                    yield name, first, number
            elif match[0] == "function":
                named = _LUA_FUNCTION.match(line, match.start())
                open_blocks.append((named["name"] or "function", number))
            else:
                open_blocks.append((None, number))
