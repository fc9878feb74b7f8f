"""Writes the documentation as static HTML: scripts/docs --site FOLDER.

`--check` as the second argument looks for dead links and for what assistive programs stumble over.
"""

import pathlib
import shutil
import sys

import check
import layout
import search
from tree import Tree

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


def build(folder):
    tree = Tree(TOP)
    for page in tree.pages:
        path = folder / page.address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(layout.document(page, tree))
    (folder / "search-index.js").write_text(search.index(tree))
    for asset in ("style.css", "script.js"):
        shutil.copy(HERE / asset, folder / asset)
    pictures = folder / "pictures"
    pictures.mkdir(exist_ok=True)
    for picture in sorted((TOP / "docs/pictures").glob("*.svg")):
        shutil.copy(picture, pictures / picture.name)
    return len(tree.pages)


def main(arguments):
    folder = pathlib.Path(arguments[0])
    if folder.exists() and any(folder.iterdir()) and not (folder / "search-index.js").exists():
        return f"docs: '{folder}' has other files; name an empty or a new folder"
    try:
        count = build(folder)
    except OSError as error:
        return f"docs: {error.filename}: {error.strerror}"
    findings = list(check.findings(folder))
    print(*findings, sep="\n", end="\n" if findings else "", file=sys.stderr)
    print(f"docs: {count} pages, {len(findings)} findings", file=sys.stderr)
    return 1 if findings else 0


sys.exit(main(sys.argv[1:]))
