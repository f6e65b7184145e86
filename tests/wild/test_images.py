"""Focal filters of images and rasters: windows with edges, missing values, orders, slopes; histograms by zone."""

import math

import numpy as np
import pytest
from pyptx import cuda

SHAPES = [(1, 1), (7, 5), (33, 40)]


def raster(shape, seed=0, missing=0.1):
    rng = np.random.default_rng(seed)
    image = rng.normal(size=shape).astype(np.float32)
    image[rng.random(shape) < missing] = np.nan
    return image


def launch(kernel, shape, *args):
    kernel[((shape[0] + 7) // 8, (shape[1] + 15) // 16), (8, 16)](*args)


def windows(image, radius):
    """(rows, columns, window) with nan where the window leaves the image."""
    padded = np.pad(image.astype(np.float64), radius, constant_values=np.nan)
    return np.lib.stride_tricks.sliding_window_view(padded, (2 * radius + 1,) * 2).reshape(*image.shape, -1)


@pytest.mark.parametrize("shape", SHAPES)
def test_focal_mean_without_missing_values(jit, shape):
    """The mean of at most 9 float32 numbers, summed in float64: one rounding to float32 beside NumPy's, RTOL 2**-23."""

    @jit
    def focal_mean(image, out, radius):
        i, j = cuda.grid(2)
        if i < image.shape[0] and j < image.shape[1]:
            total, count = np.float64(0), 0
            for di in range(-radius, radius + 1):
                for dj in range(-radius, radius + 1):
                    y, x = i + di, j + dj
                    if 0 <= y < image.shape[0] and 0 <= x < image.shape[1]:
                        v = image[y, x]
                        if v == v:
                            total += v
                            count += 1
            out[i, j] = total / count if count else math.nan

    image = raster(shape)
    out = np.zeros_like(image)
    launch(focal_mean, shape, image, out, 1)
    w = windows(image, 1)
    known = ~np.isnan(w)
    count = known.sum(2)
    right = np.where(count > 0, np.where(known, w, 0).sum(2) / np.maximum(count, 1), np.nan)
    np.testing.assert_allclose(out, right.astype(np.float32), rtol=2.0**-23, atol=2.0**-30)


@pytest.mark.parametrize("shape", SHAPES)
def test_focal_apply_with_a_kernel(jit, shape):
    """At most 9 products of float32, added in float64 and rounded once."""

    @jit
    def apply(data, weights, out):
        i, j = cuda.grid(2)
        rows, cols = data.shape
        delta_rows, delta_cols = weights.shape[0] // 2, weights.shape[1] // 2
        if i < rows and j < cols:
            s = np.float64(0)
            for k in range(weights.shape[0]):
                for h in range(weights.shape[1]):
                    i_k = min(max(i + k - delta_rows, 0), rows - 1)
                    j_h = min(max(j + h - delta_cols, 0), cols - 1)
                    s += np.float64(weights[k, h]) * data[i_k, j_h]
            out[i, j] = s

    image = raster(shape, 1, 0)
    weights = np.random.default_rng(2).normal(size=(3, 3)).astype(np.float32)
    out = np.zeros_like(image)
    launch(apply, shape, image, weights, out)
    padded = np.pad(image.astype(np.float64), 1, mode="edge")
    right = sum(weights[k, h].astype(np.float64) * padded[k : k + shape[0], h : h + shape[1]] for k in range(3) for h in range(3))
    np.testing.assert_allclose(out, right, rtol=2.0**-23, atol=2.0**-40)


@pytest.mark.parametrize("shape", SHAPES)
def test_median_filter(jit, shape):
    @jit
    def median(image, out):
        i, j = cuda.grid(2)
        if i < image.shape[0] and j < image.shape[1]:
            values = cuda.local.array(9, np.float32)
            n = 0
            for y in range(max(i - 1, 0), min(i + 2, image.shape[0])):
                for x in range(max(j - 1, 0), min(j + 2, image.shape[1])):
                    v = image[y, x]
                    k = n
                    while k > 0 and values[k - 1] > v:
                        values[k] = values[k - 1]
                        k -= 1
                    values[k] = v
                    n += 1
            if n % 2:
                out[i, j] = values[n // 2]
            else:
                out[i, j] = (values[n // 2 - 1] + values[n // 2]) / 2

    image = raster(shape, 3, 0)
    out = np.zeros_like(image)
    launch(median, shape, image, out)
    right = np.array([[np.median(image[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2]) for j in range(shape[1])] for i in range(shape[0])])
    assert (out == right.astype(np.float32)).all()


def test_hillshade(jit):
    """A dozen operations and four functions with errors of a few ulp in float64: RTOL 1e-13."""

    @jit
    def shade(height, out, cell, azimuth, altitude):
        i, j = cuda.grid(2)
        if i <= 0 or j <= 0 or i >= height.shape[0] - 1 or j >= height.shape[1] - 1:
            if i < height.shape[0] and j < height.shape[1]:
                out[i, j] = np.nan
            return
        dx = (height[i - 1, j + 1] + 2 * height[i, j + 1] + height[i + 1, j + 1] - height[i - 1, j - 1] - 2 * height[i, j - 1] - height[i + 1, j - 1]) / (8 * cell)
        dy = (height[i + 1, j - 1] + 2 * height[i + 1, j] + height[i + 1, j + 1] - height[i - 1, j - 1] - 2 * height[i - 1, j] - height[i - 1, j + 1]) / (8 * cell)
        slope = math.atan(math.sqrt(dx * dx + dy * dy))
        aspect = math.atan2(-dx, dy)
        value = math.sin(altitude) * math.cos(slope) + math.cos(altitude) * math.sin(slope) * math.cos(azimuth - aspect)
        out[i, j] = max(0.0, value)

    shape = (20, 31)
    height = np.cumsum(np.random.default_rng(4).normal(size=shape), axis=0)
    out = np.zeros(shape)
    launch(shade, shape, height, out, 2.0, 0.7, 0.9)
    h = height
    dx = (h[:-2, 2:] + 2 * h[1:-1, 2:] + h[2:, 2:] - h[:-2, :-2] - 2 * h[1:-1, :-2] - h[2:, :-2]) / 16
    dy = (h[2:, :-2] + 2 * h[2:, 1:-1] + h[2:, 2:] - h[:-2, :-2] - 2 * h[:-2, 1:-1] - h[:-2, 2:]) / 16
    slope, aspect = np.arctan(np.hypot(dx, dy)), np.arctan2(-dx, dy)
    right = np.full(shape, np.nan)
    right[1:-1, 1:-1] = np.maximum(0, np.sin(0.9) * np.cos(slope) + np.cos(0.9) * np.sin(slope) * np.cos(0.7 - aspect))
    np.testing.assert_allclose(out, right, rtol=1e-13, atol=1e-14)


def test_histograms_by_zone(jit):
    BINS = 16

    @jit
    def count(image, zones, low, high, out):
        local = cuda.shared.array((4, BINS), np.int32)
        t = cuda.threadIdx.x
        for k in range(t, 4 * BINS, cuda.blockDim.x):
            local[k // BINS, k % BINS] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), image.size, cuda.gridsize(1)):
            v = image[i]
            if not math.isnan(v):
                b = int((v - low) / (high - low) * BINS)
                b = min(max(b, 0), BINS - 1)
                cuda.atomic.add(local, (zones[i], b), 1)
        cuda.syncthreads()
        for k in range(t, 4 * BINS, cuda.blockDim.x):
            if local[k // BINS, k % BINS]:
                cuda.atomic.add(out, (k // BINS, k % BINS), local[k // BINS, k % BINS])

    rng = np.random.default_rng(5)
    image = rng.integers(-40, 41, 3001) / 16.0  # whole steps, so that every division is exact in float64
    image[::17] = np.nan
    zones, out = rng.integers(0, 4, 3001).astype(np.uint8), np.zeros((4, BINS), np.int32)
    count[5, 96](image, zones, -2.0, 2.0, out)
    known = ~np.isnan(image)
    bins = np.clip(np.trunc((image[known] + 2) / 4 * BINS).astype(int), 0, BINS - 1)
    right = np.zeros((4, BINS), int)
    np.add.at(right, (zones[known], bins), 1)
    assert (out == right).all()


def test_bilinear_resize_of_bytes(jit):
    """The weights are multiples of 1/8, the sums exact in float64; rounding is half to even in both."""

    @jit
    def resize(source, out):
        y, x, c = cuda.grid(3)
        if y < out.shape[0] and x < out.shape[1] and c < out.shape[2]:
            fy = min(max((y + 0.5) * source.shape[0] / out.shape[0] - 0.5, 0.0), source.shape[0] - 1.0)
            fx = min(max((x + 0.5) * source.shape[1] / out.shape[1] - 0.5, 0.0), source.shape[1] - 1.0)
            y0, x0 = int(fy), int(fx)
            y1, x1 = min(y0 + 1, source.shape[0] - 1), min(x0 + 1, source.shape[1] - 1)
            wy, wx = fy - y0, fx - x0
            top = source[y0, x0, c] * (1.0 - wx) + source[y0, x1, c] * wx
            bottom = source[y1, x0, c] * (1.0 - wx) + source[y1, x1, c] * wx
            out[y, x, c] = round(top * (1.0 - wy) + bottom * wy)

    source = np.random.default_rng(6).integers(0, 256, (8, 12, 3), dtype=np.uint8)
    out = np.zeros((32, 48, 3), np.uint8)
    resize[(4, 6, 1), (8, 8, 3)](source, out)
    fy, fx = (np.clip((np.arange(4 * n) + 0.5) / 4 - 0.5, 0, n - 1) for n in (8, 12))
    y0, x0 = fy.astype(int), fx.astype(int)
    y1, x1 = np.minimum(y0 + 1, 7), np.minimum(x0 + 1, 11)
    wy, wx, s = (fy - y0)[:, None, None], (fx - x0)[None, :, None], source.astype(float)
    top = s[y0][:, x0] * (1 - wx) + s[y0][:, x1] * wx
    bottom = s[y1][:, x0] * (1 - wx) + s[y1][:, x1] * wx
    assert (out == np.rint(top * (1 - wy) + bottom * wy).astype(np.uint8)).all()


def test_life(jit):
    @jit
    def step(now, then):
        i, j = cuda.grid(2)
        n, m = now.shape
        if i < n and j < m:
            around = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di != 0 or dj != 0:
                        around += now[(i + di) % n, (j + dj) % m]
            then[i, j] = 1 if around == 3 or (around == 2 and now[i, j]) else 0

    now = np.random.default_rng(7).integers(0, 2, (30, 23), dtype=np.uint8)
    d_now, d_then, right = cuda.to_device(now), cuda.device_array_like(now), now
    for _ in range(10):
        launch(step, now.shape, d_now, d_then)
        d_now, d_then = d_then, d_now
        around = sum(np.roll(right, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - right
        right = ((around == 3) | ((around == 2) & (right == 1))).astype(np.uint8)
    assert (d_now.copy_to_host() == right).all()


def test_distance_transform_by_rows(jit):
    @jit
    def rows(mask, out):
        i = cuda.grid(1)
        if i < mask.shape[0]:
            far = mask.shape[0] + mask.shape[1]
            for j in range(mask.shape[1]):
                if mask[i, j]:
                    seen = j
                    out[i, j] = 0
                else:
                    out[i, j] = j - seen if j > 0 and out[i, j - 1] < far else far
            for j in range(mask.shape[1] - 2, -1, -1):
                out[i, j] = min(out[i, j], out[i, j + 1] + 1)

    mask = np.random.default_rng(8).random((17, 40)) < 0.1
    mask[3] = False
    out = np.zeros(mask.shape, np.int32)
    rows[1, 32](mask, out)
    for i in range(17):
        where = np.flatnonzero(mask[i])
        right = np.abs(np.arange(40)[:, None] - where[None]).min(1) if where.size else np.full(40, 57)
        assert (np.minimum(out[i], 57) == right).all()
