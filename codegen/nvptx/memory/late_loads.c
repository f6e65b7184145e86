/* NVPTX late loads: what a long loop reads and does not change is loaded where it is used.
 *
 *   for block in range(blocks):
 *     for t in range(64):            # unrolled
 *       … + k[t] + w[t]
 *
 * LLVM loads the 64 constants in front of the loop over blocks, and so does ptxas: 64 registers
 * throughout, a third of the threads. Where all threads read the same address, a load is one of
 * many instructions of such a loop. It is moved to its first use, with an address that the loop
 * seems to change, or ptxas would take it out again: the sign of a counter that is never negative
 * is added.
 *
 * In: functions as they go to the code generator. Loops that write nothing but local arrays. */
#include <string.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum {
  LEAST_WORDS = 32, /* of 32 bits in front of a loop: fewer have registers */
  MOST_WORDS = 256,
  LEAST_CODE = 12 /* instructions of the loop for each of them */
};

typedef struct Late {
  Cg *cg;
  const FnGraph *g;
  uint32_t loop;
  LLVMValueRef loads[MOST_WORDS];
  unsigned n, words;
  ValueMap number;         /* of loads */
  LLVMValueRef zero, base; /* base: the array whose address was written last */
  LLVMValueRef address;
} Late;

/* The kernel's array that p is at a constant distance from; NULL: none. */
static LLVMValueRef array_of(const Cg *cg, LLVMValueRef p, int64_t *distance) {
  p = cg_base_of(cg, p, distance);
  bool is = cg_is_kernel_argument(p) && LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == NVPTX_GLOBAL;
  return is ? p : NULL;
}

static bool is_local(LLVMValueRef p) { return LLVMIsAAllocaInst(cg_array_of(p)) != NULL; }

/* May loads of other memory pass it? */
static bool is_passed(const Cg *cg, LLVMValueRef i) {
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
    return cg_is_plain_access(i) && (LLVMIsALoadInst(i) || is_local(LLVMGetOperand(i, 1)));
  return LLVMIsAPHINode(i) || LLVMIsATerminatorInst(i) || cg_is_speculatable(i) ||
         cg_is_slow(cg, i) || cg_is_division(i) || cg_only_computes(i);
}

/* The instructions of the loop; 0 if it may write what is loaded. */
static unsigned code_of(const Late *x) {
  const GraphLoop *l = &x->g->loops.data[x->loop];
  unsigned n = 0;
  for (uint32_t k = 0; k < l->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(x->g->nodes[l->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i), n++)
      if (!is_passed(x->cg, i))
        return 0;
  return n;
}

/* A variable of the loop that is never negative; NULL: none. */
static LLVMValueRef counter_of(const Late *x) {
  const GraphLoop *l = &x->g->loops.data[x->loop];
  for (LLVMValueRef i = LLVMGetFirstInstruction(x->g->nodes[l->header].block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    if (LLVMTypeOf(i) == x->cg->t.i32 && cg_nvptx_range(i).lo >= 0)
      return i;
  return NULL;
}

/* Is it used in one block of the loop alone, in no loop inside, and not by phis? */
static bool is_used_in_one_block(const Late *x, LLVMValueRef load) {
  LLVMBasicBlockRef block = NULL;
  for (LLVMUseRef u = LLVMGetFirstUse(load); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u);
    if (LLVMIsAPHINode(user) || (block && LLVMGetInstructionParent(user) != block))
      return false;
    block = LLVMGetInstructionParent(user);
  }
  uint32_t node = block ? graph_number(x->g, block) : GRAPH_NONE;
  return node != GRAPH_NONE && x->g->nodes[node].loop == x->loop;
}

/* Those behind which nothing is written until the loop begins. */
static void find_loads(Late *x, LLVMBasicBlockRef front) {
  int64_t distance;
  for (LLVMValueRef i = LLVMGetFirstInstruction(front); i; i = LLVMGetNextInstruction(i)) {
    if (!is_passed(x->cg, i)) {
      x->number = (ValueMap){.arena = &x->cg->cx->arena};
      x->n = x->words = 0;
    } else if (LLVMIsALoadInst(i) && cg_is_plain_access(i) && x->n < MOST_WORDS &&
               array_of(x->cg, LLVMGetOperand(i, 0), &distance) && is_used_in_one_block(x, i)) {
      valuemap_set(&x->number, i, x->n);
      x->loads[x->n++] = i;
      x->words += (unsigned)(LLVMSizeOfTypeInBits(x->cg->layout, LLVMTypeOf(i)) + 31) / 32;
    }
  }
}

/* 0, which ptxas does not know. */
static LLVMValueRef sign_of(Cg *cg, LLVMValueRef counter) {
  static const char shift[] = "shr.u32 $0, $1, 31;";
  LLVMTypeRef type = LLVMFunctionType(cg->t.i32, &cg->t.i32, 1, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, shift, sizeof shift - 1, "=r,r", 4, false, 0,
                                       LLVMInlineAsmDialectATT, 0);
  return l_zext(cg->builder, l_call_type(cg->builder, type, text, &counter, 1), cg->t.i64);
}

static void load_late(Late *x, LLVMValueRef load, LLVMValueRef use) {
  Cg *cg = x->cg;
  int64_t distance;
  LLVMValueRef base = array_of(cg, LLVMGetOperand(load, 0), &distance);
  if (base != x->base) {
    LLVMPositionBuilderBefore(cg->builder, LLVMGetNextInstruction(x->zero));
    x->base = base;
    x->address = l_gep(cg->builder, cg->t.i8, base, &x->zero, 1);
  }
  LLVMPositionBuilderBefore(cg->builder, use);
  LLVMValueRef by = l_int(cg->t.i64, (uint64_t)distance),
               p = l_gep(cg->builder, cg->t.i8, x->address, &by, 1);
  LLVMReplaceAllUsesWith(load, copy_ins(cg->builder, load, &p));
}

static void visit_loop(Cg *cg, const FnGraph *g, uint32_t loop) {
  Late *x = CX_NEW(cg->cx, Late);
  *x = (Late){.cg = cg, .g = g, .loop = loop, .number = {.arena = &cg->cx->arena}};
  LLVMValueRef end = graph_front(g, loop), counter = NULL;
  LLVMBasicBlockRef front = end ? LLVMGetInstructionParent(end) : NULL;
  if (front)
    find_loads(x, front);
  if (x->words >= LEAST_WORDS && code_of(x) >= LEAST_CODE * x->words)
    counter = counter_of(x);
  if (!counter)
    return;
  const GraphLoop *l = &g->loops.data[loop];
  LLVMPositionBuilderBefore(cg->builder, graph_behind_phis(g->nodes[l->header].block));
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  x->zero = sign_of(cg, counter);
  for (uint32_t k = 0; k < l->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[l->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i))
      for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(i); o++) {
        uint32_t of = valuemap_get(&x->number, LLVMGetOperand(i, o));
        if (of != VALUEMAP_NONE)
          load_late(x, x->loads[of], i);
      }
  for (unsigned k = 0; k < x->n; k++) /* no sooner: others would get their places in memory */
    LLVMInstructionEraseFromParent(x->loads[k]);
}

void cg_nvptx_late_loads(Cg *cg) { graph_each_loop(cg, visit_loop); }
