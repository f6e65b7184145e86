/* NVPTX near indices: of elements side by side at several places that were read, one test whether
 * a place is negative in place of a wrap of each index.
 *
 *   a = p[x] + z                          # noise on a lattice
 *   b = p[x + 1] + z
 *   c = p[y] + z
 *   … p[a], p[a + 1], p[b], p[b + 1], p[c], p[c + 1]
 *
 * Each index may be negative, and -1 and 0 are not side by side. So each is wrapped by itself, and
 * has an address of its own: four operations where C++ has an offset of an access. The loads are
 * written twice, with a test in front:
 *
 *   if a >= 0 and b >= 0 and c >= 0:
 *     p[a], p[a + 1], …                   # three addresses, with an offset each
 *   else:
 *     …                                    # as they were
 *
 * In: functions whose indices are wrapped by a minimum (low_halves.c). Loads take part whose index
 * is a number plus a constant, wrapped by an extent, if at least two such numbers have two loads
 * each, and nothing between the loads writes. */

#include "codegen/llvm/compat.h"
#include "codegen/llvm/copy.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MAX_LOADS = 64,
  MAX_SIZE = 800, /* instructions of a block */
  MAX_VISITS = 2000,
  MIN_PLACES = 2,   /* with two loads each */
  PREDICATED = 2,   /* of so few ptxas would make predicates, not a branch */
  MAX_DISTANCE = 64 /* of constants */
};

typedef struct Near {
  LLVMValueRef load, gep, index, extent, place;
  int64_t distance; /* index = place + distance */
  unsigned at;      /* the load's number in its block */
  bool taken;
} Near;

typedef struct Loads {
  Cg *cg;
  LLVMBasicBlockRef block;
  Near all[MAX_LOADS];
  unsigned n, places;
  unsigned visits;    /* how many instructions more are looked at for the test */
  LLVMValueRef front; /* what is computed for the test is moved in front of this one */
} Loads;

static bool computes(LLVMValueRef i) { return cg_only_computes(i) || cg_is_speculatable(i); }

/* The number of which v is the sum with a constant. */
static LLVMValueRef place_of(LLVMValueRef v, int64_t *distance) {
  *distance = 0;
  while (cg_is_op(v, LLVMAdd) && LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
    *distance += LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
    v = LLVMGetOperand(v, 0);
  }
  return v;
}

/* The index x of umin(x, x + extent); NULL: v is no such. */
static LLVMValueRef wrapped(LLVMValueRef v, LLVMValueRef *extent) {
  if (!LLVMIsACallInst(v) || !cg_is_call_of(v, "llvm.umin.i32"))
    return NULL;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef x = LLVMGetOperand(v, k), sum = LLVMGetOperand(v, !k);
    for (unsigned m = 0; m < 2 && cg_is_op(sum, LLVMAdd); m++) {
      *extent = LLVMGetOperand(sum, m);
      if (cg_nvptx_is_extent(*extent) && LLVMGetOperand(sum, !m) == x)
        return x;
    }
  }
  return NULL;
}

static bool read_load(const Cg *cg, LLVMValueRef i, Near *l) {
  LLVMValueRef gep = LLVMGetOperand(i, 0), v;
  if (!cg_is_plain_access(i) || !cg_is_op(gep, LLVMGetElementPtr) || LLVMGetNumIndices(gep) != 1)
    return false;
  v = LLVMGetOperand(gep, 1);
  v = cg_is_extension(v) && LLVMTypeOf(v) == cg->t.i64 ? LLVMGetOperand(v, 0) : NULL;
  *l = (Near){.load = i, .gep = gep};
  l->index = v ? wrapped(v, &l->extent) : NULL;
  if (!l->index)
    return false;
  l->place = place_of(l->index, &l->distance);
  return LLVMIsAInstruction(l->place) && l->distance > -MAX_DISTANCE && l->distance < MAX_DISTANCE;
}

static bool is_same_place(const Near *a, const Near *b) {
  return a->place == b->place && a->extent == b->extent;
}

/* Has it a neighbour, an element of the same array at another distance? */
static bool has_neighbour(const Loads *l, const Near *of) {
  for (unsigned k = 0; k < l->n; k++)
    if (is_same_place(of, &l->all[k]) && l->all[k].distance != of->distance &&
        LLVMGetOperand(l->all[k].gep, 0) == LLVMGetOperand(of->gep, 0))
      return true;
  return false;
}

/* --- which loads --- */

static unsigned number_of(LLVMValueRef const *code, unsigned n, LLVMValueRef v) {
  for (unsigned k = 0; k < n; k++)
    if (code[k] == v)
      return k;
  return n;
}

/* Is v known in front of code[from], or can be computed there without one of the loads taken? */
static bool can_go_front(Loads *l, LLVMValueRef const *code, unsigned n, unsigned from,
                         LLVMValueRef v, unsigned depth) {
  if (!LLVMIsAInstruction(v) || LLVMGetInstructionParent(v) != l->block ||
      number_of(code, n, v) < from)
    return true;
  if (!depth || !l->visits || number_of(code, n, v) == n || LLVMIsAPHINode(v))
    return false;
  l->visits--;
  for (unsigned k = 0; k < l->n; k++)
    if (l->all[k].taken && l->all[k].load == v)
      return false;
  if (!computes(v) && !(cg_is_op(v, LLVMLoad) && cg_is_plain_access(v)))
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (!can_go_front(l, code, n, from, LLVMGetOperand(v, (unsigned)k), depth - 1))
      return false;
  return true;
}

static void take(Loads *l, const Near *of, bool taken) {
  for (unsigned k = 0; k < l->n; k++)
    if (is_same_place(of, &l->all[k]))
      l->all[k].taken = taken;
}

/* Are all loads of this place behind code[from]? */
static bool begins_there(const Loads *l, const Near *of, unsigned from) {
  for (unsigned k = 0; k < l->n; k++)
    if (is_same_place(of, &l->all[k]) && l->all[k].at < from)
      return false;
  return true;
}

/* Takes the loads that can be made where that one is; gives the number of places. */
static unsigned take_from(Loads *l, LLVMValueRef const *code, unsigned n, unsigned first) {
  enum { DEPTH = 12 };
  unsigned from = l->all[first].at, places = 0;
  for (unsigned k = 0; k < l->n; k++)
    l->all[k].taken = false;
  if (!begins_there(l, &l->all[first], from))
    return 0;
  for (unsigned k = first; k < l->n; k++) {
    Near *next = &l->all[k];
    if (next->taken || !begins_there(l, next, from))
      continue;
    take(l, next, true);
    bool can = can_go_front(l, code, n, from, next->place, DEPTH) &&
               can_go_front(l, code, n, from, LLVMGetOperand(next->gep, 0), DEPTH);
    if (!can)
      take(l, next, false);
    places += can;
  }
  l->front = l->all[first].load;
  return l->all[first].taken ? places : 0;
}

/* Chooses loads of a stretch of code without writes; false if there are too few. */
static bool choose(Loads *l, LLVMValueRef const *code, unsigned n) {
  unsigned kept = 0, best = 0, most = 0;
  for (unsigned k = 0; k < l->n; k++)
    l->all[k].taken = has_neighbour(l, &l->all[k]);
  for (unsigned k = 0; k < l->n; k++)
    if (l->all[k].taken)
      l->all[kept++] = l->all[k];
  l->n = kept;
  l->visits = MAX_VISITS;
  for (unsigned first = 0; first < l->n; first++) {
    unsigned places = take_from(l, code, n, first);
    if (places > most)
      most = places, best = first;
  }
  l->visits = MAX_VISITS;
  l->places = most >= MIN_PLACES ? take_from(l, code, n, best) : 0;
  return l->places >= MIN_PLACES;
}

/* Finds loads of the block. */
static bool find(Loads *l) {
  LLVMValueRef code[MAX_SIZE];
  unsigned n = 0;
  l->n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(l->block); i; i = LLVMGetNextInstruction(i)) {
    bool load = cg_is_op(i, LLVMLoad) && cg_is_plain_access(i);
    if (n == MAX_SIZE)
      return false;
    code[n++] = i;
    if (load && l->n < MAX_LOADS && read_load(l->cg, i, &l->all[l->n]))
      l->all[l->n++].at = n - 1;
    if (load || computes(i))
      continue;
    if (l->n && choose(l, code, n - 1)) /* it may write */
      return true;
    l->n = 0;
  }
  return false;
}

/* --- writing --- */

/* The least distance from a place. */
static int64_t least(const Loads *l, const Near *of) {
  int64_t n = of->distance;
  for (unsigned k = 0; k < l->n; k++)
    if (is_same_place(of, &l->all[k]) && l->all[k].distance < n)
      n = l->all[k].distance;
  return n;
}

static LLVMValueRef first_of(const Loads *l, const Near *of) {
  int64_t n = least(l, of);
  return n ? l_add(l->cg->builder, of->place, l_int(l->cg->t.i32, (uint64_t)n & UINT32_MAX))
           : of->place;
}

/* Is a place negative? */
static LLVMValueRef test(const Loads *l) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMValueRef all = NULL;
  for (unsigned k = 0; k < l->n; k++) {
    bool seen = !l->all[k].taken;
    for (unsigned m = 0; m < k; m++)
      seen |= is_same_place(&l->all[m], &l->all[k]);
    if (!seen) {
      LLVMValueRef one = first_of(l, &l->all[k]);
      all = all ? l_or(b, all, one) : one;
    }
  }
  return l_icmp(b, LLVMIntSLT, all, l_int(l->cg->t.i32, 0));
}

static LLVMValueRef copy_of_load(const Loads *l, const Near *of, LLVMValueRef from,
                                 LLVMValueRef index) {
  LLVMValueRef gep = l_gep(l->cg->builder, LLVMGetGEPSourceElementType(of->gep), from, &index, 1);
  return copy_ins(l->cg->builder, of->load, &gep);
}

static LLVMValueRef near(const Loads *l, const Near *of) {
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef first = l_sext(l->cg->builder, first_of(l, of), i64);
  LLVMValueRef row = l_gep(l->cg->builder, LLVMGetGEPSourceElementType(of->gep),
                           LLVMGetOperand(of->gep, 0), &first, 1);
  return copy_of_load(l, of, row, l_int(i64, (uint64_t)(of->distance - least(l, of))));
}

static LLVMValueRef far(const Loads *l, const Near *of) {
  LLVMBuilderRef b = l->cg->builder;
  LLVMTypeRef i32 = l->cg->t.i32;
  LLVMValueRef x = l_add(b, of->place, l_int(i32, (uint64_t)of->distance & UINT32_MAX));
  LLVMValueRef both[] = {x, l_add(b, x, of->extent)};
  x = l_call(b, cg_intrinsic_fn(l->cg, "llvm.umin", &i32, 1), both, 2);
  return copy_of_load(l, of, LLVMGetOperand(of->gep, 0), l_sext(b, x, l->cg->t.i64));
}

/* What ptxas puts under no predicate: it sleeps for no time. */
static void keep_branch(Cg *cg) {
  LLVMValueRef none = l_int(cg->t.i32, 0);
  l_call(cg->builder, cg_intrinsic_fn(cg, "llvm.nvvm.nanosleep", NULL, 0), &none, 1);
}

static void write_twice(const Loads *l) {
  Cg *cg = l->cg;
  LLVMBuilderRef b = cg->builder;
  for (unsigned k = 0; k < l->n; k++)
    if (l->all[k].taken) {
      copy_move_front(b, l->front, l->all[k].place);
      copy_move_front(b, l->front, LLVMGetOperand(l->all[k].gep, 0));
    }
  LLVMBasicBlockRef head = graph_cut_before(cg, l->front), side[2];
  LLVMValueRef values[2][MAX_LOADS];
  l_at_end(b, head, l->front);
  LLVMValueRef negative = test(l);
  for (unsigned s = 0; s < 2; s++)
    side[s] = LLVMInsertBasicBlockInContext(cg->context, l->block, s ? "negative" : "near");
  LLVMBuildCondBr(b, negative, side[1], side[0]);
  for (unsigned s = 0; s < 2; s++) {
    l_at_end(b, side[s], l->front);
    if (s && l->places <= PREDICATED)
      keep_branch(cg);
    for (unsigned k = 0; k < l->n; k++)
      if (l->all[k].taken)
        values[s][k] = (s ? far : near)(l, &l->all[k]);
    LLVMBuildBr(b, l->block);
  }
  for (unsigned k = 0; k < l->n; k++)
    if (l->all[k].taken) {
      LLVMValueRef load = l->all[k].load, both[] = {values[0][k], values[1][k]};
      LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(l->block));
      LLVMValueRef phi = l_phi(b, LLVMTypeOf(load));
      LLVMAddIncoming(phi, both, side, 2);
      LLVMReplaceAllUsesWith(load, phi);
    }
  for (unsigned k = 0; k < l->n; k++)
    if (l->all[k].taken)
      LLVMInstructionEraseFromParent(l->all[k].load);
}

void cg_nvptx_near_indices(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    bool any = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (Loads l = {.cg = cg, .block = b}; find(&l); any = true)
        write_twice(&l);
    if (any)
      cg_run_function_passes(cg, f, "instsimplify,adce");
  }
}
