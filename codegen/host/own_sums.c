/* Own sums: arrays that a kernel only adds to, by atomic operations without a result, as memory of
 * the worker that runs a block.
 *
 * A locked addition takes as long as some ten plain ones, one of floats still longer, and where
 * several workers add to the same elements they wait for each other's cache lines. Sums commute,
 * and nobody in the launch sees the elements. So the runtime may give each worker elements of its
 * own, and add them to the array's later (runtime/host/sums.c): then the field `own_sums` of the
 * worker's view is set, the parameter block has these elements' address, and the sum is a plain
 * one. Whether it does is decided at each launch; compiled code asks in front of each sum.
 *
 * In: lowering, and the parameters' arrays (ssa/params.h). Out: `own_sums != 0` in front of sums;
 * and in cg->out->host, where all arrays are in the parameter block, for the launch must see that
 * no other one has the same memory.
 *
 * Nothing is described, so that nothing is a worker's own, if memory may be used that is no
 * parameter's, or if the kernel has fences, which say that somebody looks while it runs. Integers
 * come out the same; floats are added in another order, as by any atomic operations. */
#include "codegen/host/checks.h"
#include "codegen/lower/private.h"
#include "codegen/ssa/params.h"

static bool is_summed(const ArrayParam *a) { return a->summed && !cg_has_strides(a->type); }

bool cg_host_describe_array(const Params *p, const ArrayParam *a, RtHostArray *out) {
  const Type *t = a->type;
  uint32_t found = 0;
  *out = (RtHostArray){.bytes = (uint32_t)ty_size(t->elem), .axes = t->ndim};
  out->has_strides = cg_has_strides(t);
  if (is_summed(a))
    out->sum = ty_is_float(t->elem) ? RT_SUM_FLOAT : RT_SUM_INTEGER;
  if (t->ndim > RT_HOST_AXES)
    return false;
  for (uint32_t k = 0; k < p->fields.len; k++) {
    const Param *f = &p->fields.data[k];
    if (f->unread || !cg_is_of_array(f, a))
      continue;
    found++;
    switch ((RtFieldKind)f->field.kind) {
    case RT_FIELD_POINTER: out->pointer = f->field.offset; break;
    case RT_FIELD_EXTENT64: out->wide = 1; /* fall through */
    case RT_FIELD_EXTENT32: out->extents[f->field.axis] = f->field.offset; break;
    case RT_FIELD_STRIDE: out->strides[f->field.axis] = f->field.offset; break;
    default: return false;
    }
  }
  return found == cg_leaf_count(t);
}

/* Of all arrays that are used. Returns how many they are; 0: there are no sums, or they cannot be
 * told from other memory. */
static uint32_t describe_all(const Params *p, RtHostArray out[RT_HOST_ARRAYS]) {
  uint32_t n = 0;
  bool sums = false;
  for (uint32_t k = 0; k < p->arrays.len; k++) {
    const ArrayParam *a = &p->arrays.data[k];
    if (!a->used)
      continue;
    if (n == RT_HOST_ARRAYS || !cg_host_describe_array(p, a, &out[n]))
      return 0;
    sums |= out[n++].sum != RT_SUM_NONE;
  }
  return sums && !p->uses_elsewhere ? n : 0;
}

static bool is_possible(const Cg *cg) {
  RtHostArray arrays[RT_HOST_ARRAYS];
  return !cg->options.check && !cg->options.device_function && cg->options.opt >= 2 &&
         describe_all(cg->params, arrays);
}

LLVMValueRef cg_host_own_sum(Lower *lw) {
  const Ins *i = lw->ins;
  if (i->op != OP_ATOMIC || !is_possible(lw->cg) ||
      !cg_host_comes_from(lw->cg, i->args[0], is_summed))
    return NULL;
  LLVMValueRef own = cg_host_launch_field(lw->cg, cg_host_arg(lw, HOST_LAUNCH), lw->t->i32,
                                          offsetof(RtHostLaunch, own_sums));
  return l_icmp(lw->b, LLVMIntNE, own, lw_i32(lw, 0));
}

static bool has_fences(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsAFenceInst(i) && !LLVMIsAtomicSingleThread(i))
          return true;
  return false;
}

void cg_host_describe_sums(Cg *cg) {
  RtHostCode *host = &cg->out->host;
  if (!cg->params || !is_possible(cg) || has_fences(cg))
    return;
  host->narrays = describe_all(cg->params, host->arrays);
  host->param_bytes = cg->params->bytes;
}
