/* Debug info: Python's line numbers in the code, as `.loc` in PTX and as line tables on the host,
 * for profilers and for lineinfo=True. There is one compile unit, a subprogram for each function,
 * and a location for each instruction; no variables, no types. Instructions without a location of
 * their own have the line of their function's def, since LLVM requires one of calls that can be
 * inlined. */
#include "codegen/llvm/debuginfo.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/llvm/compat.h"
#include "codegen/target.h"

struct DebugInfo {
  LLVMDIBuilderRef builder;
  LLVMMetadataRef unit, scope; /* scope: the function that is being built, or NULL */
  int32_t line;                /* of its def, for instructions without a line */
};

/* LLVM writes a quote in a path as \", at which PTX takes the text to end: it becomes '. */
static const char *unquoted(Cg *cg, const char *path) {
  if (!strchr(path, '"'))
    return path;
  char *copy = arena_strdup(&cg->cx->arena, path);
  for (char *c = copy; (c = strchr(c, '"'));)
    *c = '\'';
  return copy;
}

static LLVMMetadataRef file_of(Cg *cg, const Code *code) {
  const char *path = unquoted(cg, code && code->filename ? code->filename : "kernel.py"),
             *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return LLVMDIBuilderCreateFile(cg->debug->builder, name, strlen(name), path,
                                 slash ? (size_t)(slash - path) : 0);
}

static void flag(Cg *cg, const char *name, unsigned value) {
  LLVMAddModuleFlag(cg->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                    LLVMValueAsMetadata(l_int(cg->t.i32, value)));
}

void cg_debug_open(Cg *cg) {
  if (!cg->options.lineinfo && !cg->options.debug)
    return;
  DebugInfo *d = cg->debug = CX_NEW(cg->cx, DebugInfo);
  d->builder = LLVMCreateDIBuilder(cg->module);
  const Fn *kernel = cg->program->fns.data[0];
  LLVMMetadataRef file = file_of(cg, kernel->source ? kernel->source->code : NULL);
  d->unit = LLVMDIBuilderCreateCompileUnit(
      d->builder, LLVMDWARFSourceLanguagePython, file, "pyptx", 5, 1, "", 0, 0, "", 0,
      (LLVMDWARFEmissionKind)CG_LLVM_DEBUG_DIRECTIVES, 0, 0, 0, "", 0, "", 0);
  flag(cg, "Debug Info Version", LLVMDebugMetadataVersion());
  flag(cg, "Dwarf Version", 2);
}

void cg_debug_function(Cg *cg, LLVMValueRef f, const Fn *fn) {
  DebugInfo *d = cg->debug;
  if (!d)
    return;
  d->scope = NULL;
  if (!f)
    return;
  const Code *code = fn->source ? fn->source->code : NULL;
  size_t n;
  const char *symbol = LLVMGetValueName2(f, &n);
  d->line = code ? code->firstlineno : 1;
  LLVMMetadataRef file = file_of(cg, code);
  LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0,
                                                           LLVMDIFlagZero);
  d->scope = LLVMDIBuilderCreateFunction(d->builder, file, fn->name, strlen(fn->name), symbol, n,
                                         file, (unsigned)d->line, type, 0, 1, (unsigned)d->line,
                                         LLVMDIFlagZero, 1);
  LLVMSetSubprogram(f, d->scope);
  if (f == cg->kernel && cg->target->coarsens) {
    symbol = arena_printf(&cg->cx->arena, "%s" RT_COARSE_SUFFIX, symbol);
    cg->coarse_scope = LLVMDIBuilderCreateFunction(
        d->builder, file, fn->name, strlen(fn->name), symbol, strlen(symbol), file,
        (unsigned)d->line, type, 0, 1, (unsigned)d->line, LLVMDIFlagZero, 1);
  }
}

void cg_debug_at(Cg *cg, LLVMBuilderRef b, Loc loc) {
  DebugInfo *d = cg->debug;
  if (!d)
    return;
  unsigned line = loc.line > 0 ? (unsigned)loc.line : (unsigned)d->line,
           col = loc.line > 0 ? (unsigned)loc.col + 1 : 0;
  LLVMSetCurrentDebugLocation2(
      b,
      d->scope ? LLVMDIBuilderCreateDebugLocation(cg->context, line, col, d->scope, NULL) : NULL);
}

void cg_debug_close(Cg *cg) {
  if (!cg->debug)
    return;
  LLVMDIBuilderFinalize(cg->debug->builder);
  LLVMDisposeDIBuilder(cg->debug->builder);
  cg->debug = NULL;
}
