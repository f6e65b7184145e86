/* NVPTX place versions: what comes behind a place that was read, written twice.
 *
 *   at = starts[i]
 *   year = digits(text, at, 4)            # text[at], text[at + 1], …
 *   if text[at + 4] != ord("-"): return -1
 *   month = digits(text, at + 5, 2)
 *   …
 *
 * The place may be negative, and -1 and 0 are not side by side. So each index is wrapped by itself,
 * and has an address of its own: five operations where C++ has an offset of an access. Between the
 * accesses there are branches, so that near_indices.c finds them not together. All code that they
 * are in is written twice, with one test in front:
 *
 *   if at >= 0:
 *     …                                   # one address, with an offset for each access
 *   else:
 *     …                                   # as it was
 *
 * In: functions whose indices are wrapped (low_halves.c). An access takes part whose index is a
 * number of 32 bits, the root, plus a constant of at most TY_REACH, wrapped by an extent, which is
 * at most TY_NARROW. In the first version the root plus the least such constant is not negative: no
 * index is wrapped. A sum that does not fit 32 bits would be the number of no element, with its
 * wrap or without.
 *
 * Written twice are the blocks that the first block with such an access dominates, with that one
 * from its first such access on. A value of these is used in others by phis only, which get what
 * the copy comes with. They have few instructions, and none that threads do together. Where the
 * root comes from outside of a loop the accesses are not inside of it; in a loop they are more. */
#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_ACCESSES = 96,
  LEAST_ACCESSES = 5, /* fewer gain less than the test, and the places of the versions, cost */
  LEAST_IN_LOOPS = 8, /* where the versions come together in each iteration */
  MOST_CODE = 700,    /* instructions that are written twice */
  MOST_ROUNDS = 4
};

typedef struct Near {
  LLVMValueRef access, gep, root;
  int64_t distance; /* the index is root + distance */
} Near;

typedef struct Places {
  Cg *cg;
  FnGraph g;
  ValueMap copies; /* blocks that were written as the other version */
  Near all[MOST_ACCESSES];
  unsigned n;
  LLVMValueRef root; /* of those taken */
} Places;

/* --- accesses --- */

/* The number whose sum with a constant v is, in 32 bits; of 64 bits: its low half. */
static LLVMValueRef root_of(const Cg *cg, LLVMValueRef v, int64_t *distance) {
  *distance = 0;
  for (;;) {
    LLVMValueRef of = LLVMIsATruncInst(v) ? LLVMGetOperand(v, 0) : NULL;
    if (cg_is_op(v, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
      *distance += LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
      v = LLVMGetOperand(v, 0);
    } else if (LLVMIsASExtInst(v) && LLVMTypeOf(LLVMGetOperand(v, 0)) == cg->t.i32) {
      v = LLVMGetOperand(v, 0);
    } else if (of && LLVMTypeOf(of) == cg->t.i64) {
      v = of;
    } else {
      return v;
    }
    if (*distance < -TY_REACH || *distance > TY_REACH)
      return NULL;
  }
}

/* Is v the extent where root + distance is negative, else 0? LLVM asks a part of the sum, too. */
static bool is_wrap(const Cg *cg, LLVMValueRef v, LLVMValueRef root, int64_t distance) {
  if (!LLVMIsASelectInst(v) || !cg_nvptx_is_extent(LLVMGetOperand(v, 1)) ||
      !cg_is_number(LLVMGetOperand(v, 2), 0))
    return false;
  LLVMValueRef test = LLVMGetOperand(v, 0);
  if (!LLVMIsAICmpInst(test) || LLVMGetICmpPredicate(test) != LLVMIntSLT ||
      !LLVMIsAConstantInt(LLVMGetOperand(test, 1)))
    return false;
  int64_t c = 0, below = LLVMConstIntGetSExtValue(LLVMGetOperand(test, 1));
  return root_of(cg, LLVMGetOperand(test, 0), &c) == root && c - below == distance;
}

/* The index x of umin(x, x + extent), or of x + (extent if x < 0 else 0); NULL: v is no such. */
static LLVMValueRef wrapped(const Cg *cg, LLVMValueRef v, LLVMValueRef *root, int64_t *distance) {
  bool least = LLVMIsACallInst(v) && cg_is_call_of(v, "llvm.umin.i32");
  for (unsigned k = 0; k < 2 && (least || cg_is_op(v, LLVMAdd)); k++) {
    LLVMValueRef x = LLVMGetOperand(v, k), other = LLVMGetOperand(v, !k);
    *root = LLVMTypeOf(x) == cg->t.i32 ? root_of(cg, x, distance) : NULL;
    if (!*root)
      continue;
    if (!least && is_wrap(cg, other, *root, *distance))
      return x;
    for (unsigned m = 0; m < 2 && least && cg_is_op(other, LLVMAdd); m++)
      if (cg_nvptx_is_extent(LLVMGetOperand(other, m)) && LLVMGetOperand(other, !m) == x)
        return x;
  }
  return NULL;
}

static LLVMValueRef pointer_of(LLVMValueRef i) {
  bool store = cg_is_op(i, LLVMStore);
  return (store || cg_is_op(i, LLVMLoad)) && cg_is_plain_access(i) ? LLVMGetOperand(i, store)
                                                                   : NULL;
}

static bool read_access(const Cg *cg, LLVMValueRef i, Near *a) {
  LLVMValueRef gep = pointer_of(i);
  if (!gep || !cg_is_op(gep, LLVMGetElementPtr) || LLVMGetNumIndices(gep) != 1)
    return false;
  LLVMValueRef v = LLVMGetOperand(gep, 1);
  if (!cg_is_extension(v) || LLVMTypeOf(LLVMGetOperand(v, 0)) != cg->t.i32)
    return false;
  *a = (Near){.access = i, .gep = gep};
  return wrapped(cg, LLVMGetOperand(v, 0), &a->root, &a->distance) && LLVMIsAInstruction(a->root);
}

static bool is_copied(const Places *p, LLVMBasicBlockRef b) {
  return valuemap_get(&p->copies, LLVMBasicBlockAsValue(b)) != VALUEMAP_NONE;
}

static void find_accesses(Places *p) {
  p->n = 0;
  for (uint32_t k = 0; k < p->g.len; k++)
    for (LLVMValueRef i = p->g.nodes[k].first; i && !is_copied(p, p->g.nodes[k].block);
         i = LLVMGetNextInstruction(i))
      if (p->n < MOST_ACCESSES && read_access(p->cg, i, &p->all[p->n]))
        p->n++;
}

static unsigned count_of(const Places *p, LLVMValueRef root) {
  unsigned n = 0;
  for (unsigned k = 0; k < p->n; k++)
    n += p->all[k].root == root;
  return n;
}

/* --- which code --- */

static uint32_t node_of(const Places *p, LLVMValueRef i) {
  return graph_number(&p->g, LLVMGetInstructionParent(i));
}

/* The node that dominates all accesses at the root. */
static uint32_t head_of(const Places *p, LLVMValueRef root) {
  uint32_t head = GRAPH_NONE;
  for (unsigned k = 0; k < p->n; k++)
    if (p->all[k].root == root) {
      uint32_t at = node_of(p, p->all[k].access);
      head = head == GRAPH_NONE ? at : graph_common(&p->g, head, at);
    }
  return head;
}

/* May the code that the node dominates be written twice, and is it short? */
static bool is_short(const Places *p, uint32_t head) {
  unsigned code = 0;
  for (uint32_t k = head; k < p->g.len; k++) {
    if (!graph_dominates(&p->g, head, k))
      continue;
    for (LLVMValueRef i = p->g.nodes[k].first; i; i = LLVMGetNextInstruction(i))
      if (++code > MOST_CODE || !(cg_nvptx_may_be_twice(p->cg, i) || LLVMIsAReturnInst(i)))
        return false;
  }
  return true;
}

/* The root of most accesses; false: of none are there enough, or their code is too long. */
static bool choose(Places *p) {
  unsigned most = LEAST_ACCESSES - 1;
  p->root = NULL;
  for (unsigned k = 0; k < p->n; k++) {
    LLVMValueRef root = p->all[k].root;
    unsigned n = count_of(p, root);
    if (n <= most || node_of(p, root) == GRAPH_NONE)
      continue;
    uint32_t head = head_of(p, root), loop = p->g.nodes[head].loop;
    if (loop != p->g.nodes[node_of(p, root)].loop || !is_short(p, head) ||
        (loop != GRAPH_NONE && n < LEAST_IN_LOOPS))
      continue;
    most = n;
    p->root = root;
  }
  return p->root != NULL;
}

/* --- writing --- */

static LLVMValueRef low(const Places *p) {
  LLVMBuilderRef b = p->cg->builder;
  return LLVMTypeOf(p->root) == p->cg->t.i32 ? p->root : l_trunc(b, p->root, p->cg->t.i32);
}

/* The address of an access without its wrap: an offset from that of the root's element. */
static void drop_wrap(const Places *p, const Near *a) {
  LLVMBuilderRef b = p->cg->builder;
  LLVMTypeRef unit = LLVMGetGEPSourceElementType(a->gep);
  LLVMPositionBuilderBefore(b, a->access);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(a->access));
  LLVMValueRef at = l_sext(b, low(p), p->cg->t.i64),
               behind = l_int(p->cg->t.i64, (uint64_t)a->distance);
  LLVMValueRef address = l_gep(b, unit, LLVMGetOperand(a->gep, 0), &at, 1);
  if (a->distance)
    address = l_gep(b, unit, address, &behind, 1);
  LLVMSetOperand(a->access, cg_is_op(a->access, LLVMStore), address);
}

/* The first access at the root in that block, or its end. */
static LLVMValueRef first_in(const Places *p, LLVMBasicBlockRef block) {
  for (unsigned k = 0; k < p->n; k++)
    if (p->all[k].root == p->root && LLVMGetInstructionParent(p->all[k].access) == block)
      return p->all[k].access;
  return LLVMGetBasicBlockTerminator(block);
}

/* Of blocks that a block dominates: it, and what is behind. */
static uint32_t collect(const Places *p, LLVMBasicBlockRef head, LLVMBasicBlockRef *blocks) {
  uint32_t n = 0, from = graph_number(&p->g, head);
  for (uint32_t k = from; k < p->g.len; k++)
    if (graph_dominates(&p->g, from, k))
      blocks[n++] = p->g.nodes[k].block;
  return n;
}

static void write_versions(Places *p) {
  Cg *cg = p->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMBasicBlockRef head = p->g.nodes[head_of(p, p->root)].block,
                    *blocks = CX_ARRAY(cg->cx, LLVMBasicBlockRef, p->g.len);
  uint32_t n = collect(p, head, blocks);
  LLVMValueRef first = first_in(p, head);
  LLVMBasicBlockRef front = graph_cut_before(cg, first);
  RegionCopy copies = copy_region(cg, blocks, n, head, "");
  copy_join_exits(&copies, blocks, n);
  int64_t least = 0;
  for (unsigned k = 0; k < p->n; k++)
    if (p->all[k].root == p->root && p->all[k].distance < least)
      least = p->all[k].distance;
  l_at_end(b, front, first);
  LLVMValueRef known = l_icmp(b, LLVMIntSGE, low(p), l_int(cg->t.i32, (uint64_t)-least));
  l_condbr(b, known, head, copy_of_block(&copies, head));
  for (unsigned k = 0; k < p->n; k++)
    if (p->all[k].root == p->root)
      drop_wrap(p, &p->all[k]);
  for (uint32_t k = 0; k < n; k++)
    valuemap_set(&p->copies, LLVMBasicBlockAsValue(copy_of_block(&copies, blocks[k])), k);
}

static bool write_once(Places *p, LLVMValueRef f) {
  p->g = graph_of(&p->cg->cx->arena, f, NULL);
  graph_loops(&p->g);
  if (p->g.irreducible)
    return false;
  find_accesses(p);
  if (!choose(p))
    return false;
  write_versions(p);
  return true;
}

void cg_nvptx_place_versions(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    Places *p = CX_NEW(cg->cx, Places);
    p->cg = cg;
    p->copies.arena = &cg->cx->arena;
    unsigned rounds = 0;
    while (rounds < MOST_ROUNDS && write_once(p, f))
      rounds++;
    if (rounds)
      cg_run_function_passes(cg, f, "early-cse,instsimplify,adce");
  }
}
