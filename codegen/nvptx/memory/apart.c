/* NVPTX apart: launches look whether arrays overlap, so that code may rely on it that they do not.
 *
 *   for node in range(left.size):
 *     out[node, i] = f(rows[left[node], 0], rows[left[node], 1])
 *
 * `out` may overlap `left` and `rows`, so that each load stays behind the store of the iteration
 * before. Few launches pass arrays that overlap, and each launch of a narrow version looks at what
 * it passes anyway: it compares the arrays' ends, too (pyext/launch/overlap.h), and takes the wide
 * version where two meet. So LLVM is told here that the arrays lie apart, as __restrict__ tells
 * nvcc. (That nothing writes to some of them is not said: ptxas then makes their loads
 * LDG.CONSTANT, and moves them behind stores as well; a group norm took 1.32 times as long.)
 *
 * To LLVM what is noalias is changed by the function alone, by no barrier and no fence. So where
 * threads meet, arrays that the kernel stores to are not; that they lie apart from the others
 * follows from the others being so.
 *
 * Kernels in which no load may come behind a store to another array are left as they are: their
 * launches have nothing to compare.
 *
 * In: the module as it was lowered and linked. Out: attributes of parameters, and needs_apart. */
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/ssa/params.h"

enum { MAX_DEPTH = 8 };

typedef uint64_t Arrays; /* a bit for each of the first parameters, the last for all others */
static const Arrays ANY = UINT64_MAX;
enum { LAST = 63 };

/* --- whose memory it is --- */

static bool is_kernels(LLVMValueRef parameter) {
  return LLVMGetFunctionCallConv(LLVMGetParamParent(parameter)) == CG_LLVM_PTX_KERNEL;
}

static Arrays bit_of(LLVMValueRef parameter) {
  unsigned k = 0;
  while (k < LAST && LLVMGetParam(LLVMGetParamParent(parameter), k) != parameter)
    k++;
  return (Arrays)1 << k;
}

/* The arrays of which an address may be one; 0: none, as of shared memory. */
static Arrays arrays_of(LLVMValueRef p, unsigned depth) {
  while (LLVMIsAGetElementPtrInst(p) || LLVMIsAAddrSpaceCastInst(p))
    p = LLVMGetOperand(p, 0);
  if (LLVMIsAArgument(p))
    return is_kernels(p) ? bit_of(p) : ANY;
  if (LLVMIsAAllocaInst(p) || LLVMIsAGlobalVariable(p))
    return 0;
  if (!depth || !LLVMIsASelectInst(p))
    return ANY;
  return arrays_of(LLVMGetOperand(p, 1), depth - 1) | arrays_of(LLVMGetOperand(p, 2), depth - 1);
}

static bool is_address(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* May v, an address, be in memory that no parameter says: the number of a device array among a
 * kernel's globals, or what was read from memory? */
static bool is_elsewhere(LLVMValueRef v) {
  while (LLVMIsAConstantExpr(v) && LLVMGetNumOperands(v) &&
         (LLVMGetConstOpcode(v) == LLVMGetElementPtr || LLVMGetConstOpcode(v) == LLVMAddrSpaceCast))
    v = LLVMGetOperand(v, 0);
  return LLVMIsAInstruction(v) ? LLVMIsALoadInst(v) || LLVMIsACallInst(v) || LLVMIsAIntToPtrInst(v)
                               : !LLVMIsAArgument(v) && !LLVMIsAGlobalValue(v) &&
                                     !LLVMIsAUndefValue(v) && !LLVMIsAInlineAsm(v);
}

/* --- what instructions do --- */

static bool is_atomic(LLVMValueRef i) {
  return cg_is_op(i, LLVMAtomicRMW) || cg_is_op(i, LLVMAtomicCmpXchg);
}

/* What a function that is called may write to and read from: the arrays that it is given. */
static Arrays given_to(LLVMValueRef call) {
  Arrays all = 0;
  for (unsigned k = 0; k < LLVMGetNumArgOperands(call); k++)
    if (is_address(LLVMGetOperand(call, k)))
      all |= arrays_of(LLVMGetOperand(call, k), MAX_DEPTH);
  return all;
}

static Arrays written_by(LLVMValueRef i) {
  if (cg_is_op(i, LLVMStore))
    return arrays_of(LLVMGetOperand(i, 1), MAX_DEPTH);
  if (is_atomic(i))
    return arrays_of(LLVMGetOperand(i, 0), MAX_DEPTH);
  return cg_is_op(i, LLVMCall) ? given_to(i) : 0;
}

static Arrays read_by(LLVMValueRef i) {
  return cg_is_op(i, LLVMLoad) ? arrays_of(LLVMGetOperand(i, 0), MAX_DEPTH) : written_by(i);
}

static bool reaches_elsewhere(LLVMValueRef i) {
  for (int k = 0; k < LLVMGetNumOperands(i); k++) {
    LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
    if (!LLVMValueIsBasicBlock(v) && is_address(v) && is_elsewhere(v))
      return true;
  }
  return false;
}

/* --- where threads meet --- */

static bool has_attribute(LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, L_FUNCTION, kind);
}

/* May other threads store in between, so that this one sees it? */
static bool is_meeting(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMFence: return true;
  case LLVMLoad:
  case LLVMStore:
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    return LLVMGetVolatile(i) || LLVMGetOrdering(i) > LLVMAtomicOrderingMonotonic;
  case LLVMCall: break;
  default: return false;
  }
  LLVMValueRef f = LLVMGetCalledValue(i);
  if (LLVMIsAInlineAsm(f))
    return LLVMGetInlineAsmHasSideEffects(f);
  if (!LLVMIsAFunction(f))
    return true;
  return LLVMIsDeclaration(f) && (has_attribute(f, "convergent") || !has_attribute(f, "memory"));
}

static bool has(const Cg *cg, bool (*is)(LLVMValueRef)) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        if (is(i))
          return true;
  return false;
}

/* Does the kernel store nothing to the array? */
static bool stays_as_it_is(const Cg *cg, unsigned parameter) {
  const Params *p = cg->params;
  if (!p || parameter >= p->fields.len || p->fields.data[parameter].map_of)
    return false;
  const RtField *f = &p->fields.data[parameter].field;
  return f->kind == RT_FIELD_POINTER && !p->args.data[f->leaf].written;
}

/* --- whether it matters --- */

/* Does the block read from an array behind a store to another one? written: by what comes in front
 * of it, and then by the block, too. */
static bool reads_behind(const GraphNode *node, Arrays *written) {
  for (LLVMValueRef i = node->first; i; i = LLVMGetNextInstruction(i)) {
    Arrays from = read_by(i), both = from | *written;
    if (from && *written && both & (both - 1))
      return true;
    *written |= written_by(i);
  }
  return false;
}

static bool matters(Cg *cg) {
  FnGraph g = graph_of(&cg->cx->arena, cg->kernel, NULL);
  Arrays *written = CX_ARRAY(cg->cx, Arrays, g.len); /* at the ends of nodes */
  for (bool again = true; again;) {
    again = false;
    for (uint32_t n = 0; n < g.len; n++) {
      Arrays here = 0;
      for (uint32_t k = 0; k < g.nodes[n].npred; k++)
        here |= written[g.nodes[n].pred[k]];
      if (reads_behind(&g.nodes[n], &here))
        return true;
      again |= here != written[n];
      written[n] = here;
    }
  }
  return false;
}

static bool is_array(LLVMValueRef parameter) {
  return is_address(parameter) && LLVMGetPointerAddressSpace(LLVMTypeOf(parameter)) == NVPTX_GLOBAL;
}

/* Another address is that of a tensor map, by which copies reach an array. */
static bool has_maps(const Cg *cg) {
  for (unsigned k = 0; k < LLVMCountParams(cg->kernel); k++) {
    LLVMValueRef p = LLVMGetParam(cg->kernel, k);
    if (is_address(p) && !is_array(p))
      return true;
  }
  return false;
}

void cg_nvptx_apart(Cg *cg) {
  if (!cg->kernel || cg->has_numbers || !matters(cg) || has_maps(cg) ||
      has(cg, reaches_elsewhere)) /* memory that is no parameter's may be an array's */
    return;
  bool meet = has(cg, is_meeting);
  for (unsigned k = 0; k < LLVMCountParams(cg->kernel); k++)
    if (is_array(LLVMGetParam(cg->kernel, k)) && (!meet || stays_as_it_is(cg, k)))
      cg_attribute(cg, cg->kernel, k + 1, "noalias", 0);
  cg->out->needs_apart = true;
}
