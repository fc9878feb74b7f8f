"""The measures of the house: figures that a change should not make worse, read off the sources."""

import collections
import functools
import pathlib
import re
import shutil
import subprocess
import tempfile
from . import layout

_TYPE = re.compile(
    r"^(?P<indent>\s*)(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|private|fileprivate|internal|"
    r"open|final|indirect)\s+)*(?P<kind>class|struct|actor|enum|extension)\s+(?P<name>[\w.]+)"
)
_STORED = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|private|fileprivate|internal|final|lazy|"
    r"weak|unowned|nonisolated)(?:\(\w+\))?\s+)*(?:let|var)\s+\w+"
)
# Item classes of the core, as written in casts and in switches over kinds.
_ITEM = r"(?:Loop\.)?(?:(?:Descriptor|Signal)?Source|Port|Observer|ScriptStream|FileWatch)\b"
_SWITCH = re.compile(
    rf"\bas[?!] {_ITEM}|\bis {_ITEM}|case let \w+ as {_ITEM}|\bswitch [\w.]*(?:\.role|\.nature)\b"
    r"|\.role [!=]= \."
)
_DECLARED = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(public|package|open)\s+(?!import\b)")

# A path is the files whose code runs inside a function, followed by callgrind in a debug build: the
# script, and the function by its mangled name.
PATHS = {
    "a timer, from loop:every to the queue": ("timer", "*9loopEvery*"),
    "a timer, from the wake-up to its handler": ("timer", "*4LoopC4pass*"),
    "bytes, from the wake-up to the waiting task": ("bytes", "*4LoopC4pass*"),
}
_SCRIPTS = {
    "timer": """
local loop = require("moonloop").current()
loop:every(0.01, function(timer) timer:invalidate() end)
""",
    "bytes": """
local ml, posix = require "moonloop", require "moonloop.posix"
local loop = ml.current()
local ours, theirs = posix.socketpair()
local stream = loop:stream { fd = ours }
loop:task(function() assert(stream:read(5) == "hello") stream:close() end)
loop:perform_after(0.01, function() posix.write(theirs, "hello") end)
""",
}


def lines(sources):
    """Lines under Sources, by target."""
    counts = collections.Counter()
    for path, source in sources.items():
        if path.startswith("Sources/") and source.suffix != ".md":
            counts[path.split("/")[1]] += source.text.count("\n")
    return counts


def types(sources):
    """Of each type: how many stored properties it has, and in how many files it is extended."""
    stored, extended = collections.Counter(), collections.defaultdict(set)
    for path, source in sources.items():
        if not path.startswith("Sources/") or source.suffix != ".swift":
            continue
        for index, code in enumerate(source.code):
            has_body = "{" in "".join(source.code[index : index + 6])
            if not has_body or not (match := _TYPE.match(code)):
                continue
            name = match["name"].removeprefix("Loop.")
            if match["kind"] == "extension":
                extended[name].add(path)
            else:
                stored[name] += _stored(source.code, index, len(match["indent"]))
    return stored, {name: len(paths) for name, paths in extended.items()}


def _stored(code, index, indent):
    """The stored properties in the body of a type that begins at a line."""
    count, member = 0, " " * (indent + 2)
    for number in range(index + 1, len(code)):
        line = code[number]
        if line.startswith(" " * indent + "}"):
            return count
        if line.startswith(member) and line[indent + 2 : indent + 3] not in ("", " ", "}"):
            if not re.search(r"\b(static|class)\b", line) and _STORED.match(line):
                body = line.rstrip().endswith("{") and "=" not in line and "(set)" not in line
                observed = "didSet" in "".join(code[number : number + 3])
                computed = re.search(r":[^=]*\{(?!\s*didSet).*\}", line)
                count += 0 if (body and not observed) or computed else 1
    return count


def switches(sources):
    """The places that tell kinds of items apart by cast or by switch."""
    for path, source in sorted(sources.items()):
        if path.startswith("Sources/") and source.suffix == ".swift":
            for number, code in enumerate(source.code, 1):
                if _SWITCH.search(code):
                    yield f"{path}:{number}"


def declarations(sources):
    """How many declarations other targets see."""
    counts = collections.Counter()
    for path, source in sources.items():
        if path.startswith("Sources/") and source.suffix == ".swift":
            counts.update(m[1] for code in source.code if (m := _DECLARED.match(code)))
    return counts


def undefined_rules(sources):
    """Rule numbers that the code cites and docs/ does not define."""
    return {rule for _, _, rule in layout.undefined_rules(sources)}


def files_on_path(name, tree):
    """The files of Sources/ whose functions run on a path; needs the debug build and valgrind."""
    script, function = PATHS[name]
    with tempfile.TemporaryDirectory() as folder:
        lua, out, program = (pathlib.Path(folder, name) for name in ("path.lua", "out", "moonloop"))
        lua.write_text(_SCRIPTS[script])
        # Without debug information, which not every valgrind can read; symbols are enough.
        subprocess.run(["strip", "-g", "-o", program, ".build/debug/moonloop"], check=True)
        command = ["valgrind", "--tool=callgrind", "--demangle=no", f"--toggle-collect={function}",
                   f"--callgrind-out-file={out}", program, "run", lua]
        subprocess.run(command, check=True, capture_output=True)
        ran = set(re.findall(r"^fn=\(\d+\) (\S+)", out.read_text(), re.M))
    return sorted({path for symbol in ran if (path := _file_of(frozenset(tree)).get(symbol))})


@functools.cache
def _file_of(tree):
    """The source file of each function, by the object that has it: one is made of each file."""
    seen = collections.defaultdict(set)
    for path in (path for path in tree if path.startswith("Sources/")):
        target, name = path.split("/")[1], pathlib.Path(path).name
        for built in pathlib.Path(".build/debug", f"{target}.build").rglob(name + ".o"):
            listed = subprocess.run(["nm", built], capture_output=True, text=True).stdout
            for line in listed.splitlines():
                if len(parts := line.split()) == 3 and parts[1] in "tT":
                    seen[parts[-1]].add(path)
    # What the compiler put into several objects, such as value copies, belongs to none.
    return {symbol: paths.pop() for symbol, paths in seen.items() if len(paths) == 1}


def duplicates():
    """The first line of `duplicates`, a tool that not every machine has."""
    if not shutil.which("duplicates"):
        return "not counted: no such tool here"
    command = ["duplicates", "--repo", "Sources", "--seconds", "60", "--most", "1"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split("\n")[0]
