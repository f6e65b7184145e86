"""examples/gemm_fp8.py beside torch._scaled_mm (cuBLASLt), in one process: time on the GPU, as
bench/gemm.py measures it, which says how.

    python bench/gemm_fp8.py [--quick] [--turns] [--json OUT]

The matrices are float8_e4m3fn, normal random, A m x k and B n x k, the result bfloat16. "cublas" and
"ours" add up partial sums in float32; "cublas fast" and "fast" leave all of k to the tensor cores.
Results of whole numbers are compared with a product in float32. Needs compute capability 9.0.
"""

import importlib.util
import sys

import gemm
from _bench import Report, need_gpu
from pyptx import cuda

SHAPES = (*((n, n, n) for n in (2048, 4096, 8192)), (8192, 8192, 1024), (4096, 4096, 14336), (8192, 1024, 8192))
SIDES = "cublas", "ours", "cublas fast", "fast"


def sides(torch, names):
    """name → a function (a, b, c) of tensors that computes c = a @ b.T."""
    import gemm_fp8

    one = torch.ones((), device="cuda")

    def theirs(fast):
        return lambda a, b, c: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=c.dtype, use_fast_accum=fast, out=c)

    most = cuda.get_current_device().MULTIPROCESSOR_COUNT
    every = {"cublas": theirs(False), "ours": gemm_fp8.launch(most), "cublas fast": theirs(True), "fast": gemm_fp8.launch(most, fast=True)}
    return {name: every[name] for name in names}


def measure(torch, shape, contestants, modes):
    """Seconds of each side by mode."""
    m, n, k = shape
    gemm.say(running="cublas")
    torch.backends.cuda.matmul.allow_tf32 = False
    copies = 2 + gemm.CACHE // (m * k + k * n + 2 * m * n)
    sets = [[torch.randn(kind, device="cuda").to(torch.float8_e4m3fn) for kind in ((m, k), (n, k))] + [torch.empty(m, n, device="cuda", dtype=torch.bfloat16)] for _ in range(copies)]
    # whole numbers, whose sums the tensor cores' 14 bits hold
    small = [torch.randint(-1, 2, x.shape, device="cuda", dtype=torch.float32).to(x.dtype) for x in sets[0][:2]]
    want = small[0].float() @ small[1].float().t()

    def check(run):
        sets[0][2].fill_(float("nan"))
        run(*small, sets[0][2])  # compiles
        far = ~((sets[0][2].float() - want).abs() <= 2.0**-8 * want.abs())  # bfloat16 has 8 bits
        if far.any():
            raise ValueError(f"{int(far.sum())} of {m * n} elements are wrong")

    runs = {name: run for name, run in contestants.items() if gemm.passes(torch, name, lambda run=run: check(run))}
    return gemm.measured(torch, {name: lambda i, run=run: run(*sets[i % copies]) for name, run in runs.items()}, modes)


def main():
    args = gemm.options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch") or device.compute_capability[0] != 9:
        print("torch is not installed, or the compute capability is not 9.0: nothing to compare")
        return 0
    report = Report(f"C = A @ B.T of float8_e4m3fn on {device.name}", [("m x n x k", 20), ("mode", 5), ("cublas TFLOP/s", 14), ("ours", 8), ("cublas fast", 11), ("fast of it", 10)])

    def out(shape, modes):
        rate = 2 * shape[0] * shape[1] * shape[2] / 1e12
        for mode, t in modes.items():
            of = [t[theirs] / t[ours] if ours in t and theirs in t else None for theirs, ours in (("cublas", "ours"), ("cublas fast", "fast"))]
            report.row(gemm.label(shape), mode, rate / t["cublas"] if "cublas" in t else None, of[0], rate / t["cublas fast"] if "cublas fast" in t else None, of[1])

    measured = gemm.measure_all(gemm.chosen(args, SIDES, ("cublas",)), SHAPES[1:4] if args.quick else SHAPES, gemm.command_of(__file__, args), out)
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        gemm.child(sys.argv[2:], sides, measure)
    else:
        sys.exit(main())
