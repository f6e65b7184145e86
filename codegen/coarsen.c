/* Coarsening: the pass. Beside the kernel, which stays as it is, the module gets a second entry in which a block runs several blocks of the
 * launch; the launch takes it where that pays. docs/COARSENING.md. */
#include "codegen/coarsen.h"

#include <stdlib.h>
#include <string.h>

#include "codegen/passes.h"

/* The last field of the parameter block, that the kernel itself does not take. */
static void add_field(CgKernel *k, Cg *cg) {
  RtParams *p = &k->params;
  RtField *fields = cg_calloc(cg, p->nfields + 1, sizeof *fields);
  if (p->nfields)
    memcpy(fields, p->fields, p->nfields * sizeof *fields);
  uint32_t at = (p->bytes + 3) / 4 * 4;
  fields[p->nfields] = (RtField){.kind = RT_FIELD_BLOCKS, .size = 4, .leaf = (uint16_t)k->nargs, .offset = at};
  p->coarse.plain_bytes = p->bytes;
  free(p->fields);
  p->fields = fields;
  p->nfields++;
  p->bytes = at + 4;
}

static const char *summary(Cg *cg, const CoPlan *p) {
  if (p->factor == 1)
    return arena_printf(&cg->cx->arena, "not coarsened: %s", p->reason);
  return arena_printf(&cg->cx->arena, "%u %s along %c", p->factor, p->threads ? "neighbouring threads" : "neighbouring blocks",
                      "xyz"[p->axis]);
}

static const char *switched_off(const Cg *cg) {
  if (cg->options.coarsen == 0 || cg->options.coarsen == 1)
    return "switched off";
  return cg->options.opt ? NULL : "switched off by opt=0";
}

void cg_pass_coarsen(Cg *cg) {
  CgKernel *k = cg->out;
  CoPlan plan = {.factor = 1, .reason = switched_off(cg)};
  if (!cg->target->coarsens || cg->options.device_function)
    return;
  CoShape *shape = plan.reason ? NULL : co_shape(cg);
  if (shape)
    plan = co_plan(shape);
  const char *text = summary(cg, &plan);
  k->coarsening = cg_strndup(cg, text, strlen(text));
  if (plan.factor == 1)
    return;
  k->params.coarse.factor = plan.factor;
  k->params.coarse.axis = plan.axis;
  k->params.coarse.fill = plan.fill;
  add_field(k, cg);
  co_contract(cg);
  shape = co_shape(cg); /* of what that made of it */
  co_way(shape, &plan);
  const char *symbol = arena_printf(&cg->cx->arena, "%s" RT_COARSE_SUFFIX, cg->symbol);
  co_write(shape, &plan, symbol);
  cg_run_function_passes(cg, LLVMGetNamedFunction(cg->module, symbol), "early-cse,simplifycfg");
}
