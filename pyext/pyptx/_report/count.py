"""Bytes and floating-point operations of a thread, counted from typed SSA (ir/describe.h).

A thread is followed along the path that does most, through each loop once. What a loop's body does
counts as often as the loop runs where that is known at compile time; else it stays a term of its
own, whose factors are the loops around it. The element that one thread loads twice with nothing
written between counts once, as the compiler loads it once.

An addition, subtraction, multiplication or division is one operation, fma two; a function such as
exp, `**`, `//` and `%` count as one *function* besides, since what they cost differs. Loads and
stores are what threads ask for: caches may serve a part of them."""

from collections import Counter
from typing import NamedTuple

ARITHMETIC = {"add", "sub", "mul", "truediv"}
FUNCTIONS = {"floordiv", "mod", "pow"}
# Pure functions of floats that are no arithmetic: a bit, a choice or a conversion.
FREE = {"fabs", "abs", "copysign", "isnan", "isinf", "isfinite", "signbit"}
FORGETS = {"store", "atomic", "call_fn", "call_c"}  # behind it memory may have changed
LIKELY = 1000  # rounds of a loop that nobody knows, to tell which path does most


class Loop(NamedTuple):
    """A loop whose trip count is not known at compile time."""

    file: int
    line: int
    text: str


class Program:
    """A description (json of ir/describe.h), and the counts of its functions as they are asked for."""

    def __init__(self, description, source_of):
        self.functions = description["functions"]
        self.source_of = source_of  # (file, line, column, end line, end column) → text, or ""
        self.done = {}
        self.notes = set()

    def work(self, number=0):
        """{(loops around it): Counter}, Counter of (kind, space or bits)."""
        if number not in self.done:
            self.done[number] = {}  # what recursion adds is not known
            self.done[number] = Function(self, self.functions[number]).work()
        return self.done[number]


def scaled(work, times):
    return {loops: Counter({key: n * times for key, n in counts.items()}) for loops, counts in work.items()}


def joined(a, b):
    out = {loops: Counter(counts) for loops, counts in a.items()}
    for loops, counts in b.items():
        out.setdefault(loops, Counter()).update(counts)
    return out


def weight(work):
    return sum(n * LIKELY ** len(loops) for loops, counts in work.items() for n in counts.values())


class Function:
    """The counts of one function: its blocks in reverse post-order, its loops by their headers."""

    def __init__(self, program, description):
        self.program, self.description = program, description
        self.blocks = {block["id"]: block for block in description["blocks"]}
        self.values = {ins["id"]: ins for block in description["blocks"] for ins in block["code"]}
        self.before = {b: [] for b in self.blocks}
        for b, block in self.blocks.items():
            for to in block["to"]:
                self.before[to].append(b)
        self.loops = self.find_loops()
        self.around = {}  # innermost loop of a block
        for header in sorted(self.loops, key=lambda h: len(self.loops[h]), reverse=True):
            for b in self.loops[header]:
                self.around[b] = [*self.around.get(b, []), header]
        self.loaded = {}  # by block: what its end has loaded, with nothing written since
        self.counts = {b: self.block(block) for b, block in self.blocks.items()}  # in reverse post-order

    def dominates(self, a, b):
        while b is not None and b != a:
            b = self.blocks[b]["idom"]
        return b == a

    def find_loops(self):
        loops = {}
        for b, block in self.blocks.items():
            for header in block["to"]:
                if self.dominates(header, b):
                    body, todo = loops.setdefault(header, {header}), [b]
                    while todo:
                        inside = todo.pop()
                        if inside not in body:
                            body.add(inside)
                            todo += self.before[inside]
        return loops

    def work(self):
        best = self.level(None, self.blocks)
        ends = [b for b, block in self.blocks.items() if block["code"][-1]["op"] == "ret"] or list(self.blocks)
        return max((best[b] for b in map(self.outermost, ends) if b in best), key=weight, default={})

    def outermost(self, b, within=None):
        """The block, or the header of the loop directly in `within` (None: the function) that holds it."""
        chain = self.around.get(b, [])
        inner = chain[chain.index(within) + 1:] if within is not None else chain
        return inner[0] if inner else b

    def level(self, loop, members):
        """{block or header of an inner loop: the most that a path from the start does up to its
        end}."""
        best = {}
        for b in self.blocks:  # in reverse post-order
            if b not in members or (b != loop and self.outermost(b, loop) != b):
                continue
            inner = b in self.loops and b != loop
            own = self.rounds(b) if inner else self.counts[b]
            froms = {self.outermost(p, loop) if p != loop else p for p in self.before[b] if p in members and not (inner and p in self.loops[b])}
            paths = [best[p] for p in froms if p in best and b != loop]
            best[b] = joined(max(paths, key=weight, default={}), own)
        return best

    def rounds(self, header):
        """What a whole loop does."""
        body = self.loops[header]
        best = self.level(header, body)
        latches = {p if p == header else self.outermost(p, header) for p in self.before[header] if p in body}
        once = max((best[p] for p in latches if p in best), key=weight, default={})
        trip = self.trip_count(header)
        if isinstance(trip, int):
            return scaled(once, trip)
        return {(trip, *loops): counts for loops, counts in once.items()}

    # --- trip counts ---

    def trip_count(self, header):
        """Of a counting loop whose start, stop and step are numbers: a number. Else a Loop."""
        branch = self.blocks[header]["code"][-1]
        condition = self.values.get(branch["args"][0]) if branch["op"] == "condbr" else None
        known = self.counted(header, condition) if condition else None
        if known is not None:
            return known
        at = (condition or branch)["at"] or [0, 0, 0, 0, 0]
        return Loop(at[0], at[1], self.program.source_of(*at))

    def counted(self, header, condition):
        if condition["op"] not in ("lt", "gt") or len(condition["args"]) != 2:
            return None
        phi, stop = (self.values[i] for i in condition["args"])
        if phi["op"] != "phi" or "value" not in stop or len(phi["args"]) != 2:
            return None
        start = step = None
        for value, source in zip((self.values[i] for i in phi["args"]), phi["from"]):
            if source not in self.loops[header]:
                start = value.get("value")
            elif value["op"] in ("add", "sub") and value["args"][0] == phi["id"]:
                by = self.values[value["args"][1]].get("value")
                step = -by if by is not None and value["op"] == "sub" else by
        if start is None or not step or (step > 0) != (condition["op"] == "lt") or len(self.leaving(header)) > 1:
            return None
        return len(range(start, stop["value"], step))

    def leaving(self, header):
        """Blocks from which control leaves the loop: more than the header means break or return."""
        body = self.loops[header]
        return [b for b in body if any(to not in body and self.blocks[to]["code"][-1]["op"] not in ("raise", "unreachable") for to in self.blocks[b]["to"])]

    # --- one block ---

    def block(self, block):
        counts, work = Counter(), {}
        before = [] if block["id"] in self.loops else [self.loaded[b] for b in self.before[block["id"]]]
        seen = self.loaded[block["id"]] = set.intersection(*before) if before else set()
        for ins in block["code"]:
            op = ins["op"]
            if op == "load":
                if tuple(ins["args"]) not in seen:
                    counts["load", ins["space"]] += ins["bytes"]
                seen.add(tuple(ins["args"]))
            elif op == "store":
                counts["store", ins["space"]] += ins["bytes"]
            elif op == "atomic":
                counts["load", ins["space"]] += ins["bytes"]
                counts["store", ins["space"]] += ins["bytes"]
                counts["atomic", ins["space"]] += 1
            elif op == "call_fn":
                if self.program.functions[ins["function"]]["recursive"]:
                    self.program.notes.add("a recursive call is counted once")
                work = joined(work, self.program.work(ins["function"]))
            elif op == "call_c":
                self.program.notes.add("functions of other compilers are not counted")
            counts.update(operations(ins))
            if op in FORGETS or (op == "intrinsic" and not ins["pure"]):
                seen.clear()
        return joined(work, {(): +counts}) if counts else work


def operations(ins):
    """Floating-point operations of an instruction, by bits."""
    op, bits = ins["op"], ins.get("bits")
    if ins.get("kind") != "f":
        return {}
    if op in ARITHMETIC or (op == "atomic" and " atomic add " in ins["text"]):
        return {("flops", bits): 1}
    if op in FUNCTIONS:
        return {("flops", bits): 1, ("functions", bits): 1}
    if op == "intrinsic" and ins["pure"]:
        name = ins["path"].rpartition(".")[2]
        if name in FREE:
            return {}
        if "fma" in name:
            return {("flops", bits): 2}
        return {("flops", bits): 1, ("functions", bits): 1}
    return {}
