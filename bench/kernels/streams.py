"""Kernels that only move memory: vector add, saxpy, and BabelStream's five (Deakin et al., github.com/UoB-HPC/BabelStream).

BabelStream's are its kernels as it defines them: float64, no guard, since its length is a multiple of the block.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, Kernel, Problem, sampled, sum_bound, tree
from pyptx import cuda, float64

SCALAR = np.float64(0.4)  # BabelStream's startScalar
DOT_THREADS = 256


def vadd(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def stream_copy(a, c):
    i = cuda.grid(1)
    c[i] = a[i]


def stream_mul(scalar, b, c):
    i = cuda.grid(1)
    b[i] = scalar * c[i]


def stream_add(a, b, c):
    i = cuda.grid(1)
    c[i] = a[i] + b[i]


def stream_triad(scalar, a, b, c):
    i = cuda.grid(1)
    a[i] = b[i] + scalar * c[i]


def stream_dot(a, b, sums):
    partial = cuda.shared.array(DOT_THREADS, float64)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        acc += a[i] * b[i]
    partial[t] = acc
    half = DOT_THREADS // 2
    while half > 0:
        cuda.syncthreads()
        if t < half:
            partial[t] += partial[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = partial[0]


def vectors(rng, n, count, dtype):
    return [rng.random(n, dtype) for _ in range(count)]


def vadd_problem(rng, n):
    x, y = vectors(rng, n, 2, np.float32)
    # One addition, rounded once on both sides: equal.
    return Problem(
        (x, y, np.zeros_like(x)), (n,), (2,), lambda: [(np.s_[:], x + y, 0)], threads=n, bytes=12 * n, flops=n
    )


def saxpy_problem(rng, n):
    a = np.float32(2.5)
    x, y = vectors(rng, n, 2, np.float32)

    def expected():
        # Fused, or a product and a sum: at most two roundings, of a * x and of the result.
        some = sampled(np.random.default_rng(0), n, 1 << 20)
        exact = a.astype(float) * x[some] + y[some]
        return [(some, exact, EPS32 / 2 * (2 * np.abs(exact)) + np.finfo(np.float32).tiny)]

    return Problem((a, x, y, np.zeros_like(x)), (n,), (3,), expected, threads=n, bytes=12 * n, flops=2 * n)


def stream_problem(arrays, output, bytes_an_element, flops, formula, scalar):
    def problem(rng, n):
        values = vectors(rng, n, arrays, np.float64)
        arguments = ((SCALAR,) if scalar else ()) + tuple(values)
        values[output][:] = 0

        def expected():
            # Up to two operations on numbers of [0, 1.4): fused or not, each side is within eps of the other.
            some = sampled(np.random.default_rng(0), n, 1 << 20) if scalar else np.s_[:]
            exact = formula(*(v[some] for v in values))
            return [(some, exact, (EPS64 * np.abs(exact) + np.finfo(float).tiny) if scalar else 0)]

        position = output + scalar
        return Problem(
            arguments, (n,), (position,), expected, threads=n, bytes=bytes_an_element * n, flops=flops * n
        )

    return problem


def dot_problem(rng, n):
    a, b = vectors(rng, n, 2, np.float64)
    blocks = max(1, min(1024, n // DOT_THREADS))
    threads = blocks * DOT_THREADS

    def expected():
        # Additions that a product takes part in: of its thread, of the tree, of the sums here; the C loop adds n.
        exact = a @ b  # pairwise inside NumPy: its own error is far inside the bound
        additions = -(-n // threads) + tree(DOT_THREADS) + blocks
        return [(np.s_[:], exact, sum_bound(additions, exact, EPS64))]

    return Problem(
        (a, b, np.zeros(blocks)), (n,), (2,), expected, grid=blocks, bytes=16 * n, flops=2 * n,
        outcome=lambda sums: [sums.sum(keepdims=True)], sequential=n,
    )  # fmt: skip


def stream_cuda(name, parameters, statement):
    return f"""
__global__ void {name}({parameters}, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {statement}
}}
"""


def stream_openmp(name, parameters, statement):
    return f"""
void {name}({parameters}, int n) {{
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    {statement}
}}
"""


def texts(name, parameters, statement, guard=""):
    return {
        "cuda": stream_cuda(name, parameters, guard + statement),
        "openmp": stream_openmp(name, parameters, statement),
    }


def elementwise(inputs, output, operation, name):
    """CuPy's ElementwiseKernel of the same statement."""

    def make(cupy, *arguments):
        kernel = cupy.ElementwiseKernel(inputs, output, operation, name)
        return lambda: kernel(*arguments)

    return make


N32, N64 = 1 << 26, 1 << 25
HOST = 1 << 24
STREAM = {
    "block": 256, "gpu": N64, "host": HOST, "test": 4096, "step": 1024, "kind": "streaming", "sweep": LINE,
}  # fmt: skip

KERNELS = [
    Kernel(
        "vadd", vadd, "float32[::1], float32[::1], float32[::1]",
        **{**STREAM, "gpu": N32, "test": 5000, "step": 1}, problem=vadd_problem,
        **texts("vadd", "const float *x, const float *y, float *out", "out[i] = x[i] + y[i];", "if (i < n) "),
        peers={
            "cupy": lambda cupy, x, y, out: lambda: cupy.add(x, y, out=out),
            "triton": lambda triton, x, y, out: triton.vadd(x, y, out),
        },
    ),
    Kernel(
        "saxpy", saxpy, "float32, float32[::1], float32[::1], float32[::1]",
        **{**STREAM, "gpu": N32, "test": 5000, "step": 1}, problem=saxpy_problem,
        **texts(
            "saxpy", "float a, const float *x, const float *y, float *out", "out[i] = a * x[i] + y[i];", "if (i < n) "
        ),
        peers={"cupy": elementwise("T a, T x, T y", "T out", "out = a * x + y", "saxpy")},
    ),
    Kernel(
        "BabelStream copy", stream_copy, "float64[::1], float64[::1]", **STREAM,
        problem=stream_problem(2, 1, 16, 0, lambda a, c: a.copy(), 0),
        **texts("stream_copy", "const double *a, double *c", "c[i] = a[i];"),
        peers={"cupy": lambda cupy, a, c: lambda: cupy.copyto(c, a)},
    ),
    Kernel(
        "BabelStream mul", stream_mul, "float64, float64[::1], float64[::1]", **STREAM,
        problem=stream_problem(2, 0, 16, 1, lambda b, c: SCALAR * c, 1),
        **texts("stream_mul", "double scalar, double *b, const double *c", "b[i] = scalar * c[i];"),
        peers={"cupy": lambda cupy, s, b, c: lambda: cupy.multiply(c, s, out=b)},
    ),
    Kernel(
        "BabelStream add", stream_add, "float64[::1], float64[::1], float64[::1]", **STREAM,
        problem=stream_problem(3, 2, 24, 1, lambda a, b, c: a + b, 0),
        **texts("stream_add", "const double *a, const double *b, double *c", "c[i] = a[i] + b[i];"),
        peers={"cupy": lambda cupy, a, b, c: lambda: cupy.add(a, b, out=c)},
    ),
    Kernel(
        "BabelStream triad", stream_triad, "float64, float64[::1], float64[::1], float64[::1]", **STREAM,
        problem=stream_problem(3, 0, 24, 2, lambda a, b, c: b + SCALAR * c, 1),
        **texts("stream_triad", "double scalar, double *a, const double *b, const double *c", "a[i] = b[i] + scalar * c[i];"),
        peers={
            "cupy": lambda cupy, s, a, b, c: elementwise("T s, T b, T c", "T a", "a = b + s * c", "triad")(
                cupy, s, b, c, a
            )
        },
    ),
    Kernel(
        "BabelStream dot", stream_dot, "float64[::1], float64[::1], float64[::1]",
        **{**STREAM, "block": DOT_THREADS, "sweep": ()}, problem=dot_problem,
        cuda="""
__global__ void stream_dot(const double *a, const double *b, double *sums, int n) {
  __shared__ double partial[256];
  int t = threadIdx.x;
  double acc = 0.0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    acc += a[i] * b[i];
  partial[t] = acc;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      partial[t] += partial[t + half];
  }
  if (t == 0)
    sums[blockIdx.x] = partial[0];
}
""",
        openmp="""
void stream_dot(const double *a, const double *b, double *sums, int n) {
  double acc = 0.0;
#pragma omp parallel for reduction(+ : acc)
  for (int i = 0; i < n; i++)
    acc += a[i] * b[i];
  sums[0] = acc;
}
""",
        peers={"cupy": lambda cupy, a, b, sums: lambda: cupy.dot(a, b)},
    ),
]  # fmt: skip
