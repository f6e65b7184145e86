"""The public names: each has a docstring, a signature that inspect reads, an example, and a place in the reference (docs/api.py)."""

import importlib
import importlib.util
import inspect
import types
from pathlib import Path

import pytest

import pyptx
from pyptx import _pyptx, cuda

ROOT = Path(__file__).resolve().parents[3]
spec = importlib.util.spec_from_file_location("api", ROOT / "docs/api.py")
api = importlib.util.module_from_spec(spec)
spec.loader.exec_module(api)

MODULES = ["pyptx", "pyptx.types", "pyptx.errors", "pyptx.cuda", "pyptx.cuda.coop", "pyptx.cuda.random", "pyptx.cuda.wmma", "pyptx.cuda.kernels.transpose"]
CLASSES = [o for o in vars(_pyptx).values() if isinstance(o, type)] + [pyptx.cuda.Module, type(pyptx.vectorize)]
PATHS = [path for *_, sections in api.PAGES.values() for names in sections.values() for path in names]
CALLED_BY_PYPTX = {"advice_class", "advice_mode", "show_advice", "advise", "shown_name"}  # in pyptx.errors, by the extension
WITHOUT_EXAMPLE = {
    # Their pages show them in what makes them or uses them.
    "Launcher", "BoundLaunch", "Report.open", "Report.save", "CompiledKernel", "CompiledKernel.max_cooperative_grid_blocks", "CompiledKernel.max_active_clusters", "DeviceArray", "Stream", "Event", "Graph",
    "GraphNode", "Device", "Dispatcher", "Type", "Signature", "ModuleKernel", "ModuleLauncher", "UFunc", "GUFunc", "cuda.coop.Block",
    "cuda.coop.Tile", "cuda.wmma.Fragment",
    # Their module's example.
    "cuda.wmma.mma_sync", "cuda.wmma.store_matrix_sync",
    # Base classes of memory managers, which few write; RMM has one.
    "cuda.BaseCUDAMemoryManager", "BaseCUDAMemoryManager.memalloc", "BaseCUDAMemoryManager.memhostalloc", "BaseCUDAMemoryManager.mempin",
    "BaseCUDAMemoryManager.initialize", "BaseCUDAMemoryManager.get_ipc_handle", "BaseCUDAMemoryManager.get_memory_info",
    "BaseCUDAMemoryManager.reset", "BaseCUDAMemoryManager.defer_cleanup", "cuda.HostOnlyCUDAMemoryManager", "cuda.MemoryPointer",
    "MemoryPointer.free", "cuda.MappedMemory", "cuda.PinnedMemory", "cuda.IpcHandle", "cuda.GetIpcHandleMixin",
    "GetIpcHandleMixin.get_ipc_handle",
    # Their class has the example.
    "IpcArrayHandle.open", "IpcArrayHandle.close",
    # NVIDIA's former names: one example for all of them, of the classes.
    *(f"block.make_{name}" for name in ("reduce", "sum", "scan", "merge_sort_keys", "exclusive_sum", "inclusive_sum", "exclusive_scan", "inclusive_scan", "radix_sort_keys",
                                        "radix_sort_keys_descending", "load", "store", "exchange")),
    *(f"warp.make_{name}" for name in ("sum", "reduce", "exclusive_sum", "merge_sort_keys")),
}  # fmt: skip


def is_public(name, value):
    """Is it ours, and no module, constant, type of kernels, or name of kernels (which ir/intrinsics.def documents)."""
    if name.startswith("_") or isinstance(value, (types.ModuleType, _pyptx.Type, type(cuda.grid))) or not callable(value):
        return False
    return (getattr(value, "__module__", "") or "").startswith("pyptx")


def public(module):
    """name → value of what a module offers."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [name for name in dir(found) if name not in CALLED_BY_PYPTX]
    return {f"{module}.{name}": getattr(found, name) for name in names if is_public(name, getattr(found, name))}


def everything():
    """(name, object) of each function, class and method of the reference."""
    for path in PATHS:
        target = api.found(path)
        yield api.shown(path), target
        if path.endswith("."):
            for name in api.members(target)[0]:
                yield f"{target.__name__}.{name}", getattr(target, name)


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_every_public_name(module):
    known = [api.found(path) for path in PATHS]
    missing = [name for name, value in public(module).items() if not any(value is other for other in known)]
    assert not missing, f"in no section of PAGES of docs/api.py: {missing}"


def test_no_name_comes_twice():
    assert len(set(PATHS)) == len(PATHS)


def test_every_public_name_has_a_docstring():
    missing = [name for name, value in everything() if not inspect.getdoc(value)]
    assert not missing


def has_signature(value):
    try:
        inspect.signature(value)
    except ValueError:
        return False
    return True


def test_every_public_name_has_a_signature():
    """Exceptions are made by pyptx alone."""
    missing = [name for name, value in everything() if callable(value) and not has_signature(value)
               and not (isinstance(value, type) and issubclass(value, BaseException))]
    assert not missing


def test_every_c_function_and_method_has_a_text_signature():
    missing = [name for name, value in vars(_pyptx).items() if inspect.isbuiltin(value) and not name.startswith("_") and not has_signature(value)]
    for cls in (o for o in vars(_pyptx).values() if isinstance(o, type)):
        missing += [f"{cls.__name__}.{name}" for name, value in vars(cls).items()
                    if inspect.ismethoddescriptor(value) and not (name.startswith("_") and not name.startswith("__")) and not has_signature(value)]
    assert not missing


def test_every_name_of_kernels_has_a_signature():
    functions = [value for value in _pyptx.intrinsics.values() if value.__text_signature__]
    assert len(functions) > 50 and all(map(has_signature, functions))
    assert str(inspect.signature(cuda.shfl_sync)) == "(mask, value, src_lane)"
    assert list(inspect.signature(cuda.shared.array).parameters) == ["shape", "dtype", "alignment"]


def test_signatures_are_those_that_are_read():
    """The text of a C function's signature is checked against the function: every keyword is accepted by name."""
    d = cuda.to_device([1.0])
    for name in ("copy_to_host", "squeeze", "bind", "split"):
        parameters = inspect.signature(getattr(d, name)).parameters
        with pytest.raises(TypeError, match="no_such_keyword|unexpected|invalid|takes|missing"):
            getattr(d, name)(no_such_keyword=1)
        assert "self" not in parameters and parameters
    assert list(inspect.signature(cuda.to_device).parameters) == ["obj", "stream", "copy", "to"]
    assert cuda.to_device(obj=[1.0], stream=0, copy=True, to=None).shape == (1,)


def has_example(doc):
    return "```python" in api.markdown_of(doc or "")


def test_every_public_function_has_an_example():
    missing = {name for name, value in everything() if callable(value) and not has_example(inspect.getdoc(value))
               and not (isinstance(value, type) and issubclass(value, BaseException))}
    assert missing == WITHOUT_EXAMPLE, (missing - WITHOUT_EXAMPLE, WITHOUT_EXAMPLE - missing)


def test_every_attribute_has_a_docstring():
    missing = []
    for path in PATHS:
        cls = api.found(path)
        if path.endswith(".") and isinstance(cls, type):
            missing += [f"{cls.__name__}.{name}" for name in api.members(cls)[1]
                        if not inspect.getdoc(vars(cls)[name]) and not isinstance(vars(cls)[name], types.MemberDescriptorType)]
    assert not missing


def test_the_pages_are_current():
    stale = [path.name for path, text in api.outputs().items() if not path.exists() or path.read_text() != text]
    assert not stale, "run docs/api.py"


def test_the_stubs_agree_on_parameters():
    """What the pages take from the stubs has the parameters that inspect sees, of functions in C too."""
    known, wrong = api.stubs(), []
    for path in PATHS:
        value, nodes = api.found(path), known.get(path.rpartition(".")[2], [])
        if inspect.isroutine(value) and len(nodes) == 1 and "options" not in str(inspect.signature(value)):
            said = {text.lstrip("*").partition(":")[0].partition("=")[0].strip() for text in api.parameters(nodes[0], False)} - {"/", ""}
            if said != set(inspect.signature(value).parameters):
                wrong.append((path, said, set(inspect.signature(value).parameters)))
    assert not wrong
