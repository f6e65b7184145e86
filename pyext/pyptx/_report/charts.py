"""The pictures of a report: occupancy against block size, and the roofline, as SVG texts. Colours are
classes of page.css, so that they follow the page's light or dark."""

from html import escape
from math import atan2, ceil, degrees, floor, log10

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 26, 16, 48
INNER_WIDTH, INNER_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

LIMITS = ("warps", "registers", "shared memory", "blocks")  # class l0 … l3


def svg(label, parts):
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'


def text(x, y, said, cls="", anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{cls}" text-anchor="{anchor}">{escape(said)}</text>'


def line(x1, y1, x2, y2, cls):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{cls}"/>'


def axis_titles(x, y):
    return [text(LEFT + INNER_WIDTH / 2, HEIGHT - 6, x, "axis"),
            f'<text class="axis up" text-anchor="middle" transform="translate(13 {TOP + INNER_HEIGHT / 2:.1f}) rotate(-90)">{escape(y)}</text>']  # fmt: skip


# --- occupancy ---


def limit_class(limit):
    return f"l{LIMITS.index(limit)}"


def occupancy(data):
    rows, chosen = data["rows"], data["chosen"]
    step = INNER_WIDTH / len(rows)

    def y(part):
        return TOP + INNER_HEIGHT * (1 - part)

    out = []
    for percent in (0, 25, 50, 75, 100):
        out += [line(LEFT, y(percent / 100), WIDTH - RIGHT, y(percent / 100), "grid"), text(LEFT - 7, y(percent / 100) + 4, f"{percent} %", "tick", "end")]
    for k, row in enumerate(rows):
        is_chosen = row["threads"] == chosen["threads"]
        said = f"{row['threads']} threads: {row['blocks']} blocks, {row['part']:.0%}, limited by {row['limit']}" if row["blocks"] else \
            f"{row['threads']} threads: such a block cannot run: {row['limit']}"
        part = row["part"] if row["blocks"] else 1
        cls = f"bar {limit_class(row['limit'])}{' chosen' if is_chosen else ''}{'' if row['blocks'] else ' no'}"
        out.append(f'<rect x="{LEFT + k * step + 1.5:.1f}" y="{y(part):.1f}" width="{step - 3:.1f}" height="{INNER_HEIGHT * part:.1f}" '
                   f'rx="2" class="{cls}"><title>{escape(said)}</title></rect>')
        if row["threads"] % 128 == 0:
            out.append(text(LEFT + (k + 0.5) * step, HEIGHT - BOTTOM + 21, str(row["threads"]), "tick"))
    at = LEFT + (chosen["threads"] / 32 - 0.5) * step
    out += [f'<path d="M{at:.1f} {y(0) + 2:.1f} l5 6 h-10 z" class="pointer"/>', *axis_titles("threads of a block", "occupancy")]
    return svg(f"Occupancy for blocks of 32 to 1024 threads; {chosen['threads']} threads: {chosen['part']:.0%}", out)


# --- roofline ---


def decades(low, high):
    return range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)


def scale(low, high, begin, end):
    a, b = log10(low), log10(high)
    return lambda value: begin + (log10(min(max(value, low), high)) - a) / (b - a) * (end - begin)


def plain(number):
    return f"{number:g}"


def roofline(data, gpu):
    intensity = data["intensity"]
    far = intensity if intensity else 1
    xs = 10.0 ** min(-2, floor(log10(far))), 10.0 ** max(3, ceil(log10(far)))
    ys = 10.0 ** floor(log10(gpu["bandwidth"] / 1000 * xs[0]) + 1e-9), 10.0 ** ceil(log10(gpu["float32"]) + 0.1)
    x, y = scale(*xs, LEFT, WIDTH - RIGHT), scale(*ys, HEIGHT - BOTTOM, TOP)
    out = []
    for d in decades(*xs):
        out += [line(x(10.0**d), TOP, x(10.0**d), HEIGHT - BOTTOM, "grid"), text(x(10.0**d), HEIGHT - BOTTOM + 16, plain(10.0**d), "tick")]
    for d in decades(*ys):
        out += [line(LEFT, y(10.0**d), WIDTH - RIGHT, y(10.0**d), "grid"), text(LEFT - 7, y(10.0**d) + 4, plain(10.0**d), "tick", "end")]
    slope = gpu["bandwidth"] / 1000
    start = max(xs[0], ys[0] / slope)
    for bits, above in (("float64", -7 if gpu["float64"] < gpu["float32"] * 0.4 else 17), ("float32", -7)):
        ridge, top = x(gpu[bits] / slope), y(gpu[bits])
        begin = f"{x(start):.1f},{y(start * slope):.1f} " if bits == "float32" else ""
        out.append(f'<polyline points="{begin}{ridge:.1f},{top:.1f} {x(xs[1]):.1f},{top:.1f}" class="roof {bits}"/>')
        out.append(text(WIDTH - RIGHT - 4, top + above, f"{bits} {plain(round(gpu[bits], 2))} TFLOPS", f"label {bits}", "end"))
    out.append(along(start, slope, x, y, f"{plain(gpu['bandwidth'])} GB/s"))
    out += place(data, xs, ys, x, y)
    out += axis_titles("operations a byte of global memory", "TFLOPS")
    said = "no global memory" if intensity is None else f"{intensity:.3g} operations a byte"
    return svg(f"Roofline of {gpu['title']}; the kernel: {said}", out)


def along(start, slope, x, y, said):
    """A label above the rising line, at its angle."""
    x1, y1, x2, y2 = x(start), y(start * slope), x(start * 10), y(start * slope * 10)
    turn = degrees(atan2(y2 - y1, x2 - x1))
    return f'<text class="label" text-anchor="start" transform="translate({x1 + 14:.1f} {y1 - 20:.1f}) rotate({turn:.1f})">{escape(said)}</text>'


def place(data, xs, ys, x, y):
    """The kernel's own point; one without memory, or without operations, is at the edge."""
    intensity = data["intensity"]
    at = xs[1] if intensity is None else intensity or xs[0]
    top = data["attainable"] or ys[0]
    px, py = x(at), y(top)
    label = "no global memory" if intensity is None else "no floating-point operations" if not intensity else f"{intensity:.3g} a byte"
    right = px < LEFT + INNER_WIDTH * 0.6
    return [line(px, py, px, HEIGHT - BOTTOM, "drop"), f'<circle cx="{px:.1f}" cy="{py:.1f}" r="6" class="place"/>',
            text(px + (11 if right else -11), min(py + 20, HEIGHT - BOTTOM - 6), label, "label place", "start" if right else "end")]  # fmt: skip
