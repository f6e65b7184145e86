"""The same Python function for another package's `cuda`: its globals with that package's names in place of pyptx's."""

import types

from pyptx import cuda as our_cuda


def rebound(function, package, cuda, seen=None):
    """`function` as one would write it for `package` (numba): same code, `cuda` and the types taken from there.

    Functions that it calls become device functions there, since only pyptx calls plain ones.
    """
    import pyptx

    seen = {} if seen is None else seen
    scope = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = scope.get(name)
        if value is our_cuda:
            scope[name] = cuda
        elif isinstance(value, types.FunctionType):
            if name not in seen:
                seen[name] = cuda.jit(device=True)(rebound(value, package, cuda, seen))
            scope[name] = seen[name]
        elif value is not None and getattr(pyptx, name, None) is value:
            scope[name] = getattr(package, name)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__)
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    return copy
