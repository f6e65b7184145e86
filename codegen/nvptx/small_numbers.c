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
 *   - sums, differences, products and magnitudes of 64 bits whose range fits int32 are computed in
 *     32 bits and extended;
 *   - terms of a sum that are small, added one after the other, are added up in 32 bits first, also
 *     where the addition is masked;
 *   - a loop variable that is the extension of another is extended where it is used;
 *   - magnitudes of narrow differences, and operations of 8 and 16 bits whose result is extended or
 *     compared, are operations of 32 bits. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { MAX_DEPTH = 6, MOST_TERMS = 16, TERM_BITS = 27 }; /* so many terms fit 31 bits */

/* --- ranges --- */

typedef struct Span {
  int64_t lo, hi;
} Span;

static unsigned width_of(LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return LLVMGetTypeKind(t) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(t) : 0;
}

static bool is_const(LLVMValueRef v) { return LLVMIsAConstantInt(v) && width_of(v) <= 64; }

/* All numbers of so many bits, with a sign; of 64: as many as need no care here. */
static Span of_width(unsigned bits) {
  int64_t end = (int64_t)1 << ((bits < 60 ? bits : 60) - 1);
  return (Span){-end, end - 1};
}

static bool fits(Span s, unsigned bits) {
  Span room = of_width(bits);
  return s.lo >= room.lo && s.hi <= room.hi;
}

static Span joined(Span a, Span b) {
  return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Span product(Span a, Span b) {
  Span s = {a.lo * b.lo, a.lo * b.lo}, rest[] = {{a.lo * b.hi, a.lo * b.hi},
                                                 {a.hi * b.lo, a.hi * b.lo},
                                                 {a.hi * b.hi, a.hi * b.hi}};
  for (unsigned k = 0; k < 3; k++)
    s = joined(s, rest[k]);
  return s;
}

static bool is_abs(LLVMValueRef v) {
  return LLVMIsACallInst(v) &&
         (cg_is_call_of(v, "llvm.abs.i64") || cg_is_call_of(v, "llvm.abs.i32"));
}

static bool is_sad(LLVMValueRef v) {
  return LLVMIsACallInst(v) && cg_is_call_of(v, "llvm.nvvm.sad.i");
}

static Span span_of(LLVMValueRef v, unsigned depth);

/* What an operation makes of its operands, as long as these have at most 28 bits. */
static Span computed(LLVMValueRef v, unsigned depth) {
  if (is_sad(v)) {
    Span x = span_of(LLVMGetOperand(v, 0), depth), y = span_of(LLVMGetOperand(v, 1), depth);
    int64_t up = x.hi - y.lo, down = y.hi - x.lo;
    return (Span){0, up > down ? up : down};
  }
  Span all = of_width(width_of(v)), a = span_of(LLVMGetOperand(v, 0), depth), b, s;
  if (is_abs(v)) {
    bool far = !fits(a, 31);
    return far ? all : (Span){0, -a.lo > a.hi ? -a.lo : a.hi};
  }
  b = span_of(LLVMGetOperand(v, 1), depth);
  if (LLVMGetInstructionOpcode(v) == LLVMAnd && is_const(LLVMGetOperand(v, 1)) && b.lo >= 0)
    return (Span){0, b.hi};
  if (!fits(a, 31) || !fits(b, 31))
    return all;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd: s = (Span){a.lo + b.lo, a.hi + b.hi}; break;
  case LLVMSub: s = (Span){a.lo - b.hi, a.hi - b.lo}; break;
  case LLVMMul: s = product(a, b); break;
  default: return all;
  }
  return fits(s, width_of(v)) ? s : all;
}

/* The numbers that v can be, as signed ones of its width. */
static Span span_of(LLVMValueRef v, unsigned depth) {
  unsigned bits = width_of(v);
  if (is_const(v))
    return (Span){LLVMConstIntGetSExtValue(v), LLVMConstIntGetSExtValue(v)};
  if (!LLVMIsAInstruction(v) || !bits || depth == MAX_DEPTH)
    return of_width(bits ? bits : 64);
  if (LLVMIsAZExtInst(v)) {
    LLVMValueRef from = LLVMGetOperand(v, 0);
    Span s = span_of(from, depth + 1);
    return s.lo >= 0 ? s : (Span){0, ((int64_t)1 << width_of(from)) - 1};
  }
  if (LLVMIsASExtInst(v))
    return span_of(LLVMGetOperand(v, 0), depth + 1);
  if (LLVMIsASelectInst(v))
    return joined(span_of(LLVMGetOperand(v, 1), depth + 1),
                  span_of(LLVMGetOperand(v, 2), depth + 1));
  if (LLVMIsAPHINode(v)) {
    Span s = span_of(LLVMGetIncomingValue(v, 0), depth + 1);
    for (unsigned k = 1; k < LLVMCountIncoming(v) && !(s.lo == of_width(bits).lo); k++)
      s = joined(s, span_of(LLVMGetIncomingValue(v, k), depth + 1));
    return s;
  }
  return LLVMIsABinaryOperator(v) || is_abs(v) || is_sad(v) ? computed(v, depth + 1)
                                                            : of_width(bits);
}

/* --- 64 bits as 32 --- */

static bool is_extended(const Cg *cg, LLVMValueRef v) {
  return cg_is_extension(v) && LLVMTypeOf(v) == cg->t.i64;
}

/* A number that fits int32, in 32 bits. */
static LLVMValueRef low(Cg *cg, LLVMValueRef v) {
  if (cg_is_extension(v))
    return l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, LLVMIsASExtInst(v) != NULL);
  return l_trunc(cg->builder, v, cg->t.i32); /* a constant */
}

static LLVMValueRef extend(Cg *cg, LLVMValueRef v, Span s) {
  return s.lo < 0 ? l_sext(cg->builder, v, cg->t.i64) : l_zext(cg->builder, v, cg->t.i64);
}

/* Is i such an operation of extended numbers and constants? */
static bool is_small_operation(const Cg *cg, LLVMValueRef i) {
  if (width_of(i) != 64 ||
      !(is_abs(i) || cg_is_op(i, LLVMAdd) || cg_is_op(i, LLVMSub) || cg_is_op(i, LLVMMul)))
    return false;
  unsigned extended = 0, n = is_abs(i) ? 1 : 2;
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k);
    extended += is_extended(cg, v);
    if (!(is_const(v) || is_extended(cg, v)) || !fits(span_of(v, 0), 32))
      return false;
  }
  return extended && fits(span_of(i, 0), 32);
}

/* A difference that cannot wrap around: ptxas has one instruction for its magnitude. */
static bool is_difference(LLVMValueRef v) {
  return cg_is_op(v, LLVMSub) && fits(span_of(LLVMGetOperand(v, 0), 0), 31) &&
         fits(span_of(LLVMGetOperand(v, 1), 0), 31);
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
  Span s = span_of(i, 0);
  LLVMValueRef x = low(cg, LLVMGetOperand(i, 0));
  if (is_abs(i))
    return extend(cg, magnitude(cg, x), s);
  LLVMValueRef y = low(cg, LLVMGetOperand(i, 1)), v = l_binop(b, LLVMGetInstructionOpcode(i), x, y);
  if (LLVMIsAInstruction(v))
    LLVMSetNSW(v, true);
  return extend(cg, v, s);
}

/* --- sums --- */

/* Of a 64-bit sum the term that is small; -1: none. */
static int term_in(const Cg *cg, LLVMValueRef sum) {
  for (unsigned k = 0; k < 2 && cg_is_op(sum, LLVMAdd) && LLVMTypeOf(sum) == cg->t.i64; k++) {
    LLVMValueRef v = LLVMGetOperand(sum, k);
    if (is_extended(cg, v) && fits(span_of(v, 0), TERM_BITS))
      return (int)k;
  }
  return -1;
}

static bool is_used_once(LLVMValueRef v) {
  LLVMUseRef u = LLVMGetFirstUse(v);
  return u && !LLVMGetNextUse(u);
}

/* The sum before the last term, if this is its only use, in the same block; else NULL. */
static LLVMValueRef sum_before(const Cg *cg, LLVMValueRef sum) {
  LLVMValueRef before = LLVMGetOperand(sum, !term_in(cg, sum));
  bool same = LLVMIsAInstruction(before) && term_in(cg, before) >= 0 &&
              LLVMGetInstructionParent(before) == LLVMGetInstructionParent(sum) &&
              is_used_once(before);
  return same ? before : NULL;
}

static bool is_last_term(const Cg *cg, LLVMValueRef i) {
  if (term_in(cg, i) < 0 || !sum_before(cg, i))
    return false;
  LLVMValueRef user = is_used_once(i) ? LLVMGetUser(LLVMGetFirstUse(i)) : NULL;
  return !user || term_in(cg, user) < 0 || sum_before(cg, user) != i;
}

static LLVMValueRef sum_of_terms(Cg *cg, LLVMValueRef last) {
  LLVMValueRef sum = NULL, before = NULL;
  Span all = {0, 0};
  unsigned n = 0;
  for (LLVMValueRef at = last; at && n < MOST_TERMS; at = sum_before(cg, at), n++) {
    unsigned k = (unsigned)term_in(cg, at);
    Span s = span_of(LLVMGetOperand(at, k), 0);
    LLVMValueRef v = low(cg, LLVMGetOperand(at, k));
    sum = sum ? l_add_nsw(cg->builder, v, sum) : v;
    all = (Span){all.lo + s.lo, all.hi + s.hi};
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
  return k >= 0 && LLVMGetOperand(sum, !k) == LLVMGetOperand(i, 2) && is_used_once(sum);
}

static LLVMValueRef mask_term(Cg *cg, LLVMValueRef i) {
  LLVMValueRef sum = LLVMGetOperand(i, 1), term = LLVMGetOperand(sum, (unsigned)term_in(cg, sum));
  LLVMValueRef v = l_select(cg->builder, LLVMGetOperand(i, 0), low(cg, term), l_int(cg->t.i32, 0));
  return l_add(cg->builder, LLVMGetOperand(i, 2), extend(cg, v, span_of(term, 0)));
}

/* --- 8 and 16 bits as 32 --- */

static bool is_narrow(LLVMValueRef v) { return width_of(v) == 8 || width_of(v) == 16; }

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
  if (LLVMIsATruncInst(v) && width_of(LLVMGetOperand(v, 0)) >= 32)
    return l_int_cast(cg->builder, LLVMGetOperand(v, 0), cg->t.i32, false);
  return l_zext(cg->builder, v, cg->t.i32);
}

/* A narrow number extended with zeros, in 32 bits. */
static LLVMValueRef widened(Cg *cg, LLVMValueRef v) {
  if (!is_of_low_bits(v))
    return l_zext(cg->builder, v, cg->t.i32);
  return l_and(cg->builder, with_low_bits(cg, v, 0),
               l_int(cg->t.i32, ((uint64_t)1 << width_of(v)) - 1));
}

static bool is_narrow_extension(LLVMValueRef i) {
  return LLVMIsAZExtInst(i) && (width_of(i) == 32 || width_of(i) == 64) &&
         is_of_low_bits(LLVMGetOperand(i, 0));
}

static bool is_narrow_comparison(LLVMValueRef i) {
  return LLVMIsAICmpInst(i) && is_narrow(LLVMGetOperand(i, 0)) &&
         LLVMGetICmpPredicate(i) < LLVMIntSGT &&
         (is_of_low_bits(LLVMGetOperand(i, 0)) || is_of_low_bits(LLVMGetOperand(i, 1)));
}

/* --- extensions that a loop carries ---
 *
 * Of a counter that is used as both, LLVM carries the extended number beside that of 32 bits, and
 * ptxas no longer knows that a product of it has operands of 32. */

/* What it is the extension of, if it is one of 32 bits; else v. */
static LLVMValueRef before_extension(LLVMValueRef v) {
  bool extends = LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v));
  return extends && width_of(v) == 64 && width_of(LLVMGetOperand(v, 0)) == 32 ? LLVMGetOperand(v, 0)
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
    bool same = width_of(i) == 32;
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
    LLVMValueRef from = width_of(i) == 64 ? short_phi(i) : NULL;
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

/* --- the pass --- */

/* The same value in fewer or cheaper instructions; NULL: as it is. */
static LLVMValueRef rewritten(Cg *cg, LLVMValueRef i) {
  LLVMBuilderRef b = cg->builder;
  if (is_narrow_extension(i))
    return l_zext_or_same(b, widened(cg, LLVMGetOperand(i, 0)), LLVMTypeOf(i));
  if (is_narrow_comparison(i))
    return l_icmp(b, LLVMGetICmpPredicate(i), widened(cg, LLVMGetOperand(i, 0)),
                  widened(cg, LLVMGetOperand(i, 1)));
  if (is_small_operation(cg, i))
    return in_32_bits(cg, i);
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
      rewrite(cg, b, rewritten);
      rewrite(cg, b, add_up);
    }
}
