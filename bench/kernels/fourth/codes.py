"""Ciphers, checksums and bits: ChaCha20 (RFC 8439), AES (FIPS 197) with a table in shared memory,
CRC-32, bit matrices (Warren, "Hacker's Delight"), Conway's game by full adders. All results are
equal, so the bounds are 0.
"""

import zlib

import numpy as np
from kernels.declare import THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, uint32, uint64


def rotate_left(v, k):
    return (v << k) | (v >> (32 - k))


def rotate_right(v, k):
    return (v >> k) | (v << (32 - k))


def quarter_round(s, a, b, c, d):
    s[a] += s[b]
    s[d] = rotate_left(s[d] ^ s[a], 16)
    s[c] += s[d]
    s[b] = rotate_left(s[b] ^ s[c], 12)
    s[a] += s[b]
    s[d] = rotate_left(s[d] ^ s[a], 8)
    s[c] += s[d]
    s[b] = rotate_left(s[b] ^ s[c], 7)


def chacha20(data, key, nonce, counter, rounds, out):
    """A thread encrypts one block of 16 words."""
    i = cuda.grid(1)
    if i >= data.shape[0]:
        return
    start = cuda.local.array(16, uint32)
    s = cuda.local.array(16, uint32)
    start[0], start[1], start[2], start[3] = 0x61707865, 0x3320646E, 0x79622D32, 0x6B206574
    for k in range(8):
        start[4 + k] = key[k]
    start[12] = counter + uint32(i)
    for k in range(3):
        start[13 + k] = nonce[k]
    for k in range(16):
        s[k] = start[k]
    for _ in range(rounds // 2):
        quarter_round(s, 0, 4, 8, 12)
        quarter_round(s, 1, 5, 9, 13)
        quarter_round(s, 2, 6, 10, 14)
        quarter_round(s, 3, 7, 11, 15)
        quarter_round(s, 0, 5, 10, 15)
        quarter_round(s, 1, 6, 11, 12)
        quarter_round(s, 2, 7, 8, 13)
        quarter_round(s, 3, 4, 9, 14)
    for k in range(16):
        out[i, k] = data[i, k] ^ (s[k] + start[k])


def aes_encrypt(data, keys, table, sbox, out):
    """Blocks of four big-endian words; the table of a round is in shared memory."""
    te = cuda.shared.array(256, uint32)
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        te[k] = table[k]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i >= data.shape[0]:
        return
    rounds = keys.shape[0] - 1
    a = data[i, 0] ^ keys[0, 0]
    b = data[i, 1] ^ keys[0, 1]
    c = data[i, 2] ^ keys[0, 2]
    d = data[i, 3] ^ keys[0, 3]
    for r in range(1, rounds):
        e = te[a >> 24] ^ rotate_right(te[(b >> 16) & 255], 8) ^ rotate_right(te[(c >> 8) & 255], 16) ^ rotate_right(te[d & 255], 24)
        f = te[b >> 24] ^ rotate_right(te[(c >> 16) & 255], 8) ^ rotate_right(te[(d >> 8) & 255], 16) ^ rotate_right(te[a & 255], 24)
        g = te[c >> 24] ^ rotate_right(te[(d >> 16) & 255], 8) ^ rotate_right(te[(a >> 8) & 255], 16) ^ rotate_right(te[b & 255], 24)
        h = te[d >> 24] ^ rotate_right(te[(a >> 16) & 255], 8) ^ rotate_right(te[(b >> 8) & 255], 16) ^ rotate_right(te[c & 255], 24)
        a, b, c, d = e ^ keys[r, 0], f ^ keys[r, 1], g ^ keys[r, 2], h ^ keys[r, 3]
    for k in range(4):
        word = (
            uint32(sbox[a >> 24]) << 24 | uint32(sbox[(b >> 16) & 255]) << 16
            | uint32(sbox[(c >> 8) & 255]) << 8 | uint32(sbox[d & 255])
        )  # fmt: skip
        out[i, k] = word ^ keys[rounds, k]
        a, b, c, d = b, c, d, a


def crc32_records(data, length, table, sums):
    """CRC-32 of each record, byte by byte."""
    i = cuda.grid(1)
    if i < sums.size:
        crc = uint32(0xFFFFFFFF)
        for k in range(length):
            crc = (crc >> 8) ^ table[(crc ^ data[i * length + k]) & 255]
        sums[i] = ~crc


def transpose_bits(words, out):
    """A thread transposes a matrix of 32 x 32 bits, exchanging halves, quarters, ... of it."""
    i = cuda.grid(1)
    if i >= words.shape[0]:
        return
    a = cuda.local.array(32, uint32)
    for k in range(32):
        a[k] = words[i, k]
    j = 16
    mask = uint32(0x0000FFFF)
    while j != 0:
        k = 0
        while k < 32:
            t = (a[k] ^ (a[k + j] >> j)) & mask
            a[k] ^= t
            a[k + j] ^= t << j
            k = (k + j + 1) & ~j
        j >>= 1
        mask ^= mask << j
    for k in range(32):
        out[i, k] = a[k]


def plus(a, b, c):
    """Sums of three bits in each place: (ones, twos)."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


def row_of_neighbours(cells, row, word):
    """The words to the left of, at and to the right of each cell; beyond the border all is dead."""
    if row < 0 or row >= cells.shape[0]:
        return uint64(0), uint64(0), uint64(0)
    here = cells[row, word]
    left = here << 1
    right = here >> 1
    if word > 0:
        left |= cells[row, word - 1] >> 63
    if word < cells.shape[1] - 1:
        right |= cells[row, word + 1] << 63
    return left, here, right


def life_words(cells, out):
    """A step of Conway's game, 64 cells to a word, whose lowest bit is the leftmost."""
    word, row = cuda.grid(2)
    if row >= cells.shape[0] or word >= cells.shape[1]:
        return
    a, b, c = row_of_neighbours(cells, row - 1, word)
    d, here, e = row_of_neighbours(cells, row, word)
    f, g, h = row_of_neighbours(cells, row + 1, word)
    ones_above, twos_above = plus(a, b, c)
    ones_below, twos_below = plus(f, g, h)
    ones_beside, twos_beside = d ^ e, d & e
    ones, more_twos = plus(ones_above, ones_below, ones_beside)
    twos, fours = plus(twos_above, twos_below, twos_beside)
    two = twos ^ more_twos
    fours |= twos & more_twos
    out[row, word] = two & ~fours & (ones | here)


def words_of(rng, *shape):
    return rng.integers(0, 2**32, shape, np.uint32)


def words_of64(rng, *shape):
    return rng.integers(0, 2**64, shape, np.uint64)


def rotated(v, k):
    return v << np.uint32(k) | v >> np.uint32(32 - k)


def chacha_problem(rng, n):
    """n blocks of 64 bytes, 20 rounds; the counter starts near its end and wraps."""
    data, key, nonce, counter = words_of(rng, n, 16), words_of(rng, 8), words_of(rng, 3), np.uint32(2**32 - 101)

    def expected():
        some = sampled(np.random.default_rng(0), n, 3000)
        start = np.empty((16, len(some)), np.uint32)
        start[:4] = np.frombuffer(b"expand 32-byte k", "<u4")[:, None]
        start[4:12], start[12], start[13:] = key[:, None], counter + some.astype(np.uint32), nonce[:, None]
        s = start.copy()
        for _ in range(10):
            for turn in (0, 1):  # the columns, then the diagonals
                a, b, c, d = (np.roll(s[4 * k : 4 * k + 4], -k * turn, axis=0) for k in range(4))
                for one, other in ((16, 12), (8, 7)):
                    a = a + b
                    d = rotated(d ^ a, one)
                    c = c + d
                    b = rotated(b ^ c, other)
                s = np.concatenate([np.roll(v, k * turn, axis=0) for k, v in enumerate((a, b, c, d))])
        return [(some, data[some] ^ (s + start).T, 0)]

    return Problem(
        (data, key, nonce, counter, 20, np.zeros_like(data)), (n,), (5,), expected, threads=n, bytes=128 * n,
        flops=(80 * 12 + 32) * n,
    )  # fmt: skip


def twice(v):
    """Times x in the field of AES."""
    return (v << 1 ^ np.where(v & 128, 0x1B, 0)) & 255


def field_times(a, b):
    product = 0 * a
    while b:
        product ^= a * (b & 1)
        a, b = twice(a), b >> 1
    return product


def aes_sbox():
    """The inverse in the field, then an affine map of its bits."""
    values = np.arange(256)
    inverse = np.array([next((b for b in range(1, 256) if field_times(np.int64(a), b) == 1), 0) for a in values])
    out = inverse ^ 0x63
    for k in range(1, 5):
        out ^= (inverse << k | inverse >> (8 - k)) & 255
    return out.astype(np.uint8)


SBOX = aes_sbox()


def aes_schedule(key):
    """(11, 4) words from a key of 16 bytes."""
    words, constant = [int(w) for w in key.view(">u4")], 1
    for k in range(4, 44):
        word = words[-1]
        if k % 4 == 0:
            word = (word << 8 | word >> 24) & 0xFFFFFFFF
            word = int.from_bytes(SBOX[list(word.to_bytes(4, "big"))].tobytes(), "big") ^ constant << 24
            constant = int(twice(np.int64(constant)))
        words.append(words[-4] ^ word)
    return np.array(words, np.uint32).reshape(11, 4)


def aes_problem(rng, n):
    """n blocks of 16 bytes, a key of 128 bits."""
    data, keys = words_of(rng, n, 4), aes_schedule(rng.integers(0, 256, 16, np.uint8))
    s = SBOX.astype(np.int64)
    table = (twice(s) << 24 | s << 16 | s << 8 | (twice(s) ^ s)).astype(np.uint32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 3000)
        state = (data[some] ^ keys[0]).astype(">u4").view(np.uint8).reshape(-1, 4, 4)  # column, row
        for r in range(1, 11):
            state = SBOX[state]
            state = np.stack([np.roll(state[:, :, k], -k, axis=1) for k in range(4)], axis=2)
            if r < 10:
                v = state.astype(np.int64)
                near = np.roll(v, -1, axis=2)
                state = twice(v) ^ twice(near) ^ near ^ np.roll(v, -2, axis=2) ^ np.roll(v, -3, axis=2)
            state = state.astype(np.uint8) ^ keys[r].astype(">u4").view(np.uint8).reshape(4, 4)
        return [(some, np.ascontiguousarray(state).reshape(-1, 16).view(">u4").astype(np.uint32), 0)]

    return Problem(
        (data, keys, table, SBOX, np.zeros_like(data)), (n, 11), (4,), expected, threads=n, bytes=32 * n,
        flops=10 * 80 * n,
    )  # fmt: skip


def crc_problem(rng, n):
    """n records of 67 bytes."""
    length = 67
    data = rng.integers(0, 256, n * length, np.uint8)
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = table >> np.uint32(1) ^ np.where(table & np.uint32(1), np.uint32(0xEDB88320), np.uint32(0))

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        values = [zlib.crc32(data[i * length : (i + 1) * length].tobytes()) for i in some]
        return [(some, np.array(values, np.uint32), 0)]

    return Problem(
        (data, length, table, np.zeros(n, np.uint32)), (n * length, n), (3,), expected, threads=n,
        bytes=(length + 4) * n, flops=4 * length * n,
    )  # fmt: skip


def bits_of(words):
    """Of the last axis, the highest bit first."""
    return np.unpackbits(words.astype(">u4").view(np.uint8), axis=-1)


def transpose_problem(rng, n):
    """n matrices."""
    words = words_of(rng, n, 32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 3000)
        bits = bits_of(words[some].reshape(-1, 1)).reshape(-1, 32, 32).transpose(0, 2, 1)
        packed = np.packbits(np.ascontiguousarray(bits), axis=-1).reshape(-1, 128)
        return [(some, packed.view(">u4").astype(np.uint32), 0)]

    return Problem((words, np.zeros_like(words)), (n,), (1,), expected, threads=n, bytes=256 * n, flops=5 * 16 * 8 * n)


def life_problem(rng, n, shape=None):
    """64 n cells a row in 64 n + 3 rows, a third of them alive."""
    rows, width = shape or (64 * n + 3, n)
    cells = words_of64(rng, rows, width) & (words_of64(rng, rows, width) | words_of64(rng, rows, width))

    def expected():
        some = min(rows, 500)
        alive = np.unpackbits(cells[: some + 1].view(np.uint8), axis=1, bitorder="little")
        padded = np.pad(alive, 1)
        around = sum(padded[y : y + len(alive), x : x + 64 * width] for y in range(3) for x in range(3)) - alive
        values = ((around == 3) | (alive & (around == 2))).astype(np.uint8)[:some]
        return [(np.s_[:some], np.packbits(values, axis=1, bitorder="little").view(np.uint64), 0)]

    return Problem(
        (cells, np.zeros_like(cells)), (rows, width), (1,), expected, threads=(width, rows), bytes=16 * rows * width,
        flops=50 * rows * width,
    )  # fmt: skip


CHACHA = each(
    "chacha20(const unsigned *data, const unsigned *key, const unsigned *nonce, unsigned counter, int rounds, unsigned *out, int n)",
    """
    unsigned start[16], s[16];
    start[0] = 0x61707865;
    start[1] = 0x3320646e;
    start[2] = 0x79622d32;
    start[3] = 0x6b206574;
    for (INDEX k = 0; k < 8; k++)
      start[4 + k] = key[k];
    start[12] = counter + (unsigned)i;
    for (INDEX k = 0; k < 3; k++)
      start[13 + k] = nonce[k];
    for (INDEX k = 0; k < 16; k++)
      s[k] = start[k];
    for (INDEX r = 0; r < rounds / 2; r++) {
      QUARTER(s[0], s[4], s[8], s[12]);
      QUARTER(s[1], s[5], s[9], s[13]);
      QUARTER(s[2], s[6], s[10], s[14]);
      QUARTER(s[3], s[7], s[11], s[15]);
      QUARTER(s[0], s[5], s[10], s[15]);
      QUARTER(s[1], s[6], s[11], s[12]);
      QUARTER(s[2], s[7], s[8], s[13]);
      QUARTER(s[3], s[4], s[9], s[14]);
    }
    for (INDEX k = 0; k < 16; k++)
      out[16 * i + k] = data[16 * i + k] ^ (s[k] + start[k]);
""",
    before="""
#define ROTATED(v, k) ((v) << (k) | (v) >> (32 - (k)))
#define QUARTER(a, b, c, d) \\
  (a += b, d ^= a, d = ROTATED(d, 16), c += d, b ^= c, b = ROTATED(b, 12), \\
   a += b, d ^= a, d = ROTATED(d, 8), c += d, b ^= c, b = ROTATED(b, 7))
""",
)

AES_BODY = """
    const unsigned char *s = sbox;
    int last = rows - 1;
    unsigned a = data[4 * i] ^ keys[0], b = data[4 * i + 1] ^ keys[1];
    unsigned c = data[4 * i + 2] ^ keys[2], d = data[4 * i + 3] ^ keys[3];
    for (INDEX r = 1; r < last; r++) {
      unsigned e = AES_COLUMN(a, b, c, d) ^ keys[4 * r], f = AES_COLUMN(b, c, d, a) ^ keys[4 * r + 1];
      unsigned g = AES_COLUMN(c, d, a, b) ^ keys[4 * r + 2], h = AES_COLUMN(d, a, b, c) ^ keys[4 * r + 3];
      a = e;
      b = f;
      c = g;
      d = h;
    }
    out[4 * i] = AES_LAST(a, b, c, d) ^ keys[4 * last];
    out[4 * i + 1] = AES_LAST(b, c, d, a) ^ keys[4 * last + 1];
    out[4 * i + 2] = AES_LAST(c, d, a, b) ^ keys[4 * last + 2];
    out[4 * i + 3] = AES_LAST(d, a, b, c) ^ keys[4 * last + 3];
"""
AES_MACROS = """
#define AES_TURNED(v, k) ((v) >> (k) | (v) << (32 - (k)))
#define AES_COLUMN(a, b, c, d) \\
  (te[(a) >> 24] ^ AES_TURNED(te[(b) >> 16 & 255], 8) ^ AES_TURNED(te[(c) >> 8 & 255], 16) ^ AES_TURNED(te[(d) & 255], 24))
#define AES_LAST(a, b, c, d) \\
  ((unsigned)s[(a) >> 24] << 24 | (unsigned)s[(b) >> 16 & 255] << 16 | (unsigned)s[(c) >> 8 & 255] << 8 | s[(d) & 255])
"""
AES_HEAD = """aes_encrypt(const unsigned *data, const unsigned *keys, const unsigned *table, const unsigned char *sbox,
                 unsigned *out, int n, int rows)"""
AES = indexed(
    f"""{AES_MACROS}
__global__ void {AES_HEAD} {{
  __shared__ unsigned te[256];
  for (INDEX k = threadIdx.x; k < 256; k += blockDim.x)
    te[k] = table[k];
  __syncthreads();
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i < n) {{{AES_BODY}  }}
}}
""",
    f"""{AES_MACROS}
void {AES_HEAD} {{
  const unsigned *te = table;
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{AES_BODY}  }}
}}
""",
)

CRC = each(
    "crc32_records(const unsigned char *data, int length, const unsigned *table, unsigned *sums, int size, int n)",
    """
    unsigned crc = 0xffffffff;
    for (INDEX k = 0; k < length; k++)
      crc = crc >> 8 ^ table[(crc ^ data[i * length + k]) & 255];
    sums[i] = ~crc;
""",
)

TRANSPOSE = each(
    "transpose_bits(const unsigned *words, unsigned *out, int n)",
    """
    unsigned a[32], mask = 0x0000ffff;
    for (INDEX k = 0; k < 32; k++)
      a[k] = words[32 * i + k];
    for (INDEX j = 16; j != 0; j >>= 1, mask ^= mask << j)
      for (INDEX k = 0; k < 32; k = (k + j + 1) & ~j) {
        unsigned t = (a[k] ^ a[k + j] >> j) & mask;
        a[k] ^= t;
        a[k + j] ^= t << j;
      }
    for (INDEX k = 0; k < 32; k++)
      out[32 * i + k] = a[k];
""",
)

LIFE = plane(
    "life_words(const unsigned long long *cells, unsigned long long *out, int rows, int cols)",
    """
    life_word a, b, c, d, here, e, f, g, h;
    life_row(cells, row - 1, col, rows, cols, &a, &b, &c);
    life_row(cells, row, col, rows, cols, &d, &here, &e);
    life_row(cells, row + 1, col, rows, cols, &f, &g, &h);
    life_word ones_above = a ^ b ^ c, twos_above = (a & b) | ((a ^ b) & c);
    life_word ones_below = f ^ g ^ h, twos_below = (f & g) | ((f ^ g) & h);
    life_word ones_beside = d ^ e, twos_beside = d & e, half = ones_above ^ ones_below;
    life_word ones = half ^ ones_beside, more_twos = (ones_above & ones_below) | (half & ones_beside);
    life_word twos = twos_above ^ twos_below ^ twos_beside;
    life_word fours = (twos_above & twos_below) | ((twos_above ^ twos_below) & twos_beside) | (twos & more_twos);
    out[row * cols + col] = (twos ^ more_twos) & ~fours & (ones | here);
""",
    before="""
typedef unsigned long long life_word;
DEVICE void life_row(const life_word *cells, INDEX row, INDEX word, INDEX rows, INDEX cols, life_word *left,
                     life_word *here, life_word *right) {
  *left = *here = *right = 0;
  if (row < 0 || row >= rows)
    return;
  const life_word *at = cells + row * cols + word;
  *here = at[0];
  *left = at[0] << 1 | (word > 0 ? at[-1] >> 63 : 0);
  *right = at[0] >> 1 | (word < cols - 1 ? at[1] << 63 : 0);
}
""",
)

WORDS = "uint32[:,::1]"

KERNELS = [
    Kernel(
        "ChaCha20", chacha20, f"{WORDS}, uint32[::1], uint32[::1], uint32, pyint, {WORDS}", 256, chacha_problem,
        gpu=2_000_003, host=100_003, test=301, **CHACHA,
    ),
    Kernel(
        "AES-128, table in shared memory", aes_encrypt, f"{WORDS}, {WORDS}, uint32[::1], uint8[::1], {WORDS}", 256,
        aes_problem, gpu=2_000_003, host=300_007, test=301, **AES,
    ),
    Kernel(
        "CRC-32 of records", crc32_records, "uint8[::1], pyint, uint32[::1], uint32[::1]", 128, crc_problem,
        gpu=1_000_003, host=100_003, test=301, **CRC,
    ),
    Kernel(
        "transpositions of 32x32 bits", transpose_bits, f"{WORDS}, {WORDS}", 128, transpose_problem,
        gpu=1_000_003, host=50_021, test=301, **TRANSPOSE,
    ),
    Kernel(
        "game of life in words", life_words, "uint64[:,::1], uint64[:,::1]", (32, 8), life_problem,
        gpu=401, host=101, test=5, power=2, kind="stencil", thin=THIN_PLANE, **LIFE,
    ),
]  # fmt: skip
