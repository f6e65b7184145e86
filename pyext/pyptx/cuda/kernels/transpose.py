"""The transpose of a matrix in the device's memory."""

from pyptx import cuda
from pyptx._elementwise import Work, is_array, overlap, read

__all__ = ["transpose"]

_TILE = 32
_ROWS = 8  # that a block's threads have in a tile


@cuda.jit
def _transpose(a, b, ordered=None):
    tile = cuda.shared.array((_TILE, _TILE + 1), a.dtype)  # a column more: the threads of a warp read different banks
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * _TILE, cuda.blockIdx.x * _TILE
    for k in range(ty, _TILE, _ROWS):
        if row + k < a.shape[0] and column + tx < a.shape[1]:
            tile[k, tx] = a[row + k, column + tx]
    cuda.syncthreads()
    for k in range(ty, _TILE, _ROWS):
        if column + k < b.shape[0] and row + tx < b.shape[1]:
            b[column + k, row + tx] = tile[tx, k]


_MOST = 65535 * _TILE  # rows that a grid can have


def transpose(a, b=None):
    """Writes the transpose of a matrix to `b`, which is returned; without it, to a new device
    array.

    a: an array of shape (m, n) and any dtype and strides, on the device or the host; b: one of
    shape (n, m) and the same dtype. A device array that is bound to a stream (``a.bind(stream)``)
    is transposed there. For a view without a copy there is ``a.T``.

    TypeError: no matrix, or dtypes that differ; ValueError: other shapes.

    Source: Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++" (NVIDIA, 2013).

    Example:

        from pyptx.cuda.kernels.transpose import transpose

        print(transpose(cuda.to_device(np.ones((2, 3)))).shape)     # (3, 2)
    """
    stream = getattr(a, "stream", None) if isinstance(a, cuda.DeviceNDArray) else None
    work = Work([a], stream or 0)
    value = work.values[0]
    if not is_array(value) or value.ndim != 2:
        raise TypeError(f"transpose: a matrix, an array with two axes, is transposed, not one with {getattr(value, 'ndim', 0)}")
    shape = tuple(value.shape)[::-1]
    if b is not None and tuple(b.shape) != shape:
        raise ValueError(f"transpose: b must have the shape {shape}, not {tuple(b.shape)}")
    if b is not None and read(b)[0].dtype != value.dtype:
        raise TypeError(f"transpose: b must have the dtype {value.dtype}, not {read(b)[0].dtype}")
    work.bring()
    value = work.values[0]
    if b is None and not work.originals:
        b = cuda.device_array(shape, value.dtype, stream=stream or 0)
    target, finish = work.output("transpose", b, shape, value.dtype, apart=overlap)
    for start in range(0, shape[1] if shape[0] else 0, _MOST):
        part, into = value[start : start + _MOST], target[:, start : start + _MOST]
        grid = -(-part.shape[1] // _TILE), -(-part.shape[0] // _TILE)
        _transpose[grid, (_TILE, _ROWS), stream or 0](part, into, *([tuple(work.originals)] if work.originals else ()))
    return finish()
