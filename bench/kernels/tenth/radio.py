"""Radio and sound: targets in noise, codes of satellites, carriers, wavelets, voices, echoes."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32, int32, uint32


def cfar_targets(power, guard, train, factor, found, count):
    """Cells of a range-Doppler map that stand out: a cell against the mean of a ring around it, in sixteenths."""
    col, row = cuda.grid(2)
    rows, cols = power.shape
    reach = guard + train
    if row >= rows or col >= cols:
        return
    found[row, col] = 0
    if row < reach or row >= rows - reach or col < reach or col >= cols - reach:
        return
    ring = 0
    for r in range(row - reach, row + reach + 1):
        for c in range(col - reach, col + reach + 1):
            if abs(r - row) > guard or abs(c - col) > guard:
                ring += int(power[r, c])
    cells = (2 * reach + 1) ** 2 - (2 * guard + 1) ** 2
    if 16 * cells * int(power[row, col]) > factor * ring:
        found[row, col] = 1
        cuda.atomic.add(count, 0, 1)


def code_correlations(signal, codes, out):
    """A signal of single bits against the codes of satellites from each place on: how many bits agree less how many do
    not.
    """
    shift, satellite = cuda.grid(2)
    words = signal.size
    if satellite >= codes.shape[0] or shift >= 32 * words:
        return
    first, bit = divmod(shift, 32)
    differ = 0
    k = first
    for w in range(words):
        after = k + 1 if k + 1 < words else 0
        word = codes[satellite, k]
        if bit > 0:
            word = word << bit | codes[satellite, after] >> (32 - bit)
        differ += int(cuda.popc(signal[w] ^ word))
        k = after
    out[satellite, shift] = 32 * words - 2 * differ


def tracked_carriers(samples, first, alpha, beta, locks, frequencies):
    """Costas' loops: each channel's oscillator follows the carrier of a signal whose sign is data."""
    channel = cuda.grid(1)
    if channel >= samples.shape[1]:
        return
    phase = float32(0)
    frequency = first[channel]
    lock = float32(0)
    for t in range(samples.shape[0]):
        v = samples[t, channel] * np.complex64(complex(math.cos(phase), -math.sin(phase)))
        error = v.real * v.imag
        frequency += beta * error
        phase = (phase + frequency + alpha * error) % (2 * math.pi)
        lock += float32(0.05) * (v.real * v.real - v.imag * v.imag - lock)
    locks[channel] = lock
    frequencies[channel] = frequency


def detail(row, i):
    """The odd sample of a pair less what its neighbours say."""
    last = row.size - 1
    after = 2 * i + 2 if 2 * i + 2 <= last else 2 * i
    return int(row[2 * i + 1]) - (int(row[2 * i]) + int(row[after]) >> 1)


def wavelet_rows(samples, low, high):
    """The reversible 5/3 wavelet of JPEG 2000 along rows of any length."""
    i, r = cuda.grid(2)
    if r >= samples.shape[0] or i >= low.shape[1]:
        return
    row = samples[r]
    pairs = high.shape[1]
    here = detail(row, min(i, pairs - 1))
    before = detail(row, i - 1) if i > 0 else here
    low[r, i] = int(row[2 * i]) + (before + here + 2 >> 2)
    if i < pairs:
        high[r, i] = here


def wavetable_voices(table, steps, levels, decays, out):
    """Voices from a table of one period: phases of 32 bits, tables read between two places, levels that fade."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = float32(0)
    for v in range(steps.size):
        phase = steps[v] * uint32(i)
        place = int(phase >> 22)
        part = float32(phase & 0x3FFFFF) * float32(1 / (1 << 22))
        a = table[place]
        b = table[(place + 1) % table.size]
        total += levels[v] * math.exp(-decays[v] * float32(i)) * (a + part * (b - a))
    out[i] = math.tanh(total)


def comb_echoes(samples, delays, gains, lines, out):
    """Schroeder's echoes: combs of several delays beside one another, for each channel (a column)."""
    channel = cuda.grid(1)
    steps, channels = samples.shape
    if channel >= channels:
        return
    for t in range(steps):
        x = samples[t, channel]
        total = float32(0)
        for c in range(delays.size):
            before = t - delays[c]
            y = x
            if before >= 0:
                y += gains[c] * lines[c, before, channel]
            lines[c, t, channel] = y
            total += y
        out[t, channel] = total / delays.size


def cfar_problem(rng, n):
    rows, cols, guard, train, factor = n, n + 21, 2, 4, 56
    power = rng.exponential(900, (rows, cols)).astype(np.uint16)
    hits = rng.integers(0, n, (n // 4, 2))
    power[hits[:, 0], hits[:, 1]] = 20000

    def expected():
        sums = np.zeros((rows + 1, cols + 1), int)
        sums[1:, 1:] = np.cumsum(np.cumsum(power.astype(int), 0), 1)
        reach, found = guard + train, np.zeros((rows, cols), int)

        def box(k):
            lo, hi = reach - k, reach + k + 1
            r, c = np.arange(rows - 2 * reach)[:, None], np.arange(cols - 2 * reach)
            return sums[r + hi, c + hi] - sums[r + lo, c + hi] - sums[r + hi, c + lo] + sums[r + lo, c + lo]

        cells = (2 * reach + 1) ** 2 - (2 * guard + 1) ** 2
        middle = power[reach : rows - reach, reach : cols - reach].astype(int)
        found[reach : rows - reach, reach : cols - reach] = 16 * cells * middle > factor * (box(reach) - box(guard))
        return [(slice(None), found, 0), (slice(None), np.array([found.sum()]), 0)]

    args = (power, guard, train, factor, np.full((rows, cols), 99, np.uint8), np.zeros(1, np.int32))
    return Problem(
        args, (rows, cols), (4, 5), expected, threads=(cols, rows), bytes=3.0 * rows * cols, flops=150.0 * rows * cols,
    )  # fmt: skip


def codes_problem(rng, n):
    satellites, words = 31, n
    codes = rng.integers(0, 1 << 32, (satellites, words), np.uint32)
    bits = np.unpackbits(codes.byteswap().view(np.uint8), axis=1)
    heard = np.roll(bits[5], -37) ^ (rng.random(32 * words) < 0.3)
    signal = np.packbits(heard.astype(np.uint8)).view(np.uint32).byteswap()

    def expected():
        at = np.unique(np.append(rng.integers(0, satellites, 3), 5))
        s = 1 - 2 * heard.astype(int)
        values = []
        for k in at:
            c = 1 - 2 * bits[k].astype(int)
            values.append(np.rint(np.fft.ifft(np.fft.fft(c) * np.conj(np.fft.fft(s))).real).astype(int))
        return [(at, np.array(values), 0)]

    args = (signal, codes, np.full((satellites, 32 * words), 1 << 30, np.int32))
    return Problem(
        args, (words, satellites), (2,), expected, threads=(32 * words, satellites),
        bytes=4.0 * satellites * 32 * words, flops=5.0 * satellites * 32 * words * words,
    )  # fmt: skip


def carriers_problem(rng, n):
    steps = 403
    kinds = min(n, 1009)
    true = rng.uniform(0.1, 0.3, kinds)
    data = rng.integers(0, 2, (steps // 20 + 1, kinds)).repeat(20, 0)[:steps] * 2 - 1
    angle = np.arange(steps)[:, None] * true + rng.uniform(-0.3, 0.3, kinds)
    noise = 0.05 * (rng.standard_normal((steps, kinds)) + 1j * rng.standard_normal((steps, kinds)))
    which = rng.integers(0, kinds, n)
    samples = np.ascontiguousarray((data * np.exp(1j * angle) + noise).astype(np.complex64)[:, which])
    first = (true[which] + rng.uniform(-0.01, 0.01, n)).astype(np.float32)
    alpha, beta = np.float32(0.1), np.float32(0.005)

    def expected():
        at = sampled(rng, n, 1000)
        phase, frequency, lock = np.zeros(len(at)), first[at].astype(float), np.zeros(len(at))
        for t in range(steps):
            v = samples[t, at].astype(complex) * np.exp(-1j * phase)
            error = v.real * v.imag
            frequency = frequency + float(beta) * error
            phase = (phase + frequency + float(alpha) * error) % (2 * np.pi)
            lock = lock + 0.05 * (v.real**2 - v.imag**2 - lock)
        # A phase of up to 6 is rounded each time; the loop forgets errors at a rate of a tenth or so.
        return [(at, lock, 2000 * EPS32), (at, frequency, 600 * EPS32)]

    args = (samples, first, alpha, beta, np.full(n, -9, np.float32), np.full(n, -9, np.float32))
    return Problem(args, (steps, n), (4, 5), expected, threads=n, bytes=8.0 * steps * n, flops=60.0 * steps * n)


def wavelet_problem(rng, n):
    rows, cols = n, n + 10
    samples = rng.integers(-2048, 2048, (rows, cols)).astype(np.int16)

    def expected():
        at = sampled(rng, rows, 300)
        s = samples[at].astype(int)
        even, odd = s[:, ::2], s[:, 1::2]
        after = even[:, 1:] if cols % 2 else np.concatenate([even[:, 1:], even[:, -1:]], 1)
        high = odd - (even[:, : odd.shape[1]] + after >> 1)
        before = np.concatenate([high[:, :1], high], 1)[:, : even.shape[1]]
        here = np.concatenate([high, high[:, -1:]], 1)[:, : even.shape[1]]
        return [(at, even + (before + here + 2 >> 2), 0), (at, high, 0)]

    args = (samples, np.full((rows, (cols + 1) // 2), 9999, np.int16), np.full((rows, cols // 2), 9999, np.int16))
    return Problem(
        args, (rows, cols), (1, 2), expected, threads=((cols + 1) // 2, rows), bytes=4.0 * rows * cols, flops=10.0 * rows * cols,
    )  # fmt: skip


def voices_problem(rng, n):
    voices = 37
    t = 2 * np.pi * np.arange(1024) / 1024
    table = (np.sin(t) + 0.3 * np.sin(3 * t) + 0.1 * np.sin(7 * t)).astype(np.float32)
    steps = (rng.uniform(100, 4000, voices) / 48000 * 2**32).astype(np.uint32)
    levels = rng.uniform(0.01, 0.1, voices).astype(np.float32)
    decays = (rng.uniform(0.5, 6, voices) / n).astype(np.float32)

    def expected():
        at = sampled(rng, n, 4000)
        total, sizes = np.zeros(len(at)), np.zeros(len(at))
        for v in range(voices):
            phase = at.astype(np.uint64) * np.uint64(steps[v]) & np.uint64(0xFFFFFFFF)
            place, part = (phase >> np.uint64(22)).astype(int), (phase & np.uint64(0x3FFFFF)).astype(float) / (1 << 22)
            a, b = table[place].astype(float), table[(place + 1) % 1024].astype(float)
            loud = float(levels[v]) * np.exp(-float(decays[v]) * at)
            total += loud * (a + part * (b - a))
            sizes += loud
        return [(at, np.tanh(total), (voices + 12) * EPS32 * sizes)]

    args = (table, steps, levels, decays, np.full(n, -9, np.float32))
    return Problem(args, (1024, voices, n), (4,), expected, threads=n, bytes=4.0 * n, flops=20.0 * voices * n)


def echoes_problem(rng, n):
    steps, delays = 211, np.array([29, 37, 41, 53], np.int32)
    gains = np.array([0.81, 0.78, 0.75, 0.71], np.float32)
    samples = rng.standard_normal((steps, n), np.float32)

    def expected():
        at = sampled(rng, n, 1000)
        x = samples[:, at].astype(float)
        y, size = np.zeros((4, *x.shape)), np.zeros((4, *x.shape))
        for t in range(steps):
            for c, d in enumerate(delays):
                y[c, t], size[c, t] = x[t], abs(x[t])
                if t >= d:
                    y[c, t] += float(gains[c]) * y[c, t - d]
                    size[c, t] += float(gains[c]) * size[c, t - d]
        return [((slice(None), at), y.mean(0), 12 * EPS32 * size.mean(0))]

    args = (samples, delays, gains, np.zeros((4, steps, n), np.float32), np.full((steps, n), -99, np.float32))
    return Problem(args, (steps, n, 4), (4,), expected, threads=n, bytes=40.0 * steps * n, flops=12.0 * steps * n)


def popcount(sides):
    return {k: text.replace("POPC", "__builtin_popcount" if k == "openmp" else "__popc") for k, text in sides.items()}


CFAR_SIDES = plane(
    """cfar_targets(const unsigned short *__restrict__ power, int guard, int train, int factor,
                  unsigned char *__restrict__ found, int *__restrict__ count, int rows, int cols)""",
    """
    INDEX reach = guard + train;
    found[row * cols + col] = 0;
    if (row >= reach && row < rows - reach && col >= reach && col < cols - reach) {
      INDEX ring = 0;
      for (INDEX r = row - reach; r <= row + reach; r++)
        for (INDEX c = col - reach; c <= col + reach; c++)
          if (r < row - guard || r > row + guard || c < col - guard || c > col + guard) ring += power[r * cols + c];
      INDEX cells = (2 * reach + 1) * (2 * reach + 1) - (2 * guard + 1) * (2 * guard + 1);
      if (16 * cells * power[row * cols + col] > factor * ring) {
        found[row * cols + col] = 1;
        COUNT
      }
    }
""",
)
CFAR = {
    k: text.replace("COUNT", '_Pragma("omp atomic") *count += 1;' if k == "openmp" else "atomicAdd(count, 1);")
    for k, text in CFAR_SIDES.items()
}  # fmt: skip

CODES = popcount(plane(
    """code_correlations(const unsigned *__restrict__ signal, const unsigned *__restrict__ codes, int *__restrict__ out,
                       int words, int satellites)""",
    """
    INDEX k = col / 32, differ = 0;
    int bit = col % 32;
    const unsigned *code = codes + row * words;
    for (INDEX w = 0; w < words; w++) {
      INDEX after = k + 1 < words ? k + 1 : 0;
      unsigned word = code[k];
      if (bit > 0) word = word << bit | code[after] >> (32 - bit);
      differ += POPC(signal[w] ^ word);
      k = after;
    }
    out[row * 32 * words + col] = 32 * words - 2 * differ;
""",
    "satellites", "32 * words",
))  # fmt: skip

CARRIERS_SIDES = each(
    """tracked_carriers(const float2 *__restrict__ samples, const float *__restrict__ first, float alpha, float beta,
                      float *__restrict__ locks, float *__restrict__ frequencies, int steps, int n)""",
    """
    float phase = 0, frequency = first[channel], lock = 0;
    for (INDEX t = 0; t < steps; t++) {
      float x = samples[t * n + channel].x, y = samples[t * n + channel].y, c = cosf(phase), s = sinf(phase);
      float re = x * c + y * s, im = y * c - x * s, error = re * im;
      frequency += beta * error;
      phase += frequency + alpha * error;
      phase -= 6.2831853f * floorf(phase / 6.2831853f);
      lock += 0.05f * (re * re - im * im - lock);
    }
    locks[channel] = lock;
    frequencies[channel] = frequency;
""",
    index="channel",
)
CARRIERS = {
    k: "struct wave2 { float x, y; };\n" + text.replace("float2", "struct wave2") if k == "openmp" else text
    for k, text in CARRIERS_SIDES.items()
}  # fmt: skip

WAVELETS = plane(
    """wavelet_rows(const short *__restrict__ samples, short *__restrict__ low, short *__restrict__ high, int rows,
                  int width)""",
    """
    const short *line = samples + row * width;
    INDEX pairs = width / 2;
    int here = wavelet_detail(line, col < pairs ? col : pairs - 1, width);
    int before = col > 0 ? wavelet_detail(line, col - 1, width) : here;
    low[row * ((width + 1) / 2) + col] = line[2 * col] + ((before + here + 2) >> 2);
    if (col < pairs) high[row * pairs + col] = here;
""",
    cols="(width + 1) / 2",
    before="""
DEVICE int wavelet_detail(const short *__restrict__ line, INDEX i, int width) {
  INDEX after = 2 * i + 2 < width ? 2 * i + 2 : 2 * i;
  return line[2 * i + 1] - ((line[2 * i] + line[after]) >> 1);
}
""",
)

VOICES = each(
    """wavetable_voices(const float *__restrict__ table, const unsigned *__restrict__ steps, const float *__restrict__ levels,
                      const float *__restrict__ decays, float *__restrict__ out, int size, int voices, int n)""",
    """
    float total = 0;
    for (INDEX v = 0; v < voices; v++) {
      unsigned phase = steps[v] * (unsigned)i;
      int place = phase >> 22;
      float part = (phase & 0x3fffff) * (1.0f / (1 << 22)), a = table[place], b = table[(place + 1) % size];
      total += levels[v] * expf(-decays[v] * i) * (a + part * (b - a));
    }
    out[i] = tanhf(total);
""",
)

ECHOES = each(
    """comb_echoes(const float *__restrict__ samples, const int *__restrict__ delays, const float *__restrict__ gains,
                 float *__restrict__ lines, float *__restrict__ out, int steps, int n, int combs)""",
    """
    for (INDEX t = 0; t < steps; t++) {
      float x = samples[t * n + channel], total = 0;
      for (INDEX c = 0; c < combs; c++) {
        INDEX before = t - delays[c];
        float y = x;
        if (before >= 0) y += gains[c] * lines[(c * steps + before) * n + channel];
        lines[(c * steps + t) * n + channel] = y;
        total += y;
      }
      out[t * n + channel] = total / combs;
    }
""",
    index="channel",
)

KERNELS = [
    Kernel(
        "targets in noise", cfar_targets, "uint16[:,::1], pyint, pyint, pyint, uint8[:,::1], int32[::1]", (32, 8),
        cfar_problem, gpu=2003, host=301, test=61, power=2, kind="stencil", **CFAR,
    ),
    Kernel(
        "codes of satellites", code_correlations, "uint32[::1], uint32[:,::1], int32[:,::1]", (128, 1), codes_problem,
        gpu=509, host=37, test=9, power=2, **CODES,
    ),
    Kernel(
        "carriers that are followed", tracked_carriers,
        "complex64[:,::1], float32[::1], float32, float32, float32[::1], float32[::1]", 64, carriers_problem, gpu=100_003,
        host=3001, test=101, **CARRIERS,
    ),
    Kernel(
        "reversible wavelets", wavelet_rows, "int16[:,::1], int16[:,::1], int16[:,::1]", (128, 2), wavelet_problem,
        gpu=8001, host=501, test=61, power=2, kind="streaming", **WAVELETS,
    ),
    Kernel(
        "voices from a table", wavetable_voices, "float32[::1], uint32[::1], float32[::1], float32[::1], float32[::1]", 256,
        voices_problem, gpu=2_000_003, host=20_011, test=501, **VOICES,
    ),
    Kernel(
        "echoes of combs", comb_echoes, "float32[:,::1], int32[::1], float32[::1], float32[:,:,::1], float32[:,::1]", 128,
        echoes_problem, gpu=60_013, host=3001, test=201, **ECHOES,
    ),
]  # fmt: skip
