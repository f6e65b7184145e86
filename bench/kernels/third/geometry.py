"""Geometry: Bezier surfaces, B-splines, points in a polygon (64-bit integers), cubic interpolation
in a table.
"""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda, float32

MOST = 8  # coefficients of a B-spline that count at a place: its degree is less


def bernstein(control, row, c, binomial, t):
    """Coordinate c of the Bezier curve of one row of control points, by Horner's scheme for
    Bernstein polynomials.
    """
    last = binomial.size - 1
    rest = 1.0 - t
    power = t
    total = control[row, 0, c] * rest
    for k in range(1, last):
        total = (total + binomial[k] * power * control[row, k, c]) * rest
        power *= t
    return total + power * control[row, last, c]


def bezier_surface(control, rows_binomial, columns_binomial, u, v, out):
    """A tensor-product Bezier surface at all (u[i], v[j])."""
    j, i = cuda.grid(2)
    if i >= u.size or j >= v.size:
        return
    last = rows_binomial.size - 1
    rest = 1.0 - u[i]
    for c in range(control.shape[2]):
        power = u[i]
        total = bernstein(control, 0, c, columns_binomial, v[j]) * rest
        for k in range(1, last):
            total = (total + rows_binomial[k] * power * bernstein(control, k, c, columns_binomial, v[j])) * rest
            power *= u[i]
        out[i, j, c] = total + power * bernstein(control, last, c, columns_binomial, v[j])


def bspline(knots, control, degree, t, out):
    """A B-spline curve at t[i]: the knot span by bisection, then de Boor's algorithm (1972)."""
    i = cuda.grid(1)
    if i >= t.size:
        return
    d = cuda.local.array(MOST, float32)
    low = degree
    high = control.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= t[i]:
            low = middle
        else:
            high = middle
    for c in range(control.shape[1]):
        for k in range(degree + 1):
            d[k] = control[low - degree + k, c]
        for r in range(1, degree + 1):
            for k in range(degree, r - 1, -1):
                left = knots[low - degree + k]
                alpha = (t[i] - left) / (knots[low + 1 + k - r] - left)
                d[k] = (1.0 - alpha) * d[k - 1] + alpha * d[k]
        out[i, c] = d[degree]


def inside_polygon(px, py, vx, vy, inside):
    """Whether a point is in a polygon, by the edges that a ray from it crosses; exact in 64-bit
    integers.
    """
    i = cuda.grid(1)
    if i >= px.size:
        return
    x, y = px[i], py[i]
    odd = False
    j = vx.size - 1
    for k in range(vx.size):
        if (vy[k] > y) != (vy[j] > y):
            cross = (vx[j] - vx[k]) * (y - vy[k]) - (x - vx[k]) * (vy[j] - vy[k])
            if (cross > 0) == (vy[j] > vy[k]):
                odd = not odd
        j = k
    inside[i] = odd


def cubic_table(table, x, first, step, out):
    """Catmull and Rom's cubic (1974) through a table's values at first, first + step, ..."""
    i = cuda.grid(1)
    if i < x.size:
        place = (x[i] - first) / step
        k = min(max(int(place), 1), table.size - 3)
        f = place - k
        a, b, c, d = table[k - 1], table[k], table[k + 1], table[k + 2]
        out[i] = b + 0.5 * f * (c - a + f * (2.0 * a - 5.0 * b + 4.0 * c - d + f * (3.0 * (b - c) + d - a)))


def binomials(degree):
    """Pascal's row as float32."""
    row = [1]
    for k in range(degree):
        row.append(row[-1] * (degree - k) // (k + 1))
    return np.array(row, np.float32)


def bezier_problem(rng, n):
    """n values of u by 3 n / 2 of v; 6 x 7 control points in space."""
    m, p = 6, 7
    rows, columns = binomials(m - 1), binomials(p - 1)
    control = rng.random((m, p, 3), np.float32)
    u, v = (np.sort(rng.random(count, np.float32)) for count in (n, n + n // 2 + 1))

    def expected():
        some = sampled(np.random.default_rng(0), n, 256)

        def basis(binomial, t):
            k, t = np.arange(len(binomial))[:, None], t.astype(np.float64)
            return binomial[:, None] * t**k * (1 - t) ** (len(binomial) - 1 - k)

        exact = np.einsum("ri,rpc,pj->ijc", basis(rows, u[some]), control.astype(np.float64), basis(columns, v))
        # All terms are positive; on the way of each are at most 7 roundings for each step in both
        # directions.
        return [(some, exact, EPS32 / 2 * 7 * (m + p) * exact)]

    arguments = (control, rows, columns, u, v, np.zeros((n, len(v), 3), np.float32))
    extents = (m, p, 3, n, len(v))
    points = n * len(v)
    return Problem(arguments, extents, (5,), expected, threads=(len(v), n), bytes=12 * points, flops=3 * 5 * m * p * points)


def spline_problem(rng, n):
    """n places on a curve of degree 3 with 1,009 control points in space."""
    degree, count = 3, 1009 if n > 10000 else 37
    inner = np.cumsum(rng.uniform(0.5, 1.5, count - degree + 1))
    knots = np.concatenate([[inner[0]] * degree, inner, [inner[-1]] * degree]).astype(np.float32)
    control = rng.random((count, 3), np.float32)
    t = rng.uniform(knots[0], np.nextafter(knots[-1], np.float32(0)), n).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 16)
        at, k64 = t[some].astype(np.float64), knots.astype(np.float64)
        span = np.clip(np.searchsorted(knots, t[some], side="right") - 1, degree, count - 1)
        d = control[span[:, None] - degree + np.arange(degree + 1)].astype(np.float64)
        for r in range(1, degree + 1):
            for k in range(degree, r - 1, -1):
                left = k64[span - degree + k]
                alpha = ((at - left) / (k64[span + 1 + k - r] - left))[:, None]
                d[:, k] = (1 - alpha) * d[:, k - 1] + alpha * d[:, k]
        # The values are in 0..1 and each level is a mean of two; alpha is within 3/2 eps, the mean
        # adds three roundings.
        return [(some, d[:, degree], degree * 3 * EPS32)]

    arguments = (knots, control, degree, t, np.zeros((n, 3), np.float32))
    extents = (len(knots), count, 3, n)
    return Problem(arguments, extents, (4,), expected, threads=n, bytes=16 * n, flops=(3 * 6 * 7 + 20) * n)


def polygon_problem(rng, n):
    """A star-shaped polygon of 503 corners on a lattice of 2**24 points a side."""
    corners = 503 if n > 10000 else 41
    angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
    radius = rng.uniform(0.2, 1, corners) * 2**23
    vx, vy = np.round(radius * np.cos(angle)).astype(np.int64), np.round(radius * np.sin(angle)).astype(np.int64)
    px, py = (rng.integers(-(2**23), 2**23, n) for _ in range(2))

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        x, y = px[some], py[some]
        odd = np.zeros(len(some), bool)
        for k in range(corners):
            j = k - 1
            cross = (vx[j] - vx[k]) * (y - vy[k]) - (x - vx[k]) * (vy[j] - vy[k])
            odd ^= ((vy[k] > y) != (vy[j] > y)) & ((cross > 0) == (vy[j] > vy[k]))
        return [(some, odd, 0)]

    arguments = (px, py, vx, vy, np.zeros(n, np.uint8))
    return Problem(arguments, (n, corners), (4,), expected, threads=n, bytes=17 * n, flops=4 * corners * n)


def table_problem(rng, n):
    """n places in a table of 1,009 values."""
    table, x = rng.random(1009, np.float32), rng.uniform(-3, 3, n).astype(np.float32)
    first, step = np.float32(-3.0), np.float32(6.0 / 1008)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 18)
        place = (x[some].astype(np.float64) - float(first)) / float(step)
        k = np.clip(place.astype(int), 1, len(table) - 3)
        f = place - k
        a, b, c, d = (table[k + s].astype(np.float64) for s in (-1, 0, 1, 2))
        exact = b + 0.5 * f * (c - a + f * (2 * a - 5 * b + 4 * c - d + f * (3 * (b - c) + d - a)))
        # The place is off by eps of itself, on a curve with a slope below 8 (f is from -1 to 2 in
        # the first and last cell); the cubic's dozen operations are on numbers up to 12, times f up
        # to 2.
        return [(some, exact, EPS32 * (8 * place + 100))]

    return Problem(
        (table, x, first, step, np.zeros_like(x)), (len(table), n), (4,), expected, threads=n, bytes=8 * n, flops=22 * n
    )  # fmt: skip


KERNELS = [
    Kernel(
        "Bezier surface", bezier_surface,
        "float32[:,:,::1], float32[::1], float32[::1], float32[::1], float32[::1], float32[:,:,::1]",
        (32, 8), bezier_problem, gpu=2053, host=701, test=27, power=2,
        **sides(
            "bezier_surface",
            "const float *control, const float *rows_binomial, const float *columns_binomial, const float *u, const float *v, "
            "float *out, int m, int p, int coordinates, int rows, int cols",
            [("i", "0", "rows"), ("j", "0", "cols")],
            """
float rest = 1.0f - u[i];
for (INDEX c = 0; c < coordinates; c++) {
  float power = u[i];
  float total = bezier_row(control, 0, c, p, coordinates, columns_binomial, v[j]) * rest;
  for (INDEX k = 1; k < m - 1; k++) {
    float point = bezier_row(control, k, c, p, coordinates, columns_binomial, v[j]);
    total = (total + rows_binomial[k] * power * point) * rest;
    power *= u[i];
  }
  out[(i * cols + j) * coordinates + c] =
      total + power * bezier_row(control, m - 1, c, p, coordinates, columns_binomial, v[j]);
}
""",
            helpers="""
FUNCTION float bezier_row(const float *control, INDEX row, INDEX c, int p, int coordinates, const float *binomial, float t) {
  float rest = 1.0f - t, power = t;
  float total = control[row * p * coordinates + c] * rest;
  for (INDEX k = 1; k < p - 1; k++) {
    total = (total + binomial[k] * power * control[(row * p + k) * coordinates + c]) * rest;
    power *= t;
  }
  return total + power * control[(row * p + p - 1) * coordinates + c];
}
""",
        ),
    ),
    Kernel(
        "B-spline curve", bspline, "float32[::1], float32[:,::1], pyint, float32[::1], float32[:,::1]",
        256, spline_problem, gpu=4_000_037, host=300_007, test=2003, kind="irregular",
        **sides(
            "bspline",
            "const float *knots, const float *control, int degree, const float *t, float *out, int places, int count, "
            "int coordinates, int n",
            [("i", "0", "n")],
            """
float d[8];
INDEX low = degree, high = count;
while (high - low > 1) {
  INDEX middle = (low + high) / 2;
  if (knots[middle] <= t[i])
    low = middle;
  else
    high = middle;
}
for (INDEX c = 0; c < coordinates; c++) {
  for (INDEX k = 0; k <= degree; k++)
    d[k] = control[(low - degree + k) * coordinates + c];
  for (INDEX r = 1; r <= degree; r++)
    for (INDEX k = degree; k >= r; k--) {
      float left = knots[low - degree + k];
      float alpha = (t[i] - left) / (knots[low + 1 + k - r] - left);
      d[k] = (1.0f - alpha) * d[k - 1] + alpha * d[k];
    }
  out[i * coordinates + c] = d[degree];
}
""",
        ),
    ),
    Kernel(
        "points in a polygon", inside_polygon, "int64[::1], int64[::1], int64[::1], int64[::1], uint8[::1]",
        256, polygon_problem, gpu=500_009, host=80_021, test=1003, kind="irregular",
        **sides(
            "inside_polygon",
            "const long long *px, const long long *py, const long long *vx, const long long *vy, unsigned char *inside, "
            "int n, int corners",
            [("i", "0", "n")],
            """
long long x = px[i], y = py[i];
int odd = 0;
for (INDEX k = 0, j = corners - 1; k < corners; j = k++) {
  if ((vy[k] > y) != (vy[j] > y)) {
    long long cross = (vx[j] - vx[k]) * (y - vy[k]) - (x - vx[k]) * (vy[j] - vy[k]);
    if ((cross > 0) == (vy[j] > vy[k]))
      odd = !odd;
  }
}
inside[i] = odd;
""",
        ),
    ),
    Kernel(
        "cubic in a table", cubic_table, "float32[::1], float32[::1], float32, float32, float32[::1]",
        256, table_problem, gpu=64_000_031, host=4_000_037, test=2003, kind="irregular",
        **sides(
            "cubic_table", "const float *table, const float *x, float first, float step, float *out, int size, int n",
            [("i", "0", "n")],
            """
float place = (x[i] - first) / step;
INDEX k = (INDEX)place;
if (k < 1)
  k = 1;
if (k > size - 3)
  k = size - 3;
float f = place - k;
float a = table[k - 1], b = table[k], c = table[k + 1], d = table[k + 2];
out[i] = b + 0.5f * f * (c - a + f * (2.0f * a - 5.0f * b + 4.0f * c - d + f * (3.0f * (b - c) + d - a)));
""",
        ),
    ),
]  # fmt: skip
