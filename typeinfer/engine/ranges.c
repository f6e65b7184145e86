/* Ranges: how large a non-negative integer can be, to drop WRAP_INDEX where an index cannot be negative.
 *
 * In: a strict Fn in order. Out: the same without needless wraps; INS_NONNEGATIVE on integers that are proved.
 * A value is described by a number of bits k: 0 <= value < 2**k; UNKNOWN: it may be negative. Start from "nothing known to fail"
 * (0 bits) and grow until nothing changes; a value that keeps growing around a loop is unknown, unless it counts: with a step below
 * 2**16 it cannot pass 2**62 in the time a kernel has. */
#include "ir/build.h"
#include "ir/registers.h"
#include "typeinfer/ty.h"

enum { UNKNOWN = 255, COUNTER_BITS = 46, MAX_BITS = 62, GROW_LIMIT = 6 };

typedef struct Ranges {
  Cx *cx;
  Fn *fn;
  uint8_t *bits; /* by Ins id */
  uint8_t *grown;
} Ranges;

static unsigned bits_of(const Ranges *r, const Ins *i) { return r->bits[i->id]; }
static unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned const_bits(const Ins *i) {
  const Frozen *f = i->aux.frozen;
  if (f->kind == FZ_BOOL)
    return 1;
  if (f->kind != FZ_INT || f->wide || f->i < 0)
    return UNKNOWN;
  return f->i ? 64u - (unsigned)__builtin_clzll((uint64_t)f->i) : 0;
}

/* Non-negative values that the type alone gives. */
static unsigned type_bits(const Type *t) {
  if (ty_kind(t) == KIND_BOOL)
    return 1;
  return ty_kind(t) == KIND_UINT ? ty_bits(t) : UNKNOWN;
}

static unsigned sreg_bits(const Ins *i) {
  int64_t least, most;
  bool is_register = ir_register_bounds(i->aux.intrinsic, &least, &most);
  return is_register ? 64u - (unsigned)__builtin_clzll((uint64_t)most) : type_bits(i->type);
}

/* The sum's bits, if the type has room for them. */
static unsigned within(const Ins *i, unsigned bits) {
  unsigned room = ty_kind(i->type) == KIND_INT ? ty_bits(i->type) - 1 : ty_bits(i->type);
  return bits <= room ? bits : i->flags & INS_NO_WRAP ? room : UNKNOWN;
}

/* The bound of a range's counter: its loop goes on while it is below that. The counter past the end is not looked at. */
static unsigned stop_bits(const Ranges *r, const Ins *phi) {
  const Ins *end = phi->block->last, *c = end->op == OP_CONDBR ? end->args[0] : NULL;
  return c && c->op == OP_LT && c->args[0] == phi ? bits_of(r, c->args[1]) : UNKNOWN;
}

/* phi (start, phi + step), a counter: the bits of its steps' reach, if the step is known to be small or the addition not to wrap. */
static unsigned counter_bits(const Ranges *r, const Ins *phi, const Ins *next) {
  const Ins *step = next->args[next->args[0] == phi];
  unsigned b = bits_of(r, step);
  bool exact = next->flags & INS_NO_WRAP;
  if (b == UNKNOWN || ty_bits(phi->type) < 64 || (!exact && b > 16))
    return UNKNOWN;
  return min(COUNTER_BITS + b, exact ? min(stop_bits(r, phi), MAX_BITS) : MAX_BITS);
}

/* What a counter starts with, and a step more: no loop goes so far as its reach. What comes from another loop has that already. */
static unsigned start_bits(const Ranges *r, const Ins *start) {
  unsigned bits = bits_of(r, start);
  return bits > MAX_BITS ? UNKNOWN : bits + (start->op != OP_PHI);
}

static bool is_step(const Ins *phi, const Ins *i) {
  return i->op == OP_ADD && (i->args[0] == phi || i->args[1] == phi);
}

static unsigned phi_bits(const Ranges *r, const Ins *phi) {
  unsigned bits = 0;
  bool wraps = false;
  for (uint32_t k = 0; k < phi->nargs; k++)
    wraps |= is_step(phi, phi->args[k]) && !(phi->args[k]->flags & INS_NO_WRAP);
  for (uint32_t k = 0; k < phi->nargs; k++) {
    const Ins *a = phi->args[k];
    if (a == phi || a->op == OP_UNSET)
      continue;
    bits = max(bits, is_step(phi, a) ? counter_bits(r, phi, a)
                     : wraps         ? start_bits(r, a)
                                     : bits_of(r, a));
  }
  return bits;
}

static unsigned divided(const Ranges *r, const Ins *i) {
  unsigned a = bits_of(r, i->args[0]), b = bits_of(r, i->args[1]);
  return a == UNKNOWN || b == UNKNOWN ? type_bits(i->type) : a;
}

static unsigned cast_bits(const Ranges *r, const Ins *i) {
  unsigned from = bits_of(r, i->args[0]), own = type_bits(i->type);
  if (!ty_is_integral(i->args[0]->type) || from == UNKNOWN)
    return own;
  unsigned b = within(i, from);
  return min(b, own);
}

static unsigned eval(const Ranges *r, const Ins *i) {
  unsigned own = type_bits(i->type), a = i->nargs ? bits_of(r, i->args[0]) : 0,
           b = i->nargs > 1 ? bits_of(r, i->args[1]) : 0;
  bool known = a != UNKNOWN && b != UNKNOWN;
  switch ((Op)i->op) {
  case OP_CONST: return const_bits(i);
  case OP_EXTENT: return i->args[0]->type->wide ? 48 : 31;
  case OP_INTRINSIC: return sreg_bits(i);
  case OP_PHI: return min(phi_bits(r, i), own);
  case OP_SELECT: return max(b, bits_of(r, i->args[2]));
  case OP_CAST: return cast_bits(r, i);
  case OP_ADD: return known ? min(within(i, max(a, b) + 1), own) : own;
  case OP_MUL: return known ? min(within(i, a + b), own) : own;
  case OP_FLOORDIV: return divided(r, i);
  case OP_MOD: return b != UNKNOWN ? min(a, b) : own; /* sign and size of the divisor */
  case OP_RSHIFT: return a != UNKNOWN ? a : own;
  case OP_AND: return min(min(a, b), own);
  case OP_OR:
  case OP_XOR: return known ? max(a, b) : own;
  case OP_CHECK_INDEX: return min(a, b == UNKNOWN ? 63 : b);
  case OP_WRAP_INDEX: return a != UNKNOWN ? a : UNKNOWN;
  case OP_TUPLE_GET:
    if (i->args[0]->op == OP_MAKE_TUPLE)
      return bits_of(r, i->args[0]->args[i->aux.i]);
    return own;
  default: return own;
  }
}

static bool sweep(Ranges *r) {
  bool changed = false;
  FOR_BLOCKS (r->fn, b)
    FOR_INS (b, i) {
      if (!ty_is_integral(i->type) || bits_of(r, i) == UNKNOWN)
        continue;
      unsigned now = eval(r, i);
      if (now <= bits_of(r, i))
        continue;
      if (i->op == OP_PHI && ++r->grown[i->id] > GROW_LIMIT)
        now = UNKNOWN;
      r->bits[i->id] = (uint8_t)now;
      changed = true;
    }
  return changed;
}

/* --- conditions on the way to an index --- */

/* A widening or renaming says nothing new about the value. */
static const Ins *strip(const Ins *i) {
  while (i->op == OP_CAST && ty_is_integral(i->args[0]->type) &&
         ty_bits(i->type) >= ty_bits(i->args[0]->type) && ty_kind(i->args[0]->type) != KIND_BOOL &&
         (ty_is_signed(i->type) || !ty_is_signed(i->args[0]->type)) &&
         !(ty_bits(i->type) == ty_bits(i->args[0]->type) &&
           ty_is_signed(i->type) != ty_is_signed(i->args[0]->type)))
    i = i->args[0];
  return i;
}

enum { NO_BOUND = -1 };

/* The least value that something is known to have; NO_BOUND if it may be negative. */
static int64_t least(const Ranges *r, const Ins *i) {
  if (i->op == OP_CONST && i->aux.frozen->kind == FZ_INT && !i->aux.frozen->wide)
    return i->aux.frozen->i < -1 ? NO_BOUND - 1 : i->aux.frozen->i;
  return ty_is_integral(i->type) && bits_of(r, i) != UNKNOWN ? 0 : NO_BOUND - 1;
}

/* What `cond` being `holds` says about x: x >= the result, or less than 0 for nothing. */
static int64_t bound_of(const Ranges *r, const Ins *cond, bool holds, const Ins *x, int depth) {
  static const Op inverse[] = {[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_EQ] = OP_NE,
                               [OP_NE] = OP_EQ, [OP_GT] = OP_LE, [OP_GE] = OP_LT};
  static const Op swapped[] = {[OP_LT] = OP_GT, [OP_LE] = OP_GE, [OP_EQ] = OP_EQ,
                               [OP_NE] = OP_NE, [OP_GT] = OP_LT, [OP_GE] = OP_LE};
  if (depth > 4)
    return NO_BOUND;
  if (cond->op == OP_NOT)
    return bound_of(r, cond->args[0], !holds, x, depth + 1);
  if (cond->op == OP_TRUTH || (cond->op == OP_CAST && ty_kind(cond->args[0]->type) == KIND_BOOL))
    return bound_of(r, cond->args[0], holds, x, depth + 1);
  if (cond->op == (holds ? OP_AND : OP_OR)) {
    int64_t a = bound_of(r, cond->args[0], holds, x, depth + 1),
            b = bound_of(r, cond->args[1], holds, x, depth + 1);
    return a > b ? a : b;
  }
  if (cond->op < OP_LT || cond->op > OP_GE || !ty_is_integral(cond->args[0]->type) ||
      cond->args[0]->type != cond->args[1]->type)
    return NO_BOUND;
  Op op = holds ? (Op)cond->op : inverse[cond->op];
  const Ins *a = cond->args[0], *b = cond->args[1];
  if (strip(a) != x && strip(b) == x) {
    op = swapped[op];
    const Ins *t = a;
    a = b;
    b = t;
  }
  if (strip(a) != x)
    return NO_BOUND;
  int64_t c = least(r, b);
  switch (op) {
  case OP_GT: return c >= -1 && c < INT64_MAX ? c + 1 : NO_BOUND;
  case OP_GE:
  case OP_EQ: return c;
  case OP_NE: return c == 0 && b->op == OP_CONST && bits_of(r, x) != UNKNOWN ? 1 : NO_BOUND;
  default: return NO_BOUND;
  }
}

/* The best lower bound of x that the branches in front of block b give. */
static int64_t known_bound(const Ranges *r, const Ins *x, const Block *b) {
  enum { MAX_STEPS = 64 };
  int64_t best = bits_of(r, x) != UNKNOWN ? 0 : NO_BOUND;
  for (int n = 0; b->idom && n < MAX_STEPS; n++, b = b->idom) {
    const Block *from = b->idom;
    if (b->preds.len != 1 || from->last->op != OP_CONDBR || from->succ[0] == from->succ[1])
      continue;
    int64_t c = bound_of(r, from->last->args[0], from->succ[0] == b, x, 0);
    best = c > best ? c : best;
  }
  return best;
}

/* x, x - c and x + -c cannot be negative where a condition has x >= c. */
static bool guarded(const Ranges *r, const Ins *wrap) {
  const Ins *x = strip(wrap->args[0]), *k = NULL;
  int64_t offset = 0;
  if (x->op == OP_SUB || x->op == OP_ADD)
    k = x->args[1];
  if (k && k->op == OP_CONST && k->aux.frozen->kind == FZ_INT && !k->aux.frozen->wide &&
      ty_is_signed(x->type) && k->aux.frozen->i > -INT32_MAX && k->aux.frozen->i < INT32_MAX) {
    offset = x->op == OP_SUB ? k->aux.frozen->i : -k->aux.frozen->i;
    x = strip(x->args[0]);
  }
  if (offset < 0) /* x + c with x >= 0 that is not known to stay in range of its type */
    return false;
  return known_bound(r, x, wrap->block) >= offset;
}

/* --- the pass --- */

void ty_ranges(Cx *cx, Fn *fn) {
  Ranges r = {.cx = cx,
              .fn = fn,
              .bits = CX_ARRAY(cx, uint8_t, fn->next_id),
              .grown = CX_ARRAY(cx, uint8_t, fn->next_id)};
  while (sweep(&r))
    ;
  ir_dominators(cx, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS_SAFE (b, i, next) {
      bool known = ty_is_integral(i->type) && bits_of(&r, i) != UNKNOWN;
      if (i->op == OP_WRAP_INDEX && (known || guarded(&r, i))) {
        ir_replace(i, i->args[0]);
        ir_remove(i);
      } else if (known && ty_is_signed(i->type)) {
        i->flags |= INS_NONNEGATIVE;
      }
    }
  ir_settle(fn);
  ir_drop_dead(cx, fn);
}
