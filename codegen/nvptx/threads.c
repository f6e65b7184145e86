/* NVPTX threads: special registers, barriers of a block, warp operations, fences. Each is one
 * intrinsic of LLVM, except that shuffles of 64-bit values are two of 32 bits. */
#include <assert.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/nvptx/nvptx.h"

#define READ_REGISTER "llvm.nvvm.read.ptx.sreg."

LLVMValueRef cg_nvptx_read_register(Cg *cg, LLVMBuilderRef b, SpecialReg r) {
  const char *name = arena_printf(&cg->cx->arena, READ_REGISTER "%s", ir_registers[r].ptx);
  LLVMValueRef fn = cg_intrinsic_fn(cg, name, NULL, 0);
  return l_call(b, fn, NULL, 0);
}

SpecialReg cg_nvptx_register_of(LLVMValueRef call) {
  static const size_t prefix = sizeof READ_REGISTER - 1;
  size_t n;
  const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &n);
  if (n < prefix || memcmp(name, READ_REGISTER, prefix) != 0)
    return SREG_NONE;
  for (SpecialReg r = 0; r < SREG_COUNT; r++)
    if (strcmp(name + prefix, ir_registers[r].ptx) == 0)
      return r;
  return SREG_NONE;
}

LLVMValueRef cg_nvptx_sreg(Lower *lw, SpecialReg r) {
  return cg_nvptx_read_register(lw->cg, lw->b, r);
}

void cg_nvptx_barrier(Lower *lw) {
  lw_intrinsic(lw, cg_llvm_barrier, NULL, 0, (LLVMValueRef[]){lw_i32(lw, 0)}, 1);
}

LLVMValueRef cg_nvptx_barrier_vote(Lower *lw, BarrierVote vote, LLVMValueRef i1) {
  const char *name = vote == VOTE_AND  ? cg_llvm_barrier_red_and
                     : vote == VOTE_OR ? cg_llvm_barrier_red_or
                                       : cg_llvm_barrier_red_popc;
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, (LLVMValueRef[]){lw_i32(lw, 0), i1}, 2);
  return vote == VOTE_COUNT ? v : l_zext(lw->b, v, lw->t->i32);
}

/* The shuffle of an i32. */
static LLVMValueRef shuffle_word(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef word,
                                 LLVMValueRef lane) {
  static const char *const names[] = {[RT_MEET_SHFL_IDX] = "llvm.nvvm.shfl.sync.idx.i32",
                                      [RT_MEET_SHFL_UP] = "llvm.nvvm.shfl.sync.up.i32",
                                      [RT_MEET_SHFL_DOWN] = "llvm.nvvm.shfl.sync.down.i32",
                                      [RT_MEET_SHFL_XOR] = "llvm.nvvm.shfl.sync.bfly.i32"};
  LLVMValueRef last = lw_i32(lw, kind == RT_MEET_SHFL_UP ? 0 : 31);
  return lw_intrinsic(lw, names[kind], NULL, 0, (LLVMValueRef[]){mask, word, lane, last}, 4);
}

static LLVMValueRef nvptx_shuffle(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                                  LLVMValueRef lane) {
  assert(LLVMSizeOfTypeInBits(lw->cg->layout, LLVMTypeOf(value)) % 32 == 0);
  if (LLVMTypeOf(value) == lw->t->i32)
    return shuffle_word(lw, kind, mask, value, lane);
  LLVMTypeRef halves = LLVMVectorType(lw->t->i32, 2);
  LLVMValueRef from = l_bitcast(lw->b, value, halves), to = LLVMGetPoison(halves);
  for (int k = 0; k < 2; k++) {
    LLVMValueRef word = l_extract_element(lw->b, from, lw_i32(lw, k));
    word = shuffle_word(lw, kind, mask, word, lane);
    to = l_insert_element(lw->b, to, word, lw_i32(lw, k));
  }
  return l_bitcast(lw->b, to, LLVMTypeOf(value));
}

static LLVMValueRef nvptx_match(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value) {
  bool all = kind == RT_MEET_MATCH_ALL;
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.match.%s.sync.i%u%s",
                                  all ? "all" : "any", LLVMGetIntTypeWidth(LLVMTypeOf(value)),
                                  all ? "p" : "");
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, (LLVMValueRef[]){mask, value}, 2);
  return all ? l_extract_value(lw->b, v, 0) : v;
}

LLVMValueRef cg_nvptx_warp(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                           LLVMValueRef lane) {
  static const char *const votes[] = {[RT_MEET_ALL] = "llvm.nvvm.vote.all.sync",
                                      [RT_MEET_ANY] = "llvm.nvvm.vote.any.sync",
                                      [RT_MEET_EQ] = "llvm.nvvm.vote.uni.sync",
                                      [RT_MEET_BALLOT] = "llvm.nvvm.vote.ballot.sync"};
  LLVMValueRef v;
  switch (kind) {
  case RT_MEET_SYNC: lw_intrinsic(lw, "llvm.nvvm.bar.warp.sync", NULL, 0, &mask, 1); return NULL;
  case RT_MEET_ACTIVE: return lw_intrinsic(lw, "llvm.nvvm.activemask", NULL, 0, NULL, 0);
  case RT_MEET_ALL:
  case RT_MEET_ANY:
  case RT_MEET_EQ:
  case RT_MEET_BALLOT:
    v = lw_intrinsic(lw, votes[kind], NULL, 0, (LLVMValueRef[]){mask, value}, 2);
    return kind == RT_MEET_BALLOT ? v : l_zext(lw->b, v, lw->t->i32);
  case RT_MEET_MATCH_ANY:
  case RT_MEET_MATCH_ALL: return nvptx_match(lw, kind, mask, value);
  default: return nvptx_shuffle(lw, kind, mask, value, lane);
  }
}

void cg_nvptx_nanosleep(Lower *lw, LLVMValueRef ns) {
  lw_intrinsic(lw, "llvm.nvvm.nanosleep", NULL, 0, &ns, 1);
}

void cg_nvptx_fence(Lower *lw, FenceLevel level) {
  static const char *const names[] = {"llvm.nvvm.membar.cta", "llvm.nvvm.membar.gl",
                                      "llvm.nvvm.membar.sys"};
  lw_intrinsic(lw, names[level], NULL, 0, NULL, 0);
}
