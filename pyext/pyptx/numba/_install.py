"""install() and uninstall(): a finder in front of sys.meta_path, and what was imported before
it."""

import importlib
import os
import sys
from importlib.machinery import ModuleSpec

from pyptx.numba import _modules, _settings

_CUDA = "numba.cuda"


def _below(name, package):
    return name == package or name.startswith(package + ".")


class _Finder:
    """Finds numba.cuda and what is in it, and numba where no other finder does. It is the modules'
    loader too."""

    def __init__(self):
        self.standalone = False  # numba itself is ours

    def _elsewhere(self, name, path):
        others = (f for f in sys.meta_path if f is not self and hasattr(f, "find_spec"))
        return next(filter(None, (finder.find_spec(name, path) for finder in others)), None)

    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            self.standalone = self._elsewhere(name, path) is None
        elif name == _settings.MODULE and not self.standalone:
            found = self._elsewhere(name, path)
            return found and _settings.spec_of(found)
        elif not _below(name, _CUDA) and not (self.standalone and _below(name, "numba")):
            return None
        if name == "numba" and not self.standalone:
            return None
        if not _modules.exists(name):  # no other finder is asked: numba-cuda's redirector would go round in circles
            raise ModuleNotFoundError(f"No module named '{name}': numba.cuda is pyptx (pyptx.numba.install())", name=name)
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        # The import system takes what is in sys.modules then: for most names, a module of pyptx.
        spec = module.__spec__
        made = sys.modules[spec.name] = _modules.make(spec.name, self.standalone)
        if isinstance(made, (_modules.Names, _modules.Missing)):
            made.__spec__, made.__loader__, made.__package__ = spec, self, spec.name


class _InChild:
    """An entry of multiprocessing's preparation data that installs in the child when it is read,
    which is before the child imports its main module."""

    def __init__(self, typing):
        self.typing = typing

    def __reduce__(self):
        return install, (self.typing,)


class _Installed:
    """What install() has changed, to undo it."""

    def __init__(self):
        self.finder = _Finder()
        self.modules = {}  # the real numba.cuda and what was imported of it
        self.names = []  # (namespace, name, value): what these modules' users had imported
        self.environment = None
        self.registries = []

    def put(self):
        self.modules = {name: module for name, module in sys.modules.items() if _below(name, _CUDA)}
        for name in self.modules:
            del sys.modules[name]
        sys.meta_path.insert(0, self.finder)
        self._forget_ufuncs()
        _settings.listen()
        simulate = getattr(sys.modules.get("numba.core.config"), "ENABLE_CUDASIM", 0) or os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
        if simulate and "PYPTX_DEVICE" not in os.environ:
            os.environ["PYPTX_DEVICE"] = self.environment = "host"
        if _CUDA in self.modules:
            self._rebind(self.modules[_CUDA], importlib.import_module(_CUDA))
        self._hook_processes()

    def _rebind(self, real, ours):
        """Gives modules that hold the real numba.cuda, or functions and objects that they imported
        from it, ours in their place."""
        replace = {id(real): ours}
        for name, value in vars(real).items():
            # A shared object (a number, a module of the standard library) is not numba.cuda's own.
            if not name.startswith("_") and getattr(value, "__module__", getattr(value, "__name__", "")).startswith(("numba.cuda", "numba_cuda")):
                found = getattr(ours, name, None)
                if found is not None:
                    replace[id(value)] = found
        for module in list(sys.modules.values()):
            if _below(getattr(module, "__name__", ""), "numba") or _below(getattr(module, "__name__", ""), "numba_cuda"):
                continue
            space = getattr(module, "__dict__", {})
            for name, value in list(space.items()):
                if id(value) in replace and not name.startswith("__"):
                    self.names.append((space, name, value, replace[id(value)]))
                    space[name] = replace[id(value)]

    def _forget_ufuncs(self):
        """numba.vectorize(target="cuda") asks numba.cuda.vectorizers once; then Numba keeps the
        answer."""
        decorators = sys.modules.get("numba.np.ufunc.decorators")
        for kind in ("Vectorize", "GUVectorize") if decorators else ():
            registry = getattr(decorators, kind).target_registry
            if "cuda" in registry:
                self.registries.append((registry, registry.pop("cuda")))

    def _hook_processes(self):
        from multiprocessing import forkserver, spawn

        self.preparation = spawn.get_preparation_data

        def get_preparation_data(name):
            return {**self.preparation(name), "pyptx.numba": _InChild(_modules.typing)}

        spawn.get_preparation_data = self.hook = get_preparation_data
        if forkserver._forkserver._preload_modules == ["__main__"]:
            forkserver.set_forkserver_preload(["pyptx"])  # the main module is for the children to import, after install()

    def take_away(self):
        from multiprocessing import forkserver, spawn

        if spawn.get_preparation_data is self.hook:
            spawn.get_preparation_data = self.preparation
        if forkserver._forkserver._preload_modules == ["pyptx"]:
            forkserver.set_forkserver_preload(["__main__"])
        sys.meta_path.remove(self.finder)
        _settings.stop_listening()
        self._forget_ufuncs_of_ours()
        ours = "numba" if self.finder.standalone else _CUDA
        for name in [name for name in sys.modules if _below(name, ours)]:
            del sys.modules[name]
        sys.modules.update(self.modules)
        numba = sys.modules.get("numba")
        if _CUDA in self.modules:
            numba.cuda = self.modules[_CUDA]
        elif numba is not None:
            vars(numba).pop("cuda", None)
        for space, name, before, now in self.names:
            if space.get(name) is now:
                space[name] = before
        if self.environment and os.environ.get("PYPTX_DEVICE") == self.environment:
            del os.environ["PYPTX_DEVICE"]

    def _forget_ufuncs_of_ours(self):
        before, self.registries = self.registries, []
        self._forget_ufuncs()
        for registry, value in before:
            registry["cuda"] = value


_now = None
_advice = None


def advice_class():
    """What pyptx's advice is of: pyptx.Advice, beside an installed Numba a class that is its
    NumbaPerformanceWarning too, which programs filter."""
    global _advice
    from pyptx.errors import Advice

    theirs = getattr(sys.modules.get("numba.core.errors"), "NumbaPerformanceWarning", None)
    if _now is None or not isinstance(theirs, type) or issubclass(Advice, theirs):
        return Advice
    if _advice is None or theirs not in _advice.__bases__:
        _advice = type("Advice", (Advice, theirs), {"__module__": Advice.__module__, "__doc__": Advice.__doc__})
    return _advice


def install(typing=None):
    """From now on `numba.cuda` is pyptx.

    typing: what numba.cuda.jit takes where the decorator does not say: "numba" or "numpy". Without
    it PYPTX_TYPING decides, and without that it is "numba": a program that does not change computes
    what it did. pyptx.cuda.jit is not concerned.

    Modules that were imported before hold pyptx's names from then on where they had imported
    numba.cuda's at their top level. Kernels that Numba has already made stay Numba's, and so do
    names that classes, closures and default values hold.

    Children that multiprocessing starts ("spawn", "forkserver") have it too. A second call only
    sets typing. pyptx's advice is a numba.core.errors.NumbaPerformanceWarning too, and settings of
    numba.config that pyptx.config has are made there as well. NUMBA_ENABLE_CUDASIM=1 selects the host device, as PYPTX_DEVICE=host. ValueError
    for another typing."""
    global _now
    if typing not in (None, "numba", "numpy"):
        raise ValueError(f"typing is 'numba' or 'numpy', not {typing!r}")
    _modules.typing = typing
    if _now is None:
        now = _Installed()
        now.put()
        _now = now


def uninstall():
    """Undoes install(): `import numba.cuda` finds what it found before. Names that were imported
    meanwhile stay pyptx's. Without install(), nothing."""
    global _now
    if _now is not None:
        _now.take_away()
        _now = None
        _modules.typing = None


def installed():
    """True between install() and uninstall()."""
    return _now is not None
