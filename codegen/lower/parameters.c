/* Parameters: where the leaves of a function's parameters come from.
 *
 * A kernel reads them from the parameter block; the list of fields (codegen/ssa/params.h) says
 * which leaf of which parameter each field is. A leaf that nothing uses has no field, and is undef.
 * A device function gets each leaf as a parameter of its LLVM function. */
#include <assert.h>
#include <string.h>

#include "codegen/lower/private.h"
#include "codegen/ssa/params.h"

void lw_publish_params(Cg *cg) {
  const Params *p = cg->params;
  CgKernel *out = cg->out;
  out->nargs = p->args.len;
  out->args = cg_calloc(cg, p->args.len, sizeof(CgArg));
  if (p->args.len)
    memcpy(out->args, p->args.data, p->args.len * sizeof(CgArg));
  out->params.nfields = p->fields.len;
  /* not rounded up: the driver requires exactly the size of the parameters */
  out->params.bytes = p->bytes;
  out->params.fields = cg_calloc(cg, p->fields.len, sizeof(RtField));
  for (uint32_t k = 0; k < p->fields.len; k++)
    out->params.fields[k] = p->fields.data[k].field;
}

/* From a field's form in the block to the leaves. */
static void read_field(Lower *lw, const Param *p, LLVMValueRef v, LLVMValueRef *leaves) {
  if (p->field.kind == RT_FIELD_EXTENT32) {
    v = l_zext(lw->b, v, lw->t->i64);
    if (LLVMIsAInstruction(v))
      LLVMSetNNeg(v, 1);
  } else if (p->field.kind == RT_FIELD_EXTENT64 && !p->type->wide) {
    v = l_zext(lw->b, l_trunc(lw->b, v, lw->t->i32), lw->t->i64); /* below 2^31, as in 32 bits */
    if (LLVMIsAInstruction(v))
      LLVMSetNNeg(v, 1);
  } else if (p->field.kind == RT_FIELD_SCALAR && ty_kind(p->type) == KIND_BOOL) {
    v = l_icmp(lw->b, LLVMIntNE, v, LLVMConstNull(lw->t->i8));
  }
  if (p->field.kind == RT_FIELD_SCALAR && lw->cg->program->narrow && lw->cg->target->narrows &&
      ty_may_be_small(p->type)) /* as in 32 bits */
    v = l_int_cast(lw->b, l_trunc(lw->b, v, lw->t->i32), lw->t->i64, ty_is_signed(p->type));
  if (p->field.kind == RT_FIELD_SCALAR && ty_is_complex(p->type))
    lw_split_complex(lw, v, leaves);
  else
    *leaves = v;
}

void lw_kernel_parameters(Lower *lw) {
  for (uint32_t k = 0; k < lw->fn->nparams; k++)
    lw_unset(lw, lw->fn->params[k]);
  for (uint32_t k = 0; k < lw->cg->params->fields.len; k++) {
    const Param *p = &lw->cg->params->fields.data[k];
    assert(!p->type || p->param < lw->fn->nparams);
    if (p->type && !p->unread)
      read_field(lw, p, lw->target->param(lw, k),
                 lw_leaves(lw, lw->fn->params[p->param]) + p->leaf);
  }
}

void lw_device_parameters(Lower *lw) {
  unsigned at = 0;
  if (lw->target->context_type(lw->cg))
    lw->context = LLVMGetParam(lw->function, at++);
  for (uint32_t k = 0; k < lw->fn->nparams; k++) {
    uint32_t n = cg_leaf_count(lw->fn->param_types[k]);
    LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
    for (uint32_t j = 0; j < n; j++)
      leaves[j] = LLVMGetParam(lw->function, at++);
    lw_set_leaves(lw, lw->fn->params[k], leaves);
  }
  if (lw_takes_path(lw->cg, lw->number))
    lw->path = LLVMGetParam(lw->function, at++);
  assert(at == LLVMCountParams(lw->function));
}
