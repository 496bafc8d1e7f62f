"""Writes the built site as one HTML file that works everywhere: opened by a double click, in a sandboxed frame, without a network.

    single_file.py SITE_FOLDER OUTPUT

Browsers load no module from file: addresses, so the import map gives every module as a data: address under its own name. host.js, which
loads workers and data from beside the page, is replaced by a version that takes them from the file.
"""
import base64
import json
import pathlib
import posixpath
import re
import sys

SPECIFIER = re.compile(r"""(\bfrom\s*|\bimport\s*\(\s*|\bimport\s*)(["'])(\.{1,2}/[^"']+)\2""")
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data: blob: 'wasm-unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'"
)
HOST = """
const file = (id) => document.getElementById(id).textContent;
export const startWorker = (name) =>
  new Worker(URL.createObjectURL(new Blob([file('glue'), file(name)], { type: 'text/javascript' })));
export const readJson = async (path) => structuredClone(JSON.parse(file('data'))[path]);
export const compileCore = async () => WebAssembly.compile(Uint8Array.from(atob(file('wasm')), (c) => c.charCodeAt(0)));
export const addStyle = async () => {};
export const hasPages = false;
"""


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def named(text: str, folder: str) -> str:
    """Replaces relative specifiers by names of the import map."""
    name = lambda path: "slipstick/" + posixpath.normpath(posixpath.join(folder, path))
    return SPECIFIER.sub(lambda m: f"{m[1]}{m[2]}{name(m[3])}{m[2]}", text)


def main(site: pathlib.Path, output: pathlib.Path) -> None:
    def read(path: str) -> str:
        return (site / path).read_text(encoding="utf-8")

    imports = {}
    for path in sorted(site.rglob("*.js")):
        place = path.relative_to(site).as_posix()
        if place == "sw.js" or place.startswith("wasm/") or place == "engine/worker.js":
            continue
        text = HOST if place == "host.js" else named(read(place), posixpath.dirname(place))
        imports["slipstick/" + place] = "data:text/javascript;base64," + base64_text(text.encode())

    # A worker is a classic script: the module's glue code, then the worker without its import.
    glue = read("wasm/slipstick.js").replace("import.meta.url", '"file:///"').replace("export default createSlipstick;", "")
    worker = re.sub(r"^import .*$", "", read("engine/worker.js"), flags=re.M)
    data = {
        path.relative_to(site).as_posix(): json.loads(path.read_text(encoding="utf-8"))
        for folder in ("lessons", "data")
        for path in sorted((site / folder).rglob("*.json"))
    }

    def carried(kind: str, name: str, text: str) -> str:
        assert "</script" not in text
        return f'<script type="{kind}" id="{name}">{text}</script>\n'

    html = read("index.html")
    html = re.sub(r'(<meta http-equiv="Content-Security-Policy" content=")[^"]*', lambda m: m[1] + POLICY, html)
    icon = "data:image/svg+xml;base64," + base64_text((site / "icon.svg").read_bytes())
    html = html.replace('href="icon.svg"', f'href="{icon}"')
    html = re.sub(r'\s*<link rel="(modulepreload|preload)"[^>]*>', "", html)
    linked = re.findall(r'<link rel="stylesheet" href="style/([^"]+)">', html)
    html = re.sub(r'<link rel="stylesheet" href="([^"]+)">', lambda m: f"<style>{read(m[1])}</style>", html)
    later = "".join(read(f"style/{path.name}") for path in sorted((site / "style").glob("*.css")) if path.name not in linked)
    html = html.replace("</head>", f"  <style>{later}</style>\n  </head>")
    body = (
        f'<script type="importmap">{json.dumps({"imports": imports})}</script>\n'
        + carried("text/plain", "wasm", base64_text((site / "wasm/slipstick.wasm").read_bytes()))
        + carried("text/plain", "glue", glue)
        + carried("text/plain", "worker", worker)
        + carried("application/json", "data", json.dumps(data))
        + '<script type="module">import "slipstick/main.js";</script>\n'
    )
    html = re.sub(r'\s*<script type="module" src="main.js"></script>', "", html)
    html = html.replace("</body>", body + "  </body>")
    output.write_text(html, encoding="utf-8")


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
