/* Loop marks: see loop_marks.h. */
#include "codegen/nvptx/loops/loop_marks.h"

#include <string.h>

#include "codegen/llvm/emit.h"

static LLVMMetadataRef text(LLVMContextRef c, const char *s) {
  return LLVMMDStringInContext2(c, s, strlen(s));
}

static unsigned kind_of(LLVMContextRef c) { return LLVMGetMDKindIDInContext(c, "llvm.loop", 9); }

static void set_marks(LLVMContextRef c, LLVMValueRef branch, LLVMMetadataRef *parts, size_t n) {
  /* the first operand is the node itself, which makes it distinct */
  parts[0] = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef id = LLVMMDNodeInContext2(c, parts, n);
  LLVMMetadataReplaceAllUsesWith(parts[0], id);
  LLVMSetMetadata(branch, kind_of(c), LLVMMetadataAsValue(c, id));
}

static const char *const names[] = {[MARK_MASKED] = "pyptx.masked",
                                    [MARK_REST] = "pyptx.rest",
                                    [MARK_LEAST] = "pyptx.least",
                                    [MARK_WHOLE] = "pyptx.whole",
                                    [MARK_CIRCLES] = "pyptx.circles",
                                    [MARK_UNROLLED] = "pyptx.unrolled",
                                    [MARK_ONCE] = "pyptx.once",
                                    [MARK_SHORT] = "pyptx.short",
                                    [MARK_COUNT] = "llvm.loop.unroll.count"};

static LLVMMetadataRef numbered(LLVMContextRef c, const char *name, unsigned n) {
  LLVMValueRef number = l_int(LLVMInt32TypeInContext(c), n);
  return LLVMMDNodeInContext2(c, (LLVMMetadataRef[]){text(c, name), LLVMValueAsMetadata(number)},
                              2);
}

static LLVMMetadataRef not_unrolled(LLVMContextRef c) {
  LLVMMetadataRef off = text(c, "llvm.loop.unroll.disable");
  return LLVMMDNodeInContext2(c, &off, 1);
}

void cg_mark_whole(LLVMContextRef c, LLVMValueRef branch, unsigned most) {
  LLVMMetadataRef full = text(c, "llvm.loop.unroll.full");
  set_marks(c, branch,
            (LLVMMetadataRef[]){NULL,
                                most ? numbered(c, names[MARK_COUNT], most)
                                     : LLVMMDNodeInContext2(c, &full, 1),
                                numbered(c, names[MARK_WHOLE], 1)},
            3);
}

/* also: what is said of the loop that LLVM makes, but for its count; MARK_COUNT: nothing. */
static void mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count, LoopMark also) {
  bool more = also != MARK_COUNT;
  LLVMMetadataRef left[] = {text(c, "llvm.loop.unroll.followup_remainder"), not_unrolled(c),
                            numbered(c, names[MARK_REST], count - 1)},
                  made[] = {text(c, "llvm.loop.unroll.followup_unrolled"), not_unrolled(c),
                            numbered(c, names[MARK_UNROLLED], count),
                            more ? numbered(c, names[also], 1) : NULL};
  set_marks(c, branch,
            (LLVMMetadataRef[]){NULL, numbered(c, names[MARK_COUNT], count),
                                LLVMMDNodeInContext2(c, left, 3),
                                LLVMMDNodeInContext2(c, made, more ? 4 : 3)},
            4);
}

void cg_mark_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count) {
  mark_unrolled(c, branch, count, MARK_COUNT);
}

void cg_mark_short_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count) {
  mark_unrolled(c, branch, count, MARK_SHORT);
}

void cg_mark_rest_unrolled(LLVMContextRef c, LLVMValueRef branch, unsigned count, unsigned most) {
  mark_unrolled(c, branch, count, most < 2 * count ? MARK_ONCE : MARK_COUNT);
}

void cg_mark_left(LLVMContextRef c, LLVMValueRef branch, unsigned most, unsigned least) {
  set_marks(c, branch,
            (LLVMMetadataRef[]){NULL, not_unrolled(c), numbered(c, names[MARK_REST], most),
                                least ? numbered(c, names[MARK_LEAST], least) : NULL},
            least ? 4 : 3);
}

void cg_mark_made(LLVMContextRef c, LLVMValueRef unrolled, LLVMValueRef rest, unsigned count) {
  if (unrolled)
    set_marks(c, unrolled,
              (LLVMMetadataRef[]){NULL, not_unrolled(c), numbered(c, names[MARK_UNROLLED], count)},
              3);
  if (rest)
    cg_mark_left(c, rest, count - 1, 0);
}

void cg_mark_rolled(LLVMContextRef c, LLVMValueRef branch) {
  set_marks(c, branch, (LLVMMetadataRef[]){NULL, not_unrolled(c)}, 2);
}

void cg_mark_circles(LLVMContextRef c, LLVMValueRef branch, unsigned count) {
  set_marks(c, branch,
            (LLVMMetadataRef[]){NULL, not_unrolled(c), numbered(c, names[MARK_CIRCLES], 1),
                                numbered(c, names[MARK_UNROLLED], count)},
            4);
}

void cg_mark_masked(LLVMContextRef c, LLVMValueRef branch) {
  set_marks(
      c, branch,
      (LLVMMetadataRef[]){NULL, not_unrolled(c), numbered(c, names[MARK_MASKED], MASKED_COPIES)},
      3);
}

static bool is_text(LLVMValueRef node, const char *want) {
  unsigned n = 0;
  const char *s = LLVMIsAMDString(node) ? LLVMGetMDString(node, &n) : NULL;
  return s && n == strlen(want) && memcmp(s, want, n) == 0;
}

/* LLVM may have added other options to the loop's metadata. */
unsigned cg_mark_of(const Cg *cg, LLVMBasicBlockRef block, LoopMark mark) {
  LLVMValueRef marks = LLVMGetMetadata(LLVMGetBasicBlockTerminator(block), kind_of(cg->context));
  unsigned n = marks ? LLVMGetMDNodeNumOperands(marks) : 0;
  LLVMValueRef *parts = n ? CX_ARRAY(cg->cx, LLVMValueRef, n) : NULL, of[2];
  if (n)
    LLVMGetMDNodeOperands(marks, parts);
  for (unsigned k = 1; k < n; k++) {
    if (!parts[k] || !LLVMIsAMDNode(parts[k]) || LLVMGetMDNodeNumOperands(parts[k]) != 2)
      continue;
    LLVMGetMDNodeOperands(parts[k], of);
    if (of[0] && is_text(of[0], names[mark]) && LLVMIsAConstantInt(of[1]))
      return (unsigned)LLVMConstIntGetZExtValue(of[1]);
  }
  return 0;
}

bool cg_is_marked(const Cg *cg, LLVMValueRef branch) {
  return LLVMGetMetadata(branch, kind_of(cg->context)) != NULL;
}

void cg_unmark(Cg *cg, LLVMValueRef branch) { LLVMSetMetadata(branch, kind_of(cg->context), NULL); }

void cg_unmark_whole(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      if (cg_mark_of(cg, b, MARK_WHOLE))
        cg_unmark(cg, LLVMGetBasicBlockTerminator(b));
}
