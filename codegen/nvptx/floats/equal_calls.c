/* NVPTX equal calls: a function of libdevice, of the same numbers, is called once.
 *
 *   x = math.cos(hour[i]) * math.cos(declination[i])
 *   y = math.sin(hour[i]) * math.cos(declination[i])
 *
 * Behind linking such a call is code with branches, as for large numbers, of which LLVM's passes
 * find no two alike. In front of it the calls are equal once they are known to read nothing but
 * their numbers, and what they take from memory is loaded once.
 *
 * In: a module before libdevice is linked. Out: in kernels that call a function of numbers twice,
 * of two equal calls the second is gone, if the first dominates it. */
#include <string.h>

#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

static bool is_function_of_numbers(const Cg *cg, LLVMValueRef f) {
  LLVMTypeRef t = LLVMGlobalGetValueType(f), params[3];
  unsigned n = LLVMCountParamTypes(t);
  if (!LLVMIsDeclaration(f) || strncmp(LLVMGetValueName(f), "__nv_", 5) != 0 || n > 3)
    return false;
  LLVMGetParamTypes(t, params);
  bool numbers = LLVMGetReturnType(t) != cg->t.none;
  for (unsigned k = 0; k < n; k++)
    numbers &= LLVMGetTypeKind(params[k]) != LLVMPointerTypeKind;
  return numbers;
}

static bool is_called_twice(LLVMValueRef f) {
  unsigned n = 0;
  for (LLVMUseRef u = LLVMGetFirstUse(f); u; u = LLVMGetNextUse(u))
    n += LLVMIsACallInst(LLVMGetUser(u)) != NULL;
  return n > 1;
}

void cg_nvptx_equal_calls(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (!is_function_of_numbers(cg, f))
      continue;
    any |= is_called_twice(f);
    cg_attribute(cg, f, L_FUNCTION, "willreturn", 0);
    cg_attribute(cg, f, L_FUNCTION, "memory", 0);
  }
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f && any; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      cg_run_function_passes(cg, f, "early-cse");
}
