/* Host exact rows: a second version of a kernel, for arrays whose rows are as long as its constants
 * say.
 *
 *   d = points[i, 0] * points[i, 0] + points[i, 1] * points[i, 1] + points[i, 2] * points[i, 2]
 *
 * Hardly anybody indexes an axis by 0, 1 and 2 unless it has three elements. But its extent is
 * known at run time only, so `i` addresses memory at a step that is not known: lanes gather, and a
 * thread alone checks each constant, and may not take neighbouring columns together. Here such an
 * extent is guessed: the least one that all these checks allow. The function of a thread is copied,
 * the copy has the guesses as constants, and the entry compares them with the launch's extents
 * once:
 *
 *   if points.shape[1] == 3: all blocks by the copy, without those checks
 *   else:                    all blocks by the function as it is
 *
 * In: the function of a thread without barriers, in regular form. Out: the same, and perhaps a copy
 * (Loops.exact) in that form. An extent is guessed if it is not of an array's first axis, and
 * nothing but constants is compared with it: a loop over an axis says that its length is not fixed.
 * A wrong guess costs one test for each run of blocks. For single threads a copy that only reads
 * such arrays gains nothing: it is dropped once lanes have refused it (hl_drop_exact). */
#include <assert.h>

#include "codegen/host/entry.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/ssa/params.h"

/* In longer functions accesses are a small part, and two versions take long to compile. */
enum { MOST_INSTRUCTIONS = 256, LONGEST = 16 };

/* Is it a load of the field that is so many bytes behind the beginning of the parameter block? */
static bool is_of_field(LLVMValueRef f, LLVMValueRef v, const RtField *field) {
  LLVMValueRef p = LLVMIsALoadInst(v) ? LLVMGetOperand(v, 0) : NULL;
  if (!p || LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(LLVMTypeOf(v)) != 32 || !LLVMIsAGetElementPtrInst(p) ||
      LLVMGetNumOperands(p) != 2 || !LLVMIsAConstantInt(LLVMGetOperand(p, 1)) ||
      LLVMGetTypeKind(LLVMGetGEPSourceElementType(p)) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(p)) != 8)
    return false;
  LLVMValueRef block = LLVMGetOperand(p, 0);
  return LLVMConstIntGetZExtValue(LLVMGetOperand(p, 1)) == field->offset &&
         LLVMIsALoadInst(block) && LLVMGetOperand(block, 0) == LLVMGetParam(f, HOST_LAUNCH);
}

/* A comparison of the extent with a constant on which a trap depends: does an extent of n pass? */
static bool passes(LLVMIntPredicate how, uint64_t n, uint64_t constant) {
  switch (how) {
  case LLVMIntEQ: return n == constant;
  case LLVMIntNE: return n != constant;
  case LLVMIntUGT: return n > constant;
  case LLVMIntUGE: return n >= constant;
  case LLVMIntULT: return n < constant;
  case LLVMIntULE: return n <= constant;
  default: return true; /* signed ones: extents are not compared so */
  }
}

static bool is_trap(LLVMBasicBlockRef b) {
  return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(b));
}

/* Takes the lengths that a comparison's checks forbid out of `allowed`, a bit for each. False: it
 * compares the extent with what is no constant. */
static bool restrict_by(LLVMValueRef compare, LLVMValueRef extent, uint32_t *allowed) {
  unsigned at = LLVMGetOperand(compare, 1) == extent;
  LLVMValueRef other = LLVMGetOperand(compare, 1 - at);
  if (!LLVMIsAConstantInt(other))
    return false;
  LLVMIntPredicate how = LLVMGetICmpPredicate(compare);
  if (at)
    how = cg_swapped(how);
  for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u)) {
    Fork fork;
    if (!LLVMIsATerminatorInst(LLVMGetUser(u)) || !graph_fork(LLVMGetUser(u), &fork) ||
        is_trap(fork.yes) == is_trap(fork.no))
      continue;
    for (uint32_t n = 1; n <= LONGEST; n++)
      if (passes(how, n, LLVMConstIntGetZExtValue(other)) == is_trap(fork.yes))
        *allowed &= ~(1u << n);
  }
  return true;
}

static bool restrict_by_uses(LLVMValueRef extent, uint32_t *allowed) {
  for (LLVMUseRef u = LLVMGetFirstUse(extent); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAICmpInst(user) && !restrict_by(user, extent, allowed))
      return false;
    if (LLVMIsAZExtInst(user) && !restrict_by_uses(user, allowed))
      return false;
  }
  return true;
}

/* The length that the kernel's constants say the axis of that field has; 0: they say nothing. */
static uint32_t guess(LLVMValueRef f, const RtField *field, LLVMValueRef *load) {
  uint32_t allowed = ((1u << LONGEST) - 1) << 1;
  *load = NULL;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (is_of_field(f, i, field)) {
        if (*load || !restrict_by_uses(i, &allowed)) /* two loads of it were merged */
          return 0;
        *load = i;
      }
  uint32_t least = allowed ? (uint32_t)__builtin_ctz(allowed) : 0;
  return *load && least > 1 ? least : 0;
}

static bool is_short(LLVMValueRef f) {
  unsigned n = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (++n > MOST_INSTRUCTIONS)
        return false;
  return true;
}

/* The field of that axis of an array; NULL if the kernel does not read it as 32 bits. */
static const RtField *extent_of(const Params *p, const ArrayParam *a, unsigned axis) {
  for (uint32_t k = 0; k < p->fields.len; k++) {
    const Param *f = &p->fields.data[k];
    if (f->field.kind == RT_FIELD_EXTENT32 && f->field.axis == axis && cg_is_of_array(f, a))
      return &f->field;
  }
  return NULL;
}

/* From the last axis on, as long as they can be guessed: the distance of elements along an axis is
 * the product of the extents behind it. */
static void find_guesses(Loops *l, LLVMValueRef thread, LLVMValueRef loads[MOST_EXACT]) {
  const Params *p = l->cg->params;
  ExactRows *e = &l->exact;
  for (uint32_t k = 0; p && k < p->arrays.len; k++) {
    const ArrayParam *a = &p->arrays.data[k];
    if (!a->used || a->type->layout != LAYOUT_C)
      continue;
    for (unsigned axis = a->type->ndim; --axis && e->n < MOST_EXACT;) {
      const RtField *field = extent_of(p, a, axis);
      LLVMValueRef load;
      uint32_t length = field ? guess(thread, field, &load) : 0;
      if (!length)
        break;
      loads[e->n] = load, e->offsets[e->n] = field->offset, e->lengths[e->n++] = length;
      e->written |= a->written;
    }
  }
}

void hl_pass_exact(Cg *cg) {
  Loops *l = hl_loops(cg);
  LLVMValueRef thread = l ? ((const HostState *)cg->target_state)->thread : NULL;
  if (!l || !l->width || l->checks || l->bound || l->fission.nsegments || l->markers[0] ||
      l->markers[1] || LLVMGetSubprogram(thread) || !is_short(thread))
    return;
  LLVMValueRef loads[MOST_EXACT];
  find_guesses(l, thread, loads);
  ExactRows *e = &l->exact;
  if (!e->n)
    return;
  RegionCopy copy;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  e->thread = copy_function(cg, thread, arena_printf(&cg->cx->arena, "%s.exact", cg->symbol),
                            &copy);
  for (unsigned k = 0; k < e->n; k++)
    LLVMReplaceAllUsesWith(copy_of(&copy, loads[k]), l_int(cg->t.i32, e->lengths[k]));
  cg_lanes_regulate_one(cg, e->thread);
  if (here)
    hl_at(l, here);
}

void hl_drop_exact(Loops *l) {
  if (!l->exact.thread || l->exact.row || l->exact.written)
    return;
  LLVMDeleteFunction(l->exact.thread);
  l->exact.thread = NULL;
}

LLVMValueRef hl_are_exact(const Loops *l) {
  const ExactRows *e = &l->exact;
  LLVMValueRef all = NULL, block = hl_launch_field(l, l->t->ptr, offsetof(RtHostLaunch, params));
  for (unsigned k = 0; k < e->n; k++) {
    LLVMValueRef extent = cg_host_launch_field(l->cg, block, l->t->i32, e->offsets[k]),
                 same = l_icmp(l->b, LLVMIntEQ, extent, hl_i32(l, e->lengths[k]));
    all = all ? l_and(l->b, all, same) : same;
  }
  assert(all);
  return all;
}
