/* For tests of the host's loops: LLVM text with a k.thread (codegen/host/host.h), through fission,
 * LLVM's passes and the JIT. */
#ifndef PYPTX_TESTS_HOST_TEXT_H
#define PYPTX_TESTS_HOST_TEXT_H

#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/host/host.h"
#include "codegen/llvm/cg.h"
#include "codegen/passes.h"
#include "codegen/target.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"

/* What every text begins with. out[t] and in[t] are i64 arrays in the parameter block; shared
 * memory follows launch->shared. */
#define HEAD                                                                                       \
  "declare i32 @pyptx.barrier(i32, i1) convergent nounwind\n"                                      \
  "declare i64 @pyptx.meet(i32, i32, i32, i64, i32) convergent nomerge nounwind\n"                 \
  "declare void @rt_host_trap(ptr, i32, i64, i32, i64, i64, i64, i64) noreturn cold\n"             \
  "define internal i64 @load(ptr %launch, i64 %offset) alwaysinline {\n"                           \
  "  %p = load ptr, ptr %launch, !invariant.load !0, !pyptx.field !0\n"                            \
  "  %q = getelementptr i8, ptr %p, i64 %offset\n"                                                 \
  "  %v = load i64, ptr %q, !invariant.load !0, !pyptx.field !0\n"                                 \
  "  ret i64 %v\n}\n"                                                                              \
  "define internal ptr @pointer(ptr %launch, i64 %offset, i64 %index) alwaysinline {\n"            \
  "  %v = call i64 @load(ptr %launch, i64 %offset)\n"                                              \
  "  %p = inttoptr i64 %v to ptr\n"                                                                \
  "  %q = getelementptr i64, ptr %p, i64 %index\n"                                                 \
  "  ret ptr %q\n}\n"                                                                              \
  "define internal ptr @shared(ptr %launch, i64 %index) alwaysinline {\n"                          \
  "  %a = getelementptr i8, ptr %launch, i64 40\n"                                                 \
  "  %p = load ptr, ptr %a, !invariant.load !0, !pyptx.field !0\n"                                 \
  "  %q = getelementptr i64, ptr %p, i64 %index\n"                                                 \
  "  ret ptr %q\n}\n"                                                                              \
  "!0 = !{}\n"
#define KERNEL                                                                                     \
  "define internal void @k.thread(ptr %launch, i64 %block, i32 %bx, i32 %by, i32 %bz, i32 %tx, "   \
  "i32 %ty, i32 %tz, i32 %t32) nounwind {\n"                                                       \
  "entry:\n  %t = zext i32 %t32 to i64\n"                                                          \
  "  %base = mul i64 %block, 1000\n  %at = add i64 %base, %t\n"                                    \
  "  %n = call i64 @load(ptr %launch, i64 16)\n"                                                   \
  "  %in = call ptr @pointer(ptr %launch, i64 8, i64 %at)\n"                                       \
  "  %out = call ptr @pointer(ptr %launch, i64 0, i64 %at)\n"
#define SYNC "call i32 @pyptx.barrier(i32 0, i1 false)\n"

static const CgSymbol host_text_symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
    {NULL, NULL}};

static inline int host_text_compile(Cx *cx, const char *text, int opt, uint32_t static_shared,
                                    CgKernel *kernel) {
  CgRequest request = {.target = CG_HOST, .symbols = host_text_symbols};
  Cg *cg = CX_NEW(cx, Cg);
  *cg = (Cg){.cx = cx,
             .request = &request,
             .options.opt = opt,
             .target = &cg_target_host,
             .symbol = "k",
             .out = kernel};
  cg->program = CX_NEW(cx, Program);
  if (!CX_TRY(cx)) {
    fprintf(stderr, "%s\n", cx->diag.message);
    cg_close(cg);
    return -1;
  }
  cg_open(cg);
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text),
                                                                         "text");
  LLVMModuleRef module;
  char *why = NULL;
  if (LLVMParseIRInContext(cg->context, buffer, &module, &why)) {
    fprintf(stderr, "%s\n", why);
    return -1;
  }
  LLVMDisposeModule(cg->module);
  cg->module = module;
  cg->static_shared = static_shared;
  cg->builder = LLVMCreateBuilderInContext(cg->context);
  ((HostState *)cg->target_state)->thread = LLVMGetNamedFunction(module, "k.thread");
  cg_run_within(cg, "optimize");
  if (getenv("SHOW"))
    fprintf(stderr, "%s\n", cg_module_text(cg));
  cg_run_within(cg, "emit");
  for (uint32_t k = 0; k < cg->out->nimports; k++)
    free(cg->out->imports[k]);
  free(cg->out->imports);
  free(cg->out->entry);
  cg->out->imports = NULL, cg->out->nimports = 0, cg->out->entry = NULL;
  cg_close(cg);
  return 0;
}

#endif
