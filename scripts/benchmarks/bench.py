"""Runs the workloads of all peers in turn, round after round, and writes what came out.

usage: bench.py [--rounds N] [--only ID,...] [--quick] [--output FILE]

Medians are over the rounds; a ratio is the median of the ratios of each round, so that a slow
minute of the machine weighs on both sides.
"""

import argparse
import concurrent.futures
import os
import pathlib
import resource
import sys
import time

import counting
import drivers
import layers
import report
from peers import BUILT, HERE, PEERS, ROOT, command, missing
from rows import ROWS

BEGIN = time.monotonic()


def say(text):
    minutes, seconds = divmod(int(time.monotonic() - BEGIN), 60)
    print(f"{minutes:2}:{seconds:02} {text}", file=sys.stderr, flush=True)


def measure(rows, rounds):
    """{run key: {peer: [figures of each round] or the error in words}}"""
    runs = {row.run_key: row for row in reversed(rows)}  # The first row of each.
    runs = dict(reversed(runs.items()))
    peers = {key: [] for key in runs}
    for row in rows:
        peers[row.run_key] += [peer for peer in row.peers if peer not in peers[row.run_key]]
    results = {key: {} for key in runs}
    for turn in range(rounds):
        for at, (key, row) in enumerate(runs.items()):
            if turn >= row.rounds:
                continue
            say(f"round {turn + 1}/{rounds}, run {at + 1}/{len(runs)}: {row.id}")
            for peer in peers[key] if turn % 2 == 0 else peers[key][::-1]:
                found = results[key].setdefault(peer, [])
                if isinstance(found, str):
                    continue
                prepared = command(peer, row)
                begin = time.monotonic()
                figures = prepared if isinstance(prepared, str) else drivers.run(row, *prepared)
                if isinstance(figures, str):
                    results[key][peer] = figures
                else:
                    found.append(figures)
                say(f"  {peer}: {shown(figures)}  ({time.monotonic() - begin:.1f} s)")
    return results


def shown(figures):
    if isinstance(figures, str):
        return figures
    return ", ".join(f"{name} {report.number(value)}" for name, value in figures.items())


def count(rows, results):
    """Adds the instructions of an operation, beside the times of each peer; several at once, as
    what else the machine does changes none."""
    rows = {(row.run_key, row.count_key): row for row in rows if row.is_counted}.values()
    todo = [(row, peer) for row in rows for peer, found in results[row.run_key].items()
            if not isinstance(found, str) and counting.can_count(peer)]

    def count_one(job):
        row, peer = job
        try:
            counted = counting.per_operation(row, *command(peer, row))
        except (RuntimeError, KeyError) as error:
            return say(f"{row.id} {peer}: not counted: {error}")
        results[row.run_key][peer][0][row.count_key] = counted
        return say(f"{row.id} {peer}: {counted:,.0f} instructions")

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(count_one, todo))


def untimed(rows):
    """What `measure` returns, without times: of ours, and of what it is compared with."""
    results = {}
    for row in rows:
        peers = results.setdefault(row.run_key, {})
        for peer in (row.base, row.ours):
            if peer in row.peers:
                peers[peer] = missing(peer) or [{}]
    return results


def selected(only):
    if not only:
        return ROWS
    prefixes = tuple(part.strip().lower() for part in only.split(","))
    return [row for row in ROWS if row.id.startswith(prefixes)] or sys.exit(f"no row like {only}")


def prepare(environment):
    """Lets workloads find what they share, and open the 10,000 descriptors of W5b and W16."""
    environment["LUA_PATH"] = f"{HERE}/workloads/?.lua;;"
    environment["LUA_CPATH"] = f"{BUILT}/?.so;;"
    environment["BENCH_CLIENTS"] = str(BUILT / "clients")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def compared(rows):
    """Our program's rows, each with that of another commit as its only peer."""
    rows = [row for row in rows if row.ours == "moonloop"]
    for row in rows:
        row.peers = ("before", "moonloop")
    return rows


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="rows whose id begins so: w1a,w2")
    parser.add_argument("--quick", action="store_true", help="a twentieth of the work, two rounds")
    parser.add_argument("--count", action="store_true", help="instructions only, no times")
    parser.add_argument("--output", type=pathlib.Path,
                        help="where to write (default: docs/benchmarks.md after a full run)")
    parser.add_argument("--compare", metavar="REV", help="only with our program of that commit")
    parser.add_argument("--layers", action="store_true", help="only draws docs/pictures/layers.svg")
    options = parser.parse_args()
    if options.layers:
        prepare(os.environ)
        return layers.draw(say)
    rows = selected(options.only)
    if options.compare:
        rows = compared(rows)
    rounds = 2 if options.quick else options.rounds
    if options.quick:
        os.environ["BENCH_SCALE"] = "0.05"
    prepare(os.environ)
    for peer in PEERS:
        if missing(peer) and any(peer in row.peers for row in rows):
            say(f"{peer} is left out: {missing(peer)}")
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
        say(f"wrote {output}")
    else:
        print(text)


if __name__ == "__main__":
    main()
