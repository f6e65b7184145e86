"""What a kernel prints, asserts and raises on the host device."""
from pyptx import cuda


@cuda.jit
def kernel(n, x):
    print("n", n, (n, x), x > 1, None, sep=" | ")
    print(f"{n:04d} {x:.2f} {x!r} {n=} {'a'!r}")
    assert n < 3, f"n is {n}"
    if x > 2:
        raise ValueError("x is too large")


for n, x in [(1, 0.5), (2, 2.5), (3, 0.1)]:
    try:
        kernel[1, 1](n, x)
        cuda.synchronize()
    except (AssertionError, ValueError) as e:
        print(type(e).__name__, str(e).splitlines()[0])
