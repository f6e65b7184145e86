"""numba.cuda.vectorizers: what an installed Numba's vectorize and guvectorize make for
target="cuda" is pyptx's."""


from pyptx.numba import _modules


class _Ufunc:
    def __init__(self, function, options):
        self._function, self._options, self._signatures = function, options, []

    def add(self, signature):
        """Adds a signature, a text or a type."""
        self._signatures.append(signature)

    def disable_compile(self):
        """Nothing: there are the signatures that were added."""


class CUDAVectorize(_Ufunc):
    def __init__(self, pyfunc, identity=None, cache=False, targetoptions=None):
        super().__init__(pyfunc, {"identity": identity, "cache": cache, **(targetoptions or {})})

    def build_ufunc(self):
        """What pyptx.vectorize makes."""
        from pyptx import vectorize

        given = {name: value for name, value in self._options.items() if value not in (None, False)}
        given.update(_modules.typing_option(given))
        return vectorize(self._signatures, target="cuda", **given)(self._function)


class CUDAGUFuncVectorize(_Ufunc):
    def __init__(self, pyfunc, sig, identity=None, cache=False, targetoptions=None, writable_args=()):
        super().__init__(pyfunc, {"identity": identity, "cache": cache, "writable_args": writable_args, **(targetoptions or {})})
        self._shapes = sig

    def build_ufunc(self):
        """What pyptx.guvectorize makes."""
        from pyptx import guvectorize

        given = {name: value for name, value in self._options.items() if value not in (None, False, ())}
        given.update(_modules.typing_option(given))
        return guvectorize(self._signatures, self._shapes, target="cuda", **given)(self._function)
