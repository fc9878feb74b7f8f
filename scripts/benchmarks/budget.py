"""Compares the instructions of operations with what they may take; see scripts/budget."""

import argparse
import concurrent.futures
import os
import pathlib
import sys

import bench
import counting
import peers
from rows import ROWS

FILE = peers.HERE / "budget.txt"
HEAD = """\
# Instructions of one operation of our program, in user space; written by scripts/budget --update.
# A row may take 3 % more. What is faster for good is written here, so that it stays so.
"""
ALLOWED = 1.03


def read():
    """{id: instructions}, in the order of the file."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return {name: int(count) for name, count in pairs}


def count(name, allowed):
    """What a row takes; counted once more if that is too much, as a collection of Lua's garbage
    more or less is a percent or two."""
    row = next((row for row in ROWS if row.id == name), None)
    if row is None:
        sys.exit(f"budget: no row {name}")
    prepared = peers.command(row.ours, row)
    counted = round(counting.per_operation(row, *prepared))
    if allowed and counted > allowed * ALLOWED:
        counted = min(counted, round(counting.per_operation(row, *prepared)))
    return name, counted


def main():
    parser = argparse.ArgumentParser(prog="scripts/budget")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args()
    budget = read()
    names = options.rows or list(budget)
    bench.prepare(os.environ)
    peers.PROGRAMS["moonloop"][0] = peers.ROOT / ".build/release/moonloop"
    grown = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, counted in pool.map(count, names, map(budget.get, names)):
            allowed = budget.get(name, counted)
            is_over = counted > allowed * ALLOWED
            grown = grown or is_over
            print(f"{name:12} {counted:9,}  {counted / allowed - 1:+7.1%}{'  over' * is_over}")
            if options.update:
                budget[name] = counted
    if options.update:
        lines = (f"{name} {counted}\n" for name, counted in budget.items())
        FILE.write_text(HEAD + "".join(lines), encoding="utf-8")
    elif grown:
        sys.exit("budget: over 3 % more instructions than budget.txt says; if it buys something,\n"
                 "say in the commit what, and write the new figures with scripts/budget --update")


if __name__ == "__main__":
    main()
