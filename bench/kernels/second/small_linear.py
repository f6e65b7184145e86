"""Small matrices, one for each thread: inverse, LU, Cholesky, eigenvalues by rotations, QR by
reflections.

All after Golub and Van Loan, "Matrix Computations".
"""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32, float64


def inverse3x3(matrices, inverses):
    """By cofactors."""
    t = cuda.grid(1)
    if t < matrices.shape[0]:
        a, b, c = matrices[t, 0, 0], matrices[t, 0, 1], matrices[t, 0, 2]
        d, e, f = matrices[t, 1, 0], matrices[t, 1, 1], matrices[t, 1, 2]
        g, h, i = matrices[t, 2, 0], matrices[t, 2, 1], matrices[t, 2, 2]
        x = e * i - f * h
        y = f * g - d * i
        z = d * h - e * g
        r = 1 / (a * x + b * y + c * z)
        inverses[t, 0, 0] = x * r
        inverses[t, 0, 1] = (c * h - b * i) * r
        inverses[t, 0, 2] = (b * f - c * e) * r
        inverses[t, 1, 0] = y * r
        inverses[t, 1, 1] = (a * i - c * g) * r
        inverses[t, 1, 2] = (c * d - a * f) * r
        inverses[t, 2, 0] = z * r
        inverses[t, 2, 1] = (b * g - a * h) * r
        inverses[t, 2, 2] = (a * e - b * d) * r


def lu_solve4(matrices, right, solutions):
    """Elimination with row exchanges in a local array."""
    t = cuda.grid(1)
    if t >= matrices.shape[0]:
        return
    m = cuda.local.array((4, 5), float32)
    for i in range(4):
        for j in range(4):
            m[i, j] = matrices[t, i, j]
        m[i, 4] = right[t, i]
    for k in range(4):
        pivot = k
        for i in range(k + 1, 4):
            if abs(m[i, k]) > abs(m[pivot, k]):
                pivot = i
        if pivot != k:
            for j in range(k, 5):
                m[k, j], m[pivot, j] = m[pivot, j], m[k, j]
        for i in range(k + 1, 4):
            factor = m[i, k] / m[k, k]
            for j in range(k + 1, 5):
                m[i, j] -= factor * m[k, j]
    for i in range(3, -1, -1):
        s = m[i, 4]
        for j in range(i + 1, 4):
            s -= m[i, j] * m[j, 4]
        m[i, 4] = s / m[i, i]
        solutions[t, i] = m[i, 4]


def cholesky8(matrices, factors):
    """The lower factor, computed in a local array."""
    t = cuda.grid(1)
    if t >= matrices.shape[0]:
        return
    lower = cuda.local.array((8, 8), float64)
    for i in range(8):
        for j in range(i + 1):
            s = matrices[t, i, j]
            for k in range(j):
                s -= lower[i, k] * lower[j, k]
            if i == j:
                lower[i, i] = np.sqrt(s)
            else:
                lower[i, j] = s / lower[j, j]
    for i in range(8):
        for j in range(i + 1):
            factors[t, i, j] = lower[i, j]


def jacobi_eigenvalues3(matrices, sweeps, values):
    """Cyclic rotations of a symmetric matrix; the eigenvalues in rising order."""
    t = cuda.grid(1)
    if t >= values.shape[0]:
        return
    a = cuda.local.array((3, 3), float64)
    for i in range(3):
        for j in range(3):
            a[i, j] = matrices[t, i, j]
    for _ in range(sweeps):
        for p in range(2):
            for q in range(p + 1, 3):
                if a[p, q] != 0.0:
                    theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                    sign = 1.0 if theta >= 0 else -1.0
                    tangent = sign / (abs(theta) + np.sqrt(theta * theta + 1))
                    cosine = 1 / np.sqrt(tangent * tangent + 1)
                    sine = tangent * cosine
                    for k in range(3):
                        left, right = a[k, p], a[k, q]
                        a[k, p] = cosine * left - sine * right
                        a[k, q] = sine * left + cosine * right
                    for k in range(3):
                        left, right = a[p, k], a[q, k]
                        a[p, k] = cosine * left - sine * right
                        a[q, k] = sine * left + cosine * right
    x, y, z = a[0, 0], a[1, 1], a[2, 2]
    values[t, 0] = min(x, y, z)
    values[t, 1] = max(min(x, y), min(max(x, y), z))
    values[t, 2] = max(x, y, z)


def householder4(matrices, triangles):
    """R of A = Q R by reflections."""
    t = cuda.grid(1)
    if t >= matrices.shape[0]:
        return
    r = cuda.local.array((4, 4), float64)
    v = cuda.local.array(4, float64)
    for i in range(4):
        for j in range(4):
            r[i, j] = matrices[t, i, j]
    for k in range(3):
        norm = 0.0
        for i in range(k, 4):
            v[i] = r[i, k]
            norm += v[i] * v[i]
        norm = np.sqrt(norm)
        v[k] += norm if v[k] >= 0 else -norm
        length = 0.0
        for i in range(k, 4):
            length += v[i] * v[i]
        if length == 0.0:
            continue
        for j in range(k, 4):
            dot = 0.0
            for i in range(k, 4):
                dot += v[i] * r[i, j]
            factor = 2 * dot / length
            for i in range(k, 4):
                r[i, j] -= factor * v[i]
    for i in range(4):
        for j in range(i, 4):
            triangles[t, i, j] = r[i, j]


def inverse_problem(rng, n):
    """n matrices whose diagonal dominates."""
    matrices = (rng.uniform(-1, 1, (n, 3, 3)) + 3 * np.eye(3)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 4000)
        m = matrices[some].astype(np.float64)
        exact, size = np.linalg.inv(m), np.abs(m).max(axis=(1, 2))[:, None, None]
        det = np.abs(np.linalg.det(m))[:, None, None]
        # A cofactor is off by 3 roundings of 2 size^2, the determinant by 6 of 6 size^3; then two
        # more roundings.
        bound = EPS32 / 2 * (3 * 2 * size**2 / det + np.abs(exact) * (6 * 6 * size**3 / det + 4))
        return [(some, exact, bound)]

    return Problem(
        (matrices, np.zeros((n, 3, 3), np.float32)), (n,), (1,), expected, threads=n, bytes=72 * n, flops=42 * n
    )


def lu_problem(rng, n):
    """Matrices whose rows are shuffled, so that most need exchanges."""
    matrices = rng.uniform(-1, 1, (n, 4, 4)).astype(np.float32)
    order = rng.permuted(np.broadcast_to(np.arange(4), (n, 4)), axis=1)
    matrices[np.arange(n)[:, None], np.arange(4), order] += np.float32(4)
    right = rng.uniform(-1, 1, (n, 4)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 4000)
        m, b = matrices[some].astype(np.float64), right[some].astype(np.float64)
        exact = np.linalg.solve(m, b[:, :, None])[:, :, 0]
        # Backward stable: 3 n roundings of |L| |U|, which grows by 8 at most with exchanges, and
        # cond carries them over.
        bound = 12 * 8 * EPS32 / 2 * np.linalg.cond(m, np.inf) * np.abs(exact).max(axis=1)
        return [(some, exact, bound[:, None])]

    return Problem(
        (matrices, right, np.zeros((n, 4), np.float32)), (n,), (2,), expected, threads=n, bytes=96 * n, flops=80 * n
    )


def cholesky_problem(rng, n):
    """n positive definite matrices, far from singular ones."""
    half = rng.uniform(-1, 1, (n, 8, 8))
    matrices = half @ half.transpose(0, 2, 1) + 4 * np.eye(8)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        exact = np.linalg.cholesky(matrices[some])
        # (n + 1) roundings of the matrix, carried over by its condition; NumPy's factor is off by
        # as much.
        bound = 2 * 9 * EPS64 * np.linalg.cond(matrices[some]) * np.abs(exact).max(axis=(1, 2))
        return [(some, exact, np.where(np.tri(8) == 0, 0, bound[:, None, None]))]

    return Problem(
        (matrices, np.zeros((n, 8, 8))), (n,), (1,), expected, threads=n, bytes=2 * 8 * 36 * n, flops=220 * n
    )


def eigen_problem(rng, n):
    """n symmetric matrices, seven sweeps."""
    half = rng.uniform(-1, 1, (n, 3, 3))
    matrices, sweeps = half + half.transpose(0, 2, 1), 7

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        sizes = np.abs(matrices[some]).sum(axis=(1, 2))
        # Each of 21 rotations rounds a dozen times; eigenvalues of a symmetric matrix move by no
        # more than it does.
        return [(some, np.linalg.eigvalsh(matrices[some]), 21 * 12 * EPS64 / 2 * sizes[:, None])]

    return Problem(
        (matrices, sweeps, np.zeros((n, 3))), (n,), (2,), expected, threads=n, bytes=96 * n, flops=21 * 60 * n
    )


def householder_problem(rng, n):
    """n matrices, most of them well conditioned."""
    matrices = rng.uniform(-1, 1, (n, 4, 4)) + 2 * np.eye(4)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        m = matrices[some]
        exact = np.linalg.qr(m).R
        # LAPACK has the same signs, but keeps the last row as it is, as the kernel does. A dozen
        # roundings in each of three reflections; R moves by as much as the matrix, times its
        # condition.
        bound = 2 * 3 * 12 * EPS64 * np.linalg.cond(m) * np.abs(m).sum(axis=(1, 2))
        return [(some, exact, np.where(np.tri(4, k=-1) == 1, 0, bound[:, None, None]))]

    return Problem(
        (matrices, np.zeros((n, 4, 4))), (n,), (1,), expected, threads=n, bytes=8 * 26 * n, flops=160 * n
    )


INVERSE = each(
    "inverse3x3(const float *matrices, float *inverses, int n)",
    """
    const float *m = matrices + 9 * t;
    float *out = inverses + 9 * t;
    float a = m[0], b = m[1], c = m[2], d = m[3], e = m[4], f = m[5], g = m[6], h = m[7], i = m[8];
    float x = e * i - f * h, y = f * g - d * i, z = d * h - e * g;
    float r = 1 / (a * x + b * y + c * z);
    out[0] = x * r;
    out[1] = (c * h - b * i) * r;
    out[2] = (b * f - c * e) * r;
    out[3] = y * r;
    out[4] = (a * i - c * g) * r;
    out[5] = (c * d - a * f) * r;
    out[6] = z * r;
    out[7] = (b * g - a * h) * r;
    out[8] = (a * e - b * d) * r;
""",
    index="t",
)

LU = each(
    "lu_solve4(const float *matrices, const float *right, float *solutions, int n)",
    """
    float m[4][5];
    for (INDEX i = 0; i < 4; i++) {
      for (INDEX j = 0; j < 4; j++)
        m[i][j] = matrices[16 * t + 4 * i + j];
      m[i][4] = right[4 * t + i];
    }
    for (INDEX k = 0; k < 4; k++) {
      INDEX pivot = k;
      for (INDEX i = k + 1; i < 4; i++)
        if (fabsf(m[i][k]) > fabsf(m[pivot][k]))
          pivot = i;
      if (pivot != k)
        for (INDEX j = k; j < 5; j++) {
          float other = m[k][j];
          m[k][j] = m[pivot][j];
          m[pivot][j] = other;
        }
      for (INDEX i = k + 1; i < 4; i++) {
        float factor = m[i][k] / m[k][k];
        for (INDEX j = k + 1; j < 5; j++)
          m[i][j] -= factor * m[k][j];
      }
    }
    for (INDEX i = 3; i >= 0; i--) {
      float s = m[i][4];
      for (INDEX j = i + 1; j < 4; j++)
        s -= m[i][j] * m[j][4];
      m[i][4] = s / m[i][i];
      solutions[4 * t + i] = m[i][4];
    }
""",
    index="t",
)

CHOLESKY = each(
    "cholesky8(const double *matrices, double *factors, int n)",
    """
    double lower[8][8];
    for (INDEX i = 0; i < 8; i++)
      for (INDEX j = 0; j <= i; j++) {
        double s = matrices[64 * t + 8 * i + j];
        for (INDEX k = 0; k < j; k++)
          s -= lower[i][k] * lower[j][k];
        if (i == j)
          lower[i][i] = sqrt(s);
        else
          lower[i][j] = s / lower[j][j];
      }
    for (INDEX i = 0; i < 8; i++)
      for (INDEX j = 0; j <= i; j++)
        factors[64 * t + 8 * i + j] = lower[i][j];
""",
    index="t",
)

EIGEN = each(
    "jacobi_eigenvalues3(const double *matrices, int sweeps, double *values, int n)",
    """
    double a[3][3];
    for (INDEX i = 0; i < 3; i++)
      for (INDEX j = 0; j < 3; j++)
        a[i][j] = matrices[9 * t + 3 * i + j];
    for (INDEX sweep = 0; sweep < sweeps; sweep++)
      for (INDEX p = 0; p < 2; p++)
        for (INDEX q = p + 1; q < 3; q++)
          if (a[p][q] != 0.0) {
            double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
            double sign = theta >= 0 ? 1.0 : -1.0;
            double tangent = sign / (fabs(theta) + sqrt(theta * theta + 1));
            double cosine = 1 / sqrt(tangent * tangent + 1), sine = tangent * cosine;
            for (INDEX k = 0; k < 3; k++) {
              double left = a[k][p], right = a[k][q];
              a[k][p] = cosine * left - sine * right;
              a[k][q] = sine * left + cosine * right;
            }
            for (INDEX k = 0; k < 3; k++) {
              double left = a[p][k], right = a[q][k];
              a[p][k] = cosine * left - sine * right;
              a[q][k] = sine * left + cosine * right;
            }
          }
    double x = a[0][0], y = a[1][1], z = a[2][2];
    values[3 * t] = fmin(fmin(x, y), z);
    values[3 * t + 1] = fmax(fmin(x, y), fmin(fmax(x, y), z));
    values[3 * t + 2] = fmax(fmax(x, y), z);
""",
    index="t",
)

HOUSEHOLDER = each(
    "householder4(const double *matrices, double *triangles, int n)",
    """
    double r[4][4], v[4];
    for (INDEX i = 0; i < 4; i++)
      for (INDEX j = 0; j < 4; j++)
        r[i][j] = matrices[16 * t + 4 * i + j];
    for (INDEX k = 0; k < 3; k++) {
      double norm = 0, length = 0;
      for (INDEX i = k; i < 4; i++) {
        v[i] = r[i][k];
        norm += v[i] * v[i];
      }
      norm = sqrt(norm);
      v[k] += v[k] >= 0 ? norm : -norm;
      for (INDEX i = k; i < 4; i++)
        length += v[i] * v[i];
      if (length == 0)
        continue;
      for (INDEX j = k; j < 4; j++) {
        double dot = 0;
        for (INDEX i = k; i < 4; i++)
          dot += v[i] * r[i][j];
        double factor = 2 * dot / length;
        for (INDEX i = k; i < 4; i++)
          r[i][j] -= factor * v[i];
      }
    }
    for (INDEX i = 0; i < 4; i++)
      for (INDEX j = i; j < 4; j++)
        triangles[16 * t + 4 * i + j] = r[i][j];
""",
    index="t",
)

CUBE32, CUBE64 = "float32[:,:,::1]", "float64[:,:,::1]"

KERNELS = [
    Kernel(
        "inverse of 3x3", inverse3x3, f"{CUBE32}, {CUBE32}", 128, inverse_problem,
        gpu=5_000_011, host=9_538_169, test=1013, sweep=LINE, **INVERSE,
    ),
    Kernel(
        "LU of 4x4 with exchanges", lu_solve4, f"{CUBE32}, float32[:,::1], float32[:,::1]", 128, lu_problem,
        gpu=5_000_011, host=200_003, test=1013, **LU,
    ),
    Kernel(
        "Cholesky of 8x8", cholesky8, f"{CUBE64}, {CUBE64}", 128, cholesky_problem,
        gpu=300_007, host=50_021, test=301, **CHOLESKY,
    ),
    Kernel(
        "eigenvalues of 3x3, Jacobi", jacobi_eigenvalues3, f"{CUBE64}, pyint, float64[:,::1]", 128, eigen_problem,
        gpu=1_000_003, host=50_021, test=301, **EIGEN,
    ),
    Kernel(
        "QR of 4x4, Householder", householder4, f"{CUBE64}, {CUBE64}", 128, householder_problem,
        gpu=1_000_003, host=100_003, test=301, **HOUSEHOLDER,
    ),
]  # fmt: skip
