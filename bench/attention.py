"""Attention of examples/attention.py beside PyTorch's scaled_dot_product_attention by cuDNN and by
FlashAttention, and Triton's tutorial kernel, in one process: time on the GPU, and our speed over
cuDNN's.

    python bench/attention.py [--quick] [--turns] [--json OUT]

bfloat16, normal random, 16,384 rows in all, so that shorter ones are several batches; 16 heads of
128 elements or 32 of 64. With a causal mask half of the products count. How it is measured, in burst
and in turns, says bench/gemm.py. Results are compared with PyTorch's.

A kernel that waits for a barrier in vain never ends: a child process measures, within a limit for
each line of the table, as in bench/gemm.py.
"""

import importlib.util
import sys

import gemm
from _bench import Report, need_gpu
from gemm import say

ROWS, LENGTHS, TURNS = 16384, (2048, 4096, 8192, 16384), 11
HEADS = {128: 16, 64: 32}
QUICK = tuple((d, rows, causal) for d in HEADS for causal in (False, True) for rows in (4096, 16384))
NAMES = ("cudnn", "flash", "triton", "pyptx")


def measure(torch, case, names, modes):
    """Seconds of each side by mode. One that the machine's PyTorch does not have is left out."""
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
    if "triton" in names:
        say(running="triton")
        import _triton_tutorials

        runs["triton"] = _triton_tutorials.attention(q, k, v, out, causal)
    runs = {name: runs[name] for name in names}
    theirs = [name for name in names if name in ("cudnn", "flash")]
    if not theirs:
        raise ValueError("PyTorch has neither cuDNN nor FlashAttention here")
    say(running=theirs[0])
    want = runs[theirs[0]]().float()
    # Both sides round results to 8 bits, 2**-8 of them, and weights, each by up to 2**-9. These errors
    # are independent, so that their sum has about 2**-10 of the size of a row's results, and of all
    # elements none is 10 times as far off.
    size = want.square().mean(-1, keepdim=True).sqrt()

    def check(run):
        out.fill_(float("nan"))
        result = run()  # compiles
        far = ~(((out if result is None else result).float() - want).abs() <= 2.0**-7 * want.abs() + 2.0**-6 * size)
        if far.any():
            raise ValueError(f"{int(far.sum())} of {far.numel()} elements are far from PyTorch's")

    runs = {name: run for name, run in runs.items() if gemm.passes(torch, name, lambda run=run: check(run))}
    return gemm.measured(torch, {name: lambda _, run=run: run() for name, run in runs.items()}, modes, TURNS)


def sides(torch, names):
    return names


def main():
    args = gemm.options(__doc__).parse_args()
    device = need_gpu()
    if not importlib.util.find_spec("torch"):
        print("torch is not installed: nothing to compare with")
        return 0
    if device.compute_capability[0] != 9:
        print("examples/attention.py needs compute capability 9.0")
        return 0
    report = Report(f"bf16 attention on {device.name}", [("head", 4), ("rows", 6), ("mask", 6), ("mode", 5), ("cuDNN TFLOP/s", 13), ("Flash TFLOP/s", 13), ("Triton TFLOP/s", 14), ("pyptx TFLOP/s", 13), ("of cuDNN", 8)])

    def out(case, modes):
        d, rows, causal = case
        work = 4 * rows * ROWS * d * HEADS[d] / (2 if causal else 1) / 1e12
        for mode, t in modes.items():
            share = t["cudnn"] / t["pyptx"] if "cudnn" in t and "pyptx" in t else None
            report.row(d, rows, "causal" if causal else "none", mode, *(work / t[name] if name in t else None for name in NAMES), share)

    cases = QUICK if args.quick else [(d, rows, causal) for d in HEADS for causal in (False, True) for rows in LENGTHS]
    there = gemm.chosen(args, ("cudnn", "flash", "pyptx", *gemm.peers("triton")))
    measured = gemm.measure_all([name for name in NAMES if name in there], cases, gemm.command_of(__file__, args), out, label=lambda case: " ".join(map(str, case)))
    report.save(args.json, device=device.name)
    return 0 if measured else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        gemm.child(sys.argv[2:], sides, measure)
    else:
        sys.exit(main())
