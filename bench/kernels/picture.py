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
