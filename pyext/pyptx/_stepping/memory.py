"""Arrays, records and numbers as a kernel that runs in Python sees them.

An array gives NumPy's numbers and takes what kernels store: a number is converted as a kernel converts it, where NumPy would raise. An array
is NumPy's own otherwise, so that a debugger shows it, and an index out of bounds is NumPy's IndexError.
"""

import ctypes
import math

import numpy as np

from pyptx._stepping.schedule import tick


def _to_integer(x, dtype):
    bits, signed = 8 * dtype.itemsize, dtype.kind == "i"
    if isinstance(x, (float, np.floating)) or (not isinstance(x, (int, np.integer, np.bool_)) and hasattr(x, "__float__")):
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
        x = float(x)
        x = 0 if math.isnan(x) else most if x >= most else least if x <= least else int(x)
    x = int(x) & (1 << bits) - 1
    return dtype.type(x - (1 << bits) if signed and x >> (bits - 1) else x)


def convert(x, dtype):
    """The number as one of that dtype, as constructors and stores of kernels convert: integers wrap, floats become the nearest end of an
    integer's range, nan becomes 0. TypeError: a complex number to a real one."""
    if type(x) is dtype.type and dtype.kind != "m" and dtype.kind != "M":
        return x
    if dtype.kind not in "iufb" or not isinstance(x, (int, float, complex, np.number, np.bool_)) or isinstance(x, np.timedelta64):
        return x if dtype.kind in "mM" or dtype.type is np.void else dtype.type(x)
    if isinstance(x, (complex, np.complexfloating)):
        raise TypeError(f"a complex number cannot become a {dtype}: take .real")
    return _to_integer(x, dtype) if dtype.kind in "iu" else dtype.type(x)


_NUMBERS = (bool, int, float, complex, np.generic)


class Record(np.record):
    """One record: its fields first, as in kernels."""

    def __getattribute__(self, name):
        fields = np.void.__getattribute__(self, "dtype").fields
        return self[name] if fields and name in fields else super().__getattribute__(name)

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return found.view(Memory) if type(found) is np.ndarray else found

    def __setattr__(self, name, value):
        self[name] = value

    def __setitem__(self, key, value):
        dtype = self.dtype[key]
        plain = isinstance(value, _NUMBERS) and not isinstance(value, np.void) and not dtype.names and not dtype.shape
        super().__setitem__(key, convert(value, dtype) if plain else value)


def _with_records(dtype):
    """The dtype, its records of the class above."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return np.dtype((_with_records(base), shape))
    if not dtype.names:
        return dtype
    formats = [_with_records(dtype.fields[name][0]) for name in dtype.names]
    offsets = [dtype.fields[name][1] for name in dtype.names]
    return np.dtype((Record, {"names": dtype.names, "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize}))


class Memory(np.ndarray):
    """An array of a kernel."""

    def __getitem__(self, index):
        tick()
        return np.ndarray.__getitem__(self, index)

    def __setitem__(self, index, value):
        if isinstance(value, _NUMBERS):
            if type(value) is not self.dtype.type and not self.dtype.names:
                value = convert(value, self.dtype)
        elif isinstance(value, tuple) and not self.dtype.names:
            value = np.array([convert(x, self.dtype) for x in value], self.dtype)
        elif isinstance(value, np.ndarray) and value.dtype != self.dtype and self.dtype.kind in "iu" and value.dtype.kind in "fiu":
            value = np.array([convert(x, self.dtype) for x in value.flat], self.dtype).reshape(value.shape)
        np.ndarray.__setitem__(self, index, value)

    def __getattr__(self, name):  # a field
        if self.dtype.names and name in self.dtype.names:
            return self[name]
        raise AttributeError(f"an array of {self.dtype} has no attribute '{name}'", name=name)

    def item(self, *index):
        return self[index if len(index) != 1 else index[0]] if index else self.reshape(-1)[0]

    def fill(self, value):
        self[...] = value


def memory(array, readonly=False):
    """A NumPy array as a kernel sees it: the same memory."""
    found = array.view(Memory)
    if array.dtype.names:
        found.dtype = _with_records(array.dtype)
    if readonly and found.flags.writeable:
        found.flags.writeable = False
    return found


def at(address, shape, strides, dtype):
    """The array at an address."""
    low = sum(min(s * (n - 1), 0) for s, n in zip(strides, shape)) if 0 not in shape else 0
    high = sum(max(s * (n - 1), 0) for s, n in zip(strides, shape)) + dtype.itemsize if 0 not in shape else 0
    buffer = (ctypes.c_char * (high - low)).from_address(address + low) if high > low else b""
    return np.ndarray(shape, dtype, buffer, -low, strides) if high > low else np.empty(shape, dtype)


def record(void):
    """A record that is an argument: the same memory."""
    return memory(at(void.__array_interface__["data"][0], (), (), void.dtype))[()]


def zeros(shape, dtype):
    return memory(np.zeros(shape, dtype))
