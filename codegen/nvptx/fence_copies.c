/* NVPTX fence_copies: a bulk copy that overwrites shared memory which threads have read waits for
 * these reads.
 *
 * In: kernels right before code generation. Bulk copies are made by a unit of their own (the async
 * proxy), which does not wait for loads that are still queued: of a warp that loads a piece, meets
 * by syncwarp and has the next piece copied to the same place, some loads got the next piece
 * (H200). A proxy fence in front of the copy orders them, also those of other threads that have met
 * with this one. What only matrix operations read needs none: they belong to the same proxy. Nor
 * does what each thread fences itself behind its reads, before others can know of them, as threads
 * that write their results to the same memory do for the copy that stores these: the fence in front
 * of each of a producer's copies takes part of the time in which they arrive.
 *
 * Shared arrays are told apart by their globals; dynamic ones are all one. An address whose array
 * is not found may be of any. */
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum { SHARED = 3, MOST_SEEN = 128, MOST_ROOTS = 8 };

/* The shared arrays that an address may be of. */
typedef struct Roots {
  LLVMValueRef at[MOST_ROOTS], seen[MOST_SEEN];
  unsigned n, nseen;
  bool unknown; /* any of them */
  bool other;   /* memory that is not shared */
} Roots;

typedef VEC(LLVMValueRef) Values;

static bool has(const LLVMValueRef *list, unsigned n, LLVMValueRef v) {
  unsigned k = 0;
  while (k < n && list[k] != v)
    k++;
  return k < n;
}

static bool computes_addresses(LLVMValueRef v) {
  if (LLVMIsAConstantExpr(v))
    return true;
  return LLVMIsAInstruction(v) && !LLVMIsALoadInst(v) && !LLVMIsACallInst(v) &&
         !LLVMIsAAllocaInst(v);
}

static void add_root(Roots *r, LLVMValueRef global) {
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != SHARED)
    r->other = true;
  else if (r->n == MOST_ROOTS)
    r->unknown = true;
  else if (!has(r->at, r->n, global))
    r->at[r->n++] = global;
}

/* A pointer that is a parameter, or a call's. */
static bool is_unknown(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind && !LLVMIsAConstant(v) &&
         !LLVMIsAAllocaInst(v) && !computes_addresses(v);
}

/* Follows the operands of sums, casts, phis and the like. Numbers that are loaded, or parameters,
 * are no addresses: shared memory has no addresses of shared memory. */
static void find(Roots *r, LLVMValueRef address) {
  r->seen[r->nseen++] = address;
  for (unsigned k = 0; k < r->nseen && !r->unknown; k++) {
    LLVMValueRef v = r->seen[k];
    if (LLVMIsAGlobalVariable(v))
      add_root(r, v);
    r->other |= LLVMIsAAllocaInst(v) != NULL;
    r->unknown |= is_unknown(v);
    for (int op = 0; computes_addresses(v) && op < LLVMGetNumOperands(v); op++) {
      LLVMValueRef x = LLVMGetOperand(v, (unsigned)op);
      if (LLVMValueIsBasicBlock(x) || LLVMIsAConstantInt(x) || has(r->seen, r->nseen, x))
        continue;
      r->unknown |= r->nseen == MOST_SEEN;
      if (!r->unknown)
        r->seen[r->nseen++] = x;
    }
  }
}

static Roots roots_of(LLVMValueRef address) {
  Roots r = {0};
  LLVMTypeRef type = LLVMTypeOf(address);
  unsigned space = LLVMGetTypeKind(type) == LLVMPointerTypeKind ? LLVMGetPointerAddressSpace(type)
                                                                : SHARED;
  r.other = space && space != SHARED;
  if (!r.other)
    find(&r, address);
  r.unknown |= !r.n && !r.other;
  return r;
}

static bool meet(const Roots *a, const Roots *b) {
  if (a->unknown)
    return b->unknown || b->n;
  for (unsigned k = 0; k < a->n; k++)
    if (b->unknown || has(b->at, b->n, a->at[k]))
      return true;
  return b->unknown && !a->other;
}

static const char *assembly(LLVMValueRef i, size_t *n) {
  LLVMValueRef f = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
  return f && LLVMIsAInlineAsm(f) ? LLVMGetInlineAsmAsmString(f, n) : NULL;
}

static bool contains(const char *text, size_t n, const char *part) {
  return memmem(text, n, part, strlen(part)) != NULL;
}

static bool is_copy(LLVMValueRef i) {
  size_t n = 0;
  const char *text = assembly(i, &n);
  return text && contains(text, n, "cp.async.bulk") && contains(text, n, ".shared::cluster.global");
}

/* Instructions of the async proxy, those that only write, and mbarriers: an inline text, or the
 * name of an intrinsic. */
static bool reads_nothing(const char *text, size_t n) {
  static const char *const parts[] = {"cp.async", "wgmma.", "mbarrier.", "st.async", "stmatrix."};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
    if (contains(text, n, parts[k]))
      return true;
  return false;
}

/* Does a thread read by it what `copied` may be? */
static bool reads(LLVMValueRef i, const Roots *copied) {
  size_t n = 0;
  const char *text = assembly(i, &n);
  bool call = LLVMIsACallInst(i) != NULL;
  const char *name = call && !text ? LLVMGetValueName2(LLVMGetCalledValue(i), &n) : text;
  if (call ? reads_nothing(name, n)
           : !LLVMIsALoadInst(i) && !LLVMIsAAtomicRMWInst(i) && !LLVMIsAAtomicCmpXchgInst(i))
    return false;
  unsigned operands = call ? LLVMGetNumArgOperands(i) : 1;
  for (unsigned k = 0; k < operands; k++) {
    LLVMValueRef address = LLVMGetOperand(i, k);
    bool pointer = LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMPointerTypeKind;
    if (!pointer && !text)
      continue;
    Roots r = roots_of(address);
    r.unknown &= pointer; /* a number of an inline text is an address where it is seen to be one */
    if (meet(&r, copied))
      return true;
  }
  return false;
}

/* A fence between ordinary accesses of shared memory and those of the async proxy. */
static bool is_fence(LLVMValueRef i) {
  size_t n = 0;
  const char *text = assembly(i, &n);
  return text && (contains(text, n, "fence.proxy.async;") ||
                  contains(text, n, "fence.proxy.async.shared::cta;"));
}

/* Nothing that others wait for: behind it they know no more of this thread than in front. */
static bool tells_nobody(LLVMValueRef i) {
  if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
    return cg_is_plain_access(i);
  if (!LLVMIsACallInst(i))
    return cg_only_computes(i);
  return cg_is_call_of_any(i, "llvm.nvvm.ldmatrix.") ||
         cg_is_call_of_any(i, "llvm.nvvm.stmatrix.") || cg_is_call_of(i, "llvm.assume") ||
         cg_is_speculatable(i);
}

/* From here to the end of the block: 1 if there is a fence first, -1 if others may know first. */
static int fence_ahead(LLVMValueRef i) {
  for (; i && !LLVMIsATerminatorInst(i); i = LLVMGetNextInstruction(i)) {
    if (is_fence(i))
      return 1;
    if (!tells_nobody(i))
      return -1;
  }
  return 0;
}

/* Is there a fence behind a read in that node on all ways on, before others may know of it? */
static bool is_fenced_by_reader(const FnGraph *g, uint32_t node, LLVMValueRef read) {
  bool *seen = arena_alloc(g->arena, g->len * sizeof *seen);
  uint32_t *work = arena_alloc(g->arena, (g->len + 1) * sizeof *work), n = 1;
  memset(seen, 0, g->len * sizeof *seen);
  work[0] = node;
  for (uint32_t k = 0; k < n; k++) {
    const GraphNode *at = &g->nodes[work[k]];
    int ahead = fence_ahead(k ? at->first : LLVMGetNextInstruction(read));
    if (ahead < 0 || (!ahead && !at->nsucc))
      return false;
    for (uint32_t s = 0; s < (ahead ? 0 : at->nsucc); s++) {
      if (!seen[at->succ[s]])
        work[n++] = at->succ[s];
      seen[at->succ[s]] = true;
    }
  }
  return true;
}

/* Those of what may be shared memory, but for what their threads fence themselves. */
static Values find_reads(Cg *cg) {
  const Roots any = {.unknown = true};
  Values found = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    FnGraph g = {0};
    if (!LLVMIsDeclaration(f))
      g = graph_of(&cg->cx->arena, f, NULL);
    for (uint32_t k = 0; k < g.len; k++)
      for (LLVMValueRef i = g.nodes[k].first; i; i = LLVMGetNextInstruction(i))
        if (reads(i, &any) && !is_fenced_by_reader(&g, k, i))
          VEC_PUSH(&cg->cx->arena, &found, i);
  }
  return found;
}

static bool is_read(const Values *found, const Roots *copied) {
  uint32_t k = 0;
  while (k < found->len && !reads(found->data[k], copied))
    k++;
  return k < found->len;
}

/* Between a fence and a copy: may this thread have read, or met with others that have? */
static bool ends_fence(LLVMValueRef i) {
  size_t n = 0;
  const char *text = assembly(i, &n);
  if (text)
    return !is_copy(i) && !contains(text, n, "expect_tx");
  return LLVMIsACallInst(i) || LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i) ||
         LLVMIsAAtomicCmpXchgInst(i);
}

static void fence_in_front_of(Cg *cg, LLVMValueRef copy) {
  static const char code[] = "fence.proxy.async.shared::cta;", constraints[] = "~{memory}";
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, NULL, 0, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  LLVMPositionBuilderBefore(cg->builder, copy);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(copy));
  l_call_type(cg->builder, type, text, NULL, 0);
}

void cg_nvptx_fence_copies(Cg *cg) {
  const Values found = find_reads(cg);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      bool fenced = false;
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        if (is_copy(i) && !fenced) {
          Roots copied = roots_of(LLVMGetOperand(i, 0));
          fenced = is_read(&found, &copied);
          if (fenced)
            fence_in_front_of(cg, i);
        } else if (ends_fence(i)) {
          fenced = false;
        }
      }
    }
  }
}
