/* NVPTX small numbers: integers of which 32 bits hold every value, in 32 bits.
 *
 *   total += int(a[k]) * int(b[k])         # uint8 arrays; total is an int64
 *   total += abs(int(a[k]) - int(b[k]))
 *   crc = table[(crc ^ int(x)) & 0xff] ^ crc >> 8
 *
 * LLVM extends each byte to 64 bits and multiplies there, since an extension seems to cost nothing;
 * a difference's magnitude it makes of a minimum and a maximum of 8 bits, and of the low byte of a
 * number an operation of 8 bits. A GPU has registers of 32 bits: 64 take two or more instructions,
 * fewer a mask behind each.
 *
 * In: optimised functions, after coarsening and masked unrolling. Out: the same values;
 *   - sums, differences, products, magnitudes, bits, selections, and quotients by constants of 64
 *     bits whose range fits int32 are computed in 32 bits and extended, numbers are compared there;
 *   - so are phis of such numbers, as a function gives that reads digits or returns -1, if they are
 *     computed with, or if each was extended for them alone, as where a loop is left;
 *   - terms of a sum that are small, added one after the other, are added up in 32 bits first, also
 *     where the addition is masked, or each is behind a branch of its own;
 *   - a loop variable that is the extension of another is extended where it is used;
 *   - magnitudes of narrow differences, and operations of 8 and 16 bits whose result is extended or
 *     compared, are operations of 32 bits, with no mask in questions whether one is a digit. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { MAX_DEPTH = 6, MOST_TERMS = 16, TERM_BITS = 27 }; /* so many terms fit 31 bits */

static bool is_const(LLVMValueRef v) { return LLVMIsAConstantInt(v) && cg_int_width(v) <= 64; }

static bool is_abs(LLVMValueRef v) {
  return LLVMIsACallInst(v) &&
         (cg_is_call_of(v, "llvm.abs.i64") || cg_is_call_of(v, "llvm.abs.i32"));
}

/* The name of a minimum or maximum, without its type; NULL: v is none. In 32 bits it is the same
 * one of numbers extended with their signs, also without signs. */
static const char *extreme_of(LLVMValueRef v) {
  static const char *const names[] = {"llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (cg_is_call_of_any(v, names[k]))
      return names[k];
  return NULL;
}

/* --- 64 bits as 32 --- */

static bool is_extended(const Cg *cg, LLVMValueRef v) {
  return cg_is_extension(v) && LLVMTypeOf(v) == cg->t.i64;
}

/* A number that fits int32, in 32 bits. */
static LLVMValueRef low(Cg *cg, LLVMValueRef v) {
  if (cg_is_extension(v))
    return l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, LLVMIsASExtInst(v) != NULL);
  return l_trunc(cg->builder, v, cg->t.i32);
}

static LLVMValueRef extend(Cg *cg, LLVMValueRef v, Interval s) {
  return s.lo < 0 ? l_sext(cg->builder, v, cg->t.i64) : l_zext(cg->builder, v, cg->t.i64);
}

/* A number that 32 bits hold, with a sign. */
static bool is_small(const Cg *cg, LLVMValueRef v) {
  return (is_const(v) || is_extended(cg, v)) && cg_nvptx_fits(v, 32);
}

/* Does it give 64 bits, of operands of 64 bits from *from on, of which the low halves decide its
 * own where all of them fit int32? */
static bool is_operation(LLVMValueRef i, unsigned *from, unsigned *end) {
  *from = LLVMIsASelectInst(i) != NULL;
  *end = is_abs(i) ? 1 : *from + 2;
  if (cg_int_width(i) != 64)
    return false;
  if (is_abs(i) || extreme_of(i) || *from)
    return true;
  switch (LLVMIsAInstruction(i) ? LLVMGetInstructionOpcode(i) : LLVMRet) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor: return true;
  case LLVMAShr: return LLVMIsAConstantInt(LLVMGetOperand(i, 1));
  case LLVMUDiv:
  case LLVMURem:
  case LLVMSDiv:
  case LLVMSRem:
    return LLVMIsAConstantInt(LLVMGetOperand(i, 1)) &&
           LLVMConstIntGetSExtValue(LLVMGetOperand(i, 1)) > 0 &&
           cg_nvptx_range(LLVMGetOperand(i, 0)).lo >= 0;
  default: return false;
  }
}

/* Is i such an operation of extended numbers and constants? */
static bool is_small_operation(const Cg *cg, LLVMValueRef i) {
  unsigned extended = 0, from, end;
  if (!is_operation(i, &from, &end))
    return false;
  for (unsigned k = from; k < end; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    extended += is_extended(cg, v);
    if (!is_small(cg, v))
      return false;
  }
  return extended && cg_nvptx_fits(i, 32);
}

/* Of two numbers that int32 holds, extended: with signs or without, in 32 bits it is the same. */
static bool is_small_comparison(const Cg *cg, LLVMValueRef i) {
  if (!LLVMIsAICmpInst(i) || cg_int_width(LLVMGetOperand(i, 0)) != 64)
    return false;
  LLVMValueRef x = LLVMGetOperand(i, 0), y = LLVMGetOperand(i, 1);
  return (is_extended(cg, x) || is_extended(cg, y)) && is_small(cg, x) && is_small(cg, y);
}

/* A difference that cannot wrap around: ptxas has one instruction for its magnitude. */
static bool is_difference(LLVMValueRef v) {
  return cg_is_op(v, LLVMSub) && cg_nvptx_fits(LLVMGetOperand(v, 0), 31) &&
         cg_nvptx_fits(LLVMGetOperand(v, 1), 31);
}

static LLVMValueRef magnitude(Cg *cg, LLVMValueRef x) {
  if (is_difference(x)) {
    LLVMValueRef of[] = {LLVMGetOperand(x, 0), LLVMGetOperand(x, 1), l_int(cg->t.i32, 0)};
    return l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.nvvm.sad.i", NULL, 0), of, 3);
  }
  LLVMValueRef args[] = {x, l_int(cg->t.i1, 1)};
  return l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.abs", &cg->t.i32, 1), args, 2);
}

static bool is_distance(const Cg *cg, LLVMValueRef i) {
  return is_abs(i) && LLVMTypeOf(i) == cg->t.i32 && is_difference(LLVMGetOperand(i, 0));
}

static LLVMValueRef in_32_bits(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  Interval s = cg_nvptx_range(i);
  if (LLVMIsASelectInst(i))
    return extend(cg,
                  l_select(b, LLVMGetOperand(i, 0), low(cg, LLVMGetOperand(i, 1)),
                           low(cg, LLVMGetOperand(i, 2))),
                  s);
  LLVMValueRef x = low(cg, LLVMGetOperand(i, 0));
  if (is_abs(i))
    return extend(cg, magnitude(cg, x), s);
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  LLVMValueRef y = low(cg, LLVMGetOperand(i, 1)), v;
  if (extreme_of(i)) {
    LLVMValueRef fn = cg_intrinsic_fn(cg, extreme_of(i), &cg->t.i32, 1);
    return extend(cg, l_call(b, fn, (LLVMValueRef[]){x, y}, 2), s);
  }
  if (op == LLVMAShr && LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)) >= 32)
    y = l_int(cg->t.i32, 31); /* the sign */
  v = l_binop(b, op, x, y);
  if (LLVMIsAInstruction(v) && (op == LLVMAdd || op == LLVMSub || op == LLVMMul))
    LLVMSetNSW(v, true);
  return extend(cg, v, s);
}

/* --- sums --- */

/* Of a 64-bit sum the term that is small; -1: none. */
static int term_in(const Cg *cg, LLVMValueRef sum) {
  for (unsigned k = 0; k < 2 && cg_is_op(sum, LLVMAdd) && LLVMTypeOf(sum) == cg->t.i64; k++) {
    LLVMValueRef v = LLVMGetOperand(sum, k);
    if (is_extended(cg, v) && cg_nvptx_fits(v, TERM_BITS))
      return (int)k;
  }
  return -1;
}

/* Has the sum a term that is 0 if its block is reached from this one directly? */
static bool adds_behind(LLVMValueRef sum, LLVMValueRef term, LLVMBasicBlockRef from) {
  LLVMValueRef phi = LLVMGetOperand(term, 0);
  bool here = LLVMIsAPHINode(phi) && LLVMGetInstructionParent(phi) == LLVMGetInstructionParent(sum);
  LLVMValueRef direct = here ? graph_incoming(phi, from) : NULL;
  return direct && LLVMIsNull(direct);
}

/* The sum before the last term, if this is its only use, in the same block, or in front of the
 * branch around the last term; else NULL. */
static LLVMValueRef sum_before(const Cg *cg, LLVMValueRef sum) {
  unsigned k = (unsigned)term_in(cg, sum);
  LLVMValueRef before = LLVMGetOperand(sum, !k);
  if (!LLVMIsAInstruction(before) || term_in(cg, before) < 0 || !cg_has_one_use(before))
    return NULL;
  LLVMBasicBlockRef at = LLVMGetInstructionParent(before);
  bool near = at == LLVMGetInstructionParent(sum) || adds_behind(sum, LLVMGetOperand(sum, k), at);
  return near ? before : NULL;
}

static bool is_last_term(const Cg *cg, LLVMValueRef i) {
  if (term_in(cg, i) < 0 || !sum_before(cg, i))
    return false;
  LLVMValueRef user = cg_has_one_use(i) ? LLVMGetUser(LLVMGetFirstUse(i)) : NULL;
  return !user || term_in(cg, user) < 0 || sum_before(cg, user) != i;
}

static LLVMValueRef sum_of_terms(Cg *cg, LLVMValueRef last) {
  LLVMValueRef sum = NULL, before = NULL;
  Interval all = {0, 0};
  unsigned n = 0;
  for (LLVMValueRef at = last; at && n < MOST_TERMS; at = sum_before(cg, at), n++) {
    unsigned k = (unsigned)term_in(cg, at);
    Interval s = cg_nvptx_range(LLVMGetOperand(at, k));
    LLVMValueRef v = low(cg, LLVMGetOperand(at, k));
    sum = sum ? l_add_nsw(cg->builder, v, sum) : v;
    all = ir_interval_sum(all, s);
    before = LLVMGetOperand(at, !k);
  }
  return l_add(cg->builder, before, extend(cg, sum, all));
}

/* select(c, sum + term, sum), of which the term is small? */
static bool is_masked_term(const Cg *cg, LLVMValueRef i) {
  if (!LLVMIsASelectInst(i) || LLVMTypeOf(i) != cg->t.i64)
    return false;
  LLVMValueRef sum = LLVMGetOperand(i, 1);
  int k = term_in(cg, sum);
  return k >= 0 && LLVMGetOperand(sum, !k) == LLVMGetOperand(i, 2) && cg_has_one_use(sum);
}

static LLVMValueRef mask_term(Cg *cg, LLVMValueRef i) {
  LLVMValueRef sum = LLVMGetOperand(i, 1), term = LLVMGetOperand(sum, (unsigned)term_in(cg, sum));
  LLVMValueRef v = l_select(cg->builder, LLVMGetOperand(i, 0), low(cg, term), l_int(cg->t.i32, 0));
  return l_add(cg->builder, LLVMGetOperand(i, 2), extend(cg, v, cg_nvptx_range(term)));
}

/* phi [sum, from], [sum + term, side], of which the term is small, and the side is between `from`
 * and the phi? The number of the side; -1: no. */
static int side_of_term(const Cg *cg, LLVMValueRef phi) {
  if (!LLVMIsAPHINode(phi) || LLVMTypeOf(phi) != cg->t.i64 || LLVMCountIncoming(phi) != 2)
    return -1;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef more = LLVMGetIncomingValue(phi, k);
    LLVMBasicBlockRef side = LLVMGetIncomingBlock(phi, k), from = LLVMGetIncomingBlock(phi, !k);
    int term = term_in(cg, more);
    LLVMUseRef way = LLVMGetFirstUse(LLVMBasicBlockAsValue(side));
    if (term >= 0 && LLVMGetOperand(more, !term) == LLVMGetIncomingValue(phi, !k) &&
        LLVMGetInstructionParent(more) == side && cg_has_one_use(more) && way &&
        !LLVMGetNextUse(way) && LLVMGetUser(way) == LLVMGetBasicBlockTerminator(from) &&
        graph_next(side))
      return (int)k;
  }
  return -1;
}

/* How many small terms the phi adds up, each behind a branch, as add_behind_branches writes it; 0:
 * it is no such. */
static unsigned terms_of(const Cg *cg, LLVMValueRef phi) {
  unsigned n = 0;
  for (; LLVMIsAPHINode(phi) && LLVMTypeOf(phi) == cg->t.i32 && LLVMCountIncoming(phi) == 2; n++) {
    LLVMValueRef more = LLVMGetIncomingValue(phi, 0), before = LLVMGetIncomingValue(phi, 1);
    if (LLVMIsAConstantInt(before))
      return LLVMIsNull(before) && cg_nvptx_fits(more, TERM_BITS) ? n + 1 : 0;
    if (!cg_is_op(more, LLVMAdd) || LLVMGetOperand(more, 0) != before ||
        !cg_nvptx_fits(LLVMGetOperand(more, 1), TERM_BITS))
      return 0;
    phi = before;
  }
  return 0;
}

/* Of a sum the term that branches in front have added up, if another may be added to it; -1. */
static int terms_in(const Cg *cg, LLVMValueRef sum) {
  for (unsigned k = 0; k < 2 && cg_is_op(sum, LLVMAdd); k++) {
    LLVMValueRef v = LLVMGetOperand(sum, k);
    unsigned n = is_extended(cg, v) ? terms_of(cg, LLVMGetOperand(v, 0)) : 0;
    if (n && n < MOST_TERMS)
      return (int)k;
  }
  return -1;
}

/* Is there a small term in front of the branch, or behind the next one, that it can be added to? */
static bool has_neighbour(const Cg *cg, LLVMValueRef phi, int side) {
  LLVMValueRef before = LLVMGetIncomingValue(phi, !side);
  if (LLVMIsAInstruction(before) && (term_in(cg, before) >= 0 || terms_in(cg, before) >= 0) &&
      LLVMGetInstructionParent(before) == LLVMGetIncomingBlock(phi, !side))
    return true;
  for (LLVMUseRef u = LLVMGetFirstUse(phi); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    int next = side_of_term(cg, by);
    if (next >= 0 && LLVMGetIncomingValue(by, !next) == phi &&
        LLVMGetIncomingBlock(by, !next) == LLVMGetInstructionParent(phi))
      return true;
  }
  return false;
}

/* Is the term loaded in its branch? Under a predicate that takes no more than without, and what it
 * is added to need not wait. */
static bool is_loaded_in(LLVMValueRef term, LLVMBasicBlockRef side) {
  LLVMValueRef v = cg_peel(term);
  return LLVMIsALoadInst(v) && LLVMGetInstructionParent(v) == side;
}

/* Such sums as additions behind all the branches of what each adds up: nothing where it is not
 * taken. An addition by itself is one instruction under a predicate. */
static void add_behind_branches(Cg *cg, LLVMBasicBlockRef b) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    int side = side_of_term(cg, i);
    if (side < 0 || !has_neighbour(cg, i, side))
      continue;
    LLVMBasicBlockRef from[] = {LLVMGetIncomingBlock(i, side), LLVMGetIncomingBlock(i, !side)};
    LLVMValueRef more = LLVMGetIncomingValue(i, side), before = LLVMGetIncomingValue(i, !side);
    LLVMValueRef term = LLVMGetOperand(more, (unsigned)term_in(cg, more));
    int terms = is_loaded_in(term, from[0]) ? -1 : terms_in(cg, before);
    LLVMPositionBuilderBefore(cg->builder, LLVMGetBasicBlockTerminator(from[0]));
    LLVMValueRef of[] = {low(cg, term), l_int(cg->t.i32, 0)};
    Interval s = cg_nvptx_range(term);
    if (terms >= 0) {
      LLVMValueRef had = LLVMGetOperand(before, (unsigned)terms);
      s.lo = LLVMIsASExtInst(had) ? -1 : s.lo;
      before = LLVMGetOperand(before, !terms);
      of[1] = LLVMGetOperand(had, 0);
      of[0] = l_add_nsw(cg->builder, of[1], of[0]);
    }
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMValueRef phi = l_phi(cg->builder, cg->t.i32);
    LLVMAddIncoming(phi, of, from, 2);
    LLVMPositionBuilderBefore(cg->builder, graph_behind_phis(b));
    LLVMReplaceAllUsesWith(i, l_add(cg->builder, before, extend(cg, phi, s)));
    LLVMInstructionEraseFromParent(i);
    LLVMInstructionEraseFromParent(more);
  }
}

/* --- 8 and 16 bits as 32 --- */

static bool is_narrow(LLVMValueRef v) { return cg_int_width(v) == 8 || cg_int_width(v) == 16; }

/* An operation whose low bits depend on the low bits of its operands only. */
static bool is_of_low_bits(LLVMValueRef v) {
  if (!is_narrow(v) || !LLVMIsABinaryOperator(v))
    return false;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor: return true;
  default: return false;
  }
}

/* A number of 32 bits whose low ones are v. */
static LLVMValueRef with_low_bits(Cg *cg, LLVMValueRef v, unsigned depth) {
  if (is_of_low_bits(v) && depth < MAX_DEPTH) {
    LLVMValueRef x = with_low_bits(cg, LLVMGetOperand(v, 0), depth + 1),
                 y = with_low_bits(cg, LLVMGetOperand(v, 1), depth + 1);
    return l_binop(cg->builder, LLVMGetInstructionOpcode(v), x, y);
  }
  if (LLVMIsATruncInst(v) && cg_int_width(LLVMGetOperand(v, 0)) >= 32)
    return l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, false);
  return l_zext(cg->builder, v, cg->t.i32);
}

/* A narrow number extended with zeros, in 32 bits. */
static LLVMValueRef widened(Cg *cg, LLVMValueRef v) {
  if (!is_of_low_bits(v))
    return l_zext(cg->builder, v, cg->t.i32);
  return l_and(cg->builder, with_low_bits(cg, v, 0),
               l_int(cg->t.i32, ((uint64_t)1 << cg_int_width(v)) - 1));
}

static bool is_narrow_extension(LLVMValueRef i) {
  return LLVMIsAZExtInst(i) && (cg_int_width(i) == 32 || cg_int_width(i) == 64) &&
         is_of_low_bits(LLVMGetOperand(i, 0));
}

static bool is_narrow_comparison(LLVMValueRef i) {
  return LLVMIsAICmpInst(i) && is_narrow(LLVMGetOperand(i, 0)) &&
         LLVMGetICmpPredicate(i) < LLVMIntSGT &&
         (is_of_low_bits(LLVMGetOperand(i, 0)) || is_of_low_bits(LLVMGetOperand(i, 1)));
}

/* --- spans ---
 *
 * Whether a byte is a digit LLVM asks of a sum of 8 bits, x - 48 < 10 or x - 58 >= 246. In 32 bits
 * it needs no mask if the numbers in question do not go on from the largest to 0; if they do, all
 * others do not. */

typedef struct Span {
  LLVMValueRef x;
  uint64_t from, count;
  LLVMIntPredicate how; /* of x - from with count */
} Span;

static bool read_span(LLVMValueRef i, Span *s) {
  LLVMIntPredicate p = LLVMIsAICmpInst(i) ? LLVMGetICmpPredicate(i) : LLVMIntEQ;
  LLVMValueRef sum = p == LLVMIntULT || p == LLVMIntUGT ? LLVMGetOperand(i, 0) : NULL;
  if (!sum || !is_narrow(sum) || !cg_is_op(sum, LLVMAdd) || !is_const(LLVMGetOperand(sum, 1)) ||
      !is_const(LLVMGetOperand(i, 1)))
    return false;
  uint64_t most = ((uint64_t)1 << cg_int_width(sum)) - 1,
           n = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)), first = p == LLVMIntULT ? 0 : n + 1,
           count = p == LLVMIntULT ? n : most - n,
           from = (first - LLVMConstIntGetZExtValue(LLVMGetOperand(sum, 1))) & most;
  bool others = from + count > most + 1;
  *s = (Span){LLVMGetOperand(sum, 0), others ? (from + count) & most : from,
              others ? most + 1 - count : count, others ? LLVMIntUGE : LLVMIntULT};
  return true;
}

/* --- extensions that a loop carries ---
 *
 * Of a counter that is used as both, LLVM carries the extended number beside that of 32 bits, and
 * ptxas no longer knows that a product of it has operands of 32. */

/* What it is the extension of, if it is one of 32 bits; else v. */
static LLVMValueRef before_extension(LLVMValueRef v) {
  bool extends = LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v));
  return extends && cg_int_width(v) == 64 && cg_int_width(LLVMGetOperand(v, 0)) == 32
             ? LLVMGetOperand(v, 0)
             : v;
}

static bool is_extension_of(LLVMValueRef wide, LLVMValueRef v) {
  if (LLVMIsAConstantInt(wide) && LLVMIsAConstantInt(v))
    return LLVMConstIntGetSExtValue(wide) == LLVMConstIntGetSExtValue(v);
  return before_extension(wide) == v;
}

/* The phi of its block that it is the extension of; NULL if there is none. */
static LLVMValueRef short_phi(LLVMValueRef phi) {
  LLVMBasicBlockRef b = LLVMGetInstructionParent(phi);
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    bool same = cg_int_width(i) == 32;
    for (unsigned k = 0; k < LLVMCountIncoming(phi) && same; k++)
      same = is_extension_of(LLVMGetIncomingValue(phi, k),
                             graph_incoming(i, LLVMGetIncomingBlock(phi, k)));
    if (same)
      return i;
  }
  return NULL;
}

/* In front of the user, since the code generator finds a product of extended numbers within a block
 * only. The freeze keeps it from being merged with an extension in another block. */
static void extend_for(Cg *cg, LLVMValueRef user, LLVMValueRef wide, LLVMValueRef from) {
  LLVMPositionBuilderBefore(cg->builder, user);
  if (LLVMGetInstructionParent(user) != LLVMGetInstructionParent(from))
    from = l_freeze(cg->builder, from);
  LLVMValueRef v = l_sext(cg->builder, from, cg->t.i64);
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(user); k++)
    if (LLVMGetOperand(user, k) == wide)
      LLVMSetOperand(user, k, v);
}

static void extend_where_used(Cg *cg, LLVMBasicBlockRef b) {
  LLVMValueRef at = graph_behind_phis(b);
  for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMValueRef from = cg_int_width(i) == 64 ? short_phi(i) : NULL;
    if (!from)
      continue;
    for (LLVMUseRef u = LLVMGetFirstUse(i), after; u; u = after) {
      LLVMValueRef user = LLVMGetUser(u);
      for (after = LLVMGetNextUse(u); after && LLVMGetUser(after) == user;)
        after = LLVMGetNextUse(after);
      if (!LLVMIsAPHINode(user))
        extend_for(cg, user, i, from);
    }
    LLVMPositionBuilderBefore(cg->builder, at);
    LLVMReplaceAllUsesWith(i, l_sext(cg->builder, from, cg->t.i64));
    LLVMInstructionEraseFromParent(i);
  }
}

/* --- phis of small numbers --- */

/* Is it computed with, or compared? What is an index alone is extended by its address. */
static bool is_operand(LLVMValueRef v) {
  unsigned from, end;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
    if (LLVMIsAICmpInst(LLVMGetUser(u)) || is_operation(LLVMGetUser(u), &from, &end))
      return true;
  return false;
}

/* Worth it where it is computed with, or where each extension is for it alone, as in a loop that is
 * left from several places: one behind them all is enough. */
static bool is_small_phi(const Cg *cg, LLVMValueRef phi) {
  unsigned extended = 0, alone = 0;
  if (cg_int_width(phi) != 64)
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef v = LLVMGetIncomingValue(phi, k);
    extended += is_extended(cg, v);
    alone += is_extended(cg, v) && cg_has_one_use(v);
    if (!is_small(cg, v))
      return false;
  }
  return extended && (is_operand(phi) || (alone == extended && alone > 1));
}

LLVMValueRef cg_nvptx_phi_in_32_bits(Cg *cg, LLVMValueRef phi) {
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, phi);
  LLVMValueRef narrow = l_phi(b, cg->t.i32);
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(from));
    LLVMValueRef had = graph_incoming(narrow, from); /* several cases of one switch lead here */
    LLVMValueRef v = had ? had : low(cg, LLVMGetIncomingValue(phi, k));
    LLVMAddIncoming(narrow, &v, &from, 1);
  }
  return narrow;
}

static void shorten_phis(Cg *cg, LLVMBasicBlockRef b) {
  LLVMBuilderRef at = cg->builder;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    if (!is_small_phi(cg, i))
      continue;
    Interval s = cg_nvptx_range(i);
    LLVMValueRef phi = cg_nvptx_phi_in_32_bits(cg, i);
    LLVMPositionBuilderBefore(at, graph_behind_phis(b));
    LLVMReplaceAllUsesWith(i, extend(cg, phi, s));
    LLVMInstructionEraseFromParent(i);
  }
}

/* --- the pass --- */

/* The same value in fewer or cheaper instructions; NULL: as it is. */
static LLVMValueRef rewritten(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  Span span;
  if (is_narrow_extension(i))
    return l_zext_or_same(b, widened(cg, LLVMGetOperand(i, 0)), LLVMTypeOf(i));
  if (read_span(i, &span))
    return l_icmp(b, span.how,
                  l_sub(b, widened(cg, span.x), l_int(cg->t.i32, (long long)span.from)),
                  l_int(cg->t.i32, (long long)span.count));
  if (is_narrow_comparison(i))
    return l_icmp(b, LLVMGetICmpPredicate(i), widened(cg, LLVMGetOperand(i, 0)),
                  widened(cg, LLVMGetOperand(i, 1)));
  if (is_small_operation(cg, i))
    return in_32_bits(cg, i);
  if (is_small_comparison(cg, i))
    return l_icmp(b, LLVMGetICmpPredicate(i), low(cg, LLVMGetOperand(i, 0)),
                  low(cg, LLVMGetOperand(i, 1)));
  if (is_distance(cg, i))
    return magnitude(cg, LLVMGetOperand(i, 0));
  return is_masked_term(cg, i) ? mask_term(cg, i) : NULL;
}

static void rewrite(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef (*how)(Cg *, LLVMValueRef)) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(cg->builder, i);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef v = how(cg, i);
    if (!v)
      continue;
    LLVMReplaceAllUsesWith(i, v);
    LLVMInstructionEraseFromParent(i);
  }
}

static LLVMValueRef add_up(Cg *cg, LLVMValueRef i) {
  return is_last_term(cg, i) ? sum_of_terms(cg, i) : NULL;
}

void cg_nvptx_small_numbers(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      extend_where_used(cg, b);
      shorten_phis(cg, b);
      add_behind_branches(cg, b);
      rewrite(cg, b, rewritten);
      rewrite(cg, b, add_up);
    }
}
