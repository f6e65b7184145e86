"""Linear systems, a block each: parallel cyclic reduction, Gauss and Jordan's inverse."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed
from pyptx import cuda, float32, float64, int32


def cyclic_reduction(a, b, c, d, x):
    """Tridiagonal systems by parallel cyclic reduction: a block a system, a thread a row (512 at most)."""
    s = cuda.blockIdx.x
    i = cuda.threadIdx.x
    n = a.shape[1]
    la = cuda.shared.array(512, float32)
    lb = cuda.shared.array(512, float32)
    lc = cuda.shared.array(512, float32)
    ld = cuda.shared.array(512, float32)
    if i < n:
        la[i] = a[s, i] if i > 0 else 0.0
        lb[i] = b[s, i]
        lc[i] = c[s, i] if i < n - 1 else 0.0
        ld[i] = d[s, i]
    cuda.syncthreads()
    step = 1
    while step < n:
        na = float32(0.0)
        nb = float32(1.0)
        nc = float32(0.0)
        nd = float32(0.0)
        if i < n:
            nb = lb[i]
            nd = ld[i]
            if i >= step:
                k = -la[i] / lb[i - step]
                na = k * la[i - step]
                nb += k * lc[i - step]
                nd += k * ld[i - step]
            if i + step < n:
                k = -lc[i] / lb[i + step]
                nc = k * lc[i + step]
                nb += k * la[i + step]
                nd += k * ld[i + step]
        cuda.syncthreads()
        if i < n:
            la[i] = na
            lb[i] = nb
            lc[i] = nc
            ld[i] = nd
        cuda.syncthreads()
        step *= 2
    if i < n:
        x[s, i] = ld[i] / lb[i]


def gauss_jordan(matrices, inverses):
    """Inverses with exchanges of rows: a block a matrix of 24 rows at most, a thread a column of both halves."""
    which = cuda.blockIdx.x
    t = cuda.threadIdx.x
    n = matrices.shape[1]
    work = cuda.shared.array((24, 48), float64)
    factors = cuda.shared.array(24, float64)
    chosen = cuda.shared.array(1, int32)
    if t < 2 * n:
        for r in range(n):
            if t < n:
                work[r, t] = matrices[which, r, t]
            else:
                work[r, t] = 1.0 if t - n == r else 0.0
    cuda.syncthreads()
    for k in range(n):
        if t == 0:
            p = k
            for r in range(k + 1, n):
                if abs(work[r, k]) > abs(work[p, k]):
                    p = r
            chosen[0] = p
        cuda.syncthreads()
        p = int(chosen[0])
        if t < 2 * n and p != k:
            v = work[k, t]
            work[k, t] = work[p, t]
            work[p, t] = v
        cuda.syncthreads()
        if t < n:
            factors[t] = work[t, k]
        cuda.syncthreads()
        if t < 2 * n:
            v = work[k, t] / factors[k]
            work[k, t] = v
            for r in range(n):
                if r != k:
                    work[r, t] -= factors[r] * v
        cuda.syncthreads()
    if n <= t < 2 * n:
        for r in range(n):
            inverses[which, r, t - n] = work[r, t]


def cyclic_problem(rng, n):
    rows = 500
    a, c = (np.float32(rng.uniform(-1, 1, (n, rows))) for _ in range(2))
    b, d = np.float32(rng.uniform(2.5, 4, (n, rows))), rng.standard_normal((n, rows), dtype=np.float32)

    def expected():
        at = sampled(rng, n, 100)
        la, lb, lc, ld = (v[at].astype(float) for v in (a, b, c, d))
        for i in range(1, rows):
            k = la[:, i] / lb[:, i - 1]
            lb[:, i] -= k * lc[:, i - 1]
            ld[:, i] -= k * ld[:, i - 1]
        x = np.empty((at.size, rows))
        x[:, -1] = ld[:, -1] / lb[:, -1]
        for i in range(rows - 2, -1, -1):
            x[:, i] = (ld[:, i] - lc[:, i] * x[:, i + 1]) / lb[:, i]
        # Nine steps of some ten roundings, each next to a diagonal that dominates; values are below 6.
        return [(at, x, 90 * EPS32)]

    args = (a, b, c, d, np.zeros((n, rows), np.float32))
    return Problem(args, (n, rows), (4,), expected, grid=n, bytes=20.0 * a.size)


def jordan_problem(rng, n):
    rows = 19
    matrices = rng.standard_normal((n, rows, rows))
    order = rng.random((n, rows)).argsort(1)
    matrices[np.arange(n)[:, None], np.arange(rows), order] += 12.0  # condition below 100, rows to be exchanged

    def expected():
        at = sampled(rng, n, 2000)
        return [(at, np.linalg.inv(matrices[at]), 1e-13)]  # elements below 1, 19 steps, condition below 100

    args = (matrices, np.zeros_like(matrices))
    return Problem(args, (n, rows), (1,), expected, grid=n, bytes=16.0 * matrices.size, flops=4.0 * n * rows**3)


CYCLIC_HEAD = """cyclic_reduction(const float *a, const float *b, const float *c, const float *d, float *x, int count,
                      int n)"""
CYCLIC = indexed(
    f"""
__global__ void {CYCLIC_HEAD} {{
  __shared__ float la[512], lb[512], lc[512], ld[512];
  INDEX s = blockIdx.x, i = threadIdx.x;
  if (i < n) {{
    la[i] = i > 0 ? a[s * n + i] : 0;
    lb[i] = b[s * n + i];
    lc[i] = i < n - 1 ? c[s * n + i] : 0;
    ld[i] = d[s * n + i];
  }}
  __syncthreads();
  for (INDEX step = 1; step < n; step *= 2) {{
    float na = 0, nb = 1, nc = 0, nd = 0;
    if (i < n) {{
      nb = lb[i];
      nd = ld[i];
      if (i >= step) {{
        float k = -la[i] / lb[i - step];
        na = k * la[i - step];
        nb += k * lc[i - step];
        nd += k * ld[i - step];
      }}
      if (i + step < n) {{
        float k = -lc[i] / lb[i + step];
        nc = k * lc[i + step];
        nb += k * la[i + step];
        nd += k * ld[i + step];
      }}
    }}
    __syncthreads();
    if (i < n) {{
      la[i] = na;
      lb[i] = nb;
      lc[i] = nc;
      ld[i] = nd;
    }}
    __syncthreads();
  }}
  if (i < n) x[s * n + i] = ld[i] / lb[i];
}}
""",
    f"""
void {CYCLIC_HEAD} {{
#pragma omp parallel for
  for (INDEX s = 0; s < count; s++) {{
    float lb[512], ld[512];
    lb[0] = b[s * n];
    ld[0] = d[s * n];
    for (INDEX i = 1; i < n; i++) {{
      float k = a[s * n + i] / lb[i - 1];
      lb[i] = b[s * n + i] - k * c[s * n + i - 1];
      ld[i] = d[s * n + i] - k * ld[i - 1];
    }}
    x[s * n + n - 1] = ld[n - 1] / lb[n - 1];
    for (INDEX i = n - 2; i >= 0; i--)
      x[s * n + i] = (ld[i] - c[s * n + i] * x[s * n + i + 1]) / lb[i];
  }}
}}
""",
)

JORDAN_HEAD = "gauss_jordan(const double *matrices, double *inverses, int count, int n)"
JORDAN = indexed(
    f"""
__global__ void {JORDAN_HEAD} {{
  __shared__ double work[24][48], factors[24];
  __shared__ int chosen;
  INDEX which = blockIdx.x, t = threadIdx.x;
  if (t < 2 * n)
    for (INDEX r = 0; r < n; r++)
      work[r][t] = t < n ? matrices[(which * n + r) * n + t] : (t - n == r ? 1.0 : 0.0);
  __syncthreads();
  for (INDEX k = 0; k < n; k++) {{
    if (t == 0) {{
      INDEX p = k;
      for (INDEX r = k + 1; r < n; r++)
        if (fabs(work[r][k]) > fabs(work[p][k])) p = r;
      chosen = p;
    }}
    __syncthreads();
    INDEX p = chosen;
    if (t < 2 * n && p != k) {{
      double v = work[k][t];
      work[k][t] = work[p][t];
      work[p][t] = v;
    }}
    __syncthreads();
    if (t < n) factors[t] = work[t][k];
    __syncthreads();
    if (t < 2 * n) {{
      double v = work[k][t] / factors[k];
      work[k][t] = v;
      for (INDEX r = 0; r < n; r++)
        if (r != k) work[r][t] -= factors[r] * v;
    }}
    __syncthreads();
  }}
  if (t >= n && t < 2 * n)
    for (INDEX r = 0; r < n; r++)
      inverses[(which * n + r) * n + t - n] = work[r][t];
}}
""",
    f"""
void {JORDAN_HEAD} {{
#pragma omp parallel for
  for (INDEX which = 0; which < count; which++) {{
    double work[24][48];
    for (INDEX r = 0; r < n; r++)
      for (INDEX t = 0; t < n; t++) {{
        work[r][t] = matrices[(which * n + r) * n + t];
        work[r][n + t] = t == r;
      }}
    for (INDEX k = 0; k < n; k++) {{
      INDEX p = k;
      for (INDEX r = k + 1; r < n; r++)
        if (fabs(work[r][k]) > fabs(work[p][k])) p = r;
      if (p != k)
        for (INDEX t = 0; t < 2 * n; t++) {{
          double v = work[k][t];
          work[k][t] = work[p][t];
          work[p][t] = v;
        }}
      double pivot = work[k][k];
      for (INDEX t = 0; t < 2 * n; t++)
        work[k][t] /= pivot;
      for (INDEX r = 0; r < n; r++) {{
        double factor = work[r][k];
        if (r != k)
          for (INDEX t = 0; t < 2 * n; t++)
            work[r][t] -= factor * work[k][t];
      }}
    }}
    for (INDEX r = 0; r < n; r++)
      for (INDEX t = 0; t < n; t++)
        inverses[(which * n + r) * n + t] = work[r][n + t];
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "parallel cyclic reduction", cyclic_reduction,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1]", 512,
        cyclic_problem,
        gpu=4003, host=103, test=3, kind="shared", **CYCLIC,
    ),
    Kernel(
        "inverses, Gauss and Jordan", gauss_jordan, "float64[:,:,::1], float64[:,:,::1]", 64, jordan_problem,
        gpu=10_007, host=203, test=7, kind="shared", **JORDAN,
    ),
]  # fmt: skip
