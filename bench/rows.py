"""The row kernels of examples/rows.py beside PyTorch's, in one process: the bandwidth of each over
that of a copy.

    python bench/rows.py [--json OUT]

Softmax, layer norm and RMS norm read and write every element once, cross entropy reads them; a copy
reads and writes them. Rows are normal random, 2**27 elements or a little less in all, so that no
cache holds them. All sides take turns, one call at a time behind an idle pause of 15 ms; medians.
Results are compared with PyTorch's, computed in float64.

A child process measures, within a limit for each line of the table, as in bench/gemm.py.
"""

import importlib.util
import json
import statistics
import sys

from _bench import Report, need_gpu, parser
from gemm import measure_all, say, seconds

LENGTHS = (1 << 10, 1 << 12, 5000, 1 << 14, 50257, 1 << 16, 1 << 18)
ELEMENTS, TURNS, EPS = 1 << 27, 9, 1e-5
NAMES = ("softmax", "layer_norm", "rms_norm", "cross_entropy")


def pairs(torch, x, out, weight, bias, labels, loss):
    """name → (our call, PyTorch's call, which gives its result, our result)."""
    import rows
    from torch.nn import functional

    columns = x.shape[1:]
    return {
        "softmax": (lambda: rows.launch("softmax", x, out), lambda: torch.softmax(x, -1), out),
        "layer_norm": (lambda: rows.launch("layer_norm", x, weight, bias, out, EPS), lambda: functional.layer_norm(x, columns, weight, bias, EPS), out),
        "rms_norm": (lambda: rows.launch("rms_norm", x, weight, out, EPS), lambda: functional.rms_norm(x, columns, weight, EPS), out),
        "cross_entropy": (lambda: rows.launch("cross_entropy", x, labels, loss), lambda: functional.cross_entropy(x, labels, reduction="none"), loss),
    }


def compare(torch, name, result, x, weight, bias, labels):
    """Our result of the first rows with PyTorch's in float64: 2**-8 of a bfloat16 is its rounding;
    the rest, 2**-16 of the size, allows for sums and exponentials in float32."""
    from torch.nn import functional

    x, weight, bias, labels = x[:64].double(), weight.double(), bias.double(), labels[:64]
    want, size = {
        "softmax": lambda: (torch.softmax(x, -1), 0),
        "layer_norm": lambda: (functional.layer_norm(x, x.shape[1:], weight, bias, EPS), weight.abs() + bias.abs()),
        "rms_norm": lambda: (functional.rms_norm(x, x.shape[1:], weight, EPS), 0),
        "cross_entropy": lambda: (functional.cross_entropy(x, labels, reduction="none"), 1),
    }[name]()
    rounding = 2.0**-8 if result.dtype == torch.bfloat16 else 0
    far = ~((result[:64].double() - want).abs() <= (rounding + 2.0**-16) * want.abs() + 2.0**-16 * size)
    if far.any():
        raise ValueError(f"{name}: {int(far.sum())} of {far.numel()} results are wrong")


def measure(torch, case, names):
    kind, columns = case
    say(running="copy")
    dtype = getattr(torch, kind)
    n = ELEMENTS // columns
    x, out = torch.randn(n, columns, device="cuda", dtype=dtype), torch.empty(n, columns, device="cuda", dtype=dtype)
    weight, bias = (torch.randn(columns, device="cuda", dtype=dtype) for _ in range(2))
    labels, loss = torch.randint(columns, (n,), device="cuda"), torch.empty(n, device="cuda", dtype=torch.float32)
    runs = {"copy": lambda: out.copy_(x)}
    for name, (ours, theirs, result) in pairs(torch, x, out, weight, bias, labels, loss).items():
        if name not in names:
            continue
        say(running=name)
        result.fill_(float("nan"))
        ours()  # compiles
        compare(torch, name, result, x, weight, bias, labels)
        theirs()
        runs[name], runs["torch " + name] = ours, theirs
    times = {name: [] for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            say(running=name.removeprefix("torch "))
            times[name].append(seconds(torch, run))
    return {name: statistics.median(t) for name, t in times.items()}


def child(names):
    import torch

    torch.zeros(1, device="cuda")
    say(ready=True)
    for line in sys.stdin:
        say(times=measure(torch, json.loads(line), names))


def main():
    args = parser(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    if device.compute_capability < (9, 0):
        print("examples/rows.py needs compute capability 9.0")
        return 0
    report = Report(f"Rows on {device.name}: bandwidth over a copy's", [("elements", 9), ("length", 7), ("copy GB/s", 10), *((name, 13) for each in NAMES for name in (each, "PyTorch"))])

    def out(case, t):
        kind, columns = case
        nbytes = 2 * (ELEMENTS // columns * columns) * (4 if kind == "float32" else 2)
        shares = [t["copy"] / t[key] / (2 if name == "cross_entropy" else 1) if key in t else None for name in NAMES for key in (name, "torch " + name)]
        report.row(kind, columns, nbytes / t["copy"] / 1e9, *shares)

    cases = [(kind, columns) for kind in ("float32", "bfloat16") for columns in LENGTHS]
    measured = measure_all(NAMES, cases, [sys.executable, __file__, "--child"], out, label=lambda case: " ".join(map(str, case)))
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        sys.exit(main())
