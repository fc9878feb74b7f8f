"""Names of ours in the examples: each function, field and option must be in docs/types.

This is no type checker. It knows `ml`, what is `ml.current()`, and locals that are assigned once,
from a function of ours; parameters, tables of the script and values that flow further are taken
as they are. What it looks at is enough to find a name that was misspelt or is gone.
"""

import re
from .source import Finding, Source

_CLASS = re.compile(r"---@class ([\w.]+)(?:: ?([\w.]+))?")
_FIELD = re.compile(r"---@field (?:\[\d+\]|(\w+)\??)")
_PARAM = re.compile(r"---@param \w+\?? (?:\w+\|)*(moonloop\.\w*Options)\b")
_RETURN = re.compile(r"---@return (moonloop\.\w+)\??(?= )")
_FUNCTION = re.compile(r"function ([\w.]+?)[.:](\w+)\(")
_VALUE = re.compile(r"([\w.]+)\.(\w+) = nil$")
_RECEIVER = re.compile(r"(?:local )?([\w.]+) = \{\}$")
_LOCAL = re.compile(
    r"\blocal (\w+)(?: *<close>)?(?:, *\w+(?: *<close>)?)* *= *(?:assert *\( *)?"
    r"(\w+(?:[.:]\w+)+) *(?=[({\"'])"
)
_USE = re.compile(r"(?<![\w.:\"'])(\w+)((?:[.:]\w+)+)")


class Types:
    """What docs/types declares."""

    def __init__(self, sources):
        self.members, self.parents, self.fields, self.receivers = {}, {}, {}, {}
        self.returns, self.options = {}, {}
        for path, source in sorted(sources.items()):
            if re.fullmatch(r"docs/types/\w+\.lua", path):
                self._read(source.lines)

    def _read(self, lines):
        name, returned, options = None, None, None
        for line in lines:
            if match := _CLASS.match(line):
                name = match[1]
                self.fields.setdefault(name, set())
                if match[2]:
                    self.parents[name] = match[2]
            elif match := _FIELD.match(line):
                self.fields[name].add(match[1])
            elif match := _PARAM.match(line):
                options = options or match[1]
            elif match := _RETURN.match(line):
                returned = returned or match[1]
            elif not line.startswith("---"):
                if match := _RECEIVER.match(line):
                    self.receivers[match[1]] = name
                elif match := _FUNCTION.match(line) or _VALUE.match(line):
                    owner = self.receivers.get(match[1])
                    self.members.setdefault(owner, set()).add(match[2])
                    self.returns[owner, match[2]] = returned
                    self.options[owner, match[2]] = options
                returned = options = None

    def owner_of(self, kind, name):
        """The class, this one or one above it, that has a member."""
        while kind:
            if name in self.members.get(kind, ()) or name in self.fields.get(kind, ()):
                return kind
            kind = self.parents.get(kind)

    def option_names(self, kind):
        names = set()
        while kind:
            names |= self.fields.get(kind, set())
            kind = self.parents.get(kind)
        return names

    def follow(self, kind, words, path):
        """The class and member that a chain ends with; a third value is what is not there."""
        for place, word in enumerate(words):
            path += "." + word
            owner = self.owner_of(kind, word)
            if kind == "moonloop" and path.replace("moonloop", "ml", 1) in self.receivers:
                kind = self.receivers[path]
                continue
            if not owner:
                return None, None, word
            if place == len(words) - 1:
                return owner, word, None
            kind = None  # a field's own fields are not followed
            break
        return None, None, None


def check(sources: dict[str, Source]):
    types = Types(sources)
    if not types.receivers:
        return
    for path, source in sorted(sources.items()):
        if path.startswith("scripts/examples/") and path.endswith(".lua"):
            yield from _check(source, types)


def _check(source: Source, types: Types):
    code = "\n".join(source.code)
    kinds = {"ml": "moonloop"} if 'local ml = require "moonloop"' in source.text else {}
    seen = {}
    for match in _LOCAL.finditer(code):
        first, *words = re.split(r"[.:]", match[2])
        if first in kinds:
            owner, word, _ = types.follow(kinds[first], words, first)
            kind = types.returns.get((owner, word))
            seen.setdefault(match[1], set()).add(kind)
            if kind == "moonloop.Loop":
                kinds[match[1]] = kind
    for name, found in seen.items():
        if len(found) == 1 and _is_sole(name, code):
            kinds[name] = found.pop()
    for match in _USE.finditer(code):
        words = re.split(r"[.:]", match[2])[1:]
        kind = kinds.get(match[1])
        if not kind:
            continue
        owner, word, missing = types.follow(kind, words, match[1])
        line = code.count("\n", 0, match.start()) + 1
        if missing:
            yield source.finding(line, "type", f"{kind} has no '{missing}' in docs/types",
                                 "correct the name")
        elif options := types.options.get((owner, word)):
            known = types.option_names(options)
            for key in _keys(code, match.end()):
                if key not in known:
                    yield source.finding(line, "type", f"{options} has no '{key}' in docs/types",
                                         "correct the name")


def _is_sole(name, code):
    """Whether a name is declared once, and is no parameter."""
    declared = re.findall(rf"\blocal (?:\w+, *)*{name}\b", code)
    parameter = re.search(rf"\bfunction[^()]*\([^()]*\b{name}\b|\bfor [^=\n]*\b{name}\b", code)
    return len(declared) == 1 and not parameter


def _keys(code, start):
    """The keys of the table that a call has as its first argument."""
    if not (match := re.match(r" *\(? *\{", code[start:])):
        return
    depth, at = 0, start + match.end() - 1
    while at < len(code):
        if code[at] in "{(":
            depth += 1
        elif code[at] in "})":
            depth -= 1
            if depth == 0:
                return
        elif word := re.compile(r"\b(function|do|then|elseif|repeat|end|until)\b").match(code, at):
            depth += {"function": 1, "do": 1, "then": 1, "repeat": 1}.get(word[1], -1)
            at = word.end()
            continue
        elif depth == 1 and (key := re.compile(r"\b(\w+) *=(?!=)").match(code, at)):
            yield key[1]
            at = key.end()
            continue
        at += 1
