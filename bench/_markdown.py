"""The Markdown tables of docs/performance.md from what the benchmarks wrote with --json.

    python bench/_markdown.py FILE.json...

Knows bench/kernels (one block size a kernel, a sweep, or --along), bench/kernels --build and
bench/host.py.
"""

import argparse
import itertools
import json
from pathlib import Path


def number(value, digits=2):
    if value is None:
        return ""
    return f"{value:.{digits}f}" if value >= 0.095 else f"{value:.2g}"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def one_block(rows):
    head = ["kernel", "block", "pyptx, ms", "over nvcc", "over numba-cuda", "over CuPy", "over Triton", "GB/s", "of a copy"]
    return table(
        head,
        [
            [
                r["kernel"], r["block"], number(r["pyptx ms"], 3), *(number(r[c]) for c in ("/nvcc", "/numba", "/cupy", "/triton")),
                f"{r['GB/s']:.0f}" if r["kind"] in ("streaming", "stencil") else "", number(r["of copy"]),
            ]
            for r in rows
        ],
    )  # fmt: skip


def sweep(groups):
    """A line a kernel: over nvcc at each block size; for streaming kernels the share of a copy too."""
    lines = []
    for name, rows in groups:
        cells = [
            f"{r['block']}: {number(r['/nvcc'])}" + (f" ({number(r['of copy'])})" if r["kind"] == "streaming" else "")
            for r in rows
        ]
        lines.append([name, ", ".join(cells)])
    return table(["kernel", "block size: over nvcc (of a copy)"], lines)


def means(summary):
    out = []
    for column, name in (("/nvcc", "nvcc"), ("/numba", "numba-cuda")):
        if column in summary:
            s = summary[column]
            out.append(f"over {name}: geometric mean {s['mean']:.2f}, worst {s['worst']:.2f} ({s['kernel']})")
    if "of copy" in summary:
        s = summary["of copy"]
        out.append(f"streaming kernels move at least {100 * s['least']:.0f} % of a device copy ({s['kernel']}, {s['block']})")
    return "; ".join(out)


def kernels(data):
    groups = [(name, list(rows)) for name, rows in itertools.groupby(data["rows"], key=lambda r: r["kernel"])]
    swept = any(len(rows) > 1 for _, rows in groups)
    body = sweep(groups) if swept else one_block(data["rows"])
    return f"{data['title']}:\n\n{body}\n\n{means(data['summary'])}"


def host(data):
    rows = [r for r in data["rows"] if r["pyptx ms"] is not None]
    body = table(
        ["kernel", "pyptx, ms", "OpenMP, ms", "over OpenMP"],
        [[r["kernel"], number(r["pyptx ms"]), number(r["openmp ms"]), number(r["pyptx/openmp"])] for r in rows],
    )
    mean = data["rows"][-1]["pyptx/openmp"]
    return f"{data['title']}, {data['threads']} threads:\n\n{body}\n\ngeometric mean {number(mean)}"


def builds(data):
    body = table(
        ["kernel", "A, ms", "B, ms", "B / A"],
        [[r["kernel"], number(r["A ms"], 3), number(r["B ms"], 3), number(r["B/A"])] for r in data["rows"]],
    )
    return f"A: {data['builds'][0]}, B: {data['builds'][1]}:\n\n{body}\n\ngeometric mean {number(data['mean'])}"


def along(data):
    """A line for each kernel and axis: the worst ratio, and below 10 µs the largest difference."""
    lines = []
    for one in data["worst"]:
        worst, short = one["worst"], one["below 10 µs"]
        lines.append([
            one["kernel"], one["along"], number(worst and worst["/nvcc"]), worst["label"] if worst else "",
            f"{1000 * (short['pyptx ms'] - short['nvcc ms']):+.2f}, {short['label']}" if short else "",
        ])  # fmt: skip
    return f"{data['title']}:\n\n" + table(["kernel", "along", "worst over nvcc", "at", "below 10 µs at most, µs"], lines)


def markdown(data):
    """The table of one file's content."""
    for start, make in (("kernels on", kernels), ("sweeps on", along), ("host device", host), ("two builds", builds)):
        if data["title"].startswith(start):
            return make(data)
    raise SystemExit(f"no table is known for '{data['title']}'")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", type=Path)
    for path in p.parse_args().files:
        print(markdown(json.loads(path.read_text())), end="\n\n")


if __name__ == "__main__":
    main()
