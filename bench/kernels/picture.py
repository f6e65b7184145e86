"""The ratios of a run as an SVG: for each kernel a bar for pyptx's time over nvcc's and one over numba-cuda's."""

import math
from html import escape

WIDTH, LEFT, RIGHT, ROW, BAR = 880, 190, 60, 26, 9
SIDES = (("/nvcc", "#3b6fb6", "over nvcc -O3"), ("/numba", "#d98032", "over numba-cuda"))
LOW, HIGH = 1 / 8, 2.0  # the ends of the logarithmic axis


def place(ratio):
    """x of a ratio."""
    share = math.log(max(LOW, min(HIGH, ratio)) / LOW) / math.log(HIGH / LOW)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def label(row):
    return row["kernel"] + (f" {row['block']}" if row["block"] != "-" else "")


def draw(rows, device):
    """SVG text; rows as the table's: kernel, block, /nvcc, /numba (None where not measured)."""
    top, one = 64, place(1)
    height = top + ROW * len(rows) + 30
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">Time of pyptx over that of others, {escape(device)} (shorter is faster)</text>',
    ]
    for n, (_, colour, text) in enumerate(SIDES):
        x = LEFT + 150 * n
        out.append(f'<rect x="{x}" y="32" width="10" height="10" fill="{colour}"/><text x="{x + 15}" y="41">{text}</text>')
    for ratio in (0.125, 0.25, 0.5, 0.85, 1, 2):
        x, colour = place(ratio), "#444" if ratio == 1 else "#ccc"
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 8}" y2="{height - 22}" stroke="{colour}"/>')
        out.append(f'<text x="{x:.1f}" y="{height - 8}" text-anchor="middle">{ratio:g}</text>')
    for n, row in enumerate(rows):
        y = top + ROW * n
        out.append(f'<text x="{LEFT - 34}" y="{y + 13}" text-anchor="end">{escape(label(row))}</text>')
        for k, (column, colour, _) in enumerate(SIDES):
            ratio = row.get(column)
            if ratio:
                x, at = place(ratio), y + k * (BAR + 1)
                a, b = min(x, one), max(x, one)
                out.append(f'<rect x="{a:.1f}" y="{at}" width="{max(b - a, 1):.1f}" height="{BAR}" fill="{colour}"/>')
                beside = f'x="{a - 3:.1f}" text-anchor="end"' if ratio < 1 else f'x="{b + 3:.1f}"'
                out.append(f'<text {beside} y="{at + 8}" font-size="9">{ratio:.2f}</text>')
    return "\n".join([*out, "</svg>\n"])


# --- curves of a sweep

PANEL, TALL, GAP, ACROSS = 270, 130, 24, 4  # a panel's size in pixels, the space between two, panels in a row
LEAST, MOST = 0.5, 2.0  # the ends of a panel's logarithmic axis
AIM = 1.05


def height_of(ratio):
    """Pixels above a panel's floor."""
    return math.log(max(LEAST, min(MOST, ratio)) / LEAST) / math.log(MOST / LEAST) * TALL


def places_of(sweep):
    """x of each row of a sweep: on a logarithmic axis where the points are numbers, else side by side."""
    at = [math.log(row["at"]) if sweep.axis == "widths" else row["at"] for row in sweep.rows]
    low, high = min(at), max(at)
    return [8 + (PANEL - 16) * ((a - low) / (high - low) if high > low else 0.5) for a in at]


def panel(sweep):
    """SVG of one sweep in a panel whose corner is (0, 0)."""
    worst, xs = sweep.worst(), places_of(sweep)
    out = [f'<rect width="{PANEL}" height="{TALL}" fill="none" stroke="#ccc"/>',
           f'<text x="0" y="-6">{escape(sweep.kernel)} along {sweep.axis}</text>']
    for ratio, colour in ((0.5, "#ccc"), (1, "#444"), (AIM, "#c33"), (2, "#ccc")):
        y = TALL - height_of(ratio)
        out.append(f'<line x1="0" x2="{PANEL}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="{0.5 if ratio == AIM else 1}"/>')
    line = [(x, TALL - height_of(row["/nvcc"]), row) for x, row in zip(xs, sweep.rows) if row["/nvcc"]]
    out.append(f'<polyline fill="none" stroke="#3b6fb6" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y, _ in line)}"/>')
    for x, y, row in line:
        colour = "#bbb" if row in sweep.short() else "#c33" if row is worst and row["/nvcc"] > AIM else "#3b6fb6"
        title = f"<title>{escape(row['label'])}: {row['/nvcc']:.3f}, {row['pyptx ms']:.4g} ms</title>"
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3.5 if row is worst else 1.8}" fill="{colour}">{title}</circle>')
    said = f"worst {worst['/nvcc']:.2f} at {worst['label']}" if worst else "all below 10 µs" if line else "nothing to compare with"
    ends = " … ".join(dict.fromkeys(row["label"] for row in (sweep.rows[0], sweep.rows[-1])))
    return out + [f'<text x="0" y="{TALL + 12}" font-size="9" fill="#666">{escape(ends)}</text>',
                  f'<text x="{PANEL}" y="{TALL + 12}" text-anchor="end" font-size="10">{escape(said)}</text>']


def draw_curves(sweeps, device):
    """SVG text: a panel for each sweep, pyptx's time over nvcc's at each point, the worst point larger."""
    top, tall, wide = 64, TALL + 2 * GAP, PANEL + GAP
    lines = -(-len(sweeps) // ACROSS)
    width, height = GAP + wide * min(ACROSS, max(1, len(sweeps))), top + tall * lines
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{GAP}" y="20" font-size="14">Time of pyptx over nvcc -O3, {escape(device)}</text>',
        f'<text x="{GAP}" y="36">0.5 to 2, logarithmic; black: 1, red: {AIM}; grey points take less than 10 µs</text>',
    ]
    for n, sweep in enumerate(sweeps):
        x, y = GAP + wide * (n % ACROSS), top + tall * (n // ACROSS)
        out += [f'<g transform="translate({x},{y})">', *panel(sweep), "</g>"]
    return "\n".join([*out, "</svg>\n"])
