"""Linear systems and equations side by side: matrices of diagonals, of five diagonals, of Toeplitz, of 4-bit weights,
and van der Pol's oscillators.
"""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32


def dia_spmv(offsets, data, x, y):
    """Diagonals: data[k, i] stands in row i and column i + offsets[k]."""
    i = cuda.grid(1)
    n = x.size
    if i < n:
        total = 0.0
        for k in range(offsets.size):
            j = i + offsets[k]
            if 0 <= j < n:
                total += data[k, i] * x[j]
        y[i] = total


def pentadiagonal(e, c, d, a, b, f, alpha, beta, x):
    """Systems of five diagonals side by side, a thread each."""
    s = cuda.grid(1)
    n, systems = d.shape
    if s >= systems:
        return
    alpha1 = alpha2 = 0.0
    beta1 = beta2 = 0.0
    z1 = z2 = 0.0
    for i in range(n):
        g = c[i, s] - alpha2 * e[i, s]
        m = 1.0 / (d[i, s] - beta2 * e[i, s] - alpha1 * g)
        al = (a[i, s] - beta1 * g) * m
        be = b[i, s] * m
        z = (f[i, s] - z2 * e[i, s] - z1 * g) * m
        alpha[i, s] = al
        beta[i, s] = be
        x[i, s] = z
        alpha2 = alpha1
        alpha1 = al
        beta2 = beta1
        beta1 = be
        z2 = z1
        z1 = z
    x1 = x2 = 0.0
    for i in range(n - 1, -1, -1):
        v = x[i, s] - alpha[i, s] * x1 - beta[i, s] * x2
        x[i, s] = v
        x2 = x1
        x1 = v


def levinson(r, coefficients, errors):
    """Levinson and Durbin's recursion, a frame a thread; order at most 24."""
    i = cuda.grid(1)
    order, frames = coefficients.shape
    if i >= frames:
        return
    a = cuda.local.array(25, float32)
    old = cuda.local.array(25, float32)
    error = r[0, i]
    for k in range(1, order + 1):
        acc = r[k, i]
        for j in range(1, k):
            acc -= a[j] * r[k - j, i]
        reflection = acc / error
        for j in range(1, k):
            old[j] = a[j]
        for j in range(1, k):
            a[j] = old[j] - reflection * old[k - j]
        a[k] = reflection
        error *= 1 - reflection * reflection
    for k in range(order):
        coefficients[k, i] = a[k + 1]
    errors[i] = error


def q4_matvec(packed, scales, x, y):
    """Weights of 4 bits, a scale for 32 of them; a warp a row."""
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= y.size:
        return
    total = float32(0.0)
    for j in range(lane, packed.shape[1], 32):
        q = int(packed[row, j])
        total += scales[row, j // 16] * (((q & 15) - 8) * x[2 * j] + ((q >> 4) - 8) * x[2 * j + 1])
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 0:
        y[row] = total


def van_der_pol(mu, x0, v0, t_end, tolerance, x_out, v_out):
    """Adaptive steps of Bogacki and Shampine (3, 2) with first same as last."""
    i = cuda.grid(1)
    if i >= mu.size:
        return
    m = mu[i]
    x = x0[i]
    v = v0[i]
    t = 0.0
    h = 1e-3
    k1x = v
    k1v = m * (1.0 - x * x) * v - x
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        ax = x + 0.5 * h * k1x
        av = v + 0.5 * h * k1v
        k2x = av
        k2v = m * (1.0 - ax * ax) * av - ax
        ax = x + 0.75 * h * k2x
        av = v + 0.75 * h * k2v
        k3x = av
        k3v = m * (1.0 - ax * ax) * av - ax
        nx = x + h * (2.0 / 9.0 * k1x + 1.0 / 3.0 * k2x + 4.0 / 9.0 * k3x)
        nv = v + h * (2.0 / 9.0 * k1v + 1.0 / 3.0 * k2v + 4.0 / 9.0 * k3v)
        k4x = nv
        k4v = m * (1.0 - nx * nx) * nv - nx
        ex = h * (-5.0 / 72.0 * k1x + 1.0 / 12.0 * k2x + 1.0 / 9.0 * k3x - 0.125 * k4x)
        ev = h * (-5.0 / 72.0 * k1v + 1.0 / 12.0 * k2v + 1.0 / 9.0 * k3v - 0.125 * k4v)
        error = max(math.sqrt(ex * ex + ev * ev), 1e-14) / tolerance
        if error <= 1.0:
            t += h
            x = nx
            v = nv
            k1x = k4x
            k1v = k4v
        h *= min(4.0, max(0.2, 0.9 * error ** (-1.0 / 3.0)))
    x_out[i] = x
    v_out[i] = v


def dia_problem(rng, n):
    offsets = np.array([-9001, -301, -300, -1, 0, 1, 300, 301, 9001], np.int32)
    data, x, y = rng.standard_normal((9, n)), rng.standard_normal(n), np.zeros(n)

    def expected():
        out = np.zeros(n)
        for o, d in zip(offsets, data):
            i = np.arange(max(0, -o), min(n, n - o))
            out[i] += d[i] * x[i + o]
        return [(slice(None), out, 1e-12)]

    return Problem((offsets, data, x, y), (9, n), (3,), expected, threads=n, bytes=88.0 * n)


def penta_problem(rng, n):
    size = 61
    e, c, a, b, f = (rng.uniform(-1, 1, (size, n)) for _ in range(5))
    d = rng.uniform(5, 7, (size, n))
    e[:2] = 0
    c[0] = 0
    a[-1] = 0
    b[-2:] = 0
    alpha, beta, x = (np.zeros((size, n)) for _ in range(3))

    def expected():
        at = sampled(rng, n, 200)
        m = np.zeros((at.size, size, size))
        for diagonal, o in ((e, -2), (c, -1), (d, 0), (a, 1), (b, 2)):
            i = np.arange(max(0, -o), min(size, size - o))
            m[:, i, i + o] = diagonal[i][:, at].T
        got = np.linalg.solve(m, f[:, at].T[..., None])[..., 0].T
        return [((slice(None), at), got, 1e-12)]

    return Problem((e, c, d, a, b, f, alpha, beta, x), (size, n), (8,), expected, threads=n, bytes=72.0 * n * size)


def levinson_problem(rng, n):
    order = 14
    x = rng.standard_normal((60, n), dtype=np.float32)
    r = np.float32(np.stack([(x[: 60 - k] * x[k:]).sum(0) for k in range(order + 1)]))
    r[0] *= np.float32(1.02)

    def expected():
        at = sampled(rng, n, 5000)
        R = r[:, at].astype(float)
        a, error = np.zeros((order + 1, at.size)), R[0].copy()
        for k in range(1, order + 1):
            ref = (R[k] - sum(a[j] * R[k - j] for j in range(1, k))) / error
            old = a.copy()
            for j in range(1, k):
                a[j] = old[j] - ref * old[k - j]
            a[k] = ref
            error *= 1 - ref * ref
        return [((slice(None), at), a[1:], 1e-3), (at, error, 1e-2)]

    args = (r, np.zeros((order, n), np.float32), np.zeros(n, np.float32))
    return Problem(args, (order, n), (1, 2), expected, threads=n)


def q4_problem(rng, n):
    width = 2064
    packed = rng.integers(0, 256, (n, width), dtype=np.uint8)
    scales = np.float32(rng.uniform(0.01, 0.02, (n, width // 16)))
    x, y = np.float32(rng.standard_normal(2 * width)), np.zeros(n, np.float32)

    def expected():
        at = sampled(rng, n, 500)
        q = packed[at]
        w = np.empty((at.size, width, 2))
        w[..., 0], w[..., 1] = (q & 15) - 8.0, (q >> 4) - 8.0
        w *= np.repeat(scales[at], 16, 1)[..., None]
        return [(at, w.reshape(at.size, -1) @ x.astype(float), 1e-3)]

    args, sizes = (packed, scales, x, y), (width, width // 16, n)
    return Problem(args, sizes, (3,), expected, threads=32 * n, bytes=1.25 * packed.size)


def pol_problem(rng, n):
    mu, x0, v0 = rng.uniform(0.5, 3, n), rng.uniform(-2, 2, n), rng.uniform(-1, 1, n)
    end, tolerance = 2.0, 1e-6

    def expected():
        at = sampled(rng, n, 2000)
        m, x, v = mu[at], x0[at], v0[at]
        h = end / 4000

        def f(x, v):
            return v, m * (1 - x * x) * v - x

        for _ in range(4000):
            a = f(x, v)
            b = f(x + h / 2 * a[0], v + h / 2 * a[1])
            c = f(x + h / 2 * b[0], v + h / 2 * b[1])
            d = f(x + h * c[0], v + h * c[1])
            x, v = x + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0]), v + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        return [(at, x, 5e-4), (at, v, 2e-3)]

    args = (mu, x0, v0, np.float64(end), np.float64(tolerance), np.zeros(n), np.zeros(n))
    return Problem(args, (n,), (5, 6), expected, threads=n)


DIA = each(
    "dia_spmv(const int *offsets, const double *data, const double *x, double *y, int diagonals, int n)",
    """
    double total = 0;
    for (INDEX k = 0; k < diagonals; k++) {
      INDEX j = i + offsets[k];
      if (j >= 0 && j < n)
        total += data[k * n + i] * x[j];
    }
    y[i] = total;
""",
)

PENTA = each(
    """pentadiagonal(const double *e, const double *c, const double *d, const double *a, const double *b,
                   const double *f, double *alpha, double *beta, double *x, int n, int systems)""",
    """
    double alpha1 = 0, alpha2 = 0, beta1 = 0, beta2 = 0, z1 = 0, z2 = 0;
    for (INDEX i = 0; i < n; i++) {
      INDEX k = i * systems + s;
      double g = c[k] - alpha2 * e[k];
      double m = 1.0 / (d[k] - beta2 * e[k] - alpha1 * g);
      double al = (a[k] - beta1 * g) * m;
      double be = b[k] * m;
      double z = (f[k] - z2 * e[k] - z1 * g) * m;
      alpha[k] = al;
      beta[k] = be;
      x[k] = z;
      alpha2 = alpha1;
      alpha1 = al;
      beta2 = beta1;
      beta1 = be;
      z2 = z1;
      z1 = z;
    }
    double x1 = 0, x2 = 0;
    for (INDEX i = n - 1; i >= 0; i--) {
      INDEX k = i * systems + s;
      double v = x[k] - alpha[k] * x1 - beta[k] * x2;
      x[k] = v;
      x2 = x1;
      x1 = v;
    }
""",
    extent="systems",
    index="s",
)

LEVINSON = each(
    "levinson(const float *r, float *coefficients, float *errors, int order, int frames)",
    """
    float a[25], old[25];
    float error = r[i];
    for (INDEX k = 1; k <= order; k++) {
      float acc = r[k * frames + i];
      for (INDEX j = 1; j < k; j++)
        acc -= a[j] * r[(k - j) * frames + i];
      float reflection = acc / error;
      for (INDEX j = 1; j < k; j++)
        old[j] = a[j];
      for (INDEX j = 1; j < k; j++)
        a[j] = old[j] - reflection * old[k - j];
      a[k] = reflection;
      error *= 1 - reflection * reflection;
    }
    for (INDEX k = 0; k < order; k++)
      coefficients[k * frames + i] = a[k + 1];
    errors[i] = error;
""",
    extent="frames",
)

Q4_HEAD = """q4_matvec(const unsigned char *packed, const float *scales, const float *x, float *y, int bytes,
               int groups, int rows)"""
Q4 = indexed(
    f"""
__global__ void {Q4_HEAD} {{
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float total = 0;
  for (INDEX j = lane; j < bytes; j += 32) {{
    int q = packed[row * bytes + j];
    total += scales[row * groups + j / 16] * (((q & 15) - 8) * x[2 * j] + ((q >> 4) - 8) * x[2 * j + 1]);
  }}
  for (int d = 16; d > 0; d /= 2)
    total += __shfl_xor_sync(0xffffffff, total, d);
  if (lane == 0)
    y[row] = total;
}}
""",
    f"""
void {Q4_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    float total = 0;
    for (INDEX group = 0; group < groups; group++) {{
      float sum = 0;
      for (INDEX j = 16 * group; j < 16 * group + 16; j++) {{
        int q = packed[row * bytes + j];
        sum += ((q & 15) - 8) * x[2 * j] + ((q >> 4) - 8) * x[2 * j + 1];
      }}
      total += scales[row * groups + group] * sum;
    }}
    y[row] = total;
  }}
}}
""",
)

POL = each(
    """van_der_pol(const double *mu, const double *x0, const double *v0, double t_end, double tolerance,
                 double *x_out, double *v_out, int n)""",
    """
    double m = mu[i], x = x0[i], v = v0[i], t = 0, h = 1e-3;
    double k1x = v, k1v = m * (1.0 - x * x) * v - x;
    while (t < t_end) {
      if (t + h > t_end) h = t_end - t;
      double ax = x + 0.5 * h * k1x, av = v + 0.5 * h * k1v;
      double k2x = av, k2v = m * (1.0 - ax * ax) * av - ax;
      ax = x + 0.75 * h * k2x;
      av = v + 0.75 * h * k2v;
      double k3x = av, k3v = m * (1.0 - ax * ax) * av - ax;
      double nx = x + h * (2.0 / 9.0 * k1x + 1.0 / 3.0 * k2x + 4.0 / 9.0 * k3x);
      double nv = v + h * (2.0 / 9.0 * k1v + 1.0 / 3.0 * k2v + 4.0 / 9.0 * k3v);
      double k4x = nv, k4v = m * (1.0 - nx * nx) * nv - nx;
      double ex = h * (-5.0 / 72.0 * k1x + 1.0 / 12.0 * k2x + 1.0 / 9.0 * k3x - 0.125 * k4x);
      double ev = h * (-5.0 / 72.0 * k1v + 1.0 / 12.0 * k2v + 1.0 / 9.0 * k3v - 0.125 * k4v);
      double error = fmax(sqrt(ex * ex + ev * ev), 1e-14) / tolerance;
      if (error <= 1.0) {
        t += h;
        x = nx;
        v = nv;
        k1x = k4x;
        k1v = k4v;
      }
      h *= fmin(4.0, fmax(0.2, 0.9 * pow(error, -1.0 / 3.0)));
    }
    x_out[i] = x;
    v_out[i] = v;
""",
)

KERNELS = [
    Kernel(
        "DIA matrix times vector", dia_spmv, "int32[::1], float64[:,::1], float64[::1], float64[::1]", 128, dia_problem,
        gpu=1_500_007, host=100_003, test=20_003, kind="streaming", **DIA,
    ),
    Kernel(
        "pentadiagonal systems", pentadiagonal,
        "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], "
        "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1]", 96,
        penta_problem,
        gpu=40_003, host=2003, test=203, kind="streaming", **PENTA,
    ),
    Kernel(
        "Levinson and Durbin", levinson, "float32[:,::1], float32[:,::1], float32[::1]", 128, levinson_problem,
        gpu=200_003, host=5003, test=503, **LEVINSON,
    ),
    Kernel(
        "4-bit weights times vector", q4_matvec,
        "uint8[:,::1], float32[:,::1], float32[::1], float32[::1]", 256,
        q4_problem,
        gpu=30_011, host=303, test=17, kind="streaming", **Q4,
    ),
    Kernel(
        "van der Pol, adaptive", van_der_pol,
        "float64[::1], float64[::1], float64[::1], float64, float64, float64[::1], float64[::1]", 64,
        pol_problem,
        gpu=100_003, host=2003, test=203, kind="irregular", **POL,
    ),
]  # fmt: skip
