"""Rules of the tree: what a file is called and begins with, and files that nothing uses."""

import re
from .source import Finding, Source

_VAGUE = re.compile(r"(?i)(^|[a-z+])(utils?|helpers?|misc|common|manager|stuff)$")
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
_COMMENTED = {".swift", ".c", ".h", ".lua", ".py"}
# Folders under Tests/ that are no test target: what is in them is read by tests or by scripts.
_DATA = ("Tests/Conformance/", "Tests/Scripts/", "Tests/Lint/", "Tests/Mutants/", "Tests/Data/",
         "Tests/Specs/", "Tests/Planning/", "Tests/Recordings/", "Tests/Macros/",
         "Tests/Reload/", "Tests/ForeignSuites/", "Tests/Reference/")


def check(source: Source):
    """What can be said of a file alone."""
    in_code = source.path.startswith(("Sources/", "Tests/", "scripts/"))
    if in_code and _VAGUE.search(source.stem) and source.suffix in _COMMENTED:
        yield source.finding(
            1,
            "file-name",
            f"'{source.stem}' says nothing; a file is found by its name",
            "name it for the one concept it holds",
        )
    if source.text.strip() in ("// Placeholder.", "-- Placeholder.", ""):
        yield source.finding(1, "placeholder", "nothing is in it yet", "fill it or delete it")
    elif in_code and source.suffix in _COMMENTED and source.path != "Package.swift":
        head = "\n".join(source.lines[:3])
        if not re.search(r'^\s*(//|/\*|--|#(?!!|include|define|pragma)|""")', head, re.M):
            yield source.finding(
                1,
                "first-sentence",
                "the file does not say what it is for",
                "begin with one sentence in a comment",
            )
    if number := re.match(r"docs/decisions/0*(\d+)-", source.path):
        if not re.match(rf"# {number[1]}\. .+\n\nStatus: \w", source.text):
            yield source.finding(
                1,
                "decision",
                "decisions look alike, so that their list can be read",
                f"begin with '# {number[1]}. TITLE' and, below it, 'Status: accepted.'",
            )
    if source.text and not source.text.endswith("\n"):
        yield source.finding(
            len(source.lines), "last-line", "no line end at the end of the file", "add it"
        )


def undefined_rules(sources: dict[str, Source]):
    """Rule numbers (R1, D24, S3) that a comment cites and no page defines: path, line, number."""
    defined = set()
    for path, source in sources.items():
        if re.match(r"docs/[^/]+\.md$", path):
            defined.update(re.findall(r"(?m)^- \*\*([RDS]\d{1,3})\*\*", source.text))
    for path, source in sorted(sources.items()):
        if path.startswith("Sources/") and source.suffix in _COMMENTED:
            for number, comment in enumerate(source.comments, 1):
                for rule in re.findall(r"\b[RDS]\d{1,3}\b", comment):
                    if rule not in defined:
                        yield path, number, rule


def check_tree(sources: dict[str, Source], paths: set[str]):
    """What can be said of the tree as a whole: dead files and dead links."""
    text_of = lambda *ends: "\n".join(
        s.text for p, s in sorted(sources.items()) if p.endswith(ends)
    )
    manifest = sources["Package.swift"].text if "Package.swift" in sources else ""
    c_text, tests = text_of(".c", ".h"), "\n".join(
        s.text for p, s in sources.items() if p.startswith("Tests/") and p.endswith(".swift")
    )
    pages = {p: s for p, s in sources.items() if p.endswith(".md")}
    links = {_resolve(p, target) for p, s in pages.items() for target in _LINK.findall(s.text)}
    for path in sorted(paths):
        folder = path.split("/")[1] if path.count("/") > 1 else ""
        if path.startswith(("Sources/", "Tests/")) and not path.startswith(_DATA):
            if f'"{folder}"' not in manifest and f'"Tests/{folder}"' not in manifest:
                yield _dead(path, f"no target of Package.swift is called '{folder}'")
        if (
            path.startswith("Sources/")
            and path.endswith(".lua")
            and path.rsplit("/", 1)[1] not in c_text
        ):
            yield _dead(path, "no C file embeds it")
        if (
            re.fullmatch(r"scripts/examples/[^/]+\.lua", path)
            and path.rsplit("/", 1)[1] not in tests
        ):
            yield _dead(path, "no test runs this example")
        if (
            re.match(r"docs/.*\.md$", path)
            and not path.startswith("docs/decisions/")
            and path not in links
        ):
            yield _dead(path, "no page links to it")
    yield from _unlisted_steps(sources)
    for path, number, rule in undefined_rules(sources):
        what = f"no page of docs/ defines {rule}; a reader cannot look it up"
        yield sources[path].finding(number, "rule", what, "define it in docs/rules.md")
    for path, page in pages.items():
        for number, line in enumerate(page.lines, 1):
            for target in _LINK.findall(line):
                full = _resolve(path, target)
                if full not in paths and not any(
                    p.startswith(full.rstrip("/") + "/") for p in paths
                ):
                    yield page.finding(
                        number, "link", f"'{target}' is not in the repository", "correct the link"
                    )


def _unlisted_steps(sources):
    """The steps of scripts/check against the table of CONTRIBUTING.md, in order."""
    check, page = sources.get("scripts/check"), sources.get("CONTRIBUTING.md")
    if not check or not page:
        return
    steps = re.findall(r"^\s*step scripts/([\w-]+)", check.text, re.M)
    steps = [one for one in dict.fromkeys(steps) if one not in ("setup", "sanitize")]
    rows = [re.findall(r"`([\w-]+)[^`]*`", line.split("|")[1])
            for line in page.text.partition("`scripts/check` wants")[2].split("\n##")[0].split("\n")
            if line.startswith("| `")]
    named = list(dict.fromkeys(name for row in rows for name in row))
    if named != steps:
        yield page.finding(
            1,
            "check-steps",
            f"its table has {', '.join(named)}; scripts/check runs {', '.join(steps)}",
            "make the table follow the script",
        )


def _dead(path, why):
    return Finding(
        path, 1, "dead-file", f"{why}, so nothing would show if it broke", "use it or delete it"
    )


def _resolve(page: str, target: str) -> str:
    parts = page.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)
