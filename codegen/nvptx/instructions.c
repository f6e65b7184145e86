/* NVPTX instructions: the rows of ir/instructions.def. Each is one intrinsic of LLVM, or inline
 * assembly where LLVM has none. What they need is checked before (requirements.c). */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

static LLVMValueRef call(Lower *lw, const char *name, LLVMValueRef *args, unsigned n) {
  return lw_intrinsic(lw, name, NULL, 0, args, n);
}

/* i1, the second of what elect.sync gives. */
static void elect(Lower *lw, Ins *i) {
  LLVMValueRef mask = lw_value(lw, i->args[0]);
  lw_set(lw, i, l_extract_value(lw->b, call(lw, "llvm.nvvm.elect.sync", &mask, 1), 1));
}

static void named_barrier(Lower *lw, Ins *i, const char *name) {
  LLVMValueRef args[] = {lw_value(lw, i->args[0]), lw_value(lw, i->args[1])};
  call(lw, name, args, 2);
}

static void registers(Lower *lw, Ins *i, const char *name) {
  LLVMValueRef count = lw_value(lw, i->args[0]);
  CX_ASSERT(lw->cx, LLVMIsAConstantInt(count));
  call(lw, name, &count, 1);
}

static void effect(Lower *lw, const char *code) {
  cg_nvptx_asm(lw, lw->t->none, code, "~{memory}", true);
}

static LLVMValueRef number(Lower *lw, const char *reg) {
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.read.ptx.sreg.cluster.%s", reg);
  LLVMValueRef v = l_zext(lw->b, call(lw, name, NULL, 0), lw->t->i64);
  LLVMSetNNeg(v, 1);
  return v;
}

static void place(Lower *lw, Ins *i, const char *reg) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 3);
  for (unsigned k = 0; k < 3; k++)
    leaves[k] = number(lw, arena_printf(&lw->cx->arena, "%s.%c", reg, "xyz"[k]));
  lw_set_leaves(lw, i, leaves);
}

/* The array, elsewhere. */
static void map_shared(Lower *lw, Ins *i) {
  uint32_t n = cg_leaf_count(i->type);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  memcpy(leaves, lw_leaves(lw, i->args[0]), n * sizeof *leaves);
  LLVMValueRef args[] = {leaves[LEAF_POINTER], lw_value(lw, i->args[1])};
  leaves[LEAF_POINTER] = call(lw, "llvm.nvvm.mapa.shared.cluster", args, 2);
  lw_set_leaves(lw, i, leaves);
}

/* The forms without .aligned: lanes of a warp may come one after the other. */
static void arrive(Lower *lw) { call(lw, "llvm.nvvm.barrier.cluster.arrive", NULL, 0); }
static void wait(Lower *lw) { call(lw, "llvm.nvvm.barrier.cluster.wait", NULL, 0); }

void cg_nvptx_instruction(Lower *lw, Ins *i) {
  switch ((int)i->aux.intrinsic) {
  case INTR_ELECT_SYNC: elect(lw, i); return;
  case INTR_BARRIER_SYNC: named_barrier(lw, i, "llvm.nvvm.barrier.cta.sync.count"); return;
  case INTR_BARRIER_ARRIVE: named_barrier(lw, i, "llvm.nvvm.barrier.cta.arrive.count"); return;
  case INTR_FENCE_PROXY_ASYNC: effect(lw, "fence.proxy.async;"); return;
  case INTR_FENCE_PROXY_ASYNC_SHARED: effect(lw, "fence.proxy.async.shared::cta;"); return;
  case INTR_FENCE_PROXY_ASYNC_GLOBAL: effect(lw, "fence.proxy.async.global;"); return;
  case INTR_FENCE_PROXY_ALIAS: effect(lw, "fence.proxy.alias;"); return;
  case INTR_SETMAXREGISTER_INCREASE:
    registers(lw, i, "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32");
    return;
  case INTR_SETMAXREGISTER_DECREASE:
    registers(lw, i, "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32");
    return;
  case INTR_GRID_DEPENDENCY_WAIT: effect(lw, "griddepcontrol.wait;"); return;
  case INTR_GRID_DEPENDENCY_LAUNCH: effect(lw, "griddepcontrol.launch_dependents;"); return;
  case INTR_CLUSTER_RANK: lw_set(lw, i, number(lw, "ctarank")); return;
  case INTR_CLUSTER_BLOCKS: lw_set(lw, i, number(lw, "nctarank")); return;
  case INTR_CLUSTER_INDEX: place(lw, i, "ctaid"); return;
  case INTR_CLUSTER_DIM: place(lw, i, "nctaid"); return;
  case INTR_CLUSTER_SYNC: arrive(lw), wait(lw); return;
  case INTR_CLUSTER_ARRIVE: arrive(lw); return;
  case INTR_CLUSTER_WAIT: wait(lw); return;
  case INTR_CLUSTER_MAP: map_shared(lw, i); return;
  default: cx_bug(lw->cx, "%s has no instruction", ir_intrinsics[i->aux.intrinsic].path);
  }
}
