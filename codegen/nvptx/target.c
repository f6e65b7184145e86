/* The NVPTX target: what lowering asks about a thread on the GPU, and the passes that belong to no
 * other file. See codegen/nvptx/README.md. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/flatten/flatten.h"
#include "codegen/llvm/bit_loops.h"
#include "codegen/llvm/compat.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/machines.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/prepare.h"
#include "codegen/nvptx/ptx_fixup.h"
#include "codegen/nvptx/loops/strided_unroll.h"
#include "codegen/passes.h"
#include "codegen/ssa/params.h"
#include "ir/base/chars.h"

static const char triple[] = "nvptx64-nvidia-cuda";
static const LLVMAttributeIndex on_function = L_FUNCTION;

/* --- architectures and PTX versions --- */

/* The lowest PTX version for each architecture; below it LLVM stops with a fatal error. */
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
static const int ptx_versions[] = {64, 65, 70, 71, 72, 73, 74,
                                   75, 76, 77, 78, 80, 81, 82,
                                   83, 84, 85, 86, 87, 88, CG_LLVM_NEWEST_PTX,
                                   0};

const int *cg_ptx_versions(void) { return ptx_versions; }

int cg_arch_min_ptx(const char *arch) {
  for (size_t k = 0; arch && k < sizeof archs / sizeof *archs; k++)
    if (strcmp(archs[k].name, arch) == 0)
      return archs[k].ptx;
  return 0;
}

/* The newest version that LLVM knows and that is at most `limit`; for limit 0 the architecture's
 * lowest. */
static int choose_ptx(Cg *cg, const char *arch, int limit) {
  int lowest = cg_arch_min_ptx(arch), best = lowest;
  if (!lowest)
    fail(cg->cx, (Loc){0}, ERR_ARCH, arch ? arch : "");
  if (limit && limit < lowest)
    fail(cg->cx, (Loc){0}, ERR_ARCH,
         arena_printf(&cg->cx->arena, "%s, which needs PTX %d.%d, with PTX %d.%d", arch,
                      lowest / 10, lowest % 10, limit / 10, limit % 10));
  for (const int *known = ptx_versions; *known && *known <= limit; known++)
    if (*known > best)
      best = *known;
  return best;
}

int cg_nvptx_arch_number(const Cg *cg) { return atoi(cg->request->arch + 3); }

static LLVMTargetMachineRef make_machine(Cg *cg, int ptx, LLVMCodeGenOptLevel level) {
  LLVMTargetRef target;
  char *why = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    const char *copy = arena_strdup(&cg->cx->arena, why);
    LLVMDisposeMessage(why);
    fail(cg->cx, (Loc){0}, ERR_LLVM, copy);
  }
  const char *arch = cg_nvptx_arch(cg);
  LLVMTargetMachineRef machine =
      LLVMCreateTargetMachine(target, triple, arch, arena_printf(&cg->cx->arena, "+ptx%d", ptx),
                              level, LLVMRelocDefault, LLVMCodeModelDefault);
  if (!machine)
    fail(cg->cx, (Loc){0}, ERR_ARCH, arch);
  return machine;
}

static void open_machine(Cg *cg, LLVMCodeGenOptLevel level) {
  const NvptxState *s = cg->target_state;
  const char *arch = cg_nvptx_arch(cg);
  int ptx = choose_ptx(cg, arch, cg->request->ptx_version);
  ptx = ptx < s->least_ptx ? s->least_ptx : ptx; /* no version was asked for: else it is an error */
  cg->machine_key = arena_printf(&cg->cx->arena, "%s ptx%d O%d", arch, ptx, (int)level);
  cg->machine = cg_machine_take(cg->machine_key);
  if (!cg->machine)
    cg->machine = make_machine(cg, ptx, level);
}

/* The next level (aggressive) runs value numbering twice in place of early CSE, which takes a
 * twelfth of compile time: of 48 kernels it changed one, by two instructions more. */
static void nvptx_open(Cg *cg) {
  cg->target_state = CX_NEW(cg->cx, NvptxState);
  cg_nvptx_require(cg);
  open_machine(cg, cg->options.opt ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone);
}

/* In the constant bank, which ptxas aligns parameters in: at 0x210 on sm_90, at 0x380 since. Before
 * that no parameter is aligned to more than 8 bytes. */
static uint32_t nvptx_params_begin(const Cg *cg) {
  return cg_nvptx_arch_number(cg) < 100 ? 0x210 % 64 : 0x380 % 64;
}

static void nvptx_finish(Cg *cg) { (void)cg; }
static void nvptx_link(Cg *cg) { cg_link_libdevice(cg); }

/* --- the passes --- */

static void unroll_marked(Cg *cg) {
  cg_run_passes(cg, "function(loop-unroll<O3>,instcombine<no-verify-fixpoint>,simplifycfg)");
}

/* Masks come last: LLVM would move a product into the block of its loads, where it is no longer
 * contracted with the sum behind them, as it is in the loop. */
static void left_over(Cg *cg) {
  while (cg_nvptx_left_over(cg, false)) /* 7, 3, 1 are left; each time rounds that are alone too */
    unroll_marked(cg);
  cg_nvptx_left_over(cg, true);
  cg_nvptx_leave_to_ptxas(cg);
}

static void keep_guards(Cg *cg) { cg->keeps_guards = true; }

static void bit_loops(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && cg_count_bits(cg, f))
      cg_run_function_passes(cg, f,
                             "instcombine<no-verify-fixpoint>,simplifycfg,"
                             "instcombine<no-verify-fixpoint>");
}

static void masked_unroll(Cg *cg) {
  if (cg_nvptx_masked(cg, false))
    unroll_marked(cg);
  cg_nvptx_masked(cg, true);
}

static void choose_machine(Cg *cg) {
  if (!cg_nvptx_is_long(cg))
    return;
  cg_close_machine(cg);
  open_machine(cg, LLVMCodeGenLevelNone);
}

static void emit_code(Cg *cg) {
  LLVMMemoryBufferRef buffer = cg_emit(cg, LLVMAssemblyFile);
  cg->code_len = LLVMGetBufferSize(buffer);
  cg->code = arena_strndup(&cg->cx->arena, LLVMGetBufferStart(buffer), cg->code_len);
  LLVMDisposeMemoryBuffer(buffer);
}

static void fix_ptx(Cg *cg) {
  size_t n = cg->code_len;
  const char *ptx = cg_ptx_fixup(&cg->cx->arena, cg->code, &n, cg->options.opt > 0);
  cg->out->ptx = cg_strndup(cg, ptx, n);
  cg->out->ptx_len = n;
}

#define P(...) PASS_WHEN(__VA_ARGS__)
#include "codegen/nvptx/passes.def"
#undef P
static const Pass rows[] = {
#define P(...) PASS_ROW("nvptx", __VA_ARGS__)
#include "codegen/nvptx/passes.def"
#undef P
};
const PassTable cg_nvptx_passes = {rows, sizeof rows / sizeof *rows};

static void nvptx_release(void *jit) { (void)jit; }

/* --- the kernel --- */

/* Device functions are passed the runtime's fields: the address of the RtTrap if a thread can trap,
 * that of the grid's barrier if there is one, a struct of both, or nothing. */
static LLVMTypeRef nvptx_context_type(Cg *cg) {
  LLVMTypeRef address = cg->t.space[SPACE_GLOBAL], both[] = {address, address};
  if (cg->has_trap && cg->meets_grid)
    return LLVMStructTypeInContext(cg->context, both, 2, 0);
  return cg->has_trap || cg->meets_grid ? address : NULL;
}

LLVMValueRef cg_nvptx_trap_address(Lower *lw) {
  assert(lw->cg->has_trap);
  return lw->cg->meets_grid ? LLVMBuildExtractValue(lw->b, lw->context, 0, "trap") : lw->context;
}

LLVMValueRef cg_nvptx_grid_address(Lower *lw) {
  assert(lw->cg->meets_grid);
  return lw->cg->has_trap ? LLVMBuildExtractValue(lw->b, lw->context, 1, "grid") : lw->context;
}

/* The runtime's fields are the last ones, TRAP before GRID. */
static LLVMValueRef kernel_context(Lower *lw) {
  const Cg *cg = lw->cg;
  uint32_t n = cg->out->params.nfields;
  assert(n >= (uint32_t)cg->has_trap + cg->meets_grid);
  if (!cg->has_trap || !cg->meets_grid)
    return cg->has_trap || cg->meets_grid ? LLVMGetParam(lw->function, n - 1) : NULL;
  LLVMValueRef both = LLVMGetPoison(nvptx_context_type(lw->cg));
  for (unsigned k = 0; k < 2; k++)
    both = l_insert_value(lw->b, both, LLVMGetParam(lw->function, n - 2 + k), k);
  return both;
}

static void number_attribute(Lower *lw, const char *key, int value) {
  if (value > 0)
    cg_attribute_text(lw->cg, lw->function, key, arena_printf(&lw->cx->arena, "%d", value));
}

bool cg_nvptx_is_extent(LLVMValueRef v) {
  if (!LLVMIsAArgument(v))
    return false;
  unsigned kind = LLVMGetEnumAttributeKindForName("range", 5), k = 0;
  LLVMValueRef f = LLVMGetParamParent(v);
  while (LLVMGetParam(f, k) != v)
    k++;
  return LLVMGetEnumAttributeAtIndex(f, k + 1, kind) != NULL;
}

static void parameter_attributes(Lower *lw, uint32_t i) {
  Cg *cg = lw->cg;
  const RtField *f = &cg->out->params.fields[i];
  if (f->kind == RT_FIELD_POINTER)
    cg_attribute(cg, lw->function, i + 1, "align", ty_array_align(cg->params->fields.data[i].type));
  if (f->kind == RT_FIELD_EXTENT32) { /* 0 <= extent keeps index arithmetic at 32 bits */
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    uint64_t low = 0, high = 1ull << 31;
    LLVMAddAttributeAtIndex(lw->function, i + 1,
                            LLVMCreateConstantRangeAttribute(cg->context, kind, 32, &low, &high));
    /* Or LLVM would not ask of an unsigned i, once, whether 0 <= i and i < extent. Kernels
     * with matrix operations of warpgroups, whose architecture has the letter a, have no register
     * free for what it then moves in front of loops. */
    const NvptxState *state = cg->target_state;
    if (!state->arch || !cg_nvptx_has_letter(state->arch, 'a'))
      cg_attribute(cg, lw->function, i + 1, "noundef", 0);
  }
  if (f->kind == RT_FIELD_TRAP || f->kind == RT_FIELD_GRID)
    cg_attribute(cg, lw->function, i + 1, "align", 8);
  if (f->kind == RT_FIELD_TENSOR_MAP) { /* stays where the launch has put it */
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMTypeRef bytes = LLVMArrayType2(cg->t.i8, f->size);
    LLVMAddAttributeAtIndex(lw->function, i + 1, LLVMCreateTypeAttribute(cg->context, kind, bytes));
    cg_attribute(cg, lw->function, i + 1, "align", 64);
    LLVMAddAttributeAtIndex(
        lw->function, i + 1,
        LLVMCreateStringAttribute(cg->context, "nvvm.grid_constant", 18, "", 0));
  }
}

static void nvptx_kernel_begin(Lower *lw) {
  Cg *cg = lw->cg;
  const RtParams *p = &cg->out->params;
  LLVMTypeRef *types = CX_ARRAY(lw->cx, LLVMTypeRef, p->nfields + 1);
  for (uint32_t k = 0; k < p->nfields; k++)
    types[k] = lw_field_type(cg, k);
  lw->function = LLVMAddFunction(cg->module, cg->symbol,
                                 LLVMFunctionType(cg->t.none, types, p->nfields, 0));
  cg->kernel = lw->function;
  LLVMSetFunctionCallConv(lw->function, CG_LLVM_PTX_KERNEL);
  cg_attribute(cg, lw->function, on_function, "nounwind", 0);
  for (uint32_t k = 0; k < p->nfields; k++)
    parameter_attributes(lw, k);
  number_attribute(lw, "nvvm.maxntid", cg->options.max_threads);
  number_attribute(lw, "nvvm.minctasm", cg->options.min_blocks);
  if (cg_nvptx_arch_number(cg) >= 90) /* others have no clusters */
    number_attribute(lw, "nvvm.maxclusterrank", cg->options.max_cluster);
  number_attribute(lw, "nvvm.maxnreg", cg->options.max_registers);
  lw->entry = LLVMAppendBasicBlockInContext(cg->context, lw->function, "entry");
  lw_at(lw, lw->entry);
  lw->context = kernel_context(lw);
}

static LLVMValueRef nvptx_param(Lower *lw, uint32_t i) { return LLVMGetParam(lw->function, i); }
static void nvptx_kernel_return(Lower *lw) { l_ret_void(lw->b); }

/* --- memory and functions --- */

/* PTX names have no dots, which LLVM would add to make equal names differ; so every global gets a
 * number. The $ keeps our names distinct from those of kernels. */
static LLVMValueRef add_global(Lower *lw, LLVMTypeRef type, const char *name, unsigned space,
                               unsigned align) {
  NvptxState *s = lw->cg->target_state;
  char *text = arena_printf(&lw->cx->arena, "%s$%u", name, s->nglobals++);
  for (char *p = text; *p; p++)
    if (!char_is_alnum(*p) && *p != '$')
      *p = '_';
  LLVMValueRef g = LLVMAddGlobalInAddressSpace(lw->cg->module, type, text, space);
  LLVMSetAlignment(g, align);
  return g;
}

/* Whole words: an atomic operation on the last small element exchanges the word that it is in. */
static LLVMValueRef nvptx_shared_static(Lower *lw, uint64_t bytes, unsigned align, uint32_t offset,
                                        const char *name) {
  (void)offset;
  LLVMTypeRef type = LLVMArrayType2(lw->t->i8, (bytes + 3) / 4 * 4);
  LLVMValueRef g = add_global(lw, type, name, NVPTX_SHARED, align);
  LLVMSetInitializer(g, LLVMGetPoison(type));
  LLVMSetLinkage(g, LLVMInternalLinkage);
  return g;
}

static LLVMValueRef nvptx_shared_dynamic(Lower *lw, unsigned align) {
  NvptxState *s = lw->cg->target_state;
  if (!s->dynamic)
    s->dynamic = add_global(lw, LLVMArrayType2(lw->t->i8, 0), "dynamic_shared", NVPTX_SHARED, 16);
  if (LLVMGetAlignment(s->dynamic) < align)
    LLVMSetAlignment(s->dynamic, align);
  return s->dynamic;
}

LLVMValueRef cg_nvptx_asm(Lower *lw, LLVMTypeRef result, const char *code, const char *constraints,
                          bool effects) {
  LLVMTypeRef type = LLVMFunctionType(result, NULL, 0, 0);
  LLVMValueRef text = LLVMGetInlineAsm(type, code, strlen(code), constraints, strlen(constraints),
                                       effects, 0, LLVMInlineAsmDialectATT, 0);
  return l_call_type(lw->b, type, text, NULL, 0);
}

static LLVMValueRef nvptx_shared_dynamic_bytes(Lower *lw) {
  return cg_nvptx_asm(lw, lw->t->i32, "mov.u32 $0, %dynamic_smem_size;", "=r", false);
}

/* In constant memory, which broadcasts to a warp, while there is room, then in global memory. The
 * result is a generic address in both cases. */
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

Lower cg_nvptx_open_function(Lower *lw, LLVMValueRef fn, const char *const *attributes) {
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
  return l_trunc(lw->b, v, cg_int_type(lw->cg, bits));
}

/* PTX's conversion saturates. It gives 0 for nan if both types have 32 bits; if one has 64, it does
 * not, and a select is needed. */
static LLVMValueRef nvptx_float_to_int(Lower *lw, LLVMValueRef x, unsigned bits, bool is_signed) {
  bool from64 = LLVMTypeOf(x) == lw->t->f64, to64 = bits == 64;
  const char *name = arena_printf(&lw->cx->arena, "llvm.nvvm.%c2%s%s.rz", from64 ? 'd' : 'f',
                                  is_signed ? "" : "u", to64 ? "ll" : "i");
  LLVMValueRef v = lw_intrinsic(lw, name, NULL, 0, &x, 1);
  if (from64 || to64) {
    LLVMValueRef nan = l_fcmp(lw->b, LLVMRealUNO, x, x);
    v = l_select(lw->b, nan, LLVMConstNull(LLVMTypeOf(v)), v);
  }
  return bits < 32 ? clamp(lw, v, bits, is_signed) : v;
}

/* vprintf(format, buffer): every argument is 8 bytes here, so the buffer has no padding. */
static void nvptx_print(Lower *lw, const char *format, LLVMValueRef const *args, unsigned n) {
  args = lw_plain_print(lw, &format, args, &n);
  LLVMValueRef buffer = n ? lw_alloca(lw, LLVMArrayType2(lw->t->i8, 8ull * n), 8, "line")
                          : LLVMConstNull(lw->t->ptr);
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef at = lw_i64(lw, 8 * (int64_t)k);
    LLVMSetAlignment(l_store(lw->b, args[k], l_gep_inbounds(lw->b, lw->t->i8, buffer, &at, 1)), 8);
  }
  lw_call_extern(lw, "vprintf", lw->t->i32, (LLVMValueRef[]){lw_text(lw, format), buffer}, 2);
}

const Target cg_target_nvptx = {
    .name = "gpu",
    .space = {[SPACE_GLOBAL] = NVPTX_GLOBAL,
              [SPACE_SHARED] = NVPTX_SHARED,
              [SPACE_LOCAL] = 0,
              [SPACE_CONST] = 0,
              [SPACE_CLUSTER] = NVPTX_CLUSTER},
    .atomic_scope = "device",
    .shared_atomic_scope = "device",
    .whole_complex = true,
    .vector_accesses = true,
    .coarsens = true,
    .narrows = true,
    .too_deep =
        "recursion is too deep for a thread's stack of {0} bytes: @cuda.jit(stack=BYTES) makes it larger",
    .runtime_fields = true,
    .open = nvptx_open,
    .finish = nvptx_finish,
    .link = nvptx_link,
    .passes = &cg_nvptx_passes,
    .links = true,
    .release = nvptx_release,
    .context_type = nvptx_context_type,
    .kernel_begin = nvptx_kernel_begin,
    .param = nvptx_param,
    .kernel_return = nvptx_kernel_return,
    .shared_static = nvptx_shared_static,
    .shared_dynamic = nvptx_shared_dynamic,
    .shared_dynamic_bytes = nvptx_shared_dynamic_bytes,
    .constant = nvptx_constant,
    .load_hinted = cg_nvptx_load_hinted,
    .store_hinted = cg_nvptx_store_hinted,
    .sreg = cg_nvptx_sreg,
    .read_register = cg_nvptx_read_register,
    .register_of = cg_nvptx_register_of,
    .barrier = cg_nvptx_barrier,
    .barrier_vote = cg_nvptx_barrier_vote,
    .grid_barrier = cg_nvptx_grid_barrier,
    .warp = cg_nvptx_warp,
    .fence = cg_nvptx_fence,
    .nanosleep = cg_nvptx_nanosleep,
    .trap = cg_nvptx_trap,
    .params_begin = nvptx_params_begin,
    .stop = cg_nvptx_stop,
    .instruction = cg_nvptx_instruction,
    .inline_text = cg_nvptx_inline_text,
    .lowering = nvptx_lowering,
    .math_name = nvptx_math_name,
    .float_to_int = nvptx_float_to_int,
    .float8_to_float = cg_nvptx_float8_to_float,
    .float_to_float8 = cg_nvptx_float_to_float8,
    .print = nvptx_print,
};
