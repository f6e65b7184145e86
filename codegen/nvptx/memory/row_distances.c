/* NVPTX row distances: addresses that are rows or layers apart as distances from one another.
 *
 *   u[z, y, x], u[z, y - 1, x], u[z + 1, y, x]        # a stencil
 *
 * Each index is a sum of products, (z * height + y - 1) * width + x, and all of them are computed:
 * up to four instructions for each point, and registers for their parts. But the points are a
 * multiple of width, or of height * width, apart. One instruction adds that to the address of the
 * point that was read first, and ptxas has no reason to read few of them at once.
 *
 * In: functions as they go to the code generator. Addresses of elements of the kernel's arrays, of
 * which the index is extended from 32 bits, and which are read or written in their own block. An
 * index is a sum of products modulo 2**32, so the difference of two is known modulo 2**32. Both are
 * of accesses that are made: if the later one is, so is the earlier one, whose block dominates it.
 * What is accessed lies behind the array's address, so its index is not negative, and has 31 bits:
 * the difference is the one number of those between -2**31 and 2**31, and extends to 64 bits. (An
 * array with strides, whose address may be in its middle, has an index of 64 bits, in bytes.)
 *
 * Out: where the difference is one product of parameters of the kernel, with a constant or without,
 * or a constant, the address is the earlier one and a distance. That is for kernels that read
 * points of two arrays or more that are layers, a product of two, apart, and outside of loops. Of
 * one array the parts of indices have registers, and ptxas does better with addresses that do not
 * wait for each other; rows alone take as few instructions as they are. */
#include <string.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MAX_TERMS = 16,
  MAX_FACTORS = 6,     /* of a term */
  MAX_STRIDES = 2,     /* factors of a distance */
  MAX_ADDRESSES = 128, /* of a function: others stay as they are */
  MAX_DEPTH = 12,
  LEAST_ARRAYS = 2 /* with layers: of one, the parts of indices have registers */
};

/* times * factors[0] * factors[1] * …, modulo 2**32; the factors are ordered by their addresses. */
typedef struct Term {
  LLVMValueRef factors[MAX_FACTORS];
  unsigned n;
  uint32_t times;
} Term;

typedef struct Sum {
  Term terms[MAX_TERMS];
  unsigned n;
} Sum;

typedef struct Address {
  LLVMValueRef at, array; /* the address, and the parameter that it is an element of */
  LLVMTypeRef element;
  Sum index;
  uint32_t node;
  uint32_t made, accessed; /* places in the order of the nodes: its own, and of its first access */
} Address;

typedef struct Addresses {
  Cg *cg;
  const FnGraph *g;
  VEC(Address) list;
  uint32_t number; /* of instructions so far */
} Addresses;

/* --- sums --- */

static bool is_same(const Term *a, const Term *b) {
  bool same = a->n == b->n;
  for (unsigned k = 0; same && k < a->n; k++)
    same = a->factors[k] == b->factors[k];
  return same;
}

static bool add_term(Sum *s, const Term *t, uint32_t times) {
  for (unsigned k = 0; k < s->n; k++)
    if (is_same(&s->terms[k], t)) {
      s->terms[k].times += times * t->times;
      if (!s->terms[k].times)
        s->terms[k] = s->terms[--s->n];
      return true;
    }
  if (s->n == MAX_TERMS)
    return false;
  s->terms[s->n] = *t;
  s->terms[s->n++].times = times * t->times;
  return true;
}

static bool add_sum(Sum *s, const Sum *other, uint32_t times) {
  for (unsigned k = 0; k < other->n; k++)
    if (!add_term(s, &other->terms[k], times))
      return false;
  return true;
}

static bool add_product(Sum *s, const Term *a, const Term *b) {
  Term t = {.times = a->times * b->times};
  if (a->n + b->n > MAX_FACTORS)
    return false;
  for (unsigned i = 0, k = 0; i < a->n || k < b->n;) {
    bool first = k == b->n || (i < a->n && (uintptr_t)a->factors[i] < (uintptr_t)b->factors[k]);
    t.factors[t.n++] = first ? a->factors[i++] : b->factors[k++];
  }
  return !t.times || add_term(s, &t, 1);
}

static bool sum_of(Sum *s, LLVMValueRef v, unsigned depth);

static bool sum_of_both(Sum *s, LLVMValueRef v, unsigned depth) {
  Sum a, b;
  if (!sum_of(&a, LLVMGetOperand(v, 0), depth) || !sum_of(&b, LLVMGetOperand(v, 1), depth))
    return false;
  *s = (Sum){.n = 0};
  if (!cg_is_op(v, LLVMMul))
    return add_sum(s, &a, 1) && add_sum(s, &b, cg_is_op(v, LLVMSub) ? UINT32_MAX : 1);
  for (unsigned i = 0; i < a.n; i++)
    for (unsigned k = 0; k < b.n; k++)
      if (!add_product(s, &a.terms[i], &b.terms[k]))
        return false;
  return true;
}

static bool is_shift(LLVMValueRef v) {
  return cg_is_op(v, LLVMShl) && LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
         LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1)) < 32;
}

/* What v, of 32 bits, is a sum of; of itself, if nothing else is known. */
static bool sum_of(Sum *s, LLVMValueRef v, unsigned depth) {
  *s = (Sum){.n = 0};
  if (LLVMIsAConstantInt(v)) {
    uint32_t n = (uint32_t)LLVMConstIntGetZExtValue(v);
    return !n || add_term(s, &(Term){.times = n}, 1);
  }
  if (depth < MAX_DEPTH && (cg_is_op(v, LLVMAdd) || cg_is_op(v, LLVMSub) || cg_is_op(v, LLVMMul) ||
                            cg_is_disjoint_or(v)))
    return sum_of_both(s, v, depth + 1);
  Sum a;
  if (depth < MAX_DEPTH && is_shift(v))
    return sum_of(&a, LLVMGetOperand(v, 0), depth + 1) &&
           add_sum(s, &a, (uint32_t)1 << LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1)));
  return add_term(s, &(Term){.factors = {v}, .n = 1, .times = 1}, 1);
}

/* --- addresses --- */

/* The index's 32 bits; NULL: it has more. */
static LLVMValueRef short_index(const Cg *cg, LLVMValueRef index) {
  bool extended = LLVMIsASExtInst(index) || (LLVMIsAZExtInst(index) && LLVMGetNNeg(index));
  LLVMValueRef v = extended ? LLVMGetOperand(index, 0) : NULL;
  return v && LLVMTypeOf(v) == cg->t.i32 ? v : NULL;
}

static bool is_accessed_here(LLVMValueRef address) {
  for (LLVMUseRef u = LLVMGetFirstUse(address); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    bool load = cg_is_op(i, LLVMLoad), store = cg_is_op(i, LLVMStore);
    if ((load || store) && LLVMGetOperand(i, store) == address &&
        LLVMGetInstructionParent(i) == LLVMGetInstructionParent(address))
      return true;
  }
  return false;
}

static bool is_address(const Cg *cg, LLVMValueRef i) {
  return cg_is_op(i, LLVMGetElementPtr) && LLVMGetNumIndices(i) == 1 &&
         cg_is_kernel_argument(LLVMGetOperand(i, 0)) &&
         LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind &&
         LLVMGetPointerAddressSpace(LLVMTypeOf(i)) == NVPTX_GLOBAL &&
         short_index(cg, LLVMGetOperand(i, 1)) && is_accessed_here(i);
}

/* The distance from one index to another: at most one product of parameters, and a constant. */
static bool distance_of(const Address *from, const Address *to, Term *product, uint32_t *constant) {
  Sum apart = to->index;
  *product = (Term){.n = 0};
  *constant = 0;
  if (from->array != to->array || from->element != to->element ||
      !add_sum(&apart, &from->index, UINT32_MAX))
    return false;
  for (unsigned k = 0; k < apart.n; k++) {
    const Term *t = &apart.terms[k];
    if (!t->n)
      *constant = t->times;
    else if (product->n || t->n > MAX_STRIDES)
      return false;
    else
      *product = *t;
    for (unsigned f = 0; f < t->n; f++)
      if (!cg_is_kernel_argument(t->factors[f]))
        return false;
  }
  return true;
}

/* Is it layers away from another of its array? */
static bool is_layers_away(const Addresses *all, const Address *a) {
  for (uint32_t k = 0; k < all->list.len; k++) {
    Term product;
    uint32_t constant;
    if (distance_of(&all->list.data[k], a, &product, &constant) && product.n == MAX_STRIDES)
      return true;
  }
  return false;
}

static bool is_layered(const Addresses *all, LLVMValueRef array) {
  for (uint32_t k = 0; k < all->list.len; k++)
    if (all->list.data[k].array == array && is_layers_away(all, &all->list.data[k]))
      return true;
  return false;
}

/* How many arrays are read or written layers apart. */
static unsigned count_layered(const Addresses *all) {
  unsigned n = 0;
  for (uint32_t k = 0; k < all->list.len; k++) {
    bool first = true;
    for (uint32_t b = 0; b < k && first; b++)
      first = all->list.data[b].array != all->list.data[k].array;
    n += first && is_layered(all, all->list.data[k].array);
  }
  return n;
}

/* v * times in 64 bits as one instruction, which ptxas adds to the address: LLVM would make one
 * product of those up and down, and subtract, which takes two instructions. */
static LLVMValueRef product_of(Cg *cg, LLVMValueRef v, int64_t times) {
  char *code = arena_printf(&cg->cx->arena, "mul.wide.s32 $0, $1, %lld;", (long long)times);
  LLVMTypeRef type = LLVMFunctionType(cg->t.i64, &cg->t.i32, 1, 0);
  LLVMValueRef f = LLVMGetInlineAsm(type, code, strlen(code), "=l,r", 4, 0, 0,
                                    LLVMInlineAsmDialectATT, 0);
  return l_call_type(cg->builder, type, f, &v, 1);
}

/* The address with that many times the product of elements in front of it or behind. Once it may
 * be extended by itself, since the whole is between -2**31 and 2**31. */
static LLVMValueRef moved(Cg *cg, LLVMValueRef from, LLVMTypeRef element, const Term *product) {
  LLVMBuilderRef b = cg->builder;
  int64_t times = (int32_t)product->times, bytes = (int64_t)LLVMABISizeOfType(cg->layout, element);
  LLVMValueRef v = product->factors[0];
  for (unsigned k = 1; k < product->n; k++)
    v = l_mul(b, v, product->factors[k]);
  if (times != 1 && times != -1) {
    v = l_mul(b, v, l_int(cg->t.i32, product->times));
    times = 1;
  }
  LLVMValueRef distance = product_of(cg, v, times * bytes);
  return l_gep(b, cg->t.i8, from, &distance, 1);
}

/* The earlier address that this one is a distance from: the same one, of which LLVM then sees that
 * it has been read, or else the first. */
static const Address *find_earlier(const Addresses *all, const Address *a, Term *product,
                                   uint32_t *constant) {
  for (int same = 1; same >= 0; same--)
    for (const Address *from = all->list.data; from < a; from++)
      if (from->accessed && from->accessed <= a->made &&
          graph_dominates(all->g, from->node, a->node) && distance_of(from, a, product, constant) &&
          (!same || (!product->n && !*constant)))
        return from;
  return NULL;
}

/* Writes the address as a distance from an earlier one. */
static void rewrite(const Addresses *all, Address *a) {
  Cg *cg = all->cg;
  Term product;
  uint32_t constant;
  const Address *from = find_earlier(all, a, &product, &constant);
  if (!from)
    return;
  LLVMValueRef old = a->at, index = LLVMGetOperand(old, 1);
  uint64_t bytes = LLVMABISizeOfType(cg->layout, a->element);
  LLVMPositionBuilderBefore(cg->builder, old);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(old));
  a->at = product.n ? moved(cg, from->at, a->element, &product) : from->at;
  if (constant) {
    LLVMValueRef further = l_int(cg->t.i64, (uint64_t)(int32_t)constant * bytes);
    a->at = l_gep(cg->builder, cg->t.i8, a->at, &further, 1);
  }
  LLVMReplaceAllUsesWith(old, a->at);
  LLVMInstructionEraseFromParent(old);
  copy_erase_unused(index);
}

static void find(Addresses *all, uint32_t node) {
  Cg *cg = all->cg;
  for (LLVMValueRef i = all->g->nodes[node].first; i; i = LLVMGetNextInstruction(i)) {
    all->number++;
    bool load = cg_is_op(i, LLVMLoad), store = cg_is_op(i, LLVMStore);
    for (uint32_t k = 0; k < all->list.len && (load || store); k++)
      if (all->list.data[k].at == LLVMGetOperand(i, store) && all->list.data[k].node == node &&
          !all->list.data[k].accessed)
        all->list.data[k].accessed = all->number;
    if (!is_address(cg, i) || all->list.len == MAX_ADDRESSES)
      continue;
    Address a = {.at = i,
                 .array = LLVMGetOperand(i, 0),
                 .element = LLVMGetGEPSourceElementType(i),
                 .node = node,
                 .made = all->number};
    if (sum_of(&a.index, short_index(cg, LLVMGetOperand(i, 1)), 0))
      VEC_PUSH(all->g->arena, &all->list, a);
  }
}

static void visit_function(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  Addresses all = {.cg = cg, .g = &g};
  for (uint32_t n = 0; n < g.len; n++)
    if (g.nodes[n].loop == GRAPH_NONE)
      find(&all, n);
  if (count_layered(&all) < LEAST_ARRAYS)
    return;
  for (uint32_t k = 0; k < all.list.len; k++)
    if (is_layered(&all, all.list.data[k].array))
      rewrite(&all, &all.list.data[k]);
}

void cg_nvptx_row_distances(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      visit_function(cg, f);
}
