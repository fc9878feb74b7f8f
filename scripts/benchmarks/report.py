"""The page of results: where we stand, row by row, all figures, and the machine in words."""

import datetime
import os
import pathlib
import platform
import statistics
import subprocess

from peers import HERE, PEERS, kinds, missing
from verdicts import best, figures_of, instructions, is_met, median, ratio, rounds_of, standing
from verdicts import winners

SENTENCES = HERE / "differences.txt"
NOTES = HERE / "notes.md"
LAYERS = """\
## What an operation costs, by layer

![CPU time of six operations, by layer](pictures/layers.svg)

From readiness to the return of the handler, drawn by `scripts/bench --layers`. The kernel's
share is that of the CPU time; the rest is divided as its instructions are. The core are
`MoonloopCore`, `MoonloopSystem` and their shims, the binding `Moonloop`, `LuaEmbed` and theirs,
Lua is liblua with what is written in Lua, and the C library has malloc.
"""


def number(value):
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def table(head, lines):
    rule = ["---" if i < 2 else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def sentences():
    """{beginning of an id: what the difference is}"""
    lines = SENTENCES.read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def difference(row, known):
    fitting = [name for name in known if row.id == name or row.id.startswith(name)]
    return known[max(fitting, key=len)] if fitting else ""


def named(row, results, peer):
    return f"{peer} {number(median(row, peer, results))}" if peer else ""


def verdict(row, results):
    reason = rounds_of(row, row.ours, results)
    if isinstance(reason, str):
        return f"not measured: {row.ours} {reason}"
    met = is_met(row, results, row.goal)
    if met is None:
        return "cannot be said"
    first = "" if met else ("; first met" if is_met(row, results, row.first) else "; first not")
    return ("**met**" if met else "not met") + first


def standing_table(rows, results):
    known, lines = sentences(), []
    for row in rows:
        paired = ratio(row, results, row.ours, row.base)
        counted = [number(instructions(row, peer, results)) for peer in (row.ours, row.base)]
        lines.append([
            row.id.upper(), f"{row.title}, {row.unit}".rstrip(", "),
            number(median(row, row.ours, results)), number(median(row, row.base, results)),
            named(row, results, best(row, results, "lua")),
            named(row, results, best(row, results, "all")),
            f"{paired:.2f} x {row.base}" if paired is not None else "",
            f"{row.goal.words(row.unit)} (first: {row.first.words(row.unit)})",
            verdict(row, results), standing(row, results),
            " / ".join(counted).strip(" /"), difference(row, known)])
    return table(["id", "per operation", "ours", "bound", "best Lua peer", "best peer", "ratio",
                  "goal", "met", "beside the peers", "instructions: ours / bound",
                  "the difference"], lines)


def figures_table(rows, results):
    columns = [peer for peer in PEERS if any(peer in row.peers for row in rows)]
    lines = []
    for row in rows:
        lines.append([row.id.upper(), f"{row.title}, {row.unit}".rstrip(", "),
                      *(number(median(row, peer, results)) if peer in row.peers else ""
                        for peer in columns)])
    return table(["id", "per operation", *columns], lines)


def spread_table(rows, results):
    """Lowest, middle and highest figure of each peer, and the instructions of an operation."""
    lines = []
    for row in rows:
        for peer in row.peers:
            cells = [row.id.upper(), peer]
            found = figures_of(row, peer, results)
            if found is None:
                reason = rounds_of(row, peer, results)
                if reason != "has no such thing":
                    lines.append([*cells, reason, "", "", ""])
                continue
            lines.append([*cells, *(number(of(found)) for of in (min, statistics.median, max)),
                          number(instructions(row, peer, results))])
    return table(["id", "peer", "lowest", "median", "highest", "instructions"], lines)


def counted(rows, results):
    """The instructions of an operation, beside those of the bound."""
    lines = []
    for row in rows:
        ours, base = (instructions(row, peer, results) for peer in (row.ours, row.base))
        is_over = ours and base and row.first.of == row.base and ours > row.first.factor * base
        lines.append([
            row.id.upper(), row.title, number(base), number(ours),
            f"{ours / base:.2f}" if ours and base else "", row.first.words(""),
            "**over**" if is_over else ""])
    return table(["id", "per operation", "bound", "ours", "ratio", "limit", ""], lines)


def comparison(rows, results):
    """What became of our figures since another commit."""
    lines = []
    for row in rows:
        paired = ratio(row, results, "moonloop", "before")
        before, now = (instructions(row, peer, results) for peer in ("before", "moonloop"))
        lines.append([
            row.id.upper(), f"{row.title}, {row.unit}".rstrip(", "),
            number(median(row, "before", results)), number(median(row, "moonloop", results)),
            f"{paired:.2f}" if paired is not None else "",
            number(before), number(now), f"{now / before:.3f}" if before and now else ""])
    return table(["id", "per operation", "before", "now", "ratio", "instructions before", "now",
                  "ratio"], lines)


def first_line(words):
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).strip().splitlines()[0]
    except (OSError, IndexError):
        return "absent"


def machine():
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next(line.split(":", 1)[1].strip() for line in info.splitlines()
                 if line.startswith("model name"))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    is_virtual = ", a virtual machine" if " hypervisor" in info else ""
    distribution = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return (f"{os.cpu_count()} cores of an {model}{is_virtual}, {memory:.0f} GiB, kernel "
            f"{platform.release()}, {distribution}, {first_line(['lua5.4', '-v']).split('  ')[0]}, "
            f"node {first_line(['node', '--version'])}, {first_line(['cc', '--version'])}, "
            f"{first_line(['swift', '--version'])}")


def left_out(rows):
    reasons = {peer: missing(peer) for peer in PEERS
               if peer != "before" and any(peer in row.peers for row in rows)}
    absent = [f"{peer} ({reason})" for peer, reason in reasons.items() if reason]
    return f"\nNot measured: {', '.join(absent)}.\n" if absent else ""


def page(rows, results, rounds, is_quick):
    ours = [row for row in rows if row.ours in kinds("ours")]
    lost = [row for row in ours if winners(row, results)]
    others = [row for row in ours if row not in lost]
    met = sum(is_met(row, results, row.goal) is True for row in ours)
    warning = "\n**A quick run: the figures say little.**\n" if is_quick else ""
    return f"""# Benchmarks

Written by `scripts/bench`, {rounds} rounds, on {datetime.date.today().isoformat()}; do not edit.
The machine: {machine()}.
{left_out(rows)}{warning}
Of {len(ours)} rows {met} meet their goal; in {len(lost)} a peer is better. Figures are medians of
the rounds; nanoseconds are CPU time of the whole process, the system's share included. A goal is
met when its limit is kept and no peer is better; "first" was asked for before the work counted as
done. Better and slower are said only where the rounds of the two, from the lowest to the highest
figure, do not overlap; else they are equal. The bound (floor, objects, nginx, ...) is no peer; the
ratio is to it, and is the median of the ratios of the single rounds.

## Where a peer is better

{standing_table(lost, results)}

## The other rows

{standing_table(others, results)}

## All figures

{figures_table(rows, results)}

{LAYERS}
{NOTES.read_text(encoding="utf-8").strip()}

## From the lowest to the highest

{spread_table(rows, results)}
"""
