/* Cg: the LLVM side of one compilation, and LLVM's failures.
 *
 * Opening creates context, module, machine and types; closing disposes of what is left. LLVM
 * reports failures in four ways: through the context (diagnostics), by a returned error, by its
 * fatal error handler, and by running out of memory in operator new or in its containers. All
 * become fail(). The last two must not return to LLVM, so they leave by longjmp from below its
 * frames: its state is then unknown, and the compilation's LLVM objects are leaked instead of
 * freed. The process's LLVM options are set here, too, once. */
#include "codegen/llvm/cg.h"

#include <assert.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/debuginfo.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/machines.h"
#include "codegen/target.h"

/* The compilation that this thread is in: the user pointer of LLVM's fatal error handler is one for
 * the whole process. */
static _Thread_local Cg *running;

/* C++ functions under their mangled names, since LLVM's C API has no equivalent. The C++ library is
 * linked into this module statically, so the handlers affect no other code. */
typedef void (*OnNew)(void);
typedef void (*OnBadAlloc)(void *user, const char *reason, bool crash_report);
OnNew std_set_new_handler(OnNew) __asm__("_ZSt15set_new_handlerPFvvE");
void llvm_install_bad_alloc_error_handler(OnBadAlloc, void *user) __asm__(
    "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

/* LLVM ends the process if its handler returns; so it does not, and what LLVM was working on is
 * leaked. */
static void leave_llvm(ErrorId id, const char *reason) {
  Cg *cg = running;
  if (!cg)
    return;
  cg->broken = true;
  running = NULL;
  fail(cg->cx, (Loc){0}, id, reason);
}

static void on_fatal(const char *reason) { leave_llvm(ERR_LLVM, reason); }

/* The handler of operator new, which retries after calling it until there is memory or no handler;
 * without exceptions it then ends the process. */
static void on_new_without_memory(void) {
  leave_llvm(ERR_MEMORY, NULL);
  std_set_new_handler(NULL);
}

/* The handler of LLVM's containers. */
static void on_bad_alloc(void *user, const char *reason, bool crash_report) {
  (void)user, (void)reason, (void)crash_report;
  leave_llvm(ERR_MEMORY, NULL);
}

/* An attribute with the frame size above which LLVM warns about a function. With 0 it reports every
 * frame: "k.py:3:0: stack frame size (104) exceeds limit (0) in function 'f'". */
static const char no_frame[] = "warn-stack-size";

void cg_report_frame(Cg *cg, LLVMValueRef fn) { cg_attribute_text(cg, fn, no_frame, "0"); }

static void note_frame(Cg *cg, const char *text) {
  unsigned bytes;
  const char *frame = strstr(text, "stack frame size (");
  if (frame && sscanf(frame, "stack frame size (%u)", &bytes) == 1)
    cg->stack_bytes += bytes;
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  Cg *cg = user;
  LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
  char *text = LLVMGetDiagInfoDescription(info);
  if (severity == LLVMDSWarning)
    note_frame(cg, text);
  else if (severity == LLVMDSError && !cg->complaint)
    cg->complaint = arena_strdup(&cg->cx->arena, text);
  LLVMDisposeMessage(text);
}

static atomic_int initialised;

int cg_llvm_is_initialised(void) { return initialised; }

/* -disable-lsr: loop strength reduction, which the code generator runs for every target, is bad for
 * GPUs: each address becomes a 64-bit pointer of its own, where one 32-bit index and multiply-adds
 * would do. It cannot be disabled for one target alone, so the host runs it as a pass.
 *
 * -unroll-threshold-default: a pass list of our own (optimize.def) fully unrolls loops up to the
 * size of default<O2>; this is the size of default<O3>.
 *
 * -cgpp-huge-func: CodeGenPrepare repeats itself until nothing changes, and visits from each
 * comparison all users of its operands. In functions with more blocks than this it revisits only
 * the blocks that changed: a chain of 1,000 elif with checked accesses takes 2 s instead of 16.
 *
 * -spec-exec-max-speculation-cost: NVPTX's code generator moves what it takes for cheap above
 * branches, roots and quotients among it (keep_guards.c). */
static void init_once(void) {
  static const char *const flags[] = {"pyptx", "-disable-lsr", "-unroll-threshold-default=300",
                                      "-cgpp-huge-func=256", "-spec-exec-max-speculation-cost=0"};
  initialised = 1;
  LLVMParseCommandLineOptions(sizeof flags / sizeof *flags, flags, NULL);
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInstallFatalErrorHandler(on_fatal);
  std_set_new_handler(on_new_without_memory);
  llvm_install_bad_alloc_error_handler(on_bad_alloc, NULL);
}

static void make_types(Cg *cg) {
  CgTypes *t = &cg->t;
  LLVMContextRef c = cg->context;
  t->none = LLVMVoidTypeInContext(c);
  t->i1 = LLVMInt1TypeInContext(c);
  t->i8 = LLVMInt8TypeInContext(c);
  t->i16 = LLVMInt16TypeInContext(c);
  t->i32 = LLVMInt32TypeInContext(c);
  t->i64 = LLVMInt64TypeInContext(c);
  t->f16 = LLVMHalfTypeInContext(c);
  t->bf16 = LLVMBFloatTypeInContext(c);
  t->f32 = LLVMFloatTypeInContext(c);
  t->f64 = LLVMDoubleTypeInContext(c);
  t->ptr = LLVMPointerTypeInContext(c, 0);
  for (int s = 0; s < SPACE_COUNT; s++)
    t->space[s] = LLVMPointerTypeInContext(c, cg->target->space[s]);
}

/* Running out of memory during LLVM's initialisation could not be recovered from, so memory for it
 * is tried for before. */
static void check_memory(Cg *cg) {
  enum { INITIALISATION = 8 << 20 };
  void *p = malloc(INITIALISATION);
  free(p);
  if (!p)
    fail(cg->cx, (Loc){0}, ERR_MEMORY);
}

void cg_start_llvm(Cg *cg) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (!initialised)
    check_memory(cg);
  pthread_once(&once, init_once);
  running = cg;
}

static void open_context(Cg *cg) {
  assert(!cg->context && !cg->module && cg->target);
  cg_start_llvm(cg);
  cg->context = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(cg->context, on_diagnostic, cg);
}

void cg_open_bitcode(Cg *cg, const char *bytes, size_t n) {
  open_context(cg);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(bytes, n, "bitcode", 0);
  bool bad = LLVMParseBitcodeInContext2(cg->context, buffer, &cg->module);
  LLVMDisposeMemoryBuffer(buffer);
  if (bad) {
    cg->module = NULL;
    fail(cg->cx, (Loc){0}, ERR_LLVM, cg->complaint ? cg->complaint : "bitcode cannot be read");
  }
  make_types(cg);
  cg->target->open(cg);
  cg->layout = LLVMCreateTargetDataLayout(cg->machine);
  cg->builder = LLVMCreateBuilderInContext(cg->context);
}

void cg_open(Cg *cg) {
  open_context(cg);
  cg->module = LLVMModuleCreateWithNameInContext(cg->symbol ? cg->symbol : "pyptx", cg->context);
  make_types(cg);
  cg->target->open(cg);
  cg->layout = LLVMCreateTargetDataLayout(cg->machine);
  LLVMSetModuleDataLayout(cg->module, cg->layout);
  char *triple = LLVMGetTargetMachineTriple(cg->machine);
  LLVMSetTarget(cg->module, triple);
  LLVMDisposeMessage(triple);
}

void cg_close_machine(Cg *cg) {
  assert(!cg->broken); /* else the machine may be in any state: not for the next compilation */
  if (cg->machine && cg->machine_key)
    cg_machine_leave(cg->machine_key, cg->machine);
  else if (cg->machine)
    LLVMDisposeTargetMachine(cg->machine);
  cg->machine = NULL, cg->machine_key = NULL;
}

void cg_close(Cg *cg) {
  running = NULL;
  if (cg->broken)
    return;
  cg_debug_close(cg);
  if (cg->builder)
    LLVMDisposeBuilder(cg->builder);
  if (cg->layout)
    LLVMDisposeTargetData(cg->layout);
  cg_close_machine(cg);
  if (cg->module)
    LLVMDisposeModule(cg->module);
  if (cg->context)
    LLVMContextDispose(cg->context);
  cg->builder = NULL, cg->layout = NULL, cg->module = NULL, cg->context = NULL;
}

void *cg_calloc(Cg *cg, size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  if (!p)
    fail(cg->cx, (Loc){0}, ERR_MEMORY);
  return p;
}

char *cg_strndup(Cg *cg, const char *s, size_t n) {
  char *p = cg_calloc(cg, n + 1, 1);
  memcpy(p, s, n);
  return p;
}

void cg_check(Cg *cg, LLVMErrorRef e) {
  if (!e)
    return;
  char *text = LLVMGetErrorMessage(e);
  const char *copy = arena_strdup(&cg->cx->arena, text);
  LLVMDisposeErrorMessage(text);
  fail(cg->cx, (Loc){0}, ERR_LLVM, copy);
}

void cg_check_complaint(Cg *cg) {
  if (cg->complaint)
    fail(cg->cx, (Loc){0}, ERR_LLVM, cg->complaint);
}

const char *cg_module_text(Cg *cg) {
  char *text = LLVMPrintModuleToString(cg->module);
  const char *copy = arena_strdup(&cg->cx->arena, text);
  LLVMDisposeMessage(text);
  return copy;
}

void cg_run_passes(Cg *cg, const char *pipeline) {
  assert(cg->module && cg->machine);
  LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(o, 1);
  LLVMPassBuilderOptionsSetSLPVectorization(o, 1);
  LLVMPassBuilderOptionsSetLoopInterleaving(o, 1);
  if (cg->keeps_guards)
    cg_hold_guarded(cg);
  LLVMErrorRef e = LLVMRunPasses(cg->module, pipeline, cg->machine, o);
  LLVMDisposePassBuilderOptions(o);
  if (cg->keeps_guards)
    cg_release_guarded(cg);
  cg_check(cg, e);
  cg_check_complaint(cg);
}

void cg_run_function_passes(Cg *cg, LLVMValueRef fn, const char *pipeline) {
  LLVMPassBuilderOptionsRef o = LLVMCreatePassBuilderOptions();
  if (cg->keeps_guards)
    cg_hold_guarded(cg);
  LLVMErrorRef e = LLVMRunPassesOnFunction(fn, pipeline, cg->machine, o);
  LLVMDisposePassBuilderOptions(o);
  if (cg->keeps_guards)
    cg_release_guarded(cg);
  cg_check(cg, e);
  cg_check_complaint(cg);
}

LLVMValueRef cg_branch_weights(Cg *cg, LLVMValueRef branch, uint32_t yes, uint32_t no) {
  assert(LLVMIsABranchInst(branch) && LLVMIsConditional(branch));
  LLVMContextRef c = cg->context;
  LLVMMetadataRef ops[] = {LLVMMDStringInContext2(c, "branch_weights", 14),
                           LLVMValueAsMetadata(l_int(cg->t.i32, yes)),
                           LLVMValueAsMetadata(l_int(cg->t.i32, no))};
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "prof", 4),
                  LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, ops, 3)));
  return branch;
}

void cg_verify_module(Cg *cg) {
  char *text = NULL;
  bool bad = LLVMVerifyModule(cg->module, LLVMReturnStatusAction, &text);
  const char *copy = bad ? arena_strdup(&cg->cx->arena, text) : NULL;
  LLVMDisposeMessage(text);
  if (bad)
    cx_bug(cg->cx, "bad LLVM module: %s", copy);
}

LLVMMemoryBufferRef cg_emit(Cg *cg, LLVMCodeGenFileType kind) {
  char *text = NULL;
  LLVMMemoryBufferRef out = NULL;
  if (LLVMTargetMachineEmitToMemoryBuffer(cg->machine, cg->module, kind, &text, &out)) {
    const char *copy = arena_strdup(&cg->cx->arena, text);
    LLVMDisposeMessage(text);
    fail(cg->cx, (Loc){0}, ERR_LLVM, copy);
  }
  if (cg->complaint) {
    LLVMDisposeMemoryBuffer(out);
    cg_check_complaint(cg);
  }
  return out;
}

LLVMValueRef cg_intrinsic_fn(Cg *cg, const char *name, const LLVMTypeRef *overloads, unsigned n) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  if (!id)
    cx_bug(cg->cx, "LLVM has no intrinsic %s", name);
  LLVMTypeRef types[4] = {0};
  CX_ASSERT(cg->cx, n <= 4);
  for (unsigned k = 0; k < n; k++)
    types[k] = overloads[k];
  return LLVMGetIntrinsicDeclaration(cg->module, id, types, n);
}

void cg_attribute(Cg *cg, LLVMValueRef fn, LLVMAttributeIndex at, const char *name,
                  uint64_t value) {
  assert(LLVMIsAFunction(fn));
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  CX_ASSERT(cg->cx, kind);
  LLVMAddAttributeAtIndex(fn, at, LLVMCreateEnumAttribute(cg->context, kind, value));
}

void cg_attribute_text(Cg *cg, LLVMValueRef fn, const char *key, const char *value) {
  LLVMAttributeRef a = LLVMCreateStringAttribute(cg->context, key, (unsigned)strlen(key), value,
                                                 (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(fn, L_FUNCTION, a);
}

LLVMTypeRef cg_float_type(Cg *cg, unsigned bits) {
  assert(bits == 16 || bits == 32 || bits == 64);
  return bits == 16 ? cg->t.f16 : bits == 32 ? cg->t.f32 : cg->t.f64;
}

LLVMTypeRef cg_int_type(Cg *cg, unsigned bits) { return LLVMIntTypeInContext(cg->context, bits); }
