/* Matrices: see matrices.h. Fragments are those of the PTX ISA, "Matrix Fragments for mma" and
 * ldmatrix: registers of 32 bits hold neighbouring elements; lane = 4 group + t. Products of floats
 * are summed in double and rounded once to the type of the sum; integers wrap. */
#include "runtime/host/matrices.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "runtime/host/halves.h"

enum { LANES = 32, MOST_M = 16, MOST_N = 8, MOST_K = 32 };

typedef struct Matrices {
  uint32_t m, k, size, sum_size; /* bytes of an element */
  RtMatrixFactor factor;
  uint32_t na, nb, nc; /* elements a lane */
} Matrices;

/* --- numbers --- */

static float with_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

double rt_matrix_element(RtMatrixFactor factor, const char *at) {
  uint16_t half;
  uint32_t word;
  double d;
  switch (factor) {
  case RT_MATRIX_F16: memcpy(&half, at, 2); return rt_half_to_double(half);
  case RT_MATRIX_BF16: memcpy(&half, at, 2); return rt_bfloat_to_double(half);
  case RT_MATRIX_TF32: memcpy(&word, at, 4); return with_bits(word & ~0x1fffu);
  case RT_MATRIX_F64: memcpy(&d, at, 8); return d;
  case RT_MATRIX_E4M3: return rt_e4m3_to_double(*(const unsigned char *)at);
  case RT_MATRIX_E5M2: return rt_e5m2_to_double(*(const unsigned char *)at);
  case RT_MATRIX_S8: return *(const signed char *)at;
  case RT_MATRIX_U8: return *(const unsigned char *)at;
  }
  return 0;
}

/* --- fragments --- */

/* Row and column of element i of lane's A; of its B, whose column is the group; of its C. */
static void place_a(const Matrices *s, uint32_t lane, uint32_t i, uint32_t *row, uint32_t *column) {
  uint32_t each = s->size < 4 ? 4 / s->size : 1, r = i / each, by = s->m == 16 ? 2 : 1;
  *row = lane / 4 + 8 * (r % by);
  *column = lane % 4 * each + i % each + 4 * each * (r / by);
}

static uint32_t row_of_b(const Matrices *s, uint32_t lane, uint32_t i) {
  uint32_t each = s->size < 4 ? 4 / s->size : 1;
  return lane % 4 * each + i % each + 4 * each * (i / each);
}

static Matrices matrices_of(uint32_t op) {
  static const uint8_t sizes[] = {
      [RT_MATRIX_F16] = 2,  [RT_MATRIX_BF16] = 2, [RT_MATRIX_TF32] = 4, [RT_MATRIX_F64] = 8,
      [RT_MATRIX_E4M3] = 1, [RT_MATRIX_E5M2] = 1, [RT_MATRIX_S8] = 1,   [RT_MATRIX_U8] = 1};
  Matrices s = {.m = op >> 8 & 255, .k = op & 255, .factor = (RtMatrixFactor)(op >> 16 & 15)};
  s.size = sizes[s.factor];
  s.sum_size = op >> 20 & 15;
  s.na = s.m * s.k / LANES, s.nb = s.k * MOST_N / LANES, s.nc = s.m * MOST_N / LANES;
  assert(s.m <= MOST_M && s.k <= MOST_K && s.na && s.nb && s.nc);
  return s;
}

static char *sums_of(const Matrices *s, uint64_t record) {
  uint32_t bytes = (s->na + s->nb) * s->size;
  return (char *)(uintptr_t)record + (bytes + 7) / 8 * 8;
}

static void add(const Matrices *s, double sum, int64_t whole, char *at) {
  float f;
  double d;
  int32_t n;
  uint16_t half;
  if (s->factor == RT_MATRIX_S8 || s->factor == RT_MATRIX_U8) {
    memcpy(&n, at, 4);
    n = (int32_t)(uint32_t)((uint64_t)n + (uint64_t)whole);
    memcpy(at, &n, 4);
  } else if (s->sum_size == 2) {
    memcpy(&half, at, 2);
    half = rt_double_to_half(rt_half_to_double(half) + sum);
    memcpy(at, &half, 2);
  } else if (s->sum_size == 4) {
    memcpy(&f, at, 4);
    f = (float)((double)f + sum);
    memcpy(at, &f, 4);
  } else {
    memcpy(&d, at, 8);
    d += sum;
    memcpy(at, &d, 8);
  }
}

static void multiply(uint32_t op, const uint64_t *records) {
  Matrices s = matrices_of(op);
  double a[MOST_M][MOST_K], b[MOST_K][MOST_N];
  for (uint32_t lane = 0; lane < LANES; lane++) {
    const char *at = (const char *)(uintptr_t)records[lane];
    for (uint32_t i = 0, row, column; i < s.na; i++, at += s.size) {
      place_a(&s, lane, i, &row, &column);
      a[row][column] = rt_matrix_element(s.factor, at);
    }
    for (uint32_t i = 0; i < s.nb; i++, at += s.size)
      b[row_of_b(&s, lane, i)][lane / 4] = rt_matrix_element(s.factor, at);
  }
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t i = 0; i < s.nc; i++) {
      uint32_t row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
      double sum = 0;
      for (uint32_t k = 0; k < s.k; k++)
        sum += a[row][k] * b[k][column];
      add(&s, sum, (int64_t)sum, sums_of(&s, records[lane]) + i * s.sum_size);
    }
}

/* --- ldmatrix, stmatrix --- */

static char *row_of(const uint64_t *records, uint32_t lane) {
  uint64_t address;
  memcpy(&address, (const void *)(uintptr_t)records[lane], sizeof address);
  return (char *)(uintptr_t)address;
}

/* Register r of a lane is 4 bytes of row lane / 4 of matrix r; transposed, element lane / 4 of the
 * rows 2 t and 2 t + 1. Lane 8 r + k has the address of row k. */
static void move(uint32_t op, const uint64_t *records) {
  uint32_t count = op & 7;
  for (uint32_t lane = 0; lane < LANES; lane++)
    for (uint32_t r = 0; r < count; r++)
      for (uint32_t h = 0; h < 2; h++) {
        char *mine = (char *)(uintptr_t)records[lane] + 8 + 4 * r + 2 * h;
        uint32_t pair = 2 * (lane % 4) + h, group = lane / 4;
        char *there = op & RT_MATRIX_TRANSPOSED ? row_of(records, 8 * r + pair) + 2 * group
                                                : row_of(records, 8 * r + group) + 2 * pair;
        if (op & RT_MATRIX_STORE)
          memcpy(there, mine, 2);
        else
          memcpy(mine, there, 2);
      }
}

void rt_matrix_operate(uint32_t op, const uint64_t records[32]) {
  if (op & RT_MATRIX_MOVE)
    move(op, records);
  else
    multiply(op, records);
}
