# sig: float32[::1]
from pyptx import cuda


def scale(a, **options):
    a[0] *= 2


@cuda.jit
def kernel(a):
    scale(a, by=2)
