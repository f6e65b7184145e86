"""Filters of signals and images: direct FIR, a cascade of biquads, a polyphase resampler, a
convolution whose radius is an argument, one pass of a mixed-radix FFT.

After Oppenheim and Schafer, "Discrete-Time Signal Processing", and Stockham's autosort FFT.
"""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, plane
from pyptx import cuda, float32


def fir_filter(x, taps, y):
    """y[i] is the sum of taps[k] x[i - k], with zeros before the start."""
    i = cuda.grid(1)
    if i < y.size:
        acc = 0.0
        for k in range(min(taps.size, i + 1)):
            acc += taps[k] * x[i - k]
        y[i] = acc


def biquad_cascade(x, sections, y):
    """A thread filters one channel through all sections, each in transposed direct form II."""
    channel = cuda.grid(1)
    if channel >= x.shape[1]:
        return
    z = cuda.local.array((8, 2), float32)
    for s in range(sections.shape[0]):
        z[s, 0] = 0
        z[s, 1] = 0
    for t in range(x.shape[0]):
        v = x[t, channel]
        for s in range(sections.shape[0]):
            out = sections[s, 0] * v + z[s, 0]
            z[s, 0] = sections[s, 1] * v - sections[s, 3] * out + z[s, 1]
            z[s, 1] = sections[s, 2] * v - sections[s, 4] * out
            v = out
        y[t, channel] = v


def polyphase_resample(x, taps, up, down, y):
    """up / down times the rate: each output has one phase of the prototype filter."""
    i = cuda.grid(1)
    if i >= y.size:
        return
    phase = i * down % up
    base = i * down // up
    acc = 0.0
    for k in range(taps.size // up):
        j = base - k
        if 0 <= j < x.size:
            acc += taps[k * up + phase] * x[j]
    y[i] = acc


def convolve2d(image, weights, radius, out):
    """Weights of (2 radius + 1)^2; pixels beyond the border are those at it."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        acc = 0.0
        for dy in range(-radius, radius + 1):
            y = min(max(row + dy, 0), rows - 1)
            for dx in range(-radius, radius + 1):
                x = min(max(col + dx, 0), cols - 1)
                acc += weights[dy + radius, dx + radius] * image[y, x]
        out[row, col] = acc


def radix4_pass(x, twiddles, p, y):
    """The pass of radix 4 after passes whose radices multiply to p; a row is one transform."""
    i, row = cuda.grid(2)
    quarter = x.shape[1] // 4
    if row < x.shape[0] and i < quarter:
        k = i % p
        a = x[row, i]
        b = x[row, i + quarter] * twiddles[k]
        c = x[row, i + 2 * quarter] * twiddles[2 * k]
        d = x[row, i + 3 * quarter] * twiddles[3 * k]
        even, odd = a + c, a - c
        both, turned = b + d, -1j * (b - d)
        j = 4 * (i - k) + k
        y[row, j] = even + both
        y[row, j + p] = odd + turned
        y[row, j + 2 * p] = even - both
        y[row, j + 3 * p] = odd - turned


def fir_problem(rng, n):
    """n samples, 47 taps."""
    x, taps = rng.uniform(-1, 1, n).astype(np.float32), rng.uniform(-1, 1, 47).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        k = np.arange(len(taps))
        products = np.where(some[:, None] >= k, x[some[:, None] - k].astype(np.float64) * taps, 0)
        return [(some, products.sum(1), sum_bound(len(taps), np.abs(products).sum(1)))]

    return Problem(
        (x, taps, np.zeros(n, np.float32)), (n, len(taps)), (2,), expected, threads=n, bytes=8 * n, flops=94 * n
    )


def biquad_problem(rng, n):
    """n channels, 149 samples of each, four sections with poles of radius 0.3 to 0.6."""
    samples = 149
    x = rng.uniform(-1, 1, (samples, n)).astype(np.float32)
    radius, angle = rng.uniform(0.3, 0.6, 4), rng.uniform(0.2, 2.9, 4)
    b = rng.uniform(-0.4, 0.4, (4, 3))
    sections = np.column_stack([b, -2 * radius * np.cos(angle), radius**2]).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        v, c = x[:, some].astype(np.float64), sections.astype(np.float64)
        bound, size = 0.0, 1.0  # of what came in: its error, its largest magnitude
        for s in range(len(c)):
            z, out = np.zeros((2, len(some))), np.empty_like(v)
            ring = np.zeros(samples + 2)  # of the poles alone: what a rounding becomes
            for t in range(samples):
                out[t] = c[s, 0] * v[t] + z[0]
                z = np.array([c[s, 1] * v[t] - c[s, 3] * out[t] + z[1], c[s, 2] * v[t] - c[s, 4] * out[t]])
                ring[t + 2] = (t == 0) - c[s, 3] * ring[t + 1] - c[s, 4] * ring[t]
            gain, ahead = np.abs(ring).sum(), np.abs(c[s, :3]).sum()
            # Nine roundings a sample, of terms that are no larger than this.
            largest = ahead * size + (np.abs(c[s, 3:]).sum() + 1) * gain * ahead * size
            bound = gain * (ahead * bound + 9 * EPS32 / 2 * largest)
            size, v = gain * ahead * size, out
        return [(np.s_[:, some], v, bound)]

    return Problem(
        (x, sections, np.zeros_like(x)), (samples, n, 4), (2,), expected, threads=n, bytes=8 * samples * n,
        flops=36 * samples * n,
    )  # fmt: skip


def polyphase_problem(rng, n):
    """n outputs at 160/147 of the rate (44.1 to 48 kHz), 21 taps a phase."""
    up, down = 160, 147
    x = rng.uniform(-1, 1, n * down // up + 1).astype(np.float32)
    taps = rng.uniform(-1, 1, 21 * up).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        phase, base = some * down % up, some * down // up
        value, size = np.zeros((2, len(some)))
        for k in range(21):
            j = base - k
            product = np.where(j >= 0, taps[k * up + phase].astype(np.float64) * x[j], 0)
            value, size = value + product, size + np.abs(product)
        return [(some, value, sum_bound(21, size))]

    return Problem(
        (x, taps, up, down, np.zeros(n, np.float32)), (len(x), len(taps), n), (4,), expected, threads=n,
        bytes=4 * n + 4 * len(x), flops=42 * n,
    )  # fmt: skip


def convolve_problem(rng, n):
    """n x (4 n / 3 + 1) pixels, radius 4."""
    rows, cols, radius = n, 4 * n // 3 + 1, 4
    image = rng.random((rows, cols), np.float32)
    weights = rng.uniform(-1, 1, (2 * radius + 1, 2 * radius + 1)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows * cols, 20000)
        row, col = np.divmod(some, cols)
        value, size = np.zeros((2, len(some)))
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                pixel = image[np.clip(row + dy, 0, rows - 1), np.clip(col + dx, 0, cols - 1)].astype(np.float64)
                product = pixel * weights[dy + radius, dx + radius]
                value, size = value + product, size + np.abs(product)
        return [((row, col), value, sum_bound(weights.size, size))]

    return Problem(
        (image, weights, radius, np.zeros_like(image)), (rows, cols), (3,), expected, threads=(cols, rows),
        bytes=8 * rows * cols, flops=2 * weights.size * rows * cols,
    )  # fmt: skip


def radix4_problem(rng, n):
    """n transforms of 1500 points, of which passes of radices 5 and 5 are done."""
    p, length = 25, 1500
    x = (rng.uniform(-1, 1, (n, length)) + 1j * rng.uniform(-1, 1, (n, length))).astype(np.complex64)
    twiddles = np.exp(-2j * np.pi * np.arange(4 * p) / (4 * p)).astype(np.complex64)

    def expected():
        some = sampled(np.random.default_rng(0), n, 50)
        i = np.arange(length // 4)
        k = i % p
        turned = x[some].reshape(len(some), 4, -1).astype(np.complex128) * twiddles[np.arange(4)[:, None] * k]
        spectrum = np.fft.fft(turned, axis=1)
        values = np.empty((len(some), length), np.complex128)
        values[:, (4 * (i - k) + k) + p * np.arange(4)[:, None]] = spectrum
        # Of each part: a product of complex numbers rounds three times, then two sums.
        return [(some, values, np.sqrt(2) * 5 * EPS32 / 2 * 8)]

    return Problem(
        (x, twiddles, p, np.zeros_like(x)), (n, length), (3,), expected, threads=(length // 4, n),
        bytes=16 * length * n, flops=34 * length / 4 * n,
    )  # fmt: skip


FIR = each(
    "fir_filter(const float *x, const float *taps, float *y, int n, int count)",
    """
    float acc = 0;
    INDEX last = MIN((INDEX)count, i + 1);
    for (INDEX k = 0; k < last; k++)
      acc += taps[k] * x[i - k];
    y[i] = acc;
""",
)

BIQUAD = each(
    "biquad_cascade(const float *x, const float *sections, float *y, int samples, int channels, int count)",
    """
    float z[8][2];
    for (INDEX s = 0; s < count; s++)
      z[s][0] = z[s][1] = 0;
    for (INDEX t = 0; t < samples; t++) {
      float v = x[t * channels + channel];
      for (INDEX s = 0; s < count; s++) {
        const float *c = sections + 5 * s;
        float out = c[0] * v + z[s][0];
        z[s][0] = c[1] * v - c[3] * out + z[s][1];
        z[s][1] = c[2] * v - c[4] * out;
        v = out;
      }
      y[t * channels + channel] = v;
    }
""",
    extent="channels",
    index="channel",
)

POLYPHASE = each(
    "polyphase_resample(const float *x, const float *taps, int up, int down, float *y, int size, int count, int n)",
    """
    INDEX phase = i * down % up, base = i * down / up, most = count / up;
    float acc = 0;
    for (INDEX k = 0; k < most; k++) {
      INDEX j = base - k;
      if (0 <= j && j < size)
        acc += taps[k * up + phase] * x[j];
    }
    y[i] = acc;
""",
)

CONVOLVE = plane(
    "convolve2d(const float *image, const float *weights, int radius, float *out, int rows, int cols)",
    """
    INDEX wide = 2 * radius + 1;
    float acc = 0;
    for (INDEX dy = -radius; dy <= radius; dy++) {
      INDEX y = MIN(MAX(row + dy, (INDEX)0), (INDEX)rows - 1);
      for (INDEX dx = -radius; dx <= radius; dx++) {
        INDEX x = MIN(MAX(col + dx, (INDEX)0), (INDEX)cols - 1);
        acc += weights[(dy + radius) * wide + dx + radius] * image[y * cols + x];
      }
    }
    out[row * cols + col] = acc;
""",
)

RADIX4 = plane(
    "radix4_pass(const float2 *x, const float2 *twiddles, int p, float2 *y, int rows, int length)",
    """
    INDEX quarter = length / 4, k = col % p, j = 4 * (col - k) + k;
    const float2 *from = x + row * length + col;
    float2 *to = y + row * length + j;
    float2 a = from[0];
    float2 b = radix4_times(from[quarter], twiddles[k]);
    float2 c = radix4_times(from[2 * quarter], twiddles[2 * k]);
    float2 d = radix4_times(from[3 * quarter], twiddles[3 * k]);
    float2 even = {a.x + c.x, a.y + c.y}, odd = {a.x - c.x, a.y - c.y};
    float2 both = {b.x + d.x, b.y + d.y}, turned = {b.y - d.y, d.x - b.x};
    float2 first = {even.x + both.x, even.y + both.y}, second = {odd.x + turned.x, odd.y + turned.y};
    float2 third = {even.x - both.x, even.y - both.y}, fourth = {odd.x - turned.x, odd.y - turned.y};
    to[0] = first;
    to[p] = second;
    to[2 * p] = third;
    to[3 * p] = fourth;
""",
    cols="length / 4",
    before="""DEVICE float2 radix4_times(float2 a, float2 b) {
  float2 product = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
  return product;
}""",
)
RADIX4["openmp"] = "typedef struct { float x, y; } float2;\n" + RADIX4["openmp"]

KERNELS = [
    Kernel(
        "FIR filter", fir_filter, "float32[::1], float32[::1], float32[::1]", 256, fir_problem,
        gpu=10_000_019, host=1_000_003, test=1013, **FIR,
    ),
    Kernel(
        "cascade of biquads", biquad_cascade, "float32[:,::1], float32[:,::1], float32[:,::1]", 128, biquad_problem,
        gpu=150_011, host=5_003, test=301, **BIQUAD,
    ),
    Kernel(
        "polyphase resampling", polyphase_resample, "float32[::1], float32[::1], pyint, pyint, float32[::1]", 256,
        polyphase_problem, gpu=10_000_019, host=1_000_003, test=1013, **POLYPHASE,
    ),
    Kernel(
        "convolution of any radius", convolve2d, "float32[:,::1], float32[:,::1], pyint, float32[:,::1]", (32, 8),
        convolve_problem, gpu=2003, host=401, test=61, power=2, kind="stencil", **CONVOLVE,
    ),
    Kernel(
        "FFT, a pass of radix 4", radix4_pass, "complex64[:,::1], complex64[::1], pyint, complex64[:,::1]", (128, 1),
        radix4_problem, gpu=20_011, host=1_009, test=13, kind="streaming", **RADIX4,
    ),
]  # fmt: skip
