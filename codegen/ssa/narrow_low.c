/* Narrow low: 64-bit loop variables of which only the low half is demanded.
 *
 * `hits[i] = inside` stores an int32, so `inside += 1` needs no more than the low 32 bits. The low
 * half of a sum, difference, product, bit operation or left shift is a function of the low halves
 * of the operands, so demand propagates backward: an integer is demanded in full unless all its
 * uses are such operations, themselves demanded in their low half only, or conversions to at most
 * 32 bits. LLVM narrows the operations by itself, but not the phis between them, nor `1 << k`, of
 * which it would have to prove that k is less than 32; those are marked INS_LOW here, and lowering
 * gives them 32 bits.
 *
 * In: a strict Fn. Out: INS_LOW; INS_NO_WRAP removed where only the low half is right. */
#include "codegen/ssa/narrow.h"

#include <assert.h>

static bool is_wide(const Ins *i) { return ty_is_integral(i->type) && ty_bits(i->type) == 64; }

/* A constant whose upper half is zero: so is that of x & c. */
static bool is_low_mask(const Ins *i) {
  const Frozen *f = i->op == OP_CONST ? i->aux.frozen : NULL;
  return f && f->kind == FZ_INT && !f->wide && f->i >= 0 && f->i <= UINT32_MAX;
}

/* Is the low half of i a function of the low half of operand k? */
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

/* Does no bit of i depend on the upper half of operand k? */
static bool drops_upper(const Ins *i, uint32_t k) {
  if (i->op == OP_CAST)
    return ty_is_integral(i->type) && ty_kind(i->type) != KIND_BOOL && ty_bits(i->type) <= 32;
  return i->op == OP_AND && is_low_mask(i->args[1 - k]);
}

typedef struct Readers {
  bool *full; /* by Ins.id: read in full */
  const Ins **todo;
  uint32_t n, all; /* of todo; of the function's values */
} Readers;

/* Is operand k of i read in full, given whether i itself is? */
static bool reads_full(const Ins *i, uint32_t k, bool full) {
  return !drops_upper(i, k) && (full || !is_wide(i) || !keeps_halves(i, k));
}

static void note_operands(Readers *r, const Ins *i, bool full) {
  for (uint32_t k = 0; k < i->nargs; k++) {
    const Ins *a = i->args[k];
    if (r->full[a->id] || !reads_full(i, k, full))
      continue;
    r->full[a->id] = true;
    assert(r->n < r->all); /* each value enters the work list once */
    r->todo[r->n++] = a;
  }
}

static bool *find_full(Cx *cx, const Fn *fn) {
  Readers r = {CX_ARRAY(cx, bool, fn->next_id), CX_ARRAY(cx, const Ins *, fn->next_id), 0,
               fn->next_id};
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i)
      note_operands(&r, i, false);
  while (r.n) {
    const Ins *i = r.todo[--r.n];
    note_operands(&r, i, true);
  }
  return r.full;
}

/* Does it have a form in 32 bits that LLVM would not find? */
static bool has_low_form(const Ins *i) {
  return i->op == OP_PHI ||
         (i->op == OP_LSHIFT && is_wide(i->args[1]) && i->args[1]->flags & (INS_I32 | INS_U32));
}

void cg_narrow_low(Cx *cx, Fn *fn) {
  const bool *full = find_full(cx, fn);
  FOR_BLOCKS (fn, b)
    FOR_INS (b, i) {
      if (!is_wide(i) || full[i->id])
        continue;
      if (i->op != OP_FLOORDIV && i->op != OP_MOD) /* these read their operands in full */
        i->flags &= (uint16_t)~INS_NO_WRAP;
      i->flags |= has_low_form(i) ? INS_LOW : 0;
    }
}
