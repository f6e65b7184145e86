"""Small matrices and fits: singular values, eigenvalues by bisection, columns made orthonormal, decays with an offset."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float64


def singular_values(matrices, values):
    """Singular values of small matrices: columns are turned in pairs until all are orthogonal (Hestenes); largest first."""
    i = cuda.grid(1)
    if i >= matrices.shape[2]:
        return
    rows, cols = matrices.shape[0], matrices.shape[1]
    a = cuda.local.array((8, 8), float64)
    for r in range(rows):
        for c in range(cols):
            a[r, c] = matrices[r, c, i]
    turned = True
    sweeps = 0
    while turned and sweeps < 30:
        turned = False
        sweeps += 1
        for p in range(cols - 1):
            for q in range(p + 1, cols):
                alpha = beta = gamma = 0.0
                for r in range(rows):
                    alpha += a[r, p] * a[r, p]
                    beta += a[r, q] * a[r, q]
                    gamma += a[r, p] * a[r, q]
                if abs(gamma) <= 1e-14 * math.sqrt(alpha * beta):
                    continue
                turned = True
                zeta = (beta - alpha) / (2 * gamma)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1 + zeta * zeta))
                c = 1 / math.sqrt(1 + t * t)
                s = c * t
                for r in range(rows):
                    a[r, p], a[r, q] = c * a[r, p] - s * a[r, q], s * a[r, p] + c * a[r, q]
    for c in range(cols):
        size = 0.0
        for r in range(rows):
            size += a[r, c] * a[r, c]
        size = math.sqrt(size)
        k = c
        while k > 0 and values[k - 1, i] < size:
            values[k, i] = values[k - 1, i]
            k -= 1
        values[k, i] = size


def negative_pivots(diagonals, squares, i, x):
    """How many eigenvalues of a symmetric tridiagonal matrix are below x, after Sturm."""
    count = 0
    q = 1.0
    for k in range(diagonals.shape[0]):
        if k == 0:
            q = diagonals[0, i] - x
        else:
            q = diagonals[k, i] - x - squares[k - 1, i] / q
        if q < 0:
            count += 1
        elif q == 0:
            q = 1e-300
    return count


def bisected_eigenvalues(diagonals, squares, low, high, tolerance, values):
    """Eigenvalues of tridiagonal matrices, each by itself: the interval that has it is halved."""
    i, k = cuda.grid(2)
    if k < values.shape[0] and i < values.shape[1]:
        a, b = low, high
        while b - a > tolerance:
            middle = (a + b) / 2
            if negative_pivots(diagonals, squares, i, middle) > k:
                b = middle
            else:
                a = middle
        values[k, i] = (a + b) / 2


def orthonormal_columns(q, r):
    """Gram and Schmidt's columns, in place, and the triangle that gives back the matrix: a warp a matrix."""
    m = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if m >= q.shape[0]:
        return
    lane = cuda.threadIdx.x
    rows, cols = q.shape[1], q.shape[2]
    for k in range(cols):
        for j in range(k, cols):
            dot = np.float32(0)
            for row in range(lane, rows, 32):
                dot += q[m, row, k] * q[m, row, j]
            for step in (16, 8, 4, 2, 1):
                dot += cuda.shfl_xor_sync(0xFFFFFFFF, dot, step)
            if j == k:
                size = math.sqrt(dot)
                if lane == 0:
                    r[m, k, k] = size
                for row in range(lane, rows, 32):
                    q[m, row, k] /= size
            else:
                if lane == 0:
                    r[m, k, j] = dot
                for row in range(lane, rows, 32):
                    q[m, row, j] -= dot * q[m, row, k]


def decay_fits(times, signals, most, fits, steps):
    """Decays with an offset, a * exp(-rate * t) + c, fitted to pixels by Levenberg and Marquardt's damped steps."""
    i = cuda.grid(1)
    if i >= steps.size:
        return
    count = times.size
    c = float(signals[count - 1, i])
    a = float(signals[0, i]) - c
    rate = 2 / times[count - 1]
    damping = 1e-3
    error = 0.0
    for k in range(count):
        d = float(signals[k, i]) - a * math.exp(-rate * times[k]) - c
        error += d * d
    step = 0
    while step < most:
        step += 1
        aa = ar = ac = rr = rc = 0.0
        ga = gr = gc = 0.0
        for k in range(count):
            t = times[k]
            e = math.exp(-rate * t)
            d = float(signals[k, i]) - a * e - c
            s = -a * t * e
            aa += e * e
            ar += e * s
            ac += e
            rr += s * s
            rc += s
            ga += e * d
            gr += s * d
            gc += d
        m00, m11, m22 = aa * (1 + damping), rr * (1 + damping), count * (1 + damping)
        l10, l20 = ar / m00, ac / m00
        d1 = m11 - l10 * ar
        l21 = (rc - l20 * ar) / d1
        d2 = m22 - l20 * ac - l21 * l21 * d1
        y1 = gr - l10 * ga
        y2 = gc - l20 * ga - l21 * y1
        dc = y2 / d2
        dr = y1 / d1 - l21 * dc
        da = ga / m00 - l10 * dr - l20 * dc
        now = 0.0
        for k in range(count):
            d = signals[k, i] - (a + da) * math.exp(-(rate + dr) * times[k]) - (c + dc)
            now += d * d
        if now <= error:
            a, rate, c, error = a + da, rate + dr, c + dc, now
            damping /= 10
            if abs(da) <= 1e-7 * abs(a) and abs(dr) <= 1e-7 * abs(rate) and abs(dc) <= 1e-7 * abs(c):
                break
        else:
            damping *= 10
            if damping > 1e12:
                break
    fits[0, i], fits[1, i], fits[2, i] = a, rate, c
    steps[i] = step


def singular_problem(rng, n):
    rows, cols = 7, 5
    matrices = rng.standard_normal((rows, cols, n))
    matrices[:, 4, ::5] = matrices[:, 0, ::5] + 1e-6 * matrices[:, 4, ::5]

    def expected():
        at = sampled(rng, n, 5000)
        values = np.linalg.svd(matrices[:, :, at].transpose(2, 0, 1), compute_uv=False).T
        return [((slice(None), at), values, 100 * EPS64 * values[0])]

    args = (matrices, np.full((cols, n), -1.0))
    return Problem(
        args, (rows, cols, n), (1,), expected, threads=n, bytes=8.0 * (rows + 1) * cols * n, flops=6 * 10 * 14.0 * rows * n
    )


def bisected_problem(rng, n):
    size, wanted = 41, 12
    diagonals, off = rng.uniform(-2, 2, (size, n)), rng.uniform(-1, 1, (size - 1, n))
    low, high, tolerance = np.float64(-4), np.float64(4), np.float64(1e-10)

    def expected():
        at = sampled(rng, n, 500)
        whole = np.zeros((len(at), size, size))
        k = np.arange(size)
        whole[:, k, k] = diagonals[:, at].T
        whole[:, k[1:], k[:-1]] = off[:, at].T
        return [((slice(None), at), np.linalg.eigvalsh(whole)[:, :wanted].T, tolerance + 100 * size * EPS64)]

    args = (diagonals, off**2, low, high, tolerance, np.full((wanted, n), 99.0))
    return Problem(
        args, (size, wanted, n), (5,), expected, threads=(n, wanted), bytes=16.0 * size * n, flops=37 * 15.0 * size * wanted * n
    )


def orthonormal_problem(rng, n):
    rows, cols = 75, 11
    q = rng.standard_normal((n, rows, cols)).astype(np.float32)
    start = q.copy()

    def expected():
        at = sampled(rng, n, 500)
        a = start[at].astype(np.float64)
        exact, r = np.linalg.qr(a)
        signs = np.sign(np.diagonal(r, axis1=1, axis2=2))
        condition = np.linalg.cond(a)[:, None, None]
        bound = 5 * EPS32 * rows**0.5 * condition  # of a sum's rounding, which the condition makes larger
        r = np.triu(r * signs[:, :, None])
        return [(at, exact * signs[:, None, :], bound), (at, r, bound * np.abs(r).max((1, 2), keepdims=True))]

    args = (q, np.zeros((n, cols, cols), np.float32))
    return Problem(
        args, (n, rows, cols), (0, 1), expected, grid=-(-n // 4), bytes=8.0 * rows * cols * n, flops=2.0 * rows * cols * cols * n
    )


def decay_problem(rng, n):
    count, most = 16, 50
    times = np.linspace(0.01, 2, count)
    a, rate, c = rng.uniform(500, 1500, n), rng.uniform(1, 6, n), rng.uniform(20, 100, n)
    signals = (a * np.exp(-rate * times[:, None]) + c + rng.normal(0, 5, (count, n))).astype(np.float32)

    def expected():
        at = sampled(rng, n, 2000)
        y, fit = signals[:, at].astype(float), np.stack([a, rate, c])[:, at]
        for _ in range(40):
            e = np.exp(-fit[1] * times[:, None])
            jacobian = np.stack([e, -fit[0] * times[:, None] * e, np.ones_like(e)], 1)
            normal = np.einsum("kpn,kqn->npq", jacobian, jacobian)
            gradient = np.einsum("kpn,kn->np", jacobian, y - fit[0] * e - fit[2])
            fit = fit + np.linalg.solve(normal, gradient[:, :, None])[:, :, 0].T
        # The step that ends it is below 1e-7 of the result, and steps get smaller.
        return [((slice(None), at), fit, 1e-6 * np.abs(fit))]

    args = (times, signals, most, np.full((3, n), -1.0), np.full(n, 99, np.uint8))
    return Problem(args, (count, n), (3,), expected, threads=n, bytes=(4.0 * count + 25) * n, flops=7 * 90.0 * count * n)


SINGULAR = each(
    "singular_values(const double *__restrict__ matrices, double *__restrict__ values, int rows, int cols, int n)",
    """
    double a[8][8];
    for (INDEX r = 0; r < rows; r++)
      for (INDEX c = 0; c < cols; c++)
        a[r][c] = matrices[(r * cols + c) * n + i];
    int turned = 1;
    for (int sweeps = 0; turned && sweeps < 30; sweeps++) {
      turned = 0;
      for (int p = 0; p < cols - 1; p++)
        for (int q = p + 1; q < cols; q++) {
          double alpha = 0, beta = 0, gamma = 0;
          for (int r = 0; r < rows; r++) {
            alpha += a[r][p] * a[r][p];
            beta += a[r][q] * a[r][q];
            gamma += a[r][p] * a[r][q];
          }
          if (fabs(gamma) <= 1e-14 * sqrt(alpha * beta)) continue;
          turned = 1;
          double zeta = (beta - alpha) / (2 * gamma);
          double t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
          double c = 1 / sqrt(1 + t * t), s = c * t;
          for (int r = 0; r < rows; r++) {
            double x = a[r][p], y = a[r][q];
            a[r][p] = c * x - s * y;
            a[r][q] = s * x + c * y;
          }
        }
    }
    for (INDEX c = 0; c < cols; c++) {
      double size = 0;
      for (int r = 0; r < rows; r++)
        size += a[r][c] * a[r][c];
      size = sqrt(size);
      INDEX k = c;
      for (; k > 0 && values[(k - 1) * n + i] < size; k--)
        values[k * n + i] = values[(k - 1) * n + i];
      values[k * n + i] = size;
    }
""",
)

BISECTED = plane(
    """bisected_eigenvalues(const double *__restrict__ diagonals, const double *__restrict__ squares, double low, double high,
                          double tolerance, double *__restrict__ values, int size, int rows, int cols)""",
    """
    double a = low, b = high;
    while (b - a > tolerance) {
      double middle = (a + b) / 2;
      if (negative_pivots_below(diagonals + col, squares + col, size, cols, middle) > row)
        b = middle;
      else
        a = middle;
    }
    values[row * cols + col] = (a + b) / 2;
""",
    before="""
DEVICE int negative_pivots_below(const double *diagonals, const double *squares, INDEX size, INDEX stride, double x) {
  int count = 0;
  double q = 1;
  for (INDEX k = 0; k < size; k++) {
    q = k == 0 ? diagonals[0] - x : diagonals[k * stride] - x - squares[(k - 1) * stride] / q;
    if (q < 0)
      count++;
    else if (q == 0)
      q = 1e-300;
  }
  return count;
}
""",
)

ORTHONORMAL_HEAD = "orthonormal_columns(float *__restrict__ q, float *__restrict__ r, int n, int rows, int cols)"
ORTHONORMAL = indexed(
    f"""
__global__ void {ORTHONORMAL_HEAD} {{
  INDEX m = blockIdx.x * (INDEX)blockDim.y + threadIdx.y;
  if (m >= n) return;
  INDEX lane = threadIdx.x;
  float *a = q + m * rows * cols, *t = r + m * cols * cols;
  for (INDEX k = 0; k < cols; k++)
    for (INDEX j = k; j < cols; j++) {{
      float dot = 0;
      for (INDEX row = lane; row < rows; row += 32)
        dot += a[row * cols + k] * a[row * cols + j];
      for (int step = 16; step > 0; step /= 2)
        dot += __shfl_xor_sync(0xffffffff, dot, step);
      if (j == k) {{
        float size = sqrtf(dot);
        if (lane == 0) t[k * cols + k] = size;
        for (INDEX row = lane; row < rows; row += 32)
          a[row * cols + k] /= size;
      }} else {{
        if (lane == 0) t[k * cols + j] = dot;
        for (INDEX row = lane; row < rows; row += 32)
          a[row * cols + j] -= dot * a[row * cols + k];
      }}
    }}
}}
""",
    f"""
void {ORTHONORMAL_HEAD} {{
#pragma omp parallel for
  for (INDEX m = 0; m < n; m++) {{
    float *a = q + (long long)m * rows * cols, *t = r + (long long)m * cols * cols;
    for (INDEX k = 0; k < cols; k++)
      for (INDEX j = k; j < cols; j++) {{
        float dot = 0;
        for (INDEX row = 0; row < rows; row++)
          dot += a[row * cols + k] * a[row * cols + j];
        if (j == k) dot = sqrtf(dot);
        t[k * cols + j] = dot;
        for (INDEX row = 0; row < rows; row++)
          if (j == k)
            a[row * cols + k] /= dot;
          else
            a[row * cols + j] -= dot * a[row * cols + k];
      }}
  }}
}}
""",
)

DECAY = each(
    """decay_fits(const double *__restrict__ times, const float *__restrict__ signals, int most, double *__restrict__ fits,
                unsigned char *__restrict__ steps, int count, int n)""",
    """
    double c = signals[(INDEX)(count - 1) * n + i], a = signals[i] - c, rate = 2 / times[count - 1], damping = 1e-3, error = 0;
    for (INDEX k = 0; k < count; k++) {
      double d = signals[k * n + i] - a * exp(-rate * times[k]) - c;
      error += d * d;
    }
    int step = 0;
    while (step < most) {
      step++;
      double aa = 0, ar = 0, ac = 0, rr = 0, rc = 0, ga = 0, gr = 0, gc = 0;
      for (INDEX k = 0; k < count; k++) {
        double t = times[k], e = exp(-rate * t), d = signals[k * n + i] - a * e - c, s = -a * t * e;
        aa += e * e;
        ar += e * s;
        ac += e;
        rr += s * s;
        rc += s;
        ga += e * d;
        gr += s * d;
        gc += d;
      }
      double m00 = aa * (1 + damping), m11 = rr * (1 + damping), m22 = count * (1 + damping);
      double l10 = ar / m00, l20 = ac / m00, d1 = m11 - l10 * ar, l21 = (rc - l20 * ar) / d1;
      double d2 = m22 - l20 * ac - l21 * l21 * d1, y1 = gr - l10 * ga, y2 = gc - l20 * ga - l21 * y1;
      double dc = y2 / d2, dr = y1 / d1 - l21 * dc, da = ga / m00 - l10 * dr - l20 * dc, now = 0;
      for (INDEX k = 0; k < count; k++) {
        double d = signals[k * n + i] - (a + da) * exp(-(rate + dr) * times[k]) - (c + dc);
        now += d * d;
      }
      if (now <= error) {
        a += da;
        rate += dr;
        c += dc;
        error = now;
        damping /= 10;
        if (fabs(da) <= 1e-7 * fabs(a) && fabs(dr) <= 1e-7 * fabs(rate) && fabs(dc) <= 1e-7 * fabs(c)) break;
      } else {
        damping *= 10;
        if (damping > 1e12) break;
      }
    }
    fits[i] = a;
    fits[n + i] = rate;
    fits[2 * (INDEX)n + i] = c;
    steps[i] = step;
""",
)

KERNELS = [
    Kernel(
        "singular values", singular_values, "float64[:,:,::1], float64[:,::1]", 64, singular_problem, gpu=50_021, host=2003,
        test=203, kind="irregular", **SINGULAR,
    ),
    Kernel(
        "eigenvalues by bisection", bisected_eigenvalues,
        "float64[:,::1], float64[:,::1], float64, float64, float64, float64[:,::1]", (64, 4), bisected_problem, gpu=10_007,
        host=211, test=53, kind="irregular", **BISECTED,
    ),
    Kernel(
        "columns made orthonormal", orthonormal_columns, "float32[:,:,::1], float32[:,:,::1]", (32, 4), orthonormal_problem,
        gpu=20_011, host=503, test=22, kind="shared", **ORTHONORMAL,
    ),
    Kernel(
        "fits of decays", decay_fits, "float64[::1], float32[:,::1], pyint, float64[:,::1], uint8[::1]", 128, decay_problem,
        gpu=100_003, host=2003, test=203, kind="irregular", **DECAY,
    ),
]  # fmt: skip
