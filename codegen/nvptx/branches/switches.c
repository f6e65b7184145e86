/* NVPTX switches: choices by a number as comparisons.
 *
 *   if c == ord("(") or c == ord("["): v = 1       # LLVM makes a switch of c of all of it
 *   elif c == ord(")") or c == ord("]"): v = -1
 *   else: v = 0
 *
 * Of a switch with some cases the code generator makes a jump table: the threads of a warp go to
 * each of its places one after the other, and an indirect branch takes longer than all comparisons.
 * Here a switch that only chooses values becomes selections, and one with two ways a branch: by the
 * cases of each way, compared one by one, neighbours as one range, many near each other as bits of
 * a mask. A switch whose ways do something stays.
 *
 * In: functions after LLVM's passes. (Its simplifications behind other passes may make a switch of
 * a branch with two ways again; selections stay.) */
#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#include "codegen/llvm/emit.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_CASES = 32,
  MOST_WAYS = 4,
  MOST = 14,     /* comparisons and selections; a jump table takes about as long */
  MASK_RUNS = 5, /* so many comparisons cost more than a mask does */
  MASK_BITS = 32,
};

/* The cases that lead one way: to a block, or to the join behind an empty one of their own. */
typedef struct Way {
  LLVMBasicBlockRef to, side; /* side: the edge to the join comes from there */
  uint64_t cases[MOST_CASES];
  unsigned n;
} Way;

typedef struct Switch {
  LLVMValueRef end, on;
  LLVMBasicBlockRef from;
  Way ways[MOST_WAYS]; /* the first: of all other numbers */
  unsigned n;
} Switch;

/* --- reading --- */

static Way *way_to(Switch *s, LLVMBasicBlockRef to) {
  for (unsigned k = 0; k < s->n; k++)
    if (s->ways[k].to == to)
      return &s->ways[k];
  if (s->n == MOST_WAYS)
    return NULL;
  s->ways[s->n] = (Way){.to = to, .side = s->from};
  return &s->ways[s->n++];
}

static bool read_switch(const FnGraph *g, const GraphNode *node, Switch *s) {
  LLVMValueRef end = node->last;
  if (!LLVMIsASwitchInst(end) || cg_int_width(LLVMGetOperand(end, 0)) > 64)
    return false;
  *s = (Switch){.end = end, .on = LLVMGetOperand(end, 0), .from = node->block};
  way_to(s, LLVMGetSwitchDefaultDest(end));
  for (unsigned k = 1; k < node->nsucc; k++) {
    Way *w = way_to(s, g->nodes[node->succ[k]].block);
    if (!w || w->n == MOST_CASES)
      return false;
    w->cases[w->n++] = LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(end, k));
  }
  return s->n > 1;
}

/* Where a block leads that does nothing, and is reached from the switch alone; else NULL. */
static LLVMBasicBlockRef behind_side(const Cg *cg, const Switch *s, LLVMBasicBlockRef b) {
  LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
  for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(b)); u; u = LLVMGetNextUse(u))
    if (LLVMGetUser(u) != s->end)
      return NULL;
  if (LLVMGetFirstInstruction(b) != end ||
      LLVMGetMetadata(end, LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9)))
    return NULL;
  return graph_next(b);
}

/* All ways lead to one place, which is returned, and do nothing; else NULL. */
static LLVMBasicBlockRef find_join(const Cg *cg, Switch *s) {
  LLVMBasicBlockRef join = NULL;
  if (LLVMGetMetadata(s->end, LLVMGetMDKindIDInContext(cg->context, "llvm.loop", 9)))
    return NULL;
  for (unsigned k = 0; k < s->n && !join; k++)
    join = behind_side(cg, s, s->ways[k].to);
  for (unsigned k = 0; k < s->n; k++)
    if (s->ways[k].to != join && behind_side(cg, s, s->ways[k].to) != join)
      return NULL;
  if (!join || join == s->from)
    return NULL;
  for (unsigned k = 0; k < s->n; k++)
    if (s->ways[k].to != join)
      s->ways[k].side = s->ways[k].to;
  return join;
}

/* --- conditions --- */

static int compare_cases(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* The end of the run of neighbours that begins with case k. */
static unsigned end_of_run(const Way *w, unsigned k) {
  for (k++; k < w->n && w->cases[k] == w->cases[k - 1] + 1; k++)
    ;
  return k;
}

/* The end of the cases from k on that one mask holds; *runs: of so many runs. */
static unsigned end_of_mask(const Way *w, unsigned k, unsigned *runs) {
  unsigned end = k;
  for (*runs = 0; end < w->n; ++*runs) {
    unsigned next = end_of_run(w, end);
    if (w->cases[next - 1] - w->cases[k] >= MASK_BITS)
      break;
    end = next;
  }
  return end;
}

static unsigned cost_of(const Way *w) {
  unsigned cost = 0, runs;
  for (unsigned k = 0; k < w->n;) {
    unsigned end = end_of_mask(w, k, &runs);
    cost += runs >= MASK_RUNS ? MASK_RUNS : 1;
    k = runs >= MASK_RUNS ? end : end_of_run(w, k);
  }
  return cost;
}

static LLVMValueRef is_in_run(Cg *cg, LLVMValueRef x, const Way *w, unsigned from, unsigned end) {
  LLVMTypeRef t = LLVMTypeOf(x);
  LLVMValueRef first = l_int(t, w->cases[from]);
  if (end == from + 1)
    return l_icmp(cg->builder, LLVMIntEQ, x, first);
  return l_icmp(cg->builder, LLVMIntULT, l_sub(cg->builder, x, first), l_int(t, end - from));
}

/* The bit of a number that is further away is that of another: it is compared with the last. */
static LLVMValueRef is_in_mask(Cg *cg, LLVMValueRef x, const Way *w, unsigned from, unsigned end) {
  LLVMBuilderRef b = cg->builder;
  LLVMTypeRef t = LLVMTypeOf(x);
  uint64_t first = w->cases[from], mask = 0;
  for (unsigned k = from; k < end; k++)
    mask |= (uint64_t)1 << (w->cases[k] - first);
  LLVMValueRef distance = l_sub(b, x, l_int(t, first)),
               by = l_and(b, distance, l_int(t, MASK_BITS - 1)),
               bit = l_trunc(b, l_lshr(b, l_int(t, mask), by), cg->t.i1),
               near = l_icmp(b, LLVMIntULE, distance, l_int(t, w->cases[end - 1] - first));
  return l_and(b, near, bit);
}

static LLVMValueRef takes(Cg *cg, LLVMValueRef x, const Way *w) {
  LLVMValueRef any = NULL, v;
  unsigned runs, end;
  for (unsigned k = 0; k < w->n; k = end) {
    end = end_of_mask(w, k, &runs);
    if (runs < MASK_RUNS)
      end = end_of_run(w, k);
    v = runs < MASK_RUNS ? is_in_run(cg, x, w, k, end) : is_in_mask(cg, x, w, k, end);
    any = any ? l_or(cg->builder, any, v) : v;
  }
  return any;
}

/* --- rewriting --- */

/* The phi with one edge, of v, in place of those of the switch and of its ways. */
static void join_edges(Cg *cg, const Switch *s, LLVMValueRef phi, LLVMValueRef v) {
  LLVMBasicBlockRef edges[MOST_WAYS + 1] = {s->from};
  for (unsigned k = 0; k < s->n; k++)
    edges[k + 1] = s->ways[k].side;
  graph_join_edges(cg, phi, edges, s->n + 1, s->from, v);
}

/* Selections that would be made of the phis. */
static unsigned count_selections(const Switch *s, LLVMBasicBlockRef join) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(join); LLVMIsAPHINode(i);
       i = LLVMGetNextInstruction(i))
    for (unsigned k = 1; k < s->n; k++)
      n += graph_incoming(i, s->ways[k].side) != graph_incoming(i, s->ways[0].side);
  return n;
}

/* What the phi is if the way of each condition is taken where that holds. */
static LLVMValueRef select_value(Cg *cg, const Switch *s, LLVMValueRef *conditions,
                                 LLVMValueRef phi) {
  LLVMValueRef v = graph_incoming(phi, s->ways[0].side);
  for (unsigned k = 1; k < s->n; k++) {
    LLVMValueRef in = graph_incoming(phi, s->ways[k].side);
    if (in != v)
      v = l_select(cg->builder, conditions[k], in, v);
  }
  return v;
}

static void select_values(Cg *cg, const Switch *s, LLVMBasicBlockRef join,
                          LLVMValueRef *conditions) {
  LLVMValueRef next;
  for (LLVMValueRef i = LLVMGetFirstInstruction(join); LLVMIsAPHINode(i); i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(cg->builder, s->end);
    join_edges(cg, s, i, select_value(cg, s, conditions, i));
  }
  LLVMPositionBuilderBefore(cg->builder, s->end);
  LLVMBuildBr(cg->builder, join);
}

static void branch(Cg *cg, const Switch *s, LLVMValueRef condition) {
  LLVMValueRef next;
  for (unsigned k = 0; k < s->n; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(s->ways[k].to); LLVMIsAPHINode(i); i = next) {
      next = LLVMGetNextInstruction(i);
      join_edges(cg, s, i, graph_incoming(i, s->from));
    }
  LLVMPositionBuilderBefore(cg->builder, s->end);
  LLVMBuildCondBr(cg->builder, condition, s->ways[1].to, s->ways[0].to);
}

static void convert(Cg *cg, Switch *s) {
  LLVMBasicBlockRef join = find_join(cg, s);
  LLVMValueRef x = s->on, conditions[MOST_WAYS] = {NULL};
  unsigned cost = join ? count_selections(s, join) : 0;
  for (unsigned k = 1; k < s->n; k++) {
    qsort(s->ways[k].cases, s->ways[k].n, sizeof *s->ways[k].cases, compare_cases);
    cost += cost_of(&s->ways[k]);
  }
  if (cost > MOST || (!join && s->n != 2))
    return;
  LLVMPositionBuilderBefore(cg->builder, s->end);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(s->end));
  if (cg_int_width(x) < 32)
    x = l_zext(cg->builder, x, cg->t.i32);
  for (unsigned k = 1; k < s->n; k++)
    conditions[k] = takes(cg, x, &s->ways[k]);
  if (join)
    select_values(cg, s, join, conditions);
  else
    branch(cg, s, conditions[1]);
  LLVMInstructionEraseFromParent(s->end);
  for (unsigned k = 0; join && k < s->n; k++)
    if (s->ways[k].side != s->from)
      LLVMDeleteBasicBlock(s->ways[k].side);
}

static bool has_switches(LLVMValueRef f) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
    if (LLVMIsASwitchInst(LLVMGetBasicBlockTerminator(b)))
      return true;
  return false;
}

/* All are read before the first is converted, which deletes blocks. */
static void convert_in(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  VEC(Switch) found = {0};
  Switch s;
  for (uint32_t k = 0; k < g.len; k++)
    if (read_switch(&g, &g.nodes[k], &s))
      VEC_PUSH(g.arena, &found, s);
  for (uint32_t k = 0; k < found.len; k++)
    convert(cg, &found.data[k]);
}

void cg_nvptx_switches(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (has_switches(f))
      convert_in(cg, f);
}
