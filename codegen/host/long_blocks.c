/* Host long blocks: labels that bound the time of LLVM's instruction scheduling.
 *
 * The schedulers before and after register allocation take the square of the length of a scheduling
 * region: each instruction that sets flags is compared with those before it. A label ends a region,
 * so long blocks get some. The label used is that of a CodeView annotation, which LLVM keeps up to
 * code generation and which leaves nothing in machine code for ELF. */
#include <string.h>

#include "codegen/host/host.h"

/* A block of 1,500 operations on integers, which is 27,000 machine instructions, compiles in 0.6 s
 * instead of 1.3 s. */
enum { LONG_BLOCK = 512, BETWEEN_LABELS = 128 };

static LLVMValueRef build_note(Cg *cg) {
  LLVMMetadataRef text = LLVMMDStringInContext2(cg->context, "", 0);
  return LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, &text, 1));
}

static void divide(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef label, LLVMValueRef note) {
  unsigned n = 0;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != end; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i) || ++n % BETWEEN_LABELS)
      continue;
    LLVMPositionBuilderBefore(cg->builder, i);
    l_call(cg->builder, label, &note, 1);
  }
}

static unsigned length_of(LLVMBasicBlockRef block) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n++;
  return n;
}

void cg_host_divide_blocks(Cg *cg) {
  LLVMValueRef label = NULL, note = NULL;
  LLVMSetCurrentDebugLocation2(cg->builder, NULL);
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
      if (length_of(b) <= LONG_BLOCK)
        continue;
      if (!label)
        label = cg_intrinsic_fn(cg, "llvm.codeview.annotation", NULL, 0), note = build_note(cg);
      divide(cg, b, label, note);
    }
}
