"""The documentation site, built as scripts/docs builds it and looked at in a browser (Chromium, headless).

Each page: it loads from a file without an error on the console and without a request to any host, its pictures are
there, nothing makes a phone scroll sideways, and text can be read on its background (4.5 : 1, WCAG's AA) in the light
and in the dark. Search finds a word, from a file and from a server.
"""

import functools
import http.server
import importlib.util
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import nbformat
import pytest
from mkdocs.exceptions import PluginError
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 900}

spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs/hooks.py")
hooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hooks)

# Text whose contrast with what is behind it is too low: [ratio, text, colour, background]. Colours are painted on
# a canvas to have them as numbers, whatever the style sheet's way of writing them.
UNREADABLE = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const seen = new Map()
  const numbers = text => {
    if (!seen.has(text)) {
      canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1)
      seen.set(text, [...canvas.getImageData(0, 0, 1, 1).data])
    }
    return seen.get(text)
  }
  const over = (top, below) => { const a = top[3] / 255; return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a)).concat(255) }
  const channel = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2])
  const behind = element => {
    const layers = []
    for (let e = element; e; e = e.parentElement) layers.push(numbers(getComputedStyle(e).backgroundColor))
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 255])
  }
  const found = []
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), element = walk.currentNode.parentElement
    if (!text || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || element.closest("svg, script, style, .headerlink")) continue
    const box = element.getBoundingClientRect()
    if (!box.width || !box.height) continue
    const below = behind(element), colour = over(numbers(getComputedStyle(element).color), below)
    const [a, b] = [light(colour), light(below)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05)
    if (ratio < 4.5) found.push([ratio.toFixed(2), text.slice(0, 40), colour.map(Math.round).join(), below.map(Math.round).join(), element.className])
  }
  return found
}"""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "PYPTX_DEVICE": "host", "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as play:
        chromium = shutil.which("chromium")
        assert chromium, "no chromium: scripts/full installs it"
        with play.chromium.launch(executable_path=chromium, args=["--no-sandbox"]) as started:
            yield started


def pages(site):
    return sorted(p for p in site.rglob("*.html") if p.name != "404.html")


def opened(browser, viewport, scheme, said, allowed="file:"):
    """A page of a new window, which writes down what it must not do."""
    page = browser.new_context(viewport=viewport, color_scheme=scheme).new_page()
    page.on("console", lambda m: said.append(f"{page.url}: {m.type}: {m.text}") if m.type in ("error", "warning") else None)
    page.on("pageerror", lambda e: said.append(f"{page.url}: {e}"))
    page.on("request", lambda r: None if r.url.startswith((allowed, "data:", "blob:", "about:")) else said.append(f"{page.url} asks for {r.url}"))
    return page


def test_the_site_has_its_parts(site):
    found = {str(p.relative_to(site)) for p in pages(site)}
    assert {"index.html", "guide/index.html", "guide/porting.html", "reference/api_arrays.html", "reference/errors.html", "performance.html",
            "source/examples/index.html", "source/CONTRIBUTING.html", "ARCHITECTURE.html"} <= found
    assert all(f"guide/{p.stem}.html" in found for p in (ROOT / "docs/guide").glob("*.md") if p.stem != "README")
    assert all(f"tutorials/{p.stem}.html" in found for p in (ROOT / "docs/tutorials").glob("*.ipynb"))
    gallery = site / "gallery.html"
    assert not gallery.exists() or gallery.read_text().count("<img") > 1


@pytest.mark.parametrize("scheme, viewport", [("light", PHONE), ("dark", DESKTOP)], ids=["phone", "desktop"])
def test_pages_load(site, browser, scheme, viewport):
    said, wide, broken = [], [], []
    page = opened(browser, viewport, scheme, said)
    for path in pages(site):
        page.goto(path.as_uri())
        page.wait_for_function("document.readyState === 'complete'")
        if page.evaluate("document.documentElement.scrollWidth") > viewport["width"]:
            wide.append(str(path.relative_to(site)))
        broken += page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
    assert not said, said
    assert not wide, f"scrolls sideways at {viewport['width']} px: {wide}"
    assert not broken, broken


READ = ["index.html", "guide/getting_started.html", "guide/errors.html", "guide/kernel_memory.html", "reference/index.html", "reference/errors.html",
        "reference/api_arrays.html", "performance.html", "source/examples/vector_add.py.html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(site, browser, scheme):
    tutorials = [str(p.relative_to(site)) for p in pages(site) if p.parent.name == "tutorials"]
    page = opened(browser, DESKTOP, scheme, [])
    wrong = {}
    for name in READ + tutorials:
        page.goto((site / name).as_uri())
        if found := page.evaluate(UNREADABLE):
            wrong[name] = found[:8]
    assert not wrong, wrong


def test_the_rule_of_contrast_itself(browser):
    page = opened(browser, DESKTOP, "light", [])
    page.set_content("<p style='color: #999'>grey</p><p style='color: #333'>dark</p><div style='background: #222'><p>black</p></div>")
    assert [text for _, text, *_ in page.evaluate(UNREADABLE)] == ["grey", "black"]


def searched(page, word):
    page.get_by_role("textbox", name="Search").first.click()
    page.keyboard.type(word)
    results = page.locator(".md-search-result__article")
    results.first.wait_for(timeout=10_000)
    return results.all_text_contents()


def test_search_from_a_file(site, browser):
    said = []
    page = opened(browser, DESKTOP, "light", said)
    page.goto((site / "guide/graphs.html").as_uri())
    assert any("Random numbers" in text for text in searched(page, "xoroshiro128p"))
    page.locator(".md-search-result__link").first.click()
    page.wait_for_load_state()
    assert page.url.startswith("file:") and "graphs.html" not in page.url
    assert not said, said


def test_search_from_a_server(site, browser):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(site))
    handler.log_message = lambda *a: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            said, start = [], f"http://127.0.0.1:{server.server_port}/"
            page = opened(browser, PHONE, "dark", said, allowed=start)
            page.goto(start)
            page.locator("label[for=__search]").first.click()
            assert any("Coarsening" in text for text in searched(page, "coarsening"))
            assert not said, said
        finally:
            server.shutdown()


def test_a_cell_that_raises_fails_the_build(tmp_path):
    path = tmp_path / "wrong.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")]), path)
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        hooks.executed(path)


@pytest.mark.parametrize("github, ours", [
    ("text\n* a\n* b", "text\n\n* a\n* b"),
    ("* a\n  more\n\n  * b\n\n    ```\n    x\n    ```\n* c", "* a\n    more\n\n    * b\n\n        ```\n        x\n        ```\n* c"),
    ("1. a\n   b\n\ntext", "1. a\n    b\n\ntext"),
    ("| `a \\| b` | c |", "| `a | b` | c |"),
    ("```\n* not a list\n```", "```\n* not a list\n```"),
    ("<!-- Generated -->\n\n# A", "# A"),
    ("[IR](IR.md#two-stages) [a](../examples/nbody.py)", "[IR](IR.md#two-stages) [a](source/examples/nbody.py.md)"),
])
def test_markdown_of_a_repository_viewer_becomes_that_of_the_site(monkeypatch, github, ours):
    monkeypatch.setattr(hooks, "_uri_of", {ROOT / "examples/nbody.py": "source/examples/nbody.py.md"})
    assert hooks.converted(github, "TESTING.md") == ours
