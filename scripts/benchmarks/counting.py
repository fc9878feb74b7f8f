"""Instructions of one operation in user space, counted by callgrind: what noise cannot hide.

A workload runs twice, the second time with twice as many operations; the difference is theirs, and
what happens once is in neither. A whole start is counted once.
"""

import functools
import json
import os
import re
import subprocess
import tempfile

TIMEOUT_S = 300


@functools.cache
def stripped(program):
    """The program without debug information, which not every valgrind can read."""
    folder = tempfile.TemporaryDirectory(prefix="count-")
    name = os.path.join(folder.name, os.path.basename(program))
    subprocess.run(["strip", "-g", "-o", name, program], check=True)
    return name, folder  # The folder lasts as long as this is remembered.


def count(words, environment, counts_all=False):
    """The instructions that were counted in one run, and its line of JSON."""
    program = words[0]
    if os.path.isabs(program):
        program, _ = stripped(program)
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                f"--instr-atstart={'yes' if counts_all else 'no'}"]
    done = subprocess.run([*valgrind, program, *words[1:]], env=environment, capture_output=True,
                          text=True, timeout=TIMEOUT_S, check=False)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no output"])[-1])
    return int(collected[1]), (done.stdout.strip().splitlines() or [""])[-1]


CALLS = 20_000


def per_call(row, words, environment):
    """The same for a workload that performs the calls that its environment names."""
    few, many = (count(words, {**environment, "BENCH_CALL": row.figure, "BENCH_TURNS": str(turns)})
                 for turns in (CALLS, 2 * CALLS))
    return (many[0] - few[0]) / CALLS


def per_operation(row, words, environment):
    """The instructions of one operation of a row's workload."""
    if row.is_start:
        return count(words, environment, counts_all=True)[0]
    if row.is_call:
        return per_call(row, words, environment)
    found = []
    for times in (1, 2):
        scaled = {**environment, "BENCH_SCALE": f"{row.count_scale * times:g}"}
        instructions, line = count(words, scaled)
        found.append((instructions, json.loads(line)["operations"]))
    (first, few), (second, many) = found
    return (second - first) / (many - few)
