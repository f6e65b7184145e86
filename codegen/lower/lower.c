/* Lower: typed SSA to an LLVM module.
 *
 * In: a strict Program after the passes of ssa/passes.def: no dead code, blocks in reverse
 * post-order, one back edge a loop, dominators, the flags of the analyses. Out: an LLVM module with
 * its functions, the layout of the parameter block, and what a launch must know of the kernel
 * (traps, barriers, prints, sites).
 *
 * A function is translated in one sweep. Blocks come in reverse post-order, so a value's definition
 * is lowered before its uses, except for the operands of phis. Each operation is lowered by itself,
 * by the function that its row of ir/ops.def names; what needs all blocks comes last: the operands
 * of phis, unroll hints on back edges, the branch out of the entry block, to which allocas and
 * parameters were added meanwhile. No operation's lowering looks at the device or decides about
 * meaning: casts, index wrap-around and checks are operations of their own. See lower.h for how a
 * value is represented. */
#include "codegen/lower/lower.h"

#include <assert.h>
#include <string.h>

#include "codegen/llvm/debuginfo.h"
#include "codegen/lower/private.h"
#include "codegen/lower/unroll_hints.h"
#include "codegen/passes.h"
#include "codegen/ssa/guards.h"
#include "codegen/ssa/params.h"

static void lw_use_param(Lower *lw, Ins *i) { CX_ASSERT(lw->cx, i->note); }

static void lw_unreachable(Lower *lw, Ins *i) {
  (void)i;
  l_unreachable(lw->b);
}

static void lw_none(Lower *lw, Ins *i) {
  cx_bug(lw->cx, "%s has no lowering", ir_op_info[i->op].text);
}

/* --- dispatch --- */

typedef void (*LowerOp)(Lower *lw, Ins *i);

static const LowerOp lowerers[OP_COUNT] = {
#define OP(ID, text, stage, lo, hi, effect, rule, lower, doc) [OP_##ID] = lw_##lower,
#include "ir/ops.def"
#undef OP
};

static void lower_block(Lower *lw, Block *b) {
  BlockNote *n = b->note;
  bool checks = (lw->cg->options.check || lw->cg->meets_apart) && lw->target->check_before;
  bool begins = true;
  lw_at(lw, n->begin);
  FOR_INS (b, i) {
    CX_ASSERT(lw->cx, i->type);
    lw->ins = i;
    cg_debug_at(lw->cg, lw->b, i->loc);
    if (begins && i->op != OP_PHI) {
      begins = false;
      lw_place_at(lw, b);
    }
    if (i == b->last)
      lw_place_behind(lw, b);
    if (checks)
      lw->target->check_before(lw, i);
    lowerers[i->op](lw, i);
    if (checks)
      lw->target->check_after(lw, i);
  }
  if (!n->end)
    n->end = LLVMGetInsertBlock(lw->b);
}

/* --- functions --- */

static void clear_notes(Fn *fn) {
  FOR_BLOCKS (fn, b) {
    b->note = NULL;
    FOR_INS (b, i)
      i->note = NULL;
  }
}

static void check_stack(Lower *lw) {
  if (!lw->cg->too_deep || !lw->fn->recursive || !lw->target->stack_suffices)
    return;
  cg_debug_at(lw->cg, lw->b, lw->fn->entry->first->loc);
  lw_stop_unless(lw, lw->target->stack_suffices(lw), lw->cg->too_deep, NULL, 0);
  if (lw->target->enter_recursion)
    lw->target->enter_recursion(lw);
}

static void lower_fn(Cg *cg, uint32_t number, bool is_kernel) {
  Fn *fn = cg->program->fns.data[number];
  assert(fn->typed && fn->entry->rpo == 0 && !fn->entry->idom);
  Lower lw = {.cg = cg,
              .cx = cg->cx,
              .target = cg->target,
              .t = &cg->t,
              .b = cg->builder,
              .fn = fn,
              .number = number};
  clear_notes(fn);
  if (is_kernel) {
    cg_debug_function(cg, NULL, fn); /* no location while the entry block is built */
    cg->target->kernel_begin(&lw);
    cg_debug_function(cg, lw.function, fn);
    cg_debug_at(cg, lw.b, fn->entry->first->loc);
    lw_kernel_parameters(&lw);
    if (cg->options.check && cg->target->check_begin)
      cg->target->check_begin(&lw);
  } else {
    lw.function = cg->functions[number];
    lw.entry = LLVMAppendBasicBlockInContext(cg->context, lw.function, "entry");
    lw_at(&lw, lw.entry);
    cg_debug_function(cg, lw.function, fn);
    lw_device_parameters(&lw);
    check_stack(&lw);
  }
  FOR_BLOCKS (fn, b) {
    BlockNote *n = CX_NEW(cg->cx, BlockNote);
    n->begin = lw_block(&lw, arena_printf(&cg->cx->arena, "b%u", b->id));
    b->note = n;
  }
  LLVMBasicBlockRef before = LLVMGetInsertBlock(lw.b);
  FOR_BLOCKS (fn, b)
    lower_block(&lw, b);
  lw_finish_phis(&lw);
  lw_mark_loops(&lw);
  /* closed last, since allocas and parameters are added to it until here */
  lw_at(&lw, before);
  cg_debug_at(cg, lw.b, fn->entry->first->loc);
  l_br(lw.b, ((BlockNote *)fn->entry->note)->begin);
}

static char *copied(Cg *cg, const char *text) { return cg_strndup(cg, text, strlen(text)); }

void lw_copy_place(Cg *cg, DiagPlace *to, DiagPlace at) {
  const char *file = at.file, *function = at.function;
  at.file = at.function = NULL;
  *to = at;
  to->file = file ? copied(cg, file) : NULL;
  to->function = function ? copied(cg, function) : NULL;
}

static void copy_sites(Cg *cg) {
  CgKernel *out = cg->out;
  uint32_t n = cg->program->sites.len;
  out->sites = cg_calloc(cg, n, sizeof *out->sites);
  out->nsites = n;
  for (uint32_t k = 0; k < n; k++) {
    const IrSite *s = cg->program->sites.data[k];
    CgSite *to = &out->sites[k];
    to->exception = copied(cg, s->exception);
    to->message = copied(cg, s->message ? s->message : "");
    lw_copy_place(cg, &to->at, cx_place(s->loc));
  }
}

static void publish_guards(Cg *cg) {
  CgKernel *out = cg->out;
  Guards found = cg_find_guards(cg->cx, cg->program, cg->params);
  out->guards = cg_calloc(cg, found.len, sizeof *out->guards);
  for (uint32_t k = 0; k < found.len; k++) {
    const CgGuard *g = &found.data[k];
    CgGuard *to = &out->guards[out->nguards++];
    *to = (CgGuard){.axis = g->axis, .extent = g->extent, .field = g->field};
    to->name = copied(cg, g->name);
    lw_copy_place(cg, &to->at, g->at);
  }
}

/* A function whose frames may exceed the stack; NULL if there is none. */
static const Fn *recursive_function(const Cg *cg) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    if (cg->program->fns.data[k]->recursive)
      return cg->program->fns.data[k];
  return NULL;
}

static void note_depth(Cg *cg) {
  const Fn *fn = recursive_function(cg);
  if (fn && lw_traps_on_raise(cg))
    cg->too_deep = ir_site(cg->cx, cg->program, "RecursionError", cg->target->too_deep,
                           fn->entry->first->loc);
}

static bool traps(const Cg *cg, const Ins *i) {
  return i->op == OP_CHECK_INDEX ||
         ((i->op == OP_CHECK || i->op == OP_RAISE) && lw_traps_on_raise(cg));
}

static bool meets_grid(const Cg *cg, const Ins *i) {
  (void)cg;
  return i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_CG_GRID_SYNC;
}

/* A function of another compiler may print, too. */
static bool may_print(const Cg *cg, const Ins *i) {
  (void)cg;
  return i->op == OP_PRINT || i->op == OP_CALL_C;
}

/* May a function of another compiler, or a text, reach arrays that it is not given? A text that
 * accesses memory says where: an array, a number, or a place in shared memory. */
static bool has_numbers(const Cg *cg, const Ins *i) {
  (void)cg;
  const char *text = i->op == OP_CALL_C ? i->aux.frozen->text : NULL;
  if (!text || i->aux.frozen->kind != FZ_STR)
    return text;
  if (!strchr(text, '['))
    return false;
  bool arrays = false;
  for (uint32_t k = 0; k < i->nargs; k++)
    if (i->args[k]->type->id == TY_ARRAY)
      arrays = true;
    else if (ty_bits(i->args[k]->type) == 64 && ty_kind(i->args[k]->type) != KIND_FLOAT)
      return true;
  return !arrays && !strstr(text, ".shared");
}

/* An asynchronous operation that reads shared memory. */
static bool reads_shared(const Cg *cg, const Ins *i) {
  (void)cg;
  return i->op == OP_INTRINSIC &&
         (i->aux.intrinsic == INTR_CP_ASYNC_BULK_STORE ||
          i->aux.intrinsic == INTR_CP_ASYNC_TENSOR_STORE || i->aux.intrinsic == INTR_WGMMA_MMA);
}

/* What plain barriers do not order alone. */
static bool meets_apart(const Cg *cg, const Ins *i) {
  if (reads_shared(cg, i))
    return true;
  switch (i->op == OP_INTRINSIC ? (int)i->aux.intrinsic : (int)INTR_COUNT) {
  case INTR_MBARRIER_INIT:
  case INTR_CP_ASYNC:
  case INTR_CP_ASYNC_BULK:
  case INTR_CP_ASYNC_TENSOR:
  case INTR_BARRIER_SYNC:
  case INTR_BARRIER_ARRIVE:
  case INTR_CLUSTER_SYNC:
  case INTR_CLUSTER_ARRIVE:
  case INTR_CLUSTER_MAP: return true;
  default: return false;
  }
}

static bool program_has(const Cg *cg, bool (*does)(const Cg *, const Ins *)) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    FOR_BLOCKS (cg->program->fns.data[k], b)
      FOR_INS (b, i)
        if (does(cg, i))
          return true;
  return false;
}

void cg_pass_lower(Cg *cg) {
  Program *p = cg->program;
  Fn *kernel = p->fns.data[0];
  cg->has_barrier = kernel->has_barrier;
  note_depth(cg);
  bool checks = cg->options.check && cg->target->check_before;
  bool places = cg->options.timed && cg->target->place;
  cg->has_trap = checks || places || cg->too_deep || program_has(cg, traps);
  lw_count_paths(cg);
  cg->may_print = program_has(cg, may_print);
  cg->meets_grid = program_has(cg, meets_grid);
  cg->has_numbers = program_has(cg, has_numbers);
  cg->shows_stores = program_has(cg, reads_shared);
  cg->meets_apart = program_has(cg, meets_apart);
  bool fields = cg->target->runtime_fields;
  uint32_t begin = cg->target->params_begin ? cg->target->params_begin(cg) : 0;
  cg->params = cg_lay_out_params(cg->cx, p,
                                 (ParamsWant){.trap = fields && cg->has_trap,
                                              .grid = fields && cg->meets_grid,
                                              .begin = begin,
                                              .stable = cg->options.abi,
                                              .maps = fields,
                                              .extents = checks,
                                              .sums = cg->target->own_sum && !checks});
  lw_publish_params(cg);
  cg_open(cg);
  cg->builder = LLVMCreateBuilderInContext(cg->context);
  cg_debug_open(cg);
  cg->functions = CX_ARRAY(cg->cx, LLVMValueRef, p->fns.len);
  bool alone = cg->options.device_function;
  if (!alone)
    publish_guards(cg);
  for (uint32_t k = alone ? 0 : 1; k < p->fns.len; k++)
    lw_declare(cg, p->fns.data[k]);
  for (uint32_t k = 0; k < p->fns.len; k++)
    lower_fn(cg, k, k == 0 && !alone);
  cg->target->finish(cg);
  cg_debug_close(cg);
  copy_sites(cg);
  lw_publish_paths(cg);
}
