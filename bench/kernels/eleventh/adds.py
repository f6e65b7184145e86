"""Atomic additions in texts that CUDA C++ and the loops share: ADD(element, value)."""

MACRO = '#define ADD(x, v) _Pragma("omp atomic") x += v\n'


def with_adds(sides):
    return {k: MACRO + text if k == "openmp" else text.replace("ADD(", "atomicAdd(&") for k, text in sides.items()}
