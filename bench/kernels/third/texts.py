"""CUDA C++ and OpenMP texts of a kernel in which a thread does one turn of a loop nest.

The body is written once, with INDEX for the type of positions and counters: `long long` in the CUDA
text (as in Python), `int` in `cuda_int` and in the OpenMP loops. FUNCTION stands before the helper
functions, POPULATION for the function that counts bits.
"""


def position(index, axis):
    """The C expression of a thread's place along an axis."""
    first = "(long long)" if index == "long long" else ""
    return f"{first}blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis}"


def filled(text, index, device):
    """The text with the placeholders replaced; `device` tells CUDA C++ from C."""
    names = ("__device__", "__popcll") if device else ("static", "__builtin_popcountll")
    return text.replace("INDEX", index).replace("FUNCTION", names[0]).replace("POPULATION", names[1])


def indented(body, by):
    """The body's lines, which begin at column 0, `by` blanks further to the right."""
    return "".join(" " * by + line + "\n" if line else "\n" for line in body.strip("\n").split("\n"))


def cuda_text(index, name, parameters, over, body, helpers):
    """The kernel whose thread does the turn of its place, if the loops have one."""
    axes = list(zip("xyz", reversed(over)))
    places = "".join(f"  {index} {var} = {position(index, axis)};\n" for axis, (var, _, _) in axes)
    within = " && ".join(f"{var} < {end}" if start == "0" else f"{start} <= {var} && {var} < {end}" for var, start, end in over)
    inner = filled(indented(body, 4), index, True)
    above = filled(helpers, index, True)
    return f"{above}\n__global__ void {name}({parameters}) {{\n{places}  if ({within}) {{\n{inner}  }}\n}}\n"


def openmp_text(name, parameters, over, body, helpers, schedule):
    """The loops, the outermost one in parallel."""
    loops = ""
    for depth, (var, start, end) in enumerate(over):
        loops += f"{'  ' * (depth + 1)}for (int {var} = {start}; {var} < {end}; {var}++)"
        loops += " {\n" if depth + 1 == len(over) else "\n"
    inner = filled(indented(body, 2 * len(over) + 2), "int", False)
    above = filled(helpers, "int", False)
    closing = "  " * len(over) + "}\n"
    return f"{above}\nvoid {name}({parameters}) {{\n#pragma omp parallel for{schedule}\n{loops}{inner}{closing}}}\n"


def sides(name, parameters, over, body, helpers="", schedule=""):
    """The three texts as keyword arguments of Kernel; `over` has (variable, start, end) of each
    loop, outermost first.
    """
    return {
        "cuda": cuda_text("long long", name, parameters, over, body, helpers),
        "cuda_int": cuda_text("int", name, parameters, over, body, helpers),
        "openmp": openmp_text(name, parameters, over, body, helpers, schedule),
    }
