"""C texts of a kernel from one template: the types of indices, and bodies that CUDA C++ and the
loops share.

In a template INDEX is the type of indices and counters. Python's are int64, so the CUDA text has
`long long` there; the second CUDA text, and the loops, have `int`, as one writes where all numbers
fit. MIN and MAX are of integers, DEVICE stands before a function that the kernel calls.
"""

MACROS = "#define MIN(a, b) ((a) < (b) ? (a) : (b))\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n"


def indexed(cuda, openmp):
    """The three texts as keyword arguments of Kernel."""
    cuda = cuda.replace("MIN(", "min(").replace("MAX(", "max(").replace("DEVICE", "__device__")
    loops = MACROS + openmp.replace("DEVICE", "static inline").replace("INDEX", "int")
    return {"cuda": cuda.replace("INDEX", "long long"), "cuda_int": cuda.replace("INDEX", "int"), "openmp": loops}


def each(head, body, extent="n", index="i", before="", schedule=""):
    """One thread, or one turn of the loop, for each index below the extent. `before`: functions
    that the body calls.
    """
    return indexed(
        f"""
{before}
__global__ void {head} {{
  INDEX {index} = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if ({index} < {extent}) {{{body}  }}
}}
""",
        f"""
{before}
void {head} {{
#pragma omp parallel for{schedule}
  for (INDEX {index} = 0; {index} < {extent}; {index}++) {{{body}  }}
}}
""",
    )


def plane(head, body, rows="rows", cols="cols", before=""):
    """The same for each (row, col); columns are the x of the threads and the inner loop."""
    return indexed(
        f"""
{before}
__global__ void {head} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (row < {rows} && col < {cols}) {{{body}  }}
}}
""",
        f"""
{before}
void {head} {{
#pragma omp parallel for
  for (INDEX row = 0; row < {rows}; row++)
    for (INDEX col = 0; col < {cols}; col++) {{{body}    }}
}}
""",
    )
