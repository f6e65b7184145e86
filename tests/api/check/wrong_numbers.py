"""Kernels with a mistake each, as wrong_kernels.py has them: numbers that become nan or infinite, and integers that do not fit."""

import math

import numpy as np
from wrong_kernels import f32, finds, i32

from pyptx import cuda
from pyptx.errors import NonFiniteError, WrapError


def nan(*arguments):
    return finds(NonFiniteError, 1, 64, *arguments, check="nan")


def wrap(*arguments):
    return finds(WrapError, 1, 64, *arguments, check="overflow")


@nan(f32(64), f32(64))
def divided_by_zero(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] / (x[t] - 5)  #!


@nan(f32(64), f32(64))
def root_of_a_negative_number(x, out):
    t = cuda.threadIdx.x
    out[t] = math.sqrt(x[t] - 40)  #!


@nan(f32(64), f32(64))
def exponential(x, out):
    t = cuda.threadIdx.x
    out[t] = math.exp(10 * x[t])  #!


def logarithm_of(v):
    return math.log(v)  #!


@nan(f32(64), f32(64))
def logarithm(x, out):
    t = cuda.threadIdx.x
    out[t] = logarithm_of(x[t] - 3)


@nan(f32(64), f32(64))
def softmax_without_the_maximum(x, out):
    t = cuda.threadIdx.x
    s = np.float32(0)
    for k in range(64):
        s += np.exp(2 * x[k])  #!
    out[t] = np.exp(x[t]) / s


@nan(f32(64), np.zeros(64, np.float16))
def narrowed(x, out):
    t = cuda.threadIdx.x
    out[t] = 5000 * x[t]  #!


@nan(f32(64), np.full(1, 3e38, np.float32))
def atomic_sum(x, out):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, 0, x[t] * np.float32(1e37))  #!


@nan(f32(64), f32(64))
def product_of_a_row(x, out):
    p = np.float32(1)
    i = 0
    while i < x.size:
        p *= x[i]  #!
        i += 1
    out[cuda.threadIdx.x] = p


@wrap(i32(64), i32(64))
def product(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] * np.int32(100000000)  #!


@wrap(np.arange(64), np.zeros(64, np.int8))
def store_of_a_wider_one(x, out):
    t = cuda.threadIdx.x
    out[t] = 3 * x[t]  #!


@wrap(i32(64), np.zeros(1, np.int32))
def atomic_count(x, out):
    cuda.atomic.add(out, 0, np.int32(100000000))  #!


@wrap(i32(64), np.zeros(64, np.uint32))
def negative_as_unsigned(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] - 5  #!


def factorial(n):
    p = 1
    for k in range(1, n + 1):
        p *= k  #!
    return p


@wrap(np.arange(64), np.zeros(64, np.int64))
def factorials(x, out):
    t = cuda.threadIdx.x
    out[t] = factorial(t)


@wrap((np.arange(64) - 2**31).astype(np.int32), i32(64))
def absolute(x, out):
    t = cuda.threadIdx.x
    out[t] = abs(x[t])  #!


@wrap(np.arange(64, dtype=np.int8), np.zeros(64, np.int8))
def sum_of_bytes(x, out):
    t = cuda.threadIdx.x
    out[t] = x[t] + x[t] + x[t]  #!


@wrap(np.arange(64), np.zeros(64, np.int32))
def shared_shorts(x, out):
    s = cuda.shared.array(64, np.int16)
    t = cuda.threadIdx.x
    s[t] = 1000 * x[t]  #!
    out[t] = s[t]


@wrap(np.arange(64), np.zeros(64, np.int64))
def power_of_ten(x, out):
    t = cuda.threadIdx.x
    out[t] = 10 ** x[t]  #!


@nan(f32(64))
def infinite_when_compiled(x):
    most = 1e308
    x[cuda.threadIdx.x] *= most * 10  #!
