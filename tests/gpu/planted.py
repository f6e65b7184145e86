"""A wrong kernel for each tool of compute-sanitizer: python planted.py TOOL runs it, and prints the line of its mistake (sanitize.py)."""

import sys

import numpy as np
from pyptx import cuda


@cuda.jit(lineinfo=True)
def memcheck(x):
    i = cuda.grid(1)
    x[i + 1] = i  # mistake: the last thread writes behind the end


@cuda.jit(lineinfo=True)
def racecheck(x):
    tile = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    x[t] = tile[255 - t]  # mistake: no barrier in front of it


@cuda.jit(lineinfo=True)
def initcheck(x):
    i = cuda.grid(1)
    x[i] += 1  # mistake: nothing has written x


@cuda.jit(lineinfo=True)
def synccheck(x):
    t = cuda.threadIdx.x
    if t < 100:
        cuda.syncthreads()  # mistake: threads 100 to 255 do not come
    x[t] = t


def main():
    tool = sys.argv[1]
    kernel = globals()[tool]
    with open(__file__) as source:
        lines = [n for n, line in enumerate(source, 1) if "# mistake" in line]
    print("line", lines[["memcheck", "racecheck", "initcheck", "synccheck"].index(tool)])
    x = cuda.device_array(256, np.float32)
    if tool != "initcheck":
        x.copy_to_device(np.ones(256, np.float32))
    kernel[1, 256](x)
    cuda.synchronize()


if __name__ == "__main__":
    main()
