"""Heredity and epidemics: alleles that drift, linkage, regions that infect each other, contacts that infect."""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.eleventh.adds import with_adds
from kernels.texts import each, plane
from pyptx import cuda, float32, uint32


def drifting_alleles(counts, fitness, size, seed, generations, carriers, ages):
    """Wright and Fisher: an allele drifts under selection until all carry it or none; fitness is in thousandths."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    state = uint32(i) * uint32(2654435761) ^ uint32(seed)
    if state == 0:
        state = uint32(1)
    now = int(counts[i])
    age = 0
    while age < generations and 0 < now < size:
        weight = now * int(fitness[i])
        threshold = (weight << 24) // (weight + 1000 * (size - now))
        drawn = 0
        for _ in range(size):
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            if state >> 8 < threshold:
                drawn += 1
        now = drawn
        age += 1
    carriers[i] = now
    ages[i] = age


def linkage_pairs(genotypes, r2):
    """Linkage of a site with those behind it: squared correlations of 0, 1, 2; -1 is missing."""
    site, d = cuda.grid(2)
    if d >= r2.shape[0] or site >= r2.shape[1]:
        return
    n = sa = sb = saa = sbb = sab = 0
    for s in range(genotypes.shape[0]):
        a = int(genotypes[s, site])
        b = int(genotypes[s, site + d + 1])
        if a < 0 or b < 0:
            continue
        n += 1
        sa += a
        sb += b
        saa += a * a
        sbb += b * b
        sab += a * b
    cov = n * sab - sa * sb
    va = n * saa - sa * sa
    vb = n * sbb - sb * sb
    r2[d, site] = float32(cov) / float32(va) * float32(cov) / float32(vb) if va > 0 and vb > 0 else float32(0)


def seir_step(compartments, people, mixing, beta, sigma, gamma, dt, after):
    """A step of SEIR in regions whose people meet: mixing[j, i] of those of j are met by those of i."""
    i = cuda.grid(1)
    if i >= people.size:
        return
    force = 0.0
    for j in range(people.size):
        force += mixing[j, i] * compartments[2, j] / people[j]
    s, e, ill, r = compartments[0, i], compartments[1, i], compartments[2, i], compartments[3, i]
    infected = min(dt * beta * force * s, s)
    falling_ill = dt * sigma * e
    healed = dt * gamma * ill
    after[0, i] = s - infected
    after[1, i] = e + infected - falling_ill
    after[2, i] = ill + falling_ill - healed
    after[3, i] = r + healed


def coin(person, day, seed):
    h = uint32(person) * uint32(0x9E3779B1) + uint32(day) * uint32(0x85EBCA77) ^ uint32(seed)
    h ^= h >> 16
    h *= uint32(0x7FEB352D)
    h ^= h >> 15
    h *= uint32(0x846CA68B)
    return h ^ h >> 16


def contact_infections(first, contacts, risks, status, days, day, seed, new_status, new_days, totals):
    """People, their contacts and an illness: 0 well, 1 carries it, 2 ill, 3 immune; `days` are left of a status."""
    i = cuda.grid(1)
    if i >= status.size:
        return
    now = int(status[i])
    left = int(days[i])
    if now == 0:
        for k in range(first[i], first[i + 1]):
            other = contacts[k]
            if status[other] == 2 and coin(i ^ int(other) << 7, day, seed) >> 24 < risks[k]:
                now, left = 1, 2 + int(coin(i, day, seed + 1)) % 5
                break
    elif now < 3:
        left -= 1
        if left == 0:
            now += 1
            left = 4 + int(coin(i, day, seed + 2)) % 7 if now == 2 else 0
    new_status[i] = now
    new_days[i] = left
    cuda.atomic.add(totals, now, 1)


def xorshift(x):
    x ^= x << np.uint32(13)
    x ^= x >> np.uint32(17)
    return x ^ x << np.uint32(5)


def drift_problem(rng, n):
    size, generations, seed = 61, 40, 77
    counts = rng.integers(0, size + 1, n).astype(np.uint8)
    fitness = rng.integers(900, 1100, n).astype(np.int16)

    def expected():
        at = sampled(rng, n, 2000)
        state = at.astype(np.uint32) * np.uint32(2654435761) ^ np.uint32(seed)
        state[state == 0] = 1
        now, age = counts[at].astype(np.int64), np.zeros(len(at), np.int64)
        for _ in range(generations):
            on = (now > 0) & (now < size)
            weight = now * fitness[at]
            threshold = (weight << 24) // np.maximum(weight + 1000 * (size - now), 1)
            drawn = 0
            for _ in range(size):
                state = xorshift(state)
                drawn = drawn + (state >> np.uint32(8) < threshold)
            now, age = np.where(on, drawn, now), age + on
        return [(at, now, 0), (at, age, 0)]

    args = (counts, fitness, size, seed, generations, np.full(n, 99, np.uint8), np.full(n, -1, np.int16))
    return Problem(args, (n,), (5, 6), expected, threads=n, bytes=6.0 * n, flops=8.0 * size * generations * n)


def linkage_problem(rng, n):
    samples, window = 203, 33
    sites = n + window
    hidden = rng.random((samples, sites)) < 0.3
    for s in range(1, sites):
        same = rng.random(samples) < 0.8
        hidden[same, s] = hidden[same, s - 1]
    genotypes = (hidden.astype(np.int8) + (rng.random((samples, sites)) < 0.3)).astype(np.int8)
    genotypes[rng.random(genotypes.shape) < 0.03] = -1

    def expected():
        at = sampled(rng, n, 200)
        d = np.arange(window)[:, None]
        a, b = np.broadcast_arrays(genotypes[:, None, at].astype(np.int64), genotypes[:, at + d + 1].astype(np.int64))
        ok = (a >= 0) & (b >= 0)
        a, b, count = a * ok, b * ok, ok.sum(0)
        cov = count * (a * b).sum(0) - a.sum(0) * b.sum(0)
        va, vb = count * (a * a).sum(0) - a.sum(0) ** 2, count * (b * b).sum(0) - b.sum(0) ** 2
        r2 = np.where((va > 0) & (vb > 0), cov**2 / np.maximum(va.astype(float) * vb, 1), 0)
        return [((slice(None), at), r2, 6 * EPS32 * r2)]

    args = (genotypes, np.full((window, n), 99, np.float32))
    return Problem(
        args, (samples, sites, window, n), (1,), expected, threads=(n, window), bytes=1.0 * samples * sites + 4.0 * window * n,
        flops=9.0 * samples * window * n,
    )  # fmt: skip


def seir_problem(rng, n):
    people = rng.integers(1000, 100_000, n).astype(np.float64)
    share = rng.dirichlet((20, 1, 1, 5), n).T
    compartments, mixing = np.ascontiguousarray(share * people), rng.random((n, n)) / n
    beta, sigma, gamma, dt = np.float64(0.6), np.float64(0.2), np.float64(0.1), np.float64(0.25)

    def expected():
        s, e, ill, r = compartments
        force = (ill / people) @ mixing
        infected = np.minimum(dt * beta * force * s, s)
        values = np.stack([s - infected, e + infected - dt * sigma * e, ill + dt * (sigma * e - gamma * ill), r + dt * gamma * ill])
        bound = EPS64 * (4 * values + (n + 8) * infected + e + ill)
        return [(slice(None), values, bound)]

    args = (compartments, people, mixing, beta, sigma, gamma, dt, np.full((4, n), -1.0))
    return Problem(args, (n,), (7,), expected, threads=n, bytes=8.0 * n * n, flops=3.0 * n * n)


def np_coin(person, day, seed):
    h = person.astype(np.uint32) * np.uint32(0x9E3779B1) + np.uint32(day * 0x85EBCA77 & 0xFFFFFFFF) ^ np.uint32(seed)
    h = (h ^ h >> np.uint32(16)) * np.uint32(0x7FEB352D)
    h = (h ^ h >> np.uint32(15)) * np.uint32(0x846CA68B)
    return h ^ h >> np.uint32(16)


def contact_problem(rng, n):
    day, seed = 17, 12345
    degrees = np.minimum(rng.geometric(0.1, n), 90)
    first = np.cumsum([0, *degrees]).astype(np.int32)
    contacts = rng.integers(0, n, first[-1]).astype(np.int32)
    risks = rng.integers(0, 60, first[-1]).astype(np.uint8)
    status = rng.choice([0, 1, 2, 3], n, p=[0.7, 0.1, 0.1, 0.1]).astype(np.uint8)
    days = np.where((status == 1) | (status == 2), rng.integers(1, 6, n), 0).astype(np.uint8)

    def expected():
        me = np.repeat(np.arange(n), degrees)
        hit = (status[contacts] == 2) & (np_coin(me ^ contacts.astype(np.int64) << 7, day, seed) >> np.uint32(24) < risks)
        caught = (status == 0) & (np.bincount(me[hit], minlength=n) > 0)
        left = days.astype(np.int64) - ((status == 1) | (status == 2))
        turns = ((status == 1) | (status == 2)) & (left == 0)
        now = status + caught + turns
        people = np.arange(n)
        left = np.where(caught, 2 + np_coin(people, day, seed + 1) % 5, left)
        left = np.where(turns & (now == 2), 4 + np_coin(people, day, seed + 2) % 7, left)
        return [(slice(None), now, 0), (slice(None), left, 0), (slice(None), np.bincount(now, minlength=4), 0)]

    args = (
        first, contacts, risks, status, days, day, seed, np.full(n, 99, np.uint8), np.full(n, 99, np.uint8),
        np.zeros(4, np.int32),
    )  # fmt: skip
    return Problem(args, (n,), (7, 8, 9), expected, threads=n, bytes=6.0 * first[-1] + 8.0 * n)


DRIFT = each(
    """drifting_alleles(const unsigned char *__restrict__ counts, const short *__restrict__ fitness, int size, int seed,
                      int generations, unsigned char *__restrict__ carriers, short *__restrict__ ages, int n)""",
    """
    unsigned state = (unsigned)i * 2654435761u ^ seed;
    if (state == 0) state = 1;
    INDEX now = counts[i], age = 0;
    while (age < generations && 0 < now && now < size) {
      INDEX weight = now * fitness[i], drawn = 0;
      unsigned threshold = ((long long)weight << 24) / (weight + 1000 * (size - now));
      for (INDEX k = 0; k < size; k++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        if (state >> 8 < threshold) drawn++;
      }
      now = drawn;
      age++;
    }
    carriers[i] = now;
    ages[i] = age;
""",
)

LINKAGE = plane(
    "linkage_pairs(const signed char *__restrict__ genotypes, float *__restrict__ r2, int samples, int sites, int rows, int cols)",
    """
    INDEX n = 0, sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (INDEX s = 0; s < samples; s++) {
      INDEX a = genotypes[s * sites + col], b = genotypes[s * sites + col + row + 1];
      if (a < 0 || b < 0) continue;
      n++;
      sa += a;
      sb += b;
      saa += a * a;
      sbb += b * b;
      sab += a * b;
    }
    INDEX cov = n * sab - sa * sb, va = n * saa - sa * sa, vb = n * sbb - sb * sb;
    r2[row * cols + col] = va > 0 && vb > 0 ? (float)cov / (float)va * (float)cov / (float)vb : 0;
""",
)

SEIR = each(
    """seir_step(const double *__restrict__ compartments, const double *__restrict__ people, const double *__restrict__ mixing,
               double beta, double sigma, double gamma, double dt, double *__restrict__ after, int n)""",
    """
    double force = 0;
    for (INDEX j = 0; j < n; j++)
      force += mixing[j * n + i] * compartments[2 * (INDEX)n + j] / people[j];
    double s = compartments[i], e = compartments[n + i], ill = compartments[2 * (INDEX)n + i], r = compartments[3 * (INDEX)n + i];
    double infected = fmin(dt * beta * force * s, s), falling_ill = dt * sigma * e, healed = dt * gamma * ill;
    after[i] = s - infected;
    after[n + i] = e + infected - falling_ill;
    after[2 * (INDEX)n + i] = ill + falling_ill - healed;
    after[3 * (INDEX)n + i] = r + healed;
""",
)

COIN = """
DEVICE unsigned coin_of_day(unsigned person, unsigned day, unsigned seed) {
  unsigned h = person * 0x9E3779B1u + day * 0x85EBCA77u ^ seed;
  h ^= h >> 16;
  h *= 0x7FEB352Du;
  h ^= h >> 15;
  h *= 0x846CA68Bu;
  return h ^ h >> 16;
}
"""
CONTACTS = with_adds(each(
    """contact_infections(const int *__restrict__ first, const int *__restrict__ contacts, const unsigned char *__restrict__ risks,
                        const unsigned char *__restrict__ status, const unsigned char *__restrict__ days, int day, int seed,
                        unsigned char *__restrict__ new_status, unsigned char *__restrict__ new_days,
                        int *__restrict__ totals, int n)""",
    """
    int now = status[i], left = days[i];
    if (now == 0) {
      INDEX end = first[i + 1];
      for (INDEX k = first[i]; k < end; k++) {
        int other = contacts[k];
        if (status[other] == 2 && coin_of_day(i ^ other << 7, day, seed) >> 24 < risks[k]) {
          now = 1;
          left = 2 + coin_of_day(i, day, seed + 1) % 5;
          break;
        }
      }
    } else if (now < 3) {
      left--;
      if (left == 0) {
        now++;
        left = now == 2 ? 4 + coin_of_day(i, day, seed + 2) % 7 : 0;
      }
    }
    new_status[i] = now;
    new_days[i] = left;
    ADD(totals[now], 1);
""",
    before=COIN,
))  # fmt: skip

KERNELS = [
    Kernel(
        "alleles that drift", drifting_alleles, "uint8[::1], int16[::1], pyint, pyint, pyint, uint8[::1], int16[::1]", 128,
        drift_problem, gpu=1_000_003, host=10_007, test=303, kind="irregular", **DRIFT,
    ),
    Kernel(
        "linkage of sites", linkage_pairs, "int8[:,::1], float32[:,::1]", (64, 4), linkage_problem, gpu=50_021, host=2003,
        test=103, **LINKAGE,
    ),
    Kernel(
        "SEIR in regions", seir_step,
        "float64[:,::1], float64[::1], float64[:,::1], float64, float64, float64, float64, float64[:,::1]", 64, seir_problem,
        gpu=3001, host=701, test=103, power=2, **SEIR,
    ),
    Kernel(
        "contacts that infect", contact_infections,
        "int32[::1], int32[::1], uint8[::1], uint8[::1], uint8[::1], pyint, pyint, uint8[::1], uint8[::1], int32[::1]", 256,
        contact_problem, gpu=2_000_003, host=30_011, test=503, kind="irregular", **CONTACTS,
    ),
]  # fmt: skip
