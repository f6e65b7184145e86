/* Host lasting inputs: loads that give all threads of a block the same, whenever these run.
 *
 *   for at in range(starts[item], starts[item + 1]):   # item: the block's number
 *     ...
 *     cuda.syncthreads()
 *
 * Whether all threads come to that barrier depends on memory, which other threads may write
 * between two loads. Not to this: an array parameter that no thread of the launch writes, unless
 * one that is written has the same memory, which the entry tests (hl_inputs_last).
 *
 * In: an LLVM function of a thread and what is known of array parameters (ssa/params.h). An array
 * whose fields are not all in the parameter block, or that has strides, is none of these, and none
 * is if something may be written that is no parameter's. */
#include <assert.h>

#include "codegen/host/entry.h"
#include "codegen/llvm/match.h"
#include "codegen/ssa/params.h"

enum { MOST_ARRAYS = 16 };

static bool is_input(const ArrayParam *a) { return a->used && !a->written; }

/* Contiguous, and all its extents are known. */
static bool is_range(const Params *p, const ArrayParam *a, RtHostArray *out) {
  return cg_host_describe_array(p, a, out) && !out->has_strides;
}

/* Can it be told from each array that is written? */
static bool can_be_told(const Params *p, const ArrayParam *a) {
  RtHostArray own, other;
  bool can = p->arrays.len <= MOST_ARRAYS && is_input(a) && is_range(p, a, &own);
  for (uint32_t k = 0; can && k < p->arrays.len; k++)
    can = !p->arrays.data[k].written || is_range(p, &p->arrays.data[k], &other);
  return can;
}

/* The array from whose pointer in the parameter block the address is computed, by its number; -1:
 * there is none. */
static int array_of(const Cg *cg, LLVMValueRef f, LLVMValueRef address) {
  int64_t at = 0, none = 0;
  while (LLVMIsAGetElementPtrInst(address))
    address = LLVMGetOperand(address, 0);
  LLVMValueRef block = LLVMIsALoadInst(address) ? cg_base_of(cg, LLVMGetOperand(address, 0), &at)
                                                : NULL;
  if (!block || !LLVMIsALoadInst(block) ||
      cg_base_of(cg, LLVMGetOperand(block, 0), &none) != LLVMGetParam(f, HOST_LAUNCH) ||
      none != (int64_t)offsetof(RtHostLaunch, params))
    return -1;
  for (uint32_t k = 0; k < cg->params->arrays.len; k++) {
    RtHostArray a;
    if (can_be_told(cg->params, &cg->params->arrays.data[k]) &&
        is_range(cg->params, &cg->params->arrays.data[k], &a) && a.pointer == at)
      return (int)k;
  }
  return -1;
}

bool hl_lasts(const Cg *cg, LLVMValueRef f, LLVMValueRef load) {
  return cg->params && !cg->params->writes_elsewhere && cg_is_plain_access(load) &&
         array_of(cg, f, LLVMGetOperand(load, 0)) >= 0;
}

uint32_t hl_lasting_inputs(const Cg *cg, LLVMValueRef f, const Lanes *block) {
  uint32_t found = 0;
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (LLVMIsALoadInst(i) && cg_lanes_uniform(block, i) && hl_lasts(cg, f, i))
        found |= 1u << array_of(cg, f, LLVMGetOperand(i, 0));
  return found;
}

/* --- the test --- */

typedef struct Span {
  LLVMValueRef begin, end; /* i64 */
} Span;

static Span span_of(const Loops *l, const ArrayParam *a) {
  RtHostArray x = {0};
  bool is = is_range(l->cg->params, a, &x);
  assert(is);
  (void)is;
  LLVMBuilderRef b = l->b;
  LLVMValueRef block = hl_launch_field(l, l->t->ptr, offsetof(RtHostLaunch, params)),
               pointer = cg_host_launch_field(l->cg, block, l->t->ptr, x.pointer),
               begin = l_ptrtoint(b, pointer, l->t->i64), bytes = hl_i64(l, x.bytes);
  for (uint32_t k = 0; k < x.axes; k++) {
    LLVMTypeRef t = x.wide ? l->t->i64 : l->t->i32;
    LLVMValueRef n = cg_host_launch_field(l->cg, block, t, x.extents[k]);
    bytes = l_mul(b, bytes, x.wide ? n : l_zext(b, n, l->t->i64));
  }
  return (Span){begin, l_add(b, begin, bytes)};
}

LLVMValueRef hl_inputs_last(const Loops *l, uint32_t inputs) {
  const Params *p = l->cg->params;
  LLVMValueRef all = NULL;
  for (uint32_t i = 0; i < p->arrays.len; i++)
    for (uint32_t o = 0; inputs >> i & 1 && o < p->arrays.len; o++) {
      if (!p->arrays.data[o].written)
        continue;
      Span x = span_of(l, &p->arrays.data[i]), y = span_of(l, &p->arrays.data[o]);
      LLVMValueRef apart = l_or(l->b, l_icmp(l->b, LLVMIntULE, x.end, y.begin),
                                l_icmp(l->b, LLVMIntULE, y.end, x.begin));
      all = all ? l_and(l->b, all, apart) : apart;
    }
  return all;
}
