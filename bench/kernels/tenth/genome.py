"""Genomes: proteins of six frames, qualities, coverage by reads, folds, alleles that two people share."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.tenth.adds import with_adds
from kernels.tenth.radio import popcount
from kernels.texts import each, indexed, plane
from pyptx import cuda, int32, uint8, uint32

AMINO = b"KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF"  # codons in the order ACGT


def base_code(letter):
    if letter == ord("A"):
        return 0
    if letter == ord("C"):
        return 1
    if letter == ord("G"):
        return 2
    if letter == ord("T"):
        return 3
    return -1


def six_frames(bases, aminos, out):
    """Proteins of all six reading frames of a genome; X where a letter is no base."""
    i, frame = cuda.grid(2)
    if frame >= 6 or i >= out.shape[1]:
        return
    codon = 0
    for k in range(3):
        place = 3 * i + frame % 3 + k
        if place >= bases.size:
            out[frame, i] = 0
            return
        if frame < 3:
            code = base_code(bases[place])
        else:
            code = base_code(bases[bases.size - 1 - place])
            if code >= 0:
                code = 3 - code
        if code < 0:
            out[frame, i] = ord("X")
            return
        codon = 4 * codon + code
    out[frame, i] = aminos[codon]


def quality_trims(qualities, lengths, threshold, ends):
    """Where to cut the bad end of each read: BWA's largest sum from the end on."""
    i = cuda.grid(1)
    if i >= ends.size:
        return
    total = 0
    best = 0
    end = int(lengths[i])
    for k in range(int(lengths[i]) - 1, -1, -1):
        total += threshold - (int(qualities[k, i]) - 33)
        if total < 0:
            break
        if total > best:
            best = total
            end = k
    ends[i] = end


def pileup_counts(starts, first, operations, coverage, gaps):
    """How many reads cover each place of a genome and how many leave it out, from the reads' CIGAR strings."""
    i = cuda.grid(1)
    if i >= starts.size:
        return
    place = int(starts[i])
    for k in range(first[i], first[i + 1]):
        length = int(operations[k] >> 4)
        kind = operations[k] & 15
        if kind == 1 or kind == 4:
            continue
        if kind == 0:
            for j in range(place, min(place + length, coverage.size)):
                cuda.atomic.add(coverage, j, 1)
        elif kind == 2:
            for j in range(place, min(place + length, coverage.size)):
                cuda.atomic.add(gaps, j, 1)
        place += length


def folded_pairs(bases, starts, loop, best):
    """Nussinov: the most pairs that each strand of RNA can form, diagonal by diagonal; a block a strand."""
    strand = cuda.shared.array(96, uint8)
    table = cuda.shared.array((96, 97), uint8)
    t = cuda.threadIdx.x
    begin = int(starts[cuda.blockIdx.x])
    size = int(starts[cuda.blockIdx.x + 1]) - begin
    for k in range(t, size, cuda.blockDim.x):
        strand[k] = bases[begin + k]
    for k in range(t, size * size, cuda.blockDim.x):
        table[k // size, k % size] = 0
    cuda.syncthreads()
    for span in range(loop + 1, size):
        for i in range(t, size - span, cuda.blockDim.x):
            j = i + span
            most = int(table[i + 1, j])
            for k in range(i + loop + 1, j + 1):
                a = int(strand[i])
                b = int(strand[k])
                if a + b == 3 or a + b == 5 and a != b and a >= 2 and b >= 2:
                    pairs = 1 + int(table[i + 1, k - 1])
                    if k < j:
                        pairs += int(table[k + 1, j])
                    most = max(most, pairs)
            table[i, j] = most
        cuda.syncthreads()
    if t == 0:
        best[cuda.blockIdx.x] = table[0, size - 1] if size > 0 else 0


def shared_alleles(genotypes, same, opposite):
    """How many genotypes two people share, and how many are opposite: 16 of 2 bits in a word, 3 where it is missing."""
    j, i = cuda.grid(2)
    if j >= genotypes.shape[0] or i > j:
        return
    equal = 0
    against = 0
    for k in range(genotypes.shape[1]):
        a = genotypes[i, k]
        b = genotypes[j, k]
        low_a = a & 0x55555555
        low_b = b & 0x55555555
        high_a = a >> 1 & 0x55555555
        high_b = b >> 1 & 0x55555555
        known = ~(low_a & high_a | low_b & high_b) & 0x55555555
        equal += int(cuda.popc(known & ~(low_a ^ low_b | high_a ^ high_b)))
        against += int(cuda.popc(known & ~(low_a | low_b) & (high_a ^ high_b)))
    same[i, j] = equal
    same[j, i] = equal
    opposite[i, j] = against
    opposite[j, i] = against


def frames_problem(rng, n):
    bases = np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, n)].copy()
    bases[rng.random(n) < 0.01] = ord("N")
    aminos = np.frombuffer(AMINO, np.uint8).copy()

    def expected():
        codes = np.full(256, -1)
        codes[list(b"ACGT")] = range(4)
        forward, rows = codes[bases], []
        back = np.where(forward < 0, -1, 3 - forward)[::-1]
        for frame in range(6):
            strand = np.append(forward if frame < 3 else back, [9] * 6)[frame % 3 :]
            c = strand[: 3 * (n // 3)].reshape(-1, 3)
            known = (c >= 0) & (c < 4)
            values = np.where(known.all(1), aminos[np.where(known, c, 0) @ [16, 4, 1]], ord("X"))
            ends = (c == 9).any(1)  # at the end of the strand the first that is no base decides
            values[ends] = [ord("X") if -1 in row[: list(row).index(9)] else 0 for row in c[ends]]
            rows.append(values)
        return [(slice(None), np.array(rows), 0)]

    args = (bases, aminos, np.full((6, n // 3), 255, np.uint8))
    return Problem(args, (n, n // 3), (2,), expected, threads=(n // 3, 6), bytes=3.0 * n, flops=20.0 * n)


def trims_problem(rng, n):
    size, threshold = 149, 20
    lengths = rng.integers(30, size + 1, n).astype(np.int32)
    kinds = min(n, 5003)
    fall = np.maximum(0, np.arange(size)[:, None] - rng.integers(40, 180, kinds))
    qualities = (33 + np.clip(36 - fall + rng.integers(-8, 5, (size, kinds)), 2, 41)).astype(np.uint8)
    qualities = np.ascontiguousarray(qualities[:, rng.integers(0, kinds, n)])

    def expected():
        at, ends = sampled(rng, n, 2000), []
        for i in at:
            q = threshold - (qualities[: lengths[i], i].astype(int)[::-1] - 33)
            total = np.cumsum(q)
            stop = int(np.argmax(total < 0)) if (total < 0).any() else len(total)
            total = total[:stop]
            ends.append(lengths[i] if not stop or total.max() <= 0 else lengths[i] - 1 - int(np.argmax(total)))
        return [(at, np.array(ends), 0)]

    args = (qualities, lengths, threshold, np.full(n, -1, np.int32))
    return Problem(args, (n,), (3,), expected, threads=n, bytes=60.0 * n, flops=4.0 * 60 * n)


def pileup_problem(rng, n):
    genome = 3 * n + 200
    starts = np.sort(rng.integers(0, genome - 60, n)).astype(np.int32)
    sizes = rng.integers(1, 6, n)
    first = np.cumsum([0, *sizes]).astype(np.int32)
    turn = np.arange(first[-1]) - np.repeat(first[:-1], sizes) + np.repeat(rng.integers(0, 2, n), sizes)
    kinds = np.array([4, 0, 1, 0, 2, 0, 3, 0])[turn % 8]
    lengths = np.where(kinds == 0, rng.integers(8, 45, len(kinds)), rng.integers(1, 9, len(kinds)))
    operations = (lengths << 4 | kinds).astype(np.uint32)

    def expected():
        moves = np.where((kinds == 1) | (kinds == 4), 0, lengths)
        before = np.cumsum(moves) - moves
        at = np.repeat(starts - before[first[:-1]], sizes) + before
        results = []
        for kind in (0, 2):
            edges = np.zeros(genome + 1, int)
            some = kinds == kind
            np.add.at(edges, np.minimum(at[some], genome), 1)
            np.add.at(edges, np.minimum(at[some] + lengths[some], genome), -1)
            results.append((slice(None), np.cumsum(edges)[:-1], 0))
        return results

    args = (starts, first, operations, np.zeros(genome, np.int32), np.zeros(genome, np.int32))
    return Problem(
        args, (n, genome), (3, 4), expected, threads=n, bytes=4.0 * (2 * n + len(kinds) + 2 * genome),
        flops=1.0 * lengths.sum(),
    )  # fmt: skip


def folds_problem(rng, n):
    loop = 3
    sizes = rng.integers(40, 96, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    bases = rng.integers(0, 4, int(starts[-1])).astype(np.uint8)  # A, C, G, U

    def fold(s):
        size = len(s)
        table = np.zeros((size + 2, size + 2), int)
        pairs = (s[:, None] + s == 3) | ((s[:, None] + s == 5) & (s[:, None] != s) & (np.minimum(s[:, None], s) >= 2))
        for span in range(loop + 1, size):
            for i in range(size - span):
                j = i + span
                k = i + loop + 1 + np.flatnonzero(pairs[i, i + loop + 1 : j + 1])
                most = table[i + 1, j]
                if k.size:
                    most = max(most, (1 + table[i + 1, k - 1] + np.where(k < j, table[k + 1, j], 0)).max())
                table[i, j] = most
        return table[0, size - 1]

    def expected():
        at = sampled(rng, n, 40)
        return [(at, np.array([fold(bases[starts[i] : starts[i + 1]].astype(int)) for i in at]), 0)]

    args = (bases, starts, loop, np.full(n, 255, np.uint8))
    return Problem(args, (n,), (3,), expected, grid=n, bytes=1.0 * bases.size, flops=1.0 * (sizes**3 / 6).sum())


def alleles_problem(rng, n):
    words = 603
    genotypes = rng.integers(0, 1 << 32, (n, words), np.uint32) & rng.integers(0, 1 << 32, (n, words), np.uint32)

    def expected():
        at = sampled(rng, n, 8)
        g = (genotypes[:, :, None] >> (2 * np.arange(16, dtype=np.uint32)) & np.uint32(3)).reshape(n, -1).astype(np.int8)
        same, opposite = [], []
        for i in at:
            known = (g[i] < 3) & (g < 3)
            same.append((known & (g[i] == g)).sum(1))
            opposite.append((known & (abs(g[i] - g) == 2)).sum(1))
        return [(at, np.array(same), 0), (at, np.array(opposite), 0)]

    args = (genotypes, np.full((n, n), -1, np.int32), np.full((n, n), -1, np.int32))
    return Problem(
        args, (n, words), (1, 2), expected, threads=(n, n), bytes=8.0 * n * n + 4.0 * n * words, flops=20.0 * words * n * n / 2,
    )  # fmt: skip


FRAMES = plane(
    """six_frames(const unsigned char *__restrict__ bases, const unsigned char *__restrict__ aminos,
                 unsigned char *__restrict__ out, int n, int size)""",
    """
    int codon = 0, amino = -1;
    for (int k = 0; k < 3 && amino < 0; k++) {
      INDEX place = 3 * col + row % 3 + k;
      if (place >= n) {
        amino = 0;
      } else {
        int code = code_of_base(bases[row < 3 ? place : n - 1 - place]);
        if (code < 0) amino = 'X';
        codon = 4 * codon + (row < 3 ? code : 3 - code);
      }
    }
    out[row * size + col] = amino < 0 ? aminos[codon] : amino;
""",
    "6", "size",
    before="""
DEVICE int code_of_base(unsigned char letter) {
  switch (letter) {
    case 'A': return 0;
    case 'C': return 1;
    case 'G': return 2;
    case 'T': return 3;
  }
  return -1;
}
""",
)  # fmt: skip

TRIMS = each(
    """quality_trims(const unsigned char *__restrict__ qualities, const int *__restrict__ lengths, int threshold,
                   int *__restrict__ ends, int n)""",
    """
    INDEX total = 0, best = 0, end = lengths[i];
    for (INDEX k = lengths[i] - 1; k >= 0; k--) {
      total += threshold - (qualities[k * n + i] - 33);
      if (total < 0) break;
      if (total > best) {
        best = total;
        end = k;
      }
    }
    ends[i] = end;
""",
)

PILEUP = with_adds(each(
    """pileup_counts(const int *__restrict__ starts, const int *__restrict__ first, const unsigned *__restrict__ operations,
                   int *__restrict__ coverage, int *__restrict__ gaps, int n, int genome)""",
    """
    INDEX place = starts[i];
    for (INDEX k = first[i]; k < first[i + 1]; k++) {
      INDEX length = operations[k] >> 4, end = place + length < genome ? place + length : genome;
      int kind = operations[k] & 15;
      if (kind == 1 || kind == 4) continue;
      if (kind == 0) {
        for (INDEX j = place; j < end; j++)
          ADD(coverage[j], 1);
      } else if (kind == 2) {
        for (INDEX j = place; j < end; j++)
          ADD(gaps[j], 1);
      }
      place += length;
    }
""",
))  # fmt: skip

FOLDS_HEAD = """folded_pairs(const unsigned char *__restrict__ bases, const int *__restrict__ starts, int loop,
                 unsigned char *__restrict__ best, int n)"""
FOLD = """
      INDEX j = i + span;
      int most = table[i + 1][j];
      for (INDEX k = i + loop + 1; k <= j; k++) {
        int a = strand[i], b = strand[k];
        if (a + b == 3 || (a + b == 5 && a != b && a >= 2 && b >= 2)) {
          int pairs = 1 + table[i + 1][k - 1];
          if (k < j) pairs += table[k + 1][j];
          most = MAX(most, pairs);
        }
      }
      table[i][j] = most;
"""
FOLDS = indexed(
    f"""
__global__ void {FOLDS_HEAD} {{
  __shared__ unsigned char strand[96], table[96][97];
  INDEX t = threadIdx.x, begin = starts[blockIdx.x], size = starts[blockIdx.x + 1] - begin;
  for (INDEX k = t; k < size; k += blockDim.x)
    strand[k] = bases[begin + k];
  for (INDEX k = t; k < size * size; k += blockDim.x)
    table[k / size][k % size] = 0;
  __syncthreads();
  for (INDEX span = loop + 1; span < size; span++) {{
    for (INDEX i = t; i < size - span; i += blockDim.x) {{{FOLD}    }}
    __syncthreads();
  }}
  if (t == 0) best[blockIdx.x] = size > 0 ? table[0][size - 1] : 0;
}}
""",
    f"""
void {FOLDS_HEAD} {{
#pragma omp parallel for
  for (INDEX s = 0; s < n; s++) {{
    unsigned char table[96][97] = {{{{0}}}};
    const unsigned char *strand = bases + starts[s];
    INDEX size = starts[s + 1] - starts[s];
    for (INDEX span = loop + 1; span < size; span++)
      for (INDEX i = 0; i < size - span; i++) {{{FOLD}      }}
    best[s] = size > 0 ? table[0][size - 1] : 0;
  }}
}}
""",
)

ALLELES = popcount(plane(
    """shared_alleles(const unsigned *__restrict__ genotypes, int *__restrict__ same, int *__restrict__ opposite, int n,
                    int words)""",
    """
    if (row <= col) {
      INDEX equal = 0, against = 0;
      for (INDEX k = 0; k < words; k++) {
        unsigned a = genotypes[row * words + k], b = genotypes[col * words + k];
        unsigned low_a = a & 0x55555555, low_b = b & 0x55555555, high_a = a >> 1 & 0x55555555, high_b = b >> 1 & 0x55555555;
        unsigned known = ~((low_a & high_a) | (low_b & high_b)) & 0x55555555;
        equal += POPC(known & ~((low_a ^ low_b) | (high_a ^ high_b)));
        against += POPC(known & ~(low_a | low_b) & (high_a ^ high_b));
      }
      same[row * n + col] = same[col * n + row] = equal;
      opposite[row * n + col] = opposite[col * n + row] = against;
    }
""",
    "n", "n",
))  # fmt: skip

KERNELS = [
    Kernel(
        "proteins of six frames", six_frames, "uint8[::1], uint8[::1], uint8[:,::1]", (128, 2), frames_problem,
        gpu=20_000_003, host=300_007, test=1001, **FRAMES,
    ),
    Kernel(
        "ends of bad quality", quality_trims, "uint8[:,::1], int32[::1], pyint, int32[::1]", 256, trims_problem,
        gpu=1_000_003, host=20_011, test=501, kind="irregular", **TRIMS,
    ),
    Kernel(
        "coverage by reads", pileup_counts, "int32[::1], int32[::1], uint32[::1], int32[::1], int32[::1]", 128,
        pileup_problem, gpu=1_000_003, host=30_011, test=501, kind="irregular", **PILEUP,
    ),
    Kernel(
        "folds of RNA", folded_pairs, "uint8[::1], int32[::1], pyint, uint8[::1]", 96, folds_problem, gpu=5003, host=503,
        test=3, kind="shared", **FOLDS,
    ),
    Kernel(
        "alleles that two share", shared_alleles, "uint32[:,::1], int32[:,::1], int32[:,::1]", (16, 16), alleles_problem,
        gpu=1203, host=101, test=37, power=2, **ALLELES,
    ),
]  # fmt: skip
