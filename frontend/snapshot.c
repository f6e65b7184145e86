/* Snapshot: the opcode table of one CPython version, from names and numbers to meanings.
 *
 * In: OpTableInput. Out: an immutable OpTable in one malloc'd block of text and numbers. */
#include "frontend/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/bc.h"

const BcInfo bc_info[BC_COUNT] = {
#define O(NAME, pop, push, lift) [BC_##NAME] = {#NAME, BC_KIND_OP, 0, ERR_OK},
#define N(NAME)                  [BC_##NAME] = {#NAME, BC_KIND_NOTHING, 0, ERR_OK},
#define A(NAME, OF)              [BC_##NAME] = {#NAME, BC_KIND_ALIAS, BC_##OF, ERR_OK},
#define X(NAME, expand)          [BC_##NAME] = {#NAME, BC_KIND_EXPAND, 0, ERR_OK},
#define E(NAME, ERROR)           [BC_##NAME] = {#NAME, BC_KIND_ERROR, 0, ERR_##ERROR},
#include "frontend/opcodes.def"
};

static const struct {
  const char *name;
  int op;
} binary_ops[] = {
    {"ADD", OP_ADD},
    {"AND", OP_AND},
    {"FLOOR_DIVIDE", OP_FLOORDIV},
    {"LSHIFT", OP_LSHIFT},
    {"MATRIX_MULTIPLY", OP_MATMUL},
    {"MULTIPLY", OP_MUL},
    {"REMAINDER", OP_MOD},
    {"OR", OP_OR},
    {"POWER", OP_POW},
    {"RSHIFT", OP_RSHIFT},
    {"SUBTRACT", OP_SUB},
    {"TRUE_DIVIDE", OP_TRUEDIV},
    {"XOR", OP_XOR},
    {"SUBSCR", BC_SUBSCRIPT},
};

static uint16_t binary_by_name(const char *name) {
  if (!strncmp(name, "NB_", 3))
    name += 3;
  int in_place = strncmp(name, "INPLACE_", 8) ? 0 : BC_IN_PLACE;
  if (in_place)
    name += 8;
  for (size_t i = 0; i < sizeof binary_ops / sizeof *binary_ops; i++)
    if (!strcmp(name, binary_ops[i].name))
      return (uint16_t)(binary_ops[i].op | in_place);
  return OP_UNREACHABLE;
}

static uint16_t op_by_name(const char *name) {
  if (name[0] < 'A' || name[0] > 'Z') /* our own names are not CPython's */
    return BC_unknown;
  for (int i = 0; i < BC_COUNT; i++)
    if (!strcmp(name, bc_info[i].name))
      return (uint16_t)i;
  return BC_unknown;
}

static uint16_t intrinsic_by_name(const char *name) {
  if (!strcmp(name, "INTRINSIC_UNARY_POSITIVE"))
    return BC_UNARY_POSITIVE;
  if (!strcmp(name, "INTRINSIC_LIST_TO_TUPLE"))
    return BC_LIST_TO_TUPLE;
  return BC_unknown;
}

static size_t text_size(const char *const *names, size_t n) {
  size_t size = 0;
  for (size_t i = 0; i < n; i++)
    size += names[i] ? strlen(names[i]) + 1 : 0;
  return size;
}

static uint32_t count(const char *const *names) {
  uint32_t n = 0;
  while (names && n < BC_MAX_NAMES && names[n])
    n++;
  return n;
}

static void copy_names(char **at, const char **to, const char *const *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (!from[i])
      continue;
    size_t size = strlen(from[i]) + 1;
    to[i] = memcpy(*at, from[i], size);
    *at += size;
  }
}

static uint8_t common_value_by_name(const char *name) {
  static const char *const names[] = {"None", "True", "False", "''", "-1"}; /* BcCommonValue */
  uint8_t k = 0;
  while (k < BC_NO_VALUE && strcmp(names[k], name))
    k++;
  return k;
}

OpTable *bc_optable_new(const OpTableInput *in) {
  uint32_t nbinary = count(in->binary_ops), nintr = count(in->intrinsic1),
           ncommon = count(in->common_constants);
  size_t text = text_size(in->op_names, 256) + text_size(in->intrinsic1, nintr) +
                text_size(in->common_constants, ncommon);
  OpTable *t = calloc(1, sizeof *t + text);
  if (!t)
    return NULL;
  char *at = (char *)(t + 1);
  t->version = in->version;
  t->nbinary = nbinary;
  t->nintrinsic1 = nintr;
  t->ncommon = ncommon;
  copy_names(&at, t->name, in->op_names, 256);
  copy_names(&at, t->intrinsic1_name, in->intrinsic1, nintr);
  copy_names(&at, t->common_constant, in->common_constants, ncommon);
  for (int i = 0; i < 256; i++) {
    t->cache[i] = in->cache_entries ? in->cache_entries[i] : 0;
    t->op[i] = t->name[i] ? op_by_name(t->name[i]) : BC_unknown;
  }
  for (uint32_t i = 0; i < ncommon; i++)
    t->common_value[i] = common_value_by_name(t->common_constant[i]);
  for (uint32_t i = 0; i < nbinary; i++)
    t->binary[i] = binary_by_name(in->binary_ops[i]);
  for (uint32_t i = 0; i < nintr; i++)
    t->intrinsic1[i] = intrinsic_by_name(t->intrinsic1_name[i]);
  return t;
}

void bc_optable_free(OpTable *t) { free(t); }

int bc_optable_version(const OpTable *t) { return t->version; }
