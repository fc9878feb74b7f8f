"""The page of results: tables of figures, ratios and verdicts, and the machine in words."""

import datetime
import os
import pathlib
import platform
import statistics
import subprocess

from rows import OURS, PEERS, RIVALS


def rounds_of(row, peer, results):
    """A peer's figure for the row in each round; the reason in words when there is none."""
    found = results[row.run_key].get(peer)
    if found is None or isinstance(found, str):
        return found or "not asked"
    figures = [one[row.figure] for one in found if row.figure in one]
    return figures or "has no such thing"


def medians(row, results):
    figures = {peer: rounds_of(row, peer, results) for peer in row.peers}
    return {peer: statistics.median(found) for peer, found in figures.items()
            if not isinstance(found, str)}


def number(value):
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def ratio(row, results, peer, base):
    """The median over the rounds of peer / base, each pair from one round."""
    ours, theirs = rounds_of(row, peer, results), rounds_of(row, base, results)
    if isinstance(ours, str) or isinstance(theirs, str) or not all(theirs):
        return None
    return statistics.median(mine / other for mine, other in zip(ours, theirs))


def is_reached(row, results, limit):
    """Whether our figure keeps the limit and beats every rival; None when that cannot be said."""
    found = medians(row, results)
    bound = limit.value(found)
    if row.ours not in found or bound is None:
        return None
    ours = found[row.ours]
    if limit.of is not None and not limit.strict:
        keeps = ratio(row, results, row.ours, limit.of) <= limit.factor
    else:
        keeps = ours < bound if limit.strict else ours <= bound
    return keeps and all(ours <= found[rival] for rival in RIVALS if rival in found)


def verdict(row, results):
    if isinstance(rounds_of(row, row.ours, results), str):
        return f"not measured: {row.ours} {rounds_of(row, row.ours, results)}"
    if is_reached(row, results, row.goal):
        return "goal reached"
    return "first reached" if is_reached(row, results, row.first) else "**not reached**"


def table(head, lines):
    rule = ["---" if i < 2 else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *lines])


def figures_table(rows, results):
    columns = [peer for peer in PEERS if any(peer in row.peers for row in rows)]
    lines = []
    for row in rows:
        found = medians(row, results)
        lines.append([row.id.upper(), f"{row.title}, {row.unit}".rstrip(", "),
                      *(number(found.get(peer)) for peer in columns)])
    return table(["id", "per operation", *columns], lines)


def verdict_table(rows, results):
    lines = []
    for row in rows:
        base = "objects" if row.first.of == "objects" else "floor"
        found = medians(row, results)
        paired = ratio(row, results, row.ours, base)
        lines.append([row.id.upper(), number(found.get(row.ours)),
                      f"{paired:.2f} x {base}" if paired is not None else "",
                      row.first.words(row.unit), row.goal.words(row.unit),
                      verdict(row, results)])
    return table(["id", "ours", "ratio", "first", "goal", "verdict"], lines)


def spread_table(rows, results):
    """Median and minimum, by CPU time and by the wall, of what is timed by both; instructions."""
    lines = []
    for row in rows:
        for peer in row.peers:
            cells = [row.id.upper(), peer]
            found = results[row.run_key].get(peer)
            if isinstance(found, str) or not found:
                lines.append([*cells, found or "not asked", "", "", "", ""])
                continue
            if row.figure not in found[0]:
                continue
            names = ("cpu", "wall") if row.figure == "cpu" else (row.figure,)
            for name in names:
                values = [one[name] for one in found]
                cells += [number(statistics.median(values)), number(min(values))]
            counted = number(instructions(row, peer, results))
            lines.append(cells + [""] * (6 - len(cells)) + [counted])
    head = ["id", "peer", "median", "minimum", "wall, median", "wall, minimum", "instructions"]
    return table(head, lines)


def instructions(row, peer, results):
    """The instructions of an operation, None where they were not counted."""
    found = results[row.run_key].get(peer)
    return found[0].get(row.count_key) if isinstance(found, list) and found else None


def counted(rows, results):
    """The instructions of an operation, beside those of the base that its limit is of."""
    lines = []
    for row in rows:
        ours, base = (instructions(row, peer, results) for peer in (row.ours, row.first.of))
        is_over = ours and base and ours > row.first.factor * base
        lines.append([
            row.id.upper(), f"{row.title}", number(base), number(ours),
            f"{ours / base:.2f}" if ours and base else "", row.first.words(""),
            "**over**" if is_over else ""])
    return table(["id", "per operation", "base", "ours", "ratio", "limit", ""], lines)


def comparison(rows, results):
    """What became of our figures since another commit."""
    lines = []
    for row in rows:
        figures = medians(row, results)
        paired = ratio(row, results, "moonloop", "before")
        before, now = (instructions(row, peer, results) for peer in ("before", "moonloop"))
        lines.append([
            row.id.upper(), f"{row.title}, {row.unit}".rstrip(", "),
            number(figures.get("before")), number(figures.get("moonloop")),
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
            f"{first_line(['cc', '--version'])}, {first_line(['swift', '--version'])}")


NOTES = pathlib.Path(__file__).resolve().parent / "notes.md"


def page(rows, results, rounds, is_quick):
    ours = [row for row in rows if row.ours in OURS]
    warning = "\n**A quick run: the figures say little.**\n" if is_quick else ""
    return f"""# Benchmarks

Written by `scripts/bench`, {rounds} rounds, on {datetime.date.today().isoformat()}; do not edit.
The machine: {machine()}.
{warning}
## Figures

Medians; nanoseconds are CPU time of the whole process, the system's share included.

{figures_table(rows, results)}

## Where we stand

"First" was asked for before the work counted as done, "goal" is where it goes; both also ask to
beat luv and cqueues. The ratio is the median of the ratios of the single rounds.

{verdict_table(ours, results)}

{NOTES.read_text(encoding="utf-8").strip()}

## Median and minimum

{spread_table(rows, results)}
"""
