"""The table of PTX instructions: what each computes, as a C expression of its sources a, b, c, d.

A row is the opcode with a set of types in braces, the types "result = sources" and the expression. T is the type taken from the set, W
the integer type twice as wide, N the bits of T. Floating-point sources of 16 bits come as float, results are rounded once by the
translator. Where the machine approximates, C computes as exactly as it can. Modifiers that change nothing in a single thread, or of the caches,
are dropped before the look-up (DROPPED)."""

import functools
import re

I16, I32, I64 = ("u16", "s16"), ("u32", "s32"), ("u64", "s64")
SETS = {
    "I": I16 + I32 + I64,
    "I16": I16,
    "S": ("s16", "s32", "s64"),
    "U": ("u16", "u32", "u64"),
    "HALF": I16 + I32,  # what has a type twice as wide that a register holds
    "B": ("b16", "b32", "b64"),
    "BP": ("b16", "b32", "b64", "pred"),
    "B32": ("b32", "b64"),
    "I32": I32 + I64,
    "F": ("f32", "f64"),
    "F32": ("f32",),
    "F64": ("f64",),
    "H": ("f16", "bf16"),
    "FH": ("f32", "f64", "f16", "bf16"),
    "ANY": (*I16, *I32, *I64, "b16", "b32", "b64", "f32", "f64", "f16", "bf16"),
}
DROPPED = {"volatile", "relaxed", "acquire", "release", "acq_rel", "gpu", "sys", "cta", "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak", "uni", "to"}

ROWS = [
    # --- integers
    ("add.{I}", "T = T T", "a + b"),
    ("sub.{I}", "T = T T", "a - b"),
    ("mul.lo.{I}", "T = T T", "a * b"),
    ("mad.lo.{I}", "T = T T T", "a * b + c"),
    ("mul.hi.{I}", "T = T T", "({W})a * b >> {N}"),
    ("mad.hi.{I32}", "T = T T T", "(({W})a * b >> {N}) + c"),
    ("mul.wide.{HALF}", "W = T T", "({W})a * b"),
    ("mad.wide.{HALF}", "W = T T W", "({W})a * b + c"),
    ("div.{U}", "T = T T", "b ? a / b : -1"),
    ("div.{S}", "T = T T", "b == 0 ? -1 : b == -1 ? ({T})-({W})a : a / b"),
    ("rem.{U}", "T = T T", "b ? a % b : a"),
    ("rem.{S}", "T = T T", "b == 0 ? a : b == -1 ? 0 : a % b"),
    ("min.{I}", "T = T T", "a < b ? a : b"),
    ("max.{I}", "T = T T", "a > b ? a : b"),
    ("min.relu.s32", "s32 = s32 s32", "a < 0 || b < 0 ? 0 : a < b ? a : b"),
    ("max.relu.s32", "s32 = s32 s32", "a < 0 && b < 0 ? 0 : a > b ? a : b"),
    ("neg.{S}", "T = T", "-({W})a"),
    ("abs.{S}", "T = T", "a < 0 ? -({W})a : a"),
    ("sad.{I32}", "T = T T T", "c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b)"),
    ("and.{BP}", "T = T T", "a & b"),
    ("or.{BP}", "T = T T", "a | b"),
    ("xor.{BP}", "T = T T", "a ^ b"),
    ("not.{B}", "T = T", "~a"),
    ("not.pred", "pred = pred", "!a"),
    ("shl.{B}", "T = T u32", "b >= {N} ? 0 : a << b"),
    ("shr.{U}", "T = T u32", "b >= {N} ? 0 : a >> b"),
    ("shr.{B}", "T = T u32", "b >= {N} ? 0 : a >> b"),
    ("shr.{S}", "T = T u32", "a >> (b >= {N} ? {N} - 1 : b)"),
    ("shf.l.wrap.b32", "b32 = b32 b32 u32", "((uint64_t)b << 32 | a) << (c & 31) >> 32"),
    ("shf.r.wrap.b32", "b32 = b32 b32 u32", "((uint64_t)b << 32 | a) >> (c & 31)"),
    ("shf.l.clamp.b32", "b32 = b32 b32 u32", "c >= 32 ? a : ((uint64_t)b << 32 | a) << c >> 32"),
    ("shf.r.clamp.b32", "b32 = b32 b32 u32", "((uint64_t)b << 32 | a) >> (c > 32 ? 32 : c)"),
    ("clz.{B32}", "u32 = T", "leading_zeros(a, {N})"),
    ("popc.{B32}", "u32 = T", "__builtin_popcountll(a)"),
    ("brev.{B32}", "T = T", "reversed(a, {N})"),
    ("bfe.u32", "u32 = u32 u32 u32", "field(a, b, c, 32, false)"),
    ("bfe.u64", "u64 = u64 u32 u32", "field(a, b, c, 64, false)"),
    ("bfe.s32", "s32 = u32 u32 u32", "field(a, b, c, 32, true)"),
    ("bfe.s64", "s64 = u64 u32 u32", "field(a, b, c, 64, true)"),
    ("bfi.{B32}", "T = T T u32 u32", "with_field(a, b, c, d, {N})"),
    ("prmt.b32", "b32 = b32 b32 b32", "permuted(a, b, c)"),
    ("lop3.b32", "b32 = b32 b32 b32 u32", "any_logic(a, b, c, d)"),
    ("add.cc.{I32}", "T = T T", "add_carry({N}, a, b, 0, &cc)"),
    ("addc.{I32}", "T = T T", "a + b + cc"),
    ("addc.cc.{I32}", "T = T T", "add_carry({N}, a, b, cc, &cc)"),
    ("sub.cc.{I32}", "T = T T", "sub_borrow({N}, a, b, 0, &cc)"),
    ("subc.{I32}", "T = T T", "a - b - cc"),
    ("subc.cc.{I32}", "T = T T", "sub_borrow({N}, a, b, cc, &cc)"),
    ("mad.lo.cc.u32", "u32 = u32 u32 u32", "add_carry(32, a * b, c, 0, &cc)"),
    ("mad.lo.cc.u64", "u64 = u64 u64 u64", "add_carry(64, a * b, c, 0, &cc)"),
    ("madc.lo.cc.{U}", "T = T T T", "add_carry({N}, a * b, c, cc, &cc)"),
    ("madc.lo.{I32}", "T = T T T", "a * b + c + cc"),
    ("mad.hi.cc.{U}", "T = T T T", "add_carry({N}, ({W})a * b >> {N}, c, 0, &cc)"),
    ("madc.hi.cc.{U}", "T = T T T", "add_carry({N}, ({W})a * b >> {N}, c, cc, &cc)"),
    ("madc.hi.{I32}", "T = T T T", "(({W})a * b >> {N}) + c + cc"),
    # --- floating point
    ("add.rn.{FH}", "T = T T", "a + b"),
    ("sub.rn.{FH}", "T = T T", "a - b"),
    ("mul.rn.{FH}", "T = T T", "a * b"),
    ("add.{FH}", "T = T T", "a + b"),
    ("sub.{FH}", "T = T T", "a - b"),
    ("mul.{FH}", "T = T T", "a * b"),
    ("div.rn.{F}", "T = T T", "a / b"),
    ("div.approx.f32", "f32 = f32 f32", "a / b"),
    ("div.full.f32", "f32 = f32 f32", "a / b"),
    ("fma.rn.f32", "f32 = f32 f32 f32", "fmaf(a, b, c)"),
    ("fma.rn.f64", "f64 = f64 f64 f64", "fma(a, b, c)"),
    ("fma.rn.{H}", "T = T T T", "fma_odd(a, b, c)"),
    ("fma.{DIRECTED}.f32", "f32 = f32 f32 f32", "directed_f32(OP_FMA, a, b, c, {R})"),
    ("add.{DIRECTED}.f32", "f32 = f32 f32", "directed_f32(OP_ADD, a, b, 0, {R})"),
    ("mul.{DIRECTED}.f32", "f32 = f32 f32", "directed_f32(OP_MUL, a, b, 0, {R})"),
    ("fma.{DIRECTED}.f64", "f64 = f64 f64 f64", "directed_f64(OP_FMA, a, b, c, {R})"),
    ("add.{DIRECTED}.f64", "f64 = f64 f64", "directed_f64(OP_ADD, a, b, 0, {R})"),
    ("mul.{DIRECTED}.f64", "f64 = f64 f64", "directed_f64(OP_MUL, a, b, 0, {R})"),
    ("neg.{FH}", "B = B", "a ^ (({B})1 << ({N} - 1))"),
    ("abs.{FH}", "B = B", "a & ~(({B})1 << ({N} - 1))"),
    ("copysign.{F}", "B = B B", "(a & ({B})1 << ({N} - 1)) | (b & ~(({B})1 << ({N} - 1)))"),
    ("min.{FH}", "T = T T", "least(a, b)"),
    ("max.{FH}", "T = T T", "greatest(a, b)"),
    ("min.NaN.{FH}", "T = T T", "a != a || b != b ? (double)NAN : least(a, b)"),
    ("max.NaN.{FH}", "T = T T", "a != a || b != b ? (double)NAN : greatest(a, b)"),
    ("rcp.rn.{F}", "T = T", "1 / a"),
    ("sqrt.rn.{F}", "T = T", "sqrt(a)"),
    ("sqrt.approx.f32", "f32 = f32", "sqrt(a)"),
    ("rcp.approx.f32", "f32 = f32", "1 / a"),
    ("rcp.approx.ftz.f64", "f64 = f64", "upper_half(1 / a)"),
    ("rsqrt.approx.ftz.f64", "f64 = f64", "upper_half(1 / sqrt(a))"),
    ("rsqrt.approx.f32", "f32 = f32", "1 / sqrt(a)"),
    ("rsqrt.approx.f64", "f64 = f64", "1 / sqrt(a)"),
    ("ex2.approx.{F32}", "f32 = f32", "exp2(a)"),
    ("lg2.approx.{F32}", "f32 = f32", "log2(a)"),
    ("sin.approx.f32", "f32 = f32", "sin(a)"),
    ("cos.approx.f32", "f32 = f32", "cos(a)"),
    ("tanh.approx.f32", "f32 = f32", "tanh(a)"),
    # --- choice
    ("selp.{ANY}", "B = B B pred", "c ? a : b"),
    ("selp.pred", "pred = pred pred pred", "c ? a : b"),
    ("mov.{ANY}", "B = B", "a"),
    ("mov.pred", "pred = pred", "a"),
    # --- warps (shuffles, votes and matches with more than one result are translate.py's)
    ("activemask.b32", "b32 = ", "own_lane(m)"),
    ("vote.sync.ballot.b32", "b32 = pred b32", "ballot(m, a, b, {LINE})"),
    ("vote.sync.any.pred", "pred = pred b32", "ballot(m, a, b, {LINE}) != 0"),
    ("vote.sync.all.pred", "pred = pred b32", "ballot(m, a, b, {LINE}) == here_of(m)"),
    ("vote.sync.uni.pred", "pred = pred b32", "ballot(m, a, b, {LINE}) == (a ? here_of(m) : 0)"),
    ("match.any.sync.{B32}", "b32 = T b32", "match_any(m, a, b, {LINE})"),
    *((f"redux.sync.{name}.{t}", f"{t} = {t} b32", f"redux(m, redux_{c}, a, b, {{LINE}})") for name, t, c in (
        ("add", "u32", "add"), ("add", "s32", "add"), ("and", "b32", "and"), ("or", "b32", "or"), ("xor", "b32", "xor"),
        ("min", "u32", "umin"), ("max", "u32", "umax"), ("min", "s32", "smin"), ("max", "s32", "smax"))),
    ("cvta.global.u64", "u64 = u64", "a"),
    ("cvta.local.u64", "u64 = u64", "a"),
    ("cvta.shared.u64", "u64 = u64", "a"),
    ("cvta.const.u64", "u64 = u64", "a"),
    ("cvta.param.u64", "u64 = u64", "a"),
    *((f"cvt.rn.satfinite.{t}x2.f32", "b16 = f32 f32", f"of_{t}(a) << 8 | of_{t}(b)") for t in ("e4m3", "e5m2")),
    *((f"cvt.rn.f16x2.{t}x2", "b32 = b16", f"(uint32_t){t}_as_f16(a >> 8) << 16 | {t}_as_f16(a & 255)") for t in ("e4m3", "e5m2")),
]

COMPARE = {"eq": "a == b", "ne": "a != b", "lt": "a < b", "le": "a <= b", "gt": "a > b", "ge": "a >= b"}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
ORDERED = "(a == a && b == b)"
DIRECTED = {"rz": "FE_TOWARDZERO", "rm": "FE_DOWNWARD", "rp": "FE_UPWARD"}
WHOLE = {"rni": "rint", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
ATOMIC = {  # what memory holds afterwards, o being what it held
    "add": "o + a", "min": "o < a ? o : a", "max": "o > a ? o : a", "and": "o & a", "or": "o | a", "xor": "o ^ a", "exch": "a",
    "cas": "o == a ? b : o", "inc": "o >= a ? 0 : o + 1", "dec": "o == 0 || o > a ? a : o - 1",
}  # fmt: skip


def bits(t):
    return 1 if t == "pred" else int(re.search(r"\d+", t)[0])


def c_type(t):
    """The C type that computes with values of t."""
    if t == "pred":
        return "bool"
    if t in ("f16", "bf16", "f32"):
        return "float"
    if t == "f64":
        return "double"
    return ("int" if t[0] == "s" else "uint") + f"{bits(t)}_t"


def wide(t):
    n = 2 * bits(t)
    return t[0] + str(n)


def wide_c(t):
    if bits(t) == 64:
        return "__int128" if t[0] == "s" else "unsigned __int128"
    return c_type(wide(t))


def expand(pattern):
    m = re.search(r"\{(\w+)\}", pattern)
    if not m:
        yield pattern, pattern.rpartition(".")[2], None
    elif m[1] == "DIRECTED":
        for r, mode in DIRECTED.items():
            yield pattern.replace(m[0], r), pattern.rpartition(".")[2], mode
    else:
        for t in SETS[m[1]]:
            yield pattern.replace(m[0], t), t, None


def table():
    """{opcode: (type of the result, types of the sources, C expression)}"""
    made = {}

    def add(op, result, sources, text):
        assert op not in made, f"{op} has two rows"
        made[op] = result, tuple(sources), text

    for pattern, types, text in ROWS:
        for op, t, mode in expand(pattern):
            is_type = re.fullmatch(r"(b|u|s|f|bf)\d+", t)
            names = {"T": t, "W": wide(t) if is_type and t[0] in "us" and bits(t) < 64 else t, "B": f"b{bits(t)}" if is_type else t}
            result, _, sources = types.partition(" = ")
            fields = dict(T=c_type(t), W=wide_c(t), N=bits(t), B=c_type(names["B"]), R=mode) if is_type else {}
            fields["LINE"] = "{LINE}"  # is known where the instruction is
            add(op, names.get(result, result), [names.get(s, s) for s in sources.split()], text.format(**fields))
    for t in SETS["ANY"]:
        for name, text in COMPARE.items():
            add(f"setp.{name}.{t}", "pred", [t, t], f"{ORDERED} && {text}" if t in SETS["FH"] else text)
            if t in SETS["FH"]:
                add(f"setp.{name}u.{t}", "pred", [t, t], f"!{ORDERED} || {text}")
        if t in SETS["FH"]:
            add(f"setp.num.{t}", "pred", [t, t], ORDERED)
            add(f"setp.nan.{t}", "pred", [t, t], f"!{ORDERED}")
        for name, same in UNSIGNED.items():
            add(f"setp.{name}.{t}", "pred", [t, t], COMPARE[same])
    for r, mode in DIRECTED.items():
        add(f"cvt.{r}.f32.f64", "f32", ["f64"], f"directed_narrow(a, {mode})")
    conversions(add)
    return made


def conversions(add):
    integers = [k + str(n) for k in "us" for n in (8, 16, 32, 64)]
    for d in integers:
        for s in integers:
            add(f"cvt.{d}.{s}", d, [s], "a")
            add(f"cvt.sat.{d}.{s}", d, [s], f"saturated(a, {int(d[0] == 's')}, {bits(d)})")
        for s in SETS["FH"]:
            for r, f in WHOLE.items():
                of_nan = f"({c_type(d)})1 << {bits(d) - 1}" if s == "f64" or bits(d) == 64 else "0"
                add(f"cvt.{r}.{d}.{s}", d, [s], f"a != a ? {of_nan} : ({c_type(d)})saturated({f}l(a), {int(d[0] == 's')}, {bits(d)})")
    for d in SETS["FH"]:
        for s in integers:
            add(f"cvt.rn.{d}.{s}", d, [s], "a")
            for r, mode in DIRECTED.items() if d in SETS["F"] else ():
                add(f"cvt.{r}.{d}.{s}", d, [s], f"directed_from_integer(a, {bits(d)}, {mode})")
        for s in SETS["FH"]:
            add(f"cvt.rn.{d}.{s}", d, [s], "a")
            if bits(d) >= bits(s) and (d, s) not in (("f16", "bf16"), ("bf16", "f16")):
                add(f"cvt.{d}.{s}", d, [s], "a")
        add(f"cvt.sat.{d}.{d}", d, [d], "a > 0 ? a < 1 ? a : 1 : 0")
        for r, f in WHOLE.items():
            add(f"cvt.{r}.{d}.{d}", d, [d], f"{f}(a)")


TABLE = table()


@functools.cache
def find(op):
    """(row, flushes subnormals) of an opcode, or (None, False)."""
    kept = {"uni"} if op.startswith("vote") else set()
    parts = [p for p in op.split(".") if p not in DROPPED - kept and not p.startswith(("L1::", "L2::"))]
    plain = ".".join(parts)
    if plain in TABLE:
        return TABLE[plain], False
    if "ftz" in parts:
        parts.remove("ftz")
        row = TABLE.get(".".join(parts))
        return row, row is not None
    return None, False
