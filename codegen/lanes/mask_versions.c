/* Lanes: versions for small masks. See lanes.h.
 *
 * In a butterfly (`low = 2 * t - (t & (h - 1))`) or an exchange (`t ^ j`), the places of lanes
 * follow from the low bits of a mask that is the same for all threads of the block. From W on (the
 * number of lanes) the lanes of a vector are neighbours; below that, an analysis knows their places
 * only if the mask is a constant. So a short segment gets copies, of which a block chooses one:
 *
 *   mask % W == W - 1: with mask | W - 1; mask == 0: with 0; mask == 1: with 1; mask == 3: …
 *
 * The mask has to be known before the segment does anything: made of arguments, fields of the
 * launch, and what the block keeps once. */
#include <assert.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/private.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"

enum {
  MOST_INSTRUCTIONS = 160,
  MOST_BLOCKS = 24,
  MOST_STEPS = 12, /* operations that make a mask */
  DEEPEST = 6      /* from it to an address */
};

/* --- which mask --- */

/* Is v, or what is added to and multiplied with it, part of an address that is no run? */
static bool is_in_address(Lanes *l, LLVMValueRef v, int depth) {
  for (LLVMUseRef use = LLVMGetFirstUse(v); use && depth < DEEPEST; use = LLVMGetNextUse(use)) {
    LLVMValueRef i = LLVMGetUser(use);
    if (!LLVMIsAInstruction(i))
      continue;
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad: return true;
    case LLVMStore:
      if (LLVMGetOperand(i, 1) == v)
        return true;
      break;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMGetElementPtr:
      if (ln_shape(l, i).kind == SHAPE_VECTOR && is_in_address(l, i, depth + 1))
        return true;
      break;
    default: break;
    }
  }
  return false;
}

/* Is it loaded from what a block keeps once (the last argument), or is it a field of the launch? */
static bool is_of_block(Lanes *l, LLVMValueRef load) {
  LLVMValueRef at = cg_array_of(LLVMGetOperand(load, 0));
  return cg_is_plain_access(load) &&
         (at == LLVMGetParam(l->f, l->nargs - 1) || cg_is_field_load(l->cg, l->f, load));
}

/* Is it the same for all threads of the block, and known before one of them does anything? A block
 * keeps what a segment stores elsewhere until all threads have run it (fission.h). *left: so many
 * operations are allowed. */
static bool is_early(Lanes *l, LLVMValueRef v, unsigned *left) {
  for (unsigned k = HOST_TX; k < l->nargs - 1; k++)
    if (v == LLVMGetParam(l->f, k))
      return false;
  if (!LLVMIsAInstruction(v))
    return true;
  if (!*left || --*left == 0)
    return false;
  if (LLVMIsALoadInst(v) ? !is_of_block(l, v) : !cg_is_speculatable(v) || LLVMIsAPHINode(v))
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (!is_early(l, LLVMGetOperand(v, (unsigned)k), left))
      return false;
  return true;
}

/* An operation `t & mask` or `t ^ mask`, t being aligned. */
typedef struct Masking {
  LLVMValueRef i, mask; /* mask: operand `at` of i */
  unsigned at;
  unsigned bits; /* of t that may be set; of an exclusive or all count */
} Masking;

static bool is_masking(Lanes *l, LLVMValueRef v, Masking *m) {
  if (!cg_is_op(v, LLVMAnd) && !cg_is_op(v, LLVMXor))
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef x = LLVMGetOperand(v, k), y = LLVMGetOperand(v, 1 - k);
    unsigned left = MOST_STEPS, bits = cg_int_width(y);
    if (!bits || bits > 64 || !ln_is_aligned(l, ln_shape(l, x)) || !LLVMIsAInstruction(y) ||
        !ln_is_uniform(ln_shape(l, y)) || !is_early(l, y, &left))
      continue;
    if (LLVMIsAZExtInst(x) && cg_is_op(v, LLVMAnd))
      bits = cg_int_width(LLVMGetOperand(x, 0)) - LLVMGetNNeg(x);
    *m = (Masking){v, y, 1 - k, bits};
    return true;
  }
  return false;
}

/* All with one mask, which is in an address. */
typedef struct Maskings {
  VEC(Masking) all;
  LLVMValueRef mask;
  unsigned bits; /* of the mask that count */
  bool differs;  /* an exclusive or: the mask itself is the distance of two lanes */
} Maskings;

static void find_maskings(Lanes *l, Maskings *all) {
  Masking m;
  for (uint32_t k = 0; k < l->values.len && !all->mask; k++) {
    LLVMValueRef v = l->values.data[k].old;
    if (is_masking(l, v, &m) && is_in_address(l, v, 0)) {
      all->mask = m.mask, all->bits = m.bits;
      all->differs = cg_is_op(v, LLVMXor);
    }
  }
  for (uint32_t k = 0; k < l->values.len && all->mask; k++)
    if (is_masking(l, l->values.data[k].old, &m) && m.mask == all->mask && m.bits <= all->bits)
      VEC_PUSH(l->arena, &all->all, m);
}

/* --- versions --- */

static bool is_short(LLVMValueRef f) {
  uint32_t n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (++n > MOST_INSTRUCTIONS || LLVMIsAAllocaInst(i) || cg_is_meeting(i))
        return false;
  return LLVMCountBasicBlocks(f) <= MOST_BLOCKS;
}

/* v of f in another function with the same parameters. */
static LLVMValueRef parameter_of(Lanes *l, LLVMValueRef fn, LLVMValueRef v) {
  for (unsigned k = 0; LLVMIsAArgument(v) && k < l->nargs; k++)
    if (v == LLVMGetParam(l->f, k))
      return LLVMGetParam(fn, k);
  return v;
}

static LLVMValueRef compute_in(Lanes *l, LLVMValueRef fn, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v))
    return parameter_of(l, fn, v);
  int n = LLVMGetNumOperands(v);
  LLVMValueRef *operands = ARENA_ARRAY(l->arena, LLVMValueRef, (size_t)n + 1);
  for (int k = 0; k < n; k++)
    operands[k] = compute_in(l, fn, LLVMGetOperand(v, (unsigned)k));
  return copy_ins(l->b, v, operands);
}

static LLVMValueRef low_bits(Lanes *l, LLVMValueRef v, unsigned bits) {
  uint64_t all = ~UINT64_C(0) >> (64 - bits);
  return bits < cg_int_width(v) ? l_and(l->b, v, l_int(LLVMTypeOf(v), all)) : v;
}

static LLVMValueRef new_function(Lanes *l, const char *what, LLVMTypeRef result) {
  LLVMTypeRef *types = ARENA_ARRAY(l->arena, LLVMTypeRef, l->nargs);
  for (unsigned k = 0; k < l->nargs; k++)
    types[k] = LLVMTypeOf(LLVMGetParam(l->f, k));
  LLVMValueRef fn = LLVMAddFunction(l->cg->module,
                                    arena_printf(l->arena, "%s.%s", LLVMGetValueName(l->f), what),
                                    LLVMFunctionType(result, types, l->nargs, 0));
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  cg_attribute(l->cg, fn, L_FUNCTION, "nounwind", 0);
  return fn;
}

/* A copy of the function. Its operations with the mask have another one: that number, or the mask
 * with its low bits set to what they are. */
static LLVMValueRef make_version(Lanes *l, const Maskings *m, bool is_long, uint64_t number) {
  uint32_t n = LLVMCountBasicBlocks(l->f);
  LLVMBasicBlockRef *blocks = ARENA_ARRAY(l->arena, LLVMBasicBlockRef, n);
  LLVMGetBasicBlocks(l->f, blocks);
  LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(l->f));
  LLVMValueRef fn = new_function(l, "masked", result);
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(l->cg->context, fn, "");
  RegionCopy copies = copy_region(l->cg, blocks, n, end, "");
  LLVMDeleteBasicBlock(end);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(i); k++)
        if (LLVMIsAArgument(LLVMGetOperand(i, k)))
          LLVMSetOperand(i, k, parameter_of(l, fn, LLVMGetOperand(i, k)));
  for (uint32_t k = 0; k < m->all.len; k++) {
    LLVMValueRef i = copy_of(&copies, m->all.data[k].i), mask = l_int(LLVMTypeOf(i), number);
    unsigned at = m->all.data[k].at;
    LLVMPositionBuilderBefore(l->b, i);
    if (is_long)
      mask = m->differs ? l_and(l->b, LLVMGetOperand(i, at), mask)
                        : l_or(l->b, LLVMGetOperand(i, at), mask);
    LLVMSetOperand(i, at, mask);
  }
  return fn;
}

/* i32: the number of the version that a block runs; 0: the function itself. */
static LLVMValueRef make_choice(Lanes *l, const Maskings *m) {
  LLVMTypeRef t = LLVMTypeOf(m->mask), i32 = l->cg->t.i32;
  LLVMValueRef fn = new_function(l, "choice", i32);
  LLVMPositionBuilderAtEnd(l->b, LLVMAppendBasicBlockInContext(l->cg->context, fn, ""));
  /* in front of the guards that it has in the segment, and so perhaps of none that it needs: each
   * version is right for any mask */
  LLVMValueRef mask = l_freeze(l->b, compute_in(l, fn, m->mask)), now = low_bits(l, mask, m->bits),
               lanes = l_int(t, l->width - 1), low = l_and(l->b, mask, lanes),
               is = l_icmp(l->b, LLVMIntEQ, low, m->differs ? l_int(t, 0) : lanes),
               choice = l_select(l->b, is, l_int(i32, 1), l_int(i32, 0));
  for (unsigned by = 1, k = 2; by < l->width; by *= 2, k++) {
    is = l_icmp(l->b, LLVMIntEQ, now, l_int(t, m->differs ? by : by - 1));
    choice = l_select(l->b, is, l_int(i32, k), choice);
  }
  l_ret(l->b, choice);
  return fn;
}

/* Is there one at all? That is known without an analysis. */
static bool may_have_maskings(LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if ((cg_is_op(i, LLVMAnd) || cg_is_op(i, LLVMXor)) && cg_int_width(i) > 1 &&
          !LLVMIsAConstant(LLVMGetOperand(i, 0)) && !LLVMIsAConstant(LLVMGetOperand(i, 1)))
        return true;
  return false;
}

MaskVersions cg_lanes_mask_versions(Cg *cg, LLVMValueRef f, const LanesHow *how) {
  Lanes *l = is_short(f) && may_have_maskings(f) ? cg_lanes_analyse(cg, f, how) : NULL;
  Maskings m = {0};
  MaskVersions v = {0};
  if (l)
    find_maskings(l, &m);
  if (!m.mask)
    return v;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  v.choice = make_choice(l, &m);
  uint64_t low = l->width - 1;
  v.fns[v.n++] = make_version(l, &m, true, m.differs ? ~low : low);
  for (unsigned by = 1; by < l->width; by *= 2) {
    assert(v.n < CG_MASK_VERSIONS);
    v.fns[v.n++] = make_version(l, &m, false, m.differs ? by : by - 1);
  }
  if (here)
    LLVMPositionBuilderAtEnd(l->b, here);
  return v;
}
