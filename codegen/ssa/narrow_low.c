/* Narrow low: variables of 64 bits whose upper half nobody reads, so that they go around loops in
 * 32: `hits[i] = inside` stores an int32, so all that `inside += 1` needs is those bits. Sums,
 * differences, products, bit operations and left shifts take the low half of the result from the
 * low halves of their operands; LLVM computes them in 32 bits by itself once the phis between them
 * have no more.
 *
 * An integer is read in full unless all its readers are such operations, themselves read in their
 * low half only, or conversions to 32 bits or fewer. */
#include "codegen/ssa/narrow.h"

static bool is_wide(const Ins *i) { return ty_is_integral(i->type) && ty_bits(i->type) == 64; }

/* A constant without upper half: x & c has none either. */
static bool is_low_mask(const Ins *i) {
  const Frozen *f = i->op == OP_CONST ? i->aux.frozen : NULL;
  return f && f->kind == FZ_INT && !f->wide && f->i >= 0 && f->i <= UINT32_MAX;
}

/* Does only the low half of operand k reach the low half of i, or anything of i? */
static bool keeps_halves(const Ins *i, uint32_t k) {
  switch ((Op)i->op) {
  case OP_PHI:
  case OP_ADD:
  case OP_SUB:
  case OP_MUL:
  case OP_AND:
  case OP_OR:
  case OP_XOR:
  case OP_NEG:
  case OP_INVERT:
  case OP_CAST: return true;
  case OP_SELECT: return k > 0;
  case OP_LSHIFT: return k == 0;
  default: return false;
  }
}

static bool drops_upper(const Ins *i, uint32_t k) {
  if (i->op == OP_CAST)
    return ty_is_integral(i->type) && ty_kind(i->type) != KIND_BOOL && ty_bits(i->type) <= 32;
  return i->op == OP_AND && is_low_mask(i->args[1 - k]);
}

typedef struct Readers {
  bool *full; /* by Ins id: read in full */
  const Ins **todo;
  uint32_t n;
} Readers;

/* Is operand k of i read in full, where i itself is or is not? */
static bool reads_full(const Ins *i, uint32_t k, bool full) {
  return !drops_upper(i, k) && (full || !is_wide(i) || !keeps_halves(i, k));
}

static void note_operands(Readers *r, const Ins *i, bool full) {
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Ins *a = i->args[k];
    if (r->full[a->id] || !reads_full(i, k, full))
      continue;
    r->full[a->id] = true;
    r->todo[r->n++] = a;
  }
}

static bool *find_full(Cx *cx, const Fn *fn) {
  Readers r = {CX_ARRAY(cx, bool, fn->next_id), CX_ARRAY(cx, const Ins *, fn->next_id), 0};
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      note_operands(&r, i, false);
  while (r.n) {
    const Ins *i = r.todo[--r.n];
    note_operands(&r, i, true);
  }
  return r.full;
}

void cg_narrow_low(Cx *cx, Fn *fn) {
  const bool *full = find_full(cx, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (!is_wide(i) || full[i->id])
        continue;
      i->flags &= (uint16_t)~INS_NO_WRAP;
      i->flags |= i->op == OP_PHI ? INS_LOW : 0;
    }
}
