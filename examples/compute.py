"""Whole arrays with NVIDIA's cuda.compute (pip install "cuda-cccl[minimal-cu13]"): pyptx's arrays sorted, scanned and reduced without a copy."""

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
if not getattr(compute, "_BINDINGS_AVAILABLE", True):  # without CUDA's packages it is imported and empty
    compute = None


def main() -> int:
    device = pyptx.cuda.get_current_device()
    print(f"cuda.compute on {device.name}")
    if device.is_host or compute is None:
        print("  skipped: " + ("it needs a GPU" if device.is_host else "cuda.compute is not installed (pip install 'cuda-cccl[minimal-cu13]')"))
        return 0
    n = 1 << 20
    x = np.random.default_rng(2).integers(-1000, 1000, n).astype(np.int32)
    zero = np.zeros(1, np.int32)
    d_x = pyptx.cuda.to_device(x)
    d_sorted, d_sums, d_total = pyptx.cuda.device_array_like(d_x), pyptx.cuda.device_array_like(d_x), pyptx.cuda.device_array(1, np.int32)
    pyptx.cuda.synchronize()
    compute.radix_sort(d_in_keys=d_x, d_out_keys=d_sorted, num_items=n, order=compute.SortOrder.ASCENDING)
    compute.inclusive_scan(d_in=d_x, d_out=d_sums, op=compute.OpKind.PLUS, init_value=zero, num_items=n)
    compute.reduce_into(d_in=d_x, d_out=d_total, num_items=n, op=compute.OpKind.PLUS, h_init=zero)
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
