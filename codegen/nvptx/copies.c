/* NVPTX copies: mbarriers and asynchronous copies, as inline assembly. Addresses of shared memory
 * are the 32 bits of its own window. Each may change memory for LLVM, which so keeps them in their
 * order. */
#include <string.h>

#include "codegen/nvptx/nvptx.h"
#include "codegen/ssa/params.h"
#include "ir/tensor_maps.h"

enum { MOST = 16 };

/* Text with its operands: $0 is the first. */
typedef struct Text {
  LLVMValueRef args[MOST];
  LLVMTypeRef types[MOST];
  char letters[2 * MOST]; /* "r,l" */
  unsigned n;
} Text;

static void add(Lower *lw, Text *t, LLVMValueRef v) {
  CX_ASSERT(lw->cx, t->n < MOST);
  t->types[t->n] = LLVMTypeOf(v);
  t->args[t->n] = v;
  t->letters[2 * t->n] = t->types[t->n] == lw->t->i64   ? 'l'
                         : t->types[t->n] == lw->t->i16 ? 'h'
                                                        : 'r';
  t->letters[2 * t->n++ + 1] = ',';
}

static void add_shared(Lower *lw, Text *t, LLVMValueRef pointer) {
  add(lw, t, l_trunc(lw->b, l_ptrtoint(lw->b, pointer, lw->t->i64), lw->t->i32));
}

static void add_global(Lower *lw, Text *t, LLVMValueRef pointer) {
  add(lw, t, l_ptrtoint(lw->b, pointer, lw->t->i64));
}

static LLVMValueRef low(Lower *lw, LLVMValueRef v) { return l_trunc(lw->b, v, lw->t->i32); }

/* result: "=r" and an i32, or nothing. */
static LLVMValueRef write(Lower *lw, Text *t, LLVMTypeRef result, const char *code) {
  const char *constraints = arena_printf(&lw->cx->arena, "%s%.*s~{memory}",
                                         result == lw->t->none ? "" : "=r,", (int)(2 * t->n),
                                         t->letters);
  LLVMTypeRef type = LLVMFunctionType(result, t->types, t->n, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  return l_call_type(lw->b, type, text, t->args, t->n);
}

/* --- mbarriers: the array, its indices, a number --- */

static LLVMValueRef operand(Lower *lw, Ins *i, unsigned k) {
  return low(lw, lw_value(lw, i->args[1 + i->args[0]->type->ndim + k]));
}

static void barrier(Lower *lw, Ins *i, bool number, const char *code) {
  Text t = {0};
  add_shared(lw, &t, lw_address(lw, i->args[0], i->args + 1));
  if (number)
    add(lw, &t, operand(lw, i, 0));
  write(lw, &t, lw->t->none, code);
}

/* Before sm_90 a loop tests. */
static void wait(Lower *lw, Ins *i) {
  bool old = cg_nvptx_arch_number(lw->cg) < 90;
  barrier(lw, i, true,
          arena_printf(&lw->cx->arena,
                       "{\n.reg .pred p;\nwait:\nmbarrier.%s.parity.shared.b64 p, [$0], $1;\n"
                       "@!p bra wait;\n}",
                       old ? "test_wait" : "try_wait"));
}

static void try_wait(Lower *lw, Ins *i) {
  Text t = {0};
  add_shared(lw, &t, lw_address(lw, i->args[0], i->args + 1));
  add(lw, &t, operand(lw, i, 0));
  LLVMValueRef ended = write(lw, &t, lw->t->i32,
                             "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [$1], $2;\n"
                             "selp.b32 $0, 1, 0, p;\n}");
  lw_set(lw, i, l_icmp(lw->b, LLVMIntNE, ended, lw_i32(lw, 0)));
}

/* --- copies --- */

/* Only 16 bytes go past the first cache. */
static void copy(Lower *lw, Ins *i) {
  Ins **from = i->args + 1 + i->args[0]->type->ndim, **rest = from + 1 + from[0]->type->ndim;
  int64_t bytes = rest[1]->aux.frozen->i, size = (int64_t)ty_size(from[0]->type->elem);
  LLVMValueRef valid = l_mul(lw->b, lw_value(lw, rest[0]), lw_i64(lw, size));
  Text t = {0};
  add_shared(lw, &t, lw_address(lw, i->args[0], i->args + 1));
  add_global(lw, &t, lw_address(lw, from[0], from + 1));
  bool part = !LLVMIsAConstantInt(valid) || LLVMConstIntGetSExtValue(valid) != bytes;
  if (part)
    add(lw, &t, low(lw, valid));
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena, "cp.async.%s.shared.global [$0], [$1], %d%s;",
                     bytes == 16 ? "cg" : "ca", (int)bytes, part ? ", $2" : ""));
}

static void groups(Lower *lw, Ins *i, const char *what) {
  int64_t count = i->args[0]->aux.frozen->i;
  bool read = i->args[1]->aux.frozen->i;
  write(lw, &(Text){0}, lw->t->none,
        arena_printf(&lw->cx->arena, "%s%s %lld;", what, read ? ".read" : "", (long long)count));
}

static LLVMValueRef pointer_of(Lower *lw, Ins *array) { return lw_leaves(lw, array)[LEAF_POINTER]; }

static LLVMValueRef bytes_of(Lower *lw, Ins *array, Ins *elements) {
  return low(lw,
             l_mul(lw->b, lw_value(lw, elements), lw_i64(lw, (int64_t)ty_size(array->type->elem))));
}

/* The last operand's policy as an operand, and its modifier. An instruction without effects makes
 * it, so that LLVM takes it out of loops. */
static const char *add_policy(Lower *lw, Ins *i, Text *t, const char **place) {
  static const char *const names[] = {
#define POLICY(id, name) name,
#include "ir/bulk.def"
  };
  int64_t policy = i->args[i->nargs - 1]->aux.frozen->i;
  *place = "";
  if (!policy)
    return "";
  const char *code = arena_printf(&lw->cx->arena, "createpolicy.fractional.L2::%s.b64 $0, 1.0;",
                                  names[policy - 1]);
  *place = arena_printf(&lw->cx->arena, ", $%u", t->n);
  add(lw, t, cg_nvptx_asm(lw, lw->t->i64, code, "=l", false));
  return ".L2::cache_hint";
}

/* "add.noftz.f16" of the last operand but one, NULL: nothing is combined. */
static const char *reduction_of(Lower *lw, Ins *i, const Type *elem, const char **op) {
  static const char *const names[] = {
#define REDUCTION(id, name, types) name,
#include "ir/bulk.def"
  };
  static const struct {
    const char *number, *bits;
  } types[] = {
#define REDUCED(id, ptx, bits) [TY_##id] = {ptx, bits},
#include "ir/bulk.def"
  };
  int64_t n = i->args[i->nargs - 2]->aux.frozen->i;
  if (!n)
    return NULL;
  *op = names[n - 1];
  bool small = ty_bits(elem) == 16, logic = strchr("aox", **op) && strcmp(*op, "add") != 0;
  return arena_printf(&lw->cx->arena, "%s%s.%s", *op, small && !strcmp(*op, "add") ? ".noftz" : "",
                      logic ? types[elem->id].bits : types[elem->id].number);
}

/* Those of a load, from the barrier on. */
static bool add_barrier(Lower *lw, Ins **at, Text *t, LLVMValueRef *mask) {
  *mask = lw_value(lw, at[1 + at[0]->type->ndim]);
  add_shared(lw, t, lw_address(lw, at[0], at + 1));
  return !LLVMIsAConstantInt(*mask) || LLVMConstIntGetZExtValue(*mask);
}

static void bulk_load(Lower *lw, Ins *i) {
  LLVMValueRef mask;
  const char *policy;
  Text t = {0};
  lw->cg->bulk_loads = true;
  add_shared(lw, &t, pointer_of(lw, i->args[0]));
  add_global(lw, &t, pointer_of(lw, i->args[1]));
  add(lw, &t, bytes_of(lw, i->args[0], i->args[2]));
  bool many = add_barrier(lw, i->args + 4, &t, &mask);
  if (many)
    add(lw, &t, l_trunc(lw->b, mask, lw->t->i16));
  const char *hint = add_policy(lw, i, &t, &policy);
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena,
                     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s%s "
                     "[$0], [$1], $2, [$3]%s%s;",
                     many ? ".multicast::cluster" : "", hint, many ? ", $4" : "", policy));
}

static void bulk_store(Lower *lw, Ins *i) {
  const char *policy, *op, *reduction = reduction_of(lw, i, i->args[0]->type->elem, &op);
  Text t = {0};
  lw->cg->bulk_stores = true;
  add_global(lw, &t, pointer_of(lw, i->args[0]));
  add_shared(lw, &t, pointer_of(lw, i->args[1]));
  add(lw, &t, bytes_of(lw, i->args[1], i->args[3]));
  const char *hint = add_policy(lw, i, &t, &policy);
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena,
                     "cp.%sasync.bulk.global.shared::cta.bulk_group%s%s%s [$0], [$1], $2%s;",
                     reduction ? "reduce." : "", hint, reduction ? "." : "",
                     reduction ? reduction : "", policy));
}

/* To the array and the barrier of another block. A block that is alone in its cluster does the same
 * step by step: there st.async is an illegal instruction (H200). */
static void store_async(Lower *lw, Ins *i) {
  Ins **barrier = i->args + 1 + i->args[0]->type->ndim, *values = i->args[i->nargs - 1];
  LLVMValueRef const *leaves = lw_leaves(lw, values);
  unsigned n = values->type->n;
  bool wide = ty_size(values->type->elems[0]) == 8;
  Text t = {0};
  Buf list;
  buf_init(&list, &lw->cx->arena);
  add_shared(lw, &t, lw_address(lw, i->args[0], i->args + 1));
  add_shared(lw, &t, lw_address(lw, barrier[0], barrier + 1));
  for (unsigned k = 0; k < n; k++) {
    buf_printf(&list, "%s$%u", k ? ", " : "", t.n);
    add(lw, &t, l_bitcast(lw->b, leaves[k], wide ? lw->t->i64 : lw->t->i32));
  }
  const char *type = arena_printf(&lw->cx->arena, "%s.b%u",
                                  n == 4   ? ".v4"
                                  : n == 2 ? ".v2"
                                           : "",
                                  wide ? 64 : 32);
  const char *all = arena_printf(&lw->cx->arena, n > 1 ? "{%s}" : "%s", list.text);
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena,
                     "{ .reg .pred alone; .reg .b32 blocks;\n\t"
                     "mov.u32 blocks, %%cluster_nctarank;\n\t"
                     "setp.eq.u32 alone, blocks, 1;\n\t"
                     "@alone st.weak.shared::cluster%s [$0], %s;\n\t"
                     "@alone fence.acq_rel.cta;\n\t"
                     "@alone mbarrier.complete_tx.relaxed.cta.shared::cluster.b64 [$1], %u;\n\t"
                     "@!alone st.async.weak.shared::cluster.mbarrier::complete_tx::bytes%s "
                     "[$0], %s, [$1];\n\t}",
                     type, all, n * (wide ? 8 : 4), type, all));
}

/* --- boxes: of a tensor map, whose axes are in the other order --- */

static const char *coordinates(Lower *lw, Ins *i, Text *t) {
  Buf out;
  buf_init(&out, &lw->cx->arena);
  for (unsigned k = ir_tensor_rank(i); k-- > 0;) {
    buf_printf(&out, "%s$%u", out.len ? ", " : "{", t->n);
    add(lw, t, low(lw, lw_value(lw, ir_tensor_index(i)[k])));
  }
  buf_printf(&out, "}");
  return out.text;
}

static LLVMValueRef map_address(Lower *lw, Ins *i) {
  uint32_t field = cg_tensor_field(lw->cg->params, i);
  CX_ASSERT(lw->cx, field != UINT32_MAX);
  return l_ptrtoint(lw->b, LLVMGetParam(lw->cg->kernel, field), lw->t->i64);
}

static void tensor_load(Lower *lw, Ins *i) {
  LLVMValueRef mask;
  const char *policy;
  Text t = {0};
  lw->cg->bulk_loads = true;
  add_shared(lw, &t, pointer_of(lw, i->args[TENSOR_SHARED]));
  add(lw, &t, map_address(lw, i));
  bool many = add_barrier(lw, ir_tensor_index(i) + ir_tensor_rank(i), &t, &mask);
  if (many)
    add(lw, &t, l_trunc(lw->b, mask, lw->t->i16));
  const char *hint = add_policy(lw, i, &t, &policy), *place = coordinates(lw, i, &t);
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena,
                     "cp.async.bulk.tensor.%ud.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes%s%s [$0], [$1, %s], [$2]%s%s;",
                     ir_tensor_rank(i), many ? ".multicast::cluster" : "", hint, place,
                     many ? ", $3" : "", policy));
}

static void tensor_store(Lower *lw, Ins *i) {
  const char *policy, *op = NULL;
  Text t = {0};
  lw->cg->bulk_stores = true;
  (void)reduction_of(lw, i, i->args[TENSOR_ARRAY]->type->elem, &op); /* the type is the map's */
  add(lw, &t, map_address(lw, i));
  add_shared(lw, &t, pointer_of(lw, i->args[TENSOR_SHARED]));
  const char *hint = add_policy(lw, i, &t, &policy), *place = coordinates(lw, i, &t);
  write(lw, &t, lw->t->none,
        arena_printf(&lw->cx->arena,
                     "cp.%sasync.bulk.tensor.%ud.global.shared::cta%s%s.tile.bulk_group%s "
                     "[$0, %s], [$1]%s;",
                     op ? "reduce." : "", ir_tensor_rank(i), op ? "." : "", op ? op : "", hint,
                     place, policy));
}

bool cg_nvptx_copy(Lower *lw, Ins *i) {
  switch ((int)i->aux.intrinsic) {
  case INTR_MBARRIER_INIT: barrier(lw, i, true, "mbarrier.init.shared.b64 [$0], $1;"); break;
  case INTR_MBARRIER_INVAL: barrier(lw, i, false, "mbarrier.inval.shared.b64 [$0];"); break;
  case INTR_MBARRIER_ARRIVE: barrier(lw, i, false, "mbarrier.arrive.shared.b64 _, [$0];"); break;
  case INTR_MBARRIER_ARRIVE_CLUSTER: /* .release.cluster would be a fence of the whole GPU */
    barrier(lw, i, false, "mbarrier.arrive.shared::cluster.b64 _, [$0];");
    break;
  case INTR_MBARRIER_EXPECT_TX:
    barrier(lw, i, true, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;");
    break;
  case INTR_MBARRIER_ARRIVE_EXPECT_TX:
    barrier(lw, i, true, "mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;");
    break;
  case INTR_MBARRIER_WAIT: wait(lw, i); break;
  case INTR_MBARRIER_TRY_WAIT: try_wait(lw, i); break;
  case INTR_FENCE_MBARRIER_INIT:
    write(lw, &(Text){0}, lw->t->none, "fence.mbarrier_init.release.cluster;");
    break;
  case INTR_CP_ASYNC: copy(lw, i); break;
  case INTR_CP_ASYNC_COMMIT: write(lw, &(Text){0}, lw->t->none, "cp.async.commit_group;"); break;
  case INTR_CP_ASYNC_WAIT: groups(lw, i, "cp.async.wait_group"); break;
  case INTR_CP_ASYNC_ARRIVE:
    barrier(lw, i, false, "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];");
    break;
  case INTR_CP_ASYNC_BULK: bulk_load(lw, i); break;
  case INTR_CP_ASYNC_BULK_STORE: bulk_store(lw, i); break;
  case INTR_ST_ASYNC: store_async(lw, i); break;
  case INTR_CP_ASYNC_TENSOR: tensor_load(lw, i); break;
  case INTR_CP_ASYNC_TENSOR_STORE: tensor_store(lw, i); break;
  case INTR_CP_ASYNC_BULK_COMMIT:
    write(lw, &(Text){0}, lw->t->none, "cp.async.bulk.commit_group;");
    break;
  case INTR_CP_ASYNC_BULK_WAIT: groups(lw, i, "cp.async.bulk.wait_group"); break;
  default: return false;
  }
  return true;
}
