/* NVPTX walk versions: loops that walk forwards from a position that was read, written twice.
 *
 *   i, end = starts[row], starts[row + 1]
 *   while i < end:
 *     c = text[i]
 *     if c >= 0x80: d = text[i + 1]; i += 2
 *     else: i += 1
 *
 * The position may be negative, so each index is wrapped, by a minimum with its sum with the extent
 * (short_indices.c), and neighbouring elements have an address each. But a walk that begins at 0 or
 * more, and only moves forwards, stays there:
 *
 *   if i >= 0:
 *     while i < end: …      # no index is wrapped
 *   else:
 *     while i < end: …
 *
 * In: functions in which short_indices.c has narrowed positions. Out: the same; loops that have
 * been written twice have a block in front that chooses. Of a variable of 32 bits whose steps are
 * positive constants and do not wrap around, the first version knows that it is not negative, and
 * an extent is not either, so that the minimum is the variable. A loop with another loop in it, or
 * with calls other than of functions that only compute, stays as it is. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_CODE = 160, /* instructions of a loop that is written twice */
  MOST_MADE = 32,  /* values made of a variable */
  LEAST_WRAPS = 3  /* fewer gain less than what the lanes of a warp wait for one another costs */
};

typedef struct Walk {
  Cg *cg;
  const FnGraph *g;
  const GraphLoop *loop;
  LLVMBasicBlockRef front; /* goes to the header only */
  LLVMValueRef phi, start;
  LLVMValueRef made[MOST_MADE]; /* what is not negative: the phi, sums, phis of these */
  unsigned n;
} Walk;

static bool is_made(const Walk *w, LLVMValueRef v) {
  for (unsigned k = 0; k < w->n; k++)
    if (w->made[k] == v)
      return true;
  return false;
}

static bool is_in(const Walk *w, LLVMValueRef v) {
  return LLVMIsAInstruction(v) && graph_in_loop(w->g, (uint32_t)(w->loop - w->g->loops.data), v);
}

/* A step forwards that does not wrap around. */
static bool is_step(LLVMValueRef v) {
  LLVMValueRef by = cg_is_op(v, LLVMAdd) && LLVMGetNSW(v) ? LLVMGetOperand(v, 1) : NULL;
  return by && LLVMIsAConstantInt(by) && LLVMConstIntGetSExtValue(by) > 0;
}

/* Is it made of what is not negative, if all others are? */
static bool is_made_of_made(const Walk *w, LLVMValueRef v) {
  if (is_step(v))
    return is_made(w, LLVMGetOperand(v, 0));
  for (unsigned e = 0; e < LLVMCountIncoming(v); e++)
    if (!is_made(w, LLVMGetIncomingValue(v, e)) &&
        !(v == w->phi && LLVMGetIncomingBlock(v, e) == w->front))
      return false;
  return true;
}

/* False: the variable may be moved otherwise. */
static bool find_made(Walk *w) {
  w->made[0] = w->phi;
  w->n = 1;
  for (unsigned k = 0; k < w->n; k++)
    for (LLVMUseRef u = LLVMGetFirstUse(w->made[k]); u; u = LLVMGetNextUse(u)) {
      LLVMValueRef i = LLVMGetUser(u);
      if (w->n < MOST_MADE && is_in(w, i) && (is_step(i) || LLVMIsAPHINode(i)) && !is_made(w, i))
        w->made[w->n++] = i;
    }
  for (unsigned k = 0; k < w->n;) {
    if (is_made_of_made(w, w->made[k])) {
      k++;
      continue;
    }
    if (w->made[k] == w->phi)
      return false;
    w->made[k] = w->made[--w->n];
    k = 0; /* others may have been made of it */
  }
  return true;
}

/* What a minimum is of which one side is the other and an extent: that other, which is made of the
 * variable; else NULL. */
static LLVMValueRef wrapped(const Walk *w, LLVMValueRef i) {
  if (!cg_is_call_of(i, "llvm.umin.i32"))
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef v = LLVMGetOperand(i, k), sum = LLVMGetOperand(i, !k);
    for (unsigned o = 0; o < 2 && cg_is_op(sum, LLVMAdd); o++)
      if (LLVMGetOperand(sum, o) == v && cg_nvptx_is_extent(LLVMGetOperand(sum, !o)) &&
          is_made(w, v))
        return v;
  }
  return NULL;
}

bool cg_nvptx_may_be_twice(const Cg *cg, LLVMValueRef i) {
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
    return cg_is_plain_access(i);
  return LLVMIsAPHINode(i) || LLVMIsATerminatorInst(i) || cg_is_speculatable(i) ||
         cg_only_computes(i) || cg_is_division(i) || cg_is_slow(cg, i);
}

/* Has it few instructions, all of which may be written twice, and something to gain? */
static bool pays(const Walk *w) {
  unsigned code = 0, wraps = 0;
  for (uint32_t k = 0; k < w->loop->nnodes; k++) {
    LLVMBasicBlockRef block = w->g->nodes[w->loop->nodes[k]].block;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
      if (++code > MOST_CODE || !cg_nvptx_may_be_twice(w->cg, i))
        return false;
      wraps += wrapped(w, i) != NULL;
    }
  }
  return wraps >= LEAST_WRAPS;
}

static void drop_wraps(const Walk *w) {
  for (uint32_t k = 0; k < w->loop->nnodes; k++) {
    LLVMBasicBlockRef block = w->g->nodes[w->loop->nodes[k]].block;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
      LLVMValueRef v = wrapped(w, i);
      next = LLVMGetNextInstruction(i);
      if (!v)
        continue;
      LLVMReplaceAllUsesWith(i, v);
      LLVMInstructionEraseFromParent(i);
    }
  }
}

static void write_versions(const Walk *w) {
  Cg *cg = w->cg;
  uint32_t n = w->loop->nnodes;
  LLVMBasicBlockRef *blocks = CX_ARRAY(cg->cx, LLVMBasicBlockRef, n),
                    header = w->g->nodes[w->loop->header].block;
  for (uint32_t k = 0; k < n; k++)
    blocks[k] = w->g->nodes[w->loop->nodes[k]].block;
  RegionCopy copies = copy_region(cg, blocks, n, header, "");
  copy_join_exits(&copies, blocks, n); /* all that is used there are phis */
  LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(w->front));
  l_at_end(cg->builder, w->front, NULL);
  l_condbr(cg->builder, l_icmp(cg->builder, LLVMIntSGE, w->start, l_int(cg->t.i32, 0)), header,
           copy_of_block(&copies, header));
  drop_wraps(w);
}

/* Has it marks, as ranges have? Those are in two versions already (ssa/range_versions.c). */
static bool is_marked(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9);
  for (uint32_t k = 0; k < loop->nlatches; k++)
    if (LLVMGetMetadata(g->nodes[loop->latches[k]].last, kind))
      return true;
  return false;
}

/* The variable of the loop for whose sake it is written twice; false: there is none. The block in
 * front may still go elsewhere, too. */
static bool read_loop(Cg *cg, const FnGraph *g, const GraphLoop *loop, Walk *w) {
  LLVMValueRef front = graph_front(g, (uint32_t)(loop - g->loops.data));
  if (!loop->innermost || !front || is_marked(cg, g, loop))
    return false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[loop->header].block); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i)) {
    *w = (Walk){.cg = cg, .g = g, .loop = loop, .phi = i};
    w->front = LLVMGetInstructionParent(front);
    w->start = graph_incoming(i, w->front);
    if (LLVMTypeOf(i) == cg->t.i32 && !LLVMIsAConstant(w->start) && find_made(w) && pays(w))
      return true;
  }
  return false;
}

/* Is there such a loop? Writes all of them, if so told. */
static bool read_loops(Cg *cg, LLVMValueRef f, bool write) {
  Walk *w = CX_NEW(cg->cx, Walk);
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  bool any = false;
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len && !g.irreducible; k++) {
    bool is = read_loop(cg, &g, &g.loops.data[k], w);
    any |= is;
    if (is && write && graph_next(w->front))
      write_versions(w);
  }
  return any;
}

static bool has_wraps(LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
      if (cg_is_call_of(i, "llvm.umin.i32"))
        return true;
  return false;
}

void cg_nvptx_walk_versions(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || !has_wraps(f) || !read_loops(cg, f, false))
      continue;
    cg_run_function_passes(cg, f, "loop-simplify,lcssa");
    read_loops(cg, f, true);
    cg_run_function_passes(cg, f, "early-cse,dce");
  }
}
