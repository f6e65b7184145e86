"""A kernel as an operator of PyTorch: torch.library.custom_op, with its gradient, under torch.compile as an opaque operator. Needs torch."""

# PyTorch's own annotations are incomplete.
# pyright: reportUnknownMemberType=false

import math
import sys
from typing import Any

import torch
from pyptx import cuda


@cuda.jit
def swish_kernel(x: cuda.Array, out: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] / (1 + math.exp(-x[i]))


@cuda.jit
def swish_backward_kernel(grad: cuda.Array, x: cuda.Array, out: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < x.size:
        s = 1 / (1 + math.exp(-x[i]))
        out[i] = grad[i] * s * (1 + x[i] * (1 - s))


def launch(kernel: cuda.Dispatcher[...], *tensors: torch.Tensor) -> None:
    """Over all elements of contiguous tensors, on the device that they are on and on PyTorch's current stream."""
    flat = [t.view(-1) for t in tensors]
    if flat[0].numel():
        kernel[-(-flat[0].numel() // 256), 256](*flat)


@torch.library.custom_op("pyptx_example::swish", mutates_args=())
def swish(x: torch.Tensor) -> torch.Tensor:
    x = x.detach().contiguous()
    out = torch.empty_like(x)
    launch(swish_kernel, x, out)
    return out


@torch.library.custom_op("pyptx_example::swish_backward", mutates_args=())
def swish_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    grad, x = grad.detach().contiguous(), x.detach().contiguous()
    out = torch.empty_like(x)
    launch(swish_backward_kernel, grad, x, out)
    return out


@swish.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@swish_backward.register_fake
def _(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs)


def backward(ctx: Any, grad: torch.Tensor) -> Any:
    return swish_backward(grad, *ctx.saved_tensors)


swish.register_autograd(backward, setup_context=setup_context)


@torch.compile(backend="aot_eager", fullgraph=True)  # one graph, with the operator in it
def compiled(x: torch.Tensor) -> Any:
    return 2 * swish(x) + 1


def close(got: torch.Tensor, want: torch.Tensor) -> bool:
    """x s(x) and its derivative have an exp within 4 ulp, and fewer than ten roundings of values up to 6."""
    eps = torch.finfo(torch.float32).eps
    return torch.allclose(got, want, rtol=20 * eps, atol=20 * 6 * eps)


def main() -> int:
    device = cuda.get_current_device()
    print(f"swish as an operator of PyTorch {torch.__version__} on {device.name}")
    x = torch.linspace(-6, 6, 10_001, device="cpu" if device.is_host else "cuda")
    mine, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    y, want = swish(mine), torch.nn.functional.silu(theirs)
    (slope,), (want_slope,) = torch.autograd.grad(y.sum(), mine), torch.autograd.grad(want.sum(), theirs)
    values, gradients = close(y, want), close(slope, want_slope)
    print(f"  values {values}, gradients {gradients}")
    torch.library.opcheck(swish, (x.clone().requires_grad_(),))
    inside = close(compiled(x), 2 * want.detach() + 1)
    print(f"  torch.library.opcheck passed; under torch.compile {inside}")
    correct = values and gradients and inside
    print("matches PyTorch" if correct else "does NOT match PyTorch")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
