/* Host blocks: what schedules instructions in LLVM's code generator, before and behind the
 * registers are assigned, takes time with the square of a block's length: each instruction that
 * sets flags is compared with those before it. A label ends what it looks at, so long blocks get
 * some. A label that LLVM keeps is that of a note for a debugger of another format; in machine code
 * nothing of it is left. */
#include <string.h>

#include "codegen/host/host.h"

/* A block of 1,500 operations on integers, which is 27,000 instructions of machine code, takes 0.6
 * s in place of 1.3. */
enum { LONG_BLOCK = 512, PIECE = 128 };

static LLVMValueRef build_note(Cg *cg) {
  LLVMMetadataRef text = LLVMMDStringInContext2(cg->context, "", 0);
  return LLVMMetadataAsValue(cg->context, LLVMMDNodeInContext2(cg->context, &text, 1));
}

static void divide(Cg *cg, LLVMBasicBlockRef block, LLVMValueRef label, LLVMValueRef note) {
  unsigned n = 0;
  LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != end; i = LLVMGetNextInstruction(i)) {
    if (LLVMIsAPHINode(i) || ++n % PIECE)
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
