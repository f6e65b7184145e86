/* Optimize: which of LLVM's passes run over a module.
 *
 * A GPU kernel at opt=3 gets the passes of optimize.def, at opt=1 and 2 LLVM's own lists. A host
 * kernel gets LLVM's lists, whose vectorisers it needs, or those of optimize_long.def if it has a
 * long function. Several passes take time quadratic in some count of a function (exits of a
 * loop, loops, blocks with checks); a row names the condition under which it runs, and the
 * conditions compare such counts (code_size.h) with limits that no kernel written by hand reaches.
 * Each limit is stated with the measurement behind it. */
#include "codegen/llvm/optimize.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/code_size.h"
#include "codegen/llvm/emit.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"

typedef enum Where { MODULE, FUNCTION, LOOP, LOOP_MSSA } Where;
typedef enum When { ALWAYS, CALLS, FEW, MANY, TAME, HOISTS, FORWARDS, LOCALS, TURNS } When;

typedef struct Row {
  Where where;
  When when;
  const char *pass;
} Row;

#define P(where, when, pass, why) {where, when, pass},
#define NEXT_PART                 {MODULE, ALWAYS, NULL},
static const Row gpu[] = {
#include "codegen/llvm/optimize.def"
};
#undef NEXT_PART
static const Row long_host[] = {
#include "codegen/llvm/optimize_long.def"
};
#undef P
#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Flushing subnormals is an attribute of functions, and a call is inlined only if caller and callee
 * agree in it. */
static void flush_subnormals(Cg *cg) {
  if (!(cg->options.fastmath & CG_FAST_FTZ))
    return;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      cg_attribute_text(cg, f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

static bool has_calls(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (f != cg->kernel && !LLVMIsDeclaration(f))
      return true;
  return false;
}

/* instcombine sinks an instruction into the successor of its block if its result is only used
 * further on, and then sinks that instruction's operands: a chain of n operations with a check (a
 * branch) after each moves down block by block, in n * n steps. A function with 1,300 blocks and
 * 8,700 instructions takes 0.6 s, so above a limit instsimplify runs instead. Code without checks
 * has few such chains. */
static bool has_chains(const Cg *cg, const Length *l) {
  enum { BLOCKS_TIMES_INSTRUCTIONS = 1000000 };
  return cg->options.boundscheck &&
         (uint64_t)l->blocks * l->instructions > BLOCKS_TIMES_INSTRUCTIONS;
}

/* Before a loop pass LLVM adds, at each exit of a loop, a phi for each value that is used after the
 * loop (LCSSA), and removes most of them later. Rotating a loop changes the dominators of all code
 * after it and invalidates what is cached about its variables' users. So each loop can take time
 * linear in the function's length: 600 loops with two exits each took 1.4 s, 1,000 took 4.7 s; the
 * limit is 300 loops of 16 instructions each. */
static bool has_tame_loops(const Length *l) {
  enum { EXITS = 250, LOOPS_TIMES_INSTRUCTIONS = 1500000 };
  return l->exits <= EXITS && (uint64_t)l->loops * l->instructions <= LOOPS_TIMES_INSTRUCTIONS;
}

/* For each load that it hoists, licm updates memory SSA by a walk back to the entry: 250 loops with
 * one such load each take 0.6 s, 125 take 0.06 s. Where it is left to GVN, which comes later, 250
 * such loops have 2,451 loads in PTX; 125 with both passes have 1,201. */
static bool has_few_loads(const Length *l) {
  enum { LOADS_TIMES_BLOCKS = 150000 };
  return (uint64_t)l->loads * l->blocks <= LOADS_TIMES_BLOCKS;
}

#define CLEAN(simplify) "function(sroa,early-cse," simplify ",simplifycfg)"
const char *cg_cleaning(Cg *cg) {
  Length l = cg_length(cg);
  return has_chains(cg, &l) ? CLEAN("instsimplify") : CLEAN("instcombine<no-verify-fixpoint>");
}

static const char *const opens[] = {[MODULE] = "",
                                    [FUNCTION] = "function(",
                                    [LOOP] = "function(loop(",
                                    [LOOP_MSSA] = "function(loop-mssa("};
static const char *const closes[] = {
    [MODULE] = "", [FUNCTION] = ")", [LOOP] = "))", [LOOP_MSSA] = "))"};

/* Appends a row to the pipeline, whose last pass runs over `at`. */
static void put_pass(Buf *b, Where at, const Row *row) {
  if (at != row->where)
    buf_puts(b, closes[at]);
  if (b->len)
    buf_putc(b, ',');
  if (at != row->where)
    buf_puts(b, opens[row->where]);
  buf_puts(b, row->pass);
}

static const char *pipeline(Cg *cg, const Length *l, const Row *rows, size_t n) {
  bool many = has_chains(cg, l);
  cg->had_calls |= has_calls(cg); /* what is inlined by now is removed at the end all the same */
  const bool holds[] = {[ALWAYS] = true,
                        [CALLS] = cg->had_calls,
                        [MANY] = many,
                        [FEW] = !many,
                        [TAME] = has_tame_loops(l),
                        [HOISTS] = has_tame_loops(l) && has_few_loads(l),
                        [FORWARDS] = has_tame_loops(l) && l->forwards,
                        [LOCALS] = has_tame_loops(l) && cg_has_allocas(cg),
                        [TURNS] = cg->alternates};
  Where at = MODULE;
  Buf b;
  buf_init(&b, &cg->cx->arena);
  for (size_t k = 0; k < n; k++) {
    assert(rows[k].when < COUNT(holds) && rows[k].where < COUNT(opens));
    if (!rows[k].pass || !holds[rows[k].when])
      continue;
    put_pass(&b, at, &rows[k]);
    at = rows[k].where;
  }
  buf_puts(&b, closes[at]);
  return b.text;
}

/* The number of the row in front of which a part begins. */
static size_t begin_of(unsigned part) {
  size_t n = 0;
  while (part && n < COUNT(gpu))
    part -= !gpu[n++].pass;
  return n;
}

/* What is left of the parts in front of this one. */
static void run_parts_before(Cg *cg, LlvmPart part) {
  size_t from = begin_of(cg->llvm_parts), to = begin_of(part);
  Length l = cg_length(cg);
  cg_run_passes(cg, pipeline(cg, &l, gpu + from, to - from));
  cg->llvm_parts = part;
}

void cg_optimize_gpu(Cg *cg) {
  static const char *const of_llvm[] = {
      "default<O0>", "default<O1>", "function(simplifycfg<bonus-inst-threshold=8>),default<O2>"};
  assert(cg->options.opt >= 0 && cg->options.opt <= 3); /* compile.c clamps it */
  flush_subnormals(cg);
  if (cg->options.opt < 3) {
    cg_run_passes(cg, of_llvm[cg->options.opt]);
    return;
  }
  run_parts_before(cg, LLVM_PARTS);
}

bool cg_has_allocas(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    LLVMBasicBlockRef entry = LLVMIsDeclaration(f) ? NULL : LLVMGetEntryBasicBlock(f);
    for (LLVMValueRef i = entry ? LLVMGetFirstInstruction(entry) : NULL; i;
         i = LLVMGetNextInstruction(i))
      if (LLVMIsAAllocaInst(i))
        return true;
  }
  return false;
}

void cg_optimize_to_rotate(Cg *cg) {
  flush_subnormals(cg);
  run_parts_before(cg, LLVM_ROTATE);
}

void cg_optimize_loops(Cg *cg) {
  flush_subnormals(cg);
  run_parts_before(cg, LLVM_UNROLL_FULL);
}

void cg_optimize_to_unroll(Cg *cg) {
  flush_subnormals(cg);
  run_parts_before(cg, LLVM_UNROLL);
}

/* Above these limits compile time counts more than the last per cent of speed. The largest kernels
 * of bench/kernels and the examples have 1,187 instructions, 132 blocks and loops with 14 exits.
 * default<O3> takes 0.1 s for a loop with 125 exits, 1.6 s for one with 500. */
static bool is_long(const Length *l) {
  enum { INSTRUCTIONS = 4000, BLOCKS = 500, EXITS = 64 };
  return l->instructions > INSTRUCTIONS || l->blocks > BLOCKS || l->exits > EXITS;
}

static bool has_gathers(const Cg *cg) {
  static const char name[] = "llvm.masked.";
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    size_t n;
    const char *own = LLVMGetValueName2(f, &n);
    if (n >= strlen(name) && memcmp(own, name, strlen(name)) == 0 && strstr(own, "gather") &&
        LLVMGetFirstUse(f))
      return true;
  }
  return false;
}

/* What LLVM's own vectorisers should know of the CPU, and its code generator should not: that
 * gathers do not pay. LLVM's costs let four loads of a table become one gather; AES, whose rounds
 * are such loads, took 2.3 times as long by it. Where lanes gather themselves nothing is said: it
 * would make these gathers look long too, and loops around them would not be unrolled. */
static void tell_of_gathers(Cg *cg, bool slow) {
  static const char key[] = "target-features";
  char *features = LLVMGetTargetMachineFeatureString(cg->machine);
  const char *text = arena_printf(&cg->cx->arena, "%s,+prefer-no-gather", features);
  bool has = strstr(features, "+avx2") != NULL && !(slow && has_gathers(cg));
  LLVMDisposeMessage(features);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); has && f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    if (slow)
      cg_attribute_text(cg, f, key, text);
    else
      LLVMRemoveStringAttributeAtIndex(f, L_FUNCTION, key, (unsigned)strlen(key));
  }
}

/* --- loads that LLVM's vectoriser masks --- */

static bool loop_writes(const FnGraph *g, const GraphLoop *loop) {
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = g->nodes[loop->nodes[k]].first; i; i = LLVMGetNextInstruction(i))
      if (cg_is_op(i, LLVMStore) || (cg_is_op(i, LLVMCall) && !cg_is_speculatable(i)))
        return true;
  return false;
}

/* Does it end by a comparison with a constant? It may be unrolled fully. */
static bool may_go(const FnGraph *g, const GraphLoop *loop) {
  for (uint32_t k = 0; k <= loop->nlatches; k++) {
    Fork fork;
    uint32_t at = k < loop->nlatches ? loop->latches[k] : loop->header;
    if (graph_fork(LLVMGetBasicBlockTerminator(g->nodes[at].block), &fork) &&
        LLVMIsAICmpInst(fork.condition) && LLVMIsAConstantInt(LLVMGetOperand(fork.condition, 1)))
      return true;
  }
  return false;
}

/* Is the node behind a condition in a loop that writes, and that is its innermost one, or may be
 * when others have gone? */
static bool may_be_masked(const FnGraph *g, const bool *writes, uint32_t node) {
  for (uint32_t at = g->nodes[node].loop; at != GRAPH_NONE; at = g->loops.data[at].parent) {
    const GraphLoop *loop = &g->loops.data[at];
    for (uint32_t k = 0; k < loop->nlatches && writes[at]; k++)
      if (!graph_dominates(g, node, loop->latches[k]))
        return true;
    if (!may_go(g, loop))
      return false;
  }
  return false;
}

static void freeze_loads_of(Cg *cg, LLVMBasicBlockRef block) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, "invariant.load", 14);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(i));
    if (!cg_is_op(i, LLVMLoad) || !cg_is_plain_access(i) || LLVMGetMetadata(i, kind) ||
        type == LLVMPointerTypeKind || type == LLVMVectorTypeKind)
      continue;
    LLVMPositionBuilderBefore(cg->builder, next);
    LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(i));
    LLVMValueRef frozen = l_freeze(cg->builder, i);
    LLVMReplaceAllUsesWith(i, frozen);
    LLVMSetOperand(frozen, 0, i);
  }
}

/* Of a masked load and a selection by its mask, which LLVM's vectoriser makes of a load behind a
 * condition, its instcombine makes one load where the selection is, behind a store that may have
 * overwritten it (LLVM 22; llvm-project, issue 215453). It does not look through a freeze. */
static void freeze_loads(Cg *cg) {
  FnGraph g;
  for (LLVMValueRef f = NULL; graph_next_function(cg, &f, &g);) {
    bool *writes = CX_ARRAY(cg->cx, bool, g.loops.len + 1);
    for (uint32_t k = 0; k < g.loops.len; k++)
      writes[k] = loop_writes(&g, &g.loops.data[k]);
    for (uint32_t k = 0; k < g.len; k++)
      if (may_be_masked(&g, writes, k))
        freeze_loads_of(cg, g.nodes[k].block);
  }
}

void cg_optimize_host(Cg *cg) {
  static const char *const of_llvm[] = {
      "default<O0>", "always-inline,default<O1>,function(loop(loop-reduce))",
      "default<O2>,function(loop(loop-reduce))", "default<O3>,function(loop(loop-reduce))"};
  int opt = cg->options.opt;
  assert(opt >= 0 && (size_t)opt < COUNT(of_llvm));
  Length l = cg_length(cg);
  bool by_rows = opt > 0 && is_long(&l);
  tell_of_gathers(cg, true);
  if (opt >= 2 && !by_rows) {
    cg_run_passes(cg, "function(sroa),always-inline");
    freeze_loads(cg);
  }
  cg_run_passes(cg, by_rows ? pipeline(cg, &l, long_host, COUNT(long_host)) : of_llvm[opt]);
  tell_of_gathers(cg, false);
}
