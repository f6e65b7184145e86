"""numba.vectorize and numba.guvectorize where Numba is not installed: pyptx's, with what Numba's do
unless told otherwise: they run on the CPU, and cast arrays as NumPy's ufuncs do."""

from pyptx.numba import _modules


def _options(options, target):
    """What pyptx's decorators take of Numba's options. ValueError for object mode."""
    if options.pop("forceobj", False) or not options.pop("nopython", True):
        raise ValueError("object mode needs an installed Numba: pyptx compiles the function, or raises")
    if target != "cuda":
        options.pop("cache", None)  # PYPTX_CACHE_DIR keeps the kernels of every decorator
        options.pop("locals", None)
    return {**_modules.typing_option(options), **options}


def vectorize(ftylist_or_function=(), target="cpu", identity=None, **options):
    """Numba's decorator: `@vectorize`, `@vectorize(["float64(float64)"], target="cpu")`; what
    pyptx.vectorize makes, in Numba's typing."""
    import pyptx

    return pyptx.vectorize(ftylist_or_function, target=target, identity=identity, **_options(options, target))


def guvectorize(*args, target="cpu", **options):
    """Numba's decorator: `@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")`; what
    pyptx.guvectorize makes, in Numba's typing."""
    import pyptx

    return pyptx.guvectorize(*args, target=target, **_options(options, target))
