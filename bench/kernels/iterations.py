"""Loops whose length depends on the data or on nothing: the Mandelbrot set, complex and real, and Monte Carlo with xorshift32."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from pyptx import cuda, uint32

LIMIT, SAMPLES = 256, 256


def mandelbrot_complex(left, top, pixel, steps):
    col, row = cuda.grid(2)
    if row < steps.shape[0] and col < steps.shape[1]:
        c = np.complex64(complex(left + np.float32(col) * pixel, top - np.float32(row) * pixel))
        z = c
        n = 0
        while n < LIMIT and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            n += 1
        steps[row, col] = n


def mandelbrot_real(left, top, pixel, steps):
    col, row = cuda.grid(2)
    if row < steps.shape[0] and col < steps.shape[1]:
        cr = left + np.float32(col) * pixel
        ci = top - np.float32(row) * pixel
        zr, zi = cr, ci
        n = 0
        while n < LIMIT and zr * zr + zi * zi <= 4.0:
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            n += 1
        steps[row, col] = n


def monte_carlo(seed, hits):
    i = cuda.grid(1)
    if i >= hits.size:
        return
    state = uint32(uint32(i) * uint32(2654435769) ^ seed)
    inside = 0
    for _ in range(SAMPLES):
        state = uint32(state ^ (state << uint32(13)))
        state = uint32(state ^ (state >> uint32(17)))
        state = uint32(state ^ (state << uint32(5)))
        x = np.float32(state >> uint32(8)) * np.float32(1.0 / 16777216.0)
        state = uint32(state ^ (state << uint32(13)))
        state = uint32(state ^ (state >> uint32(17)))
        state = uint32(state ^ (state << uint32(5)))
        y = np.float32(state >> uint32(8)) * np.float32(1.0 / 16777216.0)
        if x * x + y * y <= 1.0:
            inside += 1
    hits[i] = inside


def orbit_steps(c):
    """(steps, sure) in float64: sure where no float32 evaluation, fused or not, can stop at another step.

    A running error bound: with |z' - z| <= e, one more step is off by at most 2|z|e + e^2, the roundings of
    the products and sums (four, of numbers up to |z|^2 + |c|) and the coordinate's own error. A step's test is
    sure if |z|^2 is further from 4 than that error makes it.
    """
    coordinate = 3 * EPS32 / 2 * 4  # two roundings of c's parts, at most 2.25 in size
    z, e = c.copy(), np.full(c.shape, coordinate)
    steps, sure, alive = np.zeros(c.shape, int), np.ones(c.shape, bool), np.ones(c.shape, bool)
    for _ in range(LIMIT):
        size = np.abs(z)
        doubt = 2 * size * e + e * e + 3 * EPS32 * size * size
        sure &= ~alive | (np.abs(size * size - 4) > doubt)
        alive &= size * size <= 4
        if not alive.any():
            break
        steps += alive
        z = np.where(alive, z * z + c, z)
        e = np.where(alive, 2 * size * e + e * e + 4 * EPS32 * (size * size + np.abs(c)) + coordinate, e)
        e = np.minimum(e, 1e3)
    return steps, sure


def mandelbrot_problem(rng, n):
    left, top, pixel = np.float32(-2.25), np.float32(1.5), np.float32(3.0 / n)

    def expected():
        rows = sampled(np.random.default_rng(0), n, 48)
        cols = sampled(np.random.default_rng(1), n, 512)
        c = (float(left) + cols * float(pixel))[None, :] + 1j * (float(top) - rows * float(pixel))[:, None]
        steps, sure = orbit_steps(c)
        assert sure.mean() > 0.5, "the sample must say something"
        # Steps are integers: equal where sure; where the orbit is chaotic anything up to the limit is right.
        return [(np.ix_(rows, cols), steps, np.where(sure, 0, LIMIT))]

    return Problem(
        (left, top, pixel, np.zeros((n, n), np.int32)), (n, n), (3,), expected, threads=(n, n), bytes=4 * n * n,
        flops=10 * 60 * n * n,
    )  # fmt: skip


def monte_carlo_problem(rng, n):
    seed = np.uint32(12345)

    def expected():
        some = sampled(np.random.default_rng(0), n, 4096)
        state = (some.astype(np.uint32) * np.uint32(2654435769)) ^ seed
        hits, near = np.zeros(len(some), int), np.zeros(len(some), int)

        def uniform():
            nonlocal state
            state = state ^ (state << np.uint32(13))
            state = state ^ (state >> np.uint32(17))
            state = state ^ (state << np.uint32(5))
            return (state >> np.uint32(8)) * 2.0**-24

        for _ in range(SAMPLES):
            x, y = uniform(), uniform()
            r2 = x * x + y * y
            hits += r2 <= 1
            near += np.abs(r2 - 1) <= 2 * EPS32  # three roundings may put it on either side
        return [(some, hits, near)]

    return Problem(
        (seed, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=4 * n, flops=20 * SAMPLES * n
    )


def mandelbrot_text(name, loop):
    body = f"""
    float cr = left + col * pixel, ci = top - row * pixel;
    float zr = cr, zi = ci;
    int n = 0;
    while (n < 256 && zr * zr + zi * zi <= 4.0f) {{
      float next = zr * zr - zi * zi + cr;
      zi = 2 * zr * zi + ci;
      zr = next;
      n++;
    }}
    steps[row * cols + col] = n;
"""
    parameters = f"{name}(float left, float top, float pixel, int *steps, int rows, int cols)"
    if loop:
        return f"""
void {parameters} {{
#pragma omp parallel for schedule(dynamic, 8)
  for (int row = 0; row < rows; row++)
    for (int col = 0; col < cols; col++) {{{body}    }}
}}
"""
    return f"""
__global__ void {parameters} {{
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {{{body}  }}
}}
"""


def monte_carlo_text(opening, closing):
    draw = """
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;"""
    return f"""
{opening}
    unsigned state = i * 2654435769u ^ seed;
    int inside = 0;
    for (int k = 0; k < 256; k++) {{{draw}
      float x = (float)(state >> 8) * (1.0f / 16777216.0f);{draw}
      float y = (float)(state >> 8) * (1.0f / 16777216.0f);
      if (x * x + y * y <= 1.0f)
        inside++;
    }}
    hits[i] = inside;
{closing}
"""


MANDELBROT = {
    "block": (32, 8), "problem": mandelbrot_problem, "gpu": 4096, "host": 1024, "test": 96, "power": 2,
}  # fmt: skip
MANDELBROT_SIGNATURE = "float32, float32, float32, int32[:,::1]"

KERNELS = [
    # nvcc's side is real both times: complex numbers of CUDA C++ are a library, not the language.
    Kernel(
        "Mandelbrot, complex", mandelbrot_complex, MANDELBROT_SIGNATURE, **MANDELBROT,
        cuda=mandelbrot_text("mandelbrot_complex", False), openmp=mandelbrot_text("mandelbrot_complex", True),
    ),
    Kernel(
        "Mandelbrot, real", mandelbrot_real, MANDELBROT_SIGNATURE, **MANDELBROT,
        cuda=mandelbrot_text("mandelbrot_real", False), openmp=mandelbrot_text("mandelbrot_real", True),
    ),
    Kernel(
        "Monte Carlo, xorshift", monte_carlo, "uint32, int32[::1]", 256, monte_carlo_problem,
        gpu=1 << 22, host=1 << 15, test=1000,
        cuda=monte_carlo_text(
            "__global__ void monte_carlo(unsigned seed, int *hits, int n) {\n"
            "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {",
            "  }\n}",
        ),
        openmp=monte_carlo_text(
            "void monte_carlo(unsigned seed, int *hits, int n) {\n"
            "#pragma omp parallel for\n  for (int i = 0; i < n; i++) {",
            "  }\n}",
        ),
    ),
]  # fmt: skip
