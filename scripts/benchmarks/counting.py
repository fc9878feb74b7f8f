"""Instructions of one operation in user space, counted by callgrind: what noise cannot hide.

A workload runs twice, the second time with twice as many operations; the difference is theirs, and
what happens once is in neither. A whole start is counted once.
"""

import functools
import os
import pathlib
import re
import subprocess
import tempfile

import drivers
from peers import PEERS

# node compiles while it runs, and nginx is started by a shell.
_NOT_COUNTED = ("node", "bash", "gawk")


def can_count(peer):
    return PEERS[peer].program not in _NOT_COUNTED


@functools.cache
def stripped(program):
    """The program without debug information, which not every valgrind can read."""
    folder = tempfile.TemporaryDirectory(prefix="count-")
    name = os.path.join(folder.name, os.path.basename(program))
    subprocess.run(["strip", "-g", "-o", name, program], check=True)
    return name, folder  # The folder lasts as long as this is remembered.


def count(row, words, environment):
    """The instructions that were counted in one run, and its figures."""
    program = words[0]
    if os.path.isabs(program):
        program, _ = stripped(program)
    counts_all = not row.counts_itself
    with tempfile.NamedTemporaryFile(prefix="count-") as log:
        valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                    f"--log-file={log.name}", f"--instr-atstart={'yes' if counts_all else 'no'}"]
        figures = drivers.run(row, [*valgrind, program, *words[1:]], environment)
        said = pathlib.Path(log.name).read_text(encoding="utf-8", errors="replace")
    collected = re.search(r"Collected : (\d+)", said)
    if isinstance(figures, str) or not collected:
        raise RuntimeError(figures if isinstance(figures, str) else "valgrind counted nothing")
    return int(collected[1]), figures


CALLS = 20_000


def per_call(row, words, environment):
    """The same for a workload that performs the calls that its environment names."""
    few, many = (
        count(row, words, {**environment, "BENCH_CALL": row.figure, "BENCH_TURNS": str(turns)})
        for turns in (CALLS, 2 * CALLS))
    return (many[0] - few[0]) / CALLS


def per_operation(row, words, environment):
    """The instructions of one operation of a row's workload."""
    row = drivers.countable(row)
    if row.is_call:
        return per_call(row, words, environment)
    if row.is_start:
        return count(row, words, environment)[0]
    found = []
    for times in (1, 2):
        scaled = {**environment, "BENCH_SCALE": f"{row.count_scale * times:g}"}
        instructions, figures = count(row, words, scaled)
        found.append((instructions, figures["operations"]))
    (first, few), (second, many) = found
    if many == few:
        raise RuntimeError(f"{few:g} operations in both runs")
    return (second - first) / (many - few)
