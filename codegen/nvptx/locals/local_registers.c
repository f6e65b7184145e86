/* NVPTX local registers: small local arrays become registers although a few indices vary.
 *
 * sroa promotes an array only if all its indices are constants. What remains after unrolling are
 * indices that are one of a few constants: the row of a pivot, the place where a value was
 * inserted. Such an access is written as accesses of all these places:
 *
 *   m[pivot]       m[2] if c2 else (m[1] if c1 else m[0])     pivot = 2 if c2 else (1 if c1 else 0)
 *   m[j] = v       m[0] = v if j is 0 else m[0]; m[1] = …
 *
 * "j is 0" is no comparison where j is a selection or a phi of constants: it is the same selection
 * or phi of true and false, which LLVM folds into the phis of m's elements. So code that inserts
 * a value by a ladder of branches needs no comparison of indices at all.
 *
 * In: a module after local_unroll.c. An array is rewritten only if all its accesses can be, their
 * places are not too many, and no loop would carry all of it for the sake of one element. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/llvm/optimize.h"
#include "codegen/nvptx/locals/local_arrays.h"
#include "codegen/nvptx/nvptx.h"

enum {
  MOST_PLACES = 64,    /* of one access */
  MOST_CHOICES = 2500, /* of all accesses of an array: the insertion into 25 has 300 */
  MAX_DEPTH = 12,      /* of an index's expression */
  MOST_CARRIED = 2,    /* places of an access in a loop that carries the array for it */
};

typedef struct Answer { /* is the value this constant? */
  int64_t c;
  LLVMValueRef is;
} Answer;

typedef struct Values { /* that an index may have */
  bool all;
  unsigned n;
  int64_t v[MOST_PLACES];
} Values;

typedef struct Asked { /* about one value */
  VEC(Answer) answers;
} Asked;

typedef struct Elements { /* of one array */
  Cg *cg;
  const FnGraph *g;
  const LocalArray *array;
  LLVMTypeRef type;
  int64_t size;
  ValueMap asked; /* value -> its number in `about` */
  VEC(Asked) about;
} Elements;

/* --- the values of an index --- */

static bool is_constant(LLVMValueRef v) { return LLVMIsAConstantInt(v) != NULL; }

/* Is it a number, or an address at a constant distance? */
static bool is_known(const Elements *e, LLVMValueRef v, int64_t *value) {
  if (is_constant(v)) {
    *value = cg_int_value(v);
    return true;
  }
  return cg_local_distance(e->cg, e->array->alloca, v, value);
}

static bool is_address(LLVMValueRef v) {
  return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

static bool is_header_phi(const FnGraph *g, LLVMValueRef phi) {
  uint32_t node = graph_number(g, LLVMGetInstructionParent(phi));
  return node == GRAPH_NONE ||
         (g->nodes[node].loop != GRAPH_NONE && g->loops.data[g->nodes[node].loop].header == node);
}

static void add_value(Values *s, int64_t c) {
  for (unsigned k = 0; k < s->n; k++)
    if (s->v[k] == c)
      return;
  if (s->n == MOST_PLACES)
    s->all = true;
  else
    s->v[s->n++] = c;
}

static void collect(const Elements *e, LLVMValueRef v, Values *s, int depth);

/* The operand of an operation or conversion that has only one which is no constant; -1: of none
 * such. */
static int only_operand(LLVMValueRef v) {
  bool is_binary = LLVMIsABinaryOperator(v) != NULL;
  if (!cg_int_width(v) || !(is_binary || LLVMIsACastInst(v)))
    return -1;
  if (!is_binary || is_constant(LLVMGetOperand(v, 1)))
    return cg_int_width(LLVMGetOperand(v, 0)) ? 0 : -1;
  return is_constant(LLVMGetOperand(v, 0)) ? 1 : -1;
}

/* What the operation gives if that operand is x. */
static bool fold(LLVMValueRef v, int at, int64_t x, int64_t *result) {
  bool is_binary = LLVMIsABinaryOperator(v) != NULL;
  int64_t other = is_binary ? cg_int_value(LLVMGetOperand(v, (unsigned)!at)) : 0;
  return cg_fold(v, at ? other : x, at ? x : other, result);
}

static void collect_operation(const Elements *e, LLVMValueRef v, Values *s, int depth) {
  int at = only_operand(v);
  int64_t result;
  Values of = {.all = at < 0};
  if (at >= 0)
    collect(e, LLVMGetOperand(v, (unsigned)at), &of, depth);
  s->all |= of.all;
  for (unsigned k = 0; k < of.n && !s->all; k++)
    if (fold(v, at, of.v[k], &result))
      add_value(s, result);
    else
      s->all = true;
}

static void collect(const Elements *e, LLVMValueRef v, Values *s, int depth) {
  int64_t value;
  if (is_known(e, v, &value)) {
    add_value(s, value);
    return;
  }
  if (cg_int_width(v) == 1) {
    add_value(s, 0);
    add_value(s, 1);
    return;
  }
  if (!LLVMIsAInstruction(v) || depth == MAX_DEPTH || s->all) {
    s->all = true;
    return;
  }
  depth++;
  if (LLVMIsAPHINode(v) && !is_header_phi(e->g, v)) {
    for (unsigned k = 0; k < LLVMCountIncoming(v); k++)
      collect(e, LLVMGetIncomingValue(v, k), s, depth);
  } else if (LLVMIsASelectInst(v)) {
    collect(e, LLVMGetOperand(v, 1), s, depth);
    collect(e, LLVMGetOperand(v, 2), s, depth);
  } else
    collect_operation(e, v, s, depth);
}

/* --- is it this one? --- */

static void place_after(Elements *e, LLVMValueRef v) {
  LLVMValueRef at = LLVMIsAInstruction(v) ? LLVMGetNextInstruction(v)
                                          : LLVMGetNextInstruction(e->array->alloca);
  while (LLVMIsAPHINode(at) || LLVMIsAAllocaInst(at))
    at = LLVMGetNextInstruction(at);
  LLVMPositionBuilderBefore(e->cg->builder, at);
}

static LLVMValueRef truth(const Elements *e, bool b) { return l_int(e->cg->t.i1, b); }

static LLVMValueRef is_it(Elements *e, LLVMValueRef v, int64_t c, int depth);

static LLVMValueRef phi_is(Elements *e, LLVMValueRef v, int64_t c, int depth) {
  LLVMBuilderRef b = e->cg->builder;
  LLVMPositionBuilderBefore(b, v);
  LLVMValueRef is = l_phi(b, e->cg->t.i1);
  for (unsigned k = 0; k < LLVMCountIncoming(v); k++) {
    LLVMBasicBlockRef from = LLVMGetIncomingBlock(v, k);
    LLVMValueRef one = is_it(e, LLVMGetIncomingValue(v, k), c, depth);
    LLVMAddIncoming(is, &one, &from, 1);
  }
  return is;
}

static LLVMValueRef select_is(Elements *e, LLVMValueRef v, int64_t c, int depth) {
  LLVMValueRef yes = is_it(e, LLVMGetOperand(v, 1), c, depth),
               no = is_it(e, LLVMGetOperand(v, 2), c, depth);
  place_after(e, v);
  return yes == no ? yes : l_select(e->cg->builder, LLVMGetOperand(v, 0), yes, no);
}

/* Is the operand one of those with which the result is c? */
static LLVMValueRef operation_is(Elements *e, LLVMValueRef v, const Values *of, int64_t c,
                                 int depth) {
  int at = only_operand(v);
  int64_t result;
  LLVMValueRef any = truth(e, false);
  for (unsigned k = 0; k < of->n; k++) {
    if (!fold(v, at, of->v[k], &result) || result != c)
      continue;
    LLVMValueRef one = is_it(e, LLVMGetOperand(v, (unsigned)at), of->v[k], depth);
    place_after(e, v);
    any = LLVMIsAConstantInt(any) ? one : l_or(e->cg->builder, any, one);
  }
  return any;
}

static LLVMValueRef find_out(Elements *e, LLVMValueRef v, int64_t c, int depth) {
  LLVMBuilderRef b = e->cg->builder;
  if (depth < MAX_DEPTH && LLVMIsAInstruction(v)) {
    Values of = {0};
    if (LLVMIsAPHINode(v) && !is_header_phi(e->g, v))
      return phi_is(e, v, c, depth + 1);
    if (LLVMIsASelectInst(v))
      return select_is(e, v, c, depth + 1);
    if (only_operand(v) >= 0)
      collect(e, LLVMGetOperand(v, (unsigned)only_operand(v)), &of, depth + 1);
    if (of.n && !of.all)
      return operation_is(e, v, &of, c, depth + 1);
  }
  place_after(e, v);
  if (cg_int_width(v) == 1)
    return c == 1 ? v : c == 0 ? l_not(b, v) : truth(e, false);
  return l_icmp(b, LLVMIntEQ, v, LLVMConstInt(LLVMTypeOf(v), (uint64_t)c, 1));
}

/* An i1: is v equal to c? Written once, behind v. */
static LLVMValueRef is_it(Elements *e, LLVMValueRef v, int64_t c, int depth) {
  Arena *arena = &e->cg->cx->arena;
  int64_t value;
  if (is_known(e, v, &value))
    return truth(e, value == c);
  uint32_t at = valuemap_get(&e->asked, v);
  if (at == VALUEMAP_NONE) {
    at = e->about.len;
    valuemap_set(&e->asked, v, at);
    VEC_PUSH(arena, &e->about, (Asked){0});
  }
  for (uint32_t k = 0; k < e->about.data[at].answers.len; k++)
    if (e->about.data[at].answers.data[k].c == c)
      return e->about.data[at].answers.data[k].is;
  LLVMValueRef is = find_out(e, v, c, depth);
  VEC_PUSH(arena, &e->about.data[at].answers, ((Answer){c, is}));
  return is;
}

/* --- accesses --- */

/* The index with which the access is of element k; false: with none. */
static bool index_of(const Elements *e, const LocalAccess *a, int64_t k, int64_t *index) {
  int64_t bytes = k * e->size - a->offset;
  *index = bytes / a->scale;
  return bytes % a->scale == 0;
}

static int64_t count_of(const Elements *e) { return (int64_t)e->array->bytes / e->size; }

/* The element that an access with this index is of; -1: of none, or of parts of two. */
static int64_t place_of(const Elements *e, const LocalAccess *a, int64_t index) {
  int64_t bytes = a->offset + a->scale * index, k = bytes / e->size;
  return bytes % e->size == 0 && k >= 0 && k < count_of(e) ? k : -1;
}

static void add_place(int64_t *places, unsigned *n, int64_t place) {
  for (unsigned k = 0; k < *n; k++)
    if (places[k] == place)
      return;
  places[(*n)++] = place;
}

/* The elements that an access may be of, as `places`; 0: they are not known, or too many. */
static unsigned places_of(const Elements *e, const LocalAccess *a, int64_t *places) {
  Values s = {0};
  unsigned n = 0;
  collect(e, a->index, &s, 0);
  if (s.all && (is_address(a->index) || count_of(e) > LOCAL_MOST_OPAQUE ||
                LLVMGetAlignment(a->ins) < e->size))
    return 0;
  for (unsigned j = 0; j < s.n && !s.all; j++) {
    int64_t k = place_of(e, a, s.v[j]);
    if (k < 0)
      return 0; /* such a path is taken by no thread, or the access is of parts of two elements */
    add_place(places, &n, k);
  }
  for (int64_t k = 0, index; k < count_of(e) && s.all; k++)
    if (index_of(e, a, k, &index))
      add_place(places, &n, k);
  return n;
}

static LLVMValueRef address_of(const Elements *e, int64_t k) {
  LLVMValueRef at = l_int(e->cg->t.i64, (uint64_t)(k * e->size));
  return l_gep_inbounds(e->cg->builder, e->cg->t.i8, e->array->alloca, &at, 1);
}

static LLVMValueRef element(const Elements *e, int64_t k) {
  LLVMValueRef x = l_load(e->cg->builder, e->type, address_of(e, k));
  LLVMSetAlignment(x, LLVMABIAlignmentOfType(e->cg->layout, e->type));
  return x;
}

static void write_access(Elements *e, const LocalAccess *a) {
  LLVMBuilderRef b = e->cg->builder;
  int64_t places[MOST_PLACES], index;
  unsigned n = places_of(e, a, places);
  LLVMValueRef which[MOST_PLACES], read = NULL;
  bool store = LLVMIsAStoreInst(a->ins) != NULL;
  for (unsigned k = 0; k < n; k++) {
    index_of(e, a, places[k], &index);
    which[k] = k || store ? is_it(e, a->index, index, 0) : NULL;
  }
  LLVMPositionBuilderBefore(b, a->ins);
  LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(a->ins));
  for (unsigned k = 0; k < n; k++) {
    LLVMValueRef old = element(e, places[k]);
    if (!store) {
      read = k ? l_select(b, which[k], old, read) : old;
      continue;
    }
    LLVMValueRef now = n == 1 ? LLVMGetOperand(a->ins, 0)
                              : l_select(b, which[k], LLVMGetOperand(a->ins, 0), old);
    LLVMSetAlignment(l_store(b, now, address_of(e, places[k])),
                     LLVMABIAlignmentOfType(e->cg->layout, e->type));
  }
  if (!store)
    LLVMReplaceAllUsesWith(a->ins, read);
  LLVMInstructionEraseFromParent(a->ins);
}

/* --- the array --- */

/* Elements of one type, and whole ones. */
static bool read_elements(Elements *e) {
  const LocalArray *a = e->array;
  e->type = cg_local_type(&a->accesses.data[0]);
  e->size = (int64_t)LLVMABISizeOfType(e->cg->layout, e->type);
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    const LocalAccess *x = &a->accesses.data[k];
    if (cg_local_type(x) != e->type || (!x->index && x->offset % e->size))
      return false;
  }
  return (int64_t)a->bytes % e->size == 0 && count_of(e) <= MOST_PLACES;
}

static uint32_t loop_of(const Elements *e, const LocalAccess *a) {
  uint32_t node = graph_number(e->g, LLVMGetInstructionParent(a->ins));
  return node == GRAPH_NONE ? GRAPH_NONE : e->g->nodes[node].loop;
}

/* Does a loop use the array only at places that vary, such an access among them? Then it would
 * carry all elements round for the sake of one, as a thread's histogram would. */
static bool is_for_one(const Elements *e, const LocalAccess *a, unsigned places) {
  uint32_t loop = loop_of(e, a);
  bool constant = false;
  for (uint32_t k = 0; k < e->array->accesses.len; k++)
    constant |= !e->array->accesses.data[k].index &&
                loop_of(e, &e->array->accesses.data[k]) == loop;
  return loop != GRAPH_NONE && places > MOST_CARRIED && !constant;
}

static bool visit_array(Cg *cg, const FnGraph *g, const LocalArray *a) {
  Elements *e = CX_NEW(cg->cx, Elements);
  unsigned choices = 0, variable = 0;
  int64_t places[MOST_PLACES];
  *e = (Elements){.cg = cg, .g = g, .array = a, .asked = {.arena = &cg->cx->arena}};
  if (!a->accesses.len || !read_elements(e))
    return false;
  for (uint32_t k = 0; k < a->accesses.len; k++) {
    const LocalAccess *x = &a->accesses.data[k];
    unsigned n = x->index ? places_of(e, x, places) : 1;
    variable += x->index != NULL;
    choices += x->index ? n : 0;
    if (!n || (x->index && is_for_one(e, x, n)))
      return false;
  }
  if (!variable || choices > MOST_CHOICES)
    return false;
  for (uint32_t k = 0; k < a->accesses.len; k++)
    if (a->accesses.data[k].index)
      write_access(e, &a->accesses.data[k]);
  return true;
}

void cg_nvptx_local_registers(Cg *cg) {
  bool any = false;
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    LocalArrays arrays = cg_local_arrays(cg, f);
    if (!arrays.len)
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    for (uint32_t k = 0; k < arrays.len && !g.irreducible; k++)
      any |= visit_array(cg, &g, &arrays.data[k]);
  }
  if (any)
    cg_run_passes(cg, cg_cleaning(cg));
}
