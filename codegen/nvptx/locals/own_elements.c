/* NVPTX own elements: a thread's own element of a shared array is a register while a loop runs.
 *
 *   best[t] = math.inf                      best[t] = math.inf; b = math.inf
 *   for k in range(t, n, cuda.blockDim.x):  for k in range(t, n, cuda.blockDim.x):
 *     if x[row, k] < best[t]:                 if x[row, k] < b:
 *       best[t] = x[row, k]                     b = x[row, k]
 *   cuda.syncthreads()                      best[t] = b
 *                                           cuda.syncthreads()
 *
 * LLVM takes such an element into a register only where each iteration stores it: behind a
 * condition a thread that stores nothing would store what it has read, perhaps over what another
 * thread has stored. Here the thread has stored it itself in front of the loop, and there is no
 * barrier, or anything else by which threads meet, from there to the loop's end. So no other thread
 * may access the element meanwhile: that would be a race. And where the loop ends the thread may
 * store it once more. That the element is the thread's own shows in its place, which is a multiple
 * of the thread's number, and what all have in common: `found[0]`, or `found[t // 32]`, which many
 * threads set, perhaps all to one value, stays as it is. An int64 of which all that is stored fits
 * 32 bits, as a place in a row does, has 32 in the register.
 *
 * Without the store the branch around it becomes a selection, the loop is one block, and the loads
 * of several iterations are in flight together: strided_unroll.c unrolls it then.
 *
 * In: a module before unrolling. Loops that are to be unrolled, in which all that is accessed is
 * known to lie elsewhere: in global memory, or in another shared array. Out: the element in a
 * register, stored where the loop is left. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/loops/loop_marks.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { MOST = 4 /* elements of a loop */, DEEP = 6 };

typedef struct Own {
  Cg *cg;
  FnGraph g;
  uint32_t loop;
} Own;

typedef struct Element {
  LLVMValueRef at;
  LLVMTypeRef type, in_register; /* int64 that 32 bits hold have 32 there, and begin with `first` */
  LLVMValueRef first, variable;
} Element;

static bool is_access(LLVMValueRef i) { return cg_is_op(i, LLVMLoad) || cg_is_op(i, LLVMStore); }

static LLVMValueRef address_of(LLVMValueRef access) {
  return LLVMGetOperand(access, cg_is_op(access, LLVMStore));
}

static LLVMTypeRef type_of(LLVMValueRef access) {
  return LLVMTypeOf(cg_is_op(access, LLVMStore) ? LLVMGetOperand(access, 0) : access);
}

static unsigned space_of(LLVMValueRef address) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(address));
}

static bool is_gep(LLVMValueRef v) {
  return cg_is_op(v, LLVMGetElementPtr) ||
         (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* The shared array that it is an element of; NULL: it is not known. */
static LLVMValueRef array_of(LLVMValueRef address) {
  while (is_gep(address))
    address = LLVMGetOperand(address, 0);
  return LLVMIsAGlobalVariable(address);
}

/* --- whose element it is --- */

enum { ALIKE = -1, UNKNOWN = -2 }; /* in place of an axis: no two threads differ; some may */

static int axis_of_sum(int a, int b) { return a == ALIKE ? b : b == ALIKE ? a : UNKNOWN; }

static bool is_factor(LLVMValueRef v, uint64_t most) {
  return cg_int_width(v) && LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) <= most;
}

/* The axis along which any two threads of a block have different numbers, and others the same. */
static int axis_of(LLVMValueRef v, unsigned depth) {
  if (LLVMIsAConstantInt(v) || cg_is_kernel_argument(v))
    return ALIKE;
  if (!LLVMIsAInstruction(v) || depth == DEEP)
    return UNKNOWN;
  LLVMValueRef x = LLVMGetOperand(v, 0);
  if (LLVMIsAIntrinsicInst(v)) {
    SpecialReg r = cg_nvptx_register_of(v);
    bool own = r >= SREG_TID && r < SREG_TID + 3, alike = r != SREG_NONE && !own;
    return own ? (int)(r - SREG_TID) : alike && ir_registers[r].of <= SCOPE_BLOCK ? ALIKE : UNKNOWN;
  }
  if (cg_is_extension(v))
    return axis_of(x, depth + 1);
  if (cg_is_op(v, LLVMAdd) || cg_is_disjoint_or(v))
    return axis_of_sum(axis_of(x, depth + 1), axis_of(LLVMGetOperand(v, 1), depth + 1));
  bool times = cg_is_op(v, LLVMMul) && is_factor(LLVMGetOperand(v, 1), INT16_MAX) &&
               !LLVMIsNull(LLVMGetOperand(v, 1)),
       shifted = cg_is_op(v, LLVMShl) && is_factor(LLVMGetOperand(v, 1), 15);
  return times || shifted ? axis_of(x, depth + 1) : UNKNOWN;
}

static bool reads_axis(const Cg *cg, int axis) {
  static const char *const names[] = {"llvm.nvvm.read.ptx.sreg.tid.x",
                                      "llvm.nvvm.read.ptx.sreg.tid.y",
                                      "llvm.nvvm.read.ptx.sreg.tid.z"};
  LLVMValueRef f = LLVMGetNamedFunction(cg->module, names[axis]);
  return f && LLVMGetFirstUse(f);
}

/* Has each thread of the block, as far as the kernel tells them apart, an element of its own? */
static bool is_own(const Cg *cg, LLVMValueRef address) {
  int axis = ALIKE;
  for (; is_gep(address); address = LLVMGetOperand(address, 0))
    for (unsigned k = 1; k < (unsigned)LLVMGetNumOperands(address); k++)
      axis = axis_of_sum(axis, axis_of(LLVMGetOperand(address, k), 0));
  for (int other = 0; other < 3 && axis >= 0; other++)
    if (other != axis && reads_axis(cg, other))
      return false;
  return axis >= 0;
}

/* --- whether it may be a register --- */

/* Is it something by which threads do not meet? */
static bool is_alone(const Own *o, LLVMValueRef i) {
  if (is_access(i))
    return cg_is_plain_access(i);
  return LLVMIsAPHINode(i) || LLVMIsATerminatorInst(i) || cg_is_speculatable(i) ||
         cg_only_computes(i) || cg_is_division(i) || cg_is_op(i, LLVMFRem) ||
         cg_is_slow(o->cg, i) || cg_is_function_of_operands(i);
}

/* Is the number, of 64 bits, one of 32 bits without a sign? */
static bool fits(LLVMValueRef v) {
  return ir_interval_lies_within(cg_nvptx_range(v), (Interval){0, UINT32_MAX});
}

/* Is what is accessed the element, or known to lie elsewhere? */
static bool is_apart(LLVMValueRef access, LLVMValueRef element, LLVMTypeRef type) {
  LLVMValueRef at = address_of(access), array = array_of(at);
  if (at == element)
    return type_of(access) == type;
  return space_of(at) == NVPTX_GLOBAL || (array && array != array_of(element));
}

/* The last store in front of the loop, behind which the thread has met no other; NULL: it is not
 * known. *only: nothing else may have stored the element since. */
static LLVMValueRef stored_before(const Own *o, LLVMValueRef front, LLVMValueRef element,
                                  LLVMTypeRef type, bool *only) {
  LLVMValueRef i = front;
  *only = true;
  for (LLVMBasicBlockRef b = LLVMGetInstructionParent(front); b;
       b = graph_before(b), i = b ? LLVMGetBasicBlockTerminator(b) : NULL)
    for (; i; i = LLVMGetPreviousInstruction(i)) {
      if (!is_alone(o, i))
        return NULL;
      if (!cg_is_op(i, LLVMStore))
        continue;
      if (address_of(i) == element && type_of(i) == type)
        return i;
      *only &= is_apart(i, element, type);
    }
  return NULL;
}

static bool read_element(const Own *o, Element *e) {
  const GraphLoop *loop = &o->g.loops.data[o->loop];
  LLVMValueRef front = graph_front(&o->g, o->loop);
  bool only;
  if (!front || space_of(e->at) != NVPTX_SHARED || !array_of(e->at) ||
      graph_in_loop(&o->g, o->loop, e->at) || !is_own(o->cg, e->at))
    return false;
  LLVMValueRef before = stored_before(o, front, e->at, e->type, &only);
  e->first = before && only ? LLVMGetOperand(before, 0) : NULL;
  bool is_short = e->type == o->cg->t.i64 && e->first && fits(e->first);
  for (uint32_t k = 0; k < loop->nnodes && before; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(o->g.nodes[loop->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i)) {
      if (!is_alone(o, i) || (is_access(i) && !is_apart(i, e->at, e->type)))
        return false;
      if (cg_is_op(i, LLVMStore) && address_of(i) == e->at)
        is_short &= fits(LLVMGetOperand(i, 0));
    }
  e->in_register = is_short ? o->cg->t.i32 : e->type;
  return before != NULL;
}

/* The elements that the loop stores and that may be registers. */
static unsigned find_elements(const Own *o, Element *elements) {
  const GraphLoop *loop = &o->g.loops.data[o->loop];
  unsigned n = 0;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(o->g.nodes[loop->nodes[k]].block); i && n < MOST;
         i = LLVMGetNextInstruction(i)) {
      bool found = !cg_is_op(i, LLVMStore);
      for (unsigned e = 0; e < n && !found; e++)
        found = elements[e].at == address_of(i);
      if (found)
        continue;
      elements[n] = (Element){.at = address_of(i), .type = type_of(i)};
      n += read_element(o, &elements[n]);
    }
  return n;
}

/* --- writing --- */

static void put(const Own *o, const Element *e, LLVMValueRef v) {
  LLVMBuilderRef b = o->cg->builder;
  l_store(b, e->in_register == e->type ? v : l_trunc(b, v, e->in_register), e->variable);
}

static LLVMValueRef get(const Own *o, const Element *e) {
  LLVMBuilderRef b = o->cg->builder;
  LLVMValueRef v = l_load(b, e->in_register, e->variable);
  return e->in_register == e->type ? v : l_zext(b, v, e->type);
}

static void replace(const Own *o, const Element *e, LLVMValueRef access) {
  LLVMPositionBuilderBefore(o->cg->builder, access);
  if (cg_is_op(access, LLVMStore))
    put(o, e, LLVMGetOperand(access, 0));
  else
    LLVMReplaceAllUsesWith(access, get(o, e));
  LLVMInstructionEraseFromParent(access);
}

/* The loop accesses a variable, of which LLVM makes a register. Its exits are the loop's alone. */
static void make_register(const Own *o, Element *e) {
  LLVMBuilderRef b = o->cg->builder;
  const GraphLoop *loop = &o->g.loops.data[o->loop];
  LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(o->g.nodes[0].block));
  e->variable = l_alloca(b, e->in_register);
  LLVMPositionBuilderBefore(b, graph_front(&o->g, o->loop));
  put(o, e, e->in_register == e->type ? l_load(b, e->type, e->at) : e->first);
  ValueMap stored = {.arena = o->g.arena};
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *n = &o->g.nodes[loop->nodes[k]];
    for (LLVMValueRef i = LLVMGetFirstInstruction(n->block), next; i; i = next) {
      next = LLVMGetNextInstruction(i);
      if (is_access(i) && address_of(i) == e->at)
        replace(o, e, i);
    }
    for (uint32_t s = 0; s < n->nsucc; s++) {
      LLVMBasicBlockRef out = o->g.nodes[n->succ[s]].block;
      LLVMValueRef at = graph_behind_phis(out), key = LLVMBasicBlockAsValue(out);
      if (graph_in_loop(&o->g, o->loop, at) || valuemap_get(&stored, key) != VALUEMAP_NONE)
        continue;
      valuemap_set(&stored, key, 0);
      LLVMPositionBuilderBefore(b, at);
      l_store(b, get(o, e), e->at);
    }
  }
}

/* Of the function's loops that are to be unrolled: is there such an element, or, if `write`, writes
 * them. */
static bool visit(Cg *cg, LLVMValueRef f, bool write) {
  Own o = {.cg = cg, .g = graph_of(&cg->cx->arena, f, NULL)};
  Element elements[MOST + 1];
  bool any = false;
  graph_loops(&o.g);
  for (o.loop = 0; o.loop < o.g.loops.len; o.loop++) {
    const GraphLoop *loop = &o.g.loops.data[o.loop];
    if (!loop->innermost || loop->nlatches != 1 ||
        !cg_mark_of(cg, o.g.nodes[loop->latches[0]].block, MARK_COUNT))
      continue;
    unsigned n = find_elements(&o, elements);
    any |= n > 0;
    for (unsigned e = 0; e < n && write; e++)
      make_register(&o, &elements[e]);
  }
  return any;
}

/* Are a and b the same number in each iteration if p and q are? */
static bool are_same(LLVMValueRef a, LLVMValueRef b, LLVMValueRef p, LLVMValueRef q,
                     unsigned depth) {
  if (a == b || (a == p && b == q))
    return true;
  if (!LLVMIsASelectInst(a) || !LLVMIsASelectInst(b) || depth == DEEP)
    return false;
  for (unsigned o = 0; o < 3; o++)
    if (!are_same(LLVMGetOperand(a, o), LLVMGetOperand(b, o), p, q, depth + 1))
      return false;
  return true;
}

/* LLVM has taken what is read of an element into a register, too: it is the same one. */
static void join_registers(LLVMBasicBlockRef block) {
  for (LLVMValueRef p = LLVMGetFirstInstruction(block); LLVMIsAPHINode(p);
       p = LLVMGetNextInstruction(p))
    for (LLVMValueRef q = LLVMGetNextInstruction(p), next; LLVMIsAPHINode(q); q = next) {
      next = LLVMGetNextInstruction(q);
      bool same = LLVMTypeOf(p) == LLVMTypeOf(q);
      for (unsigned k = 0; k < LLVMCountIncoming(p) && same; k++)
        same = are_same(LLVMGetIncomingValue(p, k), graph_incoming(q, LLVMGetIncomingBlock(p, k)),
                        p, q, 0);
      if (!same)
        continue;
      LLVMReplaceAllUsesWith(q, p);
      LLVMInstructionEraseFromParent(q);
    }
}

static bool has_shared_arrays(const Cg *cg) {
  for (LLVMValueRef v = LLVMGetFirstGlobal(cg->module); v; v = LLVMGetNextGlobal(v))
    if (space_of(v) == NVPTX_SHARED)
      return true;
  return false;
}

void cg_nvptx_own_elements(Cg *cg) {
  if (!has_shared_arrays(cg))
    return;
  if (cg->llvm_parts < LLVM_UNROLL_FULL)
    cg_optimize_loops(cg);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f) || !visit(cg, f, false))
      continue;
    cg_run_function_passes(cg, f, "loop-simplify");
    visit(cg, f, true);
    cg_run_function_passes(cg, f, "sroa,early-cse,simplifycfg");
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (cg_mark_of(cg, b, MARK_COUNT) && cg_nvptx_is_block_loop(b))
        join_registers(b);
  }
}
