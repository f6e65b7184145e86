/* Coarsening: the pass. Beside the kernel, which stays as it is, the module gets a second entry in
 * which a block runs several blocks of the launch; the launch takes it where that pays.
 * docs/COARSENING.md.
 *
 * Either both entries are written into one module. Or (CgRequest.apart) only the kernel is, and the
 * module as it is here is kept as bitcode, from which the second entry is compiled when a launch
 * first wants it (CgRequest.coarse_of). */
#include "codegen/coarsen/coarsen.h"

#include <assert.h>
#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/debuginfo.h"
#include "codegen/passes.h"
#include "codegen/ssa/params.h"

/* The last field of the parameter block, which only the second entry has. */
static void add_field(CgKernel *k, Cg *cg) {
  RtParams *p = &k->params;
  RtField *fields = cg_calloc(cg, p->nfields + 1, sizeof *fields);
  if (p->nfields)
    memcpy(fields, p->fields, p->nfields * sizeof *fields);
  p->coarse.plain_bytes = p->bytes;
  fields[p->nfields++] = cg_next_field(RT_FIELD_BLOCKS, 4, 0, k->nargs, 0, &p->bytes);
  free(p->fields);
  p->fields = fields;
}

static const char *summary(Cg *cg, const CoPlan *p) {
  if (p->factor == 1)
    return arena_printf(&cg->cx->arena, "not coarsened: %s", p->reason);
  return arena_printf(&cg->cx->arena, "%u %s along %c", p->factor,
                      p->threads ? "neighbouring threads" : "neighbouring blocks", "xyz"[p->axis]);
}

static const char *switched_off(const Cg *cg) {
  if (cg->options.coarsen == 0 || cg->options.coarsen == 1)
    return "switched off";
  return cg->options.opt ? NULL : "switched off by opt=0";
}

/* --- the second entry, compiled later --- */

#define SCOPE "pyptx.coarse" /* metadata of the module: the debug scope of the second entry */

/* Keeps the module from which a later compilation makes the second entry. */
static void keep_rest(Cg *cg) {
  cg_debug_close(cg);
  if (cg->coarse_scope)
    LLVMAddNamedMetadataOperand(cg->module, SCOPE,
                                LLVMMetadataAsValue(cg->context, cg->coarse_scope));
  LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(cg->module);
  cg->out->rest_len = LLVMGetBufferSize(bitcode);
  cg->out->rest = cg_strndup(cg, LLVMGetBufferStart(bitcode), cg->out->rest_len);
  LLVMDisposeMemoryBuffer(bitcode);
}

void cg_open_rest(Cg *cg) {
  const CgKernel *k = cg->request->coarse_of;
  LLVMValueRef scope;
  CX_ASSERT(cg->cx, k->rest);
  cg_open_bitcode(cg, k->rest, k->rest_len);
  cg->kernel = LLVMGetNamedFunction(cg->module, cg->symbol);
  CX_ASSERT(cg->cx, cg->kernel);
  if (LLVMGetNamedMetadataNumOperands(cg->module, SCOPE) == 1) {
    LLVMGetNamedMetadataOperands(cg->module, SCOPE, &scope);
    cg->coarse_scope = LLVMValueAsMetadata(scope);
  }
}

/* --- the pass --- */

/* The shape of a kernel that has a plan: contraction has changed nothing but the number of
 * instructions. */
static CoShape *shape_to_write(Cg *cg) { return co_shape(cg, UINT32_MAX); }

static void write_entry(Cg *cg, CoShape *shape, const CoPlan *plan) {
  const char *reason = shape->reason ? shape->reason : co_common_path(shape, plan);
  if (reason)
    cx_bug(cg->cx, "the plan does not hold any more: %s", reason);
  const char *symbol = arena_printf(&cg->cx->arena, "%s" RT_COARSE_SUFFIX, cg->symbol);
  co_write(shape, plan, symbol);
  cg->keeps_guards = true;
  cg_run_function_passes(cg, LLVMGetNamedFunction(cg->module, symbol), "early-cse,simplifycfg");
}

static void write_alone(Cg *cg) {
  const RtCoarse *c = &cg->request->coarse_of->params.coarse;
  CoShape *shape = shape_to_write(cg);
  assert(c->factor > 1 && c->factor <= CO_MAX_FACTOR && c->axis < 3);
  CoPlan plan = co_plan_again(shape, c->axis, c->factor);
  write_entry(cg, shape, &plan);
  LLVMDeleteFunction(cg->kernel);
  for (uint32_t k = 0; k < shape->shared.len; k++) /* the kernel's own */
    if (!LLVMGetFirstUse(shape->shared.data[k].old))
      LLVMDeleteGlobal(shape->shared.data[k].old);
  cg->symbol = arena_printf(&cg->cx->arena, "%s" RT_COARSE_SUFFIX, cg->symbol);
  cg->kernel = LLVMGetNamedFunction(cg->module, cg->symbol);
}

static void note_plan(Cg *cg, const CoPlan *plan) {
  CgKernel *k = cg->out;
  assert((plan->factor == 1) == (plan->reason != NULL));
  const char *text = summary(cg, plan);
  k->coarsening = cg_strndup(cg, text, strlen(text));
  k->params.reading = plan->reading;
  if (plan->factor == 1)
    return;
  k->params.coarse.factor = plan->factor;
  k->params.coarse.axis = plan->axis;
  k->params.coarse.fill = plan->fill;
  k->params.coarse.even = plan->even;
  k->params.coarse.in_row = plan->in_row;
  add_field(k, cg);
}

void cg_pass_coarsen(Cg *cg) {
  CoPlan plan = {.factor = 1, .reason = switched_off(cg)};
  if (!cg->target->coarsens || cg->options.device_function)
    return;
  if (cg->request->coarse_of) {
    write_alone(cg);
    return;
  }
  CoShape *shape = plan.reason ? NULL : co_shape(cg, CO_MAX_INS);
  if (shape)
    plan = co_plan(shape);
  note_plan(cg, &plan);
  if (plan.factor == 1)
    return;
  co_contract(cg);
  if (cg->request->apart)
    keep_rest(cg);
  else
    write_entry(cg, shape_to_write(cg), &plan);
}
