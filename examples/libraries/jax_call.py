"""Kernels called from JAX: on JAX's arrays as they are, through DLPack, and inside jax.jit by jax.pure_callback, with a gradient. Needs jax."""

# JAX's own annotations are incomplete.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import sys
from typing import SupportsFloat

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from pyptx import cuda

Floats = npt.NDArray[np.float32]


@cuda.jit
def axpy_kernel(a: np.float32, x: cuda.Array, y: cuda.Array, out: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def axpy_arrays(a: float, x: jax.Array, y: jax.Array) -> jax.Array:
    """a * x + y of two arrays of one shape; JAX's arrays are read where they are, and the result is made for JAX without a copy."""
    out = cuda.device_array(x.size, np.float32)
    axpy_kernel[-(-out.size // 256), 256](np.float32(a), cuda.from_dlpack(x).reshape(-1), cuda.from_dlpack(y).reshape(-1), out)
    result: jax.Array = jax.dlpack.from_dlpack(out)
    return result.reshape(x.shape)


def axpy_on_host(a: SupportsFloat, x: Floats, y: Floats) -> Floats:
    """What jax.pure_callback calls: with NumPy arrays or JAX's, of the host."""
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    out = np.empty_like(x)
    axpy_kernel[-(-out.size // 256), 256](np.float32(a), x.reshape(-1), y.reshape(-1), out.reshape(-1))
    return out


@jax.custom_vjp
def axpy(a: float, x: jax.Array, y: jax.Array) -> jax.Array:
    """a * x + y inside of jitted functions. JAX copies the operands to the host and back where they are on a GPU."""
    like_x = jax.ShapeDtypeStruct(x.shape, x.dtype)  # type: ignore[no-untyped-call]
    result: jax.Array = jax.pure_callback(axpy_on_host, like_x, a, x, y, vmap_method="sequential")
    return result


def forward(a: float, x: jax.Array, y: jax.Array) -> tuple[jax.Array, tuple[float, jax.Array]]:
    return axpy(a, x, y), (a, x)


def backward(kept: tuple[float, jax.Array], g: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    a, x = kept
    return jnp.vdot(x, g), a * g, g


axpy.defvjp(forward, backward)


def total(a: float, x: jax.Array, y: jax.Array) -> jax.Array:
    return axpy(a, x, y).sum()


def main() -> int:
    device = cuda.get_current_device()
    print(f"axpy in JAX {jax.__version__} on {device.name}, JAX's arrays on {jax.devices()[0].platform}")
    x, y = jnp.linspace(0, 1, 1000, dtype=jnp.float32), jnp.linspace(2, 3, 1000, dtype=jnp.float32)
    want = 2.5 * np.asarray(x, np.float64) + np.asarray(y, np.float64)
    bound = np.finfo(np.float32).eps * np.abs(want)  # a product and a sum of positive numbers: two roundings of half an ulp
    good: dict[str, bool] = {}
    if (jax.devices()[0].platform == "cpu") == device.is_host:  # else neither reaches the other's memory
        good["through DLPack"] = bool((abs(np.asarray(axpy_arrays(2.5, x, y)) - want) <= bound).all())
    good["under jit"] = bool((abs(np.asarray(jax.jit(axpy)(2.5, x, y)) - want) <= bound).all())
    gradients = jax.jit(jax.grad(total, argnums=(0, 1, 2)))(2.5, x, y)
    # a sum of 1000 float32: at most 1000 roundings of half an ulp of the result
    good["gradients"] = bool(abs(gradients[0] - 500) <= 500 * 500 * np.finfo(np.float32).eps and (gradients[1] == 2.5).all() and (gradients[2] == 1).all())
    print("  " + ", ".join(f"{name} {ok}" for name, ok in good.items()))
    correct = all(good.values())
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
