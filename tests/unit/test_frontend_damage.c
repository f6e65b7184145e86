/* Damage: the front end survives code objects that no compiler makes: it lifts them to a valid
 * function or reports an error, never an internal one. Bytes of recorded code are changed by a
 * fixed sequence of random numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/lift.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tests/unit/support/corpus.h"

enum { ROUNDS = 24 };

static uint64_t state = 0x9E3779B97F4A7C15u;

static uint32_t random_below(uint32_t n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return n ? (uint32_t)(state >> 32) % n : 0;
}

static void change_bytes(const uint8_t *bytes, uint32_t n, uint32_t times) {
  while (n && times--)
    ((uint8_t *)(uintptr_t)bytes)[random_below(n)] = (uint8_t)random_below(256);
}

/* One kind of damage a round. */
static void damage(Code *code, const Code *other, int round) {
  uint8_t *bytes = (uint8_t *)(uintptr_t)code->bytes;
  switch (round % 8) {
  case 0: change_bytes(bytes, code->nbytes, 1); break;
  case 1: change_bytes(bytes, code->nbytes, 4); break;
  case 2: change_bytes(code->linetable, code->nlinetable, 3); break;
  case 3: change_bytes(code->exceptiontable, code->nexceptiontable, 3); break;
  case 4: code->nbytes = random_below(code->nbytes + 1); break;
  case 5: { /* arguments only: jumps, slots and indices go astray */
    for (int k = 0; k < 3 && code->nbytes > 2; k++)
      bytes[random_below(code->nbytes / 2) * 2 + 1] = (uint8_t)random_below(64);
    break;
  }
  case 6: /* the bytes of another function */
    code->bytes = other->bytes;
    code->nbytes = other->nbytes;
    break;
  default:
    code->stacksize = random_below(4);
    code->nlocalsplus = random_below(code->nlocalsplus + 1);
    code->nconsts = random_below(code->nconsts + 1);
    code->nnames = random_below(code->nnames + 1);
  }
}

static int try_one(const Corpus *c, uint32_t k, int round, const Code *other) {
  Cx *cx = cx_new();
  FrozenFunc func = *corpus_func(c, corpus_name(c, k));
  volatile int bad = 0;
  func.closure = NULL;
  if (CX_TRY(cx)) {
    Code *code = corpus_copy(cx, func.code);
    damage(code, other, round);
    func.code = code;
    Fn *fn = bc_lift(cx, &func);
    ir_verify(cx, fn, "lift");
    Buf out;
    buf_init(&out, &cx->arena);
    ir_print_fn(cx, &out, fn, true);
  } else if (cx->diag.id == ERR_INTERNAL) {
    fprintf(stderr, "%s, round %d: %s\n", corpus_name(c, k), round, cx->diag.message);
    bad = 1;
  } else {
    char *text = diag_render(&cx->diag, NULL, NULL);
    bad = !text;
    free(text);
  }
  cx_free(cx);
  return bad;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, failures = 0;
  for (const char *const *v = corpus_versions; *v; v++) {
    Corpus *c = corpus_open(*v);
    if (!c)
      return 1;
    uint32_t n = corpus_count(c), ncodes;
    const Code *const *codes = corpus_codes(c, &ncodes);
    for (uint32_t k = 0; k < n; k++)
      for (int round = 0; round < rounds; round++)
        failures += try_one(c, k, round, codes[random_below(ncodes)]);
    corpus_close(c);
  }
  return failures != 0;
}
