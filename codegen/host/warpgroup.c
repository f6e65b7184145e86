/* Host warpgroup: cuda.wgmma on the CPU. Each thread brings a record to a meeting
 * (RT_WAIT_WARPGROUP), and the runtime does the operation when all 128 have come
 * (runtime/host/warpgroups.h). */
#include <stddef.h>

#include "codegen/host/host.h"
#include "codegen/lower/lower.h"
#include "codegen/target.h"

#define UNSEEN(tile)                                                                               \
  "row {0} of tile " tile " has been written by threads since the last proxy fence: call "         \
  "cuda.fence_proxy_async_shared() behind the writes, in front of the barrier"
#define UNFENCED_BY(tile)                                                                          \
  "row {0} of tile " tile " was written in line {2} by thread {1}, which has not called "          \
  "cuda.fence_proxy_async_shared() since: another thread's fence does not do; whoever writes "     \
  "calls it, in front of the barrier"
#define COMING(tile)                                                                               \
  "row {0} of tile " tile " is still being copied: wait for the copy before, at its barrier"
#define NOT_MET(tile)                                                                              \
  "tile " tile " has been written by threads, and thread {0} of the warpgroup has not met them "   \
  "since: all meet between cuda.fence_proxy_async_shared() and the mma"
#define NOT_WAITED(tile)                                                                           \
  "row {0} of tile " tile " has been copied, and thread {1} of the warpgroup has not waited for "  \
  "the copy: all wait at its barrier, or meet a thread behind its wait"
#define REWRITTEN(tile)                                                                            \
  "tile " tile " has been written in line {0} by this thread, which has not met the warpgroup "    \
  "behind its wait(): it waits at a barrier at which the warpgroup arrives there"
#define OVERWRITTEN(tile)                                                                          \
  "tile " tile " of the mma in line {0} has been written while that was in flight: wait before"
static const char *const messages[RT_WARPGROUP_MISUSES] = {
    [0] = "{1} of the 128 threads of warpgroup {0} have come, and the others have ended or wait "
          "elsewhere",
    [RT_WARPGROUP_PARTIAL] = "warpgroup {0} has {1} threads, and takes 128: four warps, the first "
                             "of which has a number that is a multiple of four",
    [RT_WARPGROUP_APART] = "thread {1} of warpgroup {0} is at another operation than thread 0, or "
                           "has other tiles",
    [RT_WARPGROUP_GIVEN] = "these accumulators have been given to another mma already, and are in "
                           "flight there: go on with what that one returned",
    [RT_WARPGROUP_UNFENCED] = "there is no wgmma.fence() between the last wgmma.commit() or wait() "
                              "and this mma, and its accumulators or its fragment of A have been "
                              "computed by threads",
    [RT_WARPGROUP_UNSEEN] = UNSEEN("a"),
    [RT_WARPGROUP_UNSEEN_B] = UNSEEN("b"),
    [RT_WARPGROUP_UNFENCED_BY] = UNFENCED_BY("a"),
    [RT_WARPGROUP_UNFENCED_BY_B] = UNFENCED_BY("b"),
    [RT_WARPGROUP_COMING] = COMING("a"),
    [RT_WARPGROUP_COMING_B] = COMING("b"),
    [RT_WARPGROUP_NOT_MET] = NOT_MET("a"),
    [RT_WARPGROUP_NOT_MET_B] = NOT_MET("b"),
    [RT_WARPGROUP_NOT_WAITED] = NOT_WAITED("a"),
    [RT_WARPGROUP_NOT_WAITED_B] = NOT_WAITED("b"),
    [RT_WARPGROUP_REWRITTEN] = REWRITTEN("a"),
    [RT_WARPGROUP_REWRITTEN_B] = REWRITTEN("b"),
    [RT_WARPGROUP_LEFT] = "the block ends, and its warpgroup has not waited for this operation: "
                          "commit() it, then wait(0)",
    [RT_WARPGROUP_IN_FLIGHT] = "these accumulators are of a group that may still be in flight: "
                               "commit() it, and wait for fewer than {0} groups",
    [RT_WARPGROUP_OVERWRITTEN] = OVERWRITTEN("a"),
    [RT_WARPGROUP_OVERWRITTEN_B] = OVERWRITTEN("b"),
    [RT_WARPGROUP_MEMORY] = "no memory left on the host",
};

static uint32_t sites(Lower *lw) {
  const char *what = ir_intrinsics[lw->ins->aux.intrinsic].path;
  uint32_t first = 0;
  for (int k = 0; k < RT_WARPGROUP_MISUSES; k++) {
    const IrSite *s = ir_site(lw->cx, lw->cg->program, "RuntimeError",
                              arena_printf(&lw->cx->arena, "%s: %s", what, messages[k]),
                              lw->ins->loc);
    first = k ? first : s->number;
  }
  return first;
}

/* --- the record --- */

typedef struct Record {
  Lower *lw;
  LLVMValueRef at;
  uint64_t bytes; /* in use */
} Record;

static LLVMValueRef byte_at(const Record *r, uint64_t offset) {
  LLVMValueRef at = lw_i64(r->lw, (int64_t)offset);
  return l_gep_inbounds(r->lw->b, r->lw->t->i8, r->at, &at, 1);
}

static void set(const Record *r, size_t offset, LLVMValueRef v) {
  l_store(r->lw->b, v, byte_at(r, offset));
}
static void set_number(const Record *r, size_t offset, int64_t v) {
  set(r, offset, lw_i32(r->lw, v));
}

static unsigned size_of(const Ins *tuple) { return (unsigned)ty_size(tuple->type->elems[0]); }

static void put(Record *r, Ins *tuple) {
  for (uint32_t k = 0; k < tuple->type->n; k++, r->bytes += size_of(tuple))
    LLVMSetAlignment(l_store(r->lw->b, lw_leaves(r->lw, tuple)[k], byte_at(r, r->bytes)),
                     size_of(tuple));
}

enum { WORD = 4 }; /* bytes of an accumulator in a record */

static bool are_halves(const Ins *sums) { return sums->type->elems[0]->id == TY_F16; }

/* Accumulators: fragment number f of the operation. */
static void put_sums(Record *r, Ins *sums, uint32_t f, int64_t *halves) {
  Lower *lw = r->lw;
  set_number(r, offsetof(RtWarpgroupOp, elements) + f * sizeof(uint32_t), sums->type->n);
  *halves |= (int64_t)are_halves(sums) << f;
  set_number(r, offsetof(RtWarpgroupOp, halves), *halves);
  for (uint32_t k = 0; k < sums->type->n; k++, r->bytes += WORD) {
    LLVMValueRef v = lw_leaves(lw, sums)[k];
    if (are_halves(sums))
      v = l_zext(lw->b, l_bitcast(lw->b, v, lw->t->i16), lw->t->i32);
    LLVMSetAlignment(l_store(lw->b, v, byte_at(r, r->bytes)), WORD);
  }
}

/* The accumulators of operands `first` to `last`, as they are in the record now. */
static void get_sums(const Record *r, Ins *i, uint32_t first, uint32_t last, uint64_t offset) {
  Lower *lw = r->lw;
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(i->type) + 1), *out = leaves;
  for (uint32_t k = first; k < last; k++) {
    LLVMTypeRef t = lw_scalar_type(lw->cg, i->args[k]->type->elems[0]->id);
    bool halves = are_halves(i->args[k]);
    for (uint32_t e = 0; e < i->args[k]->type->n; e++, offset += WORD) {
      LLVMValueRef v = l_load(lw->b, halves ? lw->t->i32 : t, byte_at(r, offset));
      LLVMSetAlignment(v, WORD);
      *out++ = halves ? l_bitcast(lw->b, l_trunc(lw->b, v, lw->t->i16), t) : v;
    }
  }
  lw_set_leaves(lw, i, leaves);
}

static Record begin(Lower *lw, RtWarpgroupKind kind, uint64_t bytes) {
  Record r = {.lw = lw, .bytes = sizeof(RtWarpgroupOp)};
  r.at = lw_alloca(lw, LLVMArrayType2(lw->t->i8, r.bytes + bytes), 8, "record");
  LLVMBuildMemSet(lw->b, r.at, LLVMConstNull(lw->t->i8), lw_i64(lw, sizeof(RtWarpgroupOp)), 8);
  set_number(&r, offsetof(RtWarpgroupOp, kind), kind);
  set_number(&r, offsetof(RtWarpgroupOp, line), lw->ins->loc.line);
  return r;
}

static void come(const Record *r) {
  Lower *lw = r->lw;
  uint32_t site = sites(lw);
  set_number(r, offsetof(RtWarpgroupOp, site), site);
  cg_host_meeting(lw, RT_MEET_WAIT, site, lw_i32(lw, RT_WAIT_WARPGROUP),
                  l_ptrtoint(lw->b, r->at, lw->t->i64), NULL);
}

/* --- the operations --- */

static void fence(Lower *lw, Ins *i) {
  Record r = begin(lw, RT_WARPGROUP_FENCE, 0);
  come(&r);
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, cg_leaf_count(i->type) + 1), *out = leaves;
  for (uint32_t k = 0; k < i->nargs; k++)
    for (uint32_t e = 0; e < i->args[k]->type->n; e++)
      *out++ = lw_leaves(lw, i->args[k])[e];
  if (i->nargs)
    lw_set_leaves(lw, i, leaves);
}

static void wait(Lower *lw, Ins *i) {
  uint64_t bytes = 0;
  CX_ASSERT(lw->cx, i->nargs <= RT_WARPGROUP_FRAGMENTS + 1);
  int64_t halves = 0;
  for (uint32_t k = 1; k < i->nargs; k++)
    bytes += i->args[k]->type->n * WORD;
  Record r = begin(lw, RT_WARPGROUP_WAIT, bytes);
  set_number(&r, offsetof(RtWarpgroupOp, pending), i->args[0]->aux.frozen->i);
  for (uint32_t k = 1; k < i->nargs; k++)
    put_sums(&r, i->args[k], k - 1, &halves);
  come(&r);
  if (i->nargs > 1)
    get_sums(&r, i, 1, i->nargs, sizeof(RtWarpgroupOp));
}

static void set_tile(const Record *r, uint32_t which, Ins *array, Ins *part) {
  Lower *lw = r->lw;
  set(r, offsetof(RtWarpgroupOp, tile) + which * sizeof(uint64_t),
      l_ptrtoint(lw->b, lw_leaves(lw, array)[LEAF_POINTER], lw->t->i64));
  set(r, offsetof(RtWarpgroupOp, part) + which * sizeof(uint64_t), lw_value(lw, part));
}

static void multiply(Lower *lw, Ins *i) {
  static const struct {
    uint32_t k;
    RtMatrixFactor factor;
  } rows[] = {
#define X(k, factor, sum, code, ptx_factor, ptx_sum, majors) {k, RT_MATRIX_##code},
#include "ir/warpgroups.def"
#undef X
  };
  Ins *a = i->args[0], *sums = i->args[4];
  bool registers = a->type->id == TY_TUPLE;
  uint64_t fragment = registers ? a->type->n * size_of(a) : 0;
  int64_t row = i->args[5]->aux.frozen->i, halves = 0;
  Record r = begin(lw, RT_WARPGROUP_MMA, fragment + sums->type->n * WORD);
  set_number(&r, offsetof(RtWarpgroupOp, factor), rows[row].factor);
  set_number(&r, offsetof(RtWarpgroupOp, k), rows[row].k);
  set_number(&r, offsetof(RtWarpgroupOp, swizzle), i->args[6]->aux.frozen->i);
  set_number(&r, offsetof(RtWarpgroupOp, majors), i->args[7]->aux.frozen->i);
  set_number(&r, offsetof(RtWarpgroupOp, registers), (int64_t)fragment);
  set_number(&r, offsetof(RtWarpgroupOp, whole), ty_is_integral(sums->type->elems[0]));
  if (registers)
    put(&r, a);
  else
    set_tile(&r, 0, a, i->args[1]);
  set_tile(&r, 1, i->args[2], i->args[3]);
  put_sums(&r, sums, 0, &halves);
  come(&r);
  get_sums(&r, i, 4, 5, sizeof(RtWarpgroupOp) + fragment);
}

static void zeros(Lower *lw, Ins *i) {
  LLVMValueRef *leaves = CX_ARRAY(lw->cx, LLVMValueRef, i->type->n + 1);
  for (uint32_t k = 0; k < i->type->n; k++)
    leaves[k] = LLVMConstNull(lw_scalar_type(lw->cg, i->type->elems[0]->id));
  lw_set_leaves(lw, i, leaves);
}

void cg_host_warpgroup(Lower *lw, Ins *i) {
  Record r;
  switch ((int)i->aux.intrinsic) {
  case INTR_WGMMA_ZEROS: zeros(lw, i); return;
  case INTR_WGMMA_FENCE: fence(lw, i); return;
  case INTR_WGMMA_MMA: multiply(lw, i); return;
  case INTR_WGMMA_WAIT: wait(lw, i); return;
  default: r = begin(lw, RT_WARPGROUP_COMMIT, 0); come(&r);
  }
}
