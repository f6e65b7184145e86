"""What a Python function at the end of a matrix product costs (examples/gemm_pipeline.py, bfloat16):
the speed of the product with it over the plain product's, and the same of cuBLASLt's own epilogues,
in one process.

    python bench/epilogues.py [--quick] [--turns] [--json OUT]

bias       + bias[column]                     torch.addmm(bias, a, b)
gelu       gelu(+ bias[column]), by tanh      torch._addmm_activation(bias, a, b, use_gelu=True)
residual   + d[row, column]                   d.addmm_(a, b), which is cuBLAS's beta = 1
scale      * scale[row]                       none
all        gelu(* scale[row] + bias[column]) + d[row, column]   none

How it is measured, in burst and in turns, says bench/gemm.py. Each result is compared with float32
arithmetic on cuBLAS's float32 product of the same matrices. Needs compute capability 9.0.
"""

import functools
import importlib.util
import sys

import gemm
from _bench import Report, need_gpu
from pyptx import cuda, float32
from pyptx.cuda import libdevice

SHAPES = (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 1024), (4096, 4096, 1024), (4096, 4096, 14336), (5000, 3000, 2000)
NAMES = ("bias", "gelu", "residual", "scale", "all")
CUBLAS = ("bias", "gelu", "residual")
ROOT_2_OVER_PI = 0.7978845608028654
HALF = float32(0.5)


def gelu(half):
    """gelu of twice `half`: what is given has been halved by the sum in front, which costs nothing. One
    tanh.approx, within 2**-11, which the function asks for by name: math.tanh would be exact within 2
    units. With an exponential and a quotient in its place this costs twice as much."""
    inner = half * (float32(2 * ROOT_2_OVER_PI) + float32(8 * ROOT_2_OVER_PI * 0.044715) * half * half)
    return cuda.fma(half, libdevice.fast_tanhf(inner), half)


def bias_of(column, bias, *_):
    return float32(bias[column])


def half_bias_of(column, bias, *_):
    return HALF * float32(bias[column])


def with_bias(value, row, of_column, bias):
    return value + of_column


def with_gelu(value, row, of_column, bias):
    return gelu(cuda.fma(value, HALF, of_column))


def with_residual(value, old, row, column):
    return value + old


def with_scale(value, row, column, scale):
    return value * scale[row]


def with_all(value, old, row, of_column, bias, scale):
    return gelu(cuda.fma(value, HALF * scale[row], of_column)) + old


EPILOGUES = {  # the function, what it gets for its column, whether it takes another matrix, what else it takes
    "plain": (None, None, False, ()),
    "bias": (with_bias, bias_of, False, ("bias",)),
    "gelu": (with_gelu, half_bias_of, False, ("bias",)),
    "residual": (with_residual, None, True, ()),
    "scale": (with_scale, None, False, ("scale",)),
    "all": (with_all, half_bias_of, True, ("bias", "scale")),
}


@functools.cache
def launch(blocks, name):
    """A function of a, b, c and a dict of what epilogues take."""
    import gemm_pipeline

    function, of_column, residual, takes = EPILOGUES[name]
    run = gemm_pipeline.launch(blocks, epilogue=function, residual=residual, of_column=of_column)
    return lambda a, b, c, others: run(a, b, c, *((others["d"],) if residual else ()), *(others[x] for x in takes))


def expected(torch, name, a, b, others):
    """In float32, of products summed in float32."""
    _, _, residual, takes = EPILOGUES[name]
    value, d = a.float() @ b.float(), others["d"].float()
    if "scale" in takes:
        value *= others["scale"][:, None]
    if "bias" in takes:
        value += others["bias"].float()
    if name in ("gelu", "all"):
        value = torch.nn.functional.gelu(value, approximate="tanh")
    return value + d if residual else value


def sides(torch, names):
    """name → a function (a, b, c, others); those of cuBLAS begin with its name."""
    blocks = cuda.get_current_device().MULTIPROCESSOR_COUNT

    def residual(a, b, c, others):
        c.addmm_(a, b)

    every = {
        "cublas": lambda a, b, c, others: torch.matmul(a, b, out=c),
        "cublas bias": lambda a, b, c, others: torch.addmm(others["bias"], a, b, out=c),
        "cublas gelu": lambda a, b, c, others: torch._addmm_activation(others["bias"], a, b, use_gelu=True, out=c),
        "cublas residual": residual,
    }
    return {name: every[name] if name in every else launch(blocks, name) for name in names}


def measure(torch, shape, contestants, modes):
    m, n, k = shape
    gemm.say(running="cublas")
    torch.backends.cuda.matmul.allow_tf32 = False
    copies = 2 + gemm.CACHE // (2 * (m * k + k * n + 2 * m * n))

    def random(*size, dtype=torch.bfloat16):
        return torch.randn(size, device="cuda", dtype=dtype)

    sets = [(random(m, k), random(k, n), random(m, n), {"bias": random(n), "scale": random(m, dtype=torch.float32), "d": random(m, n)}) for _ in range(copies)]
    a, b, c, others = sets[0]

    def check(name, run):
        c.copy_(others["d"])  # which cuBLAS adds to; ours takes it from there
        if name in EPILOGUES:
            c.fill_(float("nan"))
        run(*sets[0])  # compiles
        want = expected(torch, name.removeprefix("cublas ").replace("cublas", "plain"), a, b, others)
        # a bfloat16 has 8 bits; sums differ by their order, and rows are scaled by less than 8
        far = ~((c.float() - want).abs() <= 2.0**-7 * want.abs() + 2.0**-9 * k**0.5)
        if far.any():
            raise ValueError(f"{int(far.sum())} of {m * n} elements are wrong")

    runs = {name: run for name, run in contestants.items() if gemm.passes(torch, name, lambda name=name, run=run: check(name, run))}
    return gemm.measured(torch, {name: lambda i, run=run: run(*sets[i % copies]) for name, run in runs.items()}, modes)


def main():
    args = gemm.options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch") or device.compute_capability[0] != 9:
        print("torch is not installed, or the compute capability is not 9.0: nothing to compare")
        return 0
    columns = [("m x n x k", 20), ("mode", 5), ("function", 8), ("TFLOP/s", 8), ("of plain", 8), ("cublas TFLOP/s", 14), ("of its plain", 12)]
    report = Report(f"C = f(A @ B) of bfloat16 on {device.name}", columns)

    def out(shape, modes):
        work = 2 * shape[0] * shape[1] * shape[2] / 1e12
        for mode, t in modes.items():
            for name in ("plain", *NAMES):
                theirs = "cublas" if name == "plain" else f"cublas {name}"
                ours = (work / t[name], t["plain"] / t[name] if "plain" in t else None) if name in t else (None, None)
                report.row(gemm.label(shape), mode, name, *ours, *((work / t[theirs], t["cublas"] / t[theirs]) if theirs in t and "cublas" in t else (None, None)))

    names = gemm.chosen(args, ("cublas", "plain", *(f"cublas {name}" for name in CUBLAS), *NAMES), ("cublas", "plain"))
    done = gemm.measure_all(names, SHAPES[:3] if args.quick else SHAPES, gemm.command_of(__file__, args), out)
    report.save(args.json, device=device.name)
    return 0 if done else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        gemm.child(sys.argv[2:], sides, measure)
    else:
        sys.exit(main())
