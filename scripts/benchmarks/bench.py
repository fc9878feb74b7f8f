"""Runs the workloads of all peers in turn, round after round, and writes what came out.

usage: bench.py [--rounds N] [--only ID,...] [--quick] [--output FILE]

A workload prints one line of JSON. Medians and minima are over the rounds; a ratio is the median of
the ratios of each round, so that a slow minute of the machine weighs on both sides.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import counting
import report
from rows import PEERS, ROWS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = HERE / ".build" / "native"
PROGRAMS = {
    "floor": [BUILT / "floor"],
    "libuv": [BUILT / "libuv"],
    "lua": ["lua5.4"],
    "moonloop": [os.environ.get("MOONLOOP", BUILT / "moonloop"), "run"],
    "before": [BUILT / "before", "run"],
    "host": [BUILT / "host"],
}
TIMEOUT_S = 120
STARTS = 40  # Of one peer, in one round of W8.


def command(peer, row):
    """The command and environment of a peer's run, or None when it cannot take part."""
    program, script, environment = PEERS[peer]
    words = [str(word) for word in PROGRAMS[program]]
    if program != "lua" and not os.access(words[0], os.X_OK):
        return None
    if script:
        file = HERE / "workloads" / row.folder / f"{script}.lua"
        if not file.exists():
            return None
        words.append(str(file))
    return words + list(row.args), {**os.environ, **environment}


def run_once(words, environment):
    """One run's figures, or the error in words."""
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
        return json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        return f"did not end in {TIMEOUT_S} s"
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return lines[0]


def run_starts(words, environment):
    """The wall and CPU time of one start, from many: from before the spawn until it is over."""
    walls, cpus = [], []
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        actions = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1)]
        for _ in range(STARTS):
            begin = time.perf_counter()
            child = os.posix_spawnp(words[0], words, environment, file_actions=actions)
            _, status, usage = os.wait4(child, 0)
            walls.append(time.perf_counter() - begin)
            cpus.append(usage.ru_utime + usage.ru_stime)
            if status:
                return f"wait status {status}"
    return {"wall_ms": statistics.median(walls) * 1e3, "cpu_ms": statistics.median(cpus) * 1e3}


def measure(rows, rounds):
    """{(folder, args): {peer: [figures of each round] or the error in words}}"""
    runs = {row.run_key: row for row in rows}
    peers = {key: [] for key in runs}
    for row in rows:
        peers[row.run_key] += [peer for peer in row.peers if peer not in peers[row.run_key]]
    results = {key: {} for key in runs}
    for turn in range(rounds):
        for key, row in runs.items():
            order = peers[key] if turn % 2 == 0 else peers[key][::-1]
            for peer in order:
                found = results[key].setdefault(peer, [])
                if isinstance(found, str):
                    continue
                prepared = command(peer, row)
                start = run_starts if row.folder == "w8" else run_once
                figures = start(*prepared) if prepared else "not built"
                if isinstance(figures, str):
                    results[key][peer] = figures
                else:
                    found.append(figures)
                print(f"round {turn + 1}/{rounds} {row.id} {peer}: {figures}", file=sys.stderr)
    return results


def count(rows, results):
    """Adds the instructions of an operation, beside the times of each peer."""
    todo = {(row.run_key, row.count_key): row for row in rows if row.is_counted}
    for row in todo.values():
        for peer, found in results[row.run_key].items():
            if isinstance(found, str):
                continue
            found[0][row.count_key] = counting.per_operation(row, *command(peer, row))
            print(f"{row.id} {peer}: {found[0][row.count_key]:.0f} instructions", file=sys.stderr)


def untimed(rows):
    """What `measure` returns, without times: of ours, and of what its limit is a multiple of."""
    results = {}
    for row in rows:
        peers = results.setdefault(row.run_key, {})
        for peer in (row.first.of, row.ours):
            if peer is not None:
                peers[peer] = [{}] if command(peer, row) else "not built"
    return results


def selected(only):
    if not only:
        return ROWS
    prefixes = tuple(part.strip().lower() for part in only.split(","))
    return [row for row in ROWS if row.id.startswith(prefixes)] or sys.exit(f"no row like {only}")


def prepare(environment):
    """Lets workloads find what they share, and W5b open its 10,000 descriptors."""
    environment["LUA_PATH"] = f"{HERE}/workloads/?.lua;;"
    environment["LUA_CPATH"] = f"{BUILT}/?.so;;"
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="rows whose id begins so: w1a,w2")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the work, two rounds")
    parser.add_argument("--count", action="store_true", help="instructions only, no times")
    parser.add_argument("--output", type=pathlib.Path,
                        help="where to write (default: docs/benchmarks.md after a full run)")
    parser.add_argument("--compare", metavar="REV", help="only with our program of that commit")
    options = parser.parse_args()
    rows = selected(options.only)
    if options.compare:
        rows = [row for row in rows if row.ours == "moonloop"]
        for row in rows:
            row.peers = ("before", "moonloop")
    rounds = 2 if options.quick else options.rounds
    if options.quick:
        os.environ["BENCH_SCALE"] = "0.05"
    prepare(os.environ)
    if options.count:
        rows = [row for row in rows if row.is_counted]
    results = untimed(rows) if options.count else measure(rows, rounds)
    if not options.quick:
        count(rows, results)
    if options.compare:
        text = report.comparison(rows, results)
    elif options.count:
        text = report.counted(rows, results)
    else:
        text = report.page(rows, results, rounds, options.quick)
    is_full = not (options.only or options.quick or options.compare or options.count)
    output = options.output or (ROOT / "docs" / "benchmarks.md" if is_full else None)
    if output:
        output.write_text(text, encoding="utf-8")
        print(f"wrote {output}", file=sys.stderr)
    else:
        print(text)


if __name__ == "__main__":
    main()
