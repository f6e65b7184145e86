/* NVPTX row pointers: strength reduction of addresses that walk a matrix row by row.
 *
 * protein[p, 0] is base + p * columns, where columns is known at run time only. LLVM multiplies in
 * every iteration (its loop strength reduction is off, since it does more harm than good
 * elsewhere), so an iteration's loads wait for a load of the stride from constant memory, a
 * multiplication and an address. Here the loop gets a pointer as an induction variable, which
 * advances by a loop invariant; rows further on are at an invariant distance. ptxas makes one
 * operation of each.
 *
 * In: the module after LLVM's passes and coarsening. Out: the same, with induction pointers for
 * accesses of loops to global memory at base + ext(counter * stride) [+ constant] elements, where
 * the counter has a constant step, and base and stride are loop invariants. Sums and products that
 * are extended have flags that rule out wrapping, so the extension distributes over them. Only
 * innermost loops that read several rows in an iteration gain. Where every thread starts elsewhere
 * in the row, as in a matrix product, the generator's addresses are as good and take fewer
 * registers; but of a loop that reads one column, and nothing else, the pointer goes from row to
 * row, and an iteration's first load waits for no product. So it does where a short iteration reads
 * a row and seldom comes to the loops inside (the insertion of what is near enough): it is not
 * unrolled, and does little else. */
#include <assert.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/nvptx.h"

/* pointers of a loop, since each takes registers; nested sums in an index; SHORT: instructions of
 * an iteration that does little else */
enum { MAX_POINTERS = 4, MAX_DEPTH = 6, FEWEST_ROWS = 4, MOST_ROWS = 32, SHORT = 48 };

/* A loop and one of its induction variables. */
typedef struct Counting {
  LLVMBasicBlockRef entry, latch;
  LLVMValueRef counter;
  uint64_t step;
  ValueMap blocks;
} Counting;

/* (counter + ahead) * stride + plus, and a column, if one is allowed */
typedef struct Index {
  LLVMValueRef stride, column; /* column: NULL if there is none */
  bool may_have_column;
  uint64_t ahead, plus; /* modulo 2**64, as addresses */
  bool is_signed, wide; /* wide: of 64 bits, so that wrapping does not matter */
} Index;

typedef struct Pointer {
  LLVMValueRef base, stride;
  bool is_signed, wide;
  LLVMTypeRef element;
  bool ahead;                 /* some access is in another row than the counter's */
  LLVMValueRef phi, distance; /* phi: NULL until it is written; distance: bytes between rows */
} Pointer;

typedef struct Access {
  LLVMValueRef gep;
  Index index;
  Pointer *pointer;
} Access;

typedef struct Rows {
  Cg *cg;
  Counting loop;
  Pointer pointers[MAX_POINTERS];
  unsigned n;
  VEC(Access) accesses;
  bool passes; /* most iterations pass by the loops inside */
} Rows;

/* --- sums --- */

static bool is_outside(const Counting *c, LLVMValueRef v) {
  return !LLVMIsAInstruction(v) ||
         valuemap_get(&c->blocks, LLVMGetInstructionParent(v)) == VALUEMAP_NONE;
}

static bool is_exact(const Index *x, LLVMValueRef v) {
  return x->wide || (x->is_signed ? LLVMGetNSW(v) : LLVMGetNUW(v));
}

static bool is_sum(const Index *x, LLVMValueRef v) {
  return cg_is_disjoint_or(v) || (cg_is_op(v, LLVMAdd) && is_exact(x, v));
}

static uint64_t constant(const Index *x, LLVMValueRef v) {
  return x->is_signed || x->wide ? (uint64_t)LLVMConstIntGetSExtValue(v)
                                 : LLVMConstIntGetZExtValue(v);
}

/* counter, or counter + constant */
static bool read_counter(const Counting *c, Index *x, LLVMValueRef v) {
  x->ahead = 0;
  if (v == c->counter)
    return true;
  if (!is_sum(x, v) || LLVMGetOperand(v, 0) != c->counter ||
      !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
    return false;
  x->ahead = constant(x, LLVMGetOperand(v, 1));
  return true;
}

static bool read_product(const Counting *c, Index *x, LLVMValueRef v) {
  if (x->stride || !cg_is_op(v, LLVMMul) || !is_exact(x, v))
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef stride = LLVMGetOperand(v, k);
    if (!LLVMIsAConstant(stride) && is_outside(c, stride) &&
        read_counter(c, x, LLVMGetOperand(v, 1 - k))) {
      x->stride = stride;
      return true;
    }
  }
  return false;
}

static bool read_column(const Counting *c, Index *x, LLVMValueRef v) {
  if (!x->may_have_column || x->column || !is_outside(c, v))
    return false;
  x->column = v;
  return true;
}

static bool read_sum(const Counting *c, Index *x, LLVMValueRef v, int depth) {
  if (LLVMIsAConstantInt(v)) {
    x->plus += constant(x, v);
    return true;
  }
  if (read_column(c, x, v))
    return true;
  if (depth < MAX_DEPTH && is_sum(x, v))
    return read_sum(c, x, LLVMGetOperand(v, 0), depth + 1) &&
           read_sum(c, x, LLVMGetOperand(v, 1), depth + 1);
  return read_product(c, x, v);
}

static bool read_index(const Counting *c, Index *x, LLVMValueRef v, bool column) {
  bool zero = cg_is_op(v, LLVMZExt);
  if (!zero && !cg_is_op(v, LLVMSExt)) {
    *x = (Index){.wide = true, .may_have_column = column};
    return read_sum(c, x, v, 0) && x->stride;
  }
  LLVMValueRef of = LLVMGetOperand(v, 0);
  *x = (Index){.is_signed = !zero, .may_have_column = column};
  if (read_sum(c, x, of, 0) && x->stride)
    return true;
  *x = (Index){.is_signed = true, .may_have_column = column};
  return zero && LLVMGetNNeg(v) && read_sum(c, x, of, 0) && x->stride;
}

/* --- pointers --- */

static LLVMValueRef number(const Rows *r, uint64_t v) { return l_int(r->cg->t.i64, v); }

static LLVMValueRef extended(const Rows *r, const Index *x, LLVMValueRef v) {
  LLVMTypeRef i64 = r->cg->t.i64;
  if (LLVMTypeOf(v) == i64)
    return v;
  return x->is_signed ? l_sext(r->cg->builder, v, i64) : l_zext(r->cg->builder, v, i64);
}

static LLVMValueRef moved(const Rows *r, LLVMValueRef pointer, LLVMValueRef bytes) {
  return l_gep(r->cg->builder, r->cg->t.i8, pointer, &bytes, 1);
}

static void before_end(const Rows *r, LLVMBasicBlockRef block) {
  LLVMPositionBuilderBefore(r->cg->builder, LLVMGetBasicBlockTerminator(block));
}

static uint64_t size_of(const Rows *r, LLVMTypeRef type) {
  return LLVMABISizeOfType(LLVMGetModuleDataLayout(r->cg->module), type);
}

/* Writes the induction pointer to the counter's row, and the distance to the next row. */
static void write_pointer(const Rows *r, Pointer *p, const Index *x) {
  LLVMBuilderRef b = r->cg->builder;
  const Counting *c = &r->loop;
  assert(!p->phi && c->entry != c->latch);
  LLVMValueRef size = number(r, size_of(r, p->element));
  before_end(r, c->entry);
  LLVMValueRef stride = extended(r, x, x->stride);
  p->distance = l_mul(b, stride, size);
  LLVMValueRef first = l_mul(b, extended(r, x, graph_incoming(c->counter, c->entry)), p->distance);
  LLVMValueRef start = moved(r, p->base, first), round = l_mul(b, p->distance, number(r, c->step));
  LLVMPositionBuilderBefore(b, c->counter);
  p->phi = l_phi(b, LLVMTypeOf(p->base));
  before_end(r, c->latch);
  LLVMValueRef next = moved(r, p->phi, round);
  LLVMAddIncoming(p->phi, (LLVMValueRef[]){start, next}, (LLVMBasicBlockRef[]){c->entry, c->latch},
                  2);
}

/* The number of the pointer for this access, from 1; 0 if there would be too many. */
static unsigned pointer_for(Rows *r, LLVMValueRef access, const Index *x) {
  Pointer want = {.base = LLVMGetOperand(access, 0),
                  .stride = x->stride,
                  .is_signed = x->is_signed,
                  .wide = x->wide,
                  .element = LLVMGetGEPSourceElementType(access)};
  for (unsigned k = 0; k < r->n; k++) {
    const Pointer *p = &r->pointers[k];
    if (p->base == want.base && p->stride == want.stride && p->is_signed == want.is_signed &&
        p->wide == want.wide && p->element == want.element)
      return k + 1;
  }
  if (r->n == MAX_POINTERS)
    return 0;
  r->pointers[r->n++] = want;
  return r->n;
}

static bool is_access(const Rows *r, LLVMValueRef i) {
  return cg_is_op(i, LLVMGetElementPtr) && LLVMGetNumIndices(i) == 1 &&
         LLVMTypeOf(LLVMGetOperand(i, 1)) == r->cg->t.i64 &&
         LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind &&
         LLVMGetPointerAddressSpace(LLVMTypeOf(i)) == NVPTX_GLOBAL &&
         is_outside(&r->loop, LLVMGetOperand(i, 0));
}

static void read_access(Rows *r, LLVMValueRef i) {
  Index x;
  if (!is_access(r, i) || !read_index(&r->loop, &x, LLVMGetOperand(i, 1), false))
    return;
  unsigned number = pointer_for(r, i, &x);
  if (!number)
    return;
  Pointer *p = &r->pointers[number - 1];
  p->ahead |= x.ahead != 0;
  VEC_PUSH(&r->cg->cx->arena, &r->accesses, ((Access){i, x, p}));
}

/* A pointer pays if an iteration reads several rows, or does little else. */
static void write_access(Rows *r, const Access *a) {
  Pointer *p = a->pointer;
  if (!p->ahead && !r->passes)
    return;
  if (!p->phi)
    write_pointer(r, p, &a->index);
  LLVMValueRef to = p->phi, index = LLVMGetOperand(a->gep, 1);
  if (a->index.ahead) {
    before_end(r, r->loop.entry);
    LLVMValueRef away = l_mul(r->cg->builder, p->distance, number(r, a->index.ahead));
    LLVMPositionBuilderBefore(r->cg->builder, a->gep);
    to = moved(r, to, away);
  }
  LLVMPositionBuilderBefore(r->cg->builder, a->gep);
  if (a->index.plus)
    to = moved(r, to, number(r, a->index.plus * size_of(r, p->element)));
  LLVMReplaceAllUsesWith(a->gep, to);
  LLVMInstructionEraseFromParent(a->gep);
  copy_erase_unused(index);
}

/* --- one column --- */

/* A loop of one block that reads a column, one element of each row, and nothing else. */
typedef struct Column {
  LLVMValueRef of[MOST_ROWS]; /* the address in each row of an iteration */
  Index index;                /* the first row's */
  LLVMValueRef base;
  LLVMTypeRef element;
} Column;

static bool read_row(const Rows *r, Column *column, LLVMValueRef load) {
  LLVMValueRef gep = LLVMGetOperand(load, 0);
  Index x;
  if (!cg_is_plain_access(load) || !is_access(r, gep) || is_outside(&r->loop, gep) ||
      !read_index(&r->loop, &x, LLVMGetOperand(gep, 1), true) || !x.column || x.plus || x.wide ||
      x.ahead >= r->loop.step || (column->of[x.ahead] && column->of[x.ahead] != gep))
    return false;
  const Index *other = &column->index;
  if (column->base && (column->base != LLVMGetOperand(gep, 0) || other->stride != x.stride ||
                       other->column != x.column || other->is_signed != x.is_signed ||
                       column->element != LLVMGetGEPSourceElementType(gep)))
    return false;
  column->index = x;
  column->base = LLVMGetOperand(gep, 0);
  column->element = LLVMGetGEPSourceElementType(gep);
  column->of[x.ahead] = gep;
  return true;
}

static bool read_rows(const Rows *r, const GraphNode *node, Column *column) {
  for (LLVMValueRef i = node->first; i != node->last; i = LLVMGetNextInstruction(i)) {
    if (cg_is_op(i, LLVMLoad)
            ? !read_row(r, column, i)
            : !cg_only_computes(i) && !cg_is_speculatable(i) && !cg_is_function_of_operands(i))
      return false;
  }
  for (uint64_t k = 0; k < r->loop.step; k++)
    if (!column->of[k])
      return false;
  return true;
}

/* Each row's address is the one's before and a stride, over the end of an iteration, too. In a loop
 * inside another one, which may be short, the first address would be computed each time. */
static bool write_column(const Rows *r, const FnGraph *g, const GraphLoop *loop) {
  LLVMBuilderRef b = r->cg->builder;
  const Counting *c = &r->loop;
  Column column = {0};
  if (loop->nnodes != 1 || loop->parent != GRAPH_NONE || c->step < FEWEST_ROWS ||
      c->step > MOST_ROWS || !read_rows(r, &g->nodes[loop->header], &column) ||
      size_of(r, column.element) == 1)
    return false;
  const Index *x = &column.index;
  before_end(r, c->entry);
  LLVMValueRef stride = extended(r, x, x->stride),
               first = l_mul(b, extended(r, x, graph_incoming(c->counter, c->entry)), stride),
               at = l_add(b, first, extended(r, x, x->column)),
               start = l_gep(b, column.element, column.base, &at, 1);
  LLVMValueRef distance = l_mul(b, stride, number(r, size_of(r, column.element)));
  LLVMPositionBuilderBefore(b, c->counter);
  LLVMValueRef to[MOST_ROWS + 1] = {l_phi(b, LLVMTypeOf(column.base))};
  LLVMPositionBuilderBefore(b, graph_behind_phis(c->latch));
  for (uint64_t k = 0; k < c->step; k++)
    to[k + 1] = moved(r, to[k], distance);
  LLVMAddIncoming(to[0], (LLVMValueRef[]){start, to[c->step]},
                  (LLVMBasicBlockRef[]){c->entry, c->latch}, 2);
  for (uint64_t k = 0; k < c->step; k++) {
    LLVMValueRef gep = column.of[k], index = LLVMGetOperand(gep, 1);
    LLVMReplaceAllUsesWith(gep, to[k]);
    LLVMInstructionEraseFromParent(gep);
    copy_erase_unused(index);
  }
  return true;
}

/* --- loops --- */

/* Is it an induction variable of a loop with one latch, with a constant step and without
 * wrapping? */
static bool is_counter(LLVMValueRef phi, Counting *c) {
  unsigned bits = LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind
                      ? LLVMGetIntTypeWidth(LLVMTypeOf(phi))
                      : 0;
  if ((bits != 32 && bits != 64) || LLVMCountIncoming(phi) != 2)
    return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k);
    if (!cg_is_op(next, LLVMAdd) || LLVMGetOperand(next, 0) != phi ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1)) ||
        (bits == 32 && !(LLVMGetNSW(next) && LLVMGetNUW(next))))
      continue;
    c->counter = phi;
    c->step = (uint64_t)LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    c->latch = LLVMGetIncomingBlock(phi, k);
    c->entry = LLVMGetIncomingBlock(phi, 1 - k);
    return c->latch != c->entry;
  }
  return false;
}

/* Does every iteration come this way? */
static bool is_on_the_way(const Rows *r, const FnGraph *g, uint32_t node) {
  return graph_dominates(g, node, graph_number(g, r->loop.latch));
}

/* Is the way to a loop inside a condition that an iteration has loaded? */
static bool is_asked_for(const Rows *r, const FnGraph *g, uint32_t header) {
  uint32_t at = header;
  while (!is_on_the_way(r, g, at))
    at = g->nodes[at].idom;
  Fork fork;
  return at != header && graph_fork(g->nodes[at].last, &fork) &&
         cg_is_of_load(fork.condition, g->nodes[at].block);
}

/* Is it in no other loop, do its iterations seldom come to those inside, and are they short? */
static bool passes_by(const Rows *r, const FnGraph *g, uint32_t number) {
  const GraphLoop *loop = &g->loops.data[number];
  unsigned size = 0;
  for (uint32_t k = 0; k < g->loops.len; k++)
    if (g->loops.data[k].parent == number && !is_asked_for(r, g, g->loops.data[k].header))
      return false;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    const GraphNode *node = &g->nodes[loop->nodes[k]];
    for (LLVMValueRef i = node->first; i && is_on_the_way(r, g, loop->nodes[k]);
         i = LLVMGetNextInstruction(i))
      size++;
  }
  return loop->parent == GRAPH_NONE && size <= SHORT;
}

static void visit_loop(Rows *r, const FnGraph *g, uint32_t number) {
  const GraphLoop *loop = &g->loops.data[number];
  r->n = r->accesses.len = 0;
  r->passes = !loop->innermost && passes_by(r, g, number);
  if (!(loop->innermost || r->passes) || (loop->innermost && write_column(r, g, loop)))
    return;
  for (uint32_t k = 0; k < loop->nnodes; k++) {
    uint32_t node = loop->nodes[k];
    for (LLVMValueRef i = g->nodes[node].first; i; i = LLVMGetNextInstruction(i))
      if (loop->innermost || is_on_the_way(r, g, node))
        read_access(r, i);
  }
  for (uint32_t k = 0; k < r->accesses.len; k++)
    write_access(r, &r->accesses.data[k]);
}

static void visit_function(Cg *cg, LLVMValueRef f) {
  FnGraph g = graph_of(&cg->cx->arena, f, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    const GraphLoop *loop = &g.loops.data[k];
    Rows r = {.cg = cg, .loop.blocks.arena = &cg->cx->arena};
    for (uint32_t n = 0; n < loop->nnodes; n++)
      valuemap_set(&r.loop.blocks, g.nodes[loop->nodes[n]].block, 1);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(g.nodes[loop->header].block);
         LLVMIsAPHINode(phi); phi = LLVMGetNextInstruction(phi))
      if (is_counter(phi, &r.loop))
        visit_loop(&r, &g, k);
  }
}

void cg_nvptx_rows(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f))
      visit_function(cg, f);
}
