"""Sequences: a Kalman filter for each track, epidemics event by event, the forward algorithm of hidden
Markov models, time warping within a band, the commonest number of each group.

After Kalman, Gillespie, Rabiner, Sakoe and Chiba.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64, uint32

STATES = 64  # threads of a block, no fewer than states


def kalman_tracks(measured, model, noise, error, states):
    """State (x, y, vx, vy) of each track; x and y are measured, with the same error both."""
    i = cuda.grid(1)
    if i >= states.shape[0]:
        return
    s = cuda.local.array(4, float64)
    new = cuda.local.array(4, float64)
    p = cuda.local.array((4, 4), float64)
    t = cuda.local.array((4, 4), float64)
    gain = cuda.local.array((4, 2), float64)
    for a in range(4):
        s[a] = states[i, a]
        for b in range(4):
            p[a, b] = 1.0 if a == b else 0.0
    for step in range(measured.shape[0]):
        for a in range(4):
            acc = 0.0
            for k in range(4):
                acc += model[a, k] * s[k]
            new[a] = acc
            for b in range(4):
                acc = 0.0
                for k in range(4):
                    acc += model[a, k] * p[k, b]
                t[a, b] = acc
        for a in range(4):
            s[a] = new[a]
            for b in range(4):
                acc = noise[a, b]
                for k in range(4):
                    acc += t[a, k] * model[b, k]
                p[a, b] = acc
        xx, xy, yy = p[0, 0] + error, p[0, 1], p[1, 1] + error
        scale = 1 / (xx * yy - xy * xy)
        dx = measured[step, i, 0] - s[0]
        dy = measured[step, i, 1] - s[1]
        for a in range(4):
            gain[a, 0] = (p[a, 0] * yy - p[a, 1] * xy) * scale
            gain[a, 1] = (p[a, 1] * xx - p[a, 0] * xy) * scale
            s[a] += gain[a, 0] * dx + gain[a, 1] * dy
        for b in range(4):
            px, py = p[0, b], p[1, b]
            for a in range(4):
                p[a, b] -= gain[a, 0] * px + gain[a, 1] * py
    for a in range(4):
        states[i, a] = s[a]


def step_xorshift(state):
    state ^= state << 13
    state ^= state >> 17
    return state ^ (state << 5)


def gillespie_sir(seeds, people, first, beta, gamma, recovered, times):
    """Infections and recoveries one by one until nobody is infected; rates are whole numbers."""
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    state = seeds[i]
    susceptible = people - first
    infected = first
    t = float32(0)
    while infected > 0:
        infections = beta * susceptible * infected
        total = infections + gamma * people * infected
        state = step_xorshift(state)
        u = float32((state >> 8) + uint32(1)) * float32(2**-24)
        t -= math.log(u) / float32(total)
        state = step_xorshift(state)
        if (int(state) * total) >> 32 < infections:
            susceptible -= 1
            infected += 1
        else:
            infected -= 1
    recovered[i] = people - susceptible
    times[i] = t


def hmm_forward(observed, initial, transitions, emissions, likelihoods):
    """A block for each sequence, a thread for each state; scaled at each step."""
    alpha = cuda.shared.array(STATES, float32)
    part = cuda.shared.array(STATES, float32)
    sequence = cuda.blockIdx.x
    s = cuda.threadIdx.x
    states = initial.size
    if s < states:
        alpha[s] = initial[s] * emissions[observed[sequence, 0], s]
    else:
        alpha[s] = 0
    log_likelihood = float32(0)
    for t in range(1, observed.shape[1] + 1):
        part[s] = alpha[s]
        cuda.syncthreads()
        stride = STATES // 2
        while stride > 0:
            if s < stride:
                part[s] += part[s + stride]
            cuda.syncthreads()
            stride //= 2
        scale = part[0]
        log_likelihood += math.log(scale)
        if t < observed.shape[1] and s < states:
            acc = float32(0)
            for k in range(states):
                acc += alpha[k] * transitions[k, s]
            acc *= emissions[observed[sequence, t], s] / scale
        else:
            acc = float32(0)
        cuda.syncthreads()
        alpha[s] = acc
    if s == 0:
        likelihoods[sequence] = log_likelihood


def time_warping(query, series, band, rows, distances):
    """Of the query to each column of series; rows has two rows of the table for each."""
    i = cuda.grid(1)
    if i >= distances.size:
        return
    n = query.size
    m = series.shape[0]
    for j in range(m + 1):
        rows[0, j, i] = np.inf
        rows[1, j, i] = np.inf
    rows[0, 0, i] = 0
    for k in range(1, n + 1):
        now = k % 2
        before = 1 - now
        first = max(1, k - band)
        last = min(m, k + band)
        left = float32(np.inf)
        rows[now, first - 1, i] = left
        corner = rows[before, first - 1, i]
        q = query[k - 1]
        for j in range(first, last + 1):
            above = rows[before, j, i]
            left = abs(q - series[j - 1, i]) + min(left, above, corner)
            rows[now, j, i] = left
            corner = above
        if last < m:
            rows[now, last + 1, i] = np.inf
    distances[i] = rows[n % 2, m, i]


def group_modes(values, starts, modes, counts):
    """The commonest value of values[starts[i]:starts[i + 1]], the least of several; 0 where there are none."""
    i = cuda.grid(1)
    if i >= modes.size:
        return
    start, end = starts[i], starts[i + 1]
    mode = 0
    most = 0
    for j in range(start, end):
        v = values[j]
        count = 0
        for k in range(start, end):
            if values[k] == v:
                count += 1
        if count > most or (count == most and v < mode):
            mode = v
            most = count
    modes[i] = mode
    counts[i] = most


def kalman_problem(rng, n):
    """n tracks, 47 measurements of each."""
    steps, dt = 47, 0.1
    model = np.eye(4) + dt * np.eye(4, k=2)
    noise = np.diag([1e-3, 1e-3, 1e-2, 1e-2])
    error = np.float64(0.04)
    states = rng.normal(size=(n, 4))
    path = states[:, :2] + dt * np.arange(1, steps + 1)[:, None, None] * states[:, 2:]
    measured = path + 0.2 * rng.normal(size=path.shape)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        s, p = states[some].T, np.eye(4)
        for step in range(steps):
            s, p = model @ s, model @ p @ model.T + noise
            gain = p[:, :2] @ np.linalg.inv(p[:2, :2] + error * np.eye(2))
            s = s + gain @ (measured[step, some].T - s[:2])
            p = p - gain @ p[:2]
        # A step rounds less than thirty times, of numbers no larger than the path's; what it adds
        # to a velocity is 1 / dt times as large, and a later step makes an error no larger.
        return [(some, s.T, steps * 30 / dt * EPS64 / 2 * 2 * np.abs(path).max())]

    return Problem(
        (measured, model, noise, error, states.copy()), (steps, n), (4,), expected, threads=n, bytes=16 * steps * n,
        flops=360 * steps * n,
    )  # fmt: skip


def gillespie_problem(rng, n):
    """n epidemics among 90 people, three of them infected at first."""
    people, first, beta, gamma = 90, 3, 3, 2
    seeds = rng.integers(1, 2**32, n, np.uint32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)

        def turned(v):
            v = v ^ v << np.uint32(13)
            v = v ^ v >> np.uint32(17)
            return v ^ v << np.uint32(5)

        state, healthy = seeds[some], np.full(len(some), people - first)
        infected, t, events = people - healthy, np.zeros(len(some)), np.zeros(len(some))
        while (more := infected > 0).any():
            infections = beta * healthy * infected
            total = np.maximum(infections + gamma * people * infected, 1)
            state = np.where(more, turned(state), state)
            t -= np.where(more, np.log(((state >> np.uint32(8)) + 1.0) * 2.0**-24) / total, 0)
            state = np.where(more, turned(state), state)
            infects = state.astype(np.int64) * total >> 32 < infections
            healthy = healthy - (more & infects)
            infected = infected + np.where(more, np.where(infects, 1, -1), 0)
            events += more
        # Each time is off by three roundings (the logarithm's among them, of 2 ulp), then as many
        # sums as there are events.
        return [(some, people - healthy, 0), (some, t, (events + 6) * EPS32 / 2 * t)]

    return Problem(
        (seeds, people, first, beta, gamma, np.zeros(n, np.int32), np.zeros(n, np.float32)), (n,), (5, 6), expected,
        threads=n, bytes=12 * n, flops=80 * 30 * n,
    )  # fmt: skip


def hmm_problem(rng, n):
    """n sequences of 101 of 20 symbols, 45 states."""
    states, symbols, length = 45, 20, 101
    transitions, emissions = rng.random((states, states)), rng.random((symbols, states))
    transitions = (transitions / transitions.sum(1)[:, None]).astype(np.float32)
    emissions = (emissions / emissions.sum(0)).astype(np.float32)
    initial = np.full(states, 1 / states, np.float32)
    observed = rng.integers(0, symbols, (n, length), np.uint8)

    def expected():
        some = sampled(np.random.default_rng(0), n, 300)
        alpha, value = initial.astype(np.float64) * emissions[observed[some, 0]], 0.0
        for t in range(length):
            scale = alpha.sum(1)
            value = value + np.log(scale)
            if t + 1 < length:
                alpha = alpha @ transitions.astype(np.float64) * emissions[observed[some, t + 1]] / scale[:, None]
        # At a step alpha is off by a sum of as many products as there are states, a tree of six and
        # three more roundings, relative to it since all is positive; the logarithm, of 2 ulp, is
        # below 5, and the sum rounds by at most its last value.
        return [(some, value, length * EPS32 / 2 * (states + 12 + 4 * 5 + np.abs(value)))]

    return Problem(
        (observed, initial, transitions, emissions, np.zeros(n, np.float32)), (n, length, states, symbols), (4,), expected,
        grid=n, bytes=n * length, flops=2 * states * states * length * n,
    )  # fmt: skip


def warping_problem(rng, n):
    """n series of 67 numbers, a query of 61, a band of 9."""
    size, length, band = 61, 67, 9
    query = np.cumsum(rng.normal(size=size)).astype(np.float32)
    series = np.cumsum(rng.normal(size=(length, n)), axis=0).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1000)
        table = np.full((size + 1, length + 1, len(some)), np.inf)
        table[0, 0] = 0
        for k in range(1, size + 1):
            for j in range(max(1, k - band), min(length, k + band) + 1):
                cost = np.abs(float(query[k - 1]) - series[j - 1, some])
                table[k, j] = cost + np.minimum(np.minimum(table[k - 1, j], table[k, j - 1]), table[k - 1, j - 1])
        # A path has at most size + length costs, each rounded once and added.
        return [(some, table[size, length], (size + length + 1) * EPS32 / 2 * table[size, length])]

    return Problem(
        (query, series, band, np.zeros((2, length + 1, n), np.float32), np.zeros(n, np.float32)), (size, length, n), (4,),
        expected, threads=n, bytes=4 * length * n, flops=5 * size * (2 * band + 1) * n,
    )  # fmt: skip


def modes_problem(rng, n):
    """n groups of 0 to 30 of 12 numbers."""
    starts = np.r_[0, np.cumsum(rng.integers(0, 31, n))].astype(np.int32)
    values = rng.integers(-6, 6, max(starts[-1], 1), np.int32)

    def expected():
        group = np.repeat(np.arange(n), np.diff(starts))
        table = np.bincount(12 * group + values[: starts[-1]] + 6, minlength=12 * n).reshape(n, 12)
        most = table.max(1)
        return [(np.s_[:], np.where(most > 0, table.argmax(1) - 6, 0), 0), (np.s_[:], most, 0)]

    return Problem(
        (values, starts, np.zeros(n, np.int32), np.zeros(n, np.int32)), (len(values), n + 1, n), (2, 3), expected, threads=n,
        bytes=4 * len(values) + 12 * n, flops=2 * 310 * n,
    )  # fmt: skip


KALMAN = each(
    """kalman_tracks(const double *measured, const double *model, const double *noise, double error, double *states,
                   int steps, int n)""",
    """
    double s[4], next[4], p[4][4], t[4][4], gain[4][2];
    for (INDEX a = 0; a < 4; a++) {
      s[a] = states[4 * i + a];
      for (INDEX b = 0; b < 4; b++)
        p[a][b] = a == b;
    }
    for (INDEX step = 0; step < steps; step++) {
      for (INDEX a = 0; a < 4; a++) {
        next[a] = 0;
        for (INDEX k = 0; k < 4; k++)
          next[a] += model[4 * a + k] * s[k];
        for (INDEX b = 0; b < 4; b++) {
          double acc = 0;
          for (INDEX k = 0; k < 4; k++)
            acc += model[4 * a + k] * p[k][b];
          t[a][b] = acc;
        }
      }
      for (INDEX a = 0; a < 4; a++) {
        s[a] = next[a];
        for (INDEX b = 0; b < 4; b++) {
          double acc = noise[4 * a + b];
          for (INDEX k = 0; k < 4; k++)
            acc += t[a][k] * model[4 * b + k];
          p[a][b] = acc;
        }
      }
      double xx = p[0][0] + error, xy = p[0][1], yy = p[1][1] + error, scale = 1 / (xx * yy - xy * xy);
      const double *z = measured + 2 * (step * n + i);
      double dx = z[0] - s[0], dy = z[1] - s[1];
      for (INDEX a = 0; a < 4; a++) {
        gain[a][0] = (p[a][0] * yy - p[a][1] * xy) * scale;
        gain[a][1] = (p[a][1] * xx - p[a][0] * xy) * scale;
        s[a] += gain[a][0] * dx + gain[a][1] * dy;
      }
      for (INDEX b = 0; b < 4; b++) {
        double px = p[0][b], py = p[1][b];
        for (INDEX a = 0; a < 4; a++)
          p[a][b] -= gain[a][0] * px + gain[a][1] * py;
      }
    }
    for (INDEX a = 0; a < 4; a++)
      states[4 * i + a] = s[a];
""",
)

GILLESPIE = each(
    """gillespie_sir(const unsigned *seeds, int people, int first, int beta, int gamma, int *recovered, float *times,
                   int n)""",
    """
    unsigned state = seeds[i];
    INDEX susceptible = people - first, infected = first;
    float t = 0;
    while (infected > 0) {
      INDEX infections = beta * susceptible * infected, total = infections + (INDEX)gamma * people * infected;
      state = sir_xorshift(state);
      float u = ((state >> 8) + 1) * 0x1p-24f;
      t -= logf(u) / total;
      state = sir_xorshift(state);
      if (((long long)state * total) >> 32 < infections) {
        susceptible--;
        infected++;
      } else {
        infected--;
      }
    }
    recovered[i] = people - susceptible;
    times[i] = t;
""",
    before="""DEVICE unsigned sir_xorshift(unsigned state) {
  state ^= state << 13;
  state ^= state >> 17;
  return state ^ state << 5;
}""",
)

HMM_HEAD = """hmm_forward(const unsigned char *observed, const float *initial, const float *transitions,
                 const float *emissions, float *likelihoods, int n, int length, int states, int symbols)"""
HMM = indexed(
    f"""
__global__ void {HMM_HEAD} {{
  __shared__ float alpha[{STATES}], part[{STATES}];
  INDEX sequence = blockIdx.x, s = threadIdx.x;
  const unsigned char *symbol = observed + sequence * length;
  alpha[s] = s < states ? initial[s] * emissions[symbol[0] * states + s] : 0;
  float log_likelihood = 0;
  for (INDEX t = 1; t <= length; t++) {{
    part[s] = alpha[s];
    __syncthreads();
    for (INDEX stride = {STATES // 2}; stride > 0; stride /= 2) {{
      if (s < stride)
        part[s] += part[s + stride];
      __syncthreads();
    }}
    float scale = part[0], acc = 0;
    log_likelihood += logf(scale);
    if (t < length && s < states) {{
      for (INDEX k = 0; k < states; k++)
        acc += alpha[k] * transitions[k * states + s];
      acc *= emissions[symbol[t] * states + s] / scale;
    }}
    __syncthreads();
    alpha[s] = acc;
  }}
  if (s == 0)
    likelihoods[sequence] = log_likelihood;
}}
""",
    f"""
void {HMM_HEAD} {{
#pragma omp parallel for
  for (INDEX sequence = 0; sequence < n; sequence++) {{
    const unsigned char *symbol = observed + sequence * length;
    float alpha[{STATES}], next[{STATES}], log_likelihood = 0;
    for (INDEX s = 0; s < states; s++)
      alpha[s] = initial[s] * emissions[symbol[0] * states + s];
    for (INDEX t = 1; t <= length; t++) {{
      float scale = 0;
      for (INDEX s = 0; s < states; s++)
        scale += alpha[s];
      log_likelihood += logf(scale);
      if (t == length)
        break;
      for (INDEX s = 0; s < states; s++)
        next[s] = 0;
      for (INDEX k = 0; k < states; k++)
        for (INDEX s = 0; s < states; s++)
          next[s] += alpha[k] * transitions[k * states + s];
      for (INDEX s = 0; s < states; s++)
        alpha[s] = next[s] * (emissions[symbol[t] * states + s] / scale);
    }}
    likelihoods[sequence] = log_likelihood;
  }}
}}
""",
)

WARPING = each(
    "time_warping(const float *query, const float *series, int band, float *rows, float *distances, int size, int m, int n)",
    """
    float *even = rows + i, *odd = rows + (INDEX)(m + 1) * n + i;
    for (INDEX j = 0; j <= m; j++)
      even[j * n] = odd[j * n] = INFINITY;
    even[0] = 0;
    for (INDEX k = 1; k <= size; k++) {
      float *now = k % 2 ? odd : even, *before = k % 2 ? even : odd;
      INDEX first = MAX((INDEX)1, k - band), last = MIN((INDEX)m, k + band);
      float left = INFINITY, corner = before[(first - 1) * n], q = query[k - 1];
      now[(first - 1) * n] = left;
      for (INDEX j = first; j <= last; j++) {
        float above = before[j * n];
        left = fabsf(q - series[(j - 1) * n + i]) + fminf(fminf(left, above), corner);
        now[j * n] = left;
        corner = above;
      }
      if (last < m)
        now[(last + 1) * n] = INFINITY;
    }
    distances[i] = (size % 2 ? odd : even)[(INDEX)m * n];
""",
)

MODES = each(
    "group_modes(const int *values, const int *starts, int *modes, int *counts, int size, int ends, int n)",
    """
    INDEX start = starts[i], end = starts[i + 1];
    int mode = 0, most = 0;
    for (INDEX j = start; j < end; j++) {
      int v = values[j], count = 0;
      for (INDEX k = start; k < end; k++)
        if (values[k] == v)
          count++;
      if (count > most || (count == most && v < mode)) {
        mode = v;
        most = count;
      }
    }
    modes[i] = mode;
    counts[i] = most;
""",
)

PLANE64 = "float64[:,::1]"

KERNELS = [
    Kernel(
        "Kalman filters of tracks", kalman_tracks, f"float64[:,:,::1], {PLANE64}, {PLANE64}, float64, {PLANE64}", 128,
        kalman_problem, gpu=100_003, host=10_007, test=301, **KALMAN,
    ),
    Kernel(
        "epidemics, event by event", gillespie_sir,
        "uint32[::1], pyint, pyint, pyint, pyint, int32[::1], float32[::1]", 128,
        gillespie_problem, gpu=500_009, host=20_011, test=301, kind="irregular", **GILLESPIE,
    ),
    Kernel(
        "hidden Markov models, forward", hmm_forward,
        "uint8[:,::1], float32[::1], float32[:,::1], float32[:,::1], float32[::1]", STATES, hmm_problem,
        gpu=2003, host=501, test=7, kind="shared", **HMM,
    ),
    Kernel(
        "time warping within a band", time_warping,
        "float32[::1], float32[:,::1], pyint, float32[:,:,::1], float32[::1]", 128, warping_problem,
        gpu=50_021, host=5_003, test=301, **WARPING,
    ),
    Kernel(
        "modes of groups", group_modes, "int32[::1], int32[::1], int32[::1], int32[::1]", 128, modes_problem,
        gpu=500_009, host=50_021, test=1013, kind="irregular", **MODES,
    ),
]  # fmt: skip
