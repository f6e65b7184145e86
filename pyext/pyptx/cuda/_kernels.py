"""What a kernel leaves to Python: specialisations, and extensions that prepare its arguments."""

import numpy as np

from pyptx import _pyptx, types
from pyptx._pyptx import Type


def _typeof(kernel, value):
    """The type of a value as an argument. NumPy's arrays say it themselves: the way of a launch copies them to a GPU."""
    if type(value) is np.ndarray and value.ndim and value.flags.aligned and value.dtype.kind in "biufc" and value.dtype.isnative:
        layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
        return types.Array(types.from_dtype(value.dtype), value.ndim, layout)
    return kernel._typeof(value)


def specialize(kernel, values):
    """kernel.specialize(*values): the kernel for exactly these types, which are given or are the values'."""
    if kernel.declared_signatures:
        raise RuntimeError(f"Dispatcher already specialized: {kernel.__name__} is for {', '.join(kernel.declared_signatures)} alone")
    own = [_pyptx._own(value) for value in values]
    if kernel.extensions:
        own = [value if isinstance(value, Type) else prepared(kernel, value, 0, [])[1] for value in own]
    signature = tuple(value if isinstance(value, Type) else _typeof(kernel, value) for value in own)
    key = (_pyptx.get_current_device().compute_capability, signature)
    made = kernel.specializations.get(key)
    if made is None:
        made = type(kernel)(kernel.py_func, (signature,), **kernel._made[1])
        made.compile(signature)
        made = kernel.specializations.setdefault(key, made)
    return made


def prepared(kernel, value, stream, retr):
    """(type, value) of an argument as the extensions give it, the last one first. The type is None for what is no argument by itself."""
    try:
        ty = _typeof(kernel, value)
    except TypeError:
        ty = None
    for extension in reversed(kernel.extensions):
        ty, value = extension.prepare_args(ty, value, stream=stream, retr=retr)
    return ty, value


def launch_prepared(launcher, values, names):
    """The launch of a kernel with extensions. Functions that they append to retr are called behind it, in order."""
    kernel, retr = launcher.dispatcher, []
    stream = 0 if launcher.stream is None else launcher.stream
    values = [prepared(kernel, value, stream, retr)[1] for value in values]
    names = names or ()
    n = len(values) - len(names)
    launcher._launch(*values[:n], **dict(zip(names, values[n:])))
    for finish in retr:
        finish()
