/* NVPTX unrolled loops: what is to become of loops of one block that LLVM, or we, have unrolled.
 * In: their marks. Out: marks by which LLVM unrolls them once more, or none, so that ptxas may. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/loops/strided_unroll.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum {
  MAX_LIGHT = 160, /* instructions of a loop that is unrolled once more */
  FACTOR = 4,      /* of loops that ptxas may unroll further */
};

unsigned cg_nvptx_words_of(const Cg *cg, LLVMValueRef load) {
  return (unsigned)(LLVMSizeOfTypeInBits(cg->layout, LLVMTypeOf(load)) + 31) / 32;
}

bool cg_nvptx_is_block_loop(LLVMBasicBlockRef b) {
  Fork fork;
  return graph_fork(LLVMGetBasicBlockTerminator(b), &fork) && (fork.yes == b) != (fork.no == b);
}

/* A minimum, maximum or magnitude. Fused products and sums are one instruction, too, but of those
 * ptxas needs no selections behind a branch (rank_k_update: 28 instructions a round, else 33). */
static bool is_one_instruction(LLVMValueRef call) {
  static const char *const names[] = {"llvm.smin.", "llvm.smax.", "llvm.umin.", "llvm.umax.",
                                      "llvm.abs."};
  LLVMTypeRef t = LLVMTypeOf(call);
  if (LLVMGetTypeKind(t) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(t) > 32)
    return false;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (cg_is_call_of_any(call, names[k]))
      return true;
  return false;
}

unsigned cg_nvptx_instructions_of(const Cg *cg, LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(cg_is_op(i, LLVMICmp) ? LLVMGetOperand(i, 0) : i);
  return type != cg->t.i64 ? 1 : cg_is_op(i, LLVMMul) ? 4 : 2;
}

bool cg_nvptx_is_expensive(LLVMValueRef i) {
  return cg_is_op(i, LLVMFDiv) || (cg_is_op(i, LLVMCall) && !is_one_instruction(i));
}

/* What an unrolled loop of a single block does. */
typedef struct Work {
  unsigned size, words, global; /* words: of loads; global: of such as are from global memory */
  bool other;                   /* more than loads and what may be speculated */
  bool slow;                    /* quotients or roots, over which ptxas moves no load */
} Work;

static Work work_of(const Cg *cg, LLVMBasicBlockRef b) {
  Work w = {0};
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != end; i = LLVMGetNextInstruction(i)) {
    bool load = cg_is_op(i, LLVMLoad) && cg_is_plain_access(i);
    bool global = load &&
                  LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == NVPTX_GLOBAL;
    w.size++;
    w.words += load ? cg_nvptx_words_of(cg, i) : 0;
    w.global += global ? cg_nvptx_words_of(cg, i) : 0;
    w.slow |= cg_is_slow(cg, i);
    w.other |= !LLVMIsAPHINode(i) && !load && !cg_is_speculatable(i);
  }
  return w;
}

/* A loop unrolled eight times that loads one or two words an iteration becomes one of sixteen:
 * where few warps run, its time is that of its rounds. One round of eight may be left. With
 * quotients in it, so many loads go in front of them as there were before (loads_first.c), so that
 * of two words an iteration the second half would wait one after the other. */
static bool is_light(const Work *w) {
  unsigned most = w->slow ? MASKED_COPIES : 2 * MASKED_COPIES;
  return !w->other && w->global && w->words <= most && w->size <= MAX_LIGHT;
}

/* The block from which control comes into the loop, and goes nowhere else: what holds in the loop
 * holds there. */
static LLVMBasicBlockRef way_into(Cg *cg, LLVMBasicBlockRef loop, LLVMBasicBlockRef from) {
  if (graph_next(from) == loop)
    return from;
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef way = LLVMInsertBasicBlockInContext(cg->context, loop, "");
  graph_redirect(LLVMGetBasicBlockTerminator(from), loop, way);
  l_at_end(b, way, NULL);
  l_br(b, loop);
  LLVMValueRef behind = graph_behind_phis(loop);
  for (LLVMValueRef phi = LLVMGetFirstInstruction(loop), next; phi != behind; phi = next) {
    next = LLVMGetNextInstruction(phi);
    LLVMPositionBuilderBefore(b, phi);
    LLVMValueRef v = l_phi(b, LLVMTypeOf(phi)),
                 of[] = {graph_incoming(phi, from), graph_incoming(phi, loop)};
    LLVMAddIncoming(v, of, (LLVMBasicBlockRef[]){way, loop}, 2);
    LLVMReplaceAllUsesWith(phi, v);
    LLVMInstructionEraseFromParent(phi);
  }
  return way;
}

/* Where the loop begins its counter is less than the end, since its second iteration, of eight that
 * are one, has been asked for, and than the next counter. Without that LLVM counts trips by the
 * larger of the end and the next counter. */
static void assume_first(Cg *cg, LLVMBasicBlockRef loop) {
  Stride s;
  if (cg_mark_of(cg, loop, MARK_CIRCLES) || !cg_read_stride(loop, &s) ||
      cg_nvptx_range(s.step).lo < 1)
    return;
  bool second = LLVMGetIncomingBlock(s.counter, 0) == loop;
  LLVMBasicBlockRef way = way_into(cg, loop, LLVMGetIncomingBlock(s.counter, second));
  if (!cg_read_stride(loop, &s))
    return;
  LLVMBuilderRef b = cg->builder;
  LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(way));
  LLVMValueRef first = graph_incoming(s.counter, way),
               of[] = {s.end, copy_ins(b, s.next, (LLVMValueRef[]){first, s.step})};
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef less = l_icmp(b, s.is_signed ? LLVMIntSLT : LLVMIntULT, first, of[k]);
    l_call(b, cg_intrinsic_fn(cg, "llvm.assume", NULL, 0), &less, 1);
  }
}

bool cg_nvptx_go_on_unrolling(Cg *cg, LLVMBasicBlockRef b) {
  unsigned count = cg_mark_of(cg, b, MARK_UNROLLED);
  if (!count || !cg_nvptx_is_block_loop(b))
    return false;
  Work w = work_of(cg, b);
  if (count != MASKED_COPIES || cg_mark_of(cg, b, MARK_SHORT) || !is_light(&w))
    return false;
  assume_first(cg, b);
  cg_mark_unrolled(cg->context, LLVMGetBasicBlockTerminator(b), 2);
  return true;
}

/* Is the loop left from its latch alone, which goes to its header or out? */
static bool is_left_from(const FnGraph *g, uint32_t loop, uint32_t latch) {
  const GraphLoop *l = &g->loops.data[loop];
  for (uint32_t k = 0; k < l->nnodes; k++) {
    const GraphNode *n = &g->nodes[l->nodes[k]];
    for (uint32_t s = 0; s < n->nsucc; s++)
      if (l->nodes[k] != latch && !graph_in_loop(g, loop, g->nodes[n->succ[s]].last))
        return false;
  }
  return l->nlatches == 1 && l->latches[0] == latch;
}

/* Of up to three iterations that are left over two are one round, behind which one may be left. A
 * round ends at the loop's latch, if that is its only exit, so that there is one and the loop never
 * goes back. Its counter is a constant then, and its code joins what is around it. LLVM does not
 * find that, since the trips are the low bits of what was left. */
bool cg_nvptx_runs_once(Cg *cg, LLVMValueRef f, LLVMBasicBlockRef latch) {
  Fork fork;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(latch);
  if (!cg_mark_of(cg, latch, MARK_ONCE))
    return false;
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  uint32_t at = graph_number(&g, latch), loop = at == GRAPH_NONE ? GRAPH_NONE : g.nodes[at].loop;
  bool once = loop != GRAPH_NONE && graph_fork(end, &fork) && is_left_from(&g, loop, at);
  if (once) {
    LLVMBasicBlockRef header = g.nodes[g.loops.data[loop].header].block;
    once = (fork.yes == header) != (fork.no == header);
    if (once)
      LLVMSetCondition(end, LLVMConstInt(cg->t.i1, fork.no == header, 0));
  }
  cg_unmark(cg, end);
  return once;
}

void cg_nvptx_leave_to_ptxas(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      if (cg_mark_of(cg, b, MARK_UNROLLED) != FACTOR || !cg_nvptx_is_block_loop(b))
        continue;
      Work w = work_of(cg, b);
      if (!w.other && !w.words)
        cg_unmark(cg, LLVMGetBasicBlockTerminator(b));
    }
}
