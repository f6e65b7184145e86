/* The NVPTX target: PTX for one GPU architecture. What was checked of LLVM's back end is in docs/ARCHITECTURE.md. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/libdevice.h"
#include "codegen/llvm_compat.h"
#include "codegen/lower.h"
#include "codegen/nvptx.h"
#include "codegen/nvptx_shifts.h"
#include "codegen/optimize.h"
#include "codegen/ptx_fixup.h"
#include "codegen/target.h"

static const char triple[] = "nvptx64-nvidia-cuda";
static const LLVMAttributeIndex on_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

/* --- architectures and PTX versions --- */

/* Lowest PTX version that each architecture needs; below it LLVM ends with a fatal error. */
static const struct {
  const char *name;
  int ptx;
} archs[] = {
    {"sm_75", 64},   {"sm_80", 70},   {"sm_86", 71},   {"sm_87", 74},   {"sm_88", 90},
    {"sm_89", 78},   {"sm_90", 78},   {"sm_90a", 80},  {"sm_100", 86},  {"sm_100a", 86},
    {"sm_100f", 88}, {"sm_103", 88},  {"sm_103a", 88}, {"sm_103f", 88}, {"sm_110", 90},
    {"sm_110a", 90}, {"sm_110f", 90}, {"sm_120", 87},  {"sm_120a", 87}, {"sm_120f", 88},
    {"sm_121", 88},  {"sm_121a", 88}, {"sm_121f", 88},
};
/* Versions that LLVM knows, oldest first. */
static const int ptx_versions[] = {64, 65, 70, 71, 72, 73, 74, 75, 76, 77, 78,
                                   80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

int cg_arch_min_ptx(const char *arch) {
  for (size_t k = 0; arch && k < sizeof archs / sizeof *archs; k++)
    if (strcmp(archs[k].name, arch) == 0)
      return archs[k].ptx;
  return 0;
}

/* The newest version that LLVM knows and that is not above `limit`; the architecture's own lowest for limit 0. */
static int choose_ptx(Cg *cg, const char *arch, int limit) {
  int lowest = cg_arch_min_ptx(arch), best = lowest;
  if (!lowest)
    fail(cg->cx, (Loc){0}, ERR_ARCH, arch ? arch : "");
  if (limit && limit < lowest)
    fail(cg->cx, (Loc){0}, ERR_ARCH,
         arena_printf(&cg->cx->arena, "%s, which needs PTX %d.%d, with PTX %d.%d", arch,
                      lowest / 10, lowest % 10, limit / 10, limit % 10));
  for (size_t k = 0; k < sizeof ptx_versions / sizeof *ptx_versions; k++)
    if (ptx_versions[k] <= limit && ptx_versions[k] > best)
      best = ptx_versions[k];
  return best;
}

int cg_nvptx_arch_number(const Cg *cg) { return atoi(cg->request->arch + 3); }

static LLVMTargetMachineRef make_machine(Cg *cg, LLVMCodeGenOptLevel level) {
  LLVMTargetRef target;
  char *why = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    const char *copy = arena_strdup(&cg->cx->arena, why);
    LLVMDisposeMessage(why);
    fail(cg->cx, (Loc){0}, ERR_LLVM, copy);
  }
  const char *arch = cg->request->arch;
  int ptx = choose_ptx(cg, arch, cg->request->ptx_version);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, triple, arch, arena_printf(&cg->cx->arena, "+ptx%d", ptx),
                              level, LLVMRelocDefault, LLVMCodeModelDefault);
  if (!machine)
    fail(cg->cx, (Loc){0}, ERR_ARCH, arch);
  return machine;
}

static void nvptx_open(Cg *cg) {
  cg->machine = make_machine(cg, cg->options.opt >= 3 ? LLVMCodeGenLevelAggressive
                                 : cg->options.opt    ? LLVMCodeGenLevelDefault
                                                      : LLVMCodeGenLevelNone);
  cg->target_state = CX_NEW(cg->cx, NvptxState);
}

static void nvptx_finish(Cg *cg) { (void)cg; }
static void nvptx_link(Cg *cg) { cg_link_libdevice(cg); }
static void nvptx_optimize(Cg *cg) { cg_optimize_gpu(cg); }

/* LLVM's straight-line strength reduction, a part of its code generator, compares every integer addition, multiplication and
 * address of a function with those before it: 2,000 lines can take half a minute. It cannot be left out alone, so a module with
 * a function beyond this many of them is emitted without the generator's own optimisations; ours are done, and ptxas has its own
 * (the straight-line kernels of bench/scaling.py get 20 % more PTX and the same number of registers). */
enum { MAX_STRAIGHT_LINE = 400 };

static bool is_strength_candidate(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd:
  case LLVMMul:
  case LLVMGetElementPtr: return true;
  default: return false;
  }
}

static bool has_long_function(const Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    unsigned n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
        n += is_strength_candidate(i);
    if (n > MAX_STRAIGHT_LINE)
      return true;
  }
  return false;
}

static void nvptx_emit(Cg *cg) {
  cg_keep_shift_guards(cg);
  if (cg->options.opt && has_long_function(cg)) {
    LLVMTargetMachineRef quick = make_machine(cg, LLVMCodeGenLevelNone);
    LLVMDisposeTargetMachine(cg->machine);
    cg->machine = quick;
  }
  LLVMMemoryBufferRef buffer = cg_emit(cg, LLVMAssemblyFile);
  size_t n = LLVMGetBufferSize(buffer);
  const char *ptx = arena_strndup(&cg->cx->arena, LLVMGetBufferStart(buffer), n);
  LLVMDisposeMemoryBuffer(buffer);
  ptx = cg_ptx_fixup(&cg->cx->arena, ptx, &n);
  cg->out->ptx = cg_strndup(cg, ptx, n);
  cg->out->ptx_len = n;
}

static void nvptx_release(void *jit) { (void)jit; }

/* --- the kernel --- */

/* Device functions carry what the runtime's fields hold: the address of the RtTrap where a thread can stop, that of the grid's barrier
 * where there is one, a struct of both, or nothing. */
static LLVMTypeRef nvptx_context_type(Cg *cg) {
  LLVMTypeRef address = cg->t.space[SPACE_GLOBAL], both[] = {address, address};
  if (cg->has_trap && cg->meets_grid)
    return LLVMStructTypeInContext(cg->context, both, 2, 0);
  return cg->has_trap || cg->meets_grid ? address : NULL;
}

static LLVMValueRef trap_address(Lower *lw) {
  return lw->cg->meets_grid ? LLVMBuildExtractValue(lw->b, lw->context, 0, "trap") : lw->context;
}

static LLVMValueRef grid_address(Lower *lw) {
  return lw->cg->has_trap ? LLVMBuildExtractValue(lw->b, lw->context, 1, "grid") : lw->context;
}

/* The runtime's fields are the last ones, TRAP before GRID. */
static LLVMValueRef kernel_context(Lower *lw) {
  const Cg *cg = lw->cg;
  uint32_t n = cg->out->params.nfields;
  if (!cg->has_trap || !cg->meets_grid)
    return cg->has_trap || cg->meets_grid ? LLVMGetParam(lw->function, n - 1) : NULL;
  LLVMValueRef both = LLVMGetPoison(nvptx_context_type(lw->cg));
  for (unsigned k = 0; k < 2; k++)
    both = LLVMBuildInsertValue(lw->b, both, LLVMGetParam(lw->function, n - 2 + k), k, "");
  return both;
}

static void number_attribute(Lower *lw, const char *key, int value) {
  if (value > 0)
    cg_attribute_text(lw->cg, lw->function, key, arena_printf(&lw->cx->arena, "%d", value));
}

static void parameter_attributes(Lower *lw, uint32_t i) {
  Cg *cg = lw->cg;
  const RtField *f = &cg->out->params.fields[i];
  if (f->kind == RT_FIELD_POINTER)
    cg_attribute(cg, lw->function, i + 1, "align", ty_array_align(cg->leaf_types[f->leaf]));
  if (f->kind == RT_FIELD_EXTENT32) { /* 0 <= extent: what keeps index arithmetic at 32 bits */
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    uint64_t low = 0, high = 1ull << 31;
    LLVMAddAttributeAtIndex(lw->function, i + 1,
                            LLVMCreateConstantRangeAttribute(cg->context, kind, 32, &low, &high));
  }
  if (f->kind == RT_FIELD_TRAP || f->kind == RT_FIELD_GRID)
    cg_attribute(cg, lw->function, i + 1, "align", 8);
}

static void nvptx_kernel_begin(Lower *lw) {
  Cg *cg = lw->cg;
  const RtParams *p = &cg->out->params;
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, p->nfields + 1);
  for (uint32_t k = 0; k < p->nfields; k++)
    types[k] = lw_field_type(cg, &p->fields[k]);
  lw->function = LLVMAddFunction(cg->module, cg->symbol,
                                 LLVMFunctionType(cg->t.none, types, p->nfields, 0));
  cg->kernel = lw->function;
  LLVMSetFunctionCallConv(lw->function, CG_LLVM_PTX_KERNEL);
  cg_attribute(cg, lw->function, on_function, "nounwind", 0);
  for (uint32_t k = 0; k < p->nfields; k++)
    parameter_attributes(lw, k);
  number_attribute(lw, "nvvm.maxntid", cg->options.max_threads);
  number_attribute(lw, "nvvm.minctasm", cg->options.min_blocks);
  number_attribute(lw, "nvvm.maxnreg", cg->options.max_registers);
  lw->entry = LLVMAppendBasicBlockInContext(cg->context, lw->function, "entry");
  lw_at(lw, lw->entry);
  lw->context = kernel_context(lw);
}

static LLVMValueRef nvptx_param(Lower *lw, uint32_t i) { return LLVMGetParam(lw->function, i); }
static void nvptx_kernel_return(Lower *lw) { LLVMBuildRetVoid(lw->b); }

/* --- memory --- */

/* PTX names hold no dots, and LLVM makes two equal ones differ by one: every global gets a number of ours. A $ keeps our names away
 * from those of kernels. */
static LLVMValueRef add_global(Lower *lw, LLVMTypeRef type, const char *name, unsigned space,
                               unsigned align) {
  NvptxState *s = lw->cg->target_state;
  char *text = arena_printf(&lw->cx->arena, "%s$%u", name, s->nglobals++);
  for (char *p = text; *p; p++)
    if (!isalnum((unsigned char)*p) && *p != '$')
      *p = '_';
  LLVMValueRef g = LLVMAddGlobalInAddressSpace(lw->cg->module, type, text, space);
  LLVMSetAlignment(g, align);
  return g;
}

static LLVMValueRef nvptx_shared_static(Lower *lw, uint64_t bytes, unsigned align, uint32_t offset,
                                        const char *name) {
  (void)offset;
  LLVMTypeRef type = LLVMArrayType2(lw->t->i8, bytes);
  LLVMValueRef g = add_global(lw, type, name, NVPTX_SHARED, align);
  LLVMSetInitializer(g, LLVMGetPoison(type));
  LLVMSetLinkage(g, LLVMInternalLinkage);
  return g;
}

static LLVMValueRef nvptx_shared_dynamic(Lower *lw) {
  NvptxState *s = lw->cg->target_state;
  if (!s->dynamic)
    s->dynamic = add_global(lw, LLVMArrayType2(lw->t->i8, 0), "dynamic_shared", NVPTX_SHARED, 16);
  return s->dynamic;
}

static LLVMValueRef inline_asm(Lower *lw, LLVMTypeRef result, const char *code,
                               const char *constraints, bool effects) {
  LLVMTypeRef type = LLVMFunctionType(result, NULL, 0, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       effects, 0, LLVMInlineAsmDialectATT, 0);
  return LLVMBuildCall2(lw->b, type, text, NULL, 0, "");
}

static LLVMValueRef nvptx_shared_dynamic_bytes(Lower *lw) {
  return inline_asm(lw, lw->t->i32, "mov.u32 $0, %dynamic_smem_size;", "=r", false);
}

/* Constant memory while it lasts, which broadcasts to a warp; then global memory. Either as a generic address. */
static LLVMValueRef nvptx_constant(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                                   const char *name) {
  enum { CONSTANT_BYTES = 60 * 1024 }; /* of 64 KB: LLVM and libdevice put tables there too */
  NvptxState *s = lw->cg->target_state;
  uint64_t start = (s->constant_bytes + align - 1) / align * align;
  bool fits = start + bytes <= CONSTANT_BYTES;
  if (fits)
    s->constant_bytes = start + bytes;
  LLVMValueRef g = add_global(lw, LLVMTypeOf(init), name, fits ? NVPTX_CONSTANT : NVPTX_GLOBAL,
                              align);
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  return LLVMConstAddrSpaceCast(g, lw->t->ptr);
}

/* The registers of an access by inline assembly: LLVM has no cache hints of its own. */
typedef struct Access {
  const char *width, *registers, *constraint; /* "v2.b64", "{$0, $1}", "l" */
  unsigned bits, count;                       /* of one register; registers */
} Access;

static const Access *access_of(Lower *lw, LLVMTypeRef type) {
  static const Access rows[] = {{"b8", "$0", "h", 16, 1},
                                {"b16", "$0", "h", 16, 1},
                                {"b32", "$0", "r", 32, 1},
                                {"b64", "$0", "l", 64, 1},
                                {"v2.b64", "{$0, $1}", "l", 64, 2}};
  unsigned long long bytes = LLVMABISizeOfType(lw->cg->layout, type);
  return &rows[__builtin_ctzll(bytes)];
}

static bool is_global(LLVMValueRef p) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == NVPTX_GLOBAL;
}

static LLVMValueRef call_asm(Lower *lw, LLVMTypeRef result, const char *code,
                             const char *constraints, LLVMValueRef *args, unsigned n) {
  LLVMTypeRef types[3];
  CX_ASSERT(lw->cx, n <= 3);
  for (unsigned k = 0; k < n; k++)
    types[k] = LLVMTypeOf(args[k]);
  LLVMTypeRef type = LLVMFunctionType(result, types, n, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       true, 0, LLVMInlineAsmDialectATT, 0);
  return LLVMBuildCall2(lw->b, type, text, args, n, "");
}

static LLVMValueRef nvptx_load_hinted(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p) {
  if (!is_global(p))
    return NULL;
  const Access *a = access_of(lw, type);
  LLVMTypeRef part = cg_int_type(lw->cg, a->bits), both[] = {part, part};
  LLVMTypeRef result = a->count == 1 ? part : LLVMStructTypeInContext(lw->cg->context, both, 2, 0);
  const char *code = arena_printf(&lw->cx->arena, "ld.global.%s.%s %s, [$%u];",
                                  ir_hints[hint].modifier, a->width, a->registers, a->count);
  const char *constraints = arena_printf(&lw->cx->arena, "%s=%s,l,~{memory}",
                                         a->count == 2 ? "=l," : "", a->constraint);
  LLVMValueRef v = call_asm(lw, result, code, constraints, &p, 1);
  if (a->count == 2) {
    LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(part, 2));
    for (unsigned k = 0; k < 2; k++)
      pair = LLVMBuildInsertElement(lw->b, pair, LLVMBuildExtractValue(lw->b, v, k, ""),
                                    lw_i32(lw, k), "");
    v = pair;
  } else if (type == lw->t->i8) {
    return LLVMBuildTrunc(lw->b, v, type, "");
  }
  return LLVMBuildBitCast(lw->b, v, type, "");
}

static LLVMValueRef nvptx_store_hinted(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p) {
  if (!is_global(p))
    return NULL;
  const Access *a = access_of(lw, LLVMTypeOf(v));
  LLVMTypeRef part = cg_int_type(lw->cg, a->bits);
  LLVMValueRef args[3] = {NULL, NULL, NULL};
  if (a->count == 2) {
    v = LLVMBuildBitCast(lw->b, v, LLVMVectorType(part, 2), "");
    for (unsigned k = 0; k < 2; k++)
      args[k] = LLVMBuildExtractElement(lw->b, v, lw_i32(lw, k), "");
  } else {
    args[0] = LLVMTypeOf(v) == lw->t->i8 ? LLVMBuildZExt(lw->b, v, part, "")
                                         : LLVMBuildBitCast(lw->b, v, part, "");
  }
  args[a->count] = p;
  const char *code = arena_printf(&lw->cx->arena, "st.global.%s.%s [$%u], %s;",
                                  ir_hints[hint].modifier, a->width, a->count, a->registers);
  const char *constraints = arena_printf(&lw->cx->arena, "%s%s,l,~{memory}",
                                         a->count == 2 ? "l," : "", a->constraint);
  return call_asm(lw, lw->t->none, code, constraints, args, a->count + 1);
}

static LLVMValueRef nvptx_local(Lower *lw, uint64_t bytes, unsigned align, const char *name) {
  return lw_alloca(lw, LLVMArrayType2(lw->t->i8, bytes), align, name);
}

/* --- threads --- */

static LLVMValueRef nvptx_sreg(Lower *lw, SpecialReg r) {
  static const char *const names[] = {"tid.x",    "tid.y",    "tid.z",  "ctaid.x", "ctaid.y",
                                      "ctaid.z",  "ntid.x",   "ntid.y", "ntid.z",  "nctaid.x",
                                      "nctaid.y", "nctaid.z", "laneid"};
  return lw_intrinsic(lw, arena_printf(&lw->cx->arena, "llvm.nvvm.read.ptx.sreg.%s", names[r]),
                      NULL, 0, NULL, 0);
}

static void nvptx_barrier(Lower *lw) {
  lw_intrinsic(lw, cg_llvm_barrier, NULL, 0, (LLVMValueRef[]){lw_i32(lw, 0)}, 1);
}

static LLVMValueRef nvptx_barrier_vote(Lower *lw, BarrierVote vote, LLVMValueRef i1) {
  const char *name = vote == VOTE_AND  ? cg_llvm_barrier_red_and
                     : vote == VOTE_OR ? cg_llvm_barrier_red_or
                                       : cg_llvm_barrier_red_popc;
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, (LLVMValueRef[]){lw_i32(lw, 0), i1}, 2);
  return vote == VOTE_COUNT ? v : LLVMBuildZExt(lw->b, v, lw->t->i32, "");
}

/* Of 32 bits: wider values travel in halves. */
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
  if (LLVMTypeOf(value) == lw->t->i32)
    return shuffle_word(lw, kind, mask, value, lane);
  LLVMTypeRef halves = LLVMVectorType(lw->t->i32, 2);
  LLVMValueRef from = LLVMBuildBitCast(lw->b, value, halves, ""), to = LLVMGetPoison(halves);
  for (int k = 0; k < 2; k++) {
    LLVMValueRef word = LLVMBuildExtractElement(lw->b, from, lw_i32(lw, k), "");
    word = shuffle_word(lw, kind, mask, word, lane);
    to = LLVMBuildInsertElement(lw->b, to, word, lw_i32(lw, k), "");
  }
  return LLVMBuildBitCast(lw->b, to, LLVMTypeOf(value), "");
}

static LLVMValueRef nvptx_match(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value) {
  bool all = kind == RT_MEET_MATCH_ALL;
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.match.%s.sync.i%u%s",
                                  all ? "all" : "any", LLVMGetIntTypeWidth(LLVMTypeOf(value)),
                                  all ? "p" : "");
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, (LLVMValueRef[]){mask, value}, 2);
  return all ? LLVMBuildExtractValue(lw->b, v, 0, "") : v;
}

static LLVMValueRef nvptx_warp(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
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
    return kind == RT_MEET_BALLOT ? v : LLVMBuildZExt(lw->b, v, lw->t->i32, "");
  case RT_MEET_MATCH_ANY:
  case RT_MEET_MATCH_ALL: return nvptx_match(lw, kind, mask, value);
  default: return nvptx_shuffle(lw, kind, mask, value, lane);
  }
}

static void nvptx_nanosleep(Lower *lw, LLVMValueRef ns) {
  lw_intrinsic(lw, "llvm.nvvm.nanosleep", NULL, 0, &ns, 1);
}

static void nvptx_fence(Lower *lw, FenceLevel level) {
  static const char *const names[] = {"llvm.nvvm.membar.cta", "llvm.nvvm.membar.gl",
                                      "llvm.nvvm.membar.sys"};
  lw_intrinsic(lw, names[level], NULL, 0, NULL, 0);
}

/* --- stopping --- */

static void nvptx_stop(Lower *lw) {
  LLVMValueRef call = inline_asm(lw, lw->t->none, "exit;", "~{memory}", true);
  unsigned kind = LLVMGetEnumAttributeKindForName("noreturn", 8);
  LLVMAddCallSiteAttribute(call, on_function, LLVMCreateEnumAttribute(lw->cg->context, kind, 0));
  LLVMBuildUnreachable(lw->b);
}

static LLVMValueRef trap_member(Lower *lw, LLVMValueRef trap, size_t offset) {
  LLVMValueRef at = lw_i64(lw, (int64_t)offset);
  return LLVMBuildInBoundsGEP2(lw->b, lw->t->i8, trap, &at, 1, "");
}

/* The first thread to come fills the RtTrap; it is complete when its state is 2. */
static void fill_trap(Lower *lw, LLVMValueRef trap, LLVMValueRef site, LLVMValueRef const *values) {
  LLVMBuildStore(lw->b, site, trap_member(lw, trap, offsetof(RtTrap, site)));
  for (unsigned k = 0; k < 3; k++) {
    LLVMBuildStore(lw->b, nvptx_sreg(lw, SREG_CTAID + k),
                   trap_member(lw, trap, offsetof(RtTrap, block) + 4u * k));
    LLVMBuildStore(lw->b, nvptx_sreg(lw, SREG_TID + k),
                   trap_member(lw, trap, offsetof(RtTrap, thread) + 4u * k));
  }
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    LLVMBuildStore(lw->b, values[k], trap_member(lw, trap, offsetof(RtTrap, values) + 8u * k));
  nvptx_fence(lw, FENCE_SYSTEM);
  LLVMSetVolatile(LLVMBuildStore(lw->b, lw_i32(lw, 2), trap), 1);
  nvptx_fence(lw, FENCE_SYSTEM);
}

static void trap_body(Lower *lw, LLVMValueRef fn) {
  LLVMValueRef trap = LLVMGetParam(fn, 0), values[RT_TRAP_VALUES];
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    values[k] = LLVMGetParam(fn, 2 + k);
  LLVMBasicBlockRef first = lw_block(lw, "first"), done = lw_block(lw, "done");
  unsigned scope = LLVMGetSyncScopeID(lw->cg->context, "device", 6);
  LLVMValueRef old = LLVMBuildAtomicCmpXchgSyncScope(lw->b, trap, lw_i32(lw, 0), lw_i32(lw, 1),
                                                     LLVMAtomicOrderingMonotonic,
                                                     LLVMAtomicOrderingMonotonic, scope);
  LLVMBuildCondBr(lw->b, LLVMBuildExtractValue(lw->b, old, 1, ""), first, done);
  lw_at(lw, first);
  fill_trap(lw, trap, LLVMGetParam(fn, 1), values);
  LLVMBuildBr(lw->b, done);
  lw_at(lw, done);
  nvptx_stop(lw);
}

static Lower open_function(Lower *lw, LLVMValueRef fn, const char *const *attributes) {
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  for (; *attributes; attributes++)
    cg_attribute(lw->cg, fn, on_function, *attributes, 0);
  Lower inner = {.cg = lw->cg,
                 .cx = lw->cx,
                 .target = lw->target,
                 .t = lw->t,
                 .b = LLVMCreateBuilderInContext(lw->cg->context),
                 .function = fn};
  inner.entry = lw_block(&inner, "entry");
  lw_at(&inner, inner.entry);
  return inner;
}

/* One function a module, never inlined: a check costs its caller a comparison, a branch and a call that is not taken. */
static LLVMValueRef trap_function(Lower *lw) {
  NvptxState *s = lw->cg->target_state;
  if (s->trap)
    return s->trap;
  LLVMTypeRef types[2 + RT_TRAP_VALUES] = {lw->t->space[SPACE_GLOBAL], lw->t->i32};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    types[2 + k] = lw->t->i64;
  LLVMValueRef fn = LLVMAddFunction(lw->cg->module, "pyptx$trap",
                                    LLVMFunctionType(lw->t->none, types, 2 + RT_TRAP_VALUES, 0));
  s->trap = fn;
  static const char *const attributes[] = {"noinline", "noreturn", "nounwind", "cold", NULL};
  Lower inner = open_function(lw, fn, attributes);
  trap_body(&inner, fn);
  LLVMDisposeBuilder(inner.b);
  return fn;
}

static void nvptx_trap(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n) {
  LLVMValueRef fn = trap_function(lw),
               args[2 + RT_TRAP_VALUES] = {trap_address(lw), lw_i32(lw, site)};
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    args[2 + k] = k < n ? values[k] : lw_i64(lw, 0);
  LLVMBuildCall2(lw->b, LLVMGlobalGetValueType(fn), fn, args, 2 + RT_TRAP_VALUES, "");
  LLVMBuildUnreachable(lw->b);
}

/* --- the grid's barrier ---
 *
 * One 32-bit word of the launch, in which each block adds 1 when its threads have arrived, and block (0, 0, 0) as much more as makes the sum
 * of all 2**31: so the top bit changes when the last one comes, and is what the others wait for. The sum of two barriers is 2**32, so
 * the word needs no reset between them, and a block that is late still sees the change, since nobody gets past the next barrier without it.
 * Thread (0, 0, 0) does it for its block, between two barriers of the block; its fences order what the block's threads did, by causality.
 * Source: the arrival counter of CUDA's cooperative groups, as NVIDIA's programming guide describes grid synchronisation. */

enum { SPINS_PER_LOOK = 256 }; /* a look at the RtTrap goes through the bus */

static LLVMValueRef any_of_three(Lower *lw, SpecialReg first) {
  LLVMValueRef v = nvptx_sreg(lw, first);
  for (unsigned k = 1; k < 3; k++)
    v = LLVMBuildOr(lw->b, v, nvptx_sreg(lw, first + k), "");
  return v;
}

static LLVMValueRef grid_share(Lower *lw) {
  LLVMValueRef blocks = nvptx_sreg(lw, SREG_NCTAID);
  for (unsigned k = 1; k < 3; k++)
    blocks = LLVMBuildMul(lw->b, blocks, nvptx_sreg(lw, SREG_NCTAID + k), "");
  LLVMValueRef others = LLVMBuildSub(lw->b, blocks, lw_i32(lw, 1), "");
  LLVMValueRef rest = LLVMBuildSub(lw->b, lw_i32(lw, INT32_MIN), others, "");
  LLVMValueRef is_first = LLVMBuildICmp(lw->b, LLVMIntEQ, any_of_three(lw, SREG_CTAID),
                                        lw_i32(lw, 0), "");
  return LLVMBuildSelect(lw->b, is_first, rest, lw_i32(lw, 1), "");
}

/* Where a thread has stopped with an exception its block may never arrive: this one stops too, now and then looking for that. */
static void leave_if_trapped(Lower *lw, LLVMValueRef trap, LLVMBasicBlockRef wait) {
  LLVMValueRef spins = lw_alloca(lw, lw->t->i32, 4, "spins");
  LLVMBasicBlockRef look = lw_block(lw, "look"), stop = lw_block(lw, "stop");
  LLVMValueRef n = LLVMBuildAdd(lw->b, LLVMBuildLoad2(lw->b, lw->t->i32, spins, ""), lw_i32(lw, 1),
                                "");
  LLVMBuildStore(lw->b, n, spins);
  LLVMValueRef rest = LLVMBuildAnd(lw->b, n, lw_i32(lw, SPINS_PER_LOOK - 1), "");
  LLVMBuildCondBr(lw->b, LLVMBuildICmp(lw->b, LLVMIntEQ, rest, lw_i32(lw, 0), ""), look, wait);
  lw_at(lw, look);
  LLVMValueRef state = LLVMBuildLoad2(lw->b, lw->t->i32, trap, "");
  LLVMSetVolatile(state, 1);
  LLVMBuildCondBr(lw->b, LLVMBuildICmp(lw->b, LLVMIntEQ, state, lw_i32(lw, 0), ""), wait, stop);
  lw_at(lw, stop);
  nvptx_stop(lw);
}

static void arrive_and_wait(Lower *lw, LLVMValueRef word, LLVMValueRef trap) {
  LLVMBasicBlockRef wait = lw_block(lw, "wait"), again = lw_block(lw, "again"),
                    met = lw_block(lw, "met");
  unsigned scope = LLVMGetSyncScopeID(lw->cg->context, "device", 6);
  nvptx_fence(lw, FENCE_DEVICE);
  LLVMValueRef old = LLVMBuildAtomicRMWSyncScope(lw->b, LLVMAtomicRMWBinOpAdd, word, grid_share(lw),
                                                 LLVMAtomicOrderingMonotonic, scope);
  LLVMBuildBr(lw->b, wait);
  lw_at(lw, wait);
  LLVMValueRef now = LLVMBuildLoad2(lw->b, lw->t->i32, word, "");
  LLVMSetVolatile(now, 1);
  LLVMValueRef change = LLVMBuildXor(lw->b, old, now, "");
  LLVMBuildCondBr(lw->b, LLVMBuildICmp(lw->b, LLVMIntSLT, change, lw_i32(lw, 0), ""), met, again);
  lw_at(lw, again);
  if (trap)
    leave_if_trapped(lw, trap, wait);
  else
    LLVMBuildBr(lw->b, wait);
  lw_at(lw, met);
  nvptx_fence(lw, FENCE_DEVICE);
}

static void grid_body(Lower *lw, LLVMValueRef word, LLVMValueRef trap) {
  LLVMBasicBlockRef lead = lw_block(lw, "lead"), done = lw_block(lw, "done");
  nvptx_barrier(lw);
  LLVMBuildCondBr(lw->b,
                  LLVMBuildICmp(lw->b, LLVMIntEQ, any_of_three(lw, SREG_TID), lw_i32(lw, 0), ""),
                  lead, done);
  lw_at(lw, lead);
  arrive_and_wait(lw, word, trap);
  LLVMBuildBr(lw->b, done);
  lw_at(lw, done);
  nvptx_barrier(lw);
  LLVMBuildRetVoid(lw->b);
}

static void nvptx_grid_barrier(Lower *lw) {
  static const char *const attributes[] = {"noinline", "nounwind", "convergent", NULL};
  NvptxState *s = lw->cg->target_state;
  LLVMTypeRef address = lw->t->space[SPACE_GLOBAL], types[] = {address, address};
  unsigned n = lw->cg->has_trap ? 2 : 1;
  if (!s->grid_barrier) {
    s->grid_barrier = LLVMAddFunction(lw->cg->module, "pyptx$grid_barrier",
                                      LLVMFunctionType(lw->t->none, types, n, 0));
    Lower inner = open_function(lw, s->grid_barrier, attributes);
    grid_body(&inner, LLVMGetParam(s->grid_barrier, 0),
              n > 1 ? LLVMGetParam(s->grid_barrier, 1) : NULL);
    LLVMDisposeBuilder(inner.b);
  }
  LLVMValueRef args[] = {grid_address(lw), n > 1 ? trap_address(lw) : NULL};
  LLVMBuildCall2(lw->b, LLVMGlobalGetValueType(s->grid_barrier), s->grid_barrier, args, n, "");
}

/* --- values --- */

static const Lowering *nvptx_lowering(const IntrinsicInfo *info) { return &info->nvptx; }

static const char *nvptx_math_name(Cg *cg, const char *name, bool is_float32) {
  static const char *const fast[] = {"sin", "cos", "tan", "exp", "log", "log2", "log10", "pow"};
  if (is_float32 && (cg->options.fastmath & CG_FAST_FUNC))
    for (size_t k = 0; k < sizeof fast / sizeof *fast; k++)
      if (strcmp(fast[k], name) == 0)
        return arena_printf(&cg->cx->arena, "__nv_fast_%sf", name);
  return arena_printf(&cg->cx->arena, is_float32 ? "__nv_%sf" : "__nv_%s", name);
}

static LLVMValueRef clamp(Lower *lw, LLVMValueRef v, unsigned bits, bool is_signed) {
  LLVMTypeRef t = lw->t->i32;
  int64_t high = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1;
  v = lw_intrinsic(lw, is_signed ? "llvm.smin" : "llvm.umin", &t, 1,
                   (LLVMValueRef[]){v, lw_i32(lw, high)}, 2);
  if (is_signed)
    v = lw_intrinsic(lw, "llvm.smax", &t, 1, (LLVMValueRef[]){v, lw_i32(lw, -high - 1)}, 2);
  return LLVMBuildTrunc(lw->b, v, cg_int_type(lw->cg, bits), "");
}

/* PTX's own conversion saturates, and gives 0 for nan from 32 to 32 bits; with 64 bits on either side nan gives the lowest. */
static LLVMValueRef nvptx_float_to_int(Lower *lw, LLVMValueRef x, unsigned bits, bool is_signed) {
  bool from64 = LLVMTypeOf(x) == lw->t->f64, to64 = bits == 64;
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.%c2%s%s.rz", from64 ? 'd' : 'f',
                                  is_signed ? "" : "u", to64 ? "ll" : "i");
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, &x, 1);
  if (from64 || to64) {
    LLVMValueRef nan = LLVMBuildFCmp(lw->b, LLVMRealUNO, x, x, "");
    v = LLVMBuildSelect(lw->b, nan, LLVMConstNull(LLVMTypeOf(v)), v, "");
  }
  return bits < 32 ? clamp(lw, v, bits, is_signed) : v;
}

/* vprintf(format, arguments): every argument is 8 bytes here, so they lie one after another. */
static void nvptx_print(Lower *lw, const char *format, LLVMValueRef const *args, unsigned n) {
  args = lw_plain_print(lw, &format, args, &n);
  LLVMValueRef buffer = n ? lw_alloca(lw, LLVMArrayType2(lw->t->i8, 8ull * n), 8, "line")
                          : LLVMConstNull(lw->t->ptr);
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef at = lw_i64(lw, 8 * (int64_t)k);
    LLVMSetAlignment(
        LLVMBuildStore(lw->b, args[k], LLVMBuildInBoundsGEP2(lw->b, lw->t->i8, buffer, &at, 1, "")),
        8);
  }
  lw_call_extern(lw, "vprintf", lw->t->i32, (LLVMValueRef[]){lw_text(lw, format), buffer}, 2);
}

const Target cg_target_nvptx = {
    .name = "gpu",
    .space = {[SPACE_GLOBAL] = NVPTX_GLOBAL,
              [SPACE_SHARED] = NVPTX_SHARED,
              [SPACE_LOCAL] = 0,
              [SPACE_CONST] = 0},
    .atomic_scope = "device",
    .whole_complex = true,
    .runtime_fields = true,
    .open = nvptx_open,
    .finish = nvptx_finish,
    .link = nvptx_link,
    .optimize = nvptx_optimize,
    .emit = nvptx_emit,
    .release = nvptx_release,
    .context_type = nvptx_context_type,
    .kernel_begin = nvptx_kernel_begin,
    .param = nvptx_param,
    .kernel_return = nvptx_kernel_return,
    .shared_static = nvptx_shared_static,
    .shared_dynamic = nvptx_shared_dynamic,
    .shared_dynamic_bytes = nvptx_shared_dynamic_bytes,
    .constant = nvptx_constant,
    .local = nvptx_local,
    .load_hinted = nvptx_load_hinted,
    .store_hinted = nvptx_store_hinted,
    .sreg = nvptx_sreg,
    .barrier = nvptx_barrier,
    .barrier_vote = nvptx_barrier_vote,
    .grid_barrier = nvptx_grid_barrier,
    .warp = nvptx_warp,
    .fence = nvptx_fence,
    .nanosleep = nvptx_nanosleep,
    .trap = nvptx_trap,
    .stop = nvptx_stop,
    .lowering = nvptx_lowering,
    .math_name = nvptx_math_name,
    .float_to_int = nvptx_float_to_int,
    .print = nvptx_print,
};
