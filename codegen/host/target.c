/* The host target: what lowering asks about one thread on the CPU. Barriers and other meetings
 * become calls of markers, which fission cuts at; everything else is the code of one thread, whose
 * place in the grid is a parameter. See host.h. */
#include "codegen/target.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/fission/fission.h"
#include "codegen/host/checks.h"
#include "codegen/host/host.h"
#include "codegen/lanes/lanes.h"
#include "codegen/llvm/code_size.h"
#include "codegen/llvm/optimize.h"
#include "codegen/lower/lower.h"
#include "codegen/passes.h"

/* --- the module --- */

/* What is said of this CPU beyond what LLVM finds. On x86, not to use conversions to bfloat16 that
 * flush subnormals: LLVM would use them to pass a bfloat16 to a function or return it; without them
 * it moves the bits. On AArch64, to use NEON, which all that run Linux have, emulated ones too. */
#ifdef __x86_64__
#define HOST_FEATURES ",-avx512bf16,-avxneconvert"
#elif defined __aarch64__
#define HOST_FEATURES ",+neon"
#else
#define HOST_FEATURES ""
#endif

/* LLVM divides 64 bits as 32 where both operands fit, and asks that first, on every CPU that was
 * ever slow at it. Those of today (Ice Lake, Zen 3 and later, which have vectors of AES) divide
 * small numbers as fast by the long instruction, so the question only takes time. */
static const char *divides_fast(const char *features) {
  return strstr(features, "+vaes") ? ",-idivq-to-divl" : "";
}

static const char *features_of(Cg *cg) {
  const char *more = getenv("PYPTX_HOST_FEATURES"); /* tests: "-f16c" acts as a CPU without it */
  char *own = LLVMGetHostCPUFeatures();
  const char *all = arena_printf(&cg->cx->arena, "%s" HOST_FEATURES "%s%s%s", own,
                                 divides_fast(own), more && *more ? "," : "", more ? more : "");
  LLVMDisposeMessage(own);
  return all;
}

static void open_machine(Cg *cg, LLVMCodeGenOptLevel level) {
  char *triple = LLVMGetDefaultTargetTriple(), *cpu = LLVMGetHostCPUName(), *why = NULL;
  LLVMTargetRef target;
  const char *error = NULL;
  if (LLVMGetTargetFromTriple(triple, &target, &why)) {
    error = arena_strdup(&cg->cx->arena, why);
    LLVMDisposeMessage(why);
  } else {
    cg->machine = LLVMCreateTargetMachine(target, triple, cpu, features_of(cg), level, LLVMRelocPIC,
                                          LLVMCodeModelDefault);
    if (!cg->machine)
      error = "no target machine for this CPU";
  }
  LLVMDisposeMessage(triple), LLVMDisposeMessage(cpu);
  if (error)
    fail(cg->cx, (Loc){0}, ERR_LLVM, error);
}

static void host_open(Cg *cg) {
  open_machine(cg, cg->options.opt >= 2   ? LLVMCodeGenLevelDefault
                   : cg->options.opt == 1 ? LLVMCodeGenLevelLess
                                          : LLVMCodeGenLevelNone);
  cg->target_state = CX_NEW(cg->cx, HostState);
}

/* Dynamic shared memory begins after the static, whose size is known now. */
static void host_finish(Cg *cg) {
  uint32_t wanted = ((const HostState *)cg->target_state)->dynamic_align,
           align = wanted > HOST_SHARED_ALIGN ? wanted : HOST_SHARED_ALIGN;
  cg->static_shared = (cg->static_shared + align - 1u) / align * align;
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CG_HOST_DYNAMIC_NAME);
  if (!fn)
    return;
  for (LLVMUseRef use; (use = LLVMGetFirstUse(fn));) {
    LLVMValueRef call = LLVMGetUser(use);
    LLVMReplaceAllUsesWith(call, l_int(cg->t.i64, cg->static_shared));
    LLVMInstructionEraseFromParent(call);
  }
  LLVMDeleteFunction(fn);
}

/* Functions of float64 that are ours: __sin for sin (special_functions.c). */
static const char *const own_math[] = {"cos", "sin", "tan"};
enum { NOWN = sizeof own_math / sizeof *own_math };

static const char *own_name(Cg *cg, unsigned k) {
  return arena_printf(&cg->cx->arena, "__%s", own_math[k]);
}

/* LLVM knows that the C library's functions have no effects; ours need attributes. */
static void host_link(Cg *cg) {
  LLVMAttributeIndex whole = L_FUNCTION;
  for (unsigned k = 0; k < NOWN; k++) {
    LLVMValueRef fn = LLVMGetNamedFunction(cg->module, own_name(cg, k));
    if (!fn)
      continue;
    cg_attribute(cg, fn, whole, "willreturn", 0);
    cg_attribute(cg, fn, whole, "memory", 0);
  }
}

/* For very long functions. The code generator's own optimisations have several parts that take the
 * square of a function's length (sinking, register allocation, block placement), or, where many
 * values live through many blocks, the product of the two: a kernel of 4,200 instructions in 440
 * blocks takes 7 to 27 s. Without them code is generated in a tenth of the time and is twice as
 * long. */
void cg_host_choose_machine(Cg *cg) {
  enum { INSTRUCTIONS = 16000, BLOCKS = 2500, PRODUCT = 5 << 18 };
  Length l = cg_length(cg);
  if (l.instructions <= INSTRUCTIONS && l.blocks <= BLOCKS &&
      (uint64_t)l.instructions * l.blocks <= PRODUCT)
    return;
  cg_close_machine(cg);
  open_machine(cg, LLVMCodeGenLevelNone);
}

/* --- a thread's identity --- */

void cg_host_arg_types(const Cg *cg, LLVMTypeRef types[HOST_NARGS]) {
  types[HOST_LAUNCH] = cg->t.ptr;
  types[HOST_BLOCK] = cg->t.i64;
  for (int k = HOST_BX; k <= HOST_THREAD; k++)
    types[k] = cg->t.i32;
}

/* In checked code with HOST_APART. */
static LLVMTypeRef host_context_type(Cg *cg) {
  LLVMTypeRef types[HOST_APART + 1];
  cg_host_arg_types(cg, types);
  types[HOST_APART] = cg->t.i1;
  return LLVMStructTypeInContext(cg->context, types,
                                 cg->options.check ? HOST_APART + 1 : HOST_NARGS, 0);
}

LLVMValueRef cg_host_arg(Lower *lw, HostArg a) {
  const HostState *s = lw->cg->target_state;
  return lw->function == s->thread ? LLVMGetParam(lw->function, a)
                                   : l_extract_value(lw->b, lw->context, a);
}

/* Marks a load of memory that does not change during the launch, and which may be executed
 * anywhere. */
static void cg_host_mark_field(Cg *cg, LLVMValueRef load) {
  LLVMContextRef c = cg->context;
  LLVMValueRef none = LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, NULL, 0));
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(c, "invariant.load", 14), none);
  LLVMSetMetadata(load, LLVMGetMDKindIDInContext(c, CG_FIELD_METADATA, strlen(CG_FIELD_METADATA)),
                  none);
}

LLVMValueRef cg_host_launch_field(Cg *cg, LLVMValueRef launch, LLVMTypeRef type, size_t offset) {
  LLVMValueRef at = l_int(cg->t.i64, offset);
  LLVMValueRef v = l_load(cg->builder, type, l_gep_inbounds(cg->builder, cg->t.i8, launch, &at, 1));
  cg_host_mark_field(cg, v);
  return v;
}

/* --- special registers --- */

typedef enum SourceKind { FROM_ARGUMENT, FROM_LAUNCH, FROM_LANE, FROM_LANES } SourceKind;
enum { BELOW = 1, OWN = 2, ABOVE = 4 };

static const struct {
  SourceKind kind;
  unsigned at; /* number of the argument, offset of the field, lanes of a mask */
} sources[SREG_COUNT] = {
#define ARG(name)                                                                                  \
  { FROM_ARGUMENT, HOST_##name }
#define FIELD(name, axis)                                                                          \
  { FROM_LAUNCH, offsetof(RtHostLaunch, name) + (axis) * sizeof(uint32_t) }
#define LANE_NUMBER                                                                                \
  { FROM_LANE, 0 }
#define MASK(below, own, above)                                                                    \
  { FROM_LANES, (below)*BELOW + (own)*OWN + (above)*ABOVE }
#define S(ID, ptx, path, kind, rule, of, least, most, host, doc) [SREG_##ID] = host,
#include "ir/registers.def"
#undef S
#undef MASK
#undef LANE_NUMBER
#undef FIELD
#undef ARG
};

LLVMValueRef cg_host_size(Cg *cg, LLVMValueRef launch, SpecialReg r) {
  CX_ASSERT(cg->cx, sources[r].kind == FROM_LAUNCH);
  LLVMValueRef v = cg_host_launch_field(cg, launch, cg->t.i32, sources[r].at);
  LLVMMetadataRef ends[2];
  const int64_t bounds[] = {ir_registers[r].least, ir_registers[r].most + 1};
  for (int k = 0; k < 2; k++)
    ends[k] = LLVMValueAsMetadata(l_int(cg->t.i32, (uint64_t)bounds[k]));
  LLVMSetMetadata(v, LLVMGetMDKindIDInContext(cg->context, "range", 5),
                  LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, ends, 2)));
  return v;
}

bool cg_host_is_size(LLVMValueRef launch, LLVMValueRef load, SpecialReg r) {
  assert(sources[r].kind == FROM_LAUNCH && LLVMIsALoadInst(load));
  LLVMValueRef at = LLVMGetOperand(load, 0);
  return LLVMIsAGetElementPtrInst(at) && LLVMGetOperand(at, 0) == launch &&
         LLVMGetNumOperands(at) == 2 && LLVMIsAConstantInt(LLVMGetOperand(at, 1)) &&
         LLVMGetTypeKind(LLVMGetGEPSourceElementType(at)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(at)) == 8 &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(at, 1)) == sources[r].at &&
         LLVMGetTypeKind(LLVMTypeOf(load)) == LLVMIntegerTypeKind &&
         LLVMGetIntTypeWidth(LLVMTypeOf(load)) == 32;
}

static LLVMValueRef launch_field(Lower *lw, LLVMTypeRef type, size_t offset) {
  return cg_host_launch_field(lw->cg, cg_host_arg(lw, HOST_LAUNCH), type, offset);
}

/* The mask of the lanes below, at and above a lane, as asked for. */
static LLVMValueRef lane_mask(Lower *lw, LLVMValueRef lane, unsigned which) {
  LLVMValueRef bit = l_shl(lw->b, lw_i32(lw, 1), lane);
  LLVMValueRef lt = l_sub(lw->b, bit, lw_i32(lw, 1));
  LLVMValueRef le = l_or(lw->b, lt, bit);
  return which == (BELOW | OWN) ? le
         : which == BELOW       ? lt
         : which == OWN         ? bit
                                : l_not(lw->b, which & OWN ? lt : le);
}

static LLVMValueRef host_sreg(Lower *lw, SpecialReg r) {
  unsigned at = sources[r].at;
  if (sources[r].kind == FROM_ARGUMENT)
    return cg_host_arg(lw, (HostArg)at);
  if (sources[r].kind == FROM_LAUNCH)
    return cg_host_size(lw->cg, cg_host_arg(lw, HOST_LAUNCH), r);
  LLVMValueRef lane = LLVMBuildAnd(lw->b, cg_host_arg(lw, HOST_THREAD), lw_i32(lw, 31), "lane");
  return sources[r].kind == FROM_LANE ? lane : lane_mask(lw, lane, at);
}

/* --- the kernel --- */

static void host_kernel_begin(Lower *lw) {
  static const char *const names[HOST_NARGS] = {"launch", "block", "bx", "by", "bz",
                                                "tx",     "ty",    "tz", "t"};
  Cg *cg = lw->cg;
  HostState *s = cg->target_state;
  LLVMTypeRef types[HOST_NARGS];
  assert(!s->thread);
  cg_host_arg_types(cg, types);
  LLVMTypeRef type = LLVMFunctionType(cg->t.none, types, HOST_NARGS, 0);
  lw->function = LLVMAddFunction(cg->module, arena_printf(&cg->cx->arena, "%s.thread", cg->symbol),
                                 type);
  LLVMSetLinkage(lw->function, LLVMInternalLinkage);
  cg_attribute(cg, lw->function, L_FUNCTION, "nounwind", 0);
  cg_attribute(cg, lw->function, 1, "nonnull", 0);
  cg_attribute(cg, lw->function, 1, "align", 8);
  cg_attribute(cg, lw->function, 1, "dereferenceable", sizeof(RtHostLaunch));
  for (unsigned k = 0; k < HOST_NARGS; k++)
    LLVMSetValueName2(LLVMGetParam(lw->function, k), names[k], strlen(names[k]));
  lw->entry = LLVMAppendBasicBlockInContext(cg->context, lw->function, "entry");
  lw_at(lw, lw->entry);
  s->thread = lw->function;
  if (cg->program->fns.len < 2)
    return;
  lw->context = LLVMGetUndef(host_context_type(cg));
  for (unsigned k = 0; k < HOST_NARGS; k++)
    lw->context = l_insert_value(lw->b, lw->context, LLVMGetParam(lw->function, k), k);
}

static LLVMValueRef host_param(Lower *lw, uint32_t i) {
  const RtField *f = &lw->cg->out->params.fields[i];
  LLVMValueRef block = launch_field(lw, lw->t->ptr, offsetof(RtHostLaunch, params)),
               at = lw_i64(lw, f->offset);
  LLVMValueRef v = l_load(lw->b, lw_field_type(lw->cg, i),
                          l_gep_inbounds(lw->b, lw->t->i8, block, &at, 1));
  LLVMSetAlignment(v, f->size < 8 ? f->size : 8); /* the block's own alignment */
  cg_host_mark_field(lw->cg, v);
  return v;
}

static void host_kernel_return(Lower *lw) { l_ret_void(lw->b); }

/* --- memory --- */

static LLVMValueRef shared_at(Lower *lw, LLVMValueRef offset, const char *name) {
  LLVMValueRef base = launch_field(lw, lw->t->ptr, offsetof(RtHostLaunch, shared));
  return LLVMBuildInBoundsGEP2(lw->b, lw->t->i8, base, &offset, 1, name);
}

static LLVMValueRef host_shared_static(Lower *lw, uint64_t bytes, unsigned align, uint32_t offset,
                                       const char *name) {
  (void)bytes;
  (void)align;
  return shared_at(lw, lw_i64(lw, offset), name);
}

static LLVMValueRef host_shared_dynamic(Lower *lw, unsigned align) {
  HostState *s = lw->cg->target_state;
  s->dynamic_align = align > s->dynamic_align ? align : s->dynamic_align;
  return shared_at(lw, lw_call_extern(lw, CG_HOST_DYNAMIC_NAME, lw->t->i64, NULL, 0), "dynamic");
}

static LLVMValueRef host_shared_dynamic_bytes(Lower *lw) {
  return launch_field(lw, lw->t->i32, offsetof(RtHostLaunch, dynamic_shared));
}

static LLVMValueRef host_constant(Lower *lw, LLVMValueRef init, uint64_t bytes, unsigned align,
                                  const char *name) {
  (void)bytes;
  LLVMValueRef g = LLVMAddGlobal(lw->cg->module, LLVMTypeOf(init), name);
  LLVMSetInitializer(g, init);
  LLVMSetGlobalConstant(g, 1);
  LLVMSetLinkage(g, LLVMInternalLinkage);
  LLVMSetAlignment(g, align);
  return g;
}

/* The CPU has no cache hints: plain accesses are written instead. */
static LLVMValueRef host_load_hinted(Lower *lw, CacheHint hint, LLVMTypeRef type, LLVMValueRef p) {
  (void)lw, (void)hint, (void)type, (void)p;
  return NULL;
}

static LLVMValueRef host_store_hinted(Lower *lw, CacheHint hint, LLVMValueRef v, LLVMValueRef p) {
  (void)lw, (void)hint, (void)v, (void)p;
  return NULL;
}

/* --- barriers --- */

/* In checked code a barrier has a site, and calls of it are not merged. */
static LLVMValueRef barrier_call(Lower *lw, int kind, LLVMValueRef vote) {
  Cg *cg = lw->cg;
  bool checks = cg->options.check;
  LLVMValueRef site = checks ? lw_trap_site(lw, cg_host_check_site(lw, "")) : NULL,
               args[] = {lw_i32(lw, kind), vote, site};
  LLVMValueRef call = lw_call_extern(lw, CG_BARRIER_NAME, lw->t->i32, args, checks ? 3 : 2);
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, CG_BARRIER_NAME);
  cg_attribute(cg, fn, L_FUNCTION, "convergent", 0);
  if (checks)
    cg_attribute(cg, fn, L_FUNCTION, "nomerge", 0);
  return call;
}

static void host_barrier(Lower *lw) { barrier_call(lw, BARRIER_PLAIN, LLVMConstNull(lw->t->i1)); }

static LLVMValueRef host_barrier_vote(Lower *lw, BarrierVote vote, LLVMValueRef i1) {
  static const int kinds[] = {
      [VOTE_AND] = BARRIER_AND, [VOTE_OR] = BARRIER_OR, [VOTE_COUNT] = BARRIER_COUNT};
  return barrier_call(lw, kinds[vote], i1);
}

/* A warp operation has two sites for errors: a thread waits for a lane that never arrives, and,
 * with the next number, a thread is not in its own mask. */
static uint32_t meeting_site(Lower *lw) {
  Program *p = lw->cg->program;
  const char *what = ir_intrinsics[lw->ins->aux.intrinsic].path;
  const IrSite *site = ir_site(
      lw->cx, p, "RuntimeError",
      arena_printf(
          &lw->cx->arena,
          "%s: lane {0} of warp {3} waits for lane {2} of its mask {1:x}, which does not come",
          what),
      lw->ins->loc);
  ir_site(
      lw->cx, p, "RuntimeError",
      arena_printf(&lw->cx->arena, "%s: lane {0} of warp {3} is not in its own mask {1:x}", what),
      lw->ins->loc);
  (void)lw_trap_site(lw, site->number); /* as in checks.c */
  return site->number;
}

LLVMValueRef cg_host_meeting(Lower *lw, RtMeetKind kind, uint32_t site, LLVMValueRef mask,
                             LLVMValueRef value, LLVMValueRef lane) {
  static const char *const attributes[] = {"convergent", "nomerge"};
  LLVMTypeRef wide = lw->t->i64;
  LLVMValueRef args[] = {lw_i32(lw, kind), lw_i32(lw, site), mask ? mask : lw_i32(lw, 0),
                         value ? l_zext_or_same(lw->b, value, wide) : lw_i64(lw, 0),
                         lane ? lane : lw_i32(lw, 0)};
  LLVMValueRef call = lw_call_extern(lw, CG_MEET_NAME, wide, args, 5);
  for (int k = 0; k < 2; k++)
    cg_attribute(lw->cg, LLVMGetNamedFunction(lw->cg->module, CG_MEET_NAME), L_FUNCTION,
                 attributes[k], 0);
  return call;
}

/* Two sites for errors: threads of the block wait at another barrier, and, with the next number,
 * another block has ended (runtime/host/host.c). */
static void host_grid_barrier(Lower *lw) {
  Program *p = lw->cg->program;
  const IrSite *site = ir_site(
      lw->cx, p, "RuntimeError",
      "this_grid().sync(): some threads of the block wait for the grid, others at another barrier, and none can go on",
      lw->ins->loc);
  ir_site(lw->cx, p, "RuntimeError",
          "this_grid().sync(): this block waits for {0} of the grid's {1} blocks that have ended",
          lw->ins->loc);
  cg_host_meeting(lw, RT_MEET_GRID, site->number, NULL, NULL, NULL);
}

static LLVMValueRef host_warp(Lower *lw, RtMeetKind kind, LLVMValueRef mask, LLVMValueRef value,
                              LLVMValueRef lane) {
  LLVMValueRef got = cg_host_meeting(lw, kind, meeting_site(lw), mask, value, lane);
  LLVMTypeRef t = lane ? LLVMTypeOf(value) : lw->t->i32;
  return kind == RT_MEET_SYNC ? NULL : l_trunc_or_same(lw->b, got, t);
}

/* A yield names no thread to wait for, so it cannot wait in vain: its site is for timeouts. */
static void host_yield(Lower *lw, uint32_t site) {
  LLVMValueRef call = cg_host_meeting(lw, RT_MEET_YIELD, 0, NULL, NULL, NULL);
  if (site != RT_NO_SITE)
    LLVMSetOperand(call, 1, lw_trap_site(lw, site));
}

/* Nothing: a block runs on one OS thread, and sleeping would delay the others of its threads. */
static void host_nanosleep(Lower *lw, LLVMValueRef ns) { (void)lw, (void)ns; }

static void host_fence(Lower *lw, FenceLevel level) {
  l_fence(lw->b, LLVMAtomicOrderingSequentiallyConsistent, level == FENCE_BLOCK);
}

/* --- stopping --- */

static void host_trap(Lower *lw, uint32_t site, LLVMValueRef const *values, unsigned n) {
  LLVMValueRef args[4 + RT_TRAP_VALUES] = {cg_host_arg(lw, HOST_LAUNCH), lw_trap_site(lw, site),
                                           cg_host_arg(lw, HOST_BLOCK),
                                           cg_host_arg(lw, HOST_THREAD)};
  assert(n <= RT_TRAP_VALUES);
  for (unsigned k = 0; k < RT_TRAP_VALUES; k++)
    args[4 + k] = k < n ? values[k] : lw_i64(lw, 0);
  lw_call_extern(lw, "rt_host_trap", lw->t->none, args, 4 + RT_TRAP_VALUES);
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, "rt_host_trap");
  cg_attribute(lw->cg, fn, L_FUNCTION, "noreturn", 0);
  cg_attribute(lw->cg, fn, L_FUNCTION, "cold", 0);
  l_unreachable(lw->b);
}

/* On the host every stop traps (traps_always), so only the kernel's own function asks for this: the
 * thread returns. */
static void host_stop(Lower *lw) {
  const HostState *s = lw->cg->target_state;
  CX_ASSERT(lw->cx, lw->function == s->thread);
  l_ret_void(lw->b);
}

static LLVMValueRef host_stack_suffices(Lower *lw) {
  LLVMTypeRef p = lw->t->ptr, word = lw->t->i64;
  LLVMValueRef none = lw_i32(lw, 0), frame = lw_intrinsic(lw, "llvm.frameaddress", &p, 1, &none, 1);
  return l_icmp(lw->b, LLVMIntUGT, l_ptrtoint(lw->b, frame, word),
                launch_field(lw, word, offsetof(RtHostLaunch, stack_end)));
}

/* A safepoint: endless recursion may take long to reach the end of the stack, or return again and
 * again. */
static void host_enter_recursion(Lower *lw) {
  LLVMValueRef site = NULL;
  const Ins *i = lw->fn->entry->first;
  while ((i->op == OP_PARAM || i->loc.line <= 0) && i->next)
    i = i->next;
  if (lw->cg->options.timed)
    site = lw_i32(lw, ir_site(lw->cx, lw->cg->program, "TimeoutError", "", i->loc)->number);
  cg_host_write_safepoint(lw->cg, site);
}

static void host_place(Lower *lw, uint32_t site, bool in_loop) {
  static const char *const attributes[] = {"nounwind", "willreturn", "nocallback", "nosync",
                                           "nomerge"};
  enum { ITS_OWN_MEMORY = 12 }; /* memory(inaccessiblemem: readwrite) */
  LLVMValueRef args[] = {lw_trap_site(lw, site), lw_i32(lw, in_loop)};
  lw_call_extern(lw, CG_PLACE_NAME, lw->t->none, args, 2);
  LLVMValueRef fn = LLVMGetNamedFunction(lw->cg->module, CG_PLACE_NAME);
  for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
    cg_attribute(lw->cg, fn, L_FUNCTION, attributes[k], 0);
  cg_attribute(lw->cg, fn, L_FUNCTION, "memory", ITS_OWN_MEMORY);
}

/* --- values --- */

static const Lowering *host_lowering(const IntrinsicInfo *info) { return &info->host; }

static const char *host_math_name(Cg *cg, const char *name, bool is_float32) {
  if (is_float32)
    return arena_printf(&cg->cx->arena, "%sf", name);
  for (unsigned k = 0; k < NOWN; k++)
    if (strcmp(own_math[k], name) == 0)
      return own_name(cg, k);
  return name;
}

static LLVMValueRef host_float_to_int(Lower *lw, LLVMValueRef v, unsigned bits, bool is_signed) {
  LLVMTypeRef types[] = {cg_int_type(lw->cg, bits), LLVMTypeOf(v)};
  return lw_intrinsic(lw, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", types, 2, &v, 1);
}

static void host_print(Lower *lw, const char *format, LLVMValueRef const *args, unsigned n) {
  Cg *cg = lw->cg;
  LLVMTypeRef type = LLVMFunctionType(cg->t.i32, &cg->t.ptr, 1, 1);
  LLVMValueRef fn = LLVMGetNamedFunction(cg->module, "rt_host_print");
  if (!fn)
    fn = LLVMAddFunction(cg->module, "rt_host_print", type);
  LLVMValueRef *all = CX_ARRAY(lw->cx, LLVMValueRef, n + 1);
  all[0] = lw_text(lw, format);
  for (unsigned k = 0; k < n; k++)
    all[1 + k] = args[k];
  l_call_type(lw->b, type, fn, all, n + 1);
}

const Target cg_target_host = {
    .name = "host",
    .atomic_scope = "",
    .shared_atomic_scope = "singlethread",
    .own_sum = cg_host_own_sum,
    .traps_always = true,
    .too_deep = "recursion is too deep for the stack of the process's thread that runs it",
    .bfloat_by_bits = true,
    .gathers = true,
    .open = host_open,
    .finish = host_finish,
    .link = host_link,
    .passes = &cg_host_passes,
    .release = cg_host_release,
    .context_type = host_context_type,
    .kernel_begin = host_kernel_begin,
    .param = host_param,
    .kernel_return = host_kernel_return,
    .shared_static = host_shared_static,
    .shared_dynamic = host_shared_dynamic,
    .shared_dynamic_bytes = host_shared_dynamic_bytes,
    .constant = host_constant,
    .load_hinted = host_load_hinted,
    .store_hinted = host_store_hinted,
    .sreg = host_sreg,
    .instruction = cg_host_instruction,
    .barrier = host_barrier,
    .barrier_vote = host_barrier_vote,
    .grid_barrier = host_grid_barrier,
    .warp = host_warp,
    .fence = host_fence,
    .nanosleep = host_nanosleep,
    .yield = host_yield,
    .place = host_place,
    .trap = host_trap,
    .stop = host_stop,
    .stack_suffices = host_stack_suffices,
    .enter_recursion = host_enter_recursion,
    .lowering = host_lowering,
    .math_name = host_math_name,
    .float_to_int = host_float_to_int,
    .print = host_print,
    .check_begin = cg_host_find_apart,
    .check_before = cg_host_check_before,
    .check_after = cg_host_check_after,
};
