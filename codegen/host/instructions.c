/* Host instructions: the rows of ir/instructions.def on the CPU. What waits for other threads is a
 * meeting (RT_MEET_WAIT, or of the warp), which the runtime ends (runtime/host/waits.c); what
 * orders memory for hardware that the CPU does not have is a fence. */
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/lower/lower.h"
#include "codegen/target.h"

static LLVMValueRef launch_of(Lower *lw) { return cg_host_arg(lw, HOST_LAUNCH); }

static uint32_t error_site(Lower *lw, const char *text) {
  const char *what = ir_intrinsics[lw->ins->aux.intrinsic].path;
  text = arena_printf(&lw->cx->arena, "%s: %s", what, text);
  return ir_site(lw->cx, lw->cg->program, "RuntimeError", text, lw->ins->loc)->number;
}

/* The errors of a wait: in vain, and with the next number one of its own use. */
static uint32_t wait_sites(Lower *lw, const char *in_vain, const char *misused) {
  uint32_t site = error_site(lw, in_vain);
  error_site(lw, misused);
  return site;
}

static void barrier(Lower *lw, Ins *i, RtWait how) {
  LLVMTypeRef wide = lw->t->i64;
  uint32_t site = wait_sites(
      lw,
      "{1} of the {2} threads of barrier {0} have come, and the others of the block have ended or "
      "wait elsewhere",
      "barrier {0} is for {1} threads here, and {2} of {3} have come to it; a barrier has a number "
      "from 1 to 15 and is for a multiple of 32 threads of the block, the same wherever they come");
  LLVMValueRef threads = l_shl(lw->b, l_zext(lw->b, lw_value(lw, i->args[1]), wide),
                               lw_i64(lw, 32));
  LLVMValueRef both = l_or(lw->b, threads, l_zext(lw->b, lw_value(lw, i->args[0]), wide));
  cg_host_meeting(lw, RT_MEET_WAIT, site, lw_i32(lw, (int)how), both, NULL);
}

static void cluster_barrier(Lower *lw, RtWait how) {
  uint32_t site = wait_sites(
      lw, "{0} of the {1} threads of the cluster have not come, and wait elsewhere",
      how == RT_WAIT_CLUSTER ? "this thread has not arrived: call barrier_arrive() before"
                             : "this thread has arrived already: call barrier_wait() before it "
                               "arrives again");
  cg_host_meeting(lw, RT_MEET_WAIT, site, lw_i32(lw, (int)how), lw_i64(lw, 0), NULL);
}

/* All lanes meet, and the lowest of those that have come is elected. */
static void elect(Lower *lw, Ins *i) {
  LLVMTypeRef t = lw->t->i32;
  LLVMValueRef yes = l_int(lw->t->i1, 1);
  LLVMValueRef lanes = lw->target->warp(lw, RT_MEET_BALLOT, lw_value(lw, i->args[0]), yes, NULL);
  LLVMValueRef lowest = lw_intrinsic(lw, "llvm.cttz", &t, 1,
                                     (LLVMValueRef[]){lanes, LLVMConstNull(lw->t->i1)}, 2);
  lw_set(lw, i, l_icmp(lw->b, LLVMIntEQ, lowest, lw->target->sreg(lw, SREG_LANEID)));
}

/* Registers of a thread at the launch; 0: they are not known here. */
static uint64_t first_registers(const Lower *lw) {
  uint64_t threads = (uint64_t)lw->cg->options.max_threads * (uint64_t)lw->cg->options.min_blocks,
           n = (uint64_t)lw->cg->options.max_registers;
  if (!n && threads)
    n = 65536 / threads / 8 * 8;
  n = n > 256 ? 256 : n;
  return (n + 7) / 8 * 8;
}

static void registers(Lower *lw, Ins *i, uint64_t change) {
  static const char *const messages[RT_REGISTERS_ERRORS] = {
      [RT_REGISTERS_ABSENT] =
          "{1} of the {2} threads of warpgroup {0} have come, and the others "
          "have ended or wait elsewhere: all warps of a group of four execute it",
      [RT_REGISTERS_IN_VAIN] =
          "warpgroup {0} waits in vain for {1} registers a thread: the others of the block keep "
          "{2} of its {3}, so let them decrease theirs before, or ask for fewer",
      [RT_REGISTERS_APART] = "thread {1} of warpgroup {0} sets {2} registers, and others of it "
                             "change to {3}: all of a group of four warps do the same",
      [RT_REGISTERS_OTHER] = "warpgroup {0} has {1} registers a thread, so that this is no change "
                             "to {2} in that direction",
      [RT_REGISTERS_MEMORY] = "no memory left on the host",
  };
  uint32_t site = error_site(lw, messages[0]);
  for (int k = 1; k < RT_REGISTERS_ERRORS; k++)
    error_site(lw, messages[k]);
  LLVMValueRef count = l_zext(lw->b, lw_value(lw, i->args[0]), lw->t->i64);
  uint64_t more = change | first_registers(lw) << RT_REGISTERS_FIRST;
  cg_host_meeting(lw, RT_MEET_WAIT, site, lw_i32(lw, RT_WAIT_REGISTERS),
                  l_or(lw->b, count, lw_i64(lw, (int64_t)more)), NULL);
}

/* --- clusters --- */

static LLVMValueRef size(Lower *lw, unsigned axis) {
  return cg_host_launch_field(lw->cg, launch_of(lw), lw->t->i32,
                              offsetof(RtHostLaunch, cluster) + axis * sizeof(uint32_t));
}

static LLVMValueRef index_of(Lower *lw, unsigned axis) {
  return l_urem(lw->b, cg_host_arg(lw, (HostArg)(HOST_BX + axis)), size(lw, axis));
}

static LLVMValueRef wide(Lower *lw, LLVMValueRef v) { return l_zext(lw->b, v, lw->t->i64); }

static LLVMValueRef rank(Lower *lw) {
  LLVMValueRef row = l_add(lw->b, l_mul(lw->b, index_of(lw, 2), size(lw, 1)), index_of(lw, 1));
  return l_add(lw->b, l_mul(lw->b, row, size(lw, 0)), index_of(lw, 0));
}

static LLVMValueRef blocks(Lower *lw) {
  return l_mul(lw->b, l_mul(lw->b, size(lw, 0), size(lw, 1)), size(lw, 2));
}

static void place(Lower *lw, Ins *i, LLVMValueRef (*axis)(Lower *lw, unsigned axis)) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, 3);
  for (unsigned k = 0; k < 3; k++)
    leaves[k] = wide(lw, axis(lw, k));
  lw_set_leaves(lw, i, leaves);
}

static bool is_view_of(const Ins *array, const Ins *map) {
  while (array->op == OP_VIEW)
    array = array->args[0];
  return array == map;
}

/* Is memory of the array that `map` gives read or written before its thread can meet others? In
 * code that is reached from there in one way only. */
static bool is_used_at_once(const Ins *map) {
  const Block *b = map->block;
  const Ins *i = map->next;
  for (;;) {
    for (; i; i = i->next) {
      bool access = i->op == OP_LOAD || i->op == OP_STORE || i->op == OP_ATOMIC;
      if (access && is_view_of(i->args[0], map))
        return true;
      if (i->op == OP_CALL_FN || i->op == OP_CALL_C ||
          (i->op == OP_INTRINSIC && ir_intrinsics[i->aux.intrinsic].effect == EFFECT_SYNC))
        return false;
    }
    if (!b->succ[0] || b->succ[1] || b->succ[0]->preds.len != 1)
      return false;
    b = b->succ[0];
    i = b->first;
  }
}

static void map_shared(Lower *lw, Ins *i) {
  uint32_t n = cg_leaf_count(i->type);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  memcpy(leaves, lw_leaves(lw, i->args[0]), n * sizeof *leaves);
  uint32_t site = error_site(lw, "the cluster has no block of rank {0}: it has {1} blocks");
  error_site(lw, "the block of rank {0} has ended, and its shared memory with it: let all blocks "
                 "meet (this_cluster().sync()) before one ends");
  error_site(lw,
             "nothing keeps the block of rank {0} from ending before this block uses its shared "
             "memory: let all blocks meet (this_cluster().sync()) after the last use");
  error_site(lw, "nothing says that the block of rank {0} has begun and written its shared memory, "
                 "which is used here: let all blocks meet (this_cluster().sync()) before");
  LLVMValueRef args[] = {
      launch_of(lw),        lw_i32(lw, (int)site),    cg_host_arg(lw, HOST_THREAD),
      leaves[LEAF_POINTER], lw_value(lw, i->args[1]), lw_i32(lw, is_used_at_once(i))};
  leaves[LEAF_POINTER] = lw_call_extern(lw, "rt_host_map_shared", lw->t->ptr, args, 6);
  lw_set_leaves(lw, i, leaves);
}

/* --- matrices: a record a lane (runtime/host/matrices.h) --- */

static LLVMValueRef record_of(Lower *lw, uint64_t bytes) {
  return lw_alloca(lw, LLVMArrayType2(lw->t->i8, bytes), 8, "record");
}

static LLVMValueRef byte_at(Lower *lw, LLVMValueRef record, uint64_t offset) {
  LLVMValueRef at = lw_i64(lw, (int64_t)offset);
  return l_gep_inbounds(lw->b, lw->t->i8, record, &at, 1);
}

static unsigned size_of(const Ins *tuple) { return (unsigned)ty_size(tuple->type->elems[0]); }

static uint64_t put(Lower *lw, LLVMValueRef record, uint64_t offset, Ins *tuple) {
  for (uint32_t k = 0; k < tuple->type->n; k++, offset += size_of(tuple))
    LLVMSetAlignment(l_store(lw->b, lw_leaves(lw, tuple)[k], byte_at(lw, record, offset)),
                     size_of(tuple));
  return offset;
}

static void get(Lower *lw, LLVMValueRef record, uint64_t offset, Ins *i) {
  LLVMTypeRef t = lw_memory_type(lw->cg, i->type->elems[0]->id);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, i->type->n + 1);
  for (uint32_t k = 0; k < i->type->n; k++, offset += size_of(i))
    LLVMSetAlignment(leaves[k] = l_load(lw->b, t, byte_at(lw, record, offset)), size_of(i));
  lw_set_leaves(lw, i, leaves);
}

static void meet(Lower *lw, LLVMValueRef record, int64_t op) {
  uint32_t site = wait_sites(lw, "lane {0} of warp {3} waits for lane {2}, which does not come",
                             "{1} of the 32 lanes of warp {3} are there, and matrices need all");
  cg_host_meeting(lw, RT_MEET_MATRIX, site, lw_i32(lw, -1), l_ptrtoint(lw->b, record, lw->t->i64),
                  lw_i32(lw, op));
}

static void multiply(Lower *lw, Ins *i) {
  static const struct {
    uint32_t m, k;
    RtMatrixFactor factor;
  } shapes[] = {
#define X(m, n, k, factor, sum, code, ptx_factor, ptx_sum) {m, k, RT_MATRIX_##code},
#include "ir/matrices.def"
#undef X
  };
  const int64_t number = i->args[3]->aux.frozen->i;
  LLVMValueRef record = record_of(lw, 128);
  uint64_t sums = put(lw, record, put(lw, record, 0, i->args[0]), i->args[1]);
  sums = (sums + 7) / 8 * 8;
  put(lw, record, sums, i->args[2]);
  meet(lw, record,
       shapes[number].k | shapes[number].m << 8 | (uint32_t)shapes[number].factor << 16 |
           size_of(i) << 20);
  get(lw, record, sums, i);
}

enum { REGISTERS = 8 }; /* of a record, behind the address */

static void move_matrices(Lower *lw, Ins *i, Ins *values, int64_t store) {
  LLVMValueRef record = record_of(lw, REGISTERS + 16),
               address = lw_address(lw, i->args[0], i->args + 1);
  const Type *t = values ? values->type : i->type;
  int64_t count = t->n * (int64_t)ty_size(t->elems[0]) / 4;
  bool transposed = i->args[i->nargs - 1]->aux.frozen->i;
  l_store(lw->b, l_ptrtoint(lw->b, address, lw->t->i64), record);
  if (values)
    put(lw, record, REGISTERS, values);
  meet(lw, record, RT_MATRIX_MOVE | count | store | (transposed ? RT_MATRIX_TRANSPOSED : 0));
  if (!values)
    get(lw, record, REGISTERS, i);
}

void cg_host_instruction(Lower *lw, Ins *i) {
  switch ((int)i->aux.intrinsic) {
  case INTR_ELECT_SYNC: elect(lw, i); return;
  case INTR_BARRIER_SYNC: barrier(lw, i, RT_WAIT_BARRIER_SYNC); return;
  case INTR_BARRIER_ARRIVE: barrier(lw, i, RT_WAIT_BARRIER_ARRIVE); return;
  case INTR_FENCE_PROXY_ASYNC_GLOBAL:
  case INTR_FENCE_PROXY_ALIAS: lw->target->fence(lw, FENCE_BLOCK); return;
  case INTR_SETMAXREGISTER_INCREASE: registers(lw, i, RT_REGISTERS_INCREASE); return;
  case INTR_SETMAXREGISTER_DECREASE: registers(lw, i, 0); return;
  case INTR_GRID_DEPENDENCY_WAIT:
  case INTR_GRID_DEPENDENCY_LAUNCH: return;
  case INTR_CLUSTER_RANK: lw_set(lw, i, wide(lw, rank(lw))); return;
  case INTR_CLUSTER_BLOCKS: lw_set(lw, i, wide(lw, blocks(lw))); return;
  case INTR_CLUSTER_INDEX: place(lw, i, index_of); return;
  case INTR_CLUSTER_DIM: place(lw, i, size); return;
  case INTR_CLUSTER_SYNC: cluster_barrier(lw, RT_WAIT_CLUSTER_SYNC); return;
  case INTR_CLUSTER_ARRIVE: cluster_barrier(lw, RT_WAIT_CLUSTER_ARRIVE); return;
  case INTR_CLUSTER_WAIT: cluster_barrier(lw, RT_WAIT_CLUSTER); return;
  case INTR_CLUSTER_MAP: map_shared(lw, i); return;
  case INTR_LDMATRIX: move_matrices(lw, i, NULL, 0); return;
  case INTR_STMATRIX: move_matrices(lw, i, i->args[i->nargs - 2], RT_MATRIX_STORE); return;
  case INTR_MMA_SYNC: multiply(lw, i); return;
  case INTR_WGMMA_ZEROS:
  case INTR_WGMMA_FENCE:
  case INTR_WGMMA_MMA:
  case INTR_WGMMA_COMMIT:
  case INTR_WGMMA_WAIT: cg_host_warpgroup(lw, i); return;
  default:
    if (!cg_host_copy(lw, i))
      cx_bug(lw->cx, "%s has no instruction", ir_intrinsics[i->aux.intrinsic].path);
  }
}
