/* The promotion table against what NumPy does (tests/data/promotion.txt), and its own laws. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "typeinfer/value/promote.h"

static int failures;

static Op op_by_name(const char *name) {
  for (int k = 0; k < OP_COUNT; k++)
    if (!strcmp(ir_op_info[k].text, name))
      return (Op)k;
  return OP_COUNT;
}

static void compare(const char *op, const char *a, const char *b, TyOp got, const char *want) {
  const char *text = got.ok ? ty_scalar_info[got.result].name : "-";
  if (!strcmp(text, want))
    return;
  fprintf(stderr, "%s %s %s: NumPy gives %s, the table %s\n", a, op, b, want, text);
  failures++;
}

static TypeId type_of(const char *name) { return ty_by_name(name, strlen(name)); }

static void check_row(Op op, char *columns[], int ncolumns, char *row) {
  char *at, *a = strtok_r(row, " \n", &at), *want;
  for (int k = 0; (want = strtok_r(NULL, " \n", &at)); k++) {
    if (!ncolumns)
      compare(ir_op_info[op].text, a, "", ty_unary_types(TYPING_NUMPY, op, type_of(a)), want);
    else if (k < ncolumns)
      compare(ir_op_info[op].text, a, columns[k],
              ty_op_types(TYPING_NUMPY, op, type_of(a), type_of(columns[k])), want);
  }
}

static void test_numpy(void) {
  FILE *f = fopen("tests/data/promotion.txt", "r");
  char line[1024], head[1024], *columns[32];
  int ncolumns = 0, rows = 0;
  Op op = OP_COUNT;
  if (!f) {
    fprintf(stderr, "no tests/data/promotion.txt\n");
    failures++;
    return;
  }
  while (fgets(line, sizeof line, f)) {
    if (*line == ' ') {
      check_row(op, columns, ncolumns, line);
      rows++;
      continue;
    }
    char *at;
    strcpy(head, line);
    op = op_by_name(strtok_r(head, " \n", &at));
    for (ncolumns = 0; ncolumns < 32 && (columns[ncolumns] = strtok_r(NULL, " \n", &at));
         ncolumns++)
      ;
  }
  fclose(f);
  if (rows < 270)
    failures++;
}

/* Promotion is symmetric, idempotent, and a join: promoting the result again with an operand
 * changes nothing. */
static void test_laws(void) {
  for (int t = 0; t < 2; t++)
    for (TypeId a = TY_BOOL; a < TY_SCALARS; a++)
      for (TypeId b = TY_BOOL; b < TY_SCALARS; b++) {
        TypeId r = ty_promote((Typing)t, a, b);
        bool wide = t == TYPING_NUMBA &&
                    ty_scalar_info[r].kind != KIND_FLOAT; /* int8 with int8 is int64 there */
        bool join = ty_promote((Typing)t, r, a) == r && ty_promote((Typing)t, r, b) == r;
        if (r != ty_promote((Typing)t, b, a) || (!join && !wide) || (a == b && r != a && !wide)) {
          fprintf(stderr, "typing %d: %s with %s is %s\n", t, ty_scalar_info[a].name,
                  ty_scalar_info[b].name, ty_scalar_info[r].name);
          failures++;
        }
      }
}

/* Figures of semantics.md, section 7. */
static void test_numba(void) {
  static const struct {
    Op op;
    TypeId a, b, result;
  } rows[] = {
      {OP_ADD, TY_I32, TY_I32, TY_I64},     {OP_ADD, TY_U32, TY_U32, TY_U64},
      {OP_ADD, TY_I64, TY_U64, TY_I64},     {OP_ADD, TY_F32, TY_I32, TY_F64},
      {OP_ADD, TY_F32, TY_I16, TY_F32},     {OP_POW, TY_F32, TY_I64, TY_F32},
      {OP_MUL, TY_F32, TY_F64, TY_F64},     {OP_ADD, TY_BOOL, TY_BOOL, TY_I64},
      {OP_TRUEDIV, TY_I32, TY_I32, TY_F64},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    TyOp got = ty_op_types(TYPING_NUMBA, rows[k].op, rows[k].a, rows[k].b);
    if (got.result != rows[k].result) {
      fprintf(stderr, "Numba's %s: row %zu gives %s\n", ir_op_info[rows[k].op].text, k,
              ty_scalar_info[got.result].name);
      failures++;
    }
  }
  if (ty_promote(TYPING_NUMPY, TY_I64, TY_U64) != TY_F64)
    failures++;
}

int main(void) {
  test_numpy();
  test_laws();
  test_numba();
  if (failures)
    fprintf(stderr, "%d failed\n", failures);
  return failures != 0;
}
