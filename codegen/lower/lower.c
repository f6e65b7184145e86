/* Lower: the pass, the values and the small builders. See lower.h for what a value is. */
#include "codegen/lower/lower.h"

#include <string.h>

#include "codegen/llvm/debuginfo.h"
#include "codegen/lower/private.h"
#include "codegen/lower/unroll_hints.h"
#include "codegen/passes.h"
#include "codegen/ssa/params.h"

/* --- leaves --- */

uint32_t lw_leaf_count(const Type *t) {
  if (ty_is_scalar(t))
    return ty_is_complex(t) ? 2 : 1;
  switch (t->id) {
  case TY_ARRAY: return 1u + t->ndim + (t->layout == LAYOUT_A ? t->ndim : 0u);
  case TY_RANGE: return 3;
  case TY_TUPLE:
  case TY_SLICE:
  case TY_ENUMERATE:
  case TY_ZIP:
  case TY_REVERSED:
  case TY_FUNC: return lw_tuple_offset(t, t->n);
  default: return 0;
  }
}

uint32_t lw_tuple_offset(const Type *tuple, uint32_t index) {
  uint32_t at = 0;
  if (tuple->id == TY_RANGE || ty_is_complex(tuple))
    return index;
  for (uint32_t k = 0; k < index && k < tuple->n; k++)
    at += lw_leaf_count(tuple->elems[k]);
  return at;
}

uint32_t lw_leaf_types(Cg *cg, const Type *t, LLVMTypeRef *out) {
  uint32_t n = lw_leaf_count(t), at = 0;
  if (ty_is_complex(t)) {
    out[0] = out[1] = lw_scalar_type(cg, ty_part_id(t->id));
  } else if (ty_is_scalar(t)) {
    out[0] = lw_scalar_type(cg, t->id);
  } else if (t->id == TY_ARRAY || t->id == TY_RANGE) {
    for (uint32_t k = 0; k < n; k++)
      out[k] = k == 0 && t->id == TY_ARRAY ? cg->t.space[t->space] : cg->t.i64;
  } else {
    for (uint32_t k = 0; at < n; k++)
      at += lw_leaf_types(cg, t->elems[k], out + at);
  }
  return n;
}

LLVMTypeRef lw_scalar_type(Cg *cg, TypeId id) {
  const ScalarInfo *s = &ty_scalar_info[id];
  switch (s->kind) {
  case KIND_BOOL: return cg->t.i1;
  case KIND_INT:
  case KIND_UINT: return cg_int_type(cg, s->bits);
  case KIND_FLOAT: return id == TY_BF16 ? cg->t.bf16 : cg_float_type(cg, s->bits);
  default: cx_bug(cg->cx, "%s has no storage", s->name);
  }
}

LLVMTypeRef lw_memory_type(Cg *cg, TypeId id) {
  if (ty_scalar_info[id].kind == KIND_COMPLEX)
    return LLVMVectorType(lw_scalar_type(cg, ty_part_id(id)), 2);
  return ty_scalar_info[id].kind == KIND_BOOL ? cg->t.i8 : lw_scalar_type(cg, id);
}

LLVMTypeRef lw_field_type(Cg *cg, const RtField *f) {
  switch ((RtFieldKind)f->kind) {
  case RT_FIELD_POINTER:
  case RT_FIELD_GRID:
  case RT_FIELD_TRAP: return cg->t.space[SPACE_GLOBAL];
  case RT_FIELD_BLOCKS:
  case RT_FIELD_EXTENT32: return cg->t.i32;
  case RT_FIELD_EXTENT64:
  case RT_FIELD_STRIDE: return cg->t.i64;
  case RT_FIELD_SCALAR: break;
  }
  /* the only kind whose type the field does not name: the argument's */
  const Type *t = cg->leaf_types[f->leaf];
  return lw_memory_type(cg, t->id);
}

LLVMValueRef *lw_leaves(Lower *lw, Ins *i) {
  CX_ASSERT(lw->cx, i->note);
  return i->note;
}

LLVMValueRef lw_value(Lower *lw, Ins *i) {
  CX_ASSERT(lw->cx, ty_is_scalar(i->type) && !ty_is_complex(i->type));
  return lw_leaves(lw, i)[0];
}

void lw_split_complex(Lower *lw, LLVMValueRef memory, LLVMValueRef out[2]) {
  for (int k = 0; k < 2; k++)
    out[k] = LLVMBuildExtractElement(lw->b, memory, lw_i32(lw, k), "");
}

LLVMValueRef lw_join_complex(Lower *lw, TypeId id, LLVMValueRef const parts[2]) {
  LLVMValueRef v = LLVMGetPoison(lw_memory_type(lw->cg, id));
  for (int k = 0; k < 2; k++)
    v = LLVMBuildInsertElement(lw->b, v, parts[k], lw_i32(lw, k), "");
  return v;
}

void lw_set_leaves(Lower *lw, Ins *i, LLVMValueRef *leaves) {
  (void)lw;
  i->note = leaves;
}

void lw_set(Lower *lw, Ins *i, LLVMValueRef v) {
  LLVMValueRef *leaf = CX_NEW(lw->cx, LLVMValueRef);
  *leaf = v;
  i->note = leaf;
}

/* --- small builders --- */

LLVMValueRef lw_int(Lower *lw, LLVMTypeRef t, int64_t v) {
  (void)lw;
  return LLVMConstInt(t, (unsigned long long)v, 1);
}

LLVMValueRef lw_i64(Lower *lw, int64_t v) { return lw_int(lw, lw->t->i64, v); }
LLVMValueRef lw_i32(Lower *lw, int64_t v) { return lw_int(lw, lw->t->i32, v); }

LLVMBasicBlockRef lw_block(Lower *lw, const char *name) {
  return LLVMAppendBasicBlockInContext(lw->cg->context, lw->function, name);
}

void lw_at(Lower *lw, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(lw->b, block); }

LLVMValueRef lw_alloca(Lower *lw, LLVMTypeRef t, unsigned align, const char *name) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(lw->b);
  LLVMValueRef first = LLVMGetFirstInstruction(lw->entry);
  if (first)
    LLVMPositionBuilderBefore(lw->b, first);
  else
    lw_at(lw, lw->entry);
  LLVMValueRef a = LLVMBuildAlloca(lw->b, t, name);
  if (align)
    LLVMSetAlignment(a, align);
  lw_at(lw, here);
  return a;
}

LLVMValueRef lw_intrinsic(Lower *lw, const char *name, const LLVMTypeRef *overloads,
                          unsigned noverloads, LLVMValueRef const *args, unsigned nargs) {
  LLVMValueRef fn = cg_intrinsic_fn(lw->cg, name, overloads, noverloads);
  LLVMValueRef copy[8] = {0};
  CX_ASSERT(lw->cx, nargs <= 8);
  for (unsigned k = 0; k < nargs; k++)
    copy[k] = args[k];
  return LLVMBuildCall2(lw->b, LLVMGlobalGetValueType(fn), fn, copy, nargs, "");
}

LLVMValueRef lw_call_extern(Lower *lw, const char *name, LLVMTypeRef result,
                            LLVMValueRef const *args, unsigned n) {
  LLVMTypeRef types[8] = {0};
  LLVMValueRef copy[8] = {0};
  CX_ASSERT(lw->cx, n <= 8);
  for (unsigned k = 0; k < n; k++) {
    copy[k] = args[k];
    types[k] = LLVMTypeOf(args[k]);
  }
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, name);
  if (!fn) {
    fn = LLVMAddFunction(lw->cg->module, name, LLVMFunctionType(result, types, n, 0));
    cg_attribute(lw->cg, fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind", 0);
  }
  return LLVMBuildCall2(lw->b, LLVMGlobalGetValueType(fn), fn, copy, n, "");
}

LLVMValueRef lw_text(Lower *lw, const char *s) {
  LLVMValueRef init = LLVMConstStringInContext2(lw->cg->context, s, strlen(s), 0);
  LLVMValueRef g = LLVMAddGlobal(lw->cg->module, LLVMTypeOf(init),
                                 arena_printf(&lw->cx->arena, "text$%u", lw->cg->ntexts++));
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
  return g;
}

void lw_fast(Lower *lw, LLVMValueRef v) {
  static const struct {
    int option;
    LLVMFastMathFlags flag;
  } rows[] = {
      {CG_FAST_NNAN, LLVMFastMathNoNaNs},          {CG_FAST_NINF, LLVMFastMathNoInfs},
      {CG_FAST_NSZ, LLVMFastMathNoSignedZeros},    {CG_FAST_REASSOC, LLVMFastMathAllowReassoc},
      {CG_FAST_ARCP, LLVMFastMathAllowReciprocal},
  };
  if (!LLVMIsAInstruction(v) || !LLVMCanValueUseFastMathFlags(v))
    return;
  const CgOptions *o = &lw->cg->options;
  LLVMFastMathFlags flags = o->fma && !lw->fn->exact ? LLVMFastMathAllowContract : 0;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (o->fastmath & rows[k].option)
      flags |= rows[k].flag;
  if (lw->fn->exact)
    flags &= ~(LLVMFastMathFlags)LLVMFastMathAllowReassoc;
  LLVMSetFastMathFlags(v, flags);
}

LLVMValueRef lw_branch_weights(Lower *lw, LLVMValueRef br, uint32_t yes, uint32_t no) {
  LLVMContextRef c = lw->cg->context;
  LLVMMetadataRef ops[] = {LLVMMDStringInContext2(c, "branch_weights", 14),
                           LLVMValueAsMetadata(lw_i32(lw, yes)),
                           LLVMValueAsMetadata(lw_i32(lw, no))};
  LLVMSetMetadata(br, LLVMGetMDKindIDInContext(c, "prof", 4),
                  LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, ops, 3)));
  return br;
}

/* --- constants --- */

static LLVMValueRef constant_number(Lower *lw, const Frozen *f, const Type *t) {
  LLVMTypeRef type = lw_scalar_type(lw->cg, t->id);
  bool is_real = f->kind == FZ_FLOAT ||
                 (f->kind == FZ_SCALAR && ty_scalar_info[f->type].kind == KIND_FLOAT);
  if (ty_is_float(t))
    return LLVMConstReal(type, is_real ? f->re : f->wide ? (double)(uint64_t)f->i : (double)f->i);
  if (ty_kind(t) == KIND_BOOL)
    return LLVMConstInt(type, is_real ? f->re != 0 : f->i != 0, 0);
  CX_ASSERT(lw->cx, !is_real);
  return LLVMConstInt(type, (unsigned long long)f->i, 1);
}

static uint32_t constant_leaves(Lower *lw, const Frozen *f, const Type *t, LLVMValueRef *out) {
  if (ty_is_complex(t)) {
    LLVMTypeRef part = lw_scalar_type(lw->cg, ty_part_id(t->id));
    out[0] = LLVMConstReal(part, f->re);
    out[1] = LLVMConstReal(part, f->im);
    return 2;
  }
  if (ty_is_scalar(t)) {
    out[0] = constant_number(lw, f, t);
    return 1;
  }
  uint32_t at = 0, n = lw_leaf_count(t);
  if (n)
    CX_ASSERT(lw->cx, t->id == TY_TUPLE && f->kind == FZ_TUPLE && f->n == t->n);
  for (uint32_t k = 0; at < n; k++)
    at += constant_leaves(lw, f->items[k], t->elems[k], out + at);
  return n;
}

static void lw_constant(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, lw_leaf_count(i->type) + 1);
  constant_leaves(lw, i->aux.frozen, i->type, leaves);
  lw_set_leaves(lw, i, leaves);
}

/* A value that no path reads, or zeros: of an array no elements at address 0. */
static void lw_unset(Lower *lw, Ins *i) {
  uint32_t n = lw_leaf_count(i->type);
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, n + 1);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  lw_leaf_types(lw->cg, i->type, types);
  for (uint32_t k = 0; k < n; k++)
    leaves[k] = i->aux2 ? LLVMConstNull(types[k]) : LLVMGetUndef(types[k]);
  lw_set_leaves(lw, i, leaves);
}

/* --- tuples --- */

static void lw_make_tuple(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, lw_leaf_count(i->type) + 1);
  for (uint32_t k = 0, at = 0; k < i->nargs; k++) {
    uint32_t n = lw_leaf_count(i->args[k]->type);
    memcpy(leaves + at, lw_leaves(lw, i->args[k]), n * sizeof *leaves);
    at += n;
  }
  lw_set_leaves(lw, i, leaves);
}

static void lw_tuple_get(Lower *lw, Ins *i) {
  lw_set_leaves(lw, i,
                lw_leaves(lw, i->args[0]) + lw_tuple_offset(i->args[0]->type, (uint32_t)i->aux.i));
}

/* All elements have one type, so leaf k of element e is leaf e * n + k. */
static void lw_tuple_index(Lower *lw, Ins *i) {
  const Type *tuple = i->args[0]->type;
  uint32_t n = lw_leaf_count(i->type);
  LLVMValueRef *from = lw_leaves(lw, i->args[0]), index = lw_value(lw, i->args[1]);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    LLVMValueRef v = from[(tuple->n - 1) * n + k];
    for (uint32_t e = tuple->n - 1; e-- > 0;) {
      LLVMValueRef here = LLVMBuildICmp(lw->b, LLVMIntEQ, index, lw_i64(lw, e), "");
      v = LLVMBuildSelect(lw->b, here, from[e * n + k], v, "");
    }
    leaves[k] = v;
  }
  lw_set_leaves(lw, i, leaves);
}

/* --- indices --- */

static void lw_extent(Lower *lw, Ins *i) {
  lw_set_leaves(lw, i, lw_leaves(lw, i->args[0]) + 1 + i->aux.i);
}

/* An index of 32 bits, into an array of fewer than 2**31 elements an axis. */
static bool is_small(const Ins *wrap) {
  const Ins *extent = wrap->args[1];
  return wrap->flags & INS_INDEX && wrap->args[0]->flags & INS_I32 && extent->op == OP_EXTENT &&
         !extent->args[0]->type->wide;
}

/* min(x, x + n) of 32 bits without sign is x for 0 <= x < n and x + n for -n <= x < 0: one instruction of newer GPUs. Beyond, where nothing
 * is checked, it is no index at all. */
static LLVMValueRef wrapped_small(Lower *lw, LLVMValueRef index, LLVMValueRef extent) {
  LLVMValueRef x = lw_low(lw, index);
  LLVMValueRef both[] = {x, LLVMBuildAdd(lw->b, x, lw_low(lw, extent), "")};
  return LLVMBuildZExt(lw->b, lw_intrinsic(lw, "llvm.umin", &lw->t->i32, 1, both, 2), lw->t->i64,
                       "");
}

static void lw_wrap_index(Lower *lw, Ins *i) {
  LLVMValueRef index = lw_value(lw, i->args[0]);
  if (i->args[0]->flags & (INS_NONNEGATIVE | INS_U32)) {
    lw_set(lw, i, index);
    return;
  }
  if (is_small(i)) {
    lw_set(lw, i, wrapped_small(lw, index, lw_value(lw, i->args[1])));
    return;
  }
  LLVMValueRef negative = LLVMBuildICmp(lw->b, LLVMIntSLT, index, lw_i64(lw, 0), "");
  LLVMValueRef wrapped = LLVMBuildAdd(lw->b, index, lw_value(lw, i->args[1]), "");
  lw_set(lw, i, LLVMBuildSelect(lw->b, negative, wrapped, index, ""));
}

static void lw_none(Lower *lw, Ins *i) {
  cx_bug(lw->cx, "%s has no lowering", ir_op_info[i->op].text);
}

static void lw_use_param(Lower *lw, Ins *i) { CX_ASSERT(lw->cx, i->note); }

static void lw_unreachable(Lower *lw, Ins *i) {
  (void)i;
  LLVMBuildUnreachable(lw->b);
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
  lw_at(lw, n->begin);
  FOR_INS (b, i) {
    CX_ASSERT(lw->cx, i->type);
    lw->ins = i;
    cg_debug_at(lw->cg, lw->b, i->loc);
    lowerers[i->op](lw, i);
  }
  if (!n->end)
    n->end = LLVMGetInsertBlock(lw->b);
}

/* --- parameters --- */

static LLVMValueRef next_field(Lower *lw, uint32_t leaf, uint32_t *field, RtFieldKind kind,
                               unsigned axis) {
  const RtParams *p = &lw->cg->out->params;
  if (*field >= p->nfields)
    return NULL;
  const RtField *f = &p->fields[*field];
  if (f->leaf != leaf || f->kind != kind || f->axis != axis)
    return NULL;
  return lw->target->param(lw, (*field)++);
}

static void kernel_array(Lower *lw, const Type *t, LLVMValueRef *leaves, uint32_t leaf,
                         uint32_t *field) {
  LLVMValueRef v = next_field(lw, leaf, field, RT_FIELD_POINTER, 0);
  leaves[0] = v ? v : LLVMGetUndef(lw->t->space[t->space]);
  for (unsigned k = 0; k < t->ndim; k++) {
    v = next_field(lw, leaf, field, t->wide ? RT_FIELD_EXTENT64 : RT_FIELD_EXTENT32, k);
    if (v && !t->wide) {
      v = LLVMBuildZExt(lw->b, v, lw->t->i64, "");
      if (LLVMIsAInstruction(v))
        LLVMSetNNeg(v, 1);
    }
    leaves[1 + k] = v ? v : LLVMGetUndef(lw->t->i64);
  }
  for (unsigned k = 0; t->layout == LAYOUT_A && k < t->ndim; k++) {
    v = next_field(lw, leaf, field, RT_FIELD_STRIDE, k);
    leaves[1 + t->ndim + k] = v ? v : LLVMGetUndef(lw->t->i64);
  }
}

/* One argument of the kernel: the leaves that the block holds, undef for the others. */
static uint32_t kernel_argument(Lower *lw, const Type *t, LLVMValueRef *leaves, uint32_t *leaf,
                                uint32_t *field) {
  uint32_t n = 0;
  if (t->id == TY_TUPLE) {
    for (uint32_t k = 0; k < t->n; k++)
      n += kernel_argument(lw, t->elems[k], leaves + n, leaf, field);
    return n;
  }
  uint32_t number = (*leaf)++;
  if (t->id == TY_ARRAY) {
    kernel_array(lw, t, leaves, number, field);
  } else if (ty_is_scalar(t)) {
    LLVMValueRef v = next_field(lw, number, field, RT_FIELD_SCALAR, 0);
    if (v && ty_is_complex(t)) {
      lw_split_complex(lw, v, leaves);
      return 2;
    }
    if (v && ty_kind(t) == KIND_BOOL)
      v = LLVMBuildICmp(lw->b, LLVMIntNE, v, LLVMConstNull(lw->t->i8), "");
    LLVMTypeRef types[2];
    uint32_t n_leaves = lw_leaf_types(lw->cg, t, types);
    for (uint32_t k = 0; k < n_leaves; k++)
      leaves[k] = v ? v : LLVMGetUndef(types[k]);
  }
  return lw_leaf_count(t);
}

static void kernel_parameters(Lower *lw) {
  uint32_t leaf = 0, field = 0;
  for (uint32_t k = 0; k < lw->fn->nparams; k++) {
    const Type *t = lw->fn->param_types[k];
    LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, lw_leaf_count(t) + 1);
    kernel_argument(lw, t, leaves, &leaf, &field);
    lw_set_leaves(lw, lw->fn->params[k], leaves);
  }
}

static void device_parameters(Lower *lw) {
  unsigned at = 0;
  if (lw->target->context_type(lw->cg))
    lw->context = LLVMGetParam(lw->function, at++);
  for (uint32_t k = 0; k < lw->fn->nparams; k++) {
    uint32_t n = lw_leaf_count(lw->fn->param_types[k]);
    LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
    for (uint32_t j = 0; j < n; j++)
      leaves[j] = LLVMGetParam(lw->function, at++);
    lw_set_leaves(lw, lw->fn->params[k], leaves);
  }
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

static void lower_fn(Cg *cg, Fn *fn, bool is_kernel) {
  Lower lw = {
      .cg = cg, .cx = cg->cx, .target = cg->target, .t = &cg->t, .b = cg->builder, .fn = fn};
  clear_notes(fn);
  if (is_kernel) {
    cg_debug_function(cg, NULL, fn); /* no location while the entry block is built */
    cg->target->kernel_begin(&lw);
    cg_debug_function(cg, lw.function, fn);
    cg_debug_at(cg, lw.b, fn->entry->first->loc);
    kernel_parameters(&lw);
  } else {
    lw.function = lw_function_of(&lw, fn);
    lw.entry = LLVMAppendBasicBlockInContext(cg->context, lw.function, "entry");
    lw_at(&lw, lw.entry);
    cg_debug_function(cg, lw.function, fn);
    device_parameters(&lw);
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
  /* the entry block is closed last, so that allocas and fields could still be added to it */
  lw_at(&lw, before);
  cg_debug_at(cg, lw.b, fn->entry->first->loc);
  LLVMBuildBr(lw.b, ((BlockNote *)fn->entry->note)->begin);
}

static void copy_sites(Cg *cg) {
  CgKernel *out = cg->out;
  uint32_t n = cg->program->sites.len;
  out->sites = cg_calloc(cg, n, sizeof *out->sites);
  out->nsites = n;
  for (uint32_t k = 0; k < n; k++) {
    const IrSite *s = cg->program->sites.data[k];
    CgSite *to = &out->sites[k];
    to->exception = cg_strndup(cg, s->exception, strlen(s->exception));
    to->message = cg_strndup(cg, s->message ? s->message : "", s->message ? strlen(s->message) : 0);
    to->at = (DiagPlace){.line = s->loc.line,
                         .end_line = s->loc.end_line,
                         .col = s->loc.col,
                         .end_col = s->loc.end_col};
    if (s->loc.code) {
      to->at.file = cg_strndup(cg, s->loc.code->filename, strlen(s->loc.code->filename));
      to->at.function = cg_strndup(cg, s->loc.code->qualname, strlen(s->loc.code->qualname));
    }
  }
}

/* Whose frames the stack may not hold. */
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

/* A function of another compiler may. */
static bool may_print(const Cg *cg, const Ins *i) {
  (void)cg;
  return i->op == OP_PRINT || i->op == OP_CALL_C;
}

static bool program_has(const Cg *cg, bool (*does)(const Cg *, const Ins *)) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    FOR_BLOCKS (cg->program->fns.data[k], b)
      FOR_INS (b, i)
        if (does(cg, i))
          return true;
  return false;
}

static void list_leaf_types(Cg *cg, const Type *t, uint32_t *n) {
  if (t->id == TY_TUPLE) {
    for (uint32_t k = 0; k < t->n; k++)
      list_leaf_types(cg, t->elems[k], n);
    return;
  }
  if (cg->leaf_types)
    cg->leaf_types[*n] = t;
  ++*n;
}

static void note_leaf_types(Cg *cg, const Fn *kernel) {
  for (int round = 0; round < 2; round++) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < kernel->nparams; k++)
      list_leaf_types(cg, kernel->param_types[k], &n);
    if (!round)
      cg->leaf_types = CX_ARRAY(cg->cx, const Type *, n + 1);
  }
}

void cg_pass_lower(Cg *cg) {
  Program *p = cg->program;
  Fn *kernel = p->fns.data[0];
  cg->has_barrier = kernel->has_barrier;
  note_depth(cg);
  cg->has_trap = cg->too_deep || program_has(cg, traps);
  cg->may_print = program_has(cg, may_print);
  note_leaf_types(cg, kernel);
  cg->meets_grid = program_has(cg, meets_grid);
  bool fields = cg->target->runtime_fields;
  cg_lay_out_params(cg, fields && cg->has_trap, fields && cg->meets_grid);
  cg_open(cg);
  cg->builder = LLVMCreateBuilderInContext(cg->context);
  cg_debug_open(cg);
  cg->functions = CX_ARRAY(cg->cx, LLVMValueRef, p->fns.len);
  bool alone = cg->options.device_function;
  for (uint32_t k = alone ? 0 : 1; k < p->fns.len; k++)
    lw_declare(cg, p->fns.data[k]);
  for (uint32_t k = 0; k < p->fns.len; k++)
    lower_fn(cg, p->fns.data[k], k == 0 && !alone);
  cg->target->finish(cg);
  cg_debug_close(cg);
  copy_sites(cg);
}
