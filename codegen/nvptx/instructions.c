/* NVPTX instructions: the rows of ir/instructions.def. Each is one intrinsic of LLVM, or inline
 * assembly where LLVM has none. What they need is checked before (requirements.c). */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

static LLVMValueRef call(Lower *lw, const char *name, LLVMValueRef *args, unsigned n) {
  return lw_intrinsic(lw, name, NULL, 0, args, n);
}

/* i1, the second of what elect.sync gives. */
static void elect(Lower *lw, Ins *i) {
  LLVMValueRef mask = lw_value(lw, i->args[0]);
  lw_set(lw, i, l_extract_value(lw->b, call(lw, "llvm.nvvm.elect.sync", &mask, 1), 1));
}

static void named_barrier(Lower *lw, Ins *i, const char *name) {
  LLVMValueRef args[] = {lw_value(lw, i->args[0]), lw_value(lw, i->args[1])};
  call(lw, name, args, 2);
}

static void effect(Lower *lw, const char *code) {
  cg_nvptx_asm(lw, lw->t->none, code, "~{memory}", true);
}

static void registers(Lower *lw, Ins *i, const char *change) {
  LLVMValueRef count = lw_value(lw, i->args[0]);
  Buf text;
  CX_ASSERT(lw->cx, LLVMIsAConstantInt(count));
  buf_init(&text, &lw->cx->arena);
  buf_printf(&text, "setmaxnreg.%s.sync.aligned.u32 %d; ", change,
             (int)LLVMConstIntGetSExtValue(count));
  cx_put_place(&text, "setmaxregister", i->loc);
  effect(lw, text.text);
}

static LLVMValueRef number(Lower *lw, const char *reg) {
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.read.ptx.sreg.cluster.%s", reg);
  LLVMValueRef v = l_zext(lw->b, call(lw, name, NULL, 0), lw->t->i64);
  LLVMSetNNeg(v, 1);
  return v;
}

static void place(Lower *lw, Ins *i, const char *reg) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 3);
  for (unsigned k = 0; k < 3; k++)
    leaves[k] = number(lw, arena_printf(&lw->cx->arena, "%s.%c", reg, "xyz"[k]));
  lw_set_leaves(lw, i, leaves);
}

/* The array, elsewhere. */
static void map_shared(Lower *lw, Ins *i) {
  uint32_t n = cg_leaf_count(i->type);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  memcpy(leaves, lw_leaves(lw, i->args[0]), n * sizeof *leaves);
  LLVMValueRef args[] = {leaves[LEAF_POINTER], lw_value(lw, i->args[1])};
  leaves[LEAF_POINTER] = call(lw, "llvm.nvvm.mapa.shared.cluster", args, 2);
  lw_set_leaves(lw, i, leaves);
}

/* The forms without .aligned: lanes of a warp may come one after the other. */
static void arrive(Lower *lw) { call(lw, "llvm.nvvm.barrier.cluster.arrive", NULL, 0); }
static void wait(Lower *lw) { call(lw, "llvm.nvvm.barrier.cluster.wait", NULL, 0); }

/* --- matrices: elements to registers of 32 bits and back --- */

/* As many registers as the tuple has; floats of 32 and 64 bits are registers themselves where
 * `floats` says so. */
unsigned cg_nvptx_pack(Lower *lw, const Type *tuple, LLVMValueRef const *leaves, bool floats,
                       LLVMValueRef *out) {
  unsigned size = (unsigned)ty_size(tuple->elems[0]), each = size < 4 ? 4 / size : 1;
  LLVMTypeRef bits = cg_int_type(lw->cg, 8 * size);
  for (unsigned r = 0; r < tuple->n / each; r++) {
    LLVMValueRef word = LLVMGetPoison(LLVMVectorType(bits, each));
    for (unsigned e = 0; e < each && each > 1; e++)
      word = l_insert_element(lw->b, word, l_bitcast(lw->b, leaves[r * each + e], bits),
                              lw_i32(lw, e));
    out[r] = each > 1             ? l_bitcast(lw->b, word, lw->t->i32)
             : floats || size > 4 ? leaves[r]
                                  : l_bitcast(lw->b, leaves[r], lw->t->i32);
  }
  return tuple->n / each;
}

unsigned cg_nvptx_unpack(Lower *lw, const Type *tuple, LLVMValueRef const *registers,
                         LLVMValueRef *leaves) {
  unsigned size = (unsigned)ty_size(tuple->elems[0]), each = size < 4 ? 4 / size : 1;
  LLVMTypeRef t = lw_scalar_type(lw->cg, tuple->elems[0]->id),
              word = LLVMVectorType(cg_int_type(lw->cg, 8 * size), each);
  for (unsigned k = 0; k < tuple->n; k++) {
    LLVMValueRef v = registers[k / each];
    if (each > 1)
      v = l_extract_element(lw->b, l_bitcast(lw->b, v, word), lw_i32(lw, k % each));
    leaves[k] = l_bitcast(lw->b, v, t);
  }
  return tuple->n / each;
}

static unsigned pack(Lower *lw, Ins *tuple, bool floats, LLVMValueRef *out) {
  return cg_nvptx_pack(lw, tuple->type, lw_leaves(lw, tuple), floats, out);
}

static void unpack(Lower *lw, Ins *i, LLVMValueRef const *registers) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, i->type->n + 1);
  cg_nvptx_unpack(lw, i->type, registers, leaves);
  lw_set_leaves(lw, i, leaves);
}

static char letter(Lower *lw, LLVMValueRef v) {
  LLVMTypeRef t = LLVMTypeOf(v);
  return t == lw->t->f64 ? 'd' : t == lw->t->f32 ? 'f' : 'r';
}

/* {$4, $5} */
static void put_list(Buf *out, unsigned *at, unsigned n, const char *end) {
  for (unsigned k = 0; k < n; k++)
    buf_printf(out, "%s$%u", k ? ", " : "{", (*at)++);
  buf_printf(out, "}%s", end);
}

/* mma.sync as inline assembly, which spells out shape and types. It has effects for LLVM and its
 * passes, which keep it where all lanes come; ptxas knows better. */
static void multiply(Lower *lw, Ins *i) {
  static const struct {
    const char *shape, *factor, *sum;
  } rows[] = {
#define X(m, n, k, factor, sum, code, ptx_factor, ptx_sum)                                         \
  {"m" #m "n" #n "k" #k, ptx_factor, ptx_sum},
#include "ir/matrices.def"
#undef X
  };
  LLVMValueRef args[24];
  unsigned n[3], total = 0, at = 0;
  for (unsigned k = 0; k < 3; k++)
    total += n[k] = pack(lw, i->args[k], k == 2, args + total);
  int64_t row = i->args[3]->aux.frozen->i;
  Buf code, constraints;
  buf_init(&code, &lw->cx->arena), buf_init(&constraints, &lw->cx->arena);
  buf_printf(&code, "mma.sync.aligned.%s.row.col.%s.%s.%s.%s ", rows[row].shape, rows[row].sum,
             rows[row].factor, rows[row].factor, rows[row].sum);
  put_list(&code, &at, n[2], ", ");
  for (unsigned k = 0; k < 3; k++)
    put_list(&code, &at, n[k], k < 2 ? ", " : ";");
  LLVMValueRef *sums = args + n[0] + n[1];
  LLVMTypeRef types[24], outs[4];
  for (unsigned k = 0; k < n[2]; k++) {
    buf_printf(&constraints, "=%c,", letter(lw, sums[k]));
    outs[k] = LLVMTypeOf(sums[k]);
  }
  for (unsigned k = 0; k < total; k++) {
    buf_printf(&constraints, "%s%c", k ? "," : "", letter(lw, args[k]));
    types[k] = LLVMTypeOf(args[k]);
  }
  LLVMTypeRef result = LLVMStructTypeInContext(lw->cg->context, outs, n[2], 0);
  LLVMTypeRef type = LLVMFunctionType(result, types, total, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code.text, code.len, constraints.text, constraints.len,
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  LLVMValueRef v = l_call_type(lw->b, type, text, args, total), got[4];
  unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
  LLVMAddCallSiteAttribute(v, L_FUNCTION, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  for (unsigned k = 0; k < n[2]; k++)
    got[k] = l_extract_value(lw->b, v, k);
  unpack(lw, i, got);
}

static LLVMValueRef move_matrices(Lower *lw, Ins *i, const char *name, unsigned count,
                                  LLVMValueRef const *registers) {
  bool transposed = i->args[i->nargs - 1]->aux.frozen->i;
  LLVMValueRef args[5] = {lw_address(lw, i->args[0], i->args + 1)};
  for (unsigned k = 0; registers && k < count; k++)
    args[1 + k] = registers[k];
  LLVMTypeRef pointer = LLVMTypeOf(args[0]);
  return lw_intrinsic(lw,
                      arena_printf(&lw->cx->arena, "llvm.nvvm.%s.sync.aligned.m8n8.x%u%s.b16", name,
                                   count, transposed ? ".trans" : ""),
                      &pointer, 1, args, registers ? 1 + count : 1);
}

static void load_matrices(Lower *lw, Ins *i) {
  LLVMValueRef got[4];
  unsigned count = i->type->n * (unsigned)ty_size(i->type->elems[0]) / 4;
  LLVMValueRef v = move_matrices(lw, i, "ldmatrix", count, NULL);
  for (unsigned k = 0; k < count; k++)
    got[k] = count == 1 ? v : l_extract_value(lw->b, v, k);
  unpack(lw, i, got);
}

static void store_matrices(Lower *lw, Ins *i) {
  LLVMValueRef registers[4];
  unsigned count = pack(lw, i->args[i->nargs - 2], false, registers);
  move_matrices(lw, i, "stmatrix", count, registers);
}

void cg_nvptx_instruction(Lower *lw, Ins *i) {
  switch ((int)i->aux.intrinsic) {
  case INTR_ELECT_SYNC: elect(lw, i); return;
  case INTR_BARRIER_SYNC: named_barrier(lw, i, "llvm.nvvm.barrier.cta.sync.count"); return;
  case INTR_BARRIER_ARRIVE: named_barrier(lw, i, "llvm.nvvm.barrier.cta.arrive.count"); return;
  case INTR_FENCE_PROXY_ASYNC: effect(lw, "fence.proxy.async;"); return;
  case INTR_FENCE_PROXY_ASYNC_SHARED: effect(lw, "fence.proxy.async.shared::cta;"); return;
  case INTR_FENCE_PROXY_ASYNC_GLOBAL: effect(lw, "fence.proxy.async.global;"); return;
  case INTR_FENCE_PROXY_ALIAS: effect(lw, "fence.proxy.alias;"); return;
  case INTR_SETMAXREGISTER_INCREASE: registers(lw, i, "inc"); return;
  case INTR_SETMAXREGISTER_DECREASE: registers(lw, i, "dec"); return;
  case INTR_GRID_DEPENDENCY_WAIT: effect(lw, "griddepcontrol.wait;"); return;
  case INTR_GRID_DEPENDENCY_LAUNCH: effect(lw, "griddepcontrol.launch_dependents;"); return;
  case INTR_CLUSTER_RANK: lw_set(lw, i, number(lw, "ctarank")); return;
  case INTR_CLUSTER_BLOCKS: lw_set(lw, i, number(lw, "nctarank")); return;
  case INTR_CLUSTER_INDEX: place(lw, i, "ctaid"); return;
  case INTR_CLUSTER_DIM: place(lw, i, "nctaid"); return;
  case INTR_CLUSTER_SYNC: arrive(lw), wait(lw); return;
  case INTR_CLUSTER_ARRIVE: arrive(lw); return;
  case INTR_CLUSTER_WAIT: wait(lw); return;
  case INTR_CLUSTER_MAP: map_shared(lw, i); return;
  case INTR_LDMATRIX: load_matrices(lw, i); return;
  case INTR_STMATRIX: store_matrices(lw, i); return;
  case INTR_MMA_SYNC: multiply(lw, i); return;
  case INTR_WGMMA_ZEROS:
  case INTR_WGMMA_FENCE:
  case INTR_WGMMA_MMA:
  case INTR_WGMMA_COMMIT:
  case INTR_WGMMA_WAIT: cg_nvptx_warpgroup(lw, i); return;
  default:
    if (!cg_nvptx_copy(lw, i))
      cx_bug(lw->cx, "%s has no instruction", ir_intrinsics[i->aux.intrinsic].path);
  }
}
