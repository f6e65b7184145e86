"""The row kernels of examples/rows.py beside PyTorch's and those of Triton's tutorials (softmax, layer
norm), in one process: the bandwidth of each over that of a copy.

    python bench/rows.py [--quick] [--turns] [--json OUT]

Softmax, layer norm and RMS norm read and write every element once, cross entropy reads them; a copy
reads and writes them. Rows are normal random, 512 MiB or a little less in all, so that no cache holds
them. How it is measured, in burst and in turns, says bench/gemm.py; a call in a burst follows one of
the same, so that each side waits for its own writes to reach memory, and not for another's. Results
are compared with PyTorch's, computed in float64. Triton's kernels hold rows of at most 64 KB.

A child process measures, within a limit for each line of the table, as in bench/gemm.py.
"""

import contextlib
import importlib.util
import sys

import gemm
from _bench import Report, need_gpu
from gemm import say

LENGTHS = (1 << 10, 1 << 12, 5000, 1 << 14, 50257, 1 << 16, 1 << 18)
BYTES, TURNS, EPS = 1 << 29, 9, 1e-5
QUICK = tuple((kind, columns) for kind in ("float32", "bfloat16") for columns in (1 << 12, 5000, 50257, 1 << 18))
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


def tutorials(x, out, weight, bias):
    """name → Triton's call; those that do not take the rows are left out."""
    say(running="triton")
    import _triton_tutorials

    calls = {}
    with contextlib.suppress(ValueError):
        calls["softmax"] = _triton_tutorials.softmax(x, out)
        calls["layer_norm"] = _triton_tutorials.layer_norm(x, weight, bias, out, EPS)
    return calls


def measure(torch, case, names, modes):
    kind, columns = case
    say(running="copy")
    dtype = getattr(torch, kind)
    n = BYTES // dtype.itemsize // columns
    x, out = torch.randn(n, columns, device="cuda", dtype=dtype), torch.empty(n, columns, device="cuda", dtype=dtype)
    weight, bias = (torch.randn(columns, device="cuda", dtype=dtype) for _ in range(2))
    labels, loss = torch.randint(columns, (n,), device="cuda"), torch.empty(n, device="cuda", dtype=torch.float32)
    runs = {"copy": lambda: out.copy_(x)}

    def check(run, result, name):
        result.fill_(float("nan"))
        run()  # compiles
        compare(torch, name, result, x, weight, bias, labels)

    by_triton = tutorials(x, out, weight, bias) if "triton" in names else {}
    for name, (ours, theirs, result) in pairs(torch, x, out, weight, bias, labels, loss).items():
        for side, run in ((name, ours), ("triton", by_triton.get(name))):
            if run and side in names and gemm.passes(torch, side, lambda run=run, result=result, name=name: check(run, result, name)):
                runs[name if side == name else "triton " + name] = run
        if name in names:
            theirs()
            runs["torch " + name] = theirs

    return gemm.measured(torch, {name: lambda _, run=run: run() for name, run in runs.items()}, modes, TURNS, side_of=lambda key: "triton" if key.startswith("triton ") else key.removeprefix("torch "), twice=True)


def sides(torch, names):
    return names


def main():
    args = gemm.options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    if device.compute_capability < (9, 0):
        print("examples/rows.py needs compute capability 9.0")
        return 0
    report = Report(f"Rows on {device.name}: bandwidth over a copy's", [("elements", 9), ("length", 7), ("function", 13), ("mode", 5), ("copy GB/s", 10), ("pyptx", 6), ("PyTorch", 8), ("Triton", 7)])

    def out(case, modes):
        kind, columns = case
        row = columns * (4 if kind == "float32" else 2)
        nbytes = 2 * (BYTES // row * row)
        for name in NAMES:
            for mode, t in modes.items():
                moved = 1 / 2 if name == "cross_entropy" else 1
                report.row(kind, columns, name, mode, nbytes / t["copy"] / 1e9, *(moved * t["copy"] / t[side + name] if side + name in t else None for side in ("", "torch ", "triton ")))

    cases = QUICK if args.quick else [(kind, columns) for kind in ("float32", "bfloat16") for columns in LENGTHS]
    measured = gemm.measure_all(gemm.chosen(args, (*NAMES, *gemm.peers("triton"))), cases, gemm.command_of(__file__, args), out, label=lambda case: " ".join(map(str, case)))
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        gemm.child(sys.argv[2:], sides, measure)
    else:
        sys.exit(main())
