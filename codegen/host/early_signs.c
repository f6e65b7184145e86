/* Early signs: of indices that may count from the end, in checked code that is to run as lanes.
 *
 * Lowering wraps such an index by `x < 0 ? x + n : x`. Where all lanes agree on the sign, what they
 * touch is at a constant step, so that one call notes it. Lanes may assume that they agree as long
 * as nothing has been noted: otherwise the threads run one by one instead. So this asks for the
 * signs of what is written before the first note, where x can be computed there.
 *
 * In: the function of one thread, in the form that lanes assume. Out: the same, with such tests in
 * a block that comes first; whatever cannot be moved stays. */
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "runtime/abi.h"

enum { TO_SIGN = 8 }; /* operations of an address in a row */

typedef struct Early {
  Cg *cg;
  FnGraph g;
  /* By block: something in it, or in a block before it, does more than compute. */
  bool *writes, *dirty;
} Early;

static void find_dirty(Early *e) {
  uint32_t n = e->g.len;
  e->writes = ARENA_ARRAY(e->g.arena, bool, n);
  e->dirty = ARENA_ARRAY(e->g.arena, bool, n);
  for (uint32_t k = 0; k < n; k++) {
    e->dirty[k] = e->writes[k] = false;
    for (LLVMValueRef i = LLVMGetFirstInstruction(e->g.nodes[k].block); i;
         i = LLVMGetNextInstruction(i))
      e->writes[k] |= cg_lanes_writes(i);
  }
  for (bool again = true; again;) {
    again = false;
    for (uint32_t k = 0; k < n; k++)
      for (uint32_t s = 0; s < e->g.nodes[k].nsucc && (e->writes[k] || e->dirty[k]); s++) {
        uint32_t to = e->g.nodes[k].succ[s];
        again |= !e->dirty[to];
        e->dirty[to] = true;
      }
  }
}

static bool is_clean(const Early *e, uint32_t k) {
  return !e->dirty[k] && !e->writes[k] && e->g.nodes[k].loop == GRAPH_NONE;
}

typedef struct Place {
  const Early *e;
  uint32_t block;
} Place;

static bool is_in_place(void *place, LLVMValueRef i) {
  const Place *to = place;
  uint32_t k = graph_number(&to->e->g, LLVMGetInstructionParent(i));
  return k != GRAPH_NONE && graph_dominates(&to->e->g, k, to->block);
}

/* Operations whose promises about their operands can be taken back. */
static bool can_move(void *place, LLVMValueRef v) {
  (void)place;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMMul:
  case LLVMShl:
  case LLVMXor:
  case LLVMZExt:
  case LLVMSExt: return true;
  default: return false;
  }
}

static void move_to(Place *to, LLVMValueRef v) {
  if (!LLVMIsAInstruction(v) || is_in_place(to, v))
    return;
  for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
    move_to(to, LLVMGetOperand(v, k));
  copy_forget_flags(v);
  LLVMInstructionRemoveFromParent(v);
  LLVMBuilderRef b = to->e->cg->builder;
  LLVMPositionBuilderBefore(b, to->e->g.nodes[to->block].last);
  l_insert(b, v);
}

static void ask_early(const Early *e, LLVMValueRef sign) {
  uint32_t k = graph_number(&e->g, LLVMGetInstructionParent(sign));
  while (k != GRAPH_NONE && !is_clean(e, k))
    k = e->g.nodes[k].idom;
  Place to = {e, k};
  Spot spot = {is_in_place, can_move, &to};
  if (k != GRAPH_NONE && cg_is_ready(&spot, LLVMGetOperand(sign, 0)) &&
      cg_is_ready(&spot, LLVMGetOperand(sign, 1)))
    move_to(&to, sign);
}

/* The signs that an address depends on: x < 0, or what LLVM knows to be the same, as i == 0 of
 * x = i - 1. */
static void find_signs(const Early *e, LLVMValueRef v, int depth) {
  if (!LLVMIsAInstruction(v) || depth > TO_SIGN || LLVMIsAPHINode(v))
    return;
  if (LLVMIsASelectInst(v) && LLVMIsAICmpInst(LLVMGetOperand(v, 0)))
    ask_early(e, LLVMGetOperand(v, 0));
  else if (LLVMIsAGetElementPtrInst(v) || can_move(NULL, v))
    for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(v); k++)
      find_signs(e, LLVMGetOperand(v, k), depth + 1);
}

static bool notes_write(LLVMValueRef i) {
  enum { WHAT = 3 };
  return cg_is_call_of(i, "rt_check_access") &&
         (LLVMConstIntGetZExtValue(LLVMGetOperand(i, WHAT)) & RT_ACCESS_KINDS) == RT_ACCESS_WRITE;
}

void cg_host_ask_signs_early(Cg *cg, LLVMValueRef thread) {
  enum { POINTER = 1 };
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  Early e = {.cg = cg, .g = graph_of(&cg->cx->arena, thread, NULL)};
  graph_loops(&e.g);
  find_dirty(&e);
  for (uint32_t k = 0; k < e.g.len; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(e.g.nodes[k].block); i;
         i = LLVMGetNextInstruction(i))
      if (notes_write(i))
        find_signs(&e, LLVMGetOperand(i, POINTER), 0);
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
}
