"""Sound: the pitch of frames, 4-bit differences, Rice's codes, a compressor of loud passages."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32, int64, uint64

ADPCM_STEPS = np.array([7] + [0] * 88)
for _k in range(1, 89):
    ADPCM_STEPS[_k] = round(7 * 1.1 ** _k)


def frame_pitch(samples, hop, window, percent, periods):
    """YIN: the first period of a frame whose difference function, over the mean before it, falls below a threshold."""
    sound = cuda.shared.array(1024, int32)
    differences = cuda.shared.array(256, int32)
    sums = cuda.shared.array((2, 256), int64)
    lag = cuda.threadIdx.x
    begin = cuda.blockIdx.x * hop
    for k in range(lag, window + 256, 256):
        sound[k] = samples[begin + k]
    cuda.syncthreads()
    total = 0
    for k in range(window):
        d = int(sound[k]) - int(sound[k + lag])
        total += d * d
    differences[lag] = total
    sums[0, lag] = total
    now = 0
    reach = 1
    while reach < 256:
        cuda.syncthreads()
        value = sums[now, lag]
        if lag >= reach:
            value += sums[now, lag - reach]
        now = 1 - now
        sums[now, lag] = value
        reach *= 2
    cuda.syncthreads()
    if lag == 0:
        period = float32(0)
        for k in range(2, 255):
            here = int(differences[k])
            if here * k * 100 < percent * sums[now, k] and here < int(differences[k + 1]):
                before = float32(int(differences[k - 1]) - here)
                after = float32(int(differences[k + 1]) - here)
                period = float32(k)
                if before + after > 0:
                    period += float32(0.5) * (before - after) / (before + after)
                break
        periods[cuda.blockIdx.x] = period


def adpcm_blocks(packed, steps, changes, out):
    """IMA's 4-bit differences: a block of bytes a thread, which begins with a sample and the place in
    the table of steps.
    """
    i = cuda.grid(1)
    if i >= packed.shape[0]:
        return
    block = packed[i]
    sample = int(block[0]) | int(block[1]) << 8
    if sample >= 1 << 15:
        sample -= 1 << 16
    place = int(block[2])
    out[i, 0] = sample
    for k in range(4, block.size):
        byte = int(block[k])
        for half in range(2):
            code = byte >> 4 * half & 15
            step = int(steps[place])
            change = step >> 3
            if code & 1:
                change += step >> 2
            if code & 2:
                change += step >> 1
            if code & 4:
                change += step
            if code & 8:
                change = -change
            sample = max(-32768, min(32767, sample + change))
            place = max(0, min(steps.size - 1, place + int(changes[code & 7])))
            out[i, 2 * (k - 4) + half + 1] = sample


def peek(words, at):
    """The 32 bits from a place of a stream on."""
    word = at >> 5
    both = uint64(words[word]) << 32 | uint64(words[word + 1])
    return int(both >> uint64(32 - (at & 31)) & uint64(0xFFFFFFFF))


def rice_frames(words, starts, orders, out):
    """Rice's codes of what a predictor of second order leaves, as in FLAC: a frame a thread."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    k = int(orders[i])
    at = int(starts[i]) * 32
    last = 0
    second = 0
    for j in range(out.shape[1]):
        zeros = cuda.clz(np.uint32(peek(words, at)))
        at += zeros + 1
        low = peek(words, at) >> (32 - k) if k > 0 else 0
        at += k
        folded = zeros << k | low
        rest = folded >> 1 ^ -(folded & 1)
        sample = rest + 2 * last - second
        second = last
        last = sample
        out[i, j] = sample


def compressed_channels(samples, threshold, ratio, attack, release, out):
    """Loud passages made quieter: an envelope in decibels that follows each channel (a column), fast up,
    slowly down.
    """
    channel = cuda.grid(1)
    if channel >= samples.shape[1]:
        return
    envelope = float32(-96)
    for t in range(samples.shape[0]):
        x = samples[t, channel]
        level = 20 * math.log10(abs(x) + float32(1e-5))
        keep = attack if level > envelope else release
        envelope = keep * envelope + (1 - keep) * level
        gain = float32(0)
        if envelope > threshold:
            gain = (threshold - envelope) * (1 - 1 / ratio)
        out[t, channel] = x * float32(10) ** (gain / 20)


def pitch_problem(rng, n):
    hop, window, percent = 173, 403, 15
    t = np.arange(n * hop + window + 256)
    swing = 2 * math.pi * np.cumsum(1 / (90 + 60 * np.sin(t / 3001)))
    noise = rng.standard_normal(t.size) * (20 + 200 * (t // 5003 % 3 == 2))
    sound = 500 * np.sin(swing) + 250 * np.sin(2 * swing + 1) + noise
    samples = np.clip(np.rint(sound), -900, 900).astype(np.int16)

    def expected():
        at = sampled(rng, n, 500)
        periods = np.zeros(len(at))
        for row, frame in enumerate(at):
            s = samples[frame * hop : frame * hop + window + 256].astype(int)
            d = np.array([((s[:window] - s[k : k + window]) ** 2).sum() for k in range(256)])
            sums, k = np.cumsum(d), np.arange(256)
            low = (d * k * 100 < percent * sums)[2:255] & (d[2:255] < d[3:256])
            if low.any():
                k = 2 + low.argmax()
                before, after = d[k - 1] - d[k], d[k + 1] - d[k]
                periods[row] = k + (0.5 * (before - after) / (before + after) if before + after > 0 else 0)
        # Half of a quotient of rounded numbers, of which the sum of sizes may be larger than their sum.
        return [(at, periods, 64 * EPS32 + EPS32 * periods)]

    args = (samples, hop, window, percent, np.full(n, -1, np.float32))
    return Problem(args, (n,), (4,), expected, grid=n, bytes=2.0 * samples.size, flops=3.0 * 256 * window * n)


def adpcm_problem(rng, n):
    size = 260
    packed = rng.integers(0, 256, (n, size), np.uint8)
    packed[:, 4:] &= 0xBB  # small steps are usual
    packed[:, 4::7] |= 0x44
    packed[:, 2] = rng.integers(0, 89, n)
    steps = ADPCM_STEPS.astype(np.int16)
    changes = np.array([-1, -1, -1, -1, 2, 4, 6, 8], np.int8)

    def expected():
        at = sampled(rng, n, 3000)
        rows = packed[at].astype(int)
        values = np.zeros((len(at), 2 * (size - 4) + 1), int)
        sample = rows[:, 0] | rows[:, 1] << 8
        sample = np.where(sample > 32767, sample - 65536, sample)
        place, values[:, 0] = rows[:, 2], sample
        for k in range(2 * (size - 4)):
            code = rows[:, 4 + k // 2] >> 4 * (k % 2) & 15
            step = steps[place].astype(int)
            change = (step >> 3) + (step >> 2) * (code & 1) + (step >> 1) * (code >> 1 & 1) + step * (code >> 2 & 1)
            sample = np.clip(sample + np.where(code & 8, -change, change), -32768, 32767)
            place = np.clip(place + changes[code & 7], 0, 88)
            values[:, k + 1] = sample
        return [(at, values, 0)]

    args = (packed, steps, changes, np.zeros((n, 2 * (size - 4) + 1), np.int16))
    return Problem(
        args, (n, size, 2 * (size - 4) + 1, 88), (3,), expected, threads=n, bytes=n * (3.0 * size + 2 * size),
    )  # fmt: skip


def rice_problem(rng, n):
    size = 192
    orders = rng.integers(2, 9, n)
    rests = np.rint(rng.standard_normal((n, size)) * (1 << orders)[:, None] * 0.6).astype(np.int64)
    folded = np.where(rests < 0, -2 * rests - 1, 2 * rests)
    quotients = folded >> orders[:, None]
    lengths = quotients + 1 + orders[:, None]
    codes = (1 << orders)[:, None] | (folded & (1 << orders)[:, None] - 1)
    sizes = -(-lengths.sum(1) // 32)
    starts = np.cumsum(sizes) - sizes
    words = np.zeros(int(sizes.sum()) + 2, np.uint64)
    ends = np.cumsum(lengths, 1) + 32 * starts[:, None]  # the code's last bit is the one before
    word, bit = (ends - 1) // 32, (ends - 1) % 32
    shifted = codes.astype(np.uint64) << (31 - bit).astype(np.uint64)  # from the word of its end on
    np.add.at(words, word.ravel(), (shifted & np.uint64(0xFFFFFFFF)).ravel())
    np.add.at(words, np.maximum(word - 1, 0).ravel(), (shifted >> np.uint64(32)).ravel())
    samples = np.cumsum(np.cumsum(rests, 1), 1)

    def expected():
        return [(slice(None), samples, 0)]

    args = (words.astype(np.uint32), starts.astype(np.int32), orders.astype(np.uint8), np.zeros((n, size), np.int32))
    return Problem(args, (n, size), (3,), expected, threads=n, bytes=4.0 * words.size + 4.0 * samples.size)


def compressor_problem(rng, n):
    steps = 150
    loud = (0.02 + (np.arange(steps) % 50 > 30)).astype(np.float32)
    samples = rng.standard_normal((steps, n), np.float32) * loud[:, None]
    threshold, ratio, attack, release = (np.float32(v) for v in (-20, 4, 0.3, 0.97))

    def expected():
        at = sampled(rng, n, 5000)
        x = samples[:, at].astype(float)
        values, envelope = np.zeros_like(x), np.full(len(at), -96.0)
        for t in range(steps):
            level = 20 * np.log10(np.abs(x[t]) + float(np.float32(1e-5)))
            keep = np.where(level > envelope, float(attack), float(release))
            envelope = keep * envelope + (1 - keep) * level
            gain = np.where(envelope > threshold, (threshold - envelope) * (1 - 1 / float(ratio)), 0)
            values[t] = x[t] * 10 ** (gain / 20)
        # The envelope, up to 100 dB, forgets its errors at the rate 1 - release; gains are its exponential.
        error = EPS32 * 8 * 100 / (1 - release) * math.log(10) / 20 + 8 * EPS32
        return [((slice(None), at), values, error * np.abs(values) + 1e-30)]

    args = (samples, threshold, ratio, attack, release, np.full((steps, n), -99, np.float32))
    return Problem(args, (steps, n), (5,), expected, threads=n, bytes=8.0 * steps * n, flops=60.0 * steps * n)


PITCH_HEAD = """frame_pitch(const short *__restrict__ samples, int hop, int window, int percent,
                    float *__restrict__ periods, int n)"""
PITCH_FIND = """
      float period = 0;
      for (int k = 2; k < 255; k++) {
        long long here = differences[k];
        if (here * k * 100 < percent * SUM[k] && here < differences[k + 1]) {
          float before = differences[k - 1] - here, after = differences[k + 1] - here;
          period = k;
          if (before + after > 0) period += 0.5f * (before - after) / (before + after);
          break;
        }
      }
"""
PITCH = indexed(
    f"""
__global__ void {PITCH_HEAD} {{
  __shared__ int sound[1024], differences[256];
  __shared__ long long sums[2][256];
  INDEX lag = threadIdx.x, begin = blockIdx.x * (INDEX)hop;
  for (INDEX k = lag; k < window + 256; k += 256)
    sound[k] = samples[begin + k];
  __syncthreads();
  INDEX total = 0;
  for (INDEX k = 0; k < window; k++) {{
    INDEX d = sound[k] - sound[k + lag];
    total += d * d;
  }}
  differences[lag] = total;
  sums[0][lag] = total;
  int now = 0;
  for (int reach = 1; reach < 256; reach *= 2) {{
    __syncthreads();
    long long value = sums[now][lag];
    if (lag >= reach) value += sums[now][lag - reach];
    now = 1 - now;
    sums[now][lag] = value;
  }}
  __syncthreads();
  if (lag == 0) {{
{PITCH_FIND.replace("SUM", "sums[now]")}
    periods[blockIdx.x] = period;
  }}
}}
""",
    f"""
void {PITCH_HEAD} {{
#pragma omp parallel for
  for (INDEX frame = 0; frame < n; frame++) {{
    const short *sound = samples + frame * hop;
    int differences[256];
    long long sums[256], sum = 0;
    for (INDEX lag = 0; lag < 256; lag++) {{
      int total = 0;
      for (INDEX k = 0; k < window; k++) {{
        int d = sound[k] - sound[k + lag];
        total += d * d;
      }}
      differences[lag] = total;
      sums[lag] = sum += total;
    }}
{PITCH_FIND.replace("SUM", "sums")}
    periods[frame] = period;
  }}
}}
""",
)

ADPCM = each(
    """adpcm_blocks(const unsigned char *__restrict__ packed, const short *__restrict__ steps,
                 const signed char *__restrict__ changes, short *__restrict__ out, int n, int size, int places,
                   int last)""",
    """
    const unsigned char *block = packed + i * size;
    int sample = block[0] | block[1] << 8, place = block[2];
    if (sample >= 1 << 15) sample -= 1 << 16;
    out[i * places] = sample;
    for (INDEX k = 4; k < size; k++) {
      int byte = block[k];
      for (int half = 0; half < 2; half++) {
        int code = byte >> 4 * half & 15, step = steps[place], change = step >> 3;
        if (code & 1) change += step >> 2;
        if (code & 2) change += step >> 1;
        if (code & 4) change += step;
        if (code & 8) change = -change;
        sample = MAX(-32768, MIN(32767, sample + change));
        place = MAX(0, MIN(last, place + changes[code & 7]));
        out[i * places + 2 * (k - 4) + half + 1] = sample;
      }
    }
""",
)

RICE_SIDES = each(
    """rice_frames(const unsigned *__restrict__ words, const int *__restrict__ starts,
      const unsigned char *__restrict__ orders,
                int *__restrict__ out, int n, int size)""",
    """
    int k = orders[i], last = 0, second = 0;
    INDEX at = starts[i] * (INDEX)32;
    for (INDEX j = 0; j < size; j++) {
      int zeros = LEADING(rice_peek(words, at));
      at += zeros + 1;
      int low = k > 0 ? rice_peek(words, at) >> (32 - k) : 0;
      at += k;
      int folded = zeros << k | low, rest = folded >> 1 ^ -(folded & 1), sample = rest + 2 * last - second;
      second = last;
      last = sample;
      out[i * size + j] = sample;
    }
""",
    before="""
DEVICE unsigned rice_peek(const unsigned *__restrict__ words, INDEX at) {
  INDEX word = at >> 5;
  unsigned long long both = (unsigned long long)words[word] << 32 | words[word + 1];
  return (unsigned)(both >> (32 - (at & 31)));
}
""",
)
RICE = {k: text.replace("LEADING", "__builtin_clz" if k == "openmp" else "__clz") for k, text in RICE_SIDES.items()}

COMPRESSOR = each(
    """compressed_channels(const float *__restrict__ samples, float threshold, float ratio, float attack, float release,
                         float *__restrict__ out, int steps, int n)""",
    """
    float envelope = -96;
    for (INDEX t = 0; t < steps; t++) {
      float x = samples[t * n + channel], level = 20 * log10f(fabsf(x) + 1e-5f);
      float keep = level > envelope ? attack : release, gain = 0;
      envelope = keep * envelope + (1 - keep) * level;
      if (envelope > threshold) gain = (threshold - envelope) * (1 - 1 / ratio);
      out[t * n + channel] = x * powf(10.0f, gain / 20);
    }
""",
    index="channel",
)

KERNELS = [
    Kernel(
        "pitches of frames", frame_pitch, "int16[::1], pyint, pyint, pyint, float32[::1]", 256, pitch_problem,
        gpu=20_011, host=1003, test=3, kind="shared", **PITCH,
    ),
    Kernel(
        "4-bit differences", adpcm_blocks, "uint8[:,::1], int16[::1], int8[::1], int16[:,::1]", 64, adpcm_problem,
        gpu=100_003, host=3001, test=103, kind="irregular", **ADPCM,
    ),
    Kernel(
        "Rice's codes", rice_frames, "uint32[::1], int32[::1], uint8[::1], int32[:,::1]", 64, rice_problem,
        gpu=50_021, host=3001, test=103, kind="irregular", **RICE,
    ),
    Kernel(
        "compressor of channels",
        compressed_channels, "float32[:,::1], float32, float32, float32, float32, float32[:,::1]",
        128, compressor_problem,
        gpu=300_007, host=5003, test=131, kind="streaming", **COMPRESSOR,
    ),
]  # fmt: skip
