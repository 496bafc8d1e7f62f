"""Writes the lessons as a plain page, for readers without JavaScript or WebAssembly: questions, results and pictures.

    lessons_page.py SITE_FOLDER
"""
import html
import json
import pathlib
import sys

from reading_page import reading_page


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def lesson_text(lesson: dict, site: pathlib.Path) -> str:
    guess = lesson["predict"]
    choices = "".join(
        f"<li>{html.escape(choice)}{' <b>(this one)</b>' if i == guess['answer'] else ''}</li>" for i, choice in enumerate(guess["choices"])
    )
    claims = "".join(f"<li>{html.escape(one['say'])}</li>" for one in lesson["expect"])
    picture = f"lessons/pictures/{lesson['id']}.svg"
    image = f'<img src="{picture}" alt="A chart of this lesson, drawn by the calculator">' if (site / picture).exists() else ""
    return (
        f'<section id="{lesson["id"]}"><h2>{html.escape(lesson["title"])}</h2>{paragraph(lesson["question"])}<ul>{choices}</ul>'
        f"{paragraph(guess['why'])}{image}<h3>What comes out</h3><ul>{claims}</ul>"
        f"<p><b>Take away:</b> {html.escape(lesson['takeaway'])}</p>"
        f'<p class="note">Sources: {html.escape("; ".join(lesson["sources"]))}. '
        f'<a href="index.html#/lessons/{lesson["id"]}">Try it</a> (needs JavaScript and WebAssembly)</p></section>'
    )


def main(site: pathlib.Path) -> None:
    order = json.loads((site / "lessons/index.json").read_text(encoding="utf-8"))
    lessons = [json.loads((site / f"lessons/{name}.json").read_text(encoding="utf-8")) for name in order]
    contents = "".join(f'<li><a href="#{one["id"]}">{html.escape(one["title"])}</a></li>' for one in lessons)
    body = "".join(lesson_text(one, site) for one in lessons)
    page = reading_page(
        "Slipstick: the lessons to read",
        "What the lessons of Slipstick ask and find, as text.",
        f"""<h1>Slipstick: the lessons to read</h1>
      <p>The calculator computes in your browser and needs JavaScript and WebAssembly. This page needs neither: it is what its lessons ask and find.</p>
      <ol>{contents}</ol>
      {body}""",
    )
    (site / "lessons.html").write_text(page, encoding="utf-8")


main(pathlib.Path(sys.argv[1]))
