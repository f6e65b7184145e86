"""A graph of 100 short kernels beside the same 100 launches, and beside PyTorch's graph of 100 additions, where it is installed.

    python bench/graphs.py [--json OUT] [--nodes N]

All in one process and taking turns: medians of rounds, each from the first call until the device is idle, divided by the number of nodes.
Every node waits for the one before. "call" is what the caller's thread spends. The goal is less than 1 µs a node; the ratio is to the plain
launches of the same run. Changing the graph is measured too: set_args of one node, and a whole update.
"""

import statistics
import time

import numpy as np
from _bench import Report, parser
from pyptx import cuda

REPEAT, ELEMENTS = 41, 1024


@cuda.jit
def add(x, y, out, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i] + y[i]


def rounds(contestants, finish):
    """Median (whole, call) seconds of each contestant, which take turns."""
    times = {name: [] for name in contestants}
    for name, work in contestants.items():
        for _ in range(3):
            work()
        finish()
    for _ in range(REPEAT):
        for name, work in contestants.items():
            finish()
            start = time.perf_counter()
            work()
            called = time.perf_counter()
            finish()
            times[name].append((time.perf_counter() - start, called - start))
    return {name: tuple(statistics.median(t) for t in zip(*all)) for name, all in times.items()}


def torch_graph(nodes):
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    x, y, out = (torch.zeros(ELEMENTS, device="cuda") for _ in range(3))
    g = torch.cuda.CUDAGraph()
    torch.add(x, y, out=out)
    torch.cuda.synchronize()
    with torch.cuda.graph(g):
        for _ in range(nodes):
            torch.add(x, y, out=out)
    return g.replay


def main():
    p = parser(__doc__)
    p.add_argument("--nodes", type=int, default=100)
    options = p.parse_args()
    nodes, device = options.nodes, cuda.get_current_device()
    x, y, out = (cuda.to_device(np.ones(ELEMENTS, np.float32)) for _ in range(3))
    configured = add[ELEMENTS // 256, 256]

    def launches():
        for _ in range(nodes):
            configured(x, y, out, ELEMENTS)

    launches()
    with cuda.graph() as g:
        launches()

    def update():
        with g.update():
            launches()

    node = g.nodes[nodes // 2]
    contestants = {"launches": launches, "graph": g.launch}
    if (replay := torch_graph(nodes)) is not None:
        contestants["torch graph"] = replay
    times = rounds(contestants, cuda.synchronize)
    assert (out.copy_to_host() == 2).all()

    report = Report(f"{nodes} kernels of {ELEMENTS} elements on {device.name}",
                    [("what", 12), ("µs a node", 10), ("µs a call", 10), ("of launches", 12)])
    for name, (whole, call) in times.items():
        report.row(name, whole / nodes * 1e6, call * 1e6, whole / times["launches"][0])
    changes = {"set_args": lambda: node.set_args(x, y, out, ELEMENTS), "update": update}
    for name, work in changes.items():  # one after the other: an update makes new nodes
        report.row(name, None, rounds({name: work}, cuda.synchronize)[name][1] * 1e6, None)
    assert g.updated_in_place
    whole = times["graph"][0] / nodes * 1e6
    print(f"a node of the graph takes {whole:.3f} µs: {'below' if whole < 1 else 'NOT below'} the goal of 1 µs")
    report.save(options.json, device=device.name, nodes=nodes)


if __name__ == "__main__":
    main()
