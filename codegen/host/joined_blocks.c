/* Host joined blocks: blocks that are neighbours along x as one long row.
 *
 * In: the function of a thread without barriers, in regular form. If it uses blockIdx.x and
 * threadIdx.x in the sum blockIdx.x * blockDim.x + threadIdx.x only, thread x of block b + k is the
 * same as thread k * blockDim.x + x of block b. Out: the same function, which accepts any tx from
 * the first thread of its block on; traps name the block and the thread that tx stands for.
 *
 * If such a function is nothing but a grid-stride loop, `for i in range(grid(1), n, gridsize(1))`,
 * it becomes one iteration, and the loop goes around the row (cg_host_cut_stride): loop
 * interchange, which is legal since threads are independent and each thread's iterations stay in
 * order. A function in which a thread carries a value from one iteration to the next is left as it
 * is.
 *
 * If blockDim.x and gridDim.x, too, are used in that sum and in gridDim.x * blockDim.x only, a
 * launch of n times as many blocks along x, of an n-th of their width, has the same threads. The
 * runtime may run that one instead, so that several workers share a block (runtime/host/parts.c);
 * it names threads as those of the launch that it was asked for (cg_host_has_parts). */
#include <assert.h>
#include <stddef.h>

#include "codegen/fission/fission.h"
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/target.h"

enum { WIDTH = offsetof(RtHostLaunch, block), BLOCKS = offsetof(RtHostLaunch, grid) };

/* The address of a field of RtHostLaunch: so many bytes from its beginning. */
static bool is_place_in(LLVMValueRef p, LLVMValueRef launch) {
  return LLVMIsAGetElementPtrInst(p) && LLVMGetNumOperands(p) == 2 &&
         LLVMGetOperand(p, 0) == launch &&
         LLVMGetTypeKind(LLVMGetGEPSourceElementType(p)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(p)) == 8 &&
         LLVMIsAConstantInt(LLVMGetOperand(p, 1));
}

/* Is it the load of a field of RtHostLaunch, at this offset? */
static bool is_of_launch(LLVMValueRef v, LLVMValueRef launch, size_t offset) {
  return LLVMIsALoadInst(v) && is_place_in(LLVMGetOperand(v, 0), launch) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(LLVMGetOperand(v, 0), 1)) == offset;
}

/* The special register that v is, along x; -1 if none. */
static int register_of(const void *thread, LLVMValueRef v) {
  LLVMValueRef f = (LLVMValueRef)(uintptr_t)thread, launch = LLVMGetParam(f, HOST_LAUNCH);
  return v == LLVMGetParam(f, HOST_BX)     ? SREG_CTAID
         : v == LLVMGetParam(f, HOST_TX)   ? SREG_TID
         : is_of_launch(v, launch, WIDTH)  ? SREG_NTID
         : is_of_launch(v, launch, BLOCKS) ? SREG_NCTAID
                                           : -1;
}

static Registers registers_of(LLVMValueRef f) { return (Registers){.of = register_of, .user = f}; }

/* Or where an access is noted: the runtime knows what such a number means (rt_check_along). */
static bool only_in_traps(LLVMValueRef arg) {
  for (LLVMUseRef u = LLVMGetFirstUse(arg); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef user = LLVMGetUser(u), next = NULL;
    if (cg_is_call_of(user, "rt_check_access") || cg_is_call_of(user, "rt_check_unset_at"))
      continue;
    if (!cg_is_call_of(user, "rt_host_trap") || !(next = LLVMGetNextInstruction(user)) ||
        !LLVMIsAUnreachableInst(next))
      return false;
  }
  return true;
}

/* trap: a call of rt_host_trap(launch, site, block, thread, values…). It becomes one in which the
 * runtime computes block and thread. */
static void name_thread(Cg *cg, LLVMValueRef f, LLVMValueRef trap) {
  enum { BLOCK = 2, THREAD, VALUES, MORE = 3, NARGS = VALUES + RT_TRAP_VALUES + MORE };
  static const char name[] = "rt_host_trap_in_line";
  const HostArg places[] = {HOST_BX, HOST_BY, HOST_BZ, HOST_TX};
  LLVMValueRef args[NARGS], fn = LLVMGetNamedFunction(cg->module, name);
  LLVMTypeRef types[NARGS];
  unsigned n = 0;
  for (unsigned k = 0; k < VALUES + RT_TRAP_VALUES; k++)
    if (k == BLOCK)
      for (unsigned place = 0; place < 4; place++)
        args[n++] = LLVMGetParam(f, places[place]);
    else
      args[n++] = LLVMGetOperand(trap, k);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(args[k]);
  if (!fn) {
    fn = LLVMAddFunction(cg->module, name, LLVMFunctionType(cg->t.none, types, n, 0));
    cg_attribute(cg, fn, L_FUNCTION, "noreturn", 0);
    cg_attribute(cg, fn, L_FUNCTION, "cold", 0);
  }
  LLVMPositionBuilderBefore(cg->builder, trap);
  l_call(cg->builder, fn, args, n);
  LLVMInstructionEraseFromParent(trap);
}

bool cg_host_join_blocks(Cg *cg, LLVMValueRef thread) {
  static const HostArg sums[] = {HOST_BX, HOST_TX}, names[] = {HOST_BLOCK, HOST_THREAD};
  Registers r = registers_of(thread);
  for (int k = 0; k < 2; k++)
    if (!match_only_in_sums(&r, LLVMGetParam(thread, sums[k]), 0) ||
        !only_in_traps(LLVMGetParam(thread, names[k])))
      return false;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(cg->builder);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(thread); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (cg_is_call_of(i, "rt_host_trap"))
        name_thread(cg, thread, i);
    }
  if (here)
    LLVMPositionBuilderAtEnd(cg->builder, here);
  return true;
}

/* --- parts of blocks --- */

/* May another thread, or who looks from outside, tell when it runs? */
static bool is_ordered(LLVMValueRef i) {
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
    return !cg_is_plain_access(i);
  if (LLVMIsAFenceInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
    return true;
  if (!LLVMIsACallInst(i))
    return LLVMIsAInvokeInst(i) || LLVMIsACallBrInst(i);
  LLVMValueRef callee = LLVMIsAFunction(LLVMGetCalledValue(i));
  return !callee ||
         (LLVMIsDeclaration(callee) && cg_is_call_of_any(i, "rt_") &&
          !cg_is_call_of(i, "rt_host_trap") && !cg_is_call_of(i, "rt_host_trap_in_line"));
}

static bool has_order(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (is_ordered(i))
          return true;
  return false;
}

/* Is v, a size along x, used in products with blockIdx.x or with the other size only? Those with
 * blockIdx.x are in sums: its own uses say so. */
static bool only_in_products(const Registers *r, LLVMValueRef v, int size) {
  int other = size == SREG_NTID ? SREG_NCTAID : SREG_NTID;
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef by = LLVMGetUser(u);
    if (cg_is_extension(by)) {
      if (!only_in_products(r, by, size))
        return false;
      continue;
    }
    if (!cg_is_op(by, LLVMMul))
      return false;
    LLVMValueRef with = LLVMGetOperand(by, LLVMGetOperand(by, 0) == v);
    int which = r->of(r->user, cg_peel(with));
    if (which != other && (size != SREG_NTID || which != SREG_CTAID))
      return false;
  }
  return true;
}

/* Fields of the launch: a load, of its sizes along x if they are used well; or the number of a
 * trap, which the runtime knows how to read. */
static bool uses_well(const Registers *r, LLVMValueRef launch, LLVMValueRef user) {
  if (LLVMIsALoadInst(user)) {
    int size = r->of(r->user, user);
    return (size != SREG_NTID && size != SREG_NCTAID) || only_in_products(r, user, size);
  }
  if (cg_is_call_of(user, "rt_host_trap_in_line"))
    return true;
  if (!is_place_in(user, launch))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(user); u; u = LLVMGetNextUse(u))
    if (!LLVMIsALoadInst(LLVMGetUser(u)) || !uses_well(r, launch, LLVMGetUser(u)))
      return false;
  return true;
}

/* The threads of a block run in order on one worker, but for parts. So there are none where order
 * shows without a barrier: atomic and volatile accesses, fences, prints and other calls of the
 * runtime. */
bool cg_host_has_parts(Cg *cg, LLVMValueRef thread) {
  Registers r = registers_of(thread);
  LLVMValueRef launch = LLVMGetParam(thread, HOST_LAUNCH);
  if (cg->options.check || has_order(cg))
    return false;
  for (LLVMUseRef u = LLVMGetFirstUse(launch); u; u = LLVMGetNextUse(u))
    if (!uses_well(&r, launch, LLVMGetUser(u)))
      return false;
  return true;
}

/* --- grid-stride loops --- */

typedef struct StrideLoop {
  LLVMBasicBlockRef header, latch, exit;
  LLVMValueRef counter, start, bound; /* counter: the header's one phi */
} StrideLoop;

/* gridDim.x * blockDim.x */
static bool is_stride(LLVMValueRef f, LLVMValueRef v) {
  v = cg_peel(v);
  for (unsigned k = 0; cg_is_op(v, LLVMMul) && k < 2; k++)
    if (register_of(f, cg_peel(LLVMGetOperand(v, k))) == SREG_NCTAID &&
        register_of(f, cg_peel(LLVMGetOperand(v, 1 - k))) == SREG_NTID)
      return true;
  return false;
}

static bool find_counter(LLVMValueRef f, StrideLoop *s) {
  LLVMValueRef phi = LLVMGetFirstInstruction(s->header);
  Registers r = registers_of(f);
  if (!LLVMIsAPHINode(phi) || LLVMIsAPHINode(LLVMGetNextInstruction(phi)) ||
      LLVMCountIncoming(phi) != 2 || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(LLVMTypeOf(phi)) != 64)
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k), start = LLVMGetIncomingValue(phi, 1 - k);
    if (!cg_is_op(next, LLVMAdd) || !match_global_index(&r, start))
      continue;
    for (unsigned side = 0; side < 2; side++)
      if (LLVMGetOperand(next, side) == phi && is_stride(f, LLVMGetOperand(next, 1 - side))) {
        s->latch = LLVMGetIncomingBlock(phi, k);
        s->counter = phi, s->start = start;
        return true;
      }
  }
  return false;
}

/* Does the header continue if `counter < bound`, and else return? */
static bool find_bound(StrideLoop *s) {
  Fork fork;
  if (!graph_fork(LLVMGetBasicBlockTerminator(s->header), &fork))
    return false;
  LLVMValueRef c = fork.condition;
  s->exit = fork.no;
  if (!LLVMIsAICmpInst(c) || LLVMGetOperand(c, 0) != s->counter ||
      !LLVMIsAReturnInst(LLVMGetFirstInstruction(s->exit)))
    return false;
  LLVMIntPredicate p = LLVMGetICmpPredicate(c);
  s->bound = LLVMGetOperand(c, 1);
  return p == LLVMIntSLT || p == LLVMIntULT;
}

static bool ends_in_trap(LLVMBasicBlockRef b) {
  return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(b)) != NULL;
}

/* Is the header the only exit but for traps, and has the rest of the function no effects and no
 * loads of arrays? */
static bool is_alone(Cg *cg, LLVMValueRef f, const FnGraph *g, const GraphLoop *loop) {
  bool *inside = CX_ARRAY(cg->cx, bool, g->len);
  for (uint32_t k = 0; k < loop->nnodes; k++)
    inside[loop->nodes[k]] = true;
  for (uint32_t k = 0; k < g->len; k++) {
    const GraphNode *n = &g->nodes[k];
    for (uint32_t s = 0; inside[k] && k != loop->header && s < n->nsucc; s++)
      if (!inside[n->succ[s]] && !ends_in_trap(g->nodes[n->succ[s]].block))
        return false;
    for (LLVMValueRef i = n->first; i; i = LLVMGetNextInstruction(i))
      if (LLVMIsAAllocaInst(i) ||
          ((!inside[k] || k == loop->header) && !ends_in_trap(n->block) &&
           (cg_lanes_writes(i) || (LLVMIsALoadInst(i) && !cg_is_field_load(cg, f, i)))))
        return false;
  }
  return true;
}

/* Does v depend on the launch alone, and may it be computed even if a check in front of it
 * fails? */
static bool depends_on_launch(Cg *cg, LLVMValueRef f, LLVMValueRef v, int depth) {
  enum { DEEPEST = 8 };
  if (LLVMIsAConstant(v) || v == LLVMGetParam(f, HOST_LAUNCH))
    return true;
  if (!LLVMIsAInstruction(v) || depth > DEEPEST || LLVMIsAPHINode(v) ||
      !(LLVMIsALoadInst(v)
            ? cg_is_field_load(cg, f, v)
            : LLVMIsACastInst(v) || LLVMIsABinaryOperator(v) || LLVMIsAGetElementPtrInst(v)) ||
      !cg_divides_safely(v))
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (!depends_on_launch(cg, f, LLVMGetOperand(v, (unsigned)k), depth + 1))
      return false;
  return true;
}

LLVMValueRef cg_host_compute(Cg *cg, LLVMValueRef f, LLVMValueRef v, LLVMValueRef launch) {
  if (v == LLVMGetParam(f, HOST_LAUNCH))
    return launch;
  if (LLVMIsAConstant(v))
    return v;
  assert(LLVMIsAInstruction(v) && !LLVMIsAPHINode(v));
  unsigned n = (unsigned)LLVMGetNumOperands(v);
  LLVMValueRef *operands = CX_ARRAY(cg->cx, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    operands[k] = cg_host_compute(cg, f, LLVMGetOperand(v, k), launch);
  return copy_ins(cg->builder, v, operands);
}

/* The counter becomes the start plus HOST_BLOCK, and the back edge leaves the loop. */
static void cut(Cg *cg, LLVMValueRef f, const StrideLoop *s) {
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
  LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(s->counter));
  LLVMValueRef place = LLVMBuildNUWAdd(b, s->start, LLVMGetParam(f, HOST_BLOCK), "place");
  LLVMSetNSW(place, 1);
  LLVMReplaceAllUsesWith(s->counter, place);
  LLVMInstructionEraseFromParent(s->counter);
  LLVMSetSuccessor(LLVMGetBasicBlockTerminator(s->latch), 0, s->exit);
  if (here)
    LLVMPositionBuilderAtEnd(b, here);
}

LLVMValueRef cg_host_cut_stride(Cg *cg, LLVMValueRef thread) {
  FnGraph g = graph_of(&cg->cx->arena, thread, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    const GraphLoop *loop = &g.loops.data[k];
    StrideLoop s = {.header = g.nodes[loop->header].block};
    if (!find_counter(thread, &s) || !find_bound(&s) ||
        !depends_on_launch(cg, thread, s.bound, 0) || !graph_next(s.latch) ||
        !is_alone(cg, thread, &g, loop))
      continue;
    cut(cg, thread, &s);
    return s.bound;
  }
  return NULL;
}
