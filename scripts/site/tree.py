"""The pages of the site: which file each is made of, its address, and its place in the menu."""

import os
import pathlib
import re
import subprocess

import markup

# Pages beside those of docs/.
_TOP_PAGES = {
    "CONTRIBUTING.md": "contributing.html",
    "CHANGELOG.md": "changelog.html",
    "SECURITY.md": "security.html",
}
# What stands for a file or folder that has no page of its own.
_INSTEAD = {
    "README.md": "docs/README.md",
    "docs/types": "docs/types/README.md",
    "docs/lua-api.intro.md": "docs/lua-api.md",
    "scripts/examples": "docs/cookbook.md",
}
_REPOSITORY = re.compile(r"^(Sources|Tests|scripts|packaging|Package\.swift|LICENSE)\b")


class Page:
    """One page; `source` is its file from the top of the repository."""

    def __init__(self, source, address, text, kind="page"):
        self.source, self.address, self.text, self.kind = source, address, text, kind
        self.body, self.title, self.headings, self.summary = "", "", [], ""

    def up(self):
        """The way from this page to the top of the site."""
        return "../" * self.address.count("/")


class Tree:
    def __init__(self, top):
        self.top = top
        self.pages = list(self._find())
        self.by_source = {page.source: page for page in self.pages}
        # What the cookbook calls the examples.
        self.recipes = {
            f"scripts/{path}": label for label, path in re.findall(
                r"- \[(.*?)\]\(\.\./scripts/(\S+)\)", self.by_source["docs/cookbook.md"].text)}
        self.entries = {}
        for page in self.pages:
            if page.source.startswith("docs/reference/"):
                self.entries |= markup.entries(page)
        for page in self.pages:
            markup.render(page, self)
        self.menu = list(self._menu())

    def _find(self):
        read = lambda path: (self.top / path).read_text()
        yield Page("docs/README.md", "index.html", read("docs/README.md"), "home")
        docs = sorted((self.top / "docs").glob("*.md"))
        for path in docs + sorted((self.top / "docs/reference").glob("*.md")):
            if path.name not in ("README.md", "lua-api.intro.md"):
                address = path.relative_to(self.top / "docs").with_suffix(".html")
                yield Page(str(path.relative_to(self.top)), str(address), path.read_text())
        for source, address in _TOP_PAGES.items():
            yield Page(source, address, read(source))
        yield Page("docs/types/README.md", "types/index.html", read("docs/types/README.md"))
        yield from self._decisions()
        yield from self._code("docs/types", "types", "*.lua", "types")
        yield from self._code("scripts/examples", "examples", "*", "example")

    def _decisions(self):
        files = sorted((self.top / "docs/decisions").glob("[0-9]*.md"))
        lines = [(self.top / "docs/decisions/README.md").read_text()]
        for path in files:
            title = path.read_text().split("\n", 1)[0].removeprefix("# ")
            lines.append(f"- [{title}]({path.name})")
        yield Page("docs/decisions", "decisions/index.html", "\n".join(lines), "list")
        for path in files:
            address = f"decisions/{path.stem}.html"
            yield Page(str(path.relative_to(self.top)), address, path.read_text())

    def _code(self, folder, address, pattern, kind):
        """Pages of files that are shown as they are; of examples, those that Git knows."""
        known = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others",
             "--exclude-standard", folder],
            cwd=self.top, capture_output=True, text=True, check=False).stdout.split()
        for source in sorted(known) or map(str, sorted((self.top / folder).rglob(pattern))):
            path = self.top / source
            if path.match(pattern) and path.suffix in (".lua", ".service", ".socket", ".sh"):
                name = os.path.relpath(source, folder)
                yield Page(source, f"{address}/{name}.html", path.read_text(), kind)

    def _menu(self):
        """The groups of docs/README.md: heading, then (label, page, what it is about)."""
        home = self.by_source["docs/README.md"].text
        for group in home.split("\n## ")[1:]:
            heading, _, rest = group.partition("\n")
            found = []
            for item in re.findall(r"(?ms)^- (.*?)(?=\n- |\n\n|\Z)", rest):
                label, target, about = re.match(r"(?s)\[(.*?)\]\((\S+?)\)(.*)", item).groups()
                page = self.by_source[os.path.normpath(f"docs/{target}")]
                found.append((" ".join(label.split()), page, " ".join(about.split())))
            yield heading, found

    def resolve(self, page, target):
        """Where a link of a page leads on the site, or None."""
        path, _, anchor = target.partition("#")
        if not path:
            return f"#{anchor}"
        base = "docs/decisions" if page.kind == "list" else os.path.dirname(page.source)
        source = os.path.normpath(os.path.join(base, path))
        source = _INSTEAD.get(source, source)
        if source.startswith("docs/pictures/"):
            return page.up() + source.removeprefix("docs/")
        if found := self.by_source.get(source):
            here = os.path.dirname(page.address) or "."
            return os.path.relpath(found.address, here) + (f"#{anchor}" if anchor else "")
        # Sources are not on the site; a link to one is shown as its name.
        return None if _REPOSITORY.match(source) else target
