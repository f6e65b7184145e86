import pytest
from pyptx import cuda


@pytest.fixture(params=["numpy", "numba"])
def jit(request):
    """cuda.jit with NumPy's typing, and with Numba's."""

    def decorator(function=None, **options):
        return cuda.jit(function, typing=request.param, **options) if function else lambda f: cuda.jit(f, typing=request.param, **options)

    return decorator
