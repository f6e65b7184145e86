/* Bc: what the files of this room share: opcode identities, the opcode table, decoded instructions.
 *
 * decode.c: bytes → nodes, one or more an instruction, in one vocabulary for all versions.
 * asserts.c: what pytest made of asserts, undone. blocks.c: jumps threaded, stack depths known,
 * code that the compiler duplicated merged again. lift.c and lift_*.c: nodes → SSA. */
#ifndef PYPTX_FRONTEND_BC_H
#define PYPTX_FRONTEND_BC_H

#include "frontend/snapshot.h"
#include "ir/cx.h"

/* One identity for each row of opcodes.def. */
typedef enum BcOp {
#define O(NAME, pop, push, lift) BC_##NAME,
#define N(NAME)                  BC_##NAME,
#define A(NAME, OF)              BC_##NAME,
#define X(NAME, expand)          BC_##NAME,
#define E(NAME, ERROR)           BC_##NAME,
#include "frontend/opcodes.def"
  BC_COUNT
} BcOp;

typedef enum BcKind {
  BC_KIND_OP,
  BC_KIND_NOTHING,
  BC_KIND_ALIAS,
  BC_KIND_EXPAND,
  BC_KIND_ERROR
} BcKind;

typedef struct BcInfo {
  const char *name;
  BcKind kind;
  int alias;     /* BC_KIND_ALIAS: the BcOp that it spells */
  ErrorId error; /* BC_KIND_ERROR */
} BcInfo;

extern const BcInfo bc_info[BC_COUNT];

enum {
  BC_MAX_NAMES = 64,
  BC_SUBSCRIPT = OP_COUNT
}; /* BC_SUBSCRIPT: the BINARY_OP argument that means x[i] */

/* Common constants that are plain values, as their repr says. */
enum BcCommonValue {
  BC_VALUE_NONE,
  BC_VALUE_TRUE,
  BC_VALUE_FALSE,
  BC_VALUE_EMPTY,
  BC_VALUE_MINUS_ONE,
  BC_NO_VALUE
};

struct OpTable {
  int version;
  uint16_t op[256]; /* BcOp */
  uint8_t cache[256];
  const char *name[256];             /* NULL: no such opcode */
  uint16_t binary[BC_MAX_NAMES];     /* Op, BC_SUBSCRIPT, or OP_UNREACHABLE for none */
  uint16_t intrinsic1[BC_MAX_NAMES]; /* BcOp that does it, BC_unknown for none */
  const char *intrinsic1_name[BC_MAX_NAMES];
  const char *common_constant[BC_MAX_NAMES];
  uint8_t common_value[BC_MAX_NAMES]; /* BcCommonValue */
  uint32_t nbinary, nintrinsic1, ncommon;
};

enum { BC_NONE = UINT32_MAX };
enum { BC_IN_PLACE = 1 << 14 }; /* added to the Op of x += y */

typedef struct BcNode {
  uint16_t op;  /* BcOp of kind OP, NOTHING or ERROR */
  uint16_t raw; /* opcode number, for messages */
  uint32_t arg;
  /* which code unit (2 bytes) it came from: its place in the line and exception tables */
  uint32_t unit;
  uint32_t succ[2];
  uint8_t targets; /* while decoding: bit k says that succ[k] is a code unit, not a node */
  bool second;     /* of two in one instruction: of its place it has the line, not the columns */
  int32_t depth;   /* of the stack before it; -1: not reachable */
} BcNode;

typedef struct BcHandler { /* one row of the exception table, in code units, end exclusive */
  uint32_t start, end, target;
} BcHandler;

typedef struct BcCode {
  const Code *code;
  const OpTable *ops;
  uint32_t nunits;
  Loc *locs;                   /* one a unit */
  const Frozen *const *consts; /* the code object's, and behind them common ones (decode.c) */
  uint32_t nconsts;
  /* in code order; entry is the first; expansions that were added later at the end */
  VEC(BcNode) nodes;
  uint32_t entry;
  VEC(BcHandler) handlers;
} BcCode;

/* decode.c: fail()s with ERR_CORRUPT on bytes that no compiler makes */
BcCode *bc_decode(Cx *cx, const Code *code);
/* lines.c: place of each code unit; n of them */
Loc *bc_lines(Cx *cx, const Code *code, uint32_t n);
void bc_handlers(Cx *cx, const Code *code, BcCode *out);
/* asserts.c: asserts as pytest rewrites them, made plain again; the name of pytest's helpers */
#define BC_PYTEST "@pytest_ar"
void bc_plain_asserts(Cx *cx, BcCode *bc);
/* blocks.c */
void bc_flow(Cx *cx, BcCode *bc);
bool bc_ends(const BcNode *n);    /* nothing follows: return, raise, error, unknown */
bool bc_has_two(const BcNode *n); /* succ[1] counts: branches, and a loop's head */

_Noreturn void bc_corrupt(Cx *cx, const Code *code, const char *why);
static inline Loc bc_loc(const BcCode *bc, const BcNode *n) { return bc->locs[n->unit]; }

#endif
