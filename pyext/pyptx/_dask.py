"""Device arrays under Dask: their size, and how they travel between workers.

Dask loads `plugin` (an entry point of the group dask.sizeof) when it is imported. Nothing is
imported for it until a device array is met.

Between processes an array's elements travel as one frame, which Dask sends as it is: on the host
device the array's own memory, and what arrives is the new array's memory; from a GPU a copy in host
memory. Workers that speak UCX (dask-cuda) send the memory of the GPU itself. Without
distributed.protocol, and for any other pickler, there is _pickle.py.
"""

import importlib.util
import sys

from pyptx._pickle import host_values, is_number


def plugin(sizeof):
    """Registers device arrays with dask.sizeof, and with distributed's serialisers when that
    package is imported."""
    sizeof.register_lazy("pyptx", lambda: register_size(sizeof))
    if "distributed.protocol" in sys.modules:
        register_lazily(sys.modules["distributed.protocol"])
    else:
        sys.meta_path.insert(0, Watch())


class Watch:
    """Calls register_lazily once distributed.protocol has been imported; it finds nothing by
    itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "distributed.protocol":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_register(module):
            execute(module)
            register_lazily(module)

        spec.loader.exec_module = execute_and_register
        return spec


def register_size(sizeof):
    from pyptx._pyptx import DeviceArray

    sizeof.register(DeviceArray, lambda array: array.nbytes + sys.getsizeof(array))


def register_lazily(protocol):
    """Dask's own hook: `register` runs when an object of pyptx is first serialised, or has arrived.
    """
    for dispatch in (protocol.dask_serialize, protocol.dask_deserialize, protocol.cuda_serialize, protocol.cuda_deserialize):
        dispatch.register_lazy("pyptx", register)


def register():
    from distributed.protocol import cuda_deserialize, cuda_serialize, dask_deserialize, dask_serialize
    from pyptx._pyptx import DeviceArray

    dask_serialize.register(DeviceArray, to_frames)
    dask_deserialize.register(DeviceArray, from_frames)
    cuda_serialize.register(DeviceArray, to_device_frames)
    cuda_deserialize.register(DeviceArray, from_device_frames)


def to_frames(array):
    from distributed.protocol.numpy import serialize_numpy_ndarray

    return serialize_numpy_ndarray(host_values(array))


def from_frames(header, frames):
    """An array of the current device; on the host device it is the frame's memory, where that can
    be written."""
    from distributed.protocol.numpy import deserialize_numpy_ndarray
    from pyptx._pyptx import from_dlpack, get_current_device, to_device

    values = deserialize_numpy_ndarray(header, frames)
    ours = values.flags.writeable and values.flags.aligned and is_number(values.dtype)
    return from_dlpack(values) if ours and get_current_device().is_host else to_device(values)


def to_device_frames(array):
    """The memory of a GPU's array, as bytes; a view that is not contiguous is copied."""
    import numpy as np
    from pyptx._pyptx import device_array

    if array.device.is_host:
        raise NotImplementedError("the host device has no memory of a GPU")  # Dask tries the next serialiser
    order = "C" if array.is_c_contiguous() else "F"
    if not array.flags["C_CONTIGUOUS"] and not array.flags["F_CONTIGUOUS"]:
        whole = device_array(array.shape, array.dtype)
        whole.copy_to_device(array)
        array, order = whole, "C"
    flat = (array if order == "C" else array.T).ravel()
    return {"shape": array.shape, "dtype": array.dtype, "order": order}, [flat.view(np.uint8)]


def from_device_frames(header, frames):
    from pyptx._pyptx import as_cuda_array

    shape = header["shape"]
    flat = as_cuda_array(frames[0]).view(header["dtype"])
    return flat.reshape(shape) if header["order"] == "C" else flat.reshape(shape[::-1]).T
