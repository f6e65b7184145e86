/* Ty: what all of typing shares: a value in the lattice, a function being typed, the program.
 *
 * Each rule is one C function that serves both passes over a function. It computes values (Val)
 * through the builders of value/value.h:
 *   typing    (ty->emit false) builders only compute types and constants; an error makes the value
 *             bottom and is not raised, since the types may still grow
 *   emission  (ty->emit true) types are final: builders insert strict instructions before ty->at,
 *             and errors are raised
 * So what is emitted has the type that was inferred, by construction.
 *
 * The floors, each with a header and a README.md of its own: value/, then resolve/ and rules/,
 * which call each other, then engine/, which they reach through engine/door.h only. */
#ifndef PYPTX_TYPEINFER_TY_H
#define PYPTX_TYPEINFER_TY_H

#include "ir/build.h"
#include "ir/cx.h"
#include "ir/fn.h"

/* A value in the lattice: bottom (type NULL), a compile-time constant (konst), or any value of a
 * type. */
typedef struct Val {
  const Type *type;
  const Frozen *konst; /* its value, if it is known; fits the type */
  Ins *ins; /* emission: the strict instruction; NULL for what has no storage or is a constant */
  Ins *src; /* the lifted instruction that it came from */
  /* a tuple or packed object made here: its elements, and the tuple itself is made where it is
   * needed whole; an array of constant shape: its extents */
  const struct Val *items;
} Val;

#define BOTTOM ((Val){0})
static inline bool ty_is_bottom(Val v) { return !v.type; }

/* The types that a variable joins are those of the values that reach it, through however many phis:
 * a phi's own type is only a step towards the result, and no type of a value. So a variable's type
 * does not depend on the order in which paths join. Sorted by number, each once. */
typedef struct TyMet {
  uint32_t n; /* 2 or more */
  const Type *types[];
} TyMet;

/* The same while it is collected. */
enum { TY_MEET_MAX = 32 };
typedef struct TyMeeting {
  uint32_t n;
  const Type *types[TY_MEET_MAX];
} TyMeeting;

/* What is known about a lifted instruction: TySpec.infos, by its id. */
typedef struct TyInfo {
  Val v;
  const TyMet *met; /* a phi of several types: which */
  Ins *unset;       /* may be unset: the OP_UNSET that reaches it */
  bool conflict;    /* a phi of types that have no common one */
  bool varies;      /* a phi whose value was known in a loop's first iteration only */
} TyInfo;

typedef enum SpecState {
  SPEC_NEW,
  SPEC_TYPING,
  SPEC_PROVISIONAL,
  SPEC_TYPED,
  SPEC_EMITTING,
  SPEC_DONE
} SpecState;

/* target[...] = value, until the loops for it are made. */
typedef struct TyAssign {
  const Ins *ins;
  const Type *target, *value;
} TyAssign;

/* A phi once more, in another type: of the values that join in it, not of what they became
 * there. */
typedef struct TyTwin {
  Ins *phi, *made;
  const Type *type;
} TyTwin;

/* Whether the variable of a phi is set, as a phi beside it. */
typedef struct TySetBit {
  Ins *phi, *made;
} TySetBit;

/* One function for one row of argument types. */
typedef struct TySpec {
  const FrozenFunc *func;
  uint32_t nargs; /* parameters of the lifted function, then captured values */
  Val *args;      /* type, and konst where it is part of the identity */
  Fn *fn;
  Ins **params;         /* all of them, nargs; fn's are those that are passed, once it is emitted */
  struct TyInfo *infos; /* by id of lifted instructions: ninfos */
  uint32_t ninfos;
  const Type *result;  /* NULL: not known (yet) */
  TyMeeting *returned; /* what the returns of the sweep in progress bring */
  SpecState state;
  uint32_t level; /* depth in the stack of functions being typed */
  uint32_t low;   /* lowest level of a function in progress that its result depends on */
  uint32_t round; /* of the provisional result */
  uint32_t sweeps;
  /* by block id: place in the order of the function; NULL outside of the first typing */
  uint32_t *order;
  uint32_t *horizon; /* by block id: phis join what comes from blocks up to this place */
  /* by block id: of the header of a loop that runs at least once, the block from which its first
   * iteration comes; else NULL */
  Block **first_edge;
  uint8_t *taken; /* by block id: bits of the successors that control can go to; BLOCK_REACHED */
  bool recursive, stuck;
  bool const_args;       /* typed with its arguments' values */
  bool missing;          /* a value that must be a constant is not */
  bool reads_unset;      /* a variable that some path leaves unset is zero there: it is read */
  VEC(TyAssign) assigns; /* emission */
  VEC(TyTwin) twins;     /* emission */
  VEC(TySetBit) set;     /* emission */
  struct TySpec *next;   /* of the same hash */
} TySpec;

/* A function (by code) that needs its arguments' values, not only their types. */
typedef struct TyWant {
  const Code *code;
  struct TyWant *next;
} TyWant;

/* Leaves and nesting of a packed type; limits keep recursion over types and the flattened values
 * small. */
typedef struct TySize {
  uint16_t leaves, depth;
  bool iterator; /* is one, or holds one */
} TySize;

/* A generator expression's function, and what it is for one consumer. */
typedef struct TyVariant {
  const FrozenFunc *of, *made;
} TyVariant;

enum { BLOCK_REACHED = 4 };
enum {
  SPEC_SLOTS = 256,
  TY_MAX_CALLS = 500, /* nested calls; codegen/big_stack.c has the stack for so many */
  TY_MAX_TYPES = 50,  /* of one function, while they are typed */
  TY_MAX_SPECS = 4096,
  TY_MAX_DEPTH = 64,
  TY_MAX_TEXT = 4096
};

typedef struct Ty Ty;
typedef struct TyProgram {
  Cx *cx;
  Program *program;
  TySpec *specs[SPEC_SLOTS];
  TyWant *wants;
  VEC(const Frozen *) frozen; /* canonical objects behind types */
  VEC(const Frozen *) nested; /* FZ_FUNC of nested functions */
  VEC(TyVariant) variants;    /* of generator expressions */
  VEC(TySpec *) stack;        /* being typed */
  uint32_t round;             /* of the fixpoint of recursive functions */
  uint32_t changes;           /* results that grew */
  bool kernel;                /* the first function is one: it returns nothing */
  uint32_t npassed;           /* parameters that the signature names */
  uint32_t nfns, nspecs;
  VEC(TySize) sizes; /* by Type.number: of packed types */
  /* ty_call_intrinsic: values that are intrinsics (threadIdx.x, math.pi) are made by rules, and
   * value/ does not call up */
  Val (*call_intrinsic)(Ty *ty, IntrinsicId id, const Val *args, uint32_t n, const Frozen *names);
} TyProgram;

struct Ty {
  Cx *cx;
  TyProgram *p;
  TySpec *spec;
  Fn *fn;
  bool emit;
  bool stuck; /* an error was held back in this sweep */
  Ins *at;    /* the lifted instruction being typed or rewritten */
};

static inline TyInfo *ty_info(const Ty *ty, const Ins *i) { return &ty->spec->infos[i->id]; }

/* Raises in emission; in typing the value is bottom. Arguments as for fail() behind the
 * location. */
#define TY_FAIL(ty, ...) TY_FAIL_AT(ty, (ty)->at->loc, __VA_ARGS__)
#define TY_FAIL_AT(ty, loc, ...)                                                                   \
  ((ty)->emit ? fail((ty)->cx, (loc), __VA_ARGS__) : (void)((ty)->stuck = true), BOTTOM)
/* The same with `remedy` in place of the row's, where it is not NULL. */
#define TY_FAIL_ADVISED(ty, remedy, ...)                                                           \
  ((ty)->emit ? advise((ty)->cx, (remedy)) : (void)0, TY_FAIL(ty, __VA_ARGS__))
#define TY_PRETTY(ty, v) ty_pretty((ty)->cx, (v).type)

/* A call of an intrinsic, bound to its signature: rules/rules.h. */
typedef struct TyCall TyCall;

/* Can control go from one block to the other? */
static inline bool ty_edge_taken(const TySpec *s, const Block *from, const Block *to) {
  uint8_t taken = s->taken[from->id];
  return (taken & BLOCK_REACHED) &&
         ((from->succ[0] == to && (taken & 1)) || (from->succ[1] == to && (taken & 2)));
}

#endif
