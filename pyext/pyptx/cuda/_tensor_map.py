"""Tensor maps that are made on the host, as numba-cuda-mlir makes them: an argument of kernels.

Such a map is a named tuple, as those of ``cuda.tensor_map`` are. Kernels are compiled for its box
and swizzle, so the name of its class says them (typeinfer/rules/tensor_map.c)."""

import functools
from typing import NamedTuple

import numpy as np

MOST_AXES, MOST_BOX, LINE = 5, 256, 16  # LINE: bytes


@functools.cache
def _class_of(box, swizzle):
    name = "_".join(["TensorMap_box", *map(str, box), "swizzle", str(swizzle)])
    made = NamedTuple(name, [(field, object) for field in ("array", "box", "swizzle", "nbytes")])
    made.__reduce__ = lambda self: (create_tensor_map_from_tensor, (self.array, self.box, self.swizzle))
    return made


def create_tensor_map_from_tensor(tensor, box_dim, swizzle=128):
    """A tensor map for cp_async_bulk_tensor that is made on the host, and an argument of kernels.

    It is what ``cuda.tensor_map(tensor, box_dim, swizzle)`` is in a kernel, which needs no such
    argument; this is the name that numba-cuda-mlir has for it.

    tensor: an array of integers or floats of 1 to 5 axes, C-contiguous or in Fortran order, of the
    host or a device, that begins at a multiple of 16 bytes and has rows that are such. box_dim: how
    many elements a box has along each axis of the array, 1 to 256. swizzle: 128, 64 or 32, the
    bytes of a row of the box; 0: not. Gives a named tuple with array, box, swizzle and nbytes,
    which keeps the array.

    Example:

        x = cuda.to_device(np.arange(64, dtype=np.float32).reshape(8, 8))
        boxes = cuda.create_tensor_map_from_tensor(x, (4, 8), swizzle=32)
        print(boxes.nbytes)                                    # 128
    """
    from pyptx import cuda

    array = tensor if isinstance(tensor, np.ndarray) else cuda.as_cuda_array(tensor, sync=False)
    box = tuple(box_dim) if np.iterable(box_dim) else (box_dim,)
    if array.dtype.kind in "bcmMOSU" or array.dtype.names:
        raise TypeError(f"a tensor map is of an array of integers or floats, not of {array.dtype}")
    if not 1 <= array.ndim <= MOST_AXES or len(box) != array.ndim:
        raise ValueError(f"a tensor map is of 1 to {MOST_AXES} axes, and the box has an extent for each: {len(box)} for {array.ndim}")
    if any(not 1 <= extent <= MOST_BOX for extent in box):
        raise ValueError(f"a box has 1 to {MOST_BOX} elements along each axis, not {box}")
    first = not array.flags["C_CONTIGUOUS"]  # in Fortran order the first axis has neighbours
    if first and not array.flags["F_CONTIGUOUS"]:
        raise ValueError("a tensor map is of an array that is contiguous: pass a copy")
    size, axis = array.dtype.itemsize, 0 if first else -1
    if swizzle not in (0, 32, 64, 128):
        raise ValueError(f"the swizzle is 0, 32, 64 or 128 bytes, not {swizzle}")
    if box[axis] * size % LINE or swizzle and box[axis] * size != swizzle:
        needed = f"the {swizzle} of the swizzle" if swizzle else f"a multiple of {LINE}"
        raise ValueError(f"a row of the box has {box[axis] * size} bytes, and must have {needed}")
    if array.ndim > 1 and array.shape[axis] * size % LINE:
        raise ValueError(f"a row of the array has {array.shape[axis] * size} bytes, and for a tensor map it is a multiple of {LINE}: pad the rows")
    box, swizzle = tuple(map(int, box)), int(swizzle)
    return _class_of(box, swizzle)(tensor, box, swizzle, int(np.prod(box)) * size)
