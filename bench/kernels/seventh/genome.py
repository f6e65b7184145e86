"""Genomes: counts of k-mers in reads, the best of many motifs at each place."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda


def kmer_counts(reads, k, counts):
    """Counts all runs of k bases of the reads; a run with an unknown base (N) is left out."""
    i = cuda.grid(1)
    if i >= reads.shape[0]:
        return
    code = 0
    known = 0
    mask = (1 << (2 * k)) - 1
    for p in range(reads.shape[1]):
        base = int(reads[i, p])
        if base == ord("N"):
            known = 0
        else:
            code = ((code << 2) | ((base >> 1) & 3)) & mask
            known += 1
            if known >= k:
                cuda.atomic.add(counts, code, 1)


def motif_scores(bases, motifs, lengths, best, which):
    """The best score among the position weight matrices at each place of a sequence, and whose it is."""
    i = cuda.grid(1)
    if i >= bases.size:
        return
    most = -1000000
    winner = -1
    for m in range(motifs.shape[0]):
        length = lengths[m]
        if i + length <= bases.size:
            score = 0
            for j in range(length):
                score += motifs[m, j, bases[i + j]]
            if score > most:
                most = score
                winner = m
    best[i] = most
    which[i] = winner


def kmer_problem(rng, n):
    length, k = 151, 7
    letters = np.frombuffer(b"ACGTN", np.uint8)
    genome = rng.choice(letters, 40_000, p=[0.3, 0.2, 0.2, 0.295, 0.005])
    reads = genome[rng.integers(0, genome.size - length, n)[:, None] + np.arange(length)]

    def expected():
        codes = np.lib.stride_tricks.sliding_window_view(reads, k, axis=1)
        known = (codes != ord("N")).all(2)
        places = ((codes >> 1 & 3).astype(np.int32) << (2 * np.arange(k)[::-1])).sum(2)[known]
        return [(slice(None), np.bincount(places, minlength=4**k).astype(np.int32), 0)]

    args = (reads, k, np.zeros(4**k, np.int32))
    return Problem(args, (n, length), (2,), expected, threads=n, bytes=1.0 * reads.size)


def motif_problem(rng, n):
    count, longest = 37, 19
    bases = rng.integers(0, 4, n).astype(np.uint8)
    lengths = rng.integers(6, longest + 1, count).astype(np.int32)
    motifs = rng.integers(-800, 180, (count, longest, 4)).astype(np.int32)  # log odds in hundredths

    def expected():
        at = sampled(rng, n, 5000)
        wide = np.pad(bases, (0, longest))
        scores = np.full((count, at.size), -1_000_000)
        for m, length in enumerate(lengths):
            fits = at + length <= n
            scores[m, fits] = sum(motifs[m, j, wide[at[fits] + j]] for j in range(length))
        best = scores.max(0)
        which = np.where(best == -1_000_000, -1, scores.argmax(0))
        return [(at, best.astype(np.int32), 0), (at, which.astype(np.int32), 0)]

    args = (bases, motifs, lengths, np.zeros(n, np.int32), np.zeros(n, np.int32))
    return Problem(args, (n, count, longest), (3, 4), expected, threads=n, bytes=9.0 * n)


KMERS_BODY = """
    INDEX code = 0, known = 0, mask = ((INDEX)1 << (2 * k)) - 1;
    for (INDEX p = 0; p < length; p++) {
      INDEX base = reads[i * length + p];
      if (base == 'N') {
        known = 0;
      } else {
        code = ((code << 2) | ((base >> 1) & 3)) & mask;
        known++;
        if (known >= k) COUNT
      }
    }
"""
KMERS = each(
    "kmer_counts(const unsigned char *__restrict__ reads, int k, int *__restrict__ counts, int n, int length)",
    KMERS_BODY,
)
KMERS = {
    text: body.replace("COUNT", "{\n#pragma omp atomic\n          counts[code]++;\n        }")
    if text == "openmp" else body.replace("COUNT", "atomicAdd(&counts[code], 1);")
    for text, body in KMERS.items()
}

MOTIFS = each(
    """motif_scores(const unsigned char *__restrict__ bases, const int *__restrict__ motifs,
                  const int *__restrict__ lengths, int *__restrict__ best, int *__restrict__ which,
                  int n, int count, int longest)""",
    """
    int most = -1000000, winner = -1;
    for (INDEX m = 0; m < count; m++) {
      INDEX length = lengths[m];
      if (i + length <= n) {
        int score = 0;
        for (INDEX j = 0; j < length; j++)
          score += motifs[(m * longest + j) * 4 + bases[i + j]];
        if (score > most) {
          most = score;
          winner = m;
        }
      }
    }
    best[i] = most;
    which[i] = winner;
""",
)

KERNELS = [
    Kernel(
        "counts of k-mers", kmer_counts, "uint8[:,::1], pyint, int32[::1]", 128, kmer_problem,
        gpu=100_003, host=2003, test=103, kind="irregular", **KMERS,
    ),
    Kernel(
        "scores of motifs", motif_scores, "uint8[::1], int32[:,:,::1], int32[::1], int32[::1], int32[::1]", 256,
        motif_problem,
        gpu=2_000_003, host=20_003, test=1003, **MOTIFS,
    ),
]  # fmt: skip
