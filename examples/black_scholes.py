"""Black-Scholes prices of European options, with a device function for the normal distribution."""

import math
import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

# Abramowitz and Stegun, formula 26.2.17: absolute error below 7.5e-8.
A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
INV_SQRT_2PI = 0.3989422804014327


@cuda.jit(device=True)
def normal_cdf(d: float) -> float:
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    tail = INV_SQRT_2PI * math.exp(-0.5 * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return 1.0 - tail if d > 0 else tail


@cuda.jit
def black_scholes(
    price: cuda.Array, strike: cuda.Array, years: cuda.Array, rate: float, volatility: float, call: cuda.Array, put: cuda.Array
) -> None:
    i = cuda.grid(1)
    if i >= price.size:
        return
    s = price[i]
    x = strike[i]
    t = years[i]
    sqrt_t = math.sqrt(t)
    d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * sqrt_t)
    d2 = d1 - volatility * sqrt_t
    discounted = x * math.exp(-rate * t)
    cdf_d1 = normal_cdf(d1)
    cdf_d2 = normal_cdf(d2)
    call[i] = s * cdf_d1 - discounted * cdf_d2
    put[i] = discounted * (1.0 - cdf_d2) - s * (1.0 - cdf_d1)


def reference(price: Floats, strike: Floats, years: Floats, rate: float, volatility: float) -> tuple[Doubles, Doubles]:
    """The same formulas in float64 with NumPy."""

    def cdf(d: Doubles) -> Doubles:
        k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
        tail = INV_SQRT_2PI * np.exp(-0.5 * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
        return np.where(d > 0, 1.0 - tail, tail)

    s, x, t = price.astype(np.float64), strike.astype(np.float64), years.astype(np.float64)
    d1 = (np.log(s / x) + (rate + 0.5 * volatility**2) * t) / (volatility * np.sqrt(t))
    d2 = d1 - volatility * np.sqrt(t)
    discounted = x * np.exp(-rate * t)
    return (s * cdf(d1) - discounted * cdf(d2), discounted * cdf(-d2) - s * cdf(-d1))


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n = 1 << 24 if on_gpu else 1 << 18
    rate, volatility = 0.02, 0.30
    print(f"Black-Scholes of {n:,} options in float32 on {device.name}")

    rng = np.random.default_rng(6)
    price = rng.uniform(5, 30, n).astype(np.float32)
    strike = rng.uniform(1, 100, n).astype(np.float32)
    years = rng.uniform(0.25, 10, n).astype(np.float32)
    d_call, d_put = cuda.device_array_like(price), cuda.device_array_like(price)
    threads = 256
    black_scholes[(n + threads - 1) // threads, threads](
        cuda.to_device(price), cuda.to_device(strike), cuda.to_device(years), rate, volatility, d_call, d_put
    )

    # A price is S N(d1) - X' N(d2). d1 and d2 carry some ten float32 roundings, relative to |d|;
    # N's slope times |d| stays below 0.25; the polynomial, exp and the last operations add a few
    # eps each, exp's argument d*d/2 again relative to exp's slope. All together below 16 eps of S +
    # X.
    bound = 16 * np.finfo(np.float32).eps * (price.astype(np.float64) + strike)
    correct = True
    for name, got, expected in zip(
        ("call", "put"), (d_call, d_put), reference(price, strike, years, rate, volatility)
    ):
        share = np.max(np.abs(got.copy_to_host() - expected) / bound)
        correct = correct and bool(share <= 1)
        print(f"  {name:4}  mean {expected.mean():.4f}  largest error {share:.3f} of the bound")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
