"""Writes the scoreboard: the program's errors for publishers whose runs and constants are left out, by release; every run; and the errors
that other tools state for themselves.

    tests/validation/left_out build/native/evidence --runs | scoreboard_page.py SITE_FOLDER SCOREBOARD_FOLDER EVIDENCE_FOLDER

SCOREBOARD_FOLDER contains records.json (left_out --record) and other_tools.json. The runs are those of this build.
"""
import calendar
import html
import json
import pathlib
import re
import sys

from reading_page import reading_page

KINDS = {
    "training_step": "Training step",
    "training_memory": "Training memory",
    "output_token": "Time per output token",
    "first_token": "First token",
    "throughput": "Serving throughput",
    "static_batch": "Latency of a static batch",
    "serving_memory": "Serving memory",
    "image_or_clip": "Image or clip by diffusion",
}
GROUPS = {
    "training": ("Training", ["training_step", "training_memory"]),
    "serving": ("Serving", ["output_token", "first_token", "throughput"]),
}
FIGURES = {
    "training.step_time_s": "step time",
    "training.tokens_per_s": "tokens/s",
    "training.tokens_per_s_per_device": "tokens/s per device",
    "training.model_flops_utilization": "MFU",
    "training.hardware_flops_utilization": "HFU",
    "training.memory_bytes.total": "peak memory per device",
    "serving.tpot_s": "time per output token",
    "serving.decode_step_s": "decode step",
    "serving.prefill_s": "prefill",
    "serving.ttft_s": "time to first token",
    "serving.tokens_per_s": "tokens/s",
    "serving.static_latency_s": "latency of the batch",
    "serving.static_ttft_s": "first token of the batch",
    "serving.memory_bytes.total": "peak memory per device",
    "diffusion.latency_s": "time to an image or clip",
}
SCORES = ["Runs", "Error", "In the interval", "Half-width"]
ADDRESS = re.compile(r"https://[^\s;,()]+")


def percent(value: float | None) -> str:
    return "–" if value is None else f"{value}\u00a0%"


def three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def quantity(value: float, figure: str) -> str:
    """With a suitable unit: 1.42 s, 22.5 ms, 17.3 GB; rates as 2,749, because the figure names their unit."""
    if "memory_bytes" in figure:
        return f"{three_digits(value / 1e9)}\u00a0GB"
    if figure.endswith("utilization"):
        return f"{value * 100:.1f}\u00a0%"
    if not figure.endswith("_s") or "tokens_per_s" in figure:
        return three_digits(value)
    factor, unit = next(((f, u) for f, u in [(1, "s"), (1e-3, "ms")] if value >= f), (1e-6, "µs"))
    return f"{three_digits(value / factor)}\u00a0{unit}"


def signed(share: float) -> str:
    return f"{'−' if share < 0 else '+'}{abs(share) * 100:.1f}\u00a0%"


def day(text: str) -> str:
    """2026-11-27 as 27 November 2026, 2026-11 as November 2026; words before the date are kept."""
    *words, date = text.split()
    year, month, *of_month = date.split("-")
    shown = " ".join([*(one.lstrip("0") for one in of_month), calendar.month_name[int(month)], year])
    return " ".join([*map(html.escape, words), f'<time datetime="{date}">{shown}</time>'])


def listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def place(publisher: str) -> str:
    return "runs-" + re.sub(r"[^a-z0-9]+", "-", publisher.lower()).strip("-")


def table(caption: str, columns: list[str], body: str, kind: str = "scores") -> str:
    heads = "".join(f'<th scope="col">{name}</th>' for name in columns)
    return f'<table class="board {kind}"><caption class="visually-hidden">{caption}</caption><thead><tr>{heads}</tr></thead>{body}</table>'


def group_of_rows(title: str, columns: list[str], rows: list[list[str]]) -> str:
    """Rows under a title. The first cell of a row is its name; the others repeat their column's title where rows are shown as cards."""
    head = f'<tr class="group"><th scope="rowgroup" colspan="{len(columns)}">{title}</th></tr>' if title else ""
    lines = "".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f'<td data-l="{name}">{cell}</td>' for name, cell in zip(columns[1:], cells)) + "</tr>"
        for first, *cells in rows
    )
    return f"<tbody>{head}{lines}</tbody>"


def scores(one: dict) -> list[str]:
    asked = f" of {one['runs'] + one['unanswered']:,}" if "unanswered" in one else ""
    return [f"{one['runs']:,}{asked}", *(percent(one.get(name)) for name in ("error", "held", "half_width"))]


def by_release(records: list[dict]) -> str:
    columns = ["Release", *SCORES]
    body = ""
    for kind, title in KINDS.items():
        rows = [
            [f"{html.escape(record['release'])}<small>{day(record['date'])}</small>", *scores(one)]
            for record in reversed(records)
            for one in record["all"]
            if one["kind"] == kind
        ]
        body += group_of_rows(title, columns, rows) if rows else ""
    return table("All publishers, the newest release first", columns, body)


def by_publisher(caption: str, lines: list[dict], known: set[str]) -> str:
    columns = ["Publisher", *SCORES]

    def name_of(publisher: str) -> str:
        name = html.escape(publisher)
        return f'<a href="#{place(publisher)}">{name}</a>' if publisher in known else name

    body = ""
    for kind, title in KINDS.items():
        rows = [[name_of(one["publisher"]), *scores(one)] for one in lines if one["kind"] == kind]
        body += group_of_rows(title, columns, rows) if rows else ""
    return table(caption, columns, body)


def other_tools(record: dict, tools: list[dict]) -> str:
    columns = ["Tool", "States of itself", "Judged on", "Known beforehand of these runs or machines", "Source"]
    body = ""
    for group, (title, kinds) in GROUPS.items():
        ours = {one["kind"]: one for one in record["all"] if one["kind"] in kinds}
        rows = []
        if ours:
            errors = "; ".join(f"{KINDS[kind].lower()} {percent(one['error'])}, {percent(one['held'])} in the interval" for kind, one in ours.items())
            counts = listed([f"{one['runs']:,}" for one in ours.values()])
            rows.append([f"Slipstick {html.escape(record['release'])}", f"In the median: {errors}", f"{counts} published runs, the tables above",
                         "Other publishers' runs; neither those of the publisher nor the constants that they set", f"This page, {day(record['date'])}"])
        for one in tools:
            if one["group"] == group:
                link = f'<a href="{html.escape(one["source"])}">{html.escape(re.sub("^https://", "", one["source"]).split("/")[0])}</a>'
                rows.append([f"{html.escape(one['tool'])}<small>{html.escape(one['by'])}</small>",
                             *(html.escape(one[key]).replace(" %", "\u00a0%") for key in ("states", "measured", "known")), f"{link}, {day(one['date'])}"])
        body += group_of_rows(title, columns, rows) if rows else ""
    return table("What other tools state of themselves", columns, body, "tools")


def source_of(entry: dict) -> str:
    address = ADDRESS.search(entry["source"])
    name = html.escape(entry["campaign"])
    return f'<a href="{html.escape(address[0])}">{name}</a>' if address else f"{name}<small>{html.escape(entry['source'])}</small>"


def every_run(runs: list[dict], evidence: dict[str, dict]) -> str:
    columns = ["Run", "Measured", "Predicted", "Error", "90 % interval"]
    of_publisher: dict[str, dict[str, list[dict]]] = {}
    for run in runs:
        of_publisher.setdefault(evidence[run["source"]]["publisher"], {}).setdefault(run["source"], []).append(run)
    made = ""
    for publisher, sources in sorted(of_publisher.items(), key=lambda one: one[0].lower()):
        body = ""
        for source, members in sources.items():
            rows = []
            for run in members:
                measured, predicted, low, high = (quantity(run[key], run["figure"]) for key in ("measured", "predicted", "low", "high"))
                interval = f"{low} to {high}{'' if run['held'] else ', measured outside'}"
                figure = html.escape(FIGURES.get(run["figure"], run["figure"]))
                rows.append([f"{html.escape(run['id'])}<small>{figure}</small>", measured, predicted, signed(run["error"]), interval])
            body += group_of_rows(source_of(evidence[source]), columns, rows)
        count = sum(len(members) for members in sources.values())
        name = html.escape(publisher)
        made += (
            f'<details id="{place(publisher)}"><summary>{name}: {count:,} {"run" if count == 1 else "runs"}</summary>'
            f'{table(f"Runs of {name}", columns, body, "runs")}</details>'
        )
    return made


def page(records: list[dict], tools: list[dict], runs: list[dict], evidence: dict[str, dict]) -> str:
    newest = records[-1]
    known = {evidence[run["source"]]["publisher"] for run in runs}
    others = newest.get("others", [])
    unseen = (
        f"""<h2 id="unseen">Figures that set nothing</h2>
      <p>Of the last two years, and of papers: no constant was fitted to them, and they are not in the program. They are answered as they are.
      Their rows are no part of this site, so that they are not listed below.</p>
      {by_publisher("Publishers whose figures set nothing", others, set())}"""
        if others
        else ""
    )
    body = f"""<p><a href="index.html">Slipstick</a></p>
      <h1>Slipstick: the scoreboard</h1>
      <p>How far off the program is for the next publisher. Each publisher's measured runs are answered without all its runs and without the
      constants that they set: with an engine or a framework of another publisher where one runs the same way, memory with its own. Which
      formulas there are was decided with most of these runs in view. Release {html.escape(newest["release"])},
      {day(newest["date"])}.</p>
      <dl>
        <dt>Error</dt><dd>The median of |predicted / measured − 1|. Of a rate, it is that of the time that the rate stands for.</dd>
        <dt>In the interval</dt><dd>How many measurements lie in the 90 % interval of their own answer.</dd>
        <dt>Half-width</dt><dd>Half of that interval over the answer, in the median.</dd>
      </dl>
      <ol>
        <li><a href="#releases">By release</a></li>
        <li><a href="#publishers">By publisher</a></li>
        {'<li><a href="#unseen">Figures that set nothing</a></li>' if others else ""}
        <li><a href="#tools">What other tools state of themselves</a></li>
        <li><a href="#runs">Every run</a></li>
      </ol>
      <h2 id="releases">By release</h2>
      <p>A release keeps its line when the next one comes. Releases of before publishers were left out were asked the same runs afterwards: of
      those that they can answer the error counts, and the interval is the one that they stated, knowing the runs of the publisher.</p>
      {by_release(records)}
      <h2 id="publishers">By publisher</h2>
      <p>The {len(runs):,} runs of the program's catalogue, each answered without those of its publisher. A name leads to its runs.</p>
      {by_publisher("Publishers left out", newest.get("publishers", []), known)}
      {unseen}
      <h2 id="tools">What other tools state of themselves</h2>
      <p>Each is judged on runs of its authors' choice, and all differ in what they know of a machine beforehand: these lines are no ranking.
      We have not checked them.</p>
      {other_tools(newest, tools)}
      <h2 id="runs">Every run</h2>
      <p>As published, and as this build predicts it without its publisher. An error above zero means too slow or too much; a rate counts as the
      time that it stands for.</p>
      {every_run(runs, evidence)}
      <p class="note">Made by <code>tests/validation/left_out</code>. <a href="index.html#/method">Method</a> has the formulas and all runs, each
      to load as a scenario.</p>"""
    return reading_page(
        "Slipstick: the scoreboard",
        "How far off Slipstick is for each publisher of measured runs, without that publisher's runs.",
        body,
        "scoreboard",
    )


def main(site: pathlib.Path, scoreboard: pathlib.Path, folder: pathlib.Path) -> None:
    records, tools = (json.loads((scoreboard / f"{name}.json").read_text(encoding="utf-8")) for name in ("records", "other_tools"))
    evidence = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}
    (site / "scoreboard.html").write_text(page(records, tools, json.load(sys.stdin), evidence), encoding="utf-8")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
