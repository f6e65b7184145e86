/* Fission: arrays of a thread that each segment may have for itself. See fission.h.
 *
 * In the frame an array of a thread lies as a whole, so that lanes gather and scatter its elements,
 * and LLVM cannot keep them in registers. An alloca of the segment is neither. It serves where no
 * path leads from an access through a barrier to an access: then whatever the array holds at the
 * beginning of a segment is never read before that segment, or one behind it without a barrier in
 * between, has written it, but for elements that nobody has written, which may be anything.
 *
 * All accesses have to be known: the address is used by getelementptr, loads and stores alone. And
 * no address may be kept in the frame over a barrier, where it would be that of another segment's
 * array: those that cross one have to be recomputed. */
#include <string.h>

#include "codegen/fission/private.h"
#include "codegen/llvm/match.h"

/* Of one thread, in all such arrays: those of a vector of threads are on the stack of the thread of
 * the process that runs them. */
enum { MOST_BYTES = 4096 };

typedef struct Access {
  uint32_t array, node; /* of values, of nodes */
} Access;

typedef struct Accesses {
  Fissioner *x;
  uint32_t *array_of; /* by value: the alloca that it is an address in, or NO_SLOT */
  bool *known;        /* by value, of allocas: all accesses */
  VEC(Access) all;
  uint8_t *reached; /* by node */
  VEC(uint32_t) work;
} Accesses;

/* The alloca of which v is an address; NO_SLOT: it is no such address. */
static uint32_t array_of(const Accesses *a, LLVMValueRef v) {
  uint32_t n = valuemap_get(&a->x->value_of, v);
  return n == VALUEMAP_NONE ? NO_SLOT : a->array_of[n];
}

/* Is it a load from operand k, a store to it, or an address from it? */
static bool is_known_use(LLVMValueRef i, unsigned k) {
  if (LLVMIsAGetElementPtrInst(i) || LLVMIsALoadInst(i))
    return k == 0;
  return LLVMIsAStoreInst(i) && k == 1;
}

static void note_uses(Accesses *a, LLVMValueRef i, uint32_t node) {
  if (fs_is_lifetime(i))
    return;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
    uint32_t array = array_of(a, LLVMGetOperand(i, k));
    if (array == NO_SLOT)
      continue;
    a->known[array] &= is_known_use(i, k);
    if (LLVMIsAGetElementPtrInst(i))
      a->array_of[valuemap_get(&a->x->value_of, i)] = array;
    else
      VEC_PUSH(a->x->arena, &a->all, ((Access){array, node}));
  }
}

/* Definitions come before uses in the order of the nodes, but for phis. These are unknown uses, so
 * it is enough to look at them again. */
static void find_accesses(Accesses *a) {
  Fissioner *x = a->x;
  for (uint32_t k = 0; k < x->values.len; k++) {
    bool array = LLVMIsAAllocaInst(x->values.data[k].old) != NULL;
    a->array_of[k] = array ? k : NO_SLOT;
    a->known[k] = array;
  }
  for (uint32_t k = 0; k < x->g.len; k++) {
    const GraphNode *n = &x->g.nodes[k];
    for (LLVMValueRef i = n->first; i; i = i == n->last ? NULL : LLVMGetNextInstruction(i))
      note_uses(a, i, k);
  }
  for (uint32_t k = 0; k < x->values.len; k++)
    if (LLVMIsAPHINode(x->values.data[k].old))
      note_uses(a, x->values.data[k].old, x->values.data[k].node);
  for (uint32_t k = 0; k < x->values.len; k++) {
    const Value *v = &x->values.data[k];
    if (a->array_of[k] != NO_SLOT && v->cost == TOO_DEAR && fs_crosses(x, v))
      a->known[a->array_of[k]] = false;
  }
}

enum { AHEAD = 1, BEHIND = 2 }; /* bits: reached from an access, without a barrier or behind one */

static void go_to(Accesses *a, uint32_t node, uint8_t how) {
  if ((a->reached[node] | how) == a->reached[node])
    return;
  a->reached[node] |= how;
  VEC_PUSH(a->x->arena, &a->work, node);
}

/* Does a path lead from an access through a barrier to an access? */
static bool is_kept(Accesses *a, uint32_t array) {
  Fissioner *x = a->x;
  memset(a->reached, 0, x->g.len);
  for (uint32_t k = 0; k < a->all.len; k++)
    if (a->all.data[k].array == array)
      go_to(a, a->all.data[k].node, AHEAD);
  while (a->work.len) {
    uint32_t k = VEC_POP(&a->work);
    const GraphNode *n = &x->g.nodes[k];
    for (uint32_t s = 0; s < n->nsucc; s++)
      go_to(a, n->succ[s], fs_barrier(x, k) ? BEHIND : a->reached[k]);
  }
  for (uint32_t k = 0; k < a->all.len; k++)
    if (a->all.data[k].array == array && a->reached[a->all.data[k].node] & BEHIND)
      return true;
  return false;
}

void fs_find_own_arrays(Fissioner *x) {
  Accesses a = {.x = x,
                .array_of = ARENA_ARRAY(x->arena, uint32_t, x->values.len + 1),
                .known = ARENA_ARRAY(x->arena, bool, x->values.len + 1),
                .reached = ARENA_ARRAY(x->arena, uint8_t, x->g.len + 1)};
  uint64_t bytes = 0;
  find_accesses(&a);
  for (uint32_t k = 0; k < x->values.len; k++) {
    Value *v = &x->values.data[k];
    if (!a.known[k] || !cg_is_number(LLVMGetOperand(v->old, 0), 1))
      continue;
    uint64_t size = LLVMABISizeOfType(x->cg->layout, LLVMGetAllocatedType(v->old));
    v->own = bytes + size <= MOST_BYTES && !is_kept(&a, k);
    bytes += v->own ? size : 0;
  }
}
