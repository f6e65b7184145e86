"""The page of kernel.report() in a real browser: Debian's chromium, driven by playwright."""

import os
import shutil

os.environ.setdefault("PYPTX_DEVICE", "host")

import pytest
from playwright.sync_api import sync_playwright
from pyptx import cuda, float32

TILE = 8
M = "float32[:,::1]"
PANES = ("python", "ssa", "ptx", "sass")


@cuda.jit(device=True)
def scaled(x, by):
    return x * by


@cuda.jit
def product(a, b, c, alpha):
    s = cuda.shared.array((TILE, TILE), float32)
    t = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = 0.0
    for m in range(a.shape[1] // TILE):
        s[y, x] = a[row, m * TILE + x]
        t[y, x] = b[m * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += s[y, k] * t[k, x]
        cuda.syncthreads()
    c[row, column] = scaled(total, alpha)


@pytest.fixture(scope="module")
def report():
    first, second = (product.report(f"{M}, {M}, {M}, {alpha}", gpu="H100") for alpha in ("float32", "float64"))
    first.data += second.data
    assert all(data["sass"] for data in first.data), [data["sass_missing"] for data in first.data]
    return first


@pytest.fixture(scope="module")
def browser():
    program = shutil.which("chromium")
    assert program, "chromium is not installed: scripts/full installs it"
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, report, tmp_path):
    """Opens the report, or another text, in a window of its own. At the end: nothing was asked of any host, and nothing complained."""
    contexts, said, asked = [], [], []

    def at(width=1500, height=1000, text=None, **options):
        path = tmp_path / "page.html"
        path.write_text(text or report.html, encoding="utf-8")
        contexts.append(browser.new_context(viewport={"width": width, "height": height}, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page

    yield at
    for context in contexts:
        context.close()
    assert not said and all(url.startswith(("file:", "about:srcdoc")) for url in asked), (said, asked)


def rows(page, pane, extra="", report="#r0"):
    return page.locator(f'{report} .pane[data-pane="{pane}"] .r{extra}')


def lit(page, pane):
    return rows(page, pane, ":is(.lit, .pinned)").evaluate_all("rows => rows.map(r => r.dataset.l)")


def in_view(page, pane):
    return page.locator(f'#r0 .pane[data-pane="{pane}"] .rows').evaluate(
        """pane => { const box = pane.getBoundingClientRect();
            return [...pane.querySelectorAll('.lit, .pinned')].some(r => { const b = r.getBoundingClientRect();
                return b.top >= box.top - 1 && b.bottom <= box.bottom + 1; }); }""")  # fmt: skip


def python_row(page, text):
    return rows(page, "python").filter(has_text=text)


def test_a_line_lights_what_came_from_it(visit, report):
    page = visit()
    row = python_row(page, "c[row, column] =")
    row.click(position={"x": 60, "y": 8})
    line = row.get_attribute("data-l")
    for pane in PANES:
        expected = [f"{file}:{at}" for _, file, at in report.data[0][pane] if f"{file}:{at}" == line] if pane != "python" else [line]
        assert lit(page, pane) == expected and expected, pane
        assert in_view(page, pane), pane


def test_and_back(visit):
    page = visit()
    for pane, word in (("sass", "BAR.SYNC"), ("ptx", "st.global"), ("ssa", "store %2")):
        row = rows(page, pane, "[data-l]").filter(has_text=word).first
        row.click()
        line = row.get_attribute("data-l")
        assert lit(page, "python") == [line] and in_view(page, "python"), pane
    page.keyboard.press("Escape")


def test_pointing_is_enough_and_a_click_keeps_it(visit):
    page = visit()
    first, second = python_row(page, "total += s"), python_row(page, "s[y, x] =")
    first.hover(position={"x": 60, "y": 8})
    assert set(lit(page, "ptx")) == {first.get_attribute("data-l")}
    second.hover(position={"x": 60, "y": 8})
    assert set(lit(page, "ptx")) == {second.get_attribute("data-l")}
    second.click(position={"x": 60, "y": 8})
    first.hover(position={"x": 60, "y": 8})
    assert set(lit(page, "ptx")) == {second.get_attribute("data-l")}
    second.press("Escape")
    assert not any(lit(page, pane) for pane in PANES)
    first.focus()
    first.press("Enter")
    assert set(lit(page, "sass")) == {first.get_attribute("data-l")}


def test_inlined_functions_have_their_own_lines(visit):
    page = visit()
    rows(page, "ssa", "[data-l]").filter(has_text="mul %0, %1").click()
    shown = rows(page, "python", ".pinned")
    assert shown.count() == 1 and "return x * by" in shown.inner_text()
    assert lit(page, "ptx")


def test_types_are_shown_under_the_pointer(visit):
    page = visit()
    tip = page.locator("#tip")
    assert tip.is_hidden()
    python_row(page, "s[y, x] =").locator("[data-t]", has_text="m").first.hover()
    assert tip.inner_text() == "int, computed in 32 bits" and tip.is_visible()
    box = tip.bounding_box()
    assert 0 <= box["x"] and box["x"] + box["width"] <= 1500


def test_float64_is_marked(visit):
    page = visit()
    assert rows(page, "python", " .u-f64").count() == 0
    page.locator("nav button").nth(1).click()
    assert page.locator("#r0").is_hidden() and page.locator("#r1").is_visible()
    marked = rows(page, "python", " .types em.f64", "#r1").all_inner_texts()
    assert "float64" in marked
    page.locator("nav button").nth(0).click()
    assert page.locator("#r0").is_visible()


def test_panes_can_be_put_away(visit):
    page = visit()
    before = page.locator('#r0 .pane[data-pane="python"]').bounding_box()["width"]
    for name in ("SSA", "PTX"):
        page.locator("#r0").get_by_role("button", name=name, exact=True).click()
    assert page.locator("#r0 .pane:visible").count() == 2
    assert page.locator('#r0 .pane[data-pane="python"]').bounding_box()["width"] > 1.4 * before
    page.locator("#r0").get_by_role("button", name="SSA", exact=True).click()
    assert page.locator("#r0 .pane:visible").count() == 3


CONTRASTS = """() => {
  const parts = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = parts(c).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const back = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if ((parts(c)[3] ?? 1) === 1) return c; }
    return 'rgb(255, 255, 255)'; };
  return ['h1', '.soft', '.card .name', '.card .value', '.r', '.types', '.n', '.key', '.num', '.i64', '.types em.f64', 'td', 'th', '.pinned .n'].map(s => {
    const e = document.querySelector(s), a = light(getComputedStyle(e).color), b = light(back(e));
    return [s, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_are_legible(visit, scheme):
    page = visit(color_scheme=scheme)
    python_row(page, "s[y, x] =").click(position={"x": 60, "y": 8})
    page.evaluate("document.querySelector('#r1').hidden = false")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, back[4:-1].split(","))) > 384) == (scheme == "light")
    for selector, contrast in page.evaluate(CONTRASTS):
        assert contrast >= (3 if selector == ".pinned .n" else 4.5), selector


@pytest.mark.parametrize("width", [340, 390, 768, 1100])
def test_no_page_is_wider_than_its_window(visit, width):
    page = visit(width, 844)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator("#r0 .pane, #r0 .panel, #r0 .card, #r0 svg").evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.left, b.right]; })"):
        assert box[0] >= 0 and box[1] <= width
    page.locator("#r0 .pane").nth(0).scroll_into_view_if_needed()
    python_row(page, "x, y =").click(position={"x": 60, "y": 8})
    assert all(lit(page, pane) for pane in PANES)


def test_pictures_say_what_they_show(visit, report):
    page = visit()
    bars = page.locator("#r0 svg").nth(0)
    assert bars.locator("rect").count() == 32 and bars.locator("rect.chosen").count() == 1
    chosen = report.data[0]["occupancy"]["chosen"]
    assert bars.locator("rect.chosen title").inner_html() == \
        f"{chosen['threads']} threads: {chosen['blocks']} blocks, {chosen['part']:.0%}, limited by {chosen['limit']}"
    roof = page.locator("#r0 svg").nth(1)
    x, y = (float(roof.locator("circle").get_attribute(name)) for name in ("cx", "cy"))
    (x1, y1), (x2, y2), _ = [map(float, point.split(",")) for point in roof.locator("polyline.float32").get_attribute("points").split()]
    assert report.data[0]["roofline"]["bound"] == "memory"
    assert abs(y - (y1 + (x - x1) * (y2 - y1) / (x2 - x1))) < 0.5  # the point is on the rising line


def test_in_a_notebook_neither_style_reaches_the_other(visit, report):
    hostile = "<style>* { color: rgb(1, 2, 3) !important; font-size: 41px !important } .card, .r, table { display: none !important }</style>"
    page = visit(text=f"<!DOCTYPE html>{hostile}<p id='host' class='card soft'>host</p><p id='plain'>text</p>{report._repr_html_()}")
    frame = page.frame_locator("iframe")
    assert frame.locator("#r0 .card").first.is_visible()
    assert frame.locator("#r0 .card .value").first.evaluate("e => getComputedStyle(e).fontSize") == "22px"
    assert page.locator("#plain").evaluate("e => getComputedStyle(e).color") == "rgb(1, 2, 3)"
    row = frame.locator('#r0 .pane[data-pane="python"] .r').filter(has_text="total += s")
    row.click(position={"x": 60, "y": 8})
    assert frame.locator('#r0 .pane[data-pane="ptx"] .pinned').count() > 0
