"""What a handler costs from readiness to return, layer by layer: a bar for each row.

The kernel's share is that of the CPU time; the rest is divided as its instructions are, which
callgrind counts by function.
"""

import collections
import pathlib
import re
import resource
import sys
import tempfile

import counting
import drivers
from peers import ROOT, command
from rows import ROWS

sys.path.insert(0, str(ROOT / "scripts"))
from rules import drawing  # noqa: E402

DRAWN = ("w1b", "w3a", "w4c", "w5a", "w6a", "w12.50")
PICTURE = ROOT / "docs/pictures/layers.svg"
LAYERS = ("kernel", "core", "binding", "Lua", "Swift's runtime", "C library")
_KINDS = (
    ("core", r"\$s(12MoonloopCore|14MoonloopSystem)|cmx_|.*12MoonloopCore"),
    ("binding", r"\$s(8Moonloop|7LuaEmbed|17MoonloopRecording|11MoonloopCLI)|cm[a-z]+_"),
    ("Swift's runtime", r"_?swift_|\$s|_Z"),
)


def layer(thing, function):
    if "liblua" in thing:
        return "Lua"
    if "/moonloop" not in thing:
        return "C library"
    for name, pattern in _KINDS:
        if re.match(pattern, function):
            return name
    return "C library"


def by_layer(text):
    """{layer: instructions} of what callgrind wrote, each function without what it calls."""
    names, found = {}, collections.Counter()
    thing = function = ""
    is_call = False

    def named(kind, value):
        number, _, name = value.partition(" ")
        if name:
            names[kind, number] = name
        return names[kind, number]

    for line in text.splitlines():
        key, is_field, value = line.partition("=")
        if is_field and key in ("ob", "cob"):
            name = named("ob", value)
            thing = name if key == "ob" else thing
        elif is_field and key in ("fn", "cfn"):
            name = named("fn", value)
            function = name if key == "fn" else function
        elif key == "calls":
            is_call = True
        elif line[:1].isdigit() or line[:1] in "+-*":
            cost = line.split()
            if not is_call and len(cost) > 1:
                found[layer(thing, function)] += int(cost[1])
            is_call = False
    return found


def instructions(row):
    """{layer: instructions} of one operation: the difference between two runs."""
    row = drivers.countable(row)
    runs = []
    for times in (1, 2):
        words, environment = command(row.ours, row)
        environment = {**environment, "BENCH_SCALE": f"{row.count_scale * times:g}"}
        with tempfile.NamedTemporaryFile(prefix="layers-") as out:
            program, _ = counting.stripped(words[0])
            valgrind = ["valgrind", "--tool=callgrind", "--demangle=no", "--log-file=/dev/null",
                        f"--callgrind-out-file={out.name}",
                        f"--instr-atstart={'no' if row.counts_itself else 'yes'}"]
            figures = drivers.run(row, [*valgrind, program, *words[1:]], environment)
            if isinstance(figures, str):
                sys.exit(f"layers: {row.id}: {figures}")
            text = pathlib.Path(out.name).read_text(encoding="utf-8", errors="replace")
        runs.append((by_layer(text), figures["operations"]))
    (first, few), (second, many) = runs
    return {name: (second[name] - first[name]) / (many - few) for name in LAYERS[1:]}


def times_of(pid):
    """Seconds in which a process ran its own code, and the kernel's for it."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = text.rpartition(")")[2].split()
    return {"user": int(fields[11]), "system": int(fields[12])}


def cpu_time(row):
    """CPU time of an operation, in nanoseconds, and how much of it is the kernel's."""
    row = drivers.countable(row)
    words, environment = command(row.ours, row)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if row.driver == "once":
        figures = drivers.run(row, words, environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = {"user": after.ru_utime - before.ru_utime,
                 "system": after.ru_stime - before.ru_stime}
    else:
        spent = figures = drivers.clients(row, words, environment, at_end=times_of)
    return figures["cpu"], spent["system"] / (spent["user"] + spent["system"])


def measured(row):
    """{layer: nanoseconds} of one operation."""
    nanoseconds, share = cpu_time(row)
    counted = instructions(row)
    own = nanoseconds * (1 - share) / sum(counted.values())
    return {"kernel": nanoseconds * share, **{name: own * count for name, count in counted.items()}}


def draw(say):
    """Measures, and writes the picture."""
    bars = []
    for name in DRAWN:
        row = next(row for row in ROWS if row.id == name)
        bars.append((f"{name.upper()}, {row.title}", measured(row)))
        say(f"{name}: " + ", ".join(f"{kind} {time:,.0f} ns" for kind, time in bars[-1][1].items()))
    title = "What an operation costs, by layer, in CPU time"
    PICTURE.write_text(drawing.bars(title, LAYERS, bars), encoding="utf-8")
    say(f"wrote {PICTURE}")
