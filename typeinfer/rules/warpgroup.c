/* Rules of cuda.wgmma. Accumulators and fragments are tuples of a thread's elements, whose number
 * says how many columns there are. A tile is a view of an array in shared memory; where indices are
 * checked, so are its extents, the distance of its rows and where it begins. */
#include <string.h>

#include "typeinfer/resolve/resolve.h"
#include "typeinfer/rules/rules.h"
#include "typeinfer/value/value.h"

enum { LINES = 64, MOST_COLUMNS = 256, ATOM_ROWS = 8, CHUNK_BYTES = 16 };

typedef struct Row {
  uint32_t k;
  TypeId factor, sum;
  int majors;
} Row;

static const Row rows[] = {
#define X(k, factor, sum, code, ptx_factor, ptx_sum, majors) {k, TY_##factor, TY_##sum, majors},
#include "ir/warpgroups.def"
#undef X
};
enum { NROWS = sizeof rows / sizeof *rows };

/* A call of mma. */
typedef struct Mma {
  Ty *ty;
  const TyCall *call;
  const Row *row;
  int64_t columns, swizzle;
  bool major[2]; /* of A and of B: neighbours lie along M or N */
  bool tile[2];  /* they said so themselves, as cuda.smem_tile's */
} Mma;

static Val wrong(Ty *ty, const TyCall *c, const char *what) {
  return TY_FAIL(ty, ERR_ARGUMENTS, c->name, what);
}

static const Type *element_of(Val v) {
  const Type *t = v.type;
  if (t->id == TY_ARRAY)
    return t->space == SPACE_SHARED && !t->pointer ? t->elem : NULL;
  for (uint32_t k = 0; t->id == TY_TUPLE && k < t->n; k++)
    if (t->elems[k] != t->elems[0])
      return NULL;
  return t->id == TY_TUPLE && t->n ? t->elems[0] : NULL;
}

static bool is_sum(TypeId id) { return id == TY_F32 || id == TY_F16 || id == TY_I32; }

static bool are_sums(Val v) {
  const Type *t = v.type->id == TY_TUPLE ? element_of(v) : NULL;
  return t && is_sum(t->id);
}

/* --- zeros, fence, wait --- */

static bool valid_columns(TypeId sum, int64_t n) {
  return n >= 8 && n <= MOST_COLUMNS && n % (sum == TY_I32 && n > 32 ? 16 : 8) == 0;
}

static const char *about_columns(Ty *ty, int64_t n) {
  return arena_printf(&ty->cx->arena,
                      "there are 8 to 256 columns, a multiple of 8 (of integers, beyond 32 a "
                      "multiple of 16), not %lld",
                      (long long)n);
}

Val ty_rule_wgmma_zeros(Ty *ty, const TyCall *c) {
  int64_t m, n;
  if (!fz_get_int(c->args[0].konst, &m) || !fz_get_int(c->args[1].konst, &n))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the shape of %s", c->name), NULL);
  const Frozen *f = c->args[2].type->frozen;
  TypeId id = c->args[2].type->id == TY_DTYPE ? ty_strengthen(f->type) : TY_VOID;
  if (!is_sum(id))
    return ty_argument_type(ty, c, 2, "float32, float16 or int32");
  if (m != LINES)
    return wrong(ty, c,
                 arena_printf(&ty->cx->arena, "a warpgroup has 64 rows, not %lld", (long long)m));
  if (!valid_columns(id, n))
    return wrong(ty, c, about_columns(ty, n));
  const Type *elems[MOST_COLUMNS / 2];
  for (int64_t k = 0; k < n / 2; k++)
    elems[k] = ty_id(ty, id);
  return ty_intrinsic(ty, c->id, ty_tuple(ty->cx, elems, (uint32_t)(n / 2)), NULL, 0);
}

/* The fragments of a call from argument k on, which come back: none, one, or a tuple of them. */
static Val through(Ty *ty, const TyCall *c, uint32_t k, const Val *args) {
  const Type *types[TY_MAX_ARGS];
  for (uint32_t n = k; n < c->n; n++)
    types[n] = c->args[n].type;
  const Type *t = c->n == k       ? ty_id(ty, TY_VOID)
                  : c->n == k + 1 ? types[k]
                                  : ty_tuple(ty->cx, types + k, c->n - k);
  Val r = ty_intrinsic(ty, c->id, t, args, c->n);
  return c->n > k ? r : ty_none(ty);
}

Val ty_rule_wgmma_fence(Ty *ty, const TyCall *c) {
  for (uint32_t k = 0; k < c->n; k++) {
    const Type *t = c->args[k].type->id == TY_TUPLE ? element_of(c->args[k]) : NULL;
    if (!t || !ty_is_number(t) || ty_is_weak(t) || ty_is_complex(t) || ty_size(t) > 4)
      return ty_argument_type(ty, c, k,
                              "accumulators or a fragment of A: a tuple of numbers of one type");
    if (c->args[k].type->n * ty_size(t) % 4)
      return ty_argument_type(ty, c, k, "whole registers of 32 bits");
  }
  return through(ty, c, 0, c->args);
}

Val ty_rule_wgmma_wait(Ty *ty, const TyCall *c) {
  int64_t pending;
  Val args[TY_MAX_ARGS];
  if (!c->n || !fz_get_int(c->args[0].konst, &pending))
    return ty_not_constant(ty, arena_printf(&ty->cx->arena, "the number of groups of %s", c->name),
                           NULL);
  if (pending < 0 || pending > 7)
    return wrong(ty, c,
                 arena_printf(&ty->cx->arena, "0 to 7 groups may be left in flight, not %lld",
                              (long long)pending));
  memcpy(args, c->args, c->n * sizeof *args);
  args[0] = ty_const_int(ty, pending);
  for (uint32_t k = 1; k < c->n; k++)
    if (!are_sums(c->args[k]))
      return ty_argument_type(ty, c, k, "accumulators: a tuple of float32s, float16s or int32s");
  return through(ty, c, 1, args);
}

/* --- mma --- */

static const char *const names = "ab";

/* Which axis of its source an axis of a view is, and the first operand of the slice that it is (0:
 * it is whole). -1: it is none, or that is not known. */
static int source_axis(const Ins *view, unsigned axis, uint32_t *slice) {
  const IrView *v = view->aux.view;
  uint32_t at = 1;
  int source = 0;
  for (unsigned k = 0, result = 0; k < v->n; k++) {
    bool is_slice = v->kind[k] == VIEW_SLICE, is_index = v->kind[k] == VIEW_INDEX;
    if (!is_slice && !is_index && v->kind[k] != VIEW_FULL)
      return -1;
    if (!is_index && result++ == axis) {
      *slice = is_slice ? at : 0;
      return source;
    }
    at += is_slice ? 3 : is_index;
    source++;
  }
  return -1;
}

static bool constant(const Ins *i, int64_t *out) {
  return i->op == OP_CONST && fz_get_int(i->aux.frozen, out);
}

/* What is known of an axis of a view of an array of the kernel's own. */
static bool known_extent(const Ins *array, unsigned axis, int64_t *out) {
  uint32_t slice = 0;
  if (array->op == OP_ALLOC && !array->aux.alloc->dynamic) {
    *out = array->aux.alloc->extents[axis];
    return true;
  }
  int source = array->op == OP_VIEW ? source_axis(array, axis, &slice) : -1;
  if (array->op == OP_VIEW && array->aux.view->kind[0] == VIEW_RESHAPE)
    return constant(array->args[1 + axis], out);
  return source >= 0 && (slice ? constant(array->args[slice + 1], out)
                               : known_extent(array->args[0], (unsigned)source, out));
}

static bool known_stride(const Ins *array, unsigned axis, int64_t *out) {
  uint32_t slice = 0;
  int64_t n = 0, step = 1;
  if (array->op == OP_ALLOC || (array->op == OP_VIEW && array->aux.view->kind[0] == VIEW_RESHAPE)) {
    *out = (int64_t)ty_size(array->type->elem);
    for (unsigned k = array->type->ndim; --k > axis; *out *= n)
      if (!known_extent(array, k, &n))
        return false;
    return true;
  }
  int source = array->op == OP_VIEW ? source_axis(array, axis, &slice) : -1;
  if (source < 0 || !known_stride(array->args[0], (unsigned)source, out) ||
      (slice && !constant(array->args[slice + 2], &step)))
    return false;
  *out *= step;
  return true;
}

/* The value is to be that: compared now where it is known, else where indices are checked. */
static bool expect(const Mma *m, Val got, const int64_t *known, int64_t want, const char *message) {
  Ty *ty = m->ty;
  const char *at = strstr(message, "{0}");
  if (!known)
    ty_check(ty, ty_int_test(ty, OP_EQ, got, ty_const_int(ty, want)), "ValueError",
             arena_printf(&ty->cx->arena, "%s: %s", m->call->name, message), (Val[]){got}, 1);
  if (!known || *known == want)
    return true;
  (void)wrong(ty, m->call,
              arena_printf(&ty->cx->arena, "%.*s%lld%s", (int)(at - message), message,
                           (long long)*known, at + 3));
  return false;
}

static bool expect_extent(const Mma *m, uint32_t k, unsigned axis, int64_t want,
                          const char *axis_name) {
  Val array = m->call->args[k];
  int64_t n;
  bool known = array.ins && known_extent(array.ins, axis, &n);
  return expect(m, ty_extent(m->ty, array, axis), known ? &n : NULL, want,
                arena_printf(&m->ty->cx->arena, "tile %c has {0} %s, and must have %lld here",
                             names[k], axis_name, (long long)want));
}

static Val stride(Ty *ty, Val array, unsigned axis) {
  return ty_op_i(ty, OP_STRIDE, ty_id(ty, TY_PYINT), axis, &array, 1);
}

static bool expect_stride(const Mma *m, uint32_t k, unsigned axis, int64_t want,
                          const char *message) {
  Val array = m->call->args[k];
  int64_t n;
  bool known = array.ins && known_stride(array.ins, axis, &n);
  return expect(m, stride(m->ty, array, axis), known ? &n : NULL, want, message);
}

/* The memory that a view is of; NULL: not known. */
static IrAlloc *allocated(const Ins *array) {
  while (array && array->op == OP_VIEW)
    array = array->args[0];
  return array && array->op == OP_ALLOC ? (IrAlloc *)(uintptr_t)array->aux.alloc : NULL;
}

/* A tile begins with the first of 8 rows, at a chunk of 16 bytes. */
static void check_beginning(const Mma *m, uint32_t k) {
  Ty *ty = m->ty;
  Val array = m->call->args[k];
  int64_t atom = ATOM_ROWS * m->swizzle, mask = (atom - 1) & ~(m->swizzle - CHUNK_BYTES);
  IrAlloc *own = allocated(array.ins);
  if (own && own->align < atom)
    own->align = (uint32_t)atom;
  if (!ty->cx->checked)
    return;
  Val address = ty_op1(ty, OP_ADDRESS, ty_id(ty, TY_PYINT), array);
  Val rest = ty_int_op(ty, OP_AND, address, ty_const_int(ty, mask));
  const char *message = arena_printf(
      &ty->cx->arena,
      "%s: tile %c begins {0} bytes beyond a multiple of %lld: it may begin at a multiple of 8 rows "
      "of %lld bytes, and there at a multiple of 16 bytes",
      m->call->name, names[k], (long long)atom, (long long)m->swizzle);
  ty_check(ty, ty_int_test(ty, OP_EQ, rest, ty_const_int(ty, 0)), "ValueError", message,
           (Val[]){ty_int_op(ty, OP_AND, address, ty_const_int(ty, atom - 1))}, 1);
}

/* Tile k, with `lines` rows of A or columns of B: the array, and the bytes between the parts of one
 * that has an axis of parts of a swizzle's width, or 0. */
static bool read_tile(const Mma *m, uint32_t k, int64_t lines, Val *out) {
  Ty *ty = m->ty;
  Val array = m->call->args[k];
  const Type *t = array.type;
  int64_t width = m->swizzle / (int64_t)ty_size(t->elem);
  bool parts = m->major[k] && t->ndim == 3, ok = true;
  unsigned first = parts ? 1 : 0;
  if (t->ndim != 2 + first) {
    (void)ty_argument_type(ty, m->call, k,
                           m->major[k]
                               ? "a tile of two axes, or of three: parts of the swizzle's width"
                               : "a tile of two axes");
    return false;
  }
  if (parts) {
    ok = lines % width == 0 ||
         (wrong(ty, m->call,
                arena_printf(&ty->cx->arena,
                             "tile %c has whole parts of %lld columns, and %lld are needed",
                             names[k], (long long)width, (long long)lines)),
          false);
    ok = ok && expect_extent(m, k, 0, lines / width, "parts");
  }
  ok =
      ok && expect_extent(m, k, first, m->major[k] ? m->row->k : lines, "rows") &&
      expect_extent(m, k, first + 1,
                    !m->major[k] ? m->row->k
                    : parts      ? width
                                 : lines,
                    "columns") &&
      expect_stride(m, k, first, m->swizzle,
                    arena_printf(&ty->cx->arena,
                                 "rows of tile %c are {0} bytes apart, and swizzle=%lld needs %lld",
                                 names[k], (long long)m->swizzle, (long long)m->swizzle)) &&
      expect_stride(m, k, first + 1, (int64_t)ty_size(t->elem),
                    arena_printf(&ty->cx->arena,
                                 "elements of a row of tile %c are {0} bytes apart, and must be "
                                 "neighbours",
                                 names[k]));
  if (!ok)
    return false;
  if (ty->emit)
    check_beginning(m, k);
  out[0] = array;
  out[1] = parts ? stride(ty, array, 0) : ty_const_int(ty, 0);
  return true;
}

static bool read_major(Mma *m, uint32_t k) {
  const TyCall *c = m->call;
  if (m->tile[k] && c->given[4 + k]) {
    (void)wrong(m->ty, c,
                arena_printf(&m->ty->cx->arena,
                             "tile %c is of cuda.smem_tile, which says how it "
                             "lies: leave out %c_major=",
                             names[k], names[k]));
    return false;
  }
  const Frozen *f =
      c->given[4 + k] && c->args[4 + k].type->id == TY_STR ? c->args[4 + k].type->frozen : NULL;
  const char *other = k ? "n" : "m";
  if (c->given[4 + k] && (!f || (strcmp(f->text, "k") != 0 && strcmp(f->text, other) != 0))) {
    (void)wrong(m->ty, c,
                arena_printf(&m->ty->cx->arena, "%c_major is 'k' or '%s'", names[k], other));
    return false;
  }
  if (!m->tile[k])
    m->major[k] = f && f->text[0] != 'k';
  if (!m->major[k] || m->row->majors > 0)
    return true;
  (void)wrong(
      m->ty, c,
      arena_printf(&m->ty->cx->arena, "%c_major='%s' is for elements of 16 bits", names[k], other));
  return false;
}

static const Row *find_row(TypeId factor, TypeId sum) {
  for (const Row *r = rows; r < rows + NROWS; r++)
    if (r->factor == factor && r->sum == sum)
      return r;
  return NULL;
}

static bool read_types(Mma *m) {
  const TyCall *c = m->call;
  Ty *ty = m->ty;
  const Type *a = element_of(c->args[0]),
             *b = c->args[1].type->id == TY_ARRAY ? element_of(c->args[1]) : NULL;
  if (!a || !b) {
    (void)ty_argument_type(
        ty, c, a ? 1 : 0,
        a ? "a tile: a view of an array of cuda.shared.array"
          : "a tile, a view of an array of cuda.shared.array, or a fragment, a tuple");
    return false;
  }
  if (!are_sums(c->args[2])) {
    (void)ty_argument_type(ty, c, 2, "accumulators, as of cuda.wgmma.zeros");
    return false;
  }
  const Type *sum = element_of(c->args[2]);
  m->row = a == b ? find_row(a->id, sum->id) : NULL;
  m->columns = 2 * (int64_t)c->args[2].type->n;
  if (!m->row) {
    (void)wrong(ty, c,
                arena_printf(&ty->cx->arena,
                             "no matrix operation has factors of %s and %s, and sums of %s",
                             ty_name(ty->cx, a), ty_name(ty->cx, b), ty_name(ty->cx, sum)));
    return false;
  }
  if (!valid_columns(sum->id, m->columns)) {
    (void)wrong(ty, c, about_columns(ty, m->columns));
    return false;
  }
  return true;
}

static bool read_swizzle(Mma *m) {
  const TyCall *c = m->call;
  if (m->swizzle && c->given[3]) {
    (void)wrong(m->ty, c, "tiles of cuda.smem_tile have their swizzle: leave out swizzle=");
    return false;
  }
  m->swizzle = m->swizzle ? m->swizzle : 128;
  if (c->given[3] && !fz_get_int(c->args[3].konst, &m->swizzle)) {
    (void)ty_not_constant(m->ty, arena_printf(&m->ty->cx->arena, "swizzle= of %s", c->name), NULL);
    return false;
  }
  if (m->swizzle == 128 || m->swizzle == 64 || m->swizzle == 32)
    return true;
  (void)wrong(m->ty, c, "swizzle is 128, 64 or 32, the bytes of a row");
  return false;
}

/* --- tiles that say how they lie: named tuples of a view and constants --- */

#define TITLE "SmemTile"
enum { TILE_ARRAY, TILE_MAJOR, TILE_SWIZZLE, TILE_FIELDS };

static bool read_tile_major(Ty *ty, const TyCall *c, bool *mn) {
  static const char *const all[] = {"K", "k", "MN", "mn", "M", "m", "N", "n"};
  const Frozen *f = c->given[1] && c->args[1].type->id == TY_STR ? c->args[1].type->frozen : NULL;
  for (uint32_t k = 0; k < sizeof all / sizeof *all; k++)
    if (f ? !strcmp(f->text, all[k]) : !c->given[1]) {
      *mn = k > 1;
      return true;
    }
  (void)wrong(ty, c, "the major axis is 'K' or 'MN'");
  return false;
}

Val ty_rule_smem_tile(Ty *ty, const TyCall *c) {
  static const char *const fields[] = {"array", "mn_major", "swizzle"};
  int64_t swizzle = 128;
  bool mn;
  if (c->args[0].type->id != TY_ARRAY || !element_of(c->args[0]))
    return ty_argument_type(ty, c, 0, "a view of an array of cuda.shared.array");
  if (c->given[2] && !fz_get_int(c->args[2].konst, &swizzle))
    return ty_not_constant(ty, "the swizzle of cuda.smem_tile", NULL);
  if (!read_tile_major(ty, c, &mn))
    return BOTTOM;
  if (swizzle != 128 && swizzle != 64 && swizzle != 32)
    return wrong(ty, c, "swizzle is 128, 64 or 32, the bytes of a row");
  Val items[] = {c->args[0], ty_const_int(ty, mn), ty_const_int(ty, swizzle)};
  Val tile = ty_make_tuple(ty, items, TILE_FIELDS);
  if (!ty_is_bottom(tile))
    tile.type = ty_named_tuple(ty->cx, tile.type->elems, TILE_FIELDS, fields, TITLE);
  return tile;
}

/* Factor k of the call, if it is such a tile, becomes the view; false: their swizzles differ. */
static bool take_tile(Mma *m, TyCall *call, uint32_t k) {
  Ty *ty = m->ty;
  Val v = call->args[k];
  int64_t mn = 0, swizzle = 0;
  if (v.type->id != TY_TUPLE || !v.type->title || strcmp(v.type->title, TITLE) != 0 ||
      v.type->n != TILE_FIELDS)
    return true;
  if (!fz_get_int(ty_item(ty, v, TILE_MAJOR).konst, &mn) ||
      !fz_get_int(ty_item(ty, v, TILE_SWIZZLE).konst, &swizzle)) {
    (void)ty_not_constant(ty, "how a tile lies", NULL);
    return false;
  }
  if (m->swizzle && m->swizzle != swizzle) {
    (void)wrong(ty, call,
                arena_printf(&ty->cx->arena,
                             "tile a has a swizzle of %lld bytes, and tile b of %lld",
                             (long long)m->swizzle, (long long)swizzle));
    return false;
  }
  m->tile[k] = true, m->major[k] = mn, m->swizzle = swizzle;
  call->args[k] = ty_item(ty, v, TILE_ARRAY);
  return !ty_is_bottom(call->args[k]);
}

/* Operands of the instruction: a, bytes between its parts, b, bytes between its parts, c, and the
 * numbers of the row of warpgroups.def, of the swizzle, of the majors (bit 0: A's, bit 1: B's). */
Val ty_rule_wgmma_mma(Ty *ty, const TyCall *given) {
  TyCall call = *given, *c = &call;
  Mma m = {.ty = ty, .call = c};
  Val args[8];
  if (!take_tile(&m, c, 0) || !take_tile(&m, c, 1) || !read_types(&m) || !read_swizzle(&m) ||
      !read_major(&m, 0) || !read_major(&m, 1))
    return BOTTOM;
  if (c->args[0].type->id == TY_TUPLE) {
    if (c->args[0].type->n != m.row->k / 2 || m.major[0])
      return wrong(
          ty, c,
          arena_printf(&ty->cx->arena,
                       "a fragment of A has %u elements of %s, and is neither K- nor M-major",
                       m.row->k / 2, ty_name(ty->cx, element_of(c->args[0]))));
    args[0] = c->args[0];
    args[1] = ty_const_int(ty, 0);
  } else if (!read_tile(&m, 0, LINES, args)) {
    return BOTTOM;
  }
  if (!read_tile(&m, 1, m.columns, args + 2))
    return BOTTOM;
  args[4] = c->args[2];
  args[5] = ty_const_int(ty, m.row - rows);
  args[6] = ty_const_int(ty, m.swizzle);
  args[7] = ty_const_int(ty, m.major[0] | m.major[1] << 1);
  return ty_intrinsic(ty, c->id, c->args[2].type, args, 8);
}

/* --- acc.row(i), acc.col(i): where in the tile of 64 rows a thread's element i is --- */

bool ty_are_accumulators(const Type *t) {
  Val v = {.type = t};
  return t->id == TY_TUPLE && !t->title && t->n >= 4 && t->n % 4 == 0 && are_sums(v);
}

static Val part(Ty *ty, Val v, int64_t right, int64_t mask, int64_t left) {
  v = ty_int_op(ty, OP_AND, ty_int_op(ty, OP_RSHIFT, v, ty_const_int(ty, right)),
                ty_const_int(ty, mask));
  return ty_int_op(ty, OP_LSHIFT, v, ty_const_int(ty, left));
}

/* The number of this thread in its block. */
static Val thread_number(Ty *ty) {
  Val at[3], size[2];
  for (unsigned k = 0; k < 3; k++)
    at[k] = ty_intrinsic(ty, INTR_TID_X + (IntrinsicId)k, ty_id(ty, TY_PYINT), NULL, 0);
  for (unsigned k = 0; k < 2; k++)
    size[k] = ty_intrinsic(ty, INTR_NTID_X + (IntrinsicId)k, ty_id(ty, TY_PYINT), NULL, 0);
  Val row = ty_int_op(ty, OP_ADD, ty_int_op(ty, OP_MUL, at[2], size[1]), at[1]);
  return ty_int_op(ty, OP_ADD, ty_int_op(ty, OP_MUL, row, size[0]), at[0]);
}

static bool is_index(Ty *ty, Val v, const char *name, Val *out) {
  if (!ty_is_number(v.type) || !ty_is_integral(v.type) || ty_kind(v.type) == KIND_BOOL) {
    (void)TY_FAIL(ty, ERR_ARGUMENTS, name, "it takes the number of an element, an integer");
    return false;
  }
  *out = ty_cast_id(ty, v, TY_PYINT);
  return true;
}

Val ty_accumulator_row(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)self;
  (void)n;
  Val i, t;
  if (!is_index(ty, args[0], "row", &i))
    return BOTTOM;
  t = thread_number(ty);
  Val row = ty_int_op(ty, OP_ADD, part(ty, t, 5, 3, 4), part(ty, t, 2, 7, 0));
  return ty_int_op(ty, OP_ADD, row, part(ty, i, 1, 1, 3));
}

Val ty_accumulator_col(Ty *ty, Val self, const Val *args, uint32_t n) {
  (void)self;
  (void)n;
  Val i, lane = ty_intrinsic(ty, INTR_LANEID, ty_id(ty, TY_PYINT), NULL, 0);
  if (!is_index(ty, args[0], "col", &i))
    return BOTTOM;
  Val column = ty_int_op(ty, OP_ADD, part(ty, i, 2, 63, 3), part(ty, lane, 0, 3, 1));
  return ty_int_op(ty, OP_ADD, column, part(ty, i, 0, 1, 0));
}
