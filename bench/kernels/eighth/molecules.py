"""Small worlds: a gate on two qubits, overlaps of Gaussians, neurons, the likelihood of a tree of species."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, complex64, float32


def with_zero_at(k, bit):
    """k with a zero put in at a bit."""
    low = k & ((1 << bit) - 1)
    return ((k >> bit) << (bit + 1)) | low


def two_qubit_gate(state, gate, p, q, controls):
    """A 4 x 4 gate on qubits p < q where all control bits are set; a thread four amplitudes."""
    k = cuda.grid(1)
    if 4 * k >= state.size:
        return
    i = with_zero_at(with_zero_at(k, p), q)
    if (i & controls) != controls:
        return
    places = (i, i | (1 << p), i | (1 << q), i | (1 << p) | (1 << q))
    v = cuda.local.array(4, complex64)
    for c in range(4):
        v[c] = state[places[c]]
    for r in range(4):
        total = complex64(0)
        for c in range(4):
            total += gate[r, c] * v[c]
        state[places[r]] = total


def overlap_matrix(centres, exponents, weights, overlaps):
    """Overlaps of contracted Gaussians (of s shells): each pair once, set on both sides of the diagonal."""
    j, i = cuda.grid(2)
    if i >= centres.shape[0] or j > i:
        return
    dx = centres[i, 0] - centres[j, 0]
    dy = centres[i, 1] - centres[j, 1]
    dz = centres[i, 2] - centres[j, 2]
    r2 = dx * dx + dy * dy + dz * dz
    total = 0.0
    for a in range(exponents.shape[1]):
        ea = exponents[i, a]
        wa = weights[i, a]
        if wa == 0.0:
            continue
        for b in range(exponents.shape[1]):
            p = ea + exponents[j, b]
            total += wa * weights[j, b] * (math.pi / p) ** 1.5 * math.exp(-ea * exponents[j, b] / p * r2)
    overlaps[i, j] = total
    overlaps[j, i] = total


def rate(x, scale):
    """x / (1 - exp(-x / scale)), near 0 by its series."""
    if abs(x) < 1e-7:
        return scale + x * 0.5
    return x / (1.0 - math.exp(-x / scale))


def derivatives(v, m, h, n, current):
    """Of Hodgkin's and Huxley's membrane: potential and three gates."""
    am = 0.1 * rate(v + 40.0, 10.0)
    bm = 4.0 * math.exp(-(v + 65.0) / 18.0)
    ah = 0.07 * math.exp(-(v + 65.0) / 20.0)
    bh = 1.0 / (1.0 + math.exp(-(v + 35.0) / 10.0))
    an = 0.01 * rate(v + 55.0, 10.0)
    bn = 0.125 * math.exp(-(v + 65.0) / 80.0)
    flow = current - 120.0 * m * m * m * h * (v - 50.0) - 36.0 * n**4 * (v + 77.0) - 0.3 * (v + 54.387)
    return flow, am * (1.0 - m) - bm * m, ah * (1.0 - h) - bh * h, an * (1.0 - n) - bn * n


def hodgkin_huxley(currents, dt, steps, potentials, spikes):
    """Neurons with a current each, by Heun's steps: their potential at last, and how often it rose beyond 0."""
    i = cuda.grid(1)
    if i >= currents.size:
        return
    current = currents[i]
    v = -65.0
    m = 0.053
    h = 0.596
    n = 0.318
    count = 0
    for _ in range(steps):
        v1, m1, h1, n1 = derivatives(v, m, h, n, current)
        v2, m2, h2, n2 = derivatives(v + dt * v1, m + dt * m1, h + dt * h1, n + dt * n1, current)
        new = v + 0.5 * dt * (v1 + v2)
        if new > 0.0 and v <= 0.0:
            count += 1
        v = new
        m += 0.5 * dt * (m1 + m2)
        h += 0.5 * dt * (h1 + h2)
        n += 0.5 * dt * (n1 + n2)
    potentials[i] = v
    spikes[i] = count


def species_likelihood(bases, left, right, moves, partials, likelihoods):
    """Felsenstein's pruning: the log likelihood of each site, through a tree whose inner nodes follow the species."""
    site = cuda.grid(1)
    species, sites = bases.shape
    if site >= sites:
        return
    scale = float32(0)
    for node in range(left.size):
        largest = float32(0)
        for s in range(4):
            product = float32(1)
            for side in range(2):
                child = left[node] if side == 0 else right[node]
                move = moves[child, s]
                total = float32(0)
                if child < species:
                    base = bases[child, site]
                    if base < 4:
                        total = move[base]
                    else:
                        total = move[0] + move[1] + move[2] + move[3]
                else:
                    for k in range(4):
                        total += move[k] * partials[child - species, k, site]
                product *= total
            partials[node, s, site] = product
            largest = max(largest, product)
        if largest < float32(1e-4):
            for s in range(4):
                partials[node, s, site] /= largest
            scale += math.log(largest)
    total = float32(0)
    for s in range(4):
        total += float32(0.25) * partials[left.size - 1, s, site]
    likelihoods[site] = math.log(total) + scale


def gate_problem(rng, n):
    qubits = max(6, n)
    size, p, q, controls = 1 << qubits, 1, qubits - 2, 1 << 3
    state = rng.standard_normal(size) + 1j * rng.standard_normal(size)
    state = (state / np.linalg.norm(state) * np.sqrt(size)).astype(np.complex64)
    gate = np.linalg.qr(rng.standard_normal((4, 4)) + 1j * rng.standard_normal((4, 4)))[0].astype(np.complex64)

    def expected():
        k = np.arange(size)
        base = k[((k >> p) & 1 == 0) & ((k >> q) & 1 == 0) & (k & controls == controls)]
        places = np.stack([base, base | 1 << p, base | 1 << q, base | 1 << p | 1 << q])
        turned, bound = state.astype(complex), np.zeros(size)
        bound[places] = 8 * EPS32 * np.abs(state[places]).sum(0)
        turned[places] = gate.astype(complex) @ state[places]
        return [(slice(None), turned, bound)]

    args = (state, gate, p, q, controls)
    return Problem(args, (size,), (0,), expected, threads=size // 4, bytes=8.0 * size)


def overlaps_problem(rng, n):
    terms = 6
    centres = rng.uniform(0, 3 * n ** (1 / 3), (n, 3))
    exponents = np.exp(rng.uniform(-2, 3, (n, terms)))
    weights = rng.uniform(0.1, 1, (n, terms)) * (np.arange(terms) < rng.integers(1, terms + 1, (n, 1)))

    def expected():
        at = sampled(rng, n, 60)
        r2 = ((centres[at, None] - centres) ** 2).sum(2)
        values = np.zeros((at.size, n))
        for a in range(terms):
            for b in range(terms):
                ea, eb = exponents[at, a][:, None], exponents[:, b]
                p, w = ea + eb, weights[at, a][:, None] * weights[:, b]
                values += w * (np.pi / p) ** 1.5 * np.exp(-ea * eb / p * r2)
        return [(at, values, 64 * EPS64 * (values + 36))]

    args = (centres, exponents, weights, np.zeros((n, n)))
    return Problem(args, (n, n, terms), (3,), expected, threads=(n, n), flops=n * n / 2 * terms**2 * 40.0)


def neurons_problem(rng, n):
    currents, dt, steps = rng.uniform(0, 20, n), np.float64(0.02), 400

    def expected():
        at = sampled(rng, n, 500)
        v, current = np.full(at.size, -65.0), currents[at]
        m, h, k = (np.full(at.size, x) for x in (0.053, 0.596, 0.318))
        count = np.zeros(at.size, np.int32)

        def rates(x, scale):
            near = np.abs(x) < 1e-7
            safe = np.where(near, 1.0, x)
            return np.where(near, scale + x / 2, safe / (1 - np.exp(-safe / scale)))

        def slopes(v, m, h, k):
            e = np.exp
            flow = current - 120 * m**3 * h * (v - 50) - 36 * k**4 * (v + 77) - 0.3 * (v + 54.387)
            dm = 0.1 * rates(v + 40, 10) * (1 - m) - 4 * e(-(v + 65) / 18) * m
            dh = 0.07 * e(-(v + 65) / 20) * (1 - h) - h / (1 + e(-(v + 35) / 10))
            return flow, dm, dh, 0.01 * rates(v + 55, 10) * (1 - k) - 0.125 * e(-(v + 65) / 80) * k

        for _ in range(steps):
            state = (v, m, h, k)
            one = slopes(*state)
            two = slopes(*(s + dt * d for s, d in zip(state, one)))
            new, m, h, k = (s + 0.5 * dt * (a + b) for s, a, b in zip(state, one, two))
            count += (new > 0) & (v <= 0)
            v = new
        # A spike makes errors some thousands of times larger; each step rounds some 20 times of up to 100.
        return [(at, v, 1e-10), (at, count, 0)]

    args = (currents, dt, steps, np.zeros(n), np.zeros(n, np.int32))
    return Problem(args, (n,), (3, 4), expected, threads=n, flops=130.0 * steps * n)


def species_problem(rng, n):
    species = 12
    left, right, free = [], [], list(range(species))
    for node in range(species - 1):
        a = free.pop(int(rng.integers(len(free))))
        b = free.pop(int(rng.integers(len(free))))
        left.append(a)
        right.append(b)
        free.append(species + node)
    left, right = np.array(left, np.int32), np.array(right, np.int32)
    change = np.exp(-rng.uniform(0.05, 1.5, 2 * species - 1))[:, None, None]
    moves = np.float32(0.25 + (np.eye(4) - 0.25) * change)
    bases = rng.choice(5, (species, n), p=(0.3, 0.2, 0.2, 0.25, 0.05)).astype(np.uint8)

    def expected():
        at = sampled(rng, n, 5000)
        seen = bases[:, at]
        partials = [((seen[k] == 4) | (seen[k] == np.arange(4)[:, None])).astype(float) for k in range(species)]
        for a, b in zip(left, right):
            partials.append((moves[a].astype(float) @ partials[a]) * (moves[b].astype(float) @ partials[b]))
        value = np.log(0.25 * partials[-1].sum(0))
        return [(at, value, EPS32 * (6 * species + 4 * np.abs(value)))]

    args = (bases, left, right, moves, np.zeros((species - 1, 4, n), np.float32), np.zeros(n, np.float32))
    return Problem(args, (species, n, species - 1), (5,), expected, threads=n, bytes=n * (species * 33.0))


GATE_TEXT = each(
    "two_qubit_gate(PAIR *__restrict__ state, const PAIR *__restrict__ gate, int p, int q, int controls, int n)",
    """
    INDEX place = gate_zero_at(gate_zero_at(i, p), q);
    if ((place & controls) == controls) {
      INDEX places[4] = {place, place | (INDEX)1 << p, place | (INDEX)1 << q, place | (INDEX)1 << p | (INDEX)1 << q};
      PAIR v[4];
      for (int c = 0; c < 4; c++)
        v[c] = state[places[c]];
      for (int r = 0; r < 4; r++) {
        PAIR total;
        total.x = total.y = 0;
        for (int c = 0; c < 4; c++) {
          PAIR g = gate[4 * r + c];
          total.x += g.x * v[c].x - g.y * v[c].y;
          total.y += g.x * v[c].y + g.y * v[c].x;
        }
        state[places[r]] = total;
      }
    }
""",
    extent="n / 4",
    before="""
DEVICE INDEX gate_zero_at(INDEX k, int bit) {
  INDEX low = k & (((INDEX)1 << bit) - 1);
  return ((k >> bit) << (bit + 1)) | low;
}
""",
)
GATE_TEXT = {
    text: "typedef struct {float x, y;} gate_pair;\n" + body.replace("PAIR", "gate_pair")
    if text == "openmp" else body.replace("PAIR", "float2")
    for text, body in GATE_TEXT.items()
}  # fmt: skip

OVERLAPS_HEAD = """overlap_matrix(const double *__restrict__ centres, const double *__restrict__ exponents,
                    const double *__restrict__ weights, double *__restrict__ overlaps, int n, int also, int terms)"""
OVERLAPS = plane(
    OVERLAPS_HEAD,
    """
      double dx = centres[3 * row] - centres[3 * col], dy = centres[3 * row + 1] - centres[3 * col + 1];
      double dz = centres[3 * row + 2] - centres[3 * col + 2], r2 = dx * dx + dy * dy + dz * dz, total = 0;
      for (INDEX a = 0; a < terms; a++) {
        double ea = exponents[row * terms + a], wa = weights[row * terms + a];
        if (wa == 0) continue;
        for (INDEX b = 0; b < terms; b++) {
          double eb = exponents[col * terms + b], p = ea + eb, ratio = 3.14159265358979323846 / p;
          total += wa * weights[col * terms + b] * pow(ratio, 1.5) * exp(-ea * eb / p * r2);
        }
      }
      overlaps[row * n + col] = total;
      overlaps[col * n + row] = total;
""",
    rows="n",
    cols="row + 1",
)

NEURONS = each(
    """hodgkin_huxley(const double *__restrict__ currents, double dt, int steps, double *__restrict__ potentials,
                   int *__restrict__ spikes, int n)""",
    """
    double current = currents[i], v = -65, m = 0.053, h = 0.596, k = 0.318;
    INDEX count = 0;
    for (INDEX s = 0; s < steps; s++) {
      double v1, m1, h1, k1, v2, m2, h2, k2;
      neuron_slopes(v, m, h, k, current, &v1, &m1, &h1, &k1);
      neuron_slopes(v + dt * v1, m + dt * m1, h + dt * h1, k + dt * k1, current, &v2, &m2, &h2, &k2);
      double next = v + 0.5 * dt * (v1 + v2);
      if (next > 0 && v <= 0) count++;
      v = next;
      m += 0.5 * dt * (m1 + m2);
      h += 0.5 * dt * (h1 + h2);
      k += 0.5 * dt * (k1 + k2);
    }
    potentials[i] = v;
    spikes[i] = count;
""",
    before="""
DEVICE double neuron_rate(double x, double scale) {
  if (fabs(x) < 1e-7) return scale + x * 0.5;
  return x / (1 - exp(-x / scale));
}
DEVICE void neuron_slopes(double v, double m, double h, double n, double current, double *dv, double *dm, double *dh,
                          double *dn) {
  double am = 0.1 * neuron_rate(v + 40, 10), bm = 4 * exp(-(v + 65) / 18);
  double ah = 0.07 * exp(-(v + 65) / 20), bh = 1 / (1 + exp(-(v + 35) / 10));
  double an = 0.01 * neuron_rate(v + 55, 10), bn = 0.125 * exp(-(v + 65) / 80);
  *dv = current - 120 * m * m * m * h * (v - 50) - 36 * (n * n) * (n * n) * (v + 77) - 0.3 * (v + 54.387);
  *dm = am * (1 - m) - bm * m;
  *dh = ah * (1 - h) - bh * h;
  *dn = an * (1 - n) - bn * n;
}
""",
)

SPECIES = each(
    """species_likelihood(const unsigned char *__restrict__ bases, const int *__restrict__ left,
                       const int *__restrict__ right, const float *__restrict__ moves, float *__restrict__ partials,
                       float *__restrict__ likelihoods, int species, int n, int inner)""",
    """
    float scale = 0;
    for (INDEX node = 0; node < inner; node++) {
      float largest = 0;
      for (INDEX s = 0; s < 4; s++) {
        float product = 1;
        for (int side = 0; side < 2; side++) {
          INDEX child = side == 0 ? left[node] : right[node];
          const float *move = moves + (child * 4 + s) * 4;
          float total = 0;
          if (child < species) {
            unsigned char base = bases[child * n + i];
            total = base < 4 ? move[base] : move[0] + move[1] + move[2] + move[3];
          } else {
            for (INDEX k = 0; k < 4; k++)
              total += move[k] * partials[((child - species) * 4 + k) * n + i];
          }
          product *= total;
        }
        partials[(node * 4 + s) * n + i] = product;
        largest = fmaxf(largest, product);
      }
      if (largest < 1e-4f) {
        for (INDEX s = 0; s < 4; s++)
          partials[(node * 4 + s) * n + i] /= largest;
        scale += logf(largest);
      }
    }
    float total = 0;
    for (INDEX s = 0; s < 4; s++)
      total += 0.25f * partials[((inner - 1) * 4 + s) * n + i];
    likelihoods[i] = logf(total) + scale;
""",
)

KERNELS = [
    Kernel(
        "gate on two qubits", two_qubit_gate, "complex64[::1], complex64[:,::1], pyint, pyint, pyint", 256,
        gate_problem,
        gpu=25, host=18, test=10, power=20, kind="streaming", **GATE_TEXT,
    ),
    Kernel(
        "overlaps of Gaussians", overlap_matrix, "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1]",
        (16, 8), overlaps_problem,
        gpu=2003, host=151, test=41, power=2, **OVERLAPS,
    ),
    Kernel(
        "neurons", hodgkin_huxley, "float64[::1], float64, pyint, float64[::1], int32[::1]", 128, neurons_problem,
        gpu=20_011, host=503, test=43, **NEURONS,
    ),
    Kernel(
        "likelihood of species", species_likelihood,
        "uint8[:,::1], int32[::1], int32[::1], float32[:,:,::1], float32[:,:,::1], float32[::1]", 128, species_problem,
        gpu=300_007, host=10_007, test=203, **SPECIES,
    ),
]  # fmt: skip
