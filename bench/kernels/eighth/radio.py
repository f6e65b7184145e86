"""Radio: checks of an LDPC code, an adaptive filter, tones by Goertzel, the ambiguity of a radar's pulse."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, complex64, float32


def ldpc_checks(starts, bits, beliefs, messages, fresh, failures):
    """Min-sum at the checks: each edge gets the sign and 3/4 of the least size of the others; whether bits fail it."""
    c = cuda.grid(1)
    if c + 1 >= starts.size:
        return
    begin = starts[c]
    end = starts[c + 1]
    least = 127
    next_least = 127
    where = -1
    negative = False
    odd = False
    for e in range(begin, end):
        belief = int(beliefs[bits[e]])
        v = belief - int(messages[e])
        if belief < 0:
            odd = not odd
        if v < 0:
            negative = not negative
        size = min(abs(v), 127)
        if size < least:
            next_least = least
            least = size
            where = e
        elif size < next_least:
            next_least = size
    for e in range(begin, end):
        v = int(beliefs[bits[e]]) - int(messages[e])
        size = next_least if e == where else least
        size = size * 3 >> 2
        fresh[e] = -size if negative != (v < 0) else size
    if odd:
        cuda.atomic.add(failures, 0, 1)


def lms_channels(received, wanted, taps, rate, errors):
    """A complex filter of up to 16 taps that learns, normalised; a thread a channel, samples along the rows."""
    c = cuda.grid(1)
    if c >= received.shape[1]:
        return
    weights = cuda.local.array(16, complex64)
    line = cuda.local.array(16, complex64)
    for k in range(taps):
        weights[k] = 0
        line[k] = 0
    for t in range(received.shape[0]):
        for k in range(taps - 1, 0, -1):
            line[k] = line[k - 1]
        line[0] = received[t, c]
        y = complex64(0)
        power = float32(1e-3)
        for k in range(taps):
            y += weights[k].conjugate() * line[k]
            power += line[k].real * line[k].real + line[k].imag * line[k].imag
        e = wanted[t, c] - y
        step = rate / power * e.conjugate()
        for k in range(taps):
            weights[k] += step * line[k]
        errors[t, c] = e


def tone_powers(samples, coefficients, powers):
    """Goertzel's recurrence: the power of each tone in each frame of samples."""
    tone, frame = cuda.grid(2)
    if frame < samples.shape[0] and tone < coefficients.size:
        row = samples[frame]
        factor = coefficients[tone]
        before = float32(0)
        last = float32(0)
        for k in range(row.size):
            now = factor * last - before + row[k]
            before = last
            last = now
        powers[frame, tone] = last * last + before * before - factor * last * before


def ambiguity(echo, pulse, turns, surface):
    """The size of an echo's correlation with a pulse, shifted in time (blocks along x) and frequency (along y)."""
    parts = cuda.shared.array(128, complex64)
    lag = cuda.blockIdx.x
    shift = cuda.blockIdx.y
    t = cuda.threadIdx.x
    total = complex64(0)
    for k in range(t, pulse.size, cuda.blockDim.x):
        total += echo[lag + k] * pulse[k].conjugate() * turns[shift * k % turns.size]
    parts[t] = total
    cuda.syncthreads()
    half = 64
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        surface[shift, lag] = abs(parts[0])


def ldpc_problem(rng, n):
    degrees = rng.integers(5, 9, n)
    starts = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    bits = rng.integers(0, 2 * n + 9, starts[-1]).astype(np.int32)
    beliefs = rng.normal(25, 25, 2 * n + 9).astype(np.int16)
    messages = rng.integers(-90, 91, bits.size).astype(np.int8)

    def expected():
        v = beliefs[bits].astype(int) - messages
        check = np.repeat(np.arange(n), degrees)
        size = np.minimum(np.abs(v), 127)
        order = np.lexsort((np.arange(v.size), size, check))
        least = size[order][starts[:-1]]
        following = size[order][starts[:-1] + 1]
        at_least = np.zeros(v.size, bool)
        at_least[order[starts[:-1]]] = True
        of_others = np.where(at_least, following[check], least[check]) * 3 >> 2
        flips = np.add.reduceat(v < 0, starts[:-1], dtype=int) % 2 == 1
        values = np.where(flips[check] != (v < 0), -of_others, of_others)
        failed = (np.add.reduceat(beliefs[bits] < 0, starts[:-1], dtype=int) % 2).sum()
        return [(slice(None), values.astype(np.int8), 0), (slice(None), np.array([failed], np.int32), 0)]

    args = (starts, bits, beliefs, messages, np.zeros_like(messages), np.zeros(1, np.int32))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=4.0 * n + 8.0 * bits.size)


def lms_problem(rng, n):
    length, taps, rate = 60, 11, np.float32(0.4)
    wanted = ((rng.integers(0, 2, (length, n)) * 2 - 1) + 1j * (rng.integers(0, 2, (length, n)) * 2 - 1)) * 0.7
    received = wanted + (0.3 - 0.2j) * np.roll(wanted, 1, 0) + 0.1j * np.roll(wanted, 2, 0)
    received += rng.normal(0, 0.05, (length, n)) + 1j * rng.normal(0, 0.05, (length, n))
    received, wanted = received.astype(np.complex64), wanted.astype(np.complex64)

    def expected():
        at = sampled(rng, n, 2000)
        x, d = received[:, at].astype(complex), wanted[:, at].astype(complex)
        weights, line, errors = np.zeros((taps, at.size), complex), np.zeros((taps, at.size), complex), []
        for t in range(length):
            line = np.concatenate([x[t : t + 1], line[:-1]])
            e = d[t] - (weights.conj() * line).sum(0)
            errors.append(e)
            weights = weights + float(rate) * e.conj() / (1e-3 + (np.abs(line) ** 2).sum(0)) * line
        # A step takes away a part of an error: those of a few steps stay, each of 11 products of about 1.
        return [((slice(None), at), np.array(errors), 6 * taps * EPS32)]

    args = (received, wanted, taps, rate, np.zeros_like(received))
    return Problem(args, (n, length), (4,), expected, threads=n, bytes=24.0 * length * n)


def tones_problem(rng, n):
    length = 205
    tones = np.array([697, 770, 852, 941, 1209, 1336, 1477, 1633, 2 * 697, 2 * 941, 2 * 1209]) / 8000
    k = np.arange(length)
    chosen = rng.integers(0, 8, (n, 2))
    clean = np.sin(2 * np.pi * tones[chosen][:, :, None] * k).sum(1)
    samples = np.rint(8000 * clean + rng.normal(0, 900, (n, length))).astype(np.int16)
    coefficients = np.float32(2 * np.cos(2 * np.pi * tones))

    def expected():
        at = sampled(rng, n, 1000)
        factor = coefficients.astype(float)[None]
        before = last = np.zeros((at.size, tones.size))
        largest = np.zeros_like(last)
        for s in samples[at].T.astype(float):
            before, last = last, factor * last - before + s[:, None]
            largest = np.maximum(largest, np.abs(last))
        # Each step rounds three times, up and down; an error swings as the recurrence does, by 1 / sin of its angle.
        off = 3 * EPS32 * np.sqrt(length) * largest / np.sqrt(1 - factor * factor / 4)
        return [(at, last * last + before * before - factor * last * before, 4 * off * largest + off * off)]

    args = (samples, coefficients, np.zeros((n, tones.size), np.float32))
    return Problem(args, (n, tones.size, length), (2,), expected, threads=(tones.size, n), bytes=2.0 * samples.size)


def pulse_problem(rng, n):
    size, lags, shifts = 1500, n, n // 6 + 3
    k = np.arange(size)
    pulse = np.exp(1j * np.pi * (k - size / 2) ** 2 / 2000).astype(np.complex64)
    echo = 0.3 * (rng.standard_normal(size + lags) + 1j * rng.standard_normal(size + lags))
    echo[lags // 3 : lags // 3 + size] += pulse * np.exp(2j * np.pi * 2 * k / 4096)
    echo = echo.astype(np.complex64)
    turns = np.exp(-2j * np.pi * np.arange(4096) / 4096).astype(np.complex64)

    def expected():
        windows = np.lib.stride_tricks.sliding_window_view(echo, size)[:lags].astype(complex) * pulse.conj()
        at = sampled(rng, shifts, 40)
        surface = np.abs(turns[at[:, None] * k % 4096] @ windows.T)
        return [(at, surface, EPS32 * (size // 128 + 7 + 8) * np.abs(windows).sum(1))]

    args = (echo, pulse, turns, np.zeros((shifts, lags), np.float32))
    return Problem(args, (lags, shifts, size, 4096), (3,), expected, grid=(lags, shifts), sequential=50)


LDPC = each(
    """ldpc_checks(const int *__restrict__ starts, const int *__restrict__ bits, const short *__restrict__ beliefs,
                const signed char *__restrict__ messages, signed char *__restrict__ fresh, int *__restrict__ failures,
                int n)""",
    """
    INDEX begin = starts[i], end = starts[i + 1], least = 127, next_least = 127, where = -1;
    int negative = 0, odd = 0;
    for (INDEX e = begin; e < end; e++) {
      INDEX belief = beliefs[bits[e]], v = belief - messages[e];
      if (belief < 0) odd = !odd;
      if (v < 0) negative = !negative;
      INDEX size = MIN(v < 0 ? -v : v, (INDEX)127);
      if (size < least) {
        next_least = least;
        least = size;
        where = e;
      } else if (size < next_least) {
        next_least = size;
      }
    }
    for (INDEX e = begin; e < end; e++) {
      INDEX v = (INDEX)beliefs[bits[e]] - messages[e], size = (e == where ? next_least : least) * 3 >> 2;
      fresh[e] = negative != (v < 0) ? -size : size;
    }
    if (odd) COUNT;
""",
)
LDPC = {
    text: body.replace(
        "if (odd) COUNT;", "if (odd) {\n#pragma omp atomic\n      failures[0]++;\n    }"
    ) if text == "openmp" else body.replace("COUNT", "atomicAdd(failures, 1)")
    for text, body in LDPC.items()
}  # fmt: skip

PAIR = "typedef struct {float x, y;} lms_pair;\n"
LMS = each(
    """lms_channels(const PAIR *__restrict__ received, const PAIR *__restrict__ wanted, int taps, float rate,
                 PAIR *__restrict__ errors, int n, int length)""",
    """
    PAIR weights[16], line[16];
    for (INDEX k = 0; k < taps; k++)
      weights[k].x = weights[k].y = line[k].x = line[k].y = 0;
    for (INDEX t = 0; t < length; t++) {
      for (INDEX k = taps - 1; k > 0; k--)
        line[k] = line[k - 1];
      line[0] = received[t * n + i];
      float re = 0, im = 0, power = 1e-3f;
      for (INDEX k = 0; k < taps; k++) {
        PAIR w = weights[k], v = line[k];
        re += w.x * v.x + w.y * v.y;
        im += w.x * v.y - w.y * v.x;
        power += v.x * v.x + v.y * v.y;
      }
      PAIR e = wanted[t * n + i];
      e.x -= re;
      e.y -= im;
      float scale = rate / power, step_re = scale * e.x, step_im = -scale * e.y;
      for (INDEX k = 0; k < taps; k++) {
        PAIR v = line[k];
        weights[k].x += step_re * v.x - step_im * v.y;
        weights[k].y += step_re * v.y + step_im * v.x;
      }
      errors[t * n + i] = e;
    }
""",
)
LMS = {
    text: PAIR + body.replace("PAIR", "lms_pair") if text == "openmp" else body.replace("PAIR", "float2")
    for text, body in LMS.items()
}

TONES = plane(
    """tone_powers(const short *__restrict__ samples, const float *__restrict__ coefficients,
                float *__restrict__ powers, int rows, int cols, int length)""",
    """
      const short *line = samples + row * length;
      float factor = coefficients[col], before = 0, last = 0;
      for (INDEX k = 0; k < length; k++) {
        float now = factor * last - before + line[k];
        before = last;
        last = now;
      }
      powers[row * cols + col] = last * last + before * before - factor * last * before;
""",
)

PULSE_HEAD = """ambiguity(const PAIR *__restrict__ echo, const PAIR *__restrict__ pulse, const PAIR *__restrict__ turns,
               float *__restrict__ surface, int lags, int shifts, int size, int circle)"""
PULSE_TERM = """
      PAIR a = echo[lag + k], b = pulse[k], w = turns[shift * k % circle];
      float re = a.x * b.x + a.y * b.y, im = a.y * b.x - a.x * b.y;
      x += re * w.x - im * w.y;
      y += re * w.y + im * w.x;
"""
PULSE = indexed(
    f"""
__global__ void {PULSE_HEAD.replace("PAIR", "float2")} {{
  __shared__ float2 parts[128];
  INDEX lag = blockIdx.x, shift = blockIdx.y, t = threadIdx.x;
  float x = 0, y = 0;
  for (INDEX k = t; k < size; k += blockDim.x) {{{PULSE_TERM.replace("PAIR", "float2")}  }}
  parts[t].x = x;
  parts[t].y = y;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {{
    if (t < half) {{
      parts[t].x += parts[t + half].x;
      parts[t].y += parts[t + half].y;
    }}
    __syncthreads();
  }}
  if (t == 0) surface[shift * lags + lag] = hypotf(parts[0].x, parts[0].y);
}}
""",
    f"""
typedef struct {{float x, y;}} ambiguity_pair;
void {PULSE_HEAD.replace("PAIR", "ambiguity_pair")} {{
#pragma omp parallel for
  for (INDEX shift = 0; shift < shifts; shift++)
    for (INDEX lag = 0; lag < lags; lag++) {{
      float x = 0, y = 0;
      for (INDEX k = 0; k < size; k++) {{{PULSE_TERM.replace("PAIR", "ambiguity_pair")}      }}
      surface[shift * lags + lag] = hypotf(x, y);
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "checks of an LDPC code", ldpc_checks, "int32[::1], int32[::1], int16[::1], int8[::1], int8[::1], int32[::1]",
        128, ldpc_problem,
        gpu=2_000_003, host=50_021, test=503, kind="irregular", **LDPC,
    ),
    Kernel(
        "filter that learns", lms_channels, "complex64[:,::1], complex64[:,::1], pyint, float32, complex64[:,::1]", 128,
        lms_problem,
        gpu=50_021, host=2003, test=103, **LMS,
    ),
    Kernel(
        "powers of tones", tone_powers, "int16[:,::1], float32[::1], float32[:,::1]", (16, 8), tones_problem,
        gpu=60_013, host=2003, test=103, **TONES,
    ),
    Kernel(
        "ambiguity of a pulse", ambiguity, "complex64[::1], complex64[::1], complex64[::1], float32[:,::1]", 128,
        pulse_problem,
        gpu=601, host=61, test=13, power=2, kind="shared", **PULSE,
    ),
]  # fmt: skip
