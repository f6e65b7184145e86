/* NVPTX registers: launches of kernels whose loops load much, or are long, may take more registers
 * a thread than ptxas gives them: it makes room for a full device, and waits for the first loads,
 * or the first operations of a chain, before it issues the last. Launches that leave registers free
 * take 64, or 48 (runtime/launch/launch.h). A full device has fewer threads with more registers,
 * which pays where the loads in flight of all of them, as ptxas issues them, do not keep memory
 * busy, or lines of the cache do not last. So other launches take 40, three quarters of the
 * threads, for loops of three kinds:
 *
 *   a row each    for c in range(width): s += q[c] * k[j, c]
 *                 Neighbouring threads are rows apart, and each walks along its own: a line of the
 *                 cache for each thread, which the next loads need, too. Those of all threads that
 *                 fit a multiprocessor are as much as its cache. Beside a row there are words that
 *                 all threads read, else 32 registers are enough for all loads. Of such loops
 *                 alone no launch takes 64: 0.92 to 1.00 of the time, however few its blocks are.
 *   bytes         for k in range(lane, n, 32): s += w[row, k] * x[k]
 *                 A warp takes 32 bytes with a load, a quarter of what it takes of words.
 *   gathers       for k in range(first[i], first[i + 1]): s += w[k] * x[column[k]]
 *                 Loads wait for loads, and a thread's are in many places. Not of tables by numbers
 *                 that all threads read alike, which leave neighbours beside each other.
 *
 * Measured on an H200 in loops of 16 loads and more: 0.84 to 0.94 of the time, bytes 0.88 and 0.96,
 * gathers 0.80 to 1.05, in the mean 0.96. With two rows for each thread (1.02), words that
 * neighbours share (0.99 to 1.12) or windows of bytes (0.96 to 1.03) it does not pay.
 *
 * What an iteration loads in 32 words or more has no registers at once, not even without addresses.
 * Of gathers of that, and of numbers of 64 bits, launches take 48 (0.83 to 0.96).
 *
 * Of rows so short that such a loop has no whole round, 48 registers take up to 1.5 of the time. So
 * launches look at the argument that bounds a loop, if there is one (RtParams.reading_from).
 *
 * In: a module that only the code generator is still to see. */
#include "codegen/llvm/graph.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/loops/masked_unroll.h"
#include "codegen/nvptx/loops/strided_unroll.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/prepare.h"

enum {
  MANY = 8,      /* loads of a loop */
  LONG = 96,     /* its operations, those of loops inside as well */
  READING = 16,  /* … for which three quarters of the threads may be better */
  FEW_BYTES = 4, /* loads of bytes among them */
  GATHERS = 4,   /* … from where another has said */
  SIMPLE = 256,  /* operations that do not take more than 40 registers by themselves */
  SECTOR = 32,   /* bytes that memory gives at once */
  BYTE = 8,
  WORD = 32,
  ALL_WORDS = 32, /* registers of a thread on a full device */
  MAX_DEPTH = 12,
  WARP_BITS = 5
};

/* How far apart neighbouring threads are in a value. */
typedef enum Apart { SAME, NEAR, FAR, UNKNOWN } Apart;

typedef struct Loads { /* of an innermost loop */
  Cg *cg;
  const FnGraph *g;
  const GraphLoop *loop;
  uint32_t size, all, same, rows, bytes, gathers;
  LLVMValueRef bound; /* the argument that bounds it, by steps of `round`; NULL: it is not known */
  uint64_t round;
  uint32_t words, long_words; /* loaded; in numbers of 64 bits that are not alike in all threads */
  bool stores;
  LLVMValueRef text; /* the first array of bytes; its loads, and the loop's step along it */
  uint64_t step;
  LLVMValueRef array, row; /* of the first row: the array, and what sets threads apart in it */
  bool other;              /* there is another row */
} Loads;

static Apart apart(LLVMValueRef v, unsigned depth);

static Apart most_of(Apart a, Apart b) { return a > b ? a : b; }

/* A counter is as its first value, if all threads step alike. */
static Apart of_phi(LLVMValueRef phi, unsigned depth) {
  for (unsigned k = 0; LLVMCountIncoming(phi) == 2 && k < 2; k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k);
    if (cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == phi &&
        apart(LLVMGetOperand(next, 1), depth + 1) == SAME)
      return apart(LLVMGetIncomingValue(phi, !k), depth + 1);
  }
  return UNKNOWN;
}

/* Times what is the same in all threads: by less than 32 neighbours stay near. */
static Apart of_product(LLVMValueRef v, unsigned depth) {
  Apart a = apart(LLVMGetOperand(v, 0), depth + 1), b = apart(LLVMGetOperand(v, 1), depth + 1);
  if (a == UNKNOWN || b == UNKNOWN || (a != SAME && b != SAME))
    return UNKNOWN;
  LLVMValueRef by = LLVMGetOperand(v, 1);
  uint64_t n = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : SECTOR;
  bool small = cg_is_op(v, LLVMShl) ? n < WARP_BITS : n < SECTOR;
  Apart most = most_of(a, b);
  return most == NEAR && !small ? FAR : most;
}

static Apart apart(LLVMValueRef v, unsigned depth) {
  if (!LLVMIsAInstruction(v))
    return SAME;
  if (depth == MAX_DEPTH)
    return UNKNOWN;
  if (LLVMIsAPHINode(v))
    return of_phi(v, depth);
  if (LLVMIsACallInst(v) && cg_nvptx_register_of(v) == SREG_TID_X)
    return NEAR;
  if (cg_nvptx_same_along_x(v))
    return SAME;
  switch (LLVMGetInstructionOpcode(v)) {
  case LLVMAdd:
  case LLVMSub:
  case LLVMOr:
    return most_of(apart(LLVMGetOperand(v, 0), depth + 1), apart(LLVMGetOperand(v, 1), depth + 1));
  case LLVMMul:
  case LLVMShl: return of_product(v, depth);
  case LLVMSExt:
  case LLVMZExt:
  case LLVMTrunc:
  case LLVMAnd: return apart(LLVMGetOperand(v, 0), depth + 1);
  case LLVMLShr: /* a warp's number */
    return LLVMIsAConstantInt(LLVMGetOperand(v, 1)) &&
                   LLVMConstIntGetZExtValue(LLVMGetOperand(v, 1)) >= WARP_BITS &&
                   apart(LLVMGetOperand(v, 0), depth + 1) <= NEAR
               ? SAME
               : UNKNOWN;
  case LLVMCall:
    return cg_is_call_of_any(v, "llvm.umin.") ? apart(LLVMGetOperand(v, 0), depth + 1) : UNKNOWN;
  default: return UNKNOWN;
  }
}

static bool is_inside(const Loads *l, LLVMValueRef v) {
  uint32_t at = LLVMIsAInstruction(v) ? graph_number(l->g, LLVMGetInstructionParent(v))
                                      : GRAPH_NONE;
  for (uint32_t k = 0; at != GRAPH_NONE && k < l->loop->nnodes; k++)
    if (l->loop->nodes[k] == at)
      return true;
  return false;
}

/* What of a sum in the loop sets threads apart, and is computed in front of the loop; NULL: none
 * does, or the sum is not counted by the loop. *counter: the loop's. */
static LLVMValueRef row_of(const Loads *l, LLVMValueRef v, LLVMValueRef *counter, unsigned depth) {
  if (depth == MAX_DEPTH)
    return NULL;
  if (!is_inside(l, v))
    return apart(v, 0) == FAR ? v : NULL;
  if (LLVMIsAPHINode(v)) {
    *counter = v;
    return apart(v, 0) == FAR ? v : NULL;
  }
  if (LLVMIsASExtInst(v) || LLVMIsAZExtInst(v))
    return row_of(l, LLVMGetOperand(v, 0), counter, depth + 1);
  if (!cg_is_op(v, LLVMAdd) && !cg_is_disjoint_or(v))
    return NULL;
  LLVMValueRef a = row_of(l, LLVMGetOperand(v, 0), counter, depth + 1),
               b = row_of(l, LLVMGetOperand(v, 1), counter, depth + 1);
  return a ? a : b;
}

/* An address as an array and an index of elements; places at constants from another are that. */
static LLVMValueRef index_of(LLVMValueRef *p) {
  while (LLVMIsAGetElementPtrInst(*p) && LLVMIsAConstantInt(LLVMGetOperand(*p, 1)))
    *p = LLVMGetOperand(*p, 0);
  LLVMValueRef i = LLVMIsAGetElementPtrInst(*p) ? LLVMGetOperand(*p, 1) : NULL;
  *p = i ? LLVMGetOperand(*p, 0) : *p;
  return i;
}

/* The step of a counter; 0: it is not known. */
static uint64_t step_of(LLVMValueRef counter) {
  for (unsigned k = 0; counter && k < LLVMCountIncoming(counter); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(counter, k);
    if (cg_is_op(next, LLVMAdd) && LLVMGetOperand(next, 0) == counter &&
        LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
      return LLVMConstIntGetZExtValue(LLVMGetOperand(next, 1));
  }
  return 0;
}

/* Does a number hang on what its iteration has loaded? */
static bool is_loaded(const Loads *l, LLVMValueRef v, unsigned depth) {
  if (!is_inside(l, v) || LLVMIsAPHINode(v) || depth == MAX_DEPTH)
    return false;
  bool loaded = cg_is_op(v, LLVMLoad);
  for (int k = 0; k < LLVMGetNumOperands(v) && !loaded; k++)
    loaded = is_loaded(l, LLVMGetOperand(v, (unsigned)k), depth + 1);
  return loaded;
}

static void note_load(Loads *l, LLVMValueRef load) {
  LLVMValueRef p = LLVMGetOperand(load, 0), counter = NULL;
  uint32_t words = cg_nvptx_words_of(l->cg, load);
  l->all++;
  LLVMValueRef index = index_of(&p);
  Apart base = apart(p, 0), step = index ? apart(index, 0) : base;
  l->gathers += step == UNKNOWN && is_loaded(l, index ? index : p, 0);
  bool is_long = LLVMTypeOf(load) == l->cg->t.i64 || LLVMTypeOf(load) == l->cg->t.f64;
  l->words += words;
  l->long_words += is_long && step != SAME ? words : 0;
  if (base != SAME)
    return;
  l->same += step == SAME;
  LLVMValueRef row = index ? row_of(l, index, &counter, 0) : NULL;
  unsigned bits = (unsigned)LLVMSizeOfTypeInBits(l->cg->layout, LLVMTypeOf(load));
  if (step == FAR && row && counter && bits <= WORD) {
    l->other |= l->rows && (l->array != p || l->row != row);
    l->rows++;
    l->array = p, l->row = row;
  }
  if (bits != BYTE || step != NEAR || (l->text && l->text != p))
    return;
  l->text = p;
  l->bytes++;
  l->step = step_of(counter);
}

/* Is the loop of one of the two kinds? Each load of bytes has a sector of its own. */
static bool reads_rows(const Loads *l) {
  return l->all >= READING && l->rows >= MANY && l->same && !l->other &&
         l->rows + l->same == l->all;
}

static bool reads_bytes(const Loads *l) {
  return l->all >= READING && l->bytes >= FEW_BYTES && l->step >= (uint64_t)SECTOR * l->bytes;
}

static bool gathers(const Loads *l) {
  return l->all >= MANY && l->gathers >= GATHERS && l->size <= SIMPLE;
}

/* Are all its loads numbers of 64 bits for which a full device has no registers? Launches look
 * whether it is long. */
static bool reads_long(const Loads *l) {
  return l->bound && l->words >= ALL_WORDS && l->long_words == l->words && !l->stores;
}

/* Registers of a launch that fills the device; 0: as many as ptxas takes. */
static uint32_t reading_of(const Loads *l) {
  if (reads_rows(l) || reads_bytes(l))
    return RT_THREE_QUARTERS;
  if (reads_long(l) || (gathers(l) && l->words >= ALL_WORDS))
    return RT_FIVE_EIGHTHS;
  return gathers(l) ? RT_THREE_QUARTERS : 0;
}

/* --- how long loops are --- */

/* Is a number an argument, but for constants and for the thread's number in its block? *arg: the
 * argument, NULL before. */
static bool is_of_argument(LLVMValueRef v, unsigned depth, LLVMValueRef *arg) {
  if (LLVMIsAArgument(v)) {
    bool same = !*arg || *arg == v;
    *arg = v;
    return same && cg_int_width(v) >= WORD;
  }
  if (LLVMIsAConstantInt(v) || (LLVMIsACallInst(v) && cg_nvptx_register_of(v) == SREG_TID_X))
    return true;
  if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || LLVMIsACallInst(v) || cg_is_op(v, LLVMLoad) ||
      depth == MAX_DEPTH)
    return false;
  for (int k = 0; k < LLVMGetNumOperands(v); k++)
    if (!is_of_argument(LLVMGetOperand(v, (unsigned)k), depth + 1, arg))
      return false;
  return true;
}

/* Finds the step of the counter that a branch compares, and the argument that bounds it. */
static void read_end(Loads *l, LLVMValueRef branch) {
  Fork fork;
  if (l->bound || !graph_fork(branch, &fork) || !LLVMIsAICmpInst(fork.condition))
    return;
  for (unsigned k = 0; k < 2 && !l->bound; k++) {
    LLVMValueRef next = LLVMGetOperand(fork.condition, k), arg = NULL;
    LLVMValueRef end = LLVMGetOperand(fork.condition, !k);
    LLVMValueRef counter = cg_is_op(next, LLVMAdd) ? LLVMGetOperand(next, 0) : next;
    l->round = is_inside(l, next) && LLVMIsAPHINode(counter) ? step_of(counter) : 0;
    if (l->round && l->round <= INT32_MAX && !is_inside(l, end) && is_of_argument(end, 0, &arg))
      l->bound = arg;
  }
}

static Loads loads_of(Cg *cg, const FnGraph *g, const GraphLoop *loop) {
  Loads l = {.cg = cg, .g = g, .loop = loop};
  for (uint32_t k = 0; k < loop->nnodes && loop->innermost; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[loop->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i)) {
      l.size++;
      l.stores |= cg_is_op(i, LLVMStore);
      if (cg_is_op(i, LLVMLoad) &&
          LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == NVPTX_GLOBAL)
        note_load(&l, i);
      read_end(&l, i);
    }
  return l;
}

static bool is_long(const FnGraph *g, const GraphLoop *loop) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < loop->nnodes; k++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(g->nodes[loop->nodes[k]].block); i;
         i = LLVMGetNextInstruction(i))
      n++;
  return n >= LONG;
}

/* The fewest that a loop wants. Launches look at the argument that bounds the loop for a whole
 * round, if there is one such loop. */
static void choose_reading(const Loads *l) {
  RtParams *params = &l->cg->out->params;
  uint32_t wanted = reading_of(l);
  bool first = !params->reading;
  if (!wanted)
    return;
  if (first || wanted < params->reading)
    params->reading = wanted;
  params->reading_from = 0;
  for (uint32_t k = 0; k < params->nfields && first && !reads_rows(l) && !reads_bytes(l); k++)
    if (LLVMGetParam(l->cg->kernel, k) == l->bound) {
      params->reading_at = params->fields[k].offset;
      params->reading_from = (uint32_t)l->round;
    }
}

void cg_nvptx_choose_registers(Cg *cg) {
  const CgOptions *o = &cg->options;
  bool open = !o->max_registers && !o->max_threads && !o->min_blocks && !cg->request->coarse_of;
  if (!open || !cg->kernel || cg_nvptx_is_long(cg))
    return;
  FnGraph g = graph_of(&cg->cx->arena, cg->kernel, NULL);
  graph_loops(&g);
  for (uint32_t k = 0; k < g.loops.len; k++) {
    Loads l = loads_of(cg, &g, &g.loops.data[k]);
    if ((l.all >= MANY || is_long(&g, &g.loops.data[k])) && !reads_rows(&l))
      cg->out->params.roomy = RT_HALF_OF_THREADS;
    choose_reading(&l);
  }
}
