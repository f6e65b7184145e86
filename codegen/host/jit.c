/* JIT: the optimised module becomes machine code in this process.
 *
 * In: cg->module, or object code that another process made from it. Out: cg->out->host.entry, and
 * cg->out->jit, an LLJIT for each kernel, so that freeing a kernel unmaps all of it and the symbols
 * of two kernels cannot collide. The object code is made by our own target machine; LLJIT only
 * links it. Symbols are resolved from symbols.def, libdevice.c and the request's symbols, never by
 * a search of the process. */
#include <assert.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>
#include <string.h>

#include "codegen/host/half_calls.h"
#include "codegen/host/host.h"
#include "codegen/host/libdevice.h"

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;
Wide __divti3(Wide a, Wide b), __modti3(Wide a, Wide b); /* libgcc's */
UWide __udivti3(UWide a, UWide b), __umodti3(UWide a, UWide b);

typedef struct Name {
  const char *name;
  void *address;
} Name;

#define S(name) {#name, (void *)(uintptr_t)(name)},
#define H(name) {"__" #name, (void *)(uintptr_t)(cg_##name)},
#define F(name) {#name, (void *)(uintptr_t)(name)}, {#name "f", (void *)(uintptr_t)(name##f)},
static const Name library[] = {
#include "codegen/host/symbols.def"
};
#undef S
#undef H
#undef F

enum { NLIBRARY = sizeof library / sizeof *library };

/* Errors are returned by the calls that fail, so the session's reports are dropped. */
static void forget_error(void *user, LLVMErrorRef e) {
  (void)user;
  LLVMConsumeError(e);
}

static LLVMOrcCSymbolMapPair symbol(LLVMOrcLLJITRef jit, const char *name, void *address) {
  LLVMOrcCSymbolMapPair pair = {.Name = LLVMOrcLLJITMangleAndIntern(jit, name)};
  pair.Sym.Address = (LLVMOrcExecutorAddress)(uintptr_t)address;
  pair.Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                LLVMJITSymbolGenericFlagsCallable;
  return pair;
}

/* All of symbols.def and of the request's symbols, since LLVM adds calls by itself; of libdevice's
 * functions those that the code calls. */
static void define_symbols(Cg *cg, LLVMOrcLLJITRef jit) {
  const CgSymbol *given = cg->request->symbols;
  uint32_t room = NLIBRARY + cg->out->nimports, n = 0;
  for (const CgSymbol *s = given; s && s->name; s++)
    room++;
  LLVMOrcCSymbolMapPair *pairs = CX_ARRAY(cg->cx, LLVMOrcCSymbolMapPair, room);
  for (uint32_t k = 0; k < NLIBRARY; k++)
    pairs[n++] = symbol(jit, library[k].name, library[k].address);
  for (const CgSymbol *s = given; s && s->name; s++)
    pairs[n++] = symbol(jit, s->name, s->address);
  for (uint32_t k = 0; k < cg->out->nimports; k++) {
    void *address = cg_host_libdevice(cg->out->imports[k]);
    if (address)
      pairs[n++] = symbol(jit, cg->out->imports[k], address);
  }
  LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, n);
  LLVMErrorRef e = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit), unit);
  if (e)
    LLVMOrcDisposeMaterializationUnit(unit);
  cg_check(cg, e);
}

static bool is_import(LLVMValueRef fn) {
  return LLVMIsDeclaration(fn) && cg_host_libdevice(LLVMGetValueName(fn));
}

static void list_imports(Cg *cg) {
  CgKernel *out = cg->out;
  uint32_t n = 0;
  for (LLVMValueRef fn = LLVMGetFirstFunction(cg->module); fn; fn = LLVMGetNextFunction(fn))
    n += is_import(fn);
  out->imports = cg_calloc(cg, n, sizeof *out->imports);
  for (LLVMValueRef fn = LLVMGetFirstFunction(cg->module); fn; fn = LLVMGetNextFunction(fn)) {
    const char *name = LLVMGetValueName(fn);
    if (is_import(fn))
      out->imports[out->nimports++] = cg_strndup(cg, name, strlen(name));
  }
}

/* A symbol that is in no table is a mistake of ours, reported before LLJIT fails to resolve it. */
static void check_names(Cg *cg) {
  for (LLVMValueRef fn = LLVMGetFirstFunction(cg->module); fn; fn = LLVMGetNextFunction(fn)) {
    if (!LLVMIsDeclaration(fn) || LLVMGetIntrinsicID(fn) || !LLVMGetFirstUse(fn))
      continue;
    const char *name = LLVMGetValueName(fn);
    bool known = cg_host_libdevice(name);
    for (uint32_t k = 0; k < NLIBRARY && !known; k++)
      known = strcmp(name, library[k].name) == 0;
    for (const CgSymbol *s = cg->request->symbols; s && s->name && !known; s++)
      known = strcmp(name, s->name) == 0;
    if (!known)
      cx_bug(cg->cx, "host code calls %s, which is in no table", name);
  }
}

/* From a copy of the module, since code generation changes it. */
static void keep_assembly(Cg *cg) {
  LLVMModuleRef module = cg->module;
  cg->module = LLVMCloneModule(module);
  LLVMMemoryBufferRef text = cg_emit(cg, LLVMAssemblyFile);
  LLVMDisposeModule(cg->module);
  cg->module = module;
  cg->out->assembly = cg_strndup(cg, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
  LLVMDisposeMemoryBuffer(text);
}

void cg_host_link(Cg *cg, LLVMMemoryBufferRef object) {
  CgKernel *out = cg->out;
  assert(out->entry && !out->jit);
  LLVMOrcLLJITRef jit;
  LLVMErrorRef e = LLVMOrcCreateLLJIT(&jit, NULL);
  if (e)
    LLVMDisposeMemoryBuffer(object);
  cg_check(cg, e);
  out->jit = jit; /* from here on the kernel owns it, whatever fails */
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit), forget_error, NULL);
  define_symbols(cg, jit);
  cg_check(cg, LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object));
  LLVMOrcExecutorAddress address;
  cg_check(cg, LLVMOrcLLJITLookup(jit, &address, out->entry));
  out->host.entry = (RtHostEntry)(uintptr_t)address;
}

/* LLVM's figure leaves out the return address, pushed registers and the frame's alignment. */
static void report_frames(Cg *cg) {
  enum { BESIDE = 256 };
  cg->stack_bytes = 0;
  for (LLVMValueRef fn = LLVMGetFirstFunction(cg->module); fn; fn = LLVMGetNextFunction(fn))
    if (!LLVMIsDeclaration(fn)) {
      cg_report_frame(cg, fn);
      cg->stack_bytes += BESIDE;
    }
}

void cg_host_emit(Cg *cg) {
  CgKernel *out = cg->out;
  cg_host_divide_blocks(cg);
  if (cg->request->want & CG_WANT_ASM && !out->assembly)
    keep_assembly(cg);
  if (!cg->kernel)
    return;
  const char *symbol = LLVMGetValueName(cg->kernel);
  out->entry = cg_strndup(cg, symbol, strlen(symbol));
  check_names(cg);
  list_imports(cg);
  report_frames(cg);
  LLVMMemoryBufferRef object = cg_emit(cg, LLVMObjectFile);
  out->host.stack_bytes = cg->stack_bytes;
  if (cg->request->want & CG_WANT_OBJECT) {
    out->object_len = LLVMGetBufferSize(object);
    out->object = cg_strndup(cg, LLVMGetBufferStart(object), out->object_len);
  }
  cg_host_link(cg, object);
}

void cg_host_release(void *jit) {
  if (jit)
    LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
}
