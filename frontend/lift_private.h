/* Lift, inside: the state of one lifting and what lift.c offers to the lift_*.c files.
 *
 * Variables are numbered: the code's localsplus, then one for each stack slot, then one for each
 * slot's iteration state (the sequence of a for loop is in the slot, where it is in the state
 * variable). Each has one value at the end of each block; a read that finds none makes phis (Braun
 * et al., Simple and Efficient Construction of SSA Form, 2013). */
#ifndef PYPTX_FRONTEND_LIFT_PRIVATE_H
#define PYPTX_FRONTEND_LIFT_PRIVATE_H

#include "frontend/bc.h"
#include "ir/build.h"

typedef struct DefEntry {
  uint32_t block, var; /* block: id + 1, 0 for an empty slot */
  Ins *value;
} DefEntry;

typedef struct Capture { /* a nested function took the value of a cell variable */
  Ins *made;
  uint32_t var, node;
} Capture;

typedef struct Lift {
  Cx *cx;
  const FrozenFunc *func;
  const Code *code;
  BcCode *bc;
  Fn *fn;

  /* the instruction being lifted */
  Block *block; /* NULL behind a terminator */
  uint32_t at;
  const BcNode *node;
  Loc loc;
  uint32_t depth;

  Block **blocks;   /* the block that begins at a node, or NULL */
  uint32_t *npreds; /* edges into a node, the entry's counted */
  DefEntry *defs;   /* hash table: (block, variable) → value at its end so far */
  uint32_t ndefs, defs_cap;
  VEC(Ins *) phis;        /* without operands until all blocks are there */
  Ins **unset;            /* one OP_UNSET a variable, made when needed */
  Ins *null;              /* stands in stack slots for "no value"; gone in the end */
  const Frozen **globals; /* by name index, found when needed */
  uint8_t *covered;       /* code units inside a try */
  uint8_t *maybe_unset;   /* by node: some path comes to this read, or del, without its variable */
  VEC(Capture) captures;
  bool *stored_cells; /* by variable: STORE_DEREF reaches it */
  bool *cells;        /* by variable: nested functions use it */
  uint32_t nargs;     /* variables that are parameters: a consumer's start value is none */
  bool generators;    /* a generator expression is made */
} Lift;

/* values and instructions */
Ins *bc_emit(Lift *l, Op op, Ins *const *args, uint32_t n);
Ins *bc_emit1(Lift *l, Op op, Ins *a);
Ins *bc_emit2(Lift *l, Op op, Ins *a, Ins *b);
Ins *bc_constant(Lift *l, const Frozen *f);
bool bc_is_null(Lift *l, Ins *value);
/* The one value that a phi without operands has on all paths; else the value itself. */
Ins *bc_through(Lift *l, Ins *value);
/* Items of a tuple or list that is written out here, constants included; NULL if it is not. */
Ins **bc_items(Lift *l, Ins *value, uint32_t *n);
/* (x, y, …) of values; a constant if they all are. */
Ins *bc_tuple(Lift *l, Ins *const *items, uint32_t n);
Ins *bc_global(Lift *l, const Frozen *f, const char *name);
Ins *bc_exception(Lift *l, const char *name);

/* variables of the block being lifted */
Ins *bc_read(Lift *l, uint32_t var);
void bc_write(Lift *l, uint32_t var, Ins *value);
Ins *bc_local(Lift *l, uint32_t var); /* a local, cell or free variable */
const char *bc_var_name(Lift *l, uint32_t var);
uint32_t bc_state(const Lift *l, uint32_t depth);
static inline bool bc_is_free(const Lift *l, uint32_t var) {
  return var >= l->code->nlocalsplus - l->code->nfrees;
}

/* stack */
void bc_push(Lift *l, Ins *value);
Ins *bc_pop(Lift *l);
Ins **bc_pop_many(Lift *l, uint32_t n); /* in the order pushed */
Ins *bc_peek(Lift *l, uint32_t n);      /* 1: the top */
void bc_poke(Lift *l, uint32_t n, Ins *value);

Block *bc_block_at(Lift *l, uint32_t node);
const char *bc_name_arg(Lift *l, uint32_t index);
const Frozen *bc_const_arg(Lift *l, uint32_t index);
_Noreturn void bc_damaged(Lift *l, const char *why);

/* unset.c: fills maybe_unset; `order` are the nodes that begin blocks, in reverse post-order. Is a
 * variable of any function nested in this one: what LOAD_FAST gives of it is its cell. */
void bc_find_unset(Lift *l, const uint32_t *order, uint32_t n);
bool bc_is_cell(const Lift *l, uint32_t var);

/* lift_generator.c */
void bc_begin_consumer(Lift *l);
Ins *bc_consumed(Lift *l);
void bc_check_generators(Lift *l);
bool bc_makes_generator(
    const Ins *i); /* a call of a generator expression's function, which runs nothing of it */

/* capture.c: nested functions take values, so a variable may not change between the taking and a
 * use */
void bc_check_captures(Lift *l);

#define O(NAME, pop, push, lift) void bc_lift_##lift(Lift *l);
#define N(NAME)
#define A(NAME, OF)
#define X(NAME, expand)
#define E(NAME, ERROR)
#include "frontend/opcodes.def"

#endif
