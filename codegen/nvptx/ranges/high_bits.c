/* NVPTX high bits: see high_bits.h.
 *
 * All start with no bits, and get more until nothing changes. A phi that has grown a few times, as
 * a counter does, gets all of its type. */
#include "codegen/nvptx/ranges/high_bits.h"

#include "codegen/llvm/match.h"
#include "codegen/nvptx/ranges/value_ranges.h"

enum { MOST_GROWTH = 4, MOST_SWEEPS = 32 };

typedef struct Known {
  LLVMValueRef v;
  uint8_t growth;
  bool fixed; /* it is not made of what is looked at */
} Known;

typedef VEC(Known) AllKnown;

static unsigned lesser(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned greater(unsigned a, unsigned b) { return a > b ? a : b; }

static unsigned length_of(uint64_t n) { return n ? 64 - (unsigned)__builtin_clzll(n) : 0; }

static unsigned of_range(LLVMValueRef v) {
  Interval r = cg_nvptx_range(v);
  return r.lo >= 0 ? lesser(cg_int_width(v), length_of((uint64_t)r.hi)) : cg_int_width(v);
}

static unsigned of_phi(const HighBits *h, LLVMValueRef phi) {
  unsigned most = 0;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
    most = greater(most, cg_nvptx_bits_of(h, LLVMGetIncomingValue(phi, k)));
  return most;
}

static unsigned of_shift(unsigned bits, bool left, LLVMValueRef by, unsigned width) {
  bool known = LLVMIsAConstantInt(by) && LLVMConstIntGetZExtValue(by) < width;
  unsigned n = known ? (unsigned)LLVMConstIntGetZExtValue(by) : 0;
  if (left)
    return known && bits ? lesser(bits + n, width) : bits ? width : 0;
  return bits > n ? bits - n : 0;
}

/* False: it is known by its range, or not at all. */
static bool is_read(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
  case LLVMAdd:
  case LLVMMul:
  case LLVMShl:
  case LLVMLShr:
  case LLVMUDiv:
  case LLVMURem:
  case LLVMZExt:
  case LLVMTrunc:
  case LLVMSelect:
  case LLVMPHI: return true;
  default: return false;
  }
}

static unsigned bits_now(const HighBits *h, LLVMValueRef i) {
  if (LLVMIsAPHINode(i))
    return of_phi(h, i);
  bool select = LLVMIsASelectInst(i) != NULL, one = LLVMIsACastInst(i) != NULL;
  LLVMValueRef y = one ? NULL : LLVMGetOperand(i, 1 + select);
  unsigned width = cg_int_width(i), a = cg_nvptx_bits_of(h, LLVMGetOperand(i, select)),
           b = one ? 0 : cg_nvptx_bits_of(h, y);
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAnd:
  case LLVMURem: return lesser(a, b);
  case LLVMAdd: return lesser(greater(a, b) + (a && b), width);
  case LLVMMul: return a && b ? lesser(a + b, width) : 0;
  case LLVMShl:
  case LLVMLShr: return of_shift(a, cg_is_op(i, LLVMShl), y, width);
  case LLVMUDiv:
  case LLVMZExt:
  case LLVMTrunc: return lesser(a, width);
  default: return greater(a, b);
  }
}

static void find_all(Cg *cg, HighBits *h, AllKnown *all, LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      unsigned width = cg_int_width(i);
      if (!width || width > 64)
        continue;
      bool fixed = !is_read(i);
      valuemap_set(&h->number, i, h->bits.len);
      VEC_PUSH(&cg->cx->arena, &h->bits, (uint8_t)(fixed ? of_range(i) : 0));
      VEC_PUSH(&cg->cx->arena, all, ((Known){i, 0, fixed}));
    }
}

static bool sweep(HighBits *h, AllKnown *all) {
  bool changed = false;
  for (uint32_t k = 0; k < all->len; k++) {
    Known *is = &all->data[k];
    unsigned now = is->fixed ? h->bits.data[k] : bits_now(h, is->v);
    if (now <= h->bits.data[k])
      continue;
    bool grows = LLVMIsAPHINode(is->v) && is->growth++ == MOST_GROWTH;
    h->bits.data[k] = (uint8_t)(grows ? cg_int_width(is->v) : now);
    changed = true;
  }
  return changed;
}

HighBits cg_nvptx_high_bits(Cg *cg, LLVMValueRef function) {
  HighBits h = {.number = {.arena = &cg->cx->arena}};
  AllKnown all = {0};
  find_all(cg, &h, &all, function);
  unsigned left = MOST_SWEEPS;
  while (left && sweep(&h, &all))
    left--;
  for (uint32_t k = 0; !left && k < all.len; k++)
    h.bits.data[k] = (uint8_t)cg_int_width(all.data[k].v);
  return h;
}

unsigned cg_nvptx_bits_of(const HighBits *h, LLVMValueRef v) {
  unsigned width = cg_int_width(v);
  if (!width || width > 64)
    return UINT8_MAX;
  if (LLVMIsAConstantInt(v))
    return length_of(LLVMConstIntGetZExtValue(v));
  uint32_t k = LLVMIsAInstruction(v) ? valuemap_get(&h->number, v) : VALUEMAP_NONE;
  return k == VALUEMAP_NONE ? of_range(v) : h->bits.data[k];
}
