/* Fn, Block, Ins: the program as SSA. Data only; ir/build.h is the only writer of links.
 *
 * An instruction is its own value. Blocks hold their instructions in a list: phis first, one
 * terminator last. Before typing, types are NULL; after it every Ins has one (TY_VOID where there
 * is no value). */
#ifndef PYPTX_IR_FN_H
#define PYPTX_IR_FN_H

#include "ir/base/vec.h"
#include "ir/frozen.h"
#include "ir/intrinsics.h"
#include "ir/type.h"

typedef struct Ins Ins;
typedef struct Block Block;
typedef struct Fn Fn;
typedef struct Program Program;

typedef enum Op {
#define OP(ID, text, stage, lo, hi, effect, rule, lower, doc) OP_##ID,
#include "ir/ops.def"
#undef OP
  OP_COUNT
} Op;

typedef enum Effect {
  EFFECT_PURE,
  EFFECT_READ,
  EFFECT_WRITE,
  EFFECT_SYNC,
  EFFECT_STOP,
  EFFECT_TERM,
  EFFECT_PHI
} Effect;
typedef enum Stage { STAGE_L = 1, STAGE_T = 2, STAGE_B = 3 } Stage;

typedef struct OpInfo {
  const char *text;
  Stage stage;
  int min_args, max_args; /* max -1: any */
  Effect effect;
} OpInfo;

extern const OpInfo ir_op_info[OP_COUNT];

/* Where a value came from. code names the file; lines count from 1, columns from 0 in bytes, end
 * exclusive; 0 line: unknown. */
typedef struct Loc {
  const Code *code;
  int32_t line, end_line;
  int32_t col, end_col;
} Loc;

/* Is the one, whose line and column are known, a part of the other? */
static inline bool ir_loc_inside(Loc in, Loc of) {
  bool begins = in.line > of.line || (in.line == of.line && in.col >= of.col);
  bool ends = in.end_line < of.end_line || (in.end_line == of.end_line && in.end_col <= of.end_col);
  return in.line && in.col >= 0 && begins && ends;
}

typedef enum CacheHint {
  HINT_NONE,
#define LOAD(ID, name, modifier, doc) HINT_##ID,
#define STORE                         LOAD
#include "ir/hints.def"
#undef LOAD
#undef STORE
  HINT_COUNT
} CacheHint;

typedef struct HintInfo {
  const char *name, *modifier;
} HintInfo;
extern const HintInfo ir_hints[HINT_COUNT]; /* intrinsics.c */

typedef enum AtomicOp {
#define A(ID, text, elements, of_signed, of_unsigned) ATOMIC_##ID,
#include "ir/atomics.def"
#undef A
  ATOMIC_COUNT
} AtomicOp;

/* OP_VIEW: what happens to each axis of the source, in order. Operands after the array are taken
 * from left to right: INDEX takes one (a pyint in range); SLICE takes three: start, count, step
 * (all pyint, already clipped: count items); NEWAXIS and FULL take none. PERMUTE is alone: axes[]
 * of the source in result order. RESHAPE is alone: one operand an axis of the result, C-contiguous
 * source. PART is alone: the real (axes[0] 0) or imaginary (1) parts of a complex array, as floats.
 * RESHAPE and FIELD may change the elements' type, x.view(dtype). FIELD is alone: of each record
 * the bytes from `offset` on, with `nested` axes of `extents` behind the source's axes. */
typedef enum ViewKind {
  VIEW_FULL,
  VIEW_INDEX,
  VIEW_SLICE,
  VIEW_NEWAXIS,
  VIEW_PERMUTE,
  VIEW_RESHAPE,
  VIEW_PART,
  VIEW_FIELD,
} ViewKind;
typedef struct IrView {
  uint8_t n;
  uint8_t kind[2 * TY_MAX_NDIM];
  uint8_t axes[TY_MAX_NDIM];
  uint32_t offset;
  uint8_t nested;
  const int64_t *extents;
} IrView;

typedef struct IrAlloc {
  int64_t extents[TY_MAX_NDIM]; /* ndim of them, C order */
  uint32_t align;               /* bytes; 0: the element's */
  /* dynamic shared memory: one axis, extent found at run time from the launch */
  bool dynamic;
  const char *name; /* the variable, if known */
} IrAlloc;

/* What a check or raise says when it stops a thread. Kept in the program; the number travels with
 * the trap. */
typedef struct IrSite {
  uint32_t number;
  const char *exception; /* "IndexError", "AssertionError", … */
  const char *message;   /* {0}, {1}: the trap's values */
  Loc loc;
} IrSite;

struct Ins {
  uint16_t op;    /* Op */
  uint16_t flags; /* InsFlags */
  uint32_t id;    /* %id in dumps, unique in the Fn */
  uint32_t nargs;
  int32_t aux2; /* of a getattr: 1 if it is a statement of its own */
  Ins **args;
  const Type *type;
  const char *name; /* attribute or variable name, or NULL */
  union {
    int64_t i;
    const Frozen *frozen;
    const char *name;
    const Frozen *names;
    IntrinsicId intrinsic;
    const IrView *view;
    const IrAlloc *alloc;
    const IrSite *site;
    Fn *fn;
  } aux;
  Block *block;
  Ins *prev, *next;
  Ins *replaced; /* set by ir_replace: uses mean that one; settled by ir_settle */
  void *note;    /* scratch of the running pass */
  Loc loc;
};

enum InsFlags {
  INS_NONNEGATIVE = 1, /* an integer known to be >= 0 */
  INS_NO_WRAP = 2,     /* signed overflow cannot happen */
  INS_DEAD = 4,
  INS_I32 = 8,      /* a 64-bit integer that fits int32 */
  INS_U32 = 16,     /* … that fits uint32 */
  INS_INDEX = 32,   /* a wrap_index that is only an index of loads, stores and atomics: in range */
  INS_LOW = 64,     /* a phi or left shift of 64 bits whose upper half nothing reads */
  INS_YIELDS = 128, /* a branch back in a loop that waits for other threads */
  /* of a branch back: LLVM is to put so many bodies in a row, or leave the loop to
   * nvptx/loops/masked_unroll.c */
  INS_UNROLL_4 = 256,
  INS_UNROLL_8 = 512,
  INS_MASKED = 1024,
  /* an operation on integers of 64 bits that fit int32, uint32 where it reads them, as does its
   * result */
  INS_OF_I32 = 2048,
  INS_OF_U32 = 4096,
  INS_UNROLL_ALL = 8192, /* of a branch back: LLVM is to unroll the loop fully */
  INS_ROLLED = 16384,    /* … not at all */
  INS_WRAPS = 32768,     /* signed overflow is no mistake, for check= */
  INS_COPIED = 8192,     /* of a load: the copy of a record takes the field, for check= */
  INS_FACTOR = 8192,     /* of a sum or difference: at most INS_FACTOR_MOST from 0 */
  INS_EXACT = 8192,      /* of a true division: what it reads is exact in float64 */
  INS_AHEAD = 1024,      /* of an access: see codegen/ssa/apart_versions.c */
  INS_OFTEN = 64,        /* of a branch: it goes to the first successor, as a rule */
  INS_POLLED = 512,      /* of a load: on its value the end of a loop depends that waits for it */
};

enum { INS_FACTOR_MOST = 32767 }; /* two products of such, and their sum, fit 32 bits */

/* Flags that have a text; X(flag, word). */
#define INS_FLAG_WORDS(X)                                                                          \
  X(INS_NONNEGATIVE, nonneg)                                                                       \
  X(INS_NO_WRAP, nowrap)                                                                           \
  X(INS_I32, i32)                                                                                  \
  X(INS_U32, u32)                                                                                  \
  X(INS_INDEX, index)                                                                              \
  X(INS_LOW, low)                                                                                  \
  X(INS_YIELDS, yields)                                                                            \
  X(INS_UNROLL_4, unroll4)                                                                         \
  X(INS_UNROLL_8, unroll8)                                                                         \
  X(INS_MASKED, masked)                                                                            \
  X(INS_OF_I32, of_i32) X(INS_OF_U32, of_u32) X(INS_ROLLED, rolled) X(INS_WRAPS, wraps)

struct Block {
  uint32_t id;
  Ins *first, *last; /* last is the terminator once the block is complete */
  Block *succ[2];
  VEC(Block *) preds;
  Block *idom;  /* ir_dominators */
  uint32_t rpo; /* number in reverse post-order, UINT32_MAX if not reached; ir_order */
  /* what it dominates are dom_count numbers from its own on; 0 for a block that came after
   * ir_dominators */
  uint32_t dom_first, dom_count;
  uint32_t dom_round; /* ir_dominators' own */
  void *note;
  Block *next; /* order in the function: creation, then ir_order's */
};

/* Where a variable is read, for messages: no instruction stands for a read. */
typedef struct IrRead {
  const char *name;
  Loc loc;
} IrRead;

/* A call that is given a nested function whose captured variable is assigned before its result is
 * used: wrong if it hands the function back. */
typedef struct IrHanded {
  const Ins *call;
  const char *variable, *function;
  const char *advice; /* NULL: the error's own */
  Loc made, assigned;
} IrHanded;

/* For reports, if Cx.keeps_places: the type of an expression, or of a variable where it is set. */
typedef struct IrPlace {
  const char *variable; /* NULL: an expression */
  Ins *ins;             /* lifted; after typing the strict one, NULL for what has none */
  const Type *type;     /* after typing; NULL: control does not come here */
  bool known;           /* after typing: its value is known at compile time */
  Loc loc;
} IrPlace;

/* For advice: what typing alone knows, for the pass `advise` to judge. */
typedef struct IrSum { /* a variable that starts as a Python number and has a narrow type since */
  const Ins *variable; /* its phi in the loop's header */
  const Ins *added;    /* the lifted operation that adds to it */
  Loc start;           /* no line: not known */
} IrSum;
typedef struct IrCut { /* a Python number that an operation makes one of 8 or 16 bits */
  const Ins *made;     /* what it becomes; or a shift of a constant by a number of so many bits */
  Loc loc;             /* of the number, or of what is done with it */
} IrCut;
typedef struct IrWidening { /* an operation on float32 data whose result is float64 or complex128 */
  const Ins *made;          /* the operation, strict; of a complex number the real part */
  const Type *type, *data;  /* of the operation; of the narrower operand */
  Loc loc, origin;          /* of the operation; of what made it wide (no line: not known) */
  const char *what;         /* that origin, for the message */
  bool named;               /* `what` alone says which it is */
} IrWidening;

struct Fn {
  const char *name;         /* Python qualname */
  const char *symbol;       /* in the module; set by typing */
  const FrozenFunc *source; /* what it was lifted from */
  Program *program;
  Block *entry, *last_block; /* blocks in a list from entry */
  uint32_t nblocks, next_block, next_id;
  uint32_t nparams;
  Ins **params; /* OP_PARAM in entry, nparams of them */
  const char *const *param_names;
  const Type *const *param_types; /* after typing */
  const Type *result;             /* after typing: TY_NONE for a kernel */
  VEC(IrRead) reads;
  VEC(IrHanded) handed;
  VEC(IrPlace) places;
  bool typed;
  bool is_kernel;
  bool has_barrier; /* it or what it calls synchronises threads */
  bool recursive;
  bool exact; /* FuncOptions.exact */
  InlineMode inlining;
};

/* All functions of one kernel: fns[0] is the kernel, the others typed device functions. */
struct Program {
  VEC(Fn *) fns;
  VEC(const IrSite *) sites;
  VEC(IrSum) sums;
  VEC(IrCut) cuts;
  VEC(IrWidening) widenings;
  bool uses_dynamic_shared;
  /* the kernel's integer parameters of 64 bits are -TY_SMALL - 1 to TY_SMALL; at most TY_SMALL are
   * the extents of its array parameters and the threads along each axis of the grid, and at most
   * TY_BLOCKS the blocks */
  bool narrow;
  bool needs_apart; /* code relies on it that no two array parameters overlap */
};

static inline bool ins_is_term(const Ins *i) { return ir_op_info[i->op].effect == EFFECT_TERM; }

/* Phis of a block; instructions; blocks. The loop variable may be removed in the body of
 * FOR_INS_SAFE. */
#define FOR_BLOCKS(fn, b) for (Block *b = (fn)->entry; b; b = b->next)
#define FOR_INS(b, i)     for (Ins *i = (b)->first; i; i = i->next)
#define FOR_INS_SAFE(b, i, n)                                                                      \
  for (Ins *i = (b)->first, *n = i ? i->next : NULL; i; i = n, n = i ? i->next : NULL)

#endif
