/* Registers: see registers.h. Semantics: PTX ISA, setmaxnreg. A block has a pool: the registers of
 * its launch, where they are known, else those of a multiprocessor, of which a warpgroup then holds
 * none before it has asked. Threads that end keep theirs. */
#include "runtime/host/registers.h"

#include <stdlib.h>

enum { THREADS = 128, FILE_OF_REGISTERS = 65536, COUNT = RT_REGISTERS_INCREASE - 1 };

typedef struct RtRegisters { /* of a warpgroup */
  uint32_t asked, come, phase;
  uint32_t held; /* a thread */
  bool known;    /* is it? */
  bool waits;    /* all its threads have come, for an increase */
} RtRegisters;

static const RtMisuse fine = {0};

static uint32_t groups_of(const RtPlace *p) { return (p->threads + THREADS - 1) / THREADS; }

/* The last one may be smaller. */
static uint32_t threads_of(const RtPlace *p, uint32_t number) {
  uint32_t left = p->threads - number * THREADS;
  return left < THREADS ? left : THREADS;
}

static uint32_t count_of(uint32_t asked) { return asked & COUNT; }

/* Registers of the block, and of its warpgroups but one. */
static uint32_t pool_of(const RtPlace *p, uint32_t asked) {
  uint32_t first = asked >> RT_REGISTERS_FIRST;
  return first ? first * p->threads : FILE_OF_REGISTERS;
}
static uint32_t others(const RtPlace *p, uint32_t number) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < groups_of(p); k++)
    n += k == number ? 0 : p->registers[k].held * threads_of(p, k);
  return n;
}

static bool open(RtPlace *p, uint32_t asked) {
  uint32_t first = asked >> RT_REGISTERS_FIRST;
  p->registers = calloc(groups_of(p), sizeof *p->registers);
  for (uint32_t k = 0; p->registers && k < groups_of(p); k++)
    p->registers[k].held = first, p->registers[k].known = first != 0;
  return p->registers != NULL;
}

static void get(RtRegisters *g) {
  g->held = count_of(g->asked);
  g->known = true;
  g->waits = false;
  g->come = 0;
  g->phase++;
}

/* All threads of a warpgroup have come. */
static RtMisuse change(RtRegisters *g, uint32_t number) {
  uint32_t count = count_of(g->asked);
  bool more = g->asked & RT_REGISTERS_INCREASE;
  if (g->known && (more ? count < g->held : count > g->held))
    return (RtMisuse){.wrong = RT_REGISTERS_OTHER, .values = {number, g->held, count}};
  g->waits = more;
  if (!more)
    get(g);
  return fine;
}

RtMisuse rt_registers_come(RtPlace *p, uint32_t thread, uint64_t *operand) {
  uint32_t number = thread / THREADS, asked = (uint32_t)*operand;
  if (!p->registers && !open(p, asked))
    return (RtMisuse){.wrong = RT_REGISTERS_MEMORY};
  RtRegisters *g = &p->registers[number];
  *operand = number | (uint64_t)g->phase << 32;
  if (g->come && g->asked != asked)
    return (RtMisuse){.wrong = RT_REGISTERS_APART,
                      .values = {number, thread % THREADS, count_of(asked), count_of(g->asked)}};
  g->asked = asked;
  return ++g->come < threads_of(p, number) ? fine : change(g, number);
}

bool rt_registers_are_there(RtPlace *p, uint64_t operand) {
  uint32_t number = (uint32_t)operand;
  RtRegisters *g = &p->registers[number];
  if (g->phase == (uint32_t)(operand >> 32) && g->waits &&
      count_of(g->asked) * threads_of(p, number) + others(p, number) <= pool_of(p, g->asked))
    get(g);
  return g->phase != (uint32_t)(operand >> 32);
}

uint32_t rt_registers_values(const RtPlace *p, uint64_t operand, int64_t out[RT_TRAP_VALUES]) {
  uint32_t number = (uint32_t)operand;
  const RtRegisters *g = &p->registers[number];
  out[0] = number;
  if (!g->waits) {
    out[1] = g->come, out[2] = threads_of(p, number);
    return RT_REGISTERS_ABSENT;
  }
  out[1] = count_of(g->asked), out[2] = others(p, number), out[3] = pool_of(p, g->asked);
  return RT_REGISTERS_IN_VAIN;
}

void rt_registers_end(RtPlace *p) {
  free(p->registers);
  p->registers = NULL;
}
