/* Host copies: mbarriers and asynchronous copies are calls of the runtime (runtime/host/copies.c),
 * and who waits for a phase meets (RT_MEET_WAIT). The messages of RtCopyError are here. */
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/lower/lower.h"
#include "codegen/target.h"
#include "ir/tensor_maps.h"

/* Of a barrier: behind its name, full[{0}]. The others stand behind the function's name. */
typedef struct Message {
  bool barrier;
  const char *text;
} Message;

static const Message messages[RT_COPY_ERRORS] = {
    [RT_COPY_IN_VAIN] = {true,
                         "is waited for in vain: phase {1} still needs {2} arrivals and {3} bytes, "
                         "and all threads that could bring them have ended or wait elsewhere"},
    [RT_COPY_IN_VAIN_MORE] =
        {true, "is waited for in vain: phase {1} still needs {2} arrivals, and {3} bytes more have "
               "come in it than mbarrier_expect_tx or mbarrier_arrive_expect_tx said"},
    [RT_COPY_PASSED] = {true,
                        "is waited for in vain: phase {2} with that parity has passed, and phase "
                        "{1} does not end: a thread may be one phase behind a barrier, not more"},
    [RT_COPY_NO_BARRIER] =
        {true, "is no barrier: one thread calls mbarrier_init, and all threads meet, before "
               "it is used"},
    [RT_COPY_NOT_MET] = {true,
                         "is no barrier yet for this thread: thread {1} made it, and the two have "
                         "not met since: all threads meet between mbarrier_init and the first use"},
    [RT_COPY_UNFENCED_BARRIER] =
        {true, "may not be seen by the copy: thread {1} calls fence_mbarrier_init() behind "
               "mbarrier_init, then all meet"},
    [RT_COPY_BARRIER_AGAIN] = {true,
                               "is a barrier already, and in phase {1}: call mbarrier_inval before "
                               "mbarrier_init"},
    [RT_COPY_COUNT] = {true, "cannot be for {1} arrivals: there are 1 to 1048575"},
    [RT_COPY_TOO_MANY] =
        {true, "has had all arrivals of phase {1}, of which {2} bytes are still to come, and "
               "here is one more"},
    [RT_COPY_EXPECTED] = {true, "cannot expect {2} bytes in phase {1}: there are 0 to 1048575"},
    [RT_COPY_MORE_BYTES] = {true,
                            "has got {2} bytes more in phase {1} than mbarrier_expect_tx said"},
    [RT_COPY_PHASE_AGAIN] =
        {true, "is waited for with parity {2} again by a thread that has waited for it "
               "before, and phase {1} has not ended since: flip the parity each time"},
    [RT_COPY_PARITY] = {true, "has phases of parity 0 and 1, and none of {1}"},
    [RT_COPY_BLOCK_ENDED] =
        {true, "is in the block of rank {1}, which has ended: let all blocks of the cluster "
               "meet (this_cluster().sync()) before one ends"},
    [RT_COPY_BLOCK_ENDS] =
        {false, "it comes to the block of rank {0}, which ends without having waited for it: let "
                "all blocks of the cluster meet (this_cluster().sync()) before one ends"},
    [RT_COPY_NO_BLOCK] =
        {false, "multicast={0:x} names no block, or blocks that the cluster does not have: it has "
                "{1}"},
    [RT_COPY_TO] = {false, "the address that is written is {0} bytes beyond a multiple of {1}"},
    [RT_COPY_FROM] = {false, "the address that is read is {0} bytes beyond a multiple of {1}"},
    [RT_COPY_SIZE] = {false, "it copies a multiple of 16 bytes, and not {0}"},
    [RT_COPY_DIFFER] = {false, "{0} elements are to be copied to a place for {1}"},
    [RT_COPY_STRIDE] =
        {false, "a row of the array has {0} bytes, and for a tensor map it is a multiple of 16"},
    [RT_COPY_INDEX] = {false, "boxes begin at multiples of 16 bytes, so the last index, {0}, has "
                              "to be a multiple of {1}"},
    [RT_COPY_FIRST_INDEX] = {false,
                             "boxes begin at multiples of 16 bytes, so the first index, {0}, has "
                             "to be a multiple of {1}"},
    [RT_COPY_BEFORE] = {false,
                        "a store may go beyond the array's end, but does not begin before it: "
                        "the index of axis {1} is {0}"},
    [RT_COPY_UNFENCED] =
        {false, "byte {0} of the {1} has been written since the last fence_proxy_async_shared(), "
                "so the copy may not see it: whoever writes calls it, then all meet, then one "
                "copies"},
    [RT_COPY_UNFENCED_BY] =
        {false, "byte {0} of the {1} was written in line {3} by thread {2}, which has not called "
                "fence_proxy_async_shared() since, so the copy may not see it: another thread's "
                "fence does not do; whoever writes calls it, then all meet, then one copies"},
    [RT_COPY_UNMET] =
        {false, "byte {0} of the {1} was written in line {3} by thread {2}, and this thread has "
                "not met it since its fence_proxy_async_shared(), so the copy may not see it: "
                "whoever writes calls it, then all meet, then one copies"},
    [RT_COPY_CHANGED] =
        {false, "byte {0} of the {1} was written before the copy had read it: its thread calls "
                "cp_async_bulk_commit_group() and cp_async_bulk_wait_group(0, read=True), "
                "then all meet, then others write"},
    [RT_COPY_COMING] = {false, "another copy that has not arrived writes what is to be copied: "
                               "wait for it before"},
    [RT_COPY_NOT_WAITED] =
        {false,
         "byte {0} of the {1} came with a copy that this thread has not waited for: it waits "
         "at the copy's barrier, or meets a thread behind its wait"},
    [RT_COPY_TWICE] = {false, "another copy that has not arrived writes to this place: wait for it "
                              "before"},
    [RT_COPY_READ] = {false, "the mma in line {0} may still read this place: wgmma.wait() ends it, "
                             "and only then its threads may say that the place is free"},
    [RT_COPY_READ_UNMET] =
        {false, "the mma in line {0} reads this place, and this thread has not met its warpgroup "
                "behind wgmma.wait(): only there its threads may say that the place is free, at a "
                "barrier that this thread waits for"},
    [RT_COPY_USED_UNMET] =
        {false, "thread {0} read this place in line {1}, and this thread has not met it since: it "
                "says behind its reading that the place is free, at a barrier that this thread "
                "waits for"},
    [RT_COPY_WRITTEN_UNMET] =
        {false, "thread {0} wrote to this place in line {1}, and this thread has not met it since, "
                "so either may come last"},
    [RT_COPY_COPIED_UNMET] =
        {false, "cuda.cp_async of thread {0} wrote to this place, and this thread has not met it "
                "since, so either may come last"},
    [RT_COPY_WRITTEN] = {false, "byte {0} of the {1} has been written by threads before the copy "
                                "arrived: who writes has to meet its thread before, or waits for "
                                "the copy"},
    [RT_COPY_LEFT] =
        {false, "the block ends, and no thread has waited for these {0} bytes at their barrier"},
    [RT_COPY_EXPECTED_LEFT] =
        {true, "expects {2} bytes in phase {1}, and the block ends before they have come: no copy "
               "brings them"},
    [RT_COPY_MEMORY] = {false, "no memory is left for what the host device notes of copies"},
};

/* The view of another block has the name of this one's. */
static bool is_view(const Ins *i) {
  return i->op == OP_VIEW || (i->op == OP_INTRINSIC && i->aux.intrinsic == INTR_CLUSTER_MAP);
}

static const char *name_of(const Ins *barriers) {
  while (is_view(barriers))
    barriers = barriers->args[0];
  bool named = barriers->op == OP_ALLOC && barriers->aux.alloc->name;
  return named ? barriers->aux.alloc->name : "barriers";
}

/* The first of the sites of all errors. barriers: NULL without. */
static uint32_t sites(Lower *lw, const Ins *barriers) {
  Arena *a = &lw->cx->arena;
  const char *what = ir_intrinsics[lw->ins->aux.intrinsic].path;
  const char *name = barriers ? name_of(barriers) : "barriers";
  uint32_t first = 0;
  for (unsigned k = 0; k < RT_COPY_ERRORS; k++) {
    const char *text = messages[k].barrier
                           ? arena_printf(a, "%s: %s[{0}] %s", what, name, messages[k].text)
                           : arena_printf(a, "%s: %s", what, messages[k].text);
    uint32_t number = ir_site(lw->cx, lw->cg->program, "RuntimeError", text, lw->ins->loc)->number;
    first = k ? first : number;
  }
  return first;
}

static LLVMValueRef launch_of(Lower *lw) { return cg_host_arg(lw, HOST_LAUNCH); }
static LLVMValueRef thread_of(Lower *lw) { return cg_host_arg(lw, HOST_THREAD); }
static LLVMValueRef pointer_of(Lower *lw, Ins *array) { return lw_leaves(lw, array)[LEAF_POINTER]; }
static unsigned size_of(const Ins *array) { return (unsigned)ty_size(array->type->elem); }

/* --- mbarriers: the array, its indices, a number --- */

typedef struct Barrier {
  LLVMValueRef address, index; /* index: i64, in the array */
} Barrier;

static Barrier barrier_of(Lower *lw, Ins **args) {
  LLVMValueRef address = lw_address(lw, args[0], args + 1);
  LLVMValueRef first = l_ptrtoint(lw->b, pointer_of(lw, args[0]), lw->t->i64);
  LLVMValueRef bytes = l_sub(lw->b, l_ptrtoint(lw->b, address, lw->t->i64), first);
  return (Barrier){address, l_lshr(lw->b, bytes, lw_i64(lw, 3))};
}

static LLVMValueRef number_of(Lower *lw, Ins *i) {
  return lw_value(lw, i->args[1 + i->args[0]->type->ndim]);
}

static void barrier(Lower *lw, Ins *i, RtMbarrierOp op, bool number) {
  Barrier b = barrier_of(lw, i->args);
  LLVMValueRef args[] = {
      launch_of(lw),  lw_i32(lw, (int)sites(lw, i->args[0])),   thread_of(lw), b.address, b.index,
      lw_i32(lw, op), number ? number_of(lw, i) : lw_i64(lw, 0)};
  lw_call_extern(lw, "rt_host_mbarrier", lw->t->none, args, 7);
}

static LLVMValueRef wait(Lower *lw, Ins *i, RtWait how) {
  Barrier b = barrier_of(lw, i->args);
  uint32_t site = sites(lw, i->args[0]);
  LLVMValueRef parity = number_of(lw, i), wide = l_ptrtoint(lw->b, b.address, lw->t->i64);
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, (int)site), thread_of(lw), b.address, b.index,
                         parity};
  lw_call_extern(lw, "rt_host_mbarrier_look", lw->t->none, args, 6);
  LLVMValueRef index = l_and(lw->b, b.index, lw_i64(lw, 0x7fff));
  wide = l_or(lw->b, wide, l_shl(lw->b, index, lw_i64(lw, RT_WAIT_INDEX_SHIFT)));
  wide = l_or(lw->b, wide, l_shl(lw->b, parity, lw_i64(lw, RT_WAIT_PARITY_SHIFT)));
  cg_host_meeting(lw, RT_MEET_WAIT, site, lw_i32(lw, (int)how), wide, NULL);
  return b.address;
}

static void try_wait(Lower *lw, Ins *i) {
  LLVMValueRef address = wait(lw, i, RT_WAIT_TRY), parity = number_of(lw, i);
  LLVMValueRef args[] = {launch_of(lw), address, parity};
  LLVMValueRef v = lw_call_extern(lw, "rt_host_mbarrier_passed", lw->t->i32, args, 3);
  lw_set(lw, i, l_icmp(lw->b, LLVMIntNE, v, lw_i32(lw, 0)));
}

/* --- copies --- */

static void copy(Lower *lw, Ins *i) {
  Ins **from = i->args + 1 + i->args[0]->type->ndim, **rest = from + 1 + from[0]->type->ndim;
  LLVMValueRef valid = l_mul(lw->b, lw_value(lw, rest[0]), lw_i64(lw, size_of(from[0])));
  LLVMValueRef args[] = {launch_of(lw),
                         lw_i32(lw, (int)sites(lw, NULL)),
                         thread_of(lw),
                         lw_address(lw, i->args[0], i->args + 1),
                         lw_address(lw, from[0], from + 1),
                         lw_i32(lw, (int)rest[1]->aux.frozen->i),
                         valid};
  lw_call_extern(lw, "rt_host_copy", lw->t->none, args, 7);
}

static void groups(Lower *lw, RtCopyGroups op, int64_t count) {
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, (int)sites(lw, NULL)), thread_of(lw),
                         lw_i32(lw, op), lw_i64(lw, count)};
  lw_call_extern(lw, "rt_host_copy_groups", lw->t->none, args, 5);
}

static void put(Lower *lw, LLVMValueRef record, size_t offset, LLVMValueRef v) {
  LLVMValueRef at = lw_i64(lw, (int64_t)offset);
  l_store(lw->b, v, l_gep_inbounds(lw->b, lw->t->i8, record, &at, 1));
}

/* The last operand but one of a store. */
static void put_reduce(Lower *lw, Ins *i, const Ins *array, LLVMValueRef record, size_t offset) {
  static const unsigned char types[] = {
#define REDUCED(id, ptx, bits) [TY_##id] = RT_REDUCED_##id,
#include "ir/bulk.def"
  };
  int64_t op = i->args[i->nargs - 2]->aux.frozen->i;
  put(lw, record, offset + offsetof(RtReduce, op), lw_i64(lw, op));
  put(lw, record, offset + offsetof(RtReduce, type),
      lw_i64(lw, op ? types[array->type->elem->id] : 0));
}

/* The blocks that a load is for; a constant 0 says that none are named. */
static LLVMValueRef blocks_of(Lower *lw, Ins **barrier) {
  LLVMValueRef v = lw_value(lw, barrier[1 + barrier[0]->type->ndim]);
  bool none = LLVMIsAConstantInt(v) && LLVMConstIntGetSExtValue(v) == 0;
  return none ? lw_i64(lw, RT_COPY_OWN) : v;
}

static void bulk(Lower *lw, Ins *i, Ins **barrier) {
  LLVMValueRef r = lw_alloca(lw, LLVMArrayType2(lw->t->i8, sizeof(RtBulk)), 8, "bulk");
  put(lw, r, offsetof(RtBulk, to), pointer_of(lw, i->args[0]));
  put(lw, r, offsetof(RtBulk, from), pointer_of(lw, i->args[1]));
  put(lw, r, offsetof(RtBulk, to_elements), lw_value(lw, i->args[2]));
  put(lw, r, offsetof(RtBulk, from_elements), lw_value(lw, i->args[3]));
  put(lw, r, offsetof(RtBulk, size), lw_i64(lw, size_of(i->args[0])));
  if (barrier) {
    Barrier b = barrier_of(lw, barrier);
    put(lw, r, offsetof(RtBulk, barrier), b.address);
    put(lw, r, offsetof(RtBulk, index), b.index);
    put(lw, r, offsetof(RtBulk, blocks), blocks_of(lw, barrier));
  } else {
    put_reduce(lw, i, i->args[0], r, offsetof(RtBulk, reduce));
  }
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, (int)sites(lw, barrier ? barrier[0] : NULL)),
                         thread_of(lw), r};
  lw_call_extern(lw, barrier ? "rt_host_bulk_load" : "rt_host_bulk_store", lw->t->none, args, 4);
}

static void store_async(Lower *lw, Ins *i) {
  Ins **barrier = i->args + 1 + i->args[0]->type->ndim, *values = i->args[i->nargs - 1];
  size_t size = ty_size(values->type->elems[0]), bytes = values->type->n * size;
  LLVMValueRef kept = lw_alloca(lw, LLVMArrayType2(lw->t->i8, bytes), 8, "values");
  for (unsigned k = 0; k < values->type->n; k++)
    put(lw, kept, k * size, lw_leaves(lw, values)[k]);
  Barrier b = barrier_of(lw, barrier);
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, (int)sites(lw, barrier[0])),
                         thread_of(lw), lw_address(lw, i->args[0], i->args + 1),
                         kept,          lw_i32(lw, (int)bytes),
                         b.address,     b.index};
  lw_call_extern(lw, "rt_host_store_async", lw->t->none, args, 8);
}

static void put_number(Lower *lw, LLVMValueRef record, size_t offset, int64_t n) {
  put(lw, record, offset, lw_i64(lw, n));
}

static void tensor(Lower *lw, Ins *i) {
  bool load = i->aux.intrinsic == INTR_CP_ASYNC_TENSOR;
  LLVMValueRef r = lw_alloca(lw, LLVMArrayType2(lw->t->i8, sizeof(RtTensor)), 8, "tensor");
  Ins *array = i->args[TENSOR_ARRAY], **at = ir_tensor_index(i);
  unsigned rank = ir_tensor_rank(i);
  put(lw, r, offsetof(RtTensor, shared), pointer_of(lw, i->args[TENSOR_SHARED]));
  put(lw, r, offsetof(RtTensor, global), pointer_of(lw, array));
  put(lw, r, offsetof(RtTensor, elements), lw_value(lw, i->args[TENSOR_ELEMENTS]));
  put_number(lw, r, offsetof(RtTensor, size), size_of(array));
  put_number(lw, r, offsetof(RtTensor, rank), rank);
  put_number(lw, r, offsetof(RtTensor, swizzle), ir_tensor_swizzle(i));
  put_number(lw, r, offsetof(RtTensor, fortran), ir_tensor_is_fortran(i));
  for (unsigned k = 0; k < rank; k++) {
    unsigned axis = ir_tensor_is_fortran(i) ? rank - 1 - k : k;
    put(lw, r, offsetof(RtTensor, extent) + 8 * k, lw_leaves(lw, array)[cg_extent_leaf(axis)]);
    put_number(lw, r, offsetof(RtTensor, box) + 8 * k, ir_tensor_box(i, k));
    put(lw, r, offsetof(RtTensor, index_of) + 8 * k, lw_value(lw, at[k]));
  }
  Ins **barrier = at + rank;
  if (load) {
    Barrier b = barrier_of(lw, barrier);
    put(lw, r, offsetof(RtTensor, barrier), b.address);
    put(lw, r, offsetof(RtTensor, index), b.index);
    put(lw, r, offsetof(RtTensor, blocks), blocks_of(lw, barrier));
  } else {
    put_reduce(lw, i, array, r, offsetof(RtTensor, reduce));
  }
  LLVMValueRef args[] = {launch_of(lw), lw_i32(lw, (int)sites(lw, load ? barrier[0] : NULL)),
                         thread_of(lw), r};
  lw_call_extern(lw, load ? "rt_host_tensor_load" : "rt_host_tensor_store", lw->t->none, args, 4);
}

static bool has(const Cg *cg, bool (*is)(IntrinsicId id)) {
  for (uint32_t k = 0; k < cg->program->fns.len; k++)
    FOR_BLOCKS (cg->program->fns.data[k], b)
      FOR_INS (b, i)
        if (i->op == OP_INTRINSIC && is(i->aux.intrinsic))
          return true;
  return false;
}

static bool is_init(IntrinsicId id) { return id == INTR_MBARRIER_INIT; }

/* Copies see barriers that have been made before: of all threads, or of this one. */
static void barriers_fenced(Lower *lw, bool all) {
  LLVMValueRef args[] = {launch_of(lw), thread_of(lw), lw_i32(lw, all)};
  if (has(lw->cg, is_init))
    lw_call_extern(lw, "rt_host_barriers_fenced", lw->t->none, args, 3);
}

/* Threads meet the runtime where it asks what asynchronous operations see. */
static void proxy_fence(Lower *lw) {
  if (!lw->cg->shows_stores)
    lw->target->fence(lw, FENCE_BLOCK);
  else
    cg_host_meeting(lw, RT_MEET_WAIT, sites(lw, NULL), lw_i32(lw, RT_WAIT_PROXY), lw_i64(lw, 0),
                    NULL);
  barriers_fenced(lw, true);
}

/* All others have a turn before the copies count as done. */
static void wait_for_stores(Lower *lw, int64_t count) {
  cg_host_meeting(lw, RT_MEET_WAIT, sites(lw, NULL), lw_i32(lw, RT_WAIT_STORES), lw_i64(lw, 0),
                  NULL);
  groups(lw, RT_COPIES_BULK_WAIT, count);
}

bool cg_host_copy(Lower *lw, Ins *i) {
  switch ((int)i->aux.intrinsic) {
  case INTR_FENCE_PROXY_ASYNC:
  case INTR_FENCE_PROXY_ASYNC_SHARED: proxy_fence(lw); break;
  case INTR_FENCE_MBARRIER_INIT:
    lw->target->fence(lw, FENCE_BLOCK);
    barriers_fenced(lw, false);
    break;
  case INTR_MBARRIER_INIT: barrier(lw, i, RT_MBARRIER_INIT, true); break;
  case INTR_MBARRIER_INVAL: barrier(lw, i, RT_MBARRIER_INVAL, false); break;
  case INTR_MBARRIER_ARRIVE:
  case INTR_MBARRIER_ARRIVE_CLUSTER: barrier(lw, i, RT_MBARRIER_ARRIVE, false); break;
  case INTR_MBARRIER_EXPECT_TX: barrier(lw, i, RT_MBARRIER_EXPECT, true); break;
  case INTR_MBARRIER_ARRIVE_EXPECT_TX: barrier(lw, i, RT_MBARRIER_ARRIVE_EXPECT, true); break;
  case INTR_MBARRIER_WAIT: wait(lw, i, RT_WAIT_PHASE); break;
  case INTR_MBARRIER_TRY_WAIT: try_wait(lw, i); break;
  case INTR_CP_ASYNC: copy(lw, i); break;
  case INTR_CP_ASYNC_COMMIT: groups(lw, RT_COPIES_COMMIT, 0); break;
  case INTR_CP_ASYNC_WAIT: groups(lw, RT_COPIES_WAIT, i->args[0]->aux.frozen->i); break;
  case INTR_CP_ASYNC_ARRIVE: barrier(lw, i, RT_MBARRIER_COPIES, false); break;
  case INTR_CP_ASYNC_BULK: bulk(lw, i, i->args + 4); break;
  case INTR_CP_ASYNC_BULK_STORE: bulk(lw, i, NULL); break;
  case INTR_ST_ASYNC: store_async(lw, i); break;
  case INTR_CP_ASYNC_TENSOR:
  case INTR_CP_ASYNC_TENSOR_STORE: tensor(lw, i); break;
  case INTR_CP_ASYNC_BULK_COMMIT: groups(lw, RT_COPIES_BULK_COMMIT, 0); break;
  case INTR_CP_ASYNC_BULK_WAIT: wait_for_stores(lw, i->args[0]->aux.frozen->i); break;
  default: return false;
  }
  return true;
}
