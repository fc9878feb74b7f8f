# What scripts/scale does: runs crowd.lua under callgrind, and writes the page.
import math
import os
import re
import subprocess
import sys
import tempfile
import textwrap

FOLDER = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
PROGRAM = os.path.join(ROOT, ".build/release/moonloop")
CROWD = os.path.join(FOLDER, "crowd.lua")
REPEATS, BATCHES = 20, 3  # as in crowd.lua
# An operation whose cost grows by no more than this is counted as constant: heaps and hash tables.
ALLOWED = 0.1
# The system refuses more descriptors than these, or they take too much memory.
MOST = {"descriptors": 10_000, "guests": 1_000, "http connections": 2_000, "named ports": 2_000,
        "pressures": 1_000, "processes": 200, "signals": 10_000, "streams": 5_000,
        "watches": 10_000, "workers": 50}


def lines(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL).stdout.splitlines()


def crowds_and_operations(program):
    rows = [line.split("\t") for line in lines(program, "run", CROWD)]
    return ([name for kind, name in rows if kind == "crowd"],
            [name for kind, name in rows if kind == "operation"])


def stripped(folder):
    copy = os.path.join(folder, "moonloop")
    subprocess.run(["strip", "-g", "-o", copy, PROGRAM], check=True)
    return copy


def counted(program, crowd, count, operations, folder):
    """Instructions of each operation, beside so many things of the crowd; None if it failed."""
    out = os.path.join(folder, "out")
    for name in os.listdir(folder):
        if name.startswith("out"):
            os.remove(os.path.join(folder, name))
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--dump-before=clock", "--callgrind-out-file=" + out,
         "--max-threads=100", program, "run", CROWD, crowd, str(count)],
        text=True, capture_output=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        own = [line for line in done.stderr.splitlines() if not line.startswith("==")]
        print(f"scale: {crowd}, {count}: {' '.join(own)[-300:]}", file=sys.stderr)
        return None
    totals = []
    marks = BATCHES + 1  # for each operation
    for number in range(1, marks * len(operations) + 5):
        with open(f"{out}.{number}") as file:
            totals.append(int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M)[1]))
    # The dump at a mark holds what ran before it: preparation, then the batches; the least of them,
    # as tables may happen to grow in the others.
    made, rest, ended = totals[1], totals[2:-2], totals[-1]
    costs = {name: min(rest[marks * place + 1:marks * (place + 1)]) / REPEATS
             for place, name in enumerate(operations)}
    costs["make one of the crowd"] = made / count
    costs["end one of the crowd, the first first"] = ended / count
    return costs


def exponent(few, many, least, most):
    return math.log(max(many, 1) / max(few, 1)) / math.log(most / least)


def paragraph(text):
    return textwrap.wrap(text, 120)


def table(head, rows):
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def page(counts, crowds, operations, found, memory):
    """The text of docs/scale.md."""
    yield "# How costs scale"
    yield ""
    yield from paragraph(
        f"Written by `scripts/scale`. Each operation of the Lua API was done beside a crowd of "
        f"{' and '.join(f'{count:,}' for count in counts)} things of one kind, which wait. "
        + "Some crowds are smaller: " + ", ".join(f"{most:,} {kind}" for kind, most in MOST.items())
        + ". Valgrind counted instructions, those of all threads, not of child processes, so the "
        "machine does not matter. The growth of a table, which happens once in a doubling, is left "
        "out, and so is what sleeps beside observers, each of which is called then. `stop a run` "
        "calls them, too; `fs.list` lists the threads of the process, workers among them. Linear "
        "by nature, and not here: calls that list or explain everything (`dump`, `why()`, "
        "`metrics`, `modes`), and `add_common_mode`. The Swift API is what the Lua API calls; what "
        "it has besides is not counted here.")
    yield ""
    yield "## Exponents"
    yield ""
    yield from paragraph(
        f"An operation that costs *n* to the power of *e* has the exponent *e*: 0 is constant, 1 "
        f"is linear. Between the smallest and the largest crowd; above {ALLOWED} it is bold. The "
        "logarithm of a heap shows as up to 0.1.")
    yield ""
    names = operations + ["make one of the crowd", "end one of the crowd, the first first"]
    rows = []
    for name in names:
        row = [name]
        for crowd in crowds:
            few, many = found[crowd][0], found[crowd][-1]
            if few is None or many is None:
                row.append("")
                continue
            most = min(counts[-1], MOST.get(crowd, counts[-1]))
            if many[name] < REPEATS:  # it was not done beside these
                row.append("")
                continue
            value = exponent(few[name], many[name], counts[0], most)
            text = f"{max(value, 0):.2f}"
            row.append(f"**{text}**" if value > ALLOWED else text)
        rows.append(row)
    yield from table(["operation, beside"] + crowds, rows)
    yield ""
    yield "## Instructions"
    yield ""
    yield "The most expensive crowd for each operation, at each size."
    yield ""
    rows = []
    for name in names:
        known = [crowd for crowd in crowds if None not in found[crowd]
                 and found[crowd][-1][name] >= REPEATS]  # it was done beside these
        worst = max(known, key=lambda crowd: found[crowd][-1][name] / max(1, found[crowd][0][name]))
        rows.append([name, worst] + [f"{costs[name]:,.0f}" for costs in found[worst]])
    yield from table(["operation", "crowd"] + [f"{count:,}" for count in counts], rows)
    yield ""
    yield "## Memory"
    yield ""
    yield from paragraph(
        f"Resident bytes for each of {counts[-1]:,} things, with their Lua values: for streams, "
        "both ends and the server's task. Beside them the nearest of luv: an async handle for a "
        "port, a timer for a request, a coroutine with a timer for a task, a thread for a worker. "
        "It has no counterpart of the others.")
    yield ""
    rows = [[name, f"{own:,.0f}" if own else "", f"{theirs:,.0f}" if theirs else ""]
            for name, own, theirs in memory]
    yield from table(["kind", "Moonloop", "luv"], rows)


def weigh(program, crowds, count):
    """Bytes for each thing: ours, luv's."""
    for crowd in crowds:
        number = str(min(count, MOST.get(crowd, count)))
        own = lines(program, "run", CROWD, crowd, number, "memory")
        theirs = subprocess.run(["lua5.4", os.path.join(FOLDER, "luv.lua"), crowd, number],
                                text=True, capture_output=True, stdin=subprocess.DEVNULL)
        text = theirs.stdout.strip() if theirs.returncode == 0 else ""
        yield crowd, float(own[-1]), float(text) if text else None


def usage():
    with open(os.path.join(ROOT, "scripts/scale")) as file:
        for line in file.readlines()[1:]:
            if not line.startswith("#"):
                break
            print(line[2:].rstrip() if len(line) > 2 else "")


def main(arguments, _):
    quick, only, output = False, None, None
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        if option in ("-h", "--help"):
            usage()
            return 0
        if option == "--quick":
            quick = True
        elif option in ("--only", "--output") and rest:
            only, output = (rest.pop(0), output) if option == "--only" else (only, rest.pop(0))
        else:
            print(f"scale: unknown option '{option}'; see --help", file=sys.stderr)
            return 2
    if not os.path.exists(PROGRAM):
        print("scale: no release build; run scripts/build --release", file=sys.stderr)
        return 1
    counts = [10, 1000] if quick else [10, 1000, 100_000]
    with tempfile.TemporaryDirectory() as folder:
        program = stripped(folder)
        crowds, operations = crowds_and_operations(program)
        crowds = [crowd for crowd in crowds if only is None or only in crowd]
        found = {}
        for crowd in crowds:
            costs = {}  # by how many there are: few are allowed of some
            for number in sorted({min(count, MOST.get(crowd, count)) for count in counts}):
                print(f"scale: {crowd}, {number}", file=sys.stderr)
                costs[number] = counted(program, crowd, number, operations, folder)
            found[crowd] = [costs[min(count, MOST.get(crowd, count))] for count in counts]
        text = "\n".join(page(counts, crowds, operations, found,
                              list(weigh(program, crowds, counts[-1])))) + "\n"
    if only or quick and not output:
        print(text, end="")
        return 0
    with open(output or os.path.join(ROOT, "docs/scale.md"), "w") as file:
        file.write(text)
    return 0
