"""Random kernels made of what natural kernels are made of: rows that threads, warps and blocks walk, windows that
are clamped or wrapped, rings and lists in local arrays, hashes, loops over bits, searches, state machines over
bytes, sparse rows, shared tiles, histograms and trees.

Kernel(seed, meets).launches() gives launches that differ in what their loops run to. Each thread writes a number
for each step; steps that need barriers or warp operations are only in kernels that meet. Floats are added,
multiplied, compared and rooted only, so that results are bits.
"""

import argparse
import os
import random
import sys
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]

BLOCKS_OF_PLANES = ((16, 16), (16, 4), (8, 8), (5, 3), (16, 1), (4, 16), (1, 9))
WIDTHS = (1, 7, 32, 33, 64, 96, 128)
EXTENTS = (1, 2, 3, 5, 8, 13, 31, 32, 33, 40, 64, 65, 100)


class Kernel:
    def __init__(self, seed, meets):
        self.seed, self.meets, self.r = seed, meets, random.Random(f"natural {seed} {meets}")
        self.float = self.r.choice(("float32", "float32", "float64"))
        self.planar = self.r.random() < 0.25  # threads in two axes, over the elements of a
        self.strided = not meets and not self.planar and self.r.random() < 0.3
        self.shared, self.steps, self.source_text = [], [], ""
        for number in range(self.r.randint(1, 4)):
            ways = THREADS + (PLANES if self.planar else BLOCKS) * meets
            self.steps.append((number, self.r.choice(ways)(self)))

    # --- pieces: texts of expressions

    def pick(self, *choices):
        return self.r.choice(choices)

    def number(self, low, high):
        return self.r.randint(low, high)

    def start(self):
        return self.pick("0", "0", "i % 3", "t", "1", "k", "i")

    def stop(self):
        return self.pick("k", "cols", "cols", "i % 7 + k", "n", "t + k", f"k + {self.number(0, 5)}", str(self.number(0, 9)), "min(i + k, n)")

    def step(self):
        return self.pick("", "", "", ", 2", ", 3", ", 32", ", cuda.blockDim.x", ", k + 1")

    def place(self, of="n"):
        """An index of an array that holds n, from j."""
        return self.pick("j % {0}", "min(j, {0} - 1)", "(i + j) % {0}", "min(max(i + j - k, 0), {0} - 1)", "(i * k + j) % {0}", "max(min(i - j, {0} - 1), 0)").format(of)

    def value(self, place):
        return self.pick(f"x[{place}]", f"x[{place}]", f"x[{place}] * {self.cast('0.5')} + x[i % n]", f"x[{place}] * x[(i + 1) % n]")

    def cast(self, text):
        return f"np.{self.float}({text})"

    def whole(self, place):
        return self.pick(f"int(w[{place}])", f"int(w[{place}]) * {self.number(2, 9)}", f"int(w[{place}]) ^ {self.pick('j', 'i')}", f"int(b[{place}])")

    def exits(self, *names):
        """A statement that leaves a loop or goes on with it, or none."""
        limit = self.number(5, 300)
        return self.pick([], [], [], [f"    if {self.pick(*names)} > {limit}:", f"        {self.pick('break', 'continue')}"],
                         [f"    if w[j % n] % {self.number(2, 6)} == 0:", "        continue"])  # fmt: skip

    # --- steps of a thread: lines, and the result

    def row(self):
        start, stop, step, place = self.start(), self.stop(), self.step(), self.place()
        kind = self.pick("sum", "max", "argmin", "count", "whole", "two", "alternates")
        head = [f"for j in range({start}, {stop}{step}):"]
        if kind == "sum":
            return [f"s = {self.cast(0)}", *head, f"    s += {self.value(place)}", *self.exits("s")], "s"
        if kind == "max":
            return [f"s = {self.cast('-1e30')}", *head, f"    s = {self.pick('max', 'min')}(s, {self.value(place)})"], "s"
        if kind == "argmin":
            better = self.pick("v < s", "v > s", "v <= s", "(v < s or best < 0)")
            return [f"s = {self.cast('1e30')}", "best = -1", *head, f"    v = {self.value(place)}", *self.exits("j"), f"    if {better}:", "        s = v", "        best = j"], "best"
        if kind == "count":
            return ["s = 0", *head, f"    if x[{place}] {self.pick('>', '<=', '!=')} {self.cast(self.number(-2, 2))}:", "        s += 1", *self.exits("s")], "s"
        if kind == "two":
            return [f"s = {self.cast(0)}", f"u = {self.cast(1)}", *head, f"    s += x[{place}] * u", f"    u = {self.pick('x[i % n]', 's * ' + self.cast('0.25'), '-u')}"], "s - u"
        if kind == "alternates":
            return ["s = 0", *head, "    if j % 2 == 0:", f"        s += {self.whole(place)}", "    else:", f"        s -= {self.whole(self.place())}"], "s"
        return ["s = 0", *head, f"    s = {self.pick('s + {}', 's ^ {}', 's * 3 + {} & 1048575', 'max(s, {})').format(self.whole(place))}", *self.exits("s")], "s"

    def sparse(self):
        body = self.pick(["s += x[c]"], ["if c > i:", "    s += x[c]"], ["s = max(s, x[c])"], ["if c == i:", "    break", "s += x[c]"])
        return [f"s = {self.cast(0)}", "for j in range(p[i], p[i + 1]):", "    c = w[j % n] % n", *("    " + line for line in body)], "s"

    def window(self):
        reach = self.number(1, 4)
        where = self.pick(["q = min(max(i + d, 0), n - 1)"], ["q = (i + d) % n"], ["q = i + d", "if q < 0:", "    q += n", "if q >= n:", "    q -= n", "q = min(max(q, 0), n - 1)"],
                          ["q = i + d", "if q < 0 or q >= n:", "    continue"])  # fmt: skip
        use = self.pick("s += x[q] * x[(d + {0}) % n]", "s = max(s, x[q])", "s += x[q] * d", "s += x[q]").format(reach)
        return [f"s = {self.cast(0)}", f"for d in range(-{reach}, {reach + 1}):", *("    " + line for line in where), f"    {use}"], "s"

    def plane(self):
        near = self.pick("a[y - 1, z] + a[y + 1, z]", "a[y, z - 1] - a[y, z + 1]", "a[y - 1, z - 1] * a[y + 1, z + 1] + a[y, z]")
        edge = self.pick("0 < y < rows - 1 and 0 < z < cols - 1", "y > 0 and z > 0 and y + 1 < rows and z + 1 < cols")
        return [*([] if self.planar else ["y, z = i // cols % rows, i % cols"]), f"s = {self.cast(0)}", f"if {edge}:", f"    s = {near}", self.pick("else:\n    s = a[y, z]", "s -= a[y, z]")], "s"

    def ring(self):
        size = self.pick(2, 3, 4, 5, 8, 16)
        at, other = (self.pick("(j + {c}) % {s}", "j % {s}", "(j * 3 + {c}) % {s}", "(i + j) % {s}").format(c=self.number(0, 20), s=size) for _ in range(2))
        update = self.pick(f"r[{at}] = r[{other}] + {self.whole('j % n')}", f"r[{at}] ^= r[{other}] * 3 + j & 65535", f"for q in range({size - 1}, 0, -1):\n    r[q] = r[q - 1]\nr[0] = w[(i + j) % n]")
        back = self.pick(f"r[{self.number(0, size - 1)}]", f"r[i % {size}]", " + ".join(f"r[{q}]" for q in range(size)))
        return [f"r = cuda.local.array({size}, np.int64)", f"for j in range({size}):", "    r[j] = j * i", f"for j in range({self.pick('k', 'cols', str(2 * size), str(size + 1))}):",
                *("    " + line for line in update.split("\n"))], f"int({back})"  # fmt: skip

    def delay(self):
        """A delay line: what a place held is taken before it is overwritten, by some threads in each turn."""
        size, of = self.pick(2, 3, 5, 8, 16), self.pick("np.int64", f"np.{self.float}")
        at = self.pick("j % {0}", "(j * 3 + 1) % {0}", "{0} - 1 - j % {0}", "c % {0}").format(size)
        some = self.pick("w[(i + j) % n] > 0", "(i + j) % 3 != 0", "x[j % n] < x[i % n]", "i % 5 > j % 4")
        into = self.pick(f"{of}(j + i)", f"{of}(int(w[j % n]))", f"r[(j + 1) % {size}] + {of}(1)")
        take = self.pick(f"s = r[{at}]", f"s = r[{at}]", f"s += r[{at}]")
        return [f"r = cuda.local.array({size}, {of})", f"for j in range({size}):", f"    r[j] = {of}(j * 7)", f"s, c = {of}(0), 0", f"for j in range({self.pick('k', 'cols', str(2 * size))}):",
                f"    if {some}:", f"        {take}", f"        r[{at}] = {into}", *self.pick([], ["        c += 1"])], "s" if of != "np.int64" else "int(s)"  # fmt: skip

    def best(self):
        size = self.pick(2, 3, 4, 6)
        return [f"top = cuda.local.array({size}, np.int32)", f"for q in range({size}):", "    top[q] = -1000000", f"for j in range({self.start()}, {self.stop()}{self.step()}):", f"    v = w[{self.place()}]",
                f"    if v > top[{size - 1}]:", f"        q = {size - 1}", "        while q > 0 and top[q - 1] < v:", "            top[q] = top[q - 1]", "            q -= 1", "        top[q] = v",
                "s = 0", f"for q in range({size}):", "    s = s * 7 + top[q] & 268435455"], "s"  # fmt: skip

    def network(self):
        size = self.pick(3, 4, 5)
        swap = ["        if v[q] > v[q + 1]:", "            v[q], v[q + 1] = v[q + 1], v[q]"]
        return [f"v = cuda.local.array({size}, np.{self.float})", f"for j in range({size}):", f"    v[j] = x[{self.place()}]", f"for e in range({size - 1}):", f"    for q in range({size - 1} - e):", *swap], f"v[{self.number(0, size - 1)}]"

    def small_matrix(self):
        size = self.pick(2, 3, 4)
        return [f"m = cuda.local.array(({size}, {size}), np.int64)", f"for e in range({size}):", f"    for j in range({size}):", "        m[e, j] = w[(i + e * j) % n] % 10", f"for turn in range({self.pick('k', str(self.number(1, 4)))}):",
                f"    for e in range({size}):", f"        for j in range({self.pick('e', str(size))}):", f"            m[e, j] = m[e, j] * m[j, {self.pick('e', '0')}] + turn & 65535"], f"int(m[{self.number(0, size - 1)}, i % {size}])"  # fmt: skip

    def hash(self):
        t, bits = self.pick(("uint32", 32), ("uint64", 64))
        rounds = self.pick("k", str(self.number(1, 9)), "i % 5")
        mix = [self.pick("h ^= h >> np.{t}({s})", "h = h * np.{t}({m})", "h += np.{t}(j)", "h = h << np.{t}({s}) | h >> np.{t}({o})", "h ^= np.{t}(w[(i + j) % n] & 255)").format(t=t, s=s, o=bits - s, m=self.number(3, 2**31) | 1)
               for s in (self.number(1, bits - 1) for _ in range(3))]  # fmt: skip
        return [f"h = np.{t}(i + 1)", f"for j in range({rounds}):", *("    " + line for line in mix)], f"int(h & np.{t}({2**bits // 2 - 1}))"

    def bits(self):
        value = self.pick("w[i % n] & 2147483647", "i * 2654435 & 16777215", "int(w[i % n]) * int(w[i % n])")
        loop = self.pick(["while v != 0:", "    v &= v - 1", "    s += 1"], ["while v > 0:", "    s += v & 1", "    v >>= 1"], ["while v > 1:", "    v >>= 1", "    s += 1"],
                         ["while v != 0 and v & 1 == 0:", "    v >>= 1", "    s += 1"], [f"for j in range({self.pick('20', 'k')}):", "    s += v >> (j % 20) & 1"], ["while v > 0:", "    s = s * 2 | v & 1", "    v //= 2"])  # fmt: skip
        return [f"v = int({value})", "s = 0", *loop], "s"

    def search(self):
        kind = self.pick("bisect", "gcd", "collatz", "digits", "root")
        if kind == "bisect":
            return ["lo, hi = 0, n", f"while {self.pick('lo < hi', 'hi - lo > 0')}:", "    mid = (lo + hi) // 2", f"    if p[mid] {self.pick('<', '<=')} i * k:", "        lo = mid + 1", "    else:", "        hi = mid"], "lo"
        if kind == "gcd":
            return ["u, v = i + 12, int(w[i % n]) % 97 + 100", "while v:", "    u, v = v, u % v"], "u"
        if kind == "collatz":
            return ["u, s = i + 1, 0", f"while u != 1 and s < {self.pick('100', 'k', 'cols')}:", "    u = u // 2 if u % 2 == 0 else 3 * u + 1", "    s += 1"], "u * 128 + s"
        if kind == "digits":
            return [f"u, s = i * i + int(w[i % n] & 1023), 0", "while u > 0:", f"    s += u % {self.pick('10', '7', '(k + 2)')}", f"    u //= {self.pick('10', '7', 'k + 2')}"], "s"
        return ["u = i * 37 + 5", "v = u", "while v * v > u:", "    v = (v + u // v) // 2"], "v"

    def guarded(self):
        d = self.pick("x[i] * x[i] - x[(i + 1) % n]", "x[i]", f"x[i] - {self.cast(1)}")
        kind = self.pick(f"s = x[(i + 1) % n] {self.pick('-', '+')} math.sqrt(d)", "s = x[i] / d", f"s = math.sqrt(d) / (d + {self.cast(1)})")
        return [f"s = {self.cast(-1)}", f"d = {d}", "if d > 0:", f"    {kind}"], "s"

    def bytes(self):
        return ["state, s = 0, 0", f"for j in range({self.pick('i', '0')}, {self.pick('min(i + cols, n)', 'n')}):", "    c = int(b[j])", f"    if c < {self.number(20, 200)}:",
                f"        state = {self.pick('0', 'state + 1', 'c & 3')}", f"    elif state {self.pick('> 1', '== 0', '!= 2')}:", f"        {self.pick('break', 's += state', 's += c - 48')}",
                "    else:", f"        state = {self.pick('2', 'c % 4', '1')}", self.pick("    s += 1", "    s = s * 3 + state & 65535", "    s ^= c")], "s * 8 + state % 8"  # fmt: skip

    def triangle(self):
        inner = self.pick("j", "j + 1", "i % 5", "cols - j")
        return ["s = 0", f"for j in range({self.pick('i % 9', 'k', 'i % cols')}):", f"    for q in range({inner}):", f"        s += {self.pick('int(w[(i + q) % n])', 'j * q', 'int(w[j % n]) * q')}", f"    s {self.pick('&= 1048575', '-= j', '^= j')}"], "s"

    def turns(self):
        """What comes back after two, three or four iterations, and decides."""
        start, back = self.pick(("u = True", "u = not u"), ("u = 0", "u = 1 - u"), ("u = 1", "u ^= 1"), ("u = 0", "u = (u + 1) % 3"), ("u = 2", "u = 3 if u == 2 else 2"), ("u = 0", "u = u + 1 if u < 3 else 0"),
                                ("u, v = 0, 4", "u, v = v, u"), ("u, v, c = 0, 1, 2", "u, v, c = v, c, u"), ("u = 0", "u = j % 3"))  # fmt: skip
        asked = self.pick("u", "not u", "u == 0", "u > 0", "u == 2")
        head = self.pick(["for j in range({0}, {1}{2}):"], ["for j in range({3}, {1}):"], ["j = {3}", "while j < {1}:", "    j += {3} + 1"], ["for e in range({4}):", "    j = e * k + {3}"], ["j = 0", "while j * j < n:", "    j += 1"])
        head = [line.format(self.start(), self.stop(), self.step(), self.number(0, 3), self.number(0, 9)) for line in head]
        inner = self.pick("", "", "for q in range(3):")
        body = [f"if {asked}:", f"    s += {self.whole(self.place())}", self.pick("else:", f"elif j % {self.number(2, 4)} == 1:"), f"    s = s * 3 + {self.whole(self.place())} & 1048575", back]
        return ["s = 0", start, *head, *self.exits("s", "j"), *(["    " + inner] if inner else []), *("    " * (2 if inner else 1) + line for line in body)], "s"

    def stores(self):
        """A thread's own row, stored while others are read: arrays that turn out to be apart, or `again` the same one."""
        skip = self.pick([], ["    if k > 3:", "        continue"], ["    if n > 7:", "        continue"], ["    if w[i % n] > 0:", "        continue"])
        load = self.pick("again[i * k + (j + 1) % k]", "again[i * k]", f"x[{self.place()}]", "x[p[i] % n]", "x[w[(i + k) % n] % n]", "x[min(i * k + j, n - 1)]")
        return [f"for j in range({self.pick('k', 'k', 'min(k, cols)')}):", *skip, f"    own[i * k + j] = {load} {self.pick('+', '-')} {self.pick('x[p[i] % n]', 'x[w[(i + k) % n] % n]', 'x[min(p[(i * 3) % n], n - 1)]')}",
                f"s = {self.cast(0)}", "if k > 0:", f"    s = own[i * k + {self.pick('k - 1', 'i % k', '0')}]"], "s"  # fmt: skip

    def way(self):
        """A straight way through a plane, cell by cell as Bresenham draws it."""
        to = self.pick("int(b[(i + 1) % n]) % rows, int(b[i % n]) % cols", "k % rows, (i * k) % cols", "(i + 1) % rows, int(w[i % n]) % cols")
        seen = self.pick("s = s * 3 + (1 if a[u, v] > 0 else 0) & 65535", "s += u * v", "if a[u, v] > 3:\n        break\n    s += 1")
        return ["u, v = i % rows, (i * 7) % cols", f"to_u, to_v = {to}", "du, dv = abs(to_u - u), -abs(to_v - v)", "step_u, step_v = 1 if u < to_u else -1, 1 if v < to_v else -1", "e, s = du + dv, 0",
                "while u != to_u or v != to_v:", f"    {seen}", "    twice = 2 * e", "    if twice >= dv:", "        e += dv", "        u += step_u", "    if twice <= du:", "        e += du", "        v += step_v"], "s * 64 + e"  # fmt: skip

    def hollow(self):
        """A ring around a place: a window but for what is near, by numbers that may be negative."""
        reach, near = self.pick("k + 1", "k + rows", "k - 2"), self.pick("k", "k - 3", "1", "int(w[i % n]) % 7 - 2", "rows")
        far = self.pick(f"abs(j - i) > {near}", f"{near} <= abs(i - j)", f"not abs(j - i) < {near}", f"abs(j - i) >= {near} or abs(j - k) > {near}")
        guard = self.pick("reach <= i and i < n - reach", "i >= reach and i + reach < n")
        return [f"reach, s = {reach}, 0", f"if {guard}:", "    for j in range(i - reach, i + reach + 1):", f"        if {far}:", f"            s += {self.pick('int(w[j])', 'j * j', 'int(b[j])')}"], "s"

    def trims(self):
        """A sum from the end on, which ends where it is negative, and where it was largest."""
        sum_ = self.pick("k - (int(b[j]) - 97)", "int(w[j]) + k * 7", "k * 20 - int(b[j])")
        return ["s, most, best = 0, 0, n", f"for j in range({self.pick('n', 'min(n, cols)', 'i + 1')} - 1, -1, -1):", f"    s {self.pick('+=', '-=')} {sum_}", "    if s < 0:", "        break", f"    if s {self.pick('>', '>=')} most:", "        most = s", "        best = j"], "best * 16 + most"

    # --- steps in which threads meet: every thread comes to each of their barriers

    def tile(self):
        reach, name = self.number(1, 3), self.array(128 + 8, self.float)
        return [f"for j in range(t, cuda.blockDim.x + {2 * reach}, cuda.blockDim.x):", f"    q = i - t + j - {reach}", f"    {name}[j] = x[q] if 0 <= q < n else {self.cast(0)}",
                "cuda.syncthreads()", f"s = {self.cast(0)}", f"for d in range({self.pick(str(2 * reach + 1), 'min(k, 3)')}):", f"    s {self.pick('+=', '-=')} {name}[t + d]" if reach > 1 else f"    s += {name}[t + d % 3]", "cuda.syncthreads()"], "s"  # fmt: skip

    def tree(self):
        name = self.array(128, "int64")
        combine = self.pick("{0}[t] += {0}[t + h]", "{0}[t] = max({0}[t], {0}[t + h])", "{0}[t] ^= {0}[t + h]").format(name)
        return [f"{name}[t] = {self.pick('int(w[i % n])', 'i', 'int(b[i % n])')}", "cuda.syncthreads()", "left = cuda.blockDim.x", "while left > 1:", "    h = (left + 1) // 2", "    if t + h < left:", f"        {combine}", "    cuda.syncthreads()", "    left = h",
                f"s = int({name}[{self.pick('0', 't')}])", "cuda.syncthreads()"], "s"  # fmt: skip

    def histogram(self):
        bins, name = self.pick(8, 16, 50), self.array(50, "int32")
        return [f"for j in range(t, {bins}, cuda.blockDim.x):", f"    {name}[j] = 0", "cuda.syncthreads()", f"for j in range({self.pick('i, n, cuda.blockDim.x', 't, cols, cuda.blockDim.x', 'k')}):", f"    cuda.atomic.{self.pick('add', 'max')}({name}, {self.pick('int(b[j % n])', '(w[j % n] + i)')} % {bins}, {self.pick('1', 'j % 3 + 1')})",
                "cuda.syncthreads()", f"s = int({name}[{self.pick('t', 'i')} % {bins}])", "cuda.syncthreads()"], "s"  # fmt: skip

    def warp_row(self):
        """Rows that a warp walks; blocks whose last warp is not whole do without shuffles."""
        zero, take = self.pick(("0", "s += int(w[(i // 32 + j) % n])"), ("0", "s = max(s, int(w[j % n]) ^ j)"), ("-1", "if w[j % n] > i % 50:\n    s = j"))
        walk = [f"for j in range(t % 32, {self.pick('cols', 'k', 'n')}, 32):", *("    " + line for line in take.split("\n"))]
        way = self.pick("xor", "down", "ballot", "any", "idx")
        if way == "xor":
            meet = ["h = 16", "while h > 0:", f"    s {self.pick('+=', '^=')} cuda.shfl_xor_sync(0xFFFFFFFF, s, h)", "    h //= 2"]
        elif way == "down":
            meet = ["for e in range(5):", "    s = max(s, cuda.shfl_down_sync(0xFFFFFFFF, s, 16 >> e))"]
        elif way == "idx":
            meet = [f"s = s * 2 + cuda.shfl_sync(0xFFFFFFFF, s, {self.pick('0', 'i % 32', '31 - t % 32')})"]
        else:
            meet = [f"s = s * 2 + int(cuda.{'ballot_sync' if way == 'ballot' else 'any_sync'}(0xFFFFFFFF, s % 3 == 1)) % 1000"]
        return [f"s = int({zero})", *walk, "if cuda.blockDim.x % 32 == 0:", *("    " + line for line in meet)], "s"

    def scan(self):
        name = self.array(128, "int64")
        return [f"{name}[t] = int(w[i % n])", "cuda.syncthreads()", "h = 1", "while h < cuda.blockDim.x:", f"    v = int({name}[t - h]) if t >= h else 0", "    cuda.syncthreads()", f"    {name}[t] += v", "    cuda.syncthreads()", "    h *= 2", f"s = int({name}[t])", "cuda.syncthreads()"], "s"

    def neighbours(self):
        """What threads of a block tell one another in global memory; a block's first element stays."""
        return ["s = told[i + 1]", self.pick("cuda.syncthreads()", "s += x[i % n]\ncuda.syncthreads()"), "if t > 0:", f"    told[i] = {self.pick('s', 's - x[p[i % n] % n]')} + x[i % n]", "cuda.syncthreads()",
                *self.pick([], ["if t > 0:", f"    told[i] = told[i] * {self.cast('0.5')}", "cuda.syncthreads()"]), f"s {self.pick('+=', '-=')} told[i + 1]", "cuda.syncthreads()"], "s"  # fmt: skip

    def planar_tile(self):
        """Each thread brings one element, and reads others of its block."""
        name, turned = self.array("(16, 17)", self.float), self.pick(True, False)
        other = self.pick("(u + 1) % cuda.blockDim.y, t", "u, cuda.blockDim.x - 1 - t", "u ^ u, t", "cuda.blockDim.y - 1 - u, (t + 1) % cuda.blockDim.x")
        if turned:
            other = ", ".join(reversed(other.split(", ")))
        return ["u = cuda.threadIdx.y", f"{name}[{'t, u' if turned else 'u, t'}] = a[y, z] if y < rows and z < cols else {self.cast(2)}", "cuda.syncthreads()", f"s = {name}[{other}]", "cuda.syncthreads()"], "s"

    def product(self):
        """Tiles of a times its transpose, as far as a block's tiles go."""
        left, right, edge = self.array("(16, 16)", self.float), self.array("(16, 16)", self.float), self.pick("cuda.blockDim.x", "min(cuda.blockDim.x, cuda.blockDim.y)")
        return ["u = cuda.threadIdx.y", f"s = {self.cast(0)}", "for tile in range((cols + 3) // 4):", "    if t < 4:", f"        {left}[u, t] = a[y, tile * 4 + t] if y < rows and tile * 4 + t < cols else {self.cast(0)}", "    if u < 4:",
                f"        {right}[u, t] = a[z % rows, tile * 4 + u] if tile * 4 + u < cols else {self.cast(0)}", "    cuda.syncthreads()", f"    for q in range(min(4, {edge})):", f"        s += {left}[u, q] * {right}[q, t] if q < cuda.blockDim.y and q < cuda.blockDim.x else {self.cast(0)}",
                "    cuda.syncthreads()"], "s"  # fmt: skip

    def array(self, size, dtype):
        name = f"m{len(self.shared)}"
        self.shared.append(f"{name} = cuda.shared.array({size}, np.{dtype})")
        return name

    # --- the kernel

    def source(self):
        self.source_text = self.source_text or self.written()
        return self.source_text

    def written(self):
        lines = ["def kernel(x, w, b, p, a, own, again, told, whole, real, n, k):", "    rows, cols = a.shape", *("    " + line for line in self.shared)]
        indent = "    "
        if self.planar:
            order = self.r.choice(("z, y", "z, y", "y, z"))
            lines += ["    t = cuda.threadIdx.x", f"    {order} = cuda.grid(2)", "    i = y * cols + z"]
            if not self.meets:
                lines += self.r.choice((["    if y < rows and z < cols:"], ["    if y >= rows or z >= cols:", "        return"]))
                indent = "        " if lines[-1].endswith(":") else "    "
        elif self.strided:
            lines += ["    t = cuda.threadIdx.x", "    for i in range(cuda.grid(1), n, cuda.gridsize(1)):"]
            indent = "        "
        else:
            lines += ["    t = cuda.threadIdx.x", "    i = cuda.grid(1)"]
            if not self.meets:
                lines += self.r.choice((["    if i < n:"], ["    if i >= n:", "        return"]))
                indent = "        " if lines[-1].endswith(":") else "    "
        inside = "y < rows and z < cols" if self.planar else "i < n"
        for number, (body, result) in self.steps:
            texts = [piece for line in body for piece in line.split("\n")]
            if self.meets and not any("cuda.s" in line or "cuda.b" in line or "_sync" in line for line in texts):
                lines += [f"{indent}if {inside}:", *(f"{indent}    {line}" for line in texts), f"{indent}    {self.store(number, result)}"]
                continue
            lines += [indent + line for line in texts]
            lines += [f"{indent}if {inside}:", f"{indent}    {self.store(number, result)}"] if self.meets else [indent + self.store(number, result)]
        return "\n".join(lines) + "\n"

    def store(self, number, result):
        return f"whole[{number}, i] = {result}" if self.is_whole(number) else f"real[{number}, i] = {result}"

    def is_whole(self, number):
        body, _ = dict(self.steps)[number]
        return f"np.{self.float}" not in "\n".join(body) or body[-1].endswith("best = j")

    def launches(self, count=3):
        """(grid, block, arguments): extents that are and are not multiples, loops of no iteration and of many."""
        r = self.r
        for _ in range(count):
            n, k, rows, cols, block = r.choice(EXTENTS), r.choice((0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)), r.choice((1, 2, 3, 7)), r.choice(EXTENTS), r.choice(WIDTHS)
            grid = max(1, -(-n // block)) + r.randint(0, 1) if not self.strided else r.randint(1, 2)
            if self.planar:
                n, block = rows * cols, r.choice(BLOCKS_OF_PLANES)
                along = rows if "y, z = cuda.grid(2)" in self.source_text else cols
                grid = (-(-along // block[0]) + r.randint(0, 1), -(-(n // along) // block[1]))
            g = np.random.default_rng(r.randrange(2**32))
            # No zeros: of two with other signs max may give either (docs/guide/deviations.md).
            x = ((g.integers(-200, 200, n) * 2 + 1) / 64).astype(self.float)
            w, b = g.integers(-1000, 1000, n, dtype=np.int32), g.integers(0, 256, n, dtype=np.uint8)
            p = np.concatenate([[0], np.cumsum(g.integers(0, r.choice((2, 9, 40)), n))]).astype(np.int32)
            a = (g.integers(-400, 400, (rows, cols)) / 64).astype(self.float)
            own = np.zeros(n * k + 1, self.float)
            again = r.choice((own, np.ones_like(own)))
            yield grid, block, [x, w, b, p, a, own, again, np.zeros(400, self.float), np.full((4, n), -7, np.int64), np.full((4, n), -7, self.float), n, k]


THREADS = [Kernel.row] * 4 + [Kernel.sparse, Kernel.window, Kernel.window, Kernel.plane, Kernel.ring, Kernel.ring, Kernel.delay, Kernel.best, Kernel.network, Kernel.small_matrix, Kernel.hash, Kernel.bits, Kernel.bits,
                              Kernel.search, Kernel.search, Kernel.guarded, Kernel.bytes, Kernel.bytes, Kernel.turns, Kernel.turns, Kernel.triangle, Kernel.stores, Kernel.stores,
                              Kernel.way, Kernel.hollow, Kernel.trims]  # fmt: skip
PLANES = [Kernel.planar_tile, Kernel.product] * 4
BLOCKS = [Kernel.tile, Kernel.tree, Kernel.histogram, Kernel.warp_row, Kernel.warp_row, Kernel.scan, Kernel.neighbours] * 3


def check(first, count, meets):
    """Compiles the kernels of these seeds and launches them; texts of those whose results are not CPython's."""
    from harness import define, jit, run

    failures = []
    for seed in range(first, first + count):
        kernel = Kernel(seed, meets)
        source = kernel.source()
        is_checked = os.environ["PYPTX_DEVICE"] == "host" and seed % 4 == 3  # which has other code for lanes
        checked = {"check": "race"} if is_checked else {}
        compiled = jit(define(source), fma=False, **checked)  # CPython does not fuse
        for grid, block, arguments in kernel.launches():
            try:
                run(compiled, arguments, grid, block)
            except Exception as error:
                sizes = f"{grid} blocks of {block}, n = {arguments[-2]}, k = {arguments[-1]}, a {arguments[4].shape}"
                failures.append(f"seed {seed}{' that meets' * meets}, {sizes}: {type(error).__name__}: {error}\n{source}")
                break
    return failures


def main():
    """Some kernels, each launched three times; `--device ptx` is the GPU's code on the CPU."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=("host", "cuda", "ptx"), default="host")
    parser.add_argument("--coarsen", type=int, help="GPU and ptx: with coarsen=K")
    o = parser.parse_args()
    sys.path[:0] = [str(TESTS), str(TESTS / "api")]
    os.environ.update(PYPTX_DEVICE="host" if o.device == "host" else "gpu", PYPTX_ADVICE="0")
    if o.coarsen:
        os.environ["PYPTX_COARSEN"] = str(o.coarsen)
    if o.device == "ptx":
        import ptx_on_cpu

        ptx_on_cpu.choose()
    failures = [text for meets in (False, True) for text in check(o.seed, o.n, meets)]
    print("\n".join(failures))
    print(f"natural: seeds {o.seed} to {o.seed + o.n - 1} on {o.device}; failed: {len(failures) or 'none'}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
