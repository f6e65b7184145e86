"""Whole arrays with NVIDIA's cuda.compute (pip install cuda-cccl): sort, scan and reduce pyptx's device arrays, which it takes without a copy."""

import sys
from importlib import import_module
from types import ModuleType

import numpy as np
import pyptx.cuda

compute: ModuleType | None
try:
    compute = import_module("cuda.compute")  # NVIDIA's package named cuda; pyptx's is pyptx.cuda
except ImportError:
    compute = None


def main() -> int:
    device = pyptx.cuda.get_current_device()
    print(f"cuda.compute on {device.name}")
    if device.is_host or compute is None:
        print("  skipped: " + ("it needs a GPU" if device.is_host else "cuda.compute is not installed (pip install cuda-cccl)"))
        return 0
    n = 1 << 20
    x = np.random.default_rng(2).integers(-1000, 1000, n).astype(np.int32)
    zero = np.zeros(1, np.int32)
    d_x = pyptx.cuda.to_device(x)
    d_sorted, d_sums, d_total = pyptx.cuda.device_array_like(d_x), pyptx.cuda.device_array_like(d_x), pyptx.cuda.device_array(1, np.int32)
    pyptx.cuda.synchronize()
    compute.radix_sort(d_x, d_sorted, None, None, compute.SortOrder.ASCENDING, n)
    compute.inclusive_scan(d_x, d_sums, compute.OpKind.PLUS, zero, n)
    compute.reduce_into(d_x, d_total, compute.OpKind.PLUS, n, zero)
    pyptx.cuda.synchronize()
    correct = (
        np.array_equal(d_sorted.copy_to_host(), np.sort(x))
        and np.array_equal(d_sums.copy_to_host(), np.cumsum(x, dtype=np.int32))
        and d_total.copy_to_host()[0] == x.sum(dtype=np.int32)
    )
    print(f"  sorted, scanned and reduced {n} int32")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
