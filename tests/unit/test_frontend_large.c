/* Large: long and deep code lifts in time that grows with its size, on a small C stack. Code of
 * CPython 3.12 is made here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "frontend/bc.h"
#include "frontend/lift.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

enum { INSTRUCTIONS = 100000, LIMIT_MS = 5000 /* generous, for sanitizers and shared machines */ };

typedef struct Maker {
  Cx *cx;
  const OpTable *ops;
  VEC(uint8_t) bytes;
  uint32_t count;
} Maker;

static void byte_pair(Maker *m, uint8_t op, uint8_t arg) {
  VEC_PUSH(&m->cx->arena, &m->bytes, op);
  VEC_PUSH(&m->cx->arena, &m->bytes, arg);
}

static void put(Maker *m, const char *name, uint32_t arg) {
  for (int op = 0; op < 256; op++) {
    if (!m->ops->name[op] || strcmp(m->ops->name[op], name) != 0)
      continue;
    for (int shift = 24; shift; shift -= 8)
      if (arg >> shift)
        for (int ext = 0; ext < 256; ext++)
          if (m->ops->op[ext] == BC_EXTENDED_ARG)
            byte_pair(m, (uint8_t)ext, (uint8_t)(arg >> shift));
    byte_pair(m, (uint8_t)op, (uint8_t)arg);
    for (int k = 0; k < m->ops->cache[op]; k++)
      byte_pair(m, 0, 0);
    m->count++;
    return;
  }
  fprintf(stderr, "no opcode %s\n", name);
  exit(1);
}

/* a[i] = a[i] + 1, over and over */
static void straight(Maker *m) {
  while (m->count < INSTRUCTIONS) {
    put(m, "LOAD_FAST", 0);
    put(m, "LOAD_FAST", 1);
    put(m, "BINARY_SUBSCR", 0);
    put(m, "LOAD_CONST", 1);
    put(m, "BINARY_OP", 0);
    put(m, "LOAD_FAST", 0);
    put(m, "LOAD_FAST", 1);
    put(m, "STORE_SUBSCR", 0);
  }
  put(m, "RETURN_CONST", 0);
}

/* if x: y = 1, over and over, on many variables; all are read at the end */
static void joins(Maker *m) {
  for (uint32_t k = 0; m->count < INSTRUCTIONS; k++) {
    put(m, "LOAD_FAST", 0);
    put(m, "POP_JUMP_IF_FALSE", 2);
    put(m, "LOAD_CONST", 1);
    put(m, "STORE_FAST", k % 20 + 2);
  }
  for (uint32_t k = 0; k < 20; k++)
    put(m, "LOAD_FAST", k + 2);
  put(m, "BUILD_TUPLE", 20);
  put(m, "RETURN_VALUE", 0);
}

/* x and (x and (x and …)): a stack slot across all of it */
static void deep_and(Maker *m) {
  while (m->count < INSTRUCTIONS) {
    put(m, "LOAD_FAST", 0);
    put(m, "COPY", 1);
    put(m, "POP_JUMP_IF_FALSE", 2); /* to the next test of the same value */
    put(m, "POP_TOP", 0);
    put(m, "LOAD_FAST", 1);
    put(m, "COPY", 1);
    put(m, "POP_JUMP_IF_TRUE", 1);
    put(m, "NOP", 0);
    put(m, "POP_TOP", 0);
  }
  put(m, "RETURN_CONST", 0);
}

/* for … : if x: y = 1; continue — over and over: one block with very many predecessors */
static void continues(Maker *m) {
  put(m, "LOAD_FAST", 0);
  put(m, "GET_ITER", 0);
  uint32_t start = m->bytes.len / 2, left = INSTRUCTIONS / 11 * 11, k = 0;
  put(m, "FOR_ITER", 0x1FFFFFF); /* four units; where it goes is put in below */
  put(m, "STORE_FAST", 1);
  for (; m->count < left; k++) {
    put(m, "LOAD_FAST", 1);
    put(m, "POP_JUMP_IF_FALSE", 5);
    put(m, "LOAD_CONST", 1);
    put(m, "STORE_FAST", k % 20 + 2);
    uint32_t back = m->bytes.len / 2 + 3 - start;
    byte_pair(m, 144, (uint8_t)(back >> 16));
    byte_pair(m, 144, (uint8_t)(back >> 8));
    put(m, "JUMP_BACKWARD", back & 255);
  }
  put(m, "RETURN_CONST", 0);
  uint32_t exit = m->bytes.len / 2 - start - 5; /* from behind FOR_ITER and its cache */
  for (int b = 0; b < 4; b++)
    m->bytes.data[2 * (start + (uint32_t)b) + 1] = (uint8_t)(exit >> (24 - 8 * b));
  put(m, "END_FOR", 0);
  for (k = 0; k < 20; k++)
    put(m, "LOAD_FAST", k + 2);
  put(m, "BUILD_TUPLE", 20);
  put(m, "RETURN_VALUE", 0);
}

/* if x: return, over and over, with a store between */
static void returns(Maker *m) {
  while (m->count < INSTRUCTIONS) {
    put(m, "LOAD_FAST", 0);
    put(m, "POP_JUMP_IF_FALSE", 6);
    put(m, "LOAD_CONST", 1);
    put(m, "LOAD_FAST", 0);
    put(m, "LOAD_CONST", 1);
    put(m, "STORE_SUBSCR", 0);
    put(m, "RETURN_CONST", 0);
  }
  put(m, "RETURN_CONST", 0);
}

/* Jumps that only jump on, closed to a ring. */
static void ring(Maker *m) {
  while (m->count < INSTRUCTIONS)
    put(m, "JUMP_FORWARD", 0);
  uint32_t units = m->bytes.len / 2;
  put(m, "JUMP_BACKWARD", units + 3); /* three units with its prefixes */
}

/* while a: while a: while a: …, each closed at the end */
static void nested_loops(Maker *m) {
  enum { DEPTH = 2000 };
  uint32_t start[DEPTH];
  for (uint32_t k = 0; k < DEPTH; k++) {
    start[k] = m->bytes.len / 2;
    put(m, "LOAD_FAST", 1);
    put(m, "LOAD_CONST", 1);
    put(m, "BINARY_OP", 0);
    put(m, "STORE_FAST", 1);
  }
  for (uint32_t k = DEPTH; k-- > 0;) {
    put(m, "LOAD_FAST", 0);
    put(m, "POP_JUMP_IF_FALSE", 3); /* over a backward jump of three units */
    uint32_t back = m->bytes.len / 2 + 3 - start[k];
    byte_pair(m, m->ops->op[144] == BC_EXTENDED_ARG ? 144 : 71, (uint8_t)(back >> 16));
    byte_pair(m, m->ops->op[144] == BC_EXTENDED_ARG ? 144 : 71, (uint8_t)(back >> 8));
    put(m, "JUMP_BACKWARD", back & 255);
  }
  put(m, "LOAD_FAST", 1);
  put(m, "RETURN_VALUE", 0);
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int run(const Corpus *c, const char *name, void (*make)(Maker *)) {
  const FrozenFunc *model = corpus_func(c, "add");
  Cx *cx = cx_new();
  volatile int bad = 1;
  if (CX_TRY(cx)) {
    Maker m = {.cx = cx, .ops = model->code->ops};
    make(&m);
    static const char *const vars[] = {"a",   "i",   "v0",  "v1",  "v2",  "v3",  "v4",  "v5",
                                       "v6",  "v7",  "v8",  "v9",  "v10", "v11", "v12", "v13",
                                       "v14", "v15", "v16", "v17", "v18", "v19"};
    Code code = *model->code;
    code.localsplus = vars;
    code.nlocalsplus = code.nlocals = sizeof vars / sizeof *vars;
    code.argcount = 2;
    code.nfrees = code.ncells = 0;
    code.bytes = m.bytes.data;
    code.nbytes = m.bytes.len;
    code.nlinetable = code.nexceptiontable = 0;
    const Frozen *consts[] = {fz_none(cx), fz_int(cx, 1)};
    code.consts = consts;
    code.nconsts = 2;
    code.stacksize = 24;
    FrozenFunc func = *model;
    func.code = &code;
    double start = now_ms();
    Fn *fn = bc_lift(cx, &func);
    double took = now_ms() - start;
    ir_verify(cx, fn, "lift");
    printf("%-13s %6u instructions %8.1f ms, %u blocks, %u values\n", name, m.count, took,
           fn->next_block, fn->next_id);
    bad = took > LIMIT_MS;
  } else {
    fprintf(stderr, "%s: %s\n", name, cx->diag.message);
  }
  cx_free(cx);
  return bad;
}

int main(void) {
  struct rlimit stack = {256 << 10, RLIM_INFINITY};
  (void)setrlimit(RLIMIT_STACK, &stack); /* recursion on the input would overflow it */
  Corpus *c = corpus_open("3.12");
  if (!c)
    return 1;
  int failures = run(c, "straight", straight) + run(c, "joins", joins) +
                 run(c, "deep_and", deep_and) + run(c, "ring", ring) +
                 run(c, "continues", continues) + run(c, "returns", returns) +
                 run(c, "nested_loops", nested_loops);
  corpus_close(c);
  return failures != 0;
}
