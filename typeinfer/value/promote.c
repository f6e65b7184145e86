/* Promotion: promote.def, and NEP 50's rule for weak scalars on top. */
#include "typeinfer/value/promote.h"

enum { FIRST = TY_BOOL, STRONG = TY_C128 - TY_BOOL + 1 };

static const uint8_t table[2][STRONG][STRONG] = {
#define P(typing, row, b, i8, i16, i32, i64, u8, u16, u32, u64, e4m3, e5m2, e8m0, f16, bf16, f32,  \
          f64, c64, c128)                                                                          \
  [TYPING_##typing][TY_##row - FIRST] = {TY_##b,    TY_##i8,   TY_##i16, TY_##i32,  TY_##i64,      \
                                         TY_##u8,   TY_##u16,  TY_##u32, TY_##u64,  TY_##e4m3,     \
                                         TY_##e5m2, TY_##e8m0, TY_##f16, TY_##bf16, TY_##f32,      \
                                         TY_##f64,  TY_##c64,  TY_##c128},
#include "typeinfer/value/promote.def"
#undef P
};

const TyPolicy ty_policies[] = {
#define Q(type, answer, numpy, numba, meaning) .answer = numpy,
    [TYPING_NUMPY] =
        {
#include "typeinfer/value/policy.def"
        },
#undef Q
#define Q(type, answer, numpy, numba, meaning) .answer = numba,
    [TYPING_NUMBA] =
        {
#include "typeinfer/value/policy.def"
        },
#undef Q
};

typedef enum OpClass {
  CLASS_NO,
  CLASS_ARITH,
  CLASS_DIV,
  CLASS_FLOOR,
  CLASS_POW,
  CLASS_SHIFT,
  CLASS_BITS,
  CLASS_CMP
} OpClass;

static const uint8_t op_class[OP_COUNT] = {
#define O(op, class) [OP_##op] = CLASS_##class,
#include "typeinfer/value/promote.def"
#undef O
};

static bool weak(TypeId t) { return ty_scalar_info[t].weak; }
static TypeKind kind(TypeId t) { return ty_scalar_info[t].kind; }
static bool integral(TypeId t) { return kind(t) >= KIND_BOOL && kind(t) <= KIND_UINT; }

/* bool < int < float < complex */
static int rank(TypeId t) {
  static const uint8_t ranks[] = {[KIND_BOOL] = 1,  [KIND_INT] = 2,     [KIND_UINT] = 2,
                                  [KIND_FLOAT] = 3, [KIND_COMPLEX] = 4, [KIND_OTHER] = 0};
  return ranks[kind(t)];
}

TypeId ty_strengthen(TypeId t) {
  switch (t) {
  case TY_PYBOOL: return TY_BOOL;
  case TY_PYINT: return TY_I64;
  case TY_PYFLOAT: return TY_F64;
  case TY_PYCOMPLEX: return TY_C128;
  default: return t;
  }
}

/* A weak scalar gives way to a strong one of its kind or above; else the result is the default type
 * of the weak one's kind. */
static TypeId promote_weak(TypeId w, TypeId strong) {
  if (rank(strong) >= rank(w))
    return strong;
  if (w == TY_PYCOMPLEX)
    return ty_scalar_info[strong].kind == KIND_FLOAT && strong != TY_F64 ? TY_C64 : TY_C128;
  return w == TY_PYFLOAT ? TY_F64 : TY_I64;
}

TypeId ty_promote(Typing typing, TypeId a, TypeId b) {
  if (weak(a) && weak(b))
    return rank(a) >= rank(b) ? a : b;
  if (weak(a))
    return promote_weak(a, b);
  if (weak(b))
    return promote_weak(b, a);
  return (TypeId)table[typing][a - FIRST][b - FIRST];
}

_Static_assert(TY_SCALARS <= 32, "ids are bits of a word");

/* From the largest kind down, integers last, then the weak ones: within a kind promotion is
 * associative, and so is a float's with integers one by one. Of the weak ones the highest
 * decides. */
TypeId ty_promote_all(Typing typing, uint32_t ids) {
  TypeId strong = TY_VOID, weakest = TY_VOID;
  for (int t = TY_SCALARS - 1; t >= 0; t--) {
    if (!(ids & (uint32_t)1 << t))
      continue;
    TypeId *into = weak((TypeId)t) ? &weakest : &strong;
    *into = *into == TY_VOID ? (TypeId)t : ty_promote(typing, *into, (TypeId)t);
  }
  if (strong == TY_VOID || weakest == TY_VOID)
    return strong == TY_VOID ? weakest : strong;
  return ty_promote(typing, strong, weakest);
}

/* int against uint64: no common type holds both, so the true values are compared. A weak int
 * against a strong one too: it may be outside of the strong type's range. */
static TyOp compare_types(Op op, TypeId a, TypeId b, TypeId t) {
  TyOp r = {.ok = kind(t) != KIND_COMPLEX || op == OP_EQ || op == OP_NE || !weak(t),
            .op = op,
            .left = t,
            .right = t,
            .result = weak(a) && weak(b) ? TY_PYBOOL : TY_BOOL};
  if (!integral(a) || !integral(b))
    return r;
  if (kind(a) == KIND_BOOL || kind(b) == KIND_BOOL) { /* Numba's int64 does not hold a uint64 */
    if (a == TY_U64 || b == TY_U64)
      r.left = r.right = TY_U64;
    return r;
  }
  bool mixed = (kind(a) == KIND_INT) != (kind(b) == KIND_INT);
  if (mixed && (a == TY_U64 || b == TY_U64)) {
    r.left = a == TY_U64 ? TY_U64 : TY_I64;
    r.right = b == TY_U64 ? TY_U64 : TY_I64;
  } else if (weak(a) != weak(b)) {
    r.left = r.right = TY_I64;
  }
  return r;
}

TyOp ty_op_types(Typing typing, Op op, TypeId a, TypeId b) {
  TypeId t = ty_promote(typing, a, b);
  OpClass class = (OpClass)op_class[op];
  const TyPolicy *policy = &ty_policies[typing];
  TyOp r = {.ok = true, .op = op};
  bool both_weak = weak(a) && weak(b);
  switch (class) {
  case CLASS_CMP: return compare_types(op, a, b, t);
  case CLASS_ARITH:
    if (t == TY_PYBOOL)
      t = TY_PYINT;
    if (t == TY_BOOL) {
      r.ok = op != OP_SUB;
      r.op = op == OP_ADD ? OP_OR : op == OP_MUL ? OP_AND : op;
    }
    break;
  case CLASS_DIV:
    if (integral(t))
      t = both_weak ? TY_PYFLOAT : TY_F64;
    break;
  case CLASS_FLOOR:
  case CLASS_POW:
  case CLASS_SHIFT:
    t = t == TY_PYBOOL ? TY_PYINT : t == TY_BOOL ? TY_I8 : t;
    if (policy->float32_power && class == CLASS_POW && (a == TY_F32 || a == TY_F16) && integral(b))
      t = TY_F32;
    if (policy->wide_ints && class == CLASS_SHIFT && integral(t))
      t = kind(a) == KIND_UINT ? TY_U64 : TY_I64;
    r.ok = class == CLASS_FLOOR ? kind(t) != KIND_COMPLEX : class == CLASS_POW || integral(t);
    break;
  case CLASS_BITS:
    r.ok = integral(t);
    if (a == TY_BOOL && b == TY_BOOL)
      t = TY_BOOL;
    break;
  case CLASS_NO: r.ok = false; break;
  }
  r.left = r.right = r.result = t;
  return r;
}

TyOp ty_unary_types(Typing typing, Op op, TypeId a) {
  if (a == TY_PYBOOL)
    a = TY_PYINT;
  if (ty_policies[typing].bool_is_int && a == TY_BOOL && op != OP_INVERT)
    a = TY_I64;
  TyOp r = {.ok = true, .op = op, .left = a, .right = a, .result = a};
  if (ty_policies[typing].wide_ints && integral(a) && a != TY_BOOL)
    r.result = kind(a) == KIND_UINT ? TY_U64 : TY_I64;
  switch (op) {
  case OP_NEG:
  case OP_POS: r.ok = a != TY_BOOL; break;
  case OP_INVERT: r.ok = integral(a); break;
  default: break;
  }
  return r;
}

const char *ty_op_text(Op op) {
  static const char *const text[OP_COUNT] = {
      [OP_ADD] = "+",       [OP_SUB] = "-",         [OP_MUL] = "*",       [OP_TRUEDIV] = "/",
      [OP_FLOORDIV] = "//", [OP_MOD] = "%",         [OP_POW] = "**",      [OP_LSHIFT] = "<<",
      [OP_RSHIFT] = ">>",   [OP_AND] = "&",         [OP_OR] = "|",        [OP_XOR] = "^",
      [OP_MATMUL] = "@",    [OP_NEG] = "unary -",   [OP_POS] = "unary +", [OP_INVERT] = "~",
      [OP_LT] = "<",        [OP_LE] = "<=",         [OP_EQ] = "==",       [OP_NE] = "!=",
      [OP_GT] = ">",        [OP_GE] = ">=",         [OP_IS] = "'is'",     [OP_IS_NOT] = "'is not'",
      [OP_IN] = "in",       [OP_NOT_IN] = "not in",
  };
  return text[op] ? text[op] : ir_op_info[op].text;
}
