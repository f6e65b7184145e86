"""Worlds: ropes, crystals that branch, times of arrival, stiff reactions."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32, float64

FAR = np.float32(1e9)


def rope_steps(places, before, steps, passes, length, gravity, out):
    """Verlet's ropes of up to 256 knots, the first one fixed: a block a rope; even and odd links are set
    right in turn.
    """
    now = cuda.shared.array((256, 3), float32)
    knot = cuda.threadIdx.x
    rope = cuda.blockIdx.x
    count = places.shape[1]
    inside = knot < count
    if inside:
        for c in range(3):
            now[knot, c] = places[rope, knot, c]
        old_x, old_y, old_z = before[rope, knot, 0], before[rope, knot, 1], before[rope, knot, 2]
    else:
        old_x = old_y = old_z = float32(0)
    for _ in range(steps):
        if 0 < knot < count:
            x, y, z = now[knot, 0], now[knot, 1], now[knot, 2]
            now[knot, 0] = x + (x - old_x)
            now[knot, 1] = y + (y - old_y) - gravity
            now[knot, 2] = z + (z - old_z)
            old_x, old_y, old_z = x, y, z
        cuda.syncthreads()
        for turn in range(2 * passes):
            if knot % 2 == turn % 2 and knot + 1 < count:
                dx = now[knot + 1, 0] - now[knot, 0]
                dy = now[knot + 1, 1] - now[knot, 1]
                dz = now[knot + 1, 2] - now[knot, 2]
                distance = math.sqrt(dx * dx + dy * dy + dz * dz)
                excess = (distance - length) / distance
                share = float32(0.5) if knot > 0 else float32(0)
                now[knot, 0] += dx * excess * share
                now[knot, 1] += dy * excess * share
                now[knot, 2] += dz * excess * share
                now[knot + 1, 0] -= dx * excess * (1 - share)
                now[knot + 1, 1] -= dy * excess * (1 - share)
                now[knot + 1, 2] -= dz * excess * (1 - share)
            cuda.syncthreads()
    if inside:
        out[rope, knot, 0], out[rope, knot, 1], out[rope, knot, 2] = now[knot, 0], now[knot, 1], now[knot, 2]


def crystal_flux(across, along, anisotropy):
    """The flux through a face of what grows faster along the axes of a square."""
    ss = across * across
    tt = along * along
    size = ss + tt
    if size < float32(1e-12):
        return across
    fourth = (ss * ss + tt * tt) / (size * size)
    width = 1 - 3 * anisotropy + 4 * anisotropy * fourth
    turn = 16 * anisotropy * across * (ss * size - ss * ss - tt * tt) / (size * size)
    return width * width * across + width * turn


def crystal_step(phase, heat, coupling, anisotropy, dt, new_phase):
    """A step of a crystal's phase field by fluxes of four faces; the border stays."""
    col, row = cuda.grid(2)
    rows, cols = phase.shape
    if row >= rows or col >= cols:
        return
    here = phase[row, col]
    if row == 0 or col == 0 or row == rows - 1 or col == cols - 1:
        new_phase[row, col] = here
        return
    n, s = phase[row - 1, col], phase[row + 1, col]
    w, e = phase[row, col - 1], phase[row, col + 1]
    nw, ne = phase[row - 1, col - 1], phase[row - 1, col + 1]
    sw, se = phase[row + 1, col - 1], phase[row + 1, col + 1]
    quarter = float32(0.25)
    right = crystal_flux(e - here, quarter * (s + se - n - ne), anisotropy)
    left = crystal_flux(here - w, quarter * (s + sw - n - nw), anisotropy)
    below = crystal_flux(s - here, quarter * (e + se - w - sw), anisotropy)
    above = crystal_flux(here - n, quarter * (e + ne - w - nw), anisotropy)
    rest = 1 - here * here
    driven = here * rest - coupling * heat[row, col] * rest * rest
    new_phase[row, col] = here + dt * (right - left + below - above + driven)


def arrival(a, b, c, h):
    """Godunov's solution of the eikonal equation from the least neighbours along three axes."""
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    t = a + h
    if t > b:
        t = (a + b + math.sqrt(2 * h * h - (a - b) * (a - b))) / 2
        if t > c:
            s = a + b + c
            q = s * s - 3 * (a * a + b * b + c * c - h * h)
            t = (s + math.sqrt(max(q, 0))) / 3
    return t


def arrival_step(times, slowness, new_times):
    """A sweep over all cells in space for the time at which a front arrives."""
    col, row, level = cuda.grid(3)
    depth, rows, cols = times.shape
    if level >= depth or row >= rows or col >= cols:
        return
    a = min(times[level, row, col - 1] if col > 0 else FAR, times[level, row, col + 1] if col + 1 < cols else FAR)
    b = min(times[level, row - 1, col] if row > 0 else FAR, times[level, row + 1, col] if row + 1 < rows else FAR)
    c = min(times[level - 1, row, col] if level > 0 else FAR, times[level + 1, row, col] if level + 1 < depth else FAR)
    t = times[level, row, col]
    if min(a, b, c) < FAR:
        t = min(t, arrival(a, b, c, slowness[level, row, col]))
    new_times[level, row, col] = t


def reaction_rates(y, rates):
    """Robertson's three substances."""
    slow = rates[0] * y[0]
    back = rates[1] * y[1] * y[2]
    fast = rates[2] * y[1] * y[1]
    return back - slow, slow - back - fast, fast


def solved3(m, r0, r1, r2):
    """The solution of three equations by Cramer's rule."""
    c0 = m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1]
    c1 = m[1, 2] * m[2, 0] - m[1, 0] * m[2, 2]
    c2 = m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0]
    d = m[0, 0] * c0 + m[0, 1] * c1 + m[0, 2] * c2
    x = r0 * c0 + m[0, 1] * (m[1, 2] * r2 - r1 * m[2, 2]) + m[0, 2] * (r1 * m[2, 1] - m[1, 1] * r2)
    y = m[0, 0] * (r1 * m[2, 2] - m[1, 2] * r2) + r0 * c1 + m[0, 2] * (m[1, 0] * r2 - r1 * m[2, 0])
    z = m[0, 0] * (m[1, 1] * r2 - r1 * m[2, 1]) + m[0, 1] * (r1 * m[2, 0] - m[1, 0] * r2) + r0 * c2
    return x / d, y / d, z / d


def stiff_reactions(rates, start, steps, dt, out):
    """Rosenbrock's method of second order for stiff reactions; a thread an experiment."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    y = cuda.local.array(3, float64)
    stage = cuda.local.array(3, float64)
    m = cuda.local.array((3, 3), float64)
    k = rates[i]
    for c in range(3):
        y[c] = start[i, c]
    gamma = 1 + 1 / math.sqrt(2)
    for _ in range(steps):
        g = gamma * dt
        m[0, 0], m[0, 1], m[0, 2] = 1 + g * k[0], -g * k[1] * y[2], -g * k[1] * y[1]
        m[1, 0], m[1, 1], m[1, 2] = -g * k[0], 1 + g * (k[1] * y[2] + 2 * k[2] * y[1]), g * k[1] * y[1]
        m[2, 0], m[2, 1], m[2, 2] = 0, -2 * g * k[2] * y[1], 1
        f0, f1, f2 = reaction_rates(y, k)
        a0, a1, a2 = solved3(m, f0, f1, f2)
        stage[0], stage[1], stage[2] = y[0] + dt * a0, y[1] + dt * a1, y[2] + dt * a2
        f0, f1, f2 = reaction_rates(stage, k)
        b0, b1, b2 = solved3(m, f0 - 2 * a0, f1 - 2 * a1, f2 - 2 * a2)
        y[0] += dt * (1.5 * a0 + 0.5 * b0)
        y[1] += dt * (1.5 * a1 + 0.5 * b1)
        y[2] += dt * (1.5 * a2 + 0.5 * b2)
    for c in range(3):
        out[i, c] = y[c]


def rope_problem(rng, n):
    count, steps, passes, length, gravity = 111, 6, 5, np.float32(0.1), np.float32(0.0008)
    links = rng.standard_normal((n, count, 3))
    links *= 0.1 * rng.uniform(0.9, 1.1, (n, count, 1)) / np.linalg.norm(links, axis=2, keepdims=True)
    links[:, 0] = 0
    places = np.cumsum(links, 1).astype(np.float32)
    before = (places + 0.002 * rng.standard_normal(places.shape)).astype(np.float32)

    def expected():
        at = sampled(rng, n, 200)
        p, old = places[at].astype(float), before[at].astype(float)
        share = np.where(np.arange(count - 1) > 0, 0.5, 0.0)[None, :, None]
        for _ in range(steps):
            moved = p + (p - old)
            moved[:, :, 1] -= gravity
            moved[:, 0] = p[:, 0]
            p, old = moved, p
            for turn in range(2 * passes):
                link = slice(turn % 2, None, 2)
                d = (p[:, 1:] - p[:, :-1])[:, link]
                size = np.sqrt((d * d).sum(2, keepdims=True))
                d = d * (size - length) / size
                p[:, :-1][:, link] += d * share[:, link]
                p[:, 1:][:, link] -= d * (1 - share[:, link])
        # A link set right moves knots by what it rounds, and passes on its knots' errors, at most three times
        # a step together with the step itself: 3**steps of the roundings of a step.
        error = 3**steps * 2 * passes * EPS32 * np.abs(p).max()
        return [(at, p, error)]

    args = (places, before, steps, passes, length, gravity, np.full(places.shape, 99, np.float32))
    return Problem(
        args, (n, count), (6,), expected, grid=n, bytes=36.0 * n * count, flops=30.0 * n * count * steps * passes,
    )  # fmt: skip


def crystal_problem(rng, n):
    rows, cols = n, n + 7
    coupling, anisotropy, dt = np.float32(2), np.float32(0.05), np.float32(0.05)
    y, x = np.mgrid[:rows, :cols]
    waves = np.sin(x / 7) + np.sin(y / 9)
    phase = (np.tanh(2 * waves) + 0.01 * rng.standard_normal((rows, cols))).astype(np.float32)
    heat = (rng.random((rows, cols)) - 0.55).astype(np.float32)

    def expected():
        at = sampled(rng, rows - 2, 300)  # of the rows between the first and the last
        p, k = phase.astype(float), float(anisotropy)

        def flux(across, along):
            ss, tt = across**2, along**2
            size = np.maximum(ss + tt, 1e-300)
            fourth = (ss * ss + tt * tt) / size**2
            width = 1 - 3 * k + 4 * k * fourth
            turn = 16 * k * across * (ss * size - ss * ss - tt * tt) / size**2
            return np.where(size < 1e-12, across, width * width * across + width * turn)

        up, mid, down = p[at], p[at + 1], p[at + 2]
        n_, s, w, e = up[:, 1:-1], down[:, 1:-1], mid[:, :-2], mid[:, 2:]
        nw, ne, sw, se, here = up[:, :-2], up[:, 2:], down[:, :-2], down[:, 2:], mid[:, 1:-1]
        fluxes = (
            flux(e - here, (s + se - n_ - ne) / 4) - flux(here - w, (s + sw - n_ - nw) / 4)
            + flux(s - here, (e + se - w - sw) / 4) - flux(here - n_, (e + ne - w - nw) / 4)
        )  # fmt: skip
        rest = 1 - here**2
        lines = np.concatenate([[0], at + 1, [rows - 1]])
        out = p[lines]
        out[1:-1, 1:-1] += float(dt) * (fluxes + here * rest - float(coupling) * heat[at + 1, 1:-1] * rest**2)
        # Differences of numbers up to 1.1 are off by 2 roundings of those, and their directions with them.
        return [(lines, out, 100 * EPS32 * float(dt) + 2 * EPS32)]

    args = (phase, heat, coupling, anisotropy, dt, np.zeros((rows, cols), np.float32))
    return Problem(
        args, (rows, cols), (5,), expected, threads=(cols, rows), bytes=12.0 * rows * cols, flops=120.0 * rows * cols,
    )  # fmt: skip


def arrival_problem(rng, n):
    shape = (n, n + 3, n + 10)
    slowness = rng.uniform(0.5, 1.5, shape).astype(np.float32)
    z, y, x = np.mgrid[: shape[0], : shape[1], : shape[2]]
    away = np.sqrt((z - n / 3) ** 2 + (y - n / 2) ** 2 + (x - n / 2) ** 2)
    times = (away + rng.random(shape)).astype(np.float32)
    times[away > 0.45 * n] = FAR

    def expected():
        at = sampled(rng, shape[0], 50)
        t = np.pad(times, 1, constant_values=FAR)
        h = slowness[at].astype(float)
        here = t[at + 1].astype(float)
        sides = [np.minimum(t[at], t[at + 2])[:, 1:-1, 1:-1]]
        sides += [np.minimum(np.roll(here, 1, k), np.roll(here, -1, k))[:, 1:-1, 1:-1] for k in (1, 2)]
        a, b, c = np.sort(sides, 0)
        far = a >= FAR
        a, b, c = np.where(far, 0, a), np.where(far, 0, b), np.where(far, 0, c)
        out = a + h
        two = (a + b + np.sqrt(np.maximum(2 * h * h - (a - b) ** 2, 0))) / 2
        three = (a + b + c + np.sqrt(np.maximum((a + b + c) ** 2 - 3 * (a * a + b * b + c * c - h * h), 0))) / 3
        out = np.where(out > b, np.where(two > c, three, two), out)
        out = np.where(far, times[at], np.minimum(times[at], out))
        # The third root is of the difference of squares, both rounded.
        sizes = np.where(out < FAR / 2, out, 1)
        return [(at, out, np.where(far, 0, 8 * EPS32 * sizes + 40 * EPS32 * sizes**2 / h))]

    args = (times, slowness, np.zeros(shape, np.float32))
    return Problem(args, shape, (2,), expected, threads=shape[::-1], bytes=12.0 * times.size, flops=30.0 * times.size)


def reactions_problem(rng, n):
    steps, dt = 60, np.float64(0.05)
    rates = np.array([0.04, 1e4, 3e7]) * rng.uniform(0.5, 2, (n, 3))
    start = np.stack([rng.uniform(0.5, 1, n), np.full(n, 1e-5), rng.uniform(0.01, 0.3, n)], 1)

    def expected():
        at = sampled(rng, n, 1000)
        k, y = rates[at], start[at]
        gamma = 1 + 1 / math.sqrt(2)

        def flow(y):
            slow, back, fast = k[:, 0] * y[:, 0], k[:, 1] * y[:, 1] * y[:, 2], k[:, 2] * y[:, 1] ** 2
            return np.stack([back - slow, slow - back - fast, fast], 1)

        for _ in range(steps):
            zero = np.zeros(len(at))
            jacobian = np.stack([
                np.stack([-k[:, 0], k[:, 1] * y[:, 2], k[:, 1] * y[:, 1]], 1),
                np.stack([k[:, 0], -k[:, 1] * y[:, 2] - 2 * k[:, 2] * y[:, 1], -k[:, 1] * y[:, 1]], 1),
                np.stack([zero, 2 * k[:, 2] * y[:, 1], zero], 1),
            ], 1)  # fmt: skip
            m = np.eye(3) - gamma * dt * jacobian
            a = np.linalg.solve(m, flow(y)[..., None])[..., 0]
            b = np.linalg.solve(m, (flow(y + dt * a) - 2 * a)[..., None])[..., 0]
            y = y + dt * (1.5 * a + 0.5 * b)
        # Rates of up to 1e3 cancel to about 1, as do the determinants.
        return [(at, y, 1e3 * EPS64 * steps)]

    args = (rates, start, steps, dt, np.full((n, 3), -1.0))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=72.0 * n, flops=180.0 * n * steps)


ROPE_HEAD = """rope_steps(const float *__restrict__ places, const float *__restrict__ before, int steps, int passes,
                    float length,
                float gravity, float *__restrict__ out, int n, int count)"""
ROPE_LINK = """
        float dx = now[knot + 1][0] - now[knot][0], dy = now[knot + 1][1] - now[knot][1],
          dz = now[knot + 1][2] - now[knot][2];
        float distance = sqrtf(dx * dx + dy * dy + dz * dz), excess = (distance - length) / distance;
        float share = knot > 0 ? 0.5f : 0.0f;
        now[knot][0] += dx * excess * share;
        now[knot][1] += dy * excess * share;
        now[knot][2] += dz * excess * share;
        now[knot + 1][0] -= dx * excess * (1 - share);
        now[knot + 1][1] -= dy * excess * (1 - share);
        now[knot + 1][2] -= dz * excess * (1 - share);
"""
ROPES = indexed(
    f"""
__global__ void {ROPE_HEAD} {{
  __shared__ float now[256][3];
  INDEX knot = threadIdx.x, rope = blockIdx.x, at = (rope * count + knot) * 3;
  float old_x = 0, old_y = 0, old_z = 0;
  if (knot < count) {{
    for (int c = 0; c < 3; c++)
      now[knot][c] = places[at + c];
    old_x = before[at];
    old_y = before[at + 1];
    old_z = before[at + 2];
  }}
  for (INDEX step = 0; step < steps; step++) {{
    if (0 < knot && knot < count) {{
      float x = now[knot][0], y = now[knot][1], z = now[knot][2];
      now[knot][0] = x + (x - old_x);
      now[knot][1] = y + (y - old_y) - gravity;
      now[knot][2] = z + (z - old_z);
      old_x = x;
      old_y = y;
      old_z = z;
    }}
    __syncthreads();
    for (INDEX turn = 0; turn < 2 * passes; turn++) {{
      if (knot % 2 == turn % 2 && knot + 1 < count) {{{ROPE_LINK}      }}
      __syncthreads();
    }}
  }}
  if (knot < count)
    for (int c = 0; c < 3; c++)
      out[at + c] = now[knot][c];
}}
""",
    f"""
void {ROPE_HEAD} {{
#pragma omp parallel for
  for (INDEX rope = 0; rope < n; rope++) {{
    float now[256][3], old[256][3];
    for (INDEX knot = 0; knot < count; knot++)
      for (int c = 0; c < 3; c++) {{
        now[knot][c] = places[(rope * count + knot) * 3 + c];
        old[knot][c] = before[(rope * count + knot) * 3 + c];
      }}
    for (INDEX step = 0; step < steps; step++) {{
      for (INDEX knot = 1; knot < count; knot++)
        for (int c = 0; c < 3; c++) {{
          float x = now[knot][c];
          now[knot][c] = x + (x - old[knot][c]) - (c == 1 ? gravity : 0.0f);
          old[knot][c] = x;
        }}
      for (INDEX turn = 0; turn < 2 * passes; turn++)
        for (INDEX knot = turn % 2; knot + 1 < count; knot += 2) {{{ROPE_LINK}        }}
    }}
    for (INDEX knot = 0; knot < count; knot++)
      for (int c = 0; c < 3; c++)
        out[(rope * count + knot) * 3 + c] = now[knot][c];
  }}
}}
""",
)

CRYSTAL = plane(
    """crystal_step(const float *__restrict__ phase, const float *__restrict__ heat, float coupling, float anisotropy,
                 float dt, float *__restrict__ new_phase, int rows, int cols)""",
    """
    INDEX at = row * cols + col;
    float here = phase[at];
    if (row == 0 || col == 0 || row == rows - 1 || col == cols - 1) {
      new_phase[at] = here;
    } else {
      const float *up = phase + at - cols, *down = phase + at + cols;
      float n = up[0], s = down[0], w = phase[at - 1], e = phase[at + 1];
      float nw = up[-1], ne = up[1], sw = down[-1], se = down[1];
      float right = crystal_flux(e - here, 0.25f * (s + se - n - ne), anisotropy);
      float left = crystal_flux(here - w, 0.25f * (s + sw - n - nw), anisotropy);
      float below = crystal_flux(s - here, 0.25f * (e + se - w - sw), anisotropy);
      float above = crystal_flux(here - n, 0.25f * (e + ne - w - nw), anisotropy);
      float rest = 1 - here * here, driven = here * rest - coupling * heat[at] * rest * rest;
      new_phase[at] = here + dt * (right - left + below - above + driven);
    }
""",
    before="""
DEVICE float crystal_flux(float across, float along, float anisotropy) {
  float ss = across * across, tt = along * along, size = ss + tt;
  if (size < 1e-12f) return across;
  float fourth = (ss * ss + tt * tt) / (size * size), width = 1 - 3 * anisotropy + 4 * anisotropy * fourth;
  float turn = 16 * anisotropy * across * (ss * size - ss * ss - tt * tt) / (size * size);
  return width * width * across + width * turn;
}
""",
)

ARRIVAL_HEAD = """arrival_step(const float *__restrict__ times, const float *__restrict__ slowness,
                    float *__restrict__ new_times,
                  int depth, int rows, int cols)"""
ARRIVAL_BEFORE = """
DEVICE float arrival_time(float a, float b, float c, float h) {
  float swap;
  if (a > b) { swap = a; a = b; b = swap; }
  if (b > c) { swap = b; b = c; c = swap; }
  if (a > b) { swap = a; a = b; b = swap; }
  float t = a + h;
  if (t > b) {
    t = (a + b + sqrtf(2 * h * h - (a - b) * (a - b))) / 2;
    if (t > c) {
      float s = a + b + c, q = s * s - 3 * (a * a + b * b + c * c - h * h);
      t = (s + sqrtf(fmaxf(q, 0))) / 3;
    }
  }
  return t;
}
"""
ARRIVAL_BODY = """
    const float far = 1e9f;
    INDEX layer = (INDEX)rows * cols, at = level * layer + row * cols + col;
    float a = fminf(col > 0 ? times[at - 1] : far, col + 1 < cols ? times[at + 1] : far);
    float b = fminf(row > 0 ? times[at - cols] : far, row + 1 < rows ? times[at + cols] : far);
    float c = fminf(level > 0 ? times[at - layer] : far, level + 1 < depth ? times[at + layer] : far), t = times[at];
    if (fminf(fminf(a, b), c) < far) t = fminf(t, arrival_time(a, b, c, slowness[at]));
    new_times[at] = t;
"""
ARRIVAL = indexed(
    f"""{ARRIVAL_BEFORE}
__global__ void {ARRIVAL_HEAD} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX level = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (level < depth && row < rows && col < cols) {{{ARRIVAL_BODY}  }}
}}
""",
    f"""{ARRIVAL_BEFORE}
void {ARRIVAL_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX level = 0; level < depth; level++)
    for (INDEX row = 0; row < rows; row++)
      for (INDEX col = 0; col < cols; col++) {{{ARRIVAL_BODY}      }}
}}
""",
)

REACTIONS = each(
    """stiff_reactions(const double *__restrict__ rates, const double *__restrict__ start, int steps, double dt,
                    double *__restrict__ out, int n)""",
    """
    const double *k = rates + 3 * i, gamma = 1 + 1 / sqrt(2.0);
    double y[3], stage[3], m[3][3], f[3], a[3], b[3];
    for (int c = 0; c < 3; c++)
      y[c] = start[3 * i + c];
    for (INDEX step = 0; step < steps; step++) {
      double g = gamma * dt;
      m[0][0] = 1 + g * k[0];
      m[0][1] = -g * k[1] * y[2];
      m[0][2] = -g * k[1] * y[1];
      m[1][0] = -g * k[0];
      m[1][1] = 1 + g * (k[1] * y[2] + 2 * k[2] * y[1]);
      m[1][2] = g * k[1] * y[1];
      m[2][0] = 0;
      m[2][1] = -2 * g * k[2] * y[1];
      m[2][2] = 1;
      reaction_flow(y, k, f);
      reaction_solve(m, f, a);
      for (int c = 0; c < 3; c++)
        stage[c] = y[c] + dt * a[c];
      reaction_flow(stage, k, f);
      for (int c = 0; c < 3; c++)
        f[c] -= 2 * a[c];
      reaction_solve(m, f, b);
      for (int c = 0; c < 3; c++)
        y[c] += dt * (1.5 * a[c] + 0.5 * b[c]);
    }
    for (int c = 0; c < 3; c++)
      out[3 * i + c] = y[c];
""",
    before="""
DEVICE void reaction_flow(const double *y, const double *k, double *f) {
  double slow = k[0] * y[0], back = k[1] * y[1] * y[2], fast = k[2] * y[1] * y[1];
  f[0] = back - slow;
  f[1] = slow - back - fast;
  f[2] = fast;
}
DEVICE void reaction_solve(double m[3][3], const double *r, double *x) {
  double c0 = m[1][1] * m[2][2] - m[1][2] * m[2][1], c1 = m[1][2] * m[2][0] - m[1][0] * m[2][2];
  double c2 = m[1][0] * m[2][1] - m[1][1] * m[2][0], d = m[0][0] * c0 + m[0][1] * c1 + m[0][2] * c2;
  x[0] = (r[0] * c0 + m[0][1] * (m[1][2] * r[2] - r[1] * m[2][2]) + m[0][2] * (r[1] * m[2][1] - m[1][1] * r[2])) / d;
  x[1] = (m[0][0] * (r[1] * m[2][2] - m[1][2] * r[2]) + r[0] * c1 + m[0][2] * (m[1][0] * r[2] - r[1] * m[2][0])) / d;
  x[2] = (m[0][0] * (m[1][1] * r[2] - r[1] * m[2][1]) + m[0][1] * (r[1] * m[2][0] - m[1][0] * r[2]) + r[0] * c2) / d;
}
""",
)

KERNELS = [
    Kernel(
        "ropes", rope_steps, "float32[:,:,::1], float32[:,:,::1], pyint, pyint, float32, float32, float32[:,:,::1]",
        128,
        rope_problem,
        gpu=20_011, host=1003, test=3, kind="shared", **ROPES,
    ),
    Kernel(
        "crystals that branch",
        crystal_step, "float32[:,::1], float32[:,::1], float32, float32, float32, float32[:,::1]",
        (32, 8), crystal_problem,
        gpu=3001, host=401, test=51, power=2, kind="stencil", **CRYSTAL,
    ),
    Kernel(
        "times of arrival", arrival_step, "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1]",
        (32, 4, 2), arrival_problem,
        gpu=301, host=81, test=17, power=3, kind="stencil", **ARRIVAL,
    ),
    Kernel(
        "stiff reactions", stiff_reactions, "float64[:,::1], float64[:,::1], pyint, float64, float64[:,::1]", 128,
        reactions_problem,
        gpu=200_003, host=5003, test=131, **REACTIONS,
    ),
]  # fmt: skip
