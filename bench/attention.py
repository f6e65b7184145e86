"""Attention of examples/attention.py beside PyTorch's scaled_dot_product_attention by cuDNN and by
FlashAttention, in one process: time on the GPU, and our speed over cuDNN's.

    python bench/attention.py [--json OUT]

bfloat16, normal random, 16,384 rows in all, so that shorter ones are several batches; 16 heads of
128 elements or 32 of 64. With a causal mask half of the products count. All sides take turns, one
call at a time behind an idle pause of 15 ms; medians. Results are compared with PyTorch's.

A kernel that waits for a barrier in vain never ends: a child process measures, within a limit for
each line of the table, as in bench/gemm.py.
"""

import importlib.util
import json
import statistics
import sys

from _bench import Report, need_gpu, parser
from gemm import measure_all, say, seconds

ROWS, LENGTHS, TURNS = 16384, (2048, 4096, 8192, 16384), 11
HEADS = {128: 16, 64: 32}
NAMES = ("cudnn", "flash", "pyptx")


def measure(torch, case, names):
    """Seconds of each side. One that the machine's PyTorch does not have is left out."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    import attention

    d, rows, causal = case
    shape = (ROWS // rows, HEADS[d], rows, d)
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    out = torch.full_like(q, float("nan"))
    flat = [x.view(-1, rows, d) for x in (q, k, v, out)]

    def torch_by(backend):
        def run():
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(q, k, v, is_causal=causal)

        return run

    runs = {"cudnn": torch_by(SDPBackend.CUDNN_ATTENTION), "flash": torch_by(SDPBackend.FLASH_ATTENTION), "pyptx": lambda: attention.launch(*flat, causal)}
    runs = {name: runs[name] for name in names}
    results = []
    for name, run in runs.items():
        say(running=name)
        results.append(run())  # compiles
    if len(results) < 2:
        raise ValueError("PyTorch has neither cuDNN nor FlashAttention here")
    want = results[0].float()
    # Both sides round results to 8 bits, 2**-8 of them, and weights, each by up to 2**-9. These errors
    # are independent, so that their sum has about 2**-10 of the size of a row's results, and of all
    # elements none is 10 times as far off.
    size = want.square().mean(-1, keepdim=True).sqrt()
    far = ~((out.float() - want).abs() <= 2.0**-7 * want.abs() + 2.0**-6 * size)
    if "pyptx" in runs and far.any():
        raise ValueError(f"{int(far.sum())} of {far.numel()} elements are far from PyTorch's")
    times = {name: [] for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            say(running=name)
            times[name].append(seconds(torch, run))
    return {name: statistics.median(t) for name, t in times.items()}


def child(names):
    import torch

    torch.zeros(1, device="cuda")
    say(ready=True)
    for line in sys.stdin:
        say(times=measure(torch, json.loads(line), names))


def main():
    args = parser(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    if device.compute_capability[0] != 9:
        print("examples/attention.py needs compute capability 9.0")
        return 0
    report = Report(f"bf16 attention on {device.name}", [("head", 4), ("rows", 6), ("mask", 6), ("cuDNN TFLOP/s", 13), ("Flash TFLOP/s", 13), ("pyptx TFLOP/s", 13), ("of cuDNN", 8)])

    def out(case, t):
        d, rows, causal = case
        work = 4 * rows * ROWS * d * HEADS[d] / (2 if causal else 1) / 1e12
        share = t["cudnn"] / t["pyptx"] if "cudnn" in t and "pyptx" in t else None
        report.row(d, rows, "causal" if causal else "none", *(work / t[name] if name in t else None for name in NAMES), share)

    cases = [(d, rows, causal) for d in HEADS for causal in (False, True) for rows in LENGTHS]
    measured = measure_all(NAMES, cases, [sys.executable, __file__, "--child"], out, label=lambda case: " ".join(map(str, case)))
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        sys.exit(main())
