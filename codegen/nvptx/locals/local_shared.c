/* NVPTX local shared: small local arrays in shared memory, for launches with small blocks.
 *
 *   while j > 0 and best[j - 1] > value: best[j] = best[j - 1]; j -= 1
 *
 * An array whose index is found at run time stays in memory. Local memory is cached, but each store
 * is written to L2 as well, and a load takes the way of those from global memory. Shared memory has
 * neither, and room for some tens of words of each thread.
 *
 * How large blocks will be is not known here. So the kernel is written twice: for blocks of at most
 * as many threads as have room, with the arrays in shared memory, and as it was. Each thread's part
 * is as long as makes neighbouring threads' elements of one index fall into different banks.
 *
 * Two versions that are too long for the generator's optimisations (prepare.h) would both have more
 * instructions for each address than the accesses gain, so such a kernel stays as it was.
 *
 * In: the module before local_space.c; a kernel without shared memory of its own, for GPUs where a
 * multiprocessor has 200 KB and more of it. */
#include "codegen/llvm/code_size.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/prepare.h"

enum {
  FIRST_ARCH = 90,
  LAST_ARCH = 110,
  /* Bytes of a thread. So many leave all that they need to larger blocks, and to those of fewer
   * threads, which have as much each: 9 KB a block. More are for kernels of which it is known that
   * blocks are small. */
  MOST_BYTES = 72,
  MOST_OF_SMALL = 208,
  THREADS = 128,
  MOST_CODE = 2000 /* instructions that are written twice */
};

typedef struct Shared { /* a local array's part of each thread */
  LLVMValueRef local, memory;
  uint64_t bytes;
} Shared;

typedef struct Kernel {
  Cg *cg;
  LLVMValueRef f;
  VEC(Shared) arrays;
  uint64_t bytes;
} Kernel;

/* An odd number of its elements: of 4 bytes, or of 8 where there are such. 0: it has others. */
static uint64_t part_of(const Cg *cg, const LocalArray *a) {
  uint64_t wide = 0;
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    uint64_t bytes = LLVMABISizeOfType(cg->layout, cg_local_type(&a->accesses.data[k]));
    if (bytes != 4 && bytes != 8)
      return 0;
    wide = bytes > wide ? bytes : wide;
  }
  return wide ? ((a->bytes + wide - 1) / wide | 1) * wide : 0;
}

/* Does v count to a constant? Then ptxas may unroll its loop, and have registers for the array. */
static bool counts_to_constant(LLVMValueRef v) {
  while (cg_is_extension(v) || (cg_is_op(v, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(v, 1))))
    v = LLVMGetOperand(v, 0);
  if (!LLVMIsAPHINode(v))
    return false;
  for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMGetIncomingValue(v, k)); u; u = LLVMGetNextUse(u))
      if (LLVMIsAICmpInst(LLVMGetUser(u)) &&
          LLVMIsAConstantInt(LLVMGetOperand(LLVMGetUser(u), 1)) &&
          !LLVMIsAConstantInt(LLVMGetIncomingValue(v, k)))
        return true;
  return false;
}

/* Is an element accessed in a loop whose index is known at run time only? */
static bool varies_in_loop(const FnGraph *g, const LocalArray *a) {
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    const LocalAccess *x = &a->accesses.data[k];
    uint32_t n = graph_number(g, LLVMGetInstructionParent(x->ins));
    if (x->index && cg_int_width(x->index) && n != GRAPH_NONE && g->nodes[n].loop != GRAPH_NONE &&
        !counts_to_constant(x->index))
      return true;
  }
  return false;
}

/* Is it an array of the program? Those of library functions are for their slow paths. */
static bool is_named(const Cg *cg, const LocalArray *a) {
  unsigned kind = LLVMGetMDKindIDInContext(cg->context, CG_PLACE, sizeof CG_PLACE - 1);
  return LLVMGetMetadata(a->alloca, kind) != NULL;
}

static void find_arrays(Kernel *k) {
  LocalArrays arrays = cg_local_arrays(k->cg, k->f);
  if (!arrays.len)
    return;
  FnGraph g = graph_of(&k->cg->cx->arena, k->f, NULL);
  graph_loops(&g);
  for (uint32_t n = 0; n < arrays.len; n++) {
    uint64_t bytes = part_of(k->cg, &arrays.data[n]);
    if (!bytes || !is_named(k->cg, &arrays.data[n]) || !varies_in_loop(&g, &arrays.data[n]))
      continue;
    VEC_PUSH(&k->cg->cx->arena, &k->arrays, ((Shared){arrays.data[n].alloca, NULL, bytes}));
    k->bytes += bytes;
  }
}

/* --- the second version --- */

static LLVMValueRef special(Cg *cg, const char *name) {
  return l_call(cg->builder, cg_intrinsic_fn(cg, name, NULL, 0), NULL, 0);
}

LLVMValueRef cg_nvptx_thread_number(Cg *cg, LLVMValueRef *threads) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef nx = special(cg, "llvm.nvvm.read.ptx.sreg.ntid.x"),
               ny = special(cg, "llvm.nvvm.read.ptx.sreg.ntid.y"),
               nz = special(cg, "llvm.nvvm.read.ptx.sreg.ntid.z"),
               x = special(cg, "llvm.nvvm.read.ptx.sreg.tid.x"),
               y = special(cg, "llvm.nvvm.read.ptx.sreg.tid.y"),
               z = special(cg, "llvm.nvvm.read.ptx.sreg.tid.z");
  *threads = l_mul(b, l_mul(b, nx, ny), nz);
  return l_add(b, x, l_mul(b, nx, l_add(b, y, l_mul(b, ny, z))));
}

/* The thread's part of an array's memory, as a generic address. */
static LLVMValueRef part(Kernel *k, Shared *a, uint32_t n, LLVMValueRef thread) {
  Cg *cg = k->cg;
  LLVMTypeRef type = LLVMArrayType2(cg->t.i8, a->bytes * THREADS);
  a->memory = LLVMAddGlobalInAddressSpace(
      cg->module, type, arena_printf(&cg->cx->arena, "local_shared$%u", n), NVPTX_SHARED);
  LLVMSetAlignment(a->memory, 8);
  LLVMSetInitializer(a->memory, LLVMGetPoison(type));
  LLVMSetLinkage(a->memory, LLVMInternalLinkage);
  LLVMValueRef at = l_zext(cg->builder, l_mul(cg->builder, thread, l_int(cg->t.i32, a->bytes)),
                           cg->t.i64);
  return l_addrspacecast(cg->builder, l_gep(cg->builder, cg->t.i8, a->memory, &at, 1), cg->t.ptr);
}

/* What the copy of a local array is used for goes to `now`. Only an alloca has a lifetime. */
static void replace(LLVMValueRef copy, LLVMValueRef now) {
  for (LLVMUseRef u = LLVMGetFirstUse(copy), next; u; u = next) {
    LLVMValueRef by = LLVMGetUser(u);
    next = LLVMGetNextUse(u);
    if (LLVMIsACallInst(by) &&
        (cg_is_call_of(by, "llvm.lifetime.start.p0") || cg_is_call_of(by, "llvm.lifetime.end.p0")))
      LLVMInstructionEraseFromParent(by);
  }
  LLVMReplaceAllUsesWith(copy, now);
  LLVMInstructionEraseFromParent(copy);
}

static void write_versions(Kernel *k) {
  Cg *cg = k->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(k->f);
  uint32_t n = LLVMCountBasicBlocks(k->f);
  LLVMBasicBlockRef *blocks = CX_ARRAY(cg->cx, LLVMBasicBlockRef, n);
  LLVMValueRef threads;
  LLVMGetBasicBlocks(k->f, blocks);
  RegionCopy copies = copy_region(cg, blocks, n, entry, "");
  LLVMBasicBlockRef shared = copy_of_block(&copies, entry),
                    start = LLVMInsertBasicBlockInContext(cg->context, LLVMGetFirstBasicBlock(k->f),
                                                          "");
  l_at_end(b, start, NULL);
  LLVMValueRef thread = cg_nvptx_thread_number(cg, &threads);
  for (uint32_t a = 0; a < k->arrays.len; a++)
    replace(copy_of(&copies, k->arrays.data[a].local), part(k, &k->arrays.data[a], a, thread));
  l_condbr(b, l_icmp(b, LLVMIntULE, threads, l_int(cg->t.i32, THREADS)), shared, entry);
  for (LLVMValueRef i = LLVMGetFirstInstruction(entry), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (!LLVMIsAAllocaInst(i))
      continue;
    LLVMInstructionRemoveFromParent(i); /* in the first block allocas are static */
    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(start));
    l_insert(b, i);
  }
  for (LLVMValueRef i = LLVMGetFirstInstruction(shared), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (LLVMIsAAllocaInst(i)) { /* one that stays: only one of the versions runs */
      for (LLVMValueRef old = LLVMGetFirstInstruction(start); old;
           old = LLVMGetNextInstruction(old))
        if (LLVMIsAAllocaInst(old) && copy_of(&copies, old) == i) {
          LLVMReplaceAllUsesWith(i, old);
          break;
        }
      LLVMInstructionEraseFromParent(i);
    }
  }
}

void cg_nvptx_local_shared(Cg *cg) {
  Kernel k = {.cg = cg, .f = cg->kernel};
  if (!k.f || cg_nvptx_arch_number(cg) < FIRST_ARCH || cg_nvptx_arch_number(cg) > LAST_ARCH ||
      cg->static_shared || cg->uses_dynamic_shared || cg->options.debug)
    return;
  find_arrays(&k);
  bool small = cg->options.max_threads && cg->options.max_threads <= THREADS;
  if (!k.bytes || k.bytes > (small ? MOST_OF_SMALL : MOST_BYTES) ||
      cg_length(cg).instructions > MOST_CODE ||
      (cg_nvptx_would_be_long(cg, 2) && !cg_nvptx_is_long(cg)))
    return;
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  write_versions(&k);
}
