# Debian's names of two files, for the links of the pages.
s/\]\(((\.\.\/)*)CHANGELOG\.md\)/](\1changelog.gz)/g
s/\]\(((\.\.\/)*)LICENSE\)/](\1copyright)/g
