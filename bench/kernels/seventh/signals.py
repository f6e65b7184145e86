"""Signals: decimation by integrators and combs, power spectra of overlapping frames."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int64


def cic_decimate(x, factor, stages, out):
    """A CIC filter of up to 8 stages: integrators at each sample, combs at each kept one; a thread a channel."""
    c = cuda.grid(1)
    if c >= x.shape[1]:
        return
    sums = cuda.local.array(8, int64)
    last = cuda.local.array(8, int64)
    for s in range(stages):
        sums[s] = 0
        last[s] = 0
    for k in range(out.shape[0]):
        for j in range(factor):
            v = int(x[k * factor + j, c])
            for s in range(stages):
                sums[s] += v
                v = sums[s]
        v = sums[stages - 1]
        for s in range(stages):
            before = last[s]
            last[s] = v
            v -= before
        out[k, c] = v


def frame_spectra(signal, window, hop, order, cosines, sines, power):
    """The power of 257 frequencies of each windowed frame of 512 samples; a block of 256 a frame."""
    re = cuda.shared.array(512, float32)
    im = cuda.shared.array(512, float32)
    frame = cuda.blockIdx.x
    t = cuda.threadIdx.x
    for k in range(t, 512, 256):
        from_k = order[k]
        re[k] = signal[frame * hop + from_k] * window[from_k]
        im[k] = 0
    cuda.syncthreads()
    half = 1
    while half < 512:
        k = t % half
        i = (t // half) * 2 * half + k
        j = i + half
        wr = cosines[k * (256 // half)]
        wi = sines[k * (256 // half)]
        a = wr * re[j] - wi * im[j]
        b = wr * im[j] + wi * re[j]
        re[j] = re[i] - a
        im[j] = im[i] - b
        re[i] += a
        im[i] += b
        cuda.syncthreads()
        half *= 2
    for k in range(t, 257, 256):
        power[frame, k] = re[k] * re[k] + im[k] * im[k]


def cic_problem(rng, n):
    factor, stages, kept = 13, 4, 37
    x = rng.integers(-30_000, 30_000, (factor * kept, n)).astype(np.int16)

    def expected():
        at = sampled(rng, n, 2000)
        v = x[:, at].astype(np.int64)
        for _ in range(stages):
            v = np.cumsum(v, 0)
        v = v[factor - 1 :: factor]
        for _ in range(stages):
            v = np.diff(v, axis=0, prepend=0)
        return [((slice(None), at), v, 0)]

    args = (x, factor, stages, np.zeros((kept, n), np.int64))
    return Problem(args, (n, kept), (3,), expected, threads=n, bytes=2.0 * x.size + 8.0 * kept * n)


def spectra_problem(rng, n):
    size, hop = 512, 160
    t = np.arange((n - 1) * hop + size)
    signal = np.float32(np.sin(t * 0.2 + 3 * np.sin(t / 900)) + rng.normal(0, 0.3, t.size))
    window = np.float32(np.hanning(size))
    order = np.array([int(f"{k:09b}"[::-1], 2) for k in range(size)], np.int32)
    angle = -2 * np.pi * np.arange(size // 2) / size
    cosines, sines = np.float32(np.cos(angle)), np.float32(np.sin(angle))

    def expected():
        at = sampled(rng, n, 500)
        frames = signal[at[:, None] * hop + np.arange(size)].astype(float) * window
        bins = np.abs(np.fft.rfft(frames))
        # Each of 9 stages rounds by 3 eps of a norm that doubles as squares do: of the norm of the spectrum at last.
        off = 9 * 3 * EPS32 * np.linalg.norm(frames, axis=1)[:, None] * np.sqrt(size)
        return [(at, bins * bins, off * (2 * bins + off))]

    args = (signal, window, hop, order, cosines, sines, np.zeros((n, size // 2 + 1), np.float32))
    return Problem(args, (n,), (6,), expected, grid=n, bytes=4.0 * n * (hop + size // 2 + 1), flops=n * 10.0 * 256 * 9)


CIC = each(
    "cic_decimate(const short *__restrict__ x, int factor, int stages, long long *__restrict__ out, int n, int kept)",
    """
    long long sums[8], last[8];
    for (INDEX s = 0; s < stages; s++)
      sums[s] = last[s] = 0;
    for (INDEX k = 0; k < kept; k++) {
      for (INDEX j = 0; j < factor; j++) {
        long long v = x[(k * factor + j) * n + i];
        for (INDEX s = 0; s < stages; s++)
          v = sums[s] += v;
      }
      long long v = sums[stages - 1];
      for (INDEX s = 0; s < stages; s++) {
        long long before = last[s];
        last[s] = v;
        v -= before;
      }
      out[k * n + i] = v;
    }
""",
)

SPECTRA_HEAD = """frame_spectra(const float *__restrict__ signal, const float *__restrict__ window, int hop,
                   const int *__restrict__ order, const float *__restrict__ cosines,
                   const float *__restrict__ sines, float *__restrict__ power, int n)"""
SPECTRA = indexed(
    f"""
__global__ void {SPECTRA_HEAD} {{
  __shared__ float re[512], im[512];
  INDEX frame = blockIdx.x, t = threadIdx.x;
  for (INDEX k = t; k < 512; k += 256) {{
    INDEX from = order[k];
    re[k] = signal[frame * hop + from] * window[from];
    im[k] = 0;
  }}
  __syncthreads();
  for (INDEX half = 1; half < 512; half *= 2) {{
    INDEX k = t % half, i = t / half * 2 * half + k, j = i + half;
    float wr = cosines[k * (256 / half)], wi = sines[k * (256 / half)];
    float a = wr * re[j] - wi * im[j], b = wr * im[j] + wi * re[j];
    re[j] = re[i] - a;
    im[j] = im[i] - b;
    re[i] += a;
    im[i] += b;
    __syncthreads();
  }}
  for (INDEX k = t; k < 257; k += 256)
    power[frame * 257 + k] = re[k] * re[k] + im[k] * im[k];
}}
""",
    f"""
void {SPECTRA_HEAD} {{
#pragma omp parallel for
  for (INDEX frame = 0; frame < n; frame++) {{
    float re[512], im[512];
    for (INDEX k = 0; k < 512; k++) {{
      re[k] = signal[frame * hop + order[k]] * window[order[k]];
      im[k] = 0;
    }}
    for (INDEX half = 1; half < 512; half *= 2)
      for (INDEX start = 0; start < 512; start += 2 * half)
        for (INDEX k = 0; k < half; k++) {{
          INDEX i = start + k, j = i + half;
          float wr = cosines[k * (256 / half)], wi = sines[k * (256 / half)];
          float a = wr * re[j] - wi * im[j], b = wr * im[j] + wi * re[j];
          re[j] = re[i] - a;
          im[j] = im[i] - b;
          re[i] += a;
          im[i] += b;
        }}
    for (INDEX k = 0; k < 257; k++)
      power[frame * 257 + k] = re[k] * re[k] + im[k] * im[k];
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "CIC decimation", cic_decimate, "int16[:,::1], pyint, pyint, int64[:,::1]", 128, cic_problem,
        gpu=100_003, host=3001, test=203, **CIC,
    ),
    Kernel(
        "spectra of frames", frame_spectra,
        "float32[::1], float32[::1], pyint, int32[::1], float32[::1], float32[::1], float32[:,::1]", 256,
        spectra_problem,
        gpu=30_011, host=503, test=5, kind="shared", **SPECTRA,
    ),
]  # fmt: skip
