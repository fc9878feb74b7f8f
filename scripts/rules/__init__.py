"""The rules of scripts/lint: one module per subject, each a generator of findings."""

import pathlib
import subprocess
from . import layout, lua_api, lua_types, size, swift, text
from .source import Finding, Source

OFFENDERS = pathlib.Path("scripts/rules/offenders.txt")
_READ = {".swift", ".c", ".h", ".lua", ".py", ".md", ".sh"}
_ONE_BY_ONE = (text.check, swift.check, lua_api.check, layout.check)


def tree() -> set[str]:
    """The files that git knows or would add."""
    # The owner may be another user, as in a container: only names are read here.
    command = [
        "git",
        "-c",
        "safe.directory=*",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {path for path in listed.split("\0") if path and pathlib.Path(path).is_file()}


def read(path: str) -> Source | None:
    """A text file that the rules look at; None for data, and for what a tutorial shows whole."""
    if ".docc/Resources/" in path:
        return None
    script = path.startswith(("scripts/", ".ci/")) and "." not in path.rsplit("/", 1)[-1]
    if not script and pathlib.Path(path).suffix not in _READ:
        return None
    return Source(path, pathlib.Path(path).read_text(encoding="utf-8"))


def offenders() -> dict[tuple[str, str], int]:
    """The recorded sizes, by path and rule."""
    rows = [row.split() for row in OFFENDERS.read_text().splitlines() if not row.startswith("#")]
    return {(path, rule): int(size) for path, rule, size in rows}


def check(sources: dict[str, Source], paths: set[str], offenders: dict[tuple[str, str], int]):
    """All findings, file by file. Old offenders may pass at their recorded size."""
    for path in sorted(sources):
        for rule in _ONE_BY_ONE:
            yield from rule(sources[path])
        yield from _sizes(sources[path], offenders)
    for path, rule in offenders:
        if path not in sources:
            do = f"delete its line in {OFFENDERS}"
            yield Finding(path, 1, "old-offender", f"the file is gone; so is its {rule}", do)
    yield from layout.check_tree(sources, paths)
    yield from lua_types.check(sources)


def _sizes(source: Source, offenders):
    worst: dict[str, int] = {}
    for finding, size_now in size.check(source):
        worst[finding.rule] = max(size_now, worst.get(finding.rule, 0))
        if size_now > offenders.get((source.path, finding.rule), 0):
            yield finding
    for (path, rule), recorded in offenders.items():
        if path == source.path and worst.get(rule, 0) < recorded:
            do = f"write {worst[rule]}" if rule in worst else "delete its line"
            yield source.finding(
                1,
                "old-offender",
                f"{rule} has come down from {recorded}; the list may only shrink",
                f"{do} in {OFFENDERS}",
            )
