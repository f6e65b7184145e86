"""Error bounds of the functions that are not exact: documented in docs/guide/accuracy.md, measured by test_accuracy.py.

Bounds are in ulps of the result's type: the number of representable numbers between the result and the
correctly rounded one. The host device computes them with the C library: most bounds are what was measured
(4 million arguments each, glibc 2.36), some rows keep a larger one. The GPU's are those of
libdevice (NVIDIA's CUDA C++ Programming Guide, mathematical functions).
"""

# name of math and NumPy: (float32 on the host, on the GPU, float64 on the host, on the GPU)
BOUNDS = {
    "acos": (1, 2, 1, 2),
    "acosh": (2, 4, 2, 3),
    "asin": (1, 2, 1, 3),
    "asinh": (2, 3, 2, 3),
    "atan": (1, 2, 1, 2),
    "atan2": (1, 3, 1, 2),
    "atanh": (2, 3, 2, 3),
    "cbrt": (1, 1, 4, 1),
    "cos": (1, 2, 1, 2),
    "cosh": (2, 2, 2, 2),
    "erf": (1, 2, 1, 2),
    "erfc": (3, 4, 5, 5),
    "exp": (1, 2, 1, 1),
    "exp2": (1, 2, 1, 1),
    "expm1": (1, 1, 1, 1),
    "hypot": (1, 1, 1, 1),
    "log": (1, 1, 1, 1),
    "log10": (2, 2, 2, 1),
    "log1p": (1, 1, 1, 1),
    "log2": (1, 1, 2, 1),
    "pow": (1, 4, 1, 2),
    "sin": (1, 2, 1, 2),
    "sinh": (2, 3, 2, 2),
    "tan": (1, 4, 1, 2),
    "tanh": (2, 2, 2, 3),
}
ALIASES = {"arc" + name[1:]: name for name in BOUNDS if name[0] == "a"}  # NumPy's arcsin is asin
ALIASES["dist"] = "hypot"  # of two coordinates


def bound(name, dtype, device):
    """Ulps that the function may be off, by the documented table."""
    if dtype == "float16":
        return 1  # computed in float32, rounded once more
    name = name.rpartition(".")[2]
    row = BOUNDS[ALIASES.get(name, name)]
    return row[2 * (dtype == "float64") + (device != "host")]


def ulps_of(name, dtype, device):
    """Ulps between the device and the reference of meaning.py, which is the C library's or NumPy's own
    function of that type: each is off by its bound at most. (NumPy's float32 loops are within 4 ulps by its own tests.)
    """
    reference = bound(name, dtype, "host") if dtype == "float64" else 1
    if not name.startswith("math.") and dtype == "float32":
        reference = 4
    if name == "operator.pow":
        reference += 1  # x ** 3 may be two products
    return bound(name, dtype, device) + reference
