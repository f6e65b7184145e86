"""Life: haplotypes copied from a panel, changes on a tree, spikes on their way."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64, int32, uint8


def copied_haplotypes(panel, targets, switches, mistake, likelihoods):
    """Li and Stephens: how probable it is that a target was copied from a panel with switches and mistakes; a block a target."""
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    refs = panel.shape[1]
    shares = cuda.shared.array(1024, float32)
    partial = cuda.shared.array(128, float32)
    for j in range(t, refs, 128):
        shares[j] = float32(1) / refs
    logarithm = float64(0)
    total = float32(1)
    for site in range(panel.shape[0]):
        switch = switches[site]
        mine = targets[row, site]
        part = float32(0)
        for j in range(t, refs, 128):
            share = (1 - switch) * shares[j] / total + switch / refs
            share *= 1 - mistake if panel[site, j] == mine else mistake
            shares[j] = share
            part += share
        partial[t] = part
        cuda.syncthreads()
        width = 64
        while width > 0:
            if t < width:
                partial[t] += partial[t + width]
            cuda.syncthreads()
            width //= 2
        total = partial[0]
        logarithm += math.log(total)
        cuda.syncthreads()
    if t == 0:
        likelihoods[row] = logarithm


def parsimony_scores(bases, lefts, rights, scores, roots):
    """Fitch: the fewest changes of a site on a tree whose leaves have the bits of their bases; children come before parents."""
    site = cuda.grid(1)
    if site >= scores.size:
        return
    leaves = bases.shape[0]
    sets = cuda.local.array(128, uint8)
    for leaf in range(leaves):
        sets[leaf] = bases[leaf, site]
    changes = 0
    for k in range(lefts.size):
        a, b = sets[lefts[k]], sets[rights[k]]
        both = a & b
        if both:
            sets[leaves + k] = both
        else:
            sets[leaves + k] = a | b
            changes += 1
    scores[site] = changes
    roots[site] = sets[leaves + lefts.size - 1]


def spikes_delivered(spiking, first, targets, weights, delays, now, arriving):
    """Each neuron that spikes adds its weights to what arrives at others after delays, in a ring of time steps; a warp a neuron."""
    s = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if s >= spiking.size:
        return
    neuron = spiking[s]
    for k in range(first[neuron] + cuda.threadIdx.x, first[neuron + 1], 32):
        slot = (now + int(delays[k])) % arriving.shape[0]
        cuda.atomic.add(arriving, (slot, targets[k]), int32(weights[k]))


def copied_problem(rng, n):
    refs, sites = 507, 100
    panel = (rng.random((sites, refs)) < rng.beta(0.5, 1, (sites, 1))).astype(np.uint8)
    source = np.where(rng.random((n, sites)) < 0.05, rng.integers(0, refs, (n, sites)), -1)
    source[:, 0] = rng.integers(0, refs, n)
    source = np.take_along_axis(source, np.maximum.accumulate(np.where(source >= 0, np.arange(sites), 0), 1), 1)
    targets = panel[np.arange(sites), source] ^ (rng.random((n, sites)) < 0.01)
    switches, mistake = rng.uniform(0.01, 0.1, sites).astype(np.float32), np.float32(0.01)

    def expected():
        at = sampled(rng, n, 100)
        shares, logarithm = np.full((len(at), refs), 1 / refs), 0
        for site in range(sites):
            switch = float(switches[site])
            shares = (1 - switch) * shares + switch / refs
            shares *= np.where(panel[site] == targets[at, site, None], 1 - float(mistake), float(mistake))
            total = shares.sum(1)
            logarithm = logarithm + np.log(total)
            shares /= total[:, None]
        return [(at, logarithm, sites * 30 * EPS32)]  # a site rounds a share some 6 times, the sum 12 times

    args = (panel, targets.astype(np.uint8), switches, mistake, np.full(n, 99, np.float64))
    return Problem(
        args, (sites, refs, n), (4,), expected, grid=n, bytes=1.0 * sites * (n + refs), flops=7.0 * sites * refs * n,
        sequential=refs / 12,
    )  # fmt: skip


def parsimony_problem(rng, n):
    leaves = 61
    alive, lefts, rights = list(range(leaves)), [], []
    while len(alive) > 1:
        a, b = (alive.pop(rng.integers(len(alive))) for _ in range(2))
        lefts.append(a)
        rights.append(b)
        alive.append(leaves + len(lefts) - 1)
    lefts, rights = np.array(lefts, np.int32), np.array(rights, np.int32)
    kinds = min(n, 50_000)
    states = np.zeros((2 * leaves - 1, kinds), np.uint8)
    states[-1] = rng.integers(0, 4, kinds)
    for k in range(len(lefts) - 1, -1, -1):
        for child in lefts[k], rights[k]:
            states[child] = np.where(rng.random(kinds) < 0.1, rng.integers(0, 4, kinds), states[leaves + k])
    bases = np.uint8(1) << states[:leaves]
    bases[rng.random(bases.shape) < 0.02] = 15  # unknown
    bases = np.ascontiguousarray(bases[:, rng.permutation(n) % kinds])

    def expected():
        at = sampled(rng, n, 2000)  # Sankoff: costs of each base at each node
        costs = np.zeros((2 * leaves - 1, 4, len(at)), np.int64)
        costs[:leaves] = np.where(bases[:, None, at] >> np.arange(4)[:, None] & 1, 0, 1000)
        for k, (a, b) in enumerate(zip(lefts, rights)):
            costs[leaves + k] = sum(np.minimum(costs[child], costs[child].min(0) + 1) for child in (a, b))
        fewest = costs[-1].min(0)
        roots = ((costs[-1] == fewest) << np.arange(4)[:, None]).sum(0)
        return [(at, fewest, 0), (at, roots, 0)]

    args = (bases, lefts, rights, np.full(n, 9999, np.uint16), np.full(n, 99, np.uint8))
    return Problem(args, (leaves, len(lefts), n), (3, 4), expected, threads=n, bytes=(leaves + 3.0) * n, flops=5.0 * leaves * n)


def spikes_problem(rng, n):
    slots, now = 17, 12
    degrees = rng.poisson(100, n)
    first = np.cumsum([0, *degrees]).astype(np.int32)
    targets = rng.integers(0, n, first[-1]).astype(np.int32)
    weights = rng.integers(-300, 400, first[-1]).astype(np.int16)
    delays = rng.integers(1, slots, first[-1]).astype(np.uint8)
    spiking = np.sort(rng.permutation(n)[: n // 5 + 1]).astype(np.int32)

    def expected():
        sent = np.repeat(np.isin(np.arange(n), spiking), degrees)
        place = (now + delays[sent].astype(int)) % slots * n + targets[sent]
        return [(slice(None), np.bincount(place, weights[sent], slots * n).reshape(slots, n), 0)]

    args = (spiking, first, targets, weights, delays, now, np.zeros((slots, n), np.int32))
    return Problem(
        args, (len(spiking), slots, n), (6,), expected, grid=-(-len(spiking) // 4), bytes=15.0 * degrees[spiking].sum()
    )


COPIED_HEAD = """copied_haplotypes(const unsigned char *__restrict__ panel, const unsigned char *__restrict__ targets,
                       const float *__restrict__ switches, float mistake, double *__restrict__ likelihoods, int sites, int refs,
                       int n)"""
COPIED = indexed(
    f"""
__global__ void {COPIED_HEAD} {{
  __shared__ float shares[1024], partial[128];
  INDEX row = blockIdx.x;
  int t = threadIdx.x;
  for (INDEX j = t; j < refs; j += 128)
    shares[j] = 1.0f / refs;
  double logarithm = 0;
  float total = 1;
  for (INDEX site = 0; site < sites; site++) {{
    float move = switches[site], part = 0;
    int mine = targets[row * sites + site];
    for (INDEX j = t; j < refs; j += 128) {{
      float share = (1 - move) * shares[j] / total + move / refs;
      share *= panel[site * refs + j] == mine ? 1 - mistake : mistake;
      shares[j] = share;
      part += share;
    }}
    partial[t] = part;
    __syncthreads();
    for (int width = 64; width > 0; width /= 2) {{
      if (t < width) partial[t] += partial[t + width];
      __syncthreads();
    }}
    total = partial[0];
    logarithm += logf(total);
    __syncthreads();
  }}
  if (t == 0) likelihoods[row] = logarithm;
}}
""",
    f"""
void {COPIED_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    float shares[1024], total = 1;
    for (INDEX j = 0; j < refs; j++)
      shares[j] = 1.0f / refs;
    double logarithm = 0;
    for (INDEX site = 0; site < sites; site++) {{
      float move = switches[site], sum = 0;
      int mine = targets[row * sites + site];
      for (INDEX j = 0; j < refs; j++) {{
        float share = (1 - move) * shares[j] / total + move / refs;
        share *= panel[site * refs + j] == mine ? 1 - mistake : mistake;
        shares[j] = share;
        sum += share;
      }}
      total = sum;
      logarithm += logf(total);
    }}
    likelihoods[row] = logarithm;
  }}
}}
""",
)

PARSIMONY = each(
    """parsimony_scores(const unsigned char *__restrict__ bases, const int *__restrict__ lefts, const int *__restrict__ rights,
                      unsigned short *__restrict__ scores, unsigned char *__restrict__ roots, int leaves, int joins, int n)""",
    """
    unsigned char sets[128];
    for (INDEX leaf = 0; leaf < leaves; leaf++)
      sets[leaf] = bases[leaf * n + i];
    int changes = 0;
    for (INDEX k = 0; k < joins; k++) {
      int a = sets[lefts[k]], b = sets[rights[k]], both = a & b;
      if (both)
        sets[leaves + k] = both;
      else {
        sets[leaves + k] = a | b;
        changes++;
      }
    }
    scores[i] = changes;
    roots[i] = sets[leaves + joins - 1];
""",
)

SPIKES_HEAD = """spikes_delivered(const int *__restrict__ spiking, const int *__restrict__ first, const int *__restrict__ targets,
                      const short *__restrict__ weights, const unsigned char *__restrict__ delays, int now,
                      int *__restrict__ arriving, int count, int slots, int n)"""
SPIKES = indexed(
    f"""
__global__ void {SPIKES_HEAD} {{
  INDEX s = blockIdx.x * (INDEX)blockDim.y + threadIdx.y;
  if (s >= count) return;
  INDEX neuron = spiking[s], end = first[neuron + 1];
  for (INDEX k = first[neuron] + threadIdx.x; k < end; k += 32) {{
    INDEX slot = (now + delays[k]) % slots;
    atomicAdd(&arriving[slot * n + targets[k]], (int)weights[k]);
  }}
}}
""",
    f"""
void {SPIKES_HEAD} {{
#pragma omp parallel for
  for (INDEX s = 0; s < count; s++)
    for (INDEX k = first[spiking[s]]; k < first[spiking[s] + 1]; k++) {{
      INDEX slot = (now + delays[k]) % slots;
#pragma omp atomic
      arriving[slot * n + targets[k]] += weights[k];
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "haplotypes copied from a panel", copied_haplotypes, "uint8[:,::1], uint8[:,::1], float32[::1], float32, float64[::1]",
        128, copied_problem, gpu=2003, host=53, test=5, kind="shared", **COPIED,
    ),
    Kernel(
        "changes on a tree", parsimony_scores, "uint8[:,::1], int32[::1], int32[::1], uint16[::1], uint8[::1]", 128,
        parsimony_problem, gpu=1_000_003, host=20_011, test=503, kind="irregular", **PARSIMONY,
    ),
    Kernel(
        "spikes on their way", spikes_delivered,
        "int32[::1], int32[::1], int32[::1], int16[::1], uint8[::1], pyint, int32[:,::1]", (32, 4), spikes_problem, gpu=200_003,
        host=5003, test=203, kind="irregular", **SPIKES,
    ),
]  # fmt: skip
