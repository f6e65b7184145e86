"""The steps of the tutorial on matrix products (examples/gemm_steps) beside torch.matmul (cuBLAS),
in one process: time on the GPU, as bench/gemm.py measures it, which says how.

    python bench/gemm_steps.py [--turns] [--json OUT]
"""

import importlib
import importlib.util
import itertools
import sys
from pathlib import Path

import gemm
from _bench import Report, need_gpu

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "gemm_steps"
STEPS = tuple(sorted(path.stem for path in FOLDER.glob("step*_*.py")))
HOPPER = STEPS[5:]  # for compute capability 9.0 alone
SHAPE = (4096, 4096, 4096)


def sides(torch, names):
    """As gemm.sides; for SHAPE alone."""
    sys.path.insert(0, str(FOLDER))
    every = {name: importlib.import_module(name).launch for name in names if name != "cublas"}
    every["cublas"] = lambda a, b, c: torch.matmul(a, b, out=c)
    return {name: (lambda a, b, c, *_, run=every[name]: run(a, b, c), (1, 1, 1), ("bfloat16",), False) for name in names}


def main():
    args = gemm.options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    ours = [name for name in STEPS if device.compute_capability[0] == 9 or name not in HOPPER]
    report = Report(f"bf16 C = A @ B, {' x '.join(map(str, SHAPE))}, on {device.name}", [("step", 20), ("mode", 5), ("ms", 9), ("TFLOP/s", 9), ("of cublas", 9)])

    def out(shape, modes):
        for mode, name in itertools.product(modes, ours + ["cublas"]):
            t = modes[mode]
            if name in t:
                report.row(name, mode, t[name] * 1e3, 2 * shape[0] * shape[1] * shape[2] / t[name] / 1e12, t["cublas"] / t[name])

    measured = gemm.measure_all(gemm.chosen(args, ("cublas", *ours), ("cublas",)), [SHAPE], gemm.command_of(__file__, args), out)
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        gemm.child(sys.argv[2:], sides)
    else:
        sys.exit(main())
