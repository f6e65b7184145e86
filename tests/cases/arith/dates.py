# kernel: kernel
# sig: datetime64[s][::1], datetime64[M][::1], timedelta64[ms][::1]
"""Dates are int64: units meet in a multiplication, months by the calendar; NaT, the lowest integer, goes through."""
import numpy as np

from pyptx import cuda

START = np.datetime64("2020-01-01")


@cuda.jit
def kernel(when, month, since):
    i = cuda.grid(1)
    since[i] = when[i] - START
    month[i] = when[i]
    if when[i] < START:
        since[i] = np.timedelta64("NaT")
