"""Leaves out of a site's scripts and styles the comments that stand on lines of their own: plain.py FOLDER, in place.

They are for readers of the source, and a seventh of what a first visit fetches.
"""
import pathlib
import re
import sys

COMMENT = {".js": re.compile(r"^\s*//.*\n", re.M), ".css": re.compile(r"^\s*/\*[^*]*\*/\s*\n", re.M)}


def plain(text: str, comment: re.Pattern[str]) -> str:
    # Between the backquotes of a template a line is text, whatever it begins with.
    return comment.sub(lambda line: line[0] if text[: line.start()].count("`") % 2 else "", text)


for file in pathlib.Path(sys.argv[1]).rglob("*"):
    if file.suffix in COMMENT:
        text = file.read_text(encoding="utf-8")
        file.write_text(plain(text, COMMENT[file.suffix]), encoding="utf-8")
