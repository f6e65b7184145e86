"""Random numbers in kernels: one xoroshiro128+ generator for each thread, with the streams of numba.cuda.random.

    states = create_xoroshiro128p_states(threads, seed=1)

    @cuda.jit
    def kernel(states, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = xoroshiro128p_uniform_float32(states, i)

A state is a record of two 64-bit words. Generators of one array are 2**64 steps apart in the sequence that starts at the seed, so no two of
them ever overlap. The functions with ``(states, index)`` run in kernels, and on the host over a NumPy array.

Sources: Blackman and Vigna, xoroshiro128+ (2016, with the rotations 55, 14 and 36 of that version) and SplitMix64, both in the public domain.
"""

import math

import numpy as np

from pyptx.types import from_dtype

xoroshiro128p_dtype = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
xoroshiro128p_type = from_dtype(xoroshiro128p_dtype)  # in signatures: xoroshiro128p_type[:]

# NumPy scalars: uint64 with uint64 is uint64 under every typing.
_ONE = np.uint64(1)
_11, _14, _27, _30, _31 = tuple(np.uint64(n) for n in (11, 14, 27, 30, 31))
_55, _9, _36, _28 = (np.uint64(n) for n in (55, 64 - 55, 36, 64 - 36))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
# The polynomial that advances by 2**64 steps, low word first (Blackman and Vigna's jump()).
_JUMP = np.uint64(0xBEAC0467EBA5FACB), np.uint64(0xD86B048B86AA9922)
_UNIT = np.float64(2.0**-53)
_MINUS2_FLOAT32, _MINUS2_FLOAT64 = np.float32(-2), np.float64(-2)
_TWO_PI_FLOAT32, _TWO_PI_FLOAT64 = np.float32(2 * math.pi), np.float64(2 * math.pi)


# --- in kernels ---


def init_xoroshiro128p_state(states, index, seed):
    """Begin states[index] with one output of SplitMix64, so that small seeds do not start badly. seed: an integer, taken modulo 2**64.

    Example:

        init_xoroshiro128p_state(states, 0, 42)
    """
    z = np.uint64(seed) + _GOLDEN
    z = (z ^ (z >> _30)) * _MIX1
    z = (z ^ (z >> _27)) * _MIX2
    z = z ^ (z >> _31)
    states[index]["s0"] = z
    states[index]["s1"] = z


def xoroshiro128p_next(states, index):
    """The next uint64 of states[index], which advances by one step.

    Example:

        bits = xoroshiro128p_next(states, 0)
    """
    s0 = states[index]["s0"]
    s1 = states[index]["s1"]
    result = s0 + s1
    s1 = s1 ^ s0
    states[index]["s0"] = (s0 << _55 | s0 >> _9) ^ s1 ^ (s1 << _14)
    states[index]["s1"] = s1 << _36 | s1 >> _28
    return result


def xoroshiro128p_jump(states, index):
    """Advance states[index] by 2**64 steps.

    Example:

        xoroshiro128p_jump(states, 0)
    """
    s0 = np.uint64(0)
    s1 = np.uint64(0)
    for word in _JUMP:
        for bit in range(64):
            if word >> np.uint64(bit) & _ONE:
                s0 = s0 ^ states[index]["s0"]
                s1 = s1 ^ states[index]["s1"]
            xoroshiro128p_next(states, index)
    states[index]["s0"] = s0
    states[index]["s1"] = s1


def xoroshiro128p_uniform_float64(states, index):
    """A float64 in [0, 1), a multiple of 2**-53; states[index] advances by one step.

    Example:

        value = xoroshiro128p_uniform_float64(states, 0)
    """
    return np.float64(xoroshiro128p_next(states, index) >> _11) * _UNIT


def xoroshiro128p_uniform_float32(states, index):
    """A float32 in [0, 1]: the float64 rounded to nearest; states[index] advances by one step.

    Example:

        value = xoroshiro128p_uniform_float32(states, 0)
    """
    return np.float32(xoroshiro128p_uniform_float64(states, index))


def xoroshiro128p_normal_float32(states, index):
    """A float32 of the standard normal distribution (Box and Muller's method); states[index] advances by two steps.

    Example:

        value = xoroshiro128p_normal_float32(states, 0)
    """
    u = xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(_MINUS2_FLOAT32 * np.log(u)) * np.cos(_TWO_PI_FLOAT32 * v)


def xoroshiro128p_normal_float64(states, index):
    """A float64 of the standard normal distribution, from two float32 uniform numbers; states[index] advances by two steps.

    Example:

        value = xoroshiro128p_normal_float64(states, 0)
    """
    u = xoroshiro128p_uniform_float32(states, index)
    v = xoroshiro128p_uniform_float32(states, index)
    return np.sqrt(_MINUS2_FLOAT64 * np.float64(np.log(u))) * np.cos(_TWO_PI_FLOAT64 * np.float64(v))


# --- on the host ---
#
# A step is linear over GF(2), and so is a jump: a 128 by 128 matrix of bits, kept as its columns,
# each a state of two words. Applying it to many states at once is 16 look-ups, one a byte, in
# tables of the 256 combinations of 8 columns.


def _apply(columns, states):
    """The matrix times each state: (128, 2) and (n, 2) uint64 to (n, 2)."""
    tables = np.zeros((16, 256, 2), np.uint64)
    for bit in range(8):
        tables[:, 1 << bit : 2 << bit] = tables[:, : 1 << bit] ^ columns[bit::8, None]
    octets = states.astype("<u8").view(np.uint8)
    result = np.take(tables[0], octets[:, 0], axis=0)
    for k in range(1, 16):
        result ^= np.take(tables[k], octets[:, k], axis=0)
    return result


def _jump_matrix():
    """What xoroshiro128p_jump does to each of the 128 states with one bit set."""
    s0, s1 = np.zeros((2, 128), np.uint64)
    s0[:64] = s1[64:] = _ONE << np.arange(64, dtype=np.uint64)
    columns = np.zeros((128, 2), np.uint64)
    for word in _JUMP:
        for bit in range(64):
            if int(word) >> bit & 1:
                columns ^= np.stack([s0, s1], axis=1)
            s1 = s1 ^ s0
            s0, s1 = (s0 << _55 | s0 >> _9) ^ s1 ^ (s1 << _14), s1 << _36 | s1 >> _28
    return columns


def _first_states(n, seed, subsequence_start):
    """n states that are one jump apart, from the seed's own advanced by subsequence_start jumps. Each power of the jump matrix doubles
    the number of states."""
    first = np.zeros(1, xoroshiro128p_dtype)
    with np.errstate(over="ignore"):
        init_xoroshiro128p_state(first, 0, seed)
    states = first.view(np.uint64).reshape(1, 2)
    power = _jump_matrix()
    doublings = []
    skip = subsequence_start
    while skip or (1 << len(doublings)) < n:
        doublings.append(power)
        if skip & 1:
            states = _apply(power, states)
        skip >>= 1
        if skip or (1 << len(doublings)) < n:
            power = _apply(power, power)
    for power in doublings:
        if len(states) < n:
            states = np.concatenate([states, _apply(power, states[: n - len(states)])])
    return np.ascontiguousarray(states[:n]).view(xoroshiro128p_dtype).reshape(n)


def init_xoroshiro128p_states(states, seed, subsequence_start=0, stream=0):
    """Fill a device array of xoroshiro128p_dtype, of one axis, with generators that are 2**64 steps apart.

    seed: an integer, taken modulo 2**64. subsequence_start: the first generator is that many times 2**64 steps from the seed's
    own; from 0 to 2**64 - 1. stream: of the copy. ValueError for other shapes, dtypes and starts.

    Example:

        states = cuda.device_array(256, xoroshiro128p_dtype)
        init_xoroshiro128p_states(states, seed=1)
    """
    if len(states.shape) != 1 or np.dtype(states.dtype) != xoroshiro128p_dtype:
        raise ValueError(f"states must have one axis and the dtype xoroshiro128p_dtype, not shape {states.shape} and {states.dtype}")
    if not 0 <= int(subsequence_start) < 1 << 64:
        raise ValueError("subsequence_start must be between 0 and 2**64 - 1")
    first = _first_states(states.shape[0], np.uint64(int(seed) % (1 << 64)), int(subsequence_start))
    if isinstance(states, np.ndarray):
        states[...] = first
    else:
        states.copy_to_device(first, stream=stream)


def create_xoroshiro128p_states(n, seed, subsequence_start=0, stream=0):
    """A new device array of n generators; see init_xoroshiro128p_states.

    Example:

        states = create_xoroshiro128p_states(256, seed=1)
    """
    from pyptx import cuda

    states = cuda.device_array(n, dtype=xoroshiro128p_dtype, stream=stream)
    init_xoroshiro128p_states(states, seed, subsequence_start, stream)
    return states


__all__ = [name for name in globals() if "xoroshiro128p" in name and not name.startswith("_")]
