/* NVPTX shared addresses: what the addresses of accesses behind several conditions have in common
 * is computed once, in front of them.
 *
 *   for dx in range(-radius, radius + 1):       # unrolled: x, x + 1, x + 2, x + 3
 *       if 0 <= x + dx < cols:
 *           total += image[y, x + dx]
 *
 * The addresses are constants apart, but none of the accesses is on the way to all others, so
 * LLVM's code generator writes each address anew: up to five instructions where one offset of the
 * access would do.
 *
 * LLVM leaves the product (k + 1) * 4 as it is where k + 1 is read elsewhere, too: products of the
 * same number plus constants become k * 4 and constants.
 *
 * LLVM's LICM takes such sums apart, and drops that they do not wrap around: x + dx + 3 becomes
 * dx + (x + 3), whose second part the loop does not change. Behind a comparison with an extent,
 * which says that the sum is an int of 0 or more, it is dx + x and the constant again.
 *
 * In: functions as they go to the code generator. An index of 64 bits is a sum of up to MAX_TERMS
 * terms, extended from 32 bits or not, and a constant; equal products, or quotients by a power of
 * two, in several blocks, such as the offset of a row, (plane * rows + y) * cols, or a warp's
 * number, are one term. Addresses of the same array, with the same terms and in the same loop,
 * become the address of their terms, with a constant distance each. It is computed in the block
 * that dominates all of them; products of unknown numbers are only for addresses at several
 * distances. Terms that a loop does not change come first and are added in front of it. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/facts.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MAX_TERMS = 6,
  MAX_ADDRESSES = 512, /* of a function: others stay as they are */
  MAX_DISTANCE = 1 << 16,
  MAX_ANEW = 4, /* products and sums in a product */
};

typedef struct Address {
  LLVMValueRef gep, from, terms[MAX_TERMS];
  LLVMTypeRef element;
  int64_t constant;
  unsigned n;
  uint32_t at; /* its node; GRAPH_NONE: done with */
} Address;

typedef struct Addresses {
  Cg *cg;
  FnGraph *g;
  VEC(Address) list;
} Addresses;

static bool is_known_at(const FnGraph *g, LLVMValueRef v, uint32_t at) {
  if (!LLVMIsAInstruction(v))
    return true;
  uint32_t from = graph_number(g, LLVMGetInstructionParent(v));
  return from != GRAPH_NONE && graph_dominates(g, from, at);
}

/* --- sums behind a comparison --- */

/* Does it say that v, of 32 bits, is less than an extent, without a sign? */
static bool says_below(Fact fact, LLVMValueRef v) {
  return cg_is_op(fact.condition, LLVMICmp) && LLVMGetOperand(fact.condition, 0) == v &&
         LLVMGetICmpPredicate(fact.condition) == (fact.holds ? LLVMIntULT : LLVMIntUGE) &&
         cg_nvptx_is_extent(LLVMGetOperand(fact.condition, 1));
}

static bool is_below_extent(const FnGraph *g, LLVMValueRef v, uint32_t at) {
  Facts facts = {.n = 0};
  cg_add_facts_at(&facts, g, at);
  for (unsigned k = 0; k < facts.n; k++)
    if (says_below(facts.list[k], v))
      return true;
  return false;
}

/* x + y, which is known at the node; else NULL. */
static LLVMValueRef sum_of(const FnGraph *g, LLVMValueRef x, LLVMValueRef y, uint32_t at) {
  for (LLVMUseRef u = LLVMIsAConstant(x) ? NULL : LLVMGetFirstUse(x); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef sum = LLVMGetUser(u);
    if (cg_is_op(sum, LLVMAdd) && LLVMGetOperand(sum, LLVMGetOperand(sum, 0) == x) == y &&
        is_known_at(g, sum, at))
      return sum;
  }
  return NULL;
}

/* Of x + (y + c), x + y if there is such a sum, and c; else NULL. The address's access is behind a
 * comparison by which all of it is not negative, and so x + y, c less, does not wrap around. */
static LLVMValueRef without_constant(const FnGraph *g, LLVMValueRef v, uint32_t at, int64_t *c) {
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef x = LLVMGetOperand(v, k), rest = LLVMGetOperand(v, !k);
    if (!cg_is_op(rest, LLVMAdd) || !LLVMIsAConstantInt(LLVMGetOperand(rest, 1)))
      continue;
    *c = LLVMConstIntGetSExtValue(LLVMGetOperand(rest, 1));
    LLVMValueRef sum = sum_of(g, x, LLVMGetOperand(rest, 0), at);
    if (sum && *c >= 0 && *c < MAX_DISTANCE && is_below_extent(g, v, at))
      return sum;
  }
  return NULL;
}

/* --- terms --- */

/* A sum that extending leaves a sum: of numbers without a common bit, as 4 * k and 1, too. */
static bool is_sum(const Cg *cg, LLVMValueRef v) {
  return cg_is_disjoint_or(v) ||
         (cg_is_op(v, LLVMAdd) && (LLVMTypeOf(v) != cg->t.i32 || LLVMGetNSW(v)));
}

/* Adds v, of 32 or 64 bits, to the sum; false if it is not of the form. What is known at a node is
 * one term, unless the node is GRAPH_NONE. */
static bool add_terms(const Addresses *all, Address *a, LLVMValueRef v, uint32_t at) {
  const Cg *cg = all->cg;
  bool narrow = LLVMTypeOf(v) == cg->t.i32, whole = at != GRAPH_NONE && is_known_at(all->g, v, at);
  if (LLVMIsAConstantInt(v)) {
    a->constant += LLVMConstIntGetSExtValue(v);
    return a->constant > -MAX_DISTANCE && a->constant < MAX_DISTANCE;
  }
  if (!whole && is_sum(cg, v))
    return add_terms(all, a, LLVMGetOperand(v, 0), at) &&
           add_terms(all, a, LLVMGetOperand(v, 1), at);
  int64_t c;
  LLVMValueRef sum = !whole && cg_is_op(v, LLVMAdd) ? without_constant(all->g, v, a->at, &c) : NULL;
  if (sum) {
    a->constant += c;
    return a->constant < MAX_DISTANCE && add_terms(all, a, sum, at);
  }
  if (!narrow && (LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v))) &&
      LLVMTypeOf(LLVMGetOperand(v, 0)) == cg->t.i32)
    return add_terms(all, a, LLVMGetOperand(v, 0), at);
  if (a->n == MAX_TERMS)
    return false;
  a->terms[a->n++] = v;
  return true;
}

/* The terms of an address; without any if it is not of the form. */
static Address terms_of(const Addresses *all, LLVMValueRef gep, uint32_t node, uint32_t at) {
  Address a = {.gep = gep,
               .from = LLVMGetOperand(gep, 0),
               .at = node,
               .element = LLVMGetGEPSourceElementType(gep)};
  if (!add_terms(all, &a, LLVMGetOperand(gep, 1), at))
    a.n = 0;
  return a;
}

/* A product by a constant, which each of several blocks may compute anew. */
static bool is_product(LLVMValueRef v) {
  return (cg_is_op(v, LLVMMul) || cg_is_op(v, LLVMShl)) && LLVMIsAConstantInt(LLVMGetOperand(v, 1));
}

/* Such a quotient: a warp's number, threadIdx.x // 32. */
static bool is_quotient(LLVMValueRef v) {
  return cg_is_op(v, LLVMLShr) && LLVMIsAConstantInt(LLVMGetOperand(v, 1));
}

/* A product, a quotient, or a sum in one, which each of several blocks may compute anew. */
static bool is_anew(LLVMValueRef v) {
  return cg_is_op(v, LLVMMul) || cg_is_op(v, LLVMShl) || cg_is_op(v, LLVMAdd) || is_quotient(v);
}

static bool has_same_flags(LLVMValueRef a, LLVMValueRef b) {
  return is_quotient(a) ? LLVMGetExact(a) == LLVMGetExact(b) : LLVMGetNSW(a) == LLVMGetNSW(b);
}

static bool is_same(LLVMValueRef a, LLVMValueRef b, unsigned depth) {
  if (a == b)
    return true;
  return depth && is_anew(a) && is_anew(b) && LLVMTypeOf(a) == LLVMTypeOf(b) &&
         LLVMGetInstructionOpcode(a) == LLVMGetInstructionOpcode(b) && has_same_flags(a, b) &&
         is_same(LLVMGetOperand(a, 0), LLVMGetOperand(b, 0), depth - 1) &&
         is_same(LLVMGetOperand(a, 1), LLVMGetOperand(b, 1), depth - 1);
}

/* --- products of sums --- */

typedef struct Product { /* (x + c) * factor */
  LLVMValueRef v, x;
  int64_t distance; /* c * factor */
} Product;

/* Is v an index, and so 0 or more? */
static bool is_index(LLVMValueRef v) {
  for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
    LLVMValueRef i = LLVMGetUser(u);
    bool address = LLVMIsAGetElementPtrInst(i) && LLVMGetOperand(i, 0) != v &&
                   LLVMGEPGetNoWrapFlags(i) & LLVMGEPFlagNUW;
    bool whole = LLVMIsASExtInst(i) || (LLVMIsAZExtInst(i) && LLVMGetNNeg(i));
    if (!address && !(whole && is_index(i)))
      return false;
  }
  return LLVMGetFirstUse(v);
}

static bool read_product(const Cg *cg, LLVMValueRef v, Product *p) {
  if (!is_product(v) || !LLVMGetNSW(v) || LLVMTypeOf(v) != cg->t.i32)
    return false;
  LLVMValueRef sum = LLVMGetOperand(v, 0);
  if (!is_sum(cg, sum) || !LLVMIsAConstantInt(LLVMGetOperand(sum, 1)))
    return false;
  int64_t by = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1)),
          c = LLVMConstIntGetSExtValue(LLVMGetOperand(sum, 1));
  if (by <= 0 || c <= 0 || c >= MAX_DISTANCE || by >= (cg_is_op(v, LLVMShl) ? 16 : MAX_DISTANCE))
    return false;
  *p = (Product){v, LLVMGetOperand(sum, 0), cg_is_op(v, LLVMShl) ? c << by : c * by};
  return p->distance < MAX_DISTANCE && is_index(v);
}

/* Another product of the same number by the same, elsewhere? */
static bool has_other(const Product *p, const Product *list, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (list[k].x == p->x &&
        LLVMGetInstructionOpcode(list[k].v) == LLVMGetInstructionOpcode(p->v) &&
        LLVMGetOperand(list[k].v, 1) == LLVMGetOperand(p->v, 1) &&
        LLVMGetInstructionParent(list[k].v) != LLVMGetInstructionParent(p->v))
      return true;
  return false;
}

/* x * factor + c * factor. Neither wraps around with its sign: all of it is from 0 on, and the
 * constant is small. */
static void distribute(Cg *cg, const Product *p) {
  LLVMPositionBuilderBefore(cg->builder, p->v);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(p->v));
  LLVMValueRef x = copy_ins(cg->builder, p->v, (LLVMValueRef[]){p->x, NULL});
  LLVMSetNUW(x, false);
  LLVMReplaceAllUsesWith(p->v, l_add_nsw(cg->builder, x, l_int(cg->t.i32, (uint64_t)p->distance)));
}

static void distribute_all(Cg *cg, const FnGraph *g) {
  VEC(Product) found = {0};
  Product p;
  for (uint32_t n = 0; n < g->len; n++)
    for (LLVMValueRef i = g->nodes[n].first; i; i = LLVMGetNextInstruction(i))
      if (found.len < MAX_ADDRESSES && read_product(cg, i, &p))
        VEC_PUSH(g->arena, &found, p);
  for (uint32_t k = 0; k < found.len; k++)
    if (!has_other(&found.data[k], found.data, found.len))
      found.data[k].x = NULL;
  for (uint32_t k = 0; k < found.len; k++)
    if (found.data[k].x) {
      distribute(cg, &found.data[k]);
      LLVMInstructionEraseFromParent(found.data[k].v);
    }
}

static unsigned count(const Address *a, LLVMValueRef term) {
  unsigned n = 0;
  for (unsigned k = 0; k < a->n; k++)
    n += is_same(a->terms[k], term, MAX_ANEW);
  return n;
}

static bool has_same_terms(const Address *a, const Address *b) {
  bool same = a->from == b->from && a->element == b->element && a->n == b->n;
  for (unsigned k = 0; k < a->n && same; k++)
    same = count(a, a->terms[k]) == count(b, a->terms[k]);
  return same;
}

static void find(Addresses *all) {
  for (uint32_t n = 0; n < all->g->len; n++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(all->g->nodes[n].block); i;
         i = LLVMGetNextInstruction(i)) {
      if (!cg_is_op(i, LLVMGetElementPtr) || LLVMGetNumIndices(i) != 1 ||
          LLVMTypeOf(LLVMGetOperand(i, 1)) != all->cg->t.i64 || all->list.len == MAX_ADDRESSES)
        continue;
      Address a = terms_of(all, i, n, GRAPH_NONE);
      if (a.n)
        VEC_PUSH(all->g->arena, &all->list, a);
    }
}

/* Is a term known at the end of that node, or a product or quotient that can be computed there? */
static bool can_be_at(const FnGraph *g, LLVMValueRef term, uint32_t at, unsigned depth) {
  return is_known_at(g, term, at) ||
         (depth && is_anew(term) && can_be_at(g, LLVMGetOperand(term, 0), at, depth - 1) &&
          can_be_at(g, LLVMGetOperand(term, 1), at, depth - 1));
}

/* Are all of one distance, and a term is a product of unknown numbers, which is not there yet? Such
 * addresses have nothing in common but what each of them is. */
static bool gains_nothing(const Addresses *all, const uint32_t *same, uint32_t n, uint32_t at) {
  const Address *list = all->list.data, *key = &list[same[0]];
  bool unknown = false;
  for (unsigned k = 0; k < key->n; k++)
    unknown |= !is_known_at(all->g, key->terms[k], at) && !is_product(key->terms[k]) &&
               !is_quotient(key->terms[k]);
  for (uint32_t k = 1; k < n; k++)
    if (list[same[k]].constant != key->constant)
      return false;
  return unknown;
}

/* The term at the builder's place, at the end of that node. */
static LLVMValueRef anew(const Addresses *all, LLVMValueRef term, uint32_t at) {
  if (is_known_at(all->g, term, at))
    return term;
  LLVMValueRef both[] = {anew(all, LLVMGetOperand(term, 0), at),
                         anew(all, LLVMGetOperand(term, 1), at)};
  return copy_ins(all->cg->builder, term, both);
}

/* The array with a term added, in front of that instruction of a node. */
static LLVMValueRef add(const Addresses *all, const Address *a, LLVMValueRef from,
                        LLVMValueRef term, LLVMValueRef before) {
  Cg *cg = all->cg;
  LLVMPositionBuilderBefore(cg->builder, before);
  term = anew(all, term, graph_number(all->g, LLVMGetInstructionParent(before)));
  if (LLVMTypeOf(term) != cg->t.i64)
    term = l_sext(cg->builder, term, cg->t.i64);
  return l_gep(cg->builder, a->element, from, &term, 1);
}

/* The address of the terms at the end of that node. */
static LLVMValueRef shared(const Addresses *all, const Address *a, uint32_t at) {
  const FnGraph *g = all->g;
  uint32_t loop = g->nodes[at].loop;
  LLVMValueRef front = loop == GRAPH_NONE ? NULL : graph_front(g, loop), from = a->from;
  bool fixed = front && !graph_in_loop(g, loop, from);
  for (unsigned pass = 0; pass < 2; pass++)
    for (unsigned k = 0; k < a->n; k++) {
      bool outside = fixed && !graph_in_loop(g, loop, a->terms[k]);
      if (outside == !pass)
        from = add(all, a, from, a->terms[k], outside ? front : g->nodes[at].last);
    }
  return from;
}

/* Writes the address as a distance from what it shares with others. */
static void rewrite(Addresses *all, Address *a, LLVMValueRef from) {
  Cg *cg = all->cg;
  LLVMValueRef distance = l_int(cg->t.i64, (uint64_t)a->constant);
  LLVMPositionBuilderBefore(cg->builder, a->gep);
  LLVMSetCurrentDebugLocation2(cg->builder, LLVMInstructionGetDebugLoc(a->gep));
  LLVMValueRef now = l_gep(cg->builder, a->element, from, &distance, 1);
  for (uint32_t k = 0; k < all->list.len; k++)
    if (all->list.data[k].from == a->gep)
      all->list.data[k].from = now;
  LLVMReplaceAllUsesWith(a->gep, now);
  LLVMInstructionEraseFromParent(a->gep);
  a->at = GRAPH_NONE;
}

/* Rewrites those with the same terms as this one, if several places behind conditions have them. */
static void visit(Addresses *all, uint32_t first) {
  const FnGraph *g = all->g;
  Address *list = all->list.data, key = list[first];
  uint32_t at = key.at, n = 0, *same = NULL;
  bool several = false, sums = true;
  if (at == GRAPH_NONE)
    return;
  same = CX_ARRAY(all->cg->cx, uint32_t, all->list.len);
  for (uint32_t k = first; k < all->list.len; k++)
    if (list[k].at != GRAPH_NONE && g->nodes[list[k].at].loop == g->nodes[key.at].loop &&
        has_same_terms(&key, &list[k])) {
      same[n++] = k;
      several |= list[k].at != key.at;
      at = graph_common(g, at, list[k].at);
    }
  if (!several || g->nodes[at].loop != g->nodes[key.at].loop || !is_known_at(g, key.from, at))
    return;
  for (uint32_t k = 0; k < n; k++)
    if (list[same[k]].at == at) /* LLVM's code generator shares its address */
      return;
  for (unsigned k = 0; k < key.n; k++)
    if (!can_be_at(g, key.terms[k], at, MAX_ANEW))
      return;
  if (gains_nothing(all, same, n, at))
    return;
  Address whole = terms_of(all, key.gep, key.at, at);
  for (uint32_t k = 0; k < n; k++) {
    Address other = terms_of(all, list[same[k]].gep, list[same[k]].at, at);
    sums &= has_same_terms(&whole, &other);
  }
  LLVMValueRef from = shared(all, sums ? &whole : &key, at);
  for (uint32_t k = 0; k < n; k++) {
    Address *a = &list[same[k]];
    a->constant = sums ? terms_of(all, a->gep, a->at, at).constant : a->constant;
    rewrite(all, a, from);
  }
}

void cg_nvptx_shared_addresses(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    Addresses all = {.cg = cg, .g = &g};
    if (g.len < 5) /* no two conditions */
      continue;
    graph_loops(&g);
    distribute_all(cg, &g);
    find(&all);
    for (uint32_t k = 0; k < all.list.len; k++)
      visit(&all, k);
  }
}
