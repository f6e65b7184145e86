/* Lanes: groups of 2**n neighbouring lanes within a vector. See lanes.h.
 *
 * Where a few lanes take a row (`row = i // 8`, `for k in range(i % 8, n, 8)`), what varies is
 * linear within groups of lanes: uniform, or with a constant step. An address that steps by the
 * size of an element there is one contiguous access for each group, not a gather. And the lanes
 * that run behind `i % 8 == 0` are every eighth one, so a scatter is one of an eighth of the lanes.
 *
 * An optimistic analysis of the values that shape.c leaves as varying: each begins unknown, groups
 * only become smaller, and a step that changes makes it none. Within a group a value is linear
 * modulo its type in all lanes, whether they run or not: what is blended or computed lane by lane
 * is in no group, and operations whose lanes differ by a step are written without flags, which are
 * promises about the lanes that run (values.c). */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

enum { LEAST_LOG = 2 /* smaller groups gain nothing over a gather */ };
enum { AHEAD = 8, NEAR = 1 << 17 };

static const Group unknown = {0}, none = {.known = true};

static Group group(unsigned log, int64_t step) {
  return log ? (Group){.known = true, .log = log, .step = step} : none;
}
static unsigned all_lanes(const Lanes *l) { return (unsigned)__builtin_ctz(l->width); }
static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

Group ln_group(Lanes *l, LLVMValueRef v) {
  const LaneValue *own = ln_value(l, v);
  Shape s = ln_shape(l, v);
  if (own && s.kind == SHAPE_VECTOR)
    return own->group;
  return s.kind == SHAPE_STEP ? group(all_lanes(l), s.step) : none;
}

static Group operand(Lanes *l, LLVMValueRef i, unsigned k) {
  return ln_group(l, LLVMGetOperand(i, k));
}

/* --- the analysis --- */

/* a + by * b; unknown while one of them is. */
static Group sum(Group a, int64_t by, Group b) {
  int64_t step;
  if (!a.known || !b.known)
    return unknown;
  if (__builtin_mul_overflow(by, b.step, &step) || __builtin_add_overflow(a.step, step, &step))
    return none;
  return group(least(a.log, b.log), step);
}

/* Either of them. */
static Group both(Group a, Group b) {
  if (!a.known || !b.known)
    return a.known ? a : b;
  return a.step == b.step ? group(least(a.log, b.log), a.step) : none;
}

/* Of what depends on its operands alone: uniform where all of these are. */
static Group all_uniform(Lanes *l, LLVMValueRef i) {
  Group g = group(all_lanes(l), 0);
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(i); k < n; k++) {
    Group o = operand(l, i, k);
    if (!o.known)
      return unknown;
    g = o.step ? none : group(least(g.log, o.log), 0);
    if (!g.log)
      return none;
  }
  return g;
}

/* The n of a constant 2**n (or, with `less`, 2**n - 1) from 2 on, up to the lanes of a vector; 0:
 * it is none. */
static unsigned log_of(Lanes *l, LLVMValueRef v, bool less) {
  if (!LLVMIsAConstantInt(v) || LLVMGetIntTypeWidth(LLVMTypeOf(v)) > 64)
    return 0;
  uint64_t n = LLVMConstIntGetZExtValue(v) + less;
  return n >= 2 && n <= l->width && (n & (n - 1)) == 0 ? (unsigned)__builtin_ctzll(n) : 0;
}

/* Does it step by one from a multiple of 2**log? */
static bool begins_at(Lanes *l, LLVMValueRef v, unsigned log) {
  Shape s = ln_shape(l, v);
  return log && s.kind == SHAPE_STEP && s.step == 1 && s.zeros >= log;
}

/* The n of `x % 2**n` where that is the lane's number in its group of 2**n; else 0. */
static unsigned log_of_low_bits(Lanes *l, LLVMValueRef i) {
  if (!LLVMIsABinaryOperator(i))
    return 0;
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  unsigned log = op == LLVMAnd    ? log_of(l, LLVMGetOperand(i, 1), true)
                 : op == LLVMURem ? log_of(l, LLVMGetOperand(i, 1), false)
                                  : 0;
  return begins_at(l, LLVMGetOperand(i, 0), log) ? log : 0;
}

/* `x // 2**n`, the number of the group: uniform in it. */
static unsigned log_of_high_bits(Lanes *l, LLVMValueRef i) {
  LLVMOpcode op = LLVMGetInstructionOpcode(i);
  LLVMValueRef by = LLVMGetOperand(i, 1);
  unsigned log = 0;
  if (op == LLVMUDiv)
    log = log_of(l, by, false);
  else if (LLVMIsAConstantInt(by) && LLVMGetIntTypeWidth(LLVMTypeOf(by)) <= 64)
    log = least((unsigned)LLVMConstIntGetZExtValue(by), all_lanes(l));
  return begins_at(l, LLVMGetOperand(i, 0), log) ? log : 0;
}

static Group product(Lanes *l, LLVMValueRef i, bool shift) {
  LLVMValueRef y = LLVMGetOperand(i, 1);
  if (!LLVMIsAConstantInt(y) || LLVMGetIntTypeWidth(LLVMTypeOf(y)) > 64)
    return all_uniform(l, i);
  int64_t by = LLVMConstIntGetSExtValue(y);
  if (shift && (by < 0 || by >= 32))
    return all_uniform(l, i);
  return sum(group(all_lanes(l), 0), shift ? (int64_t)1 << by : by, operand(l, i, 0));
}

/* With a step only of what is small and not negative, whose extension does not wrap. */
static Group extension(Lanes *l, LLVMValueRef i) {
  LLVMValueRef x = LLVMGetOperand(i, 0);
  Group g = operand(l, i, 0);
  unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(x)), low = log_of_low_bits(l, x);
  return !g.step || (low && low < bits) ? g : none;
}

static Group address(Lanes *l, LLVMValueRef i, const LaneValue *v) {
  if (LLVMGetNumOperands(i) != 2 || v->element)
    return none;
  LLVMValueRef index = LLVMGetOperand(i, 1);
  Group at = operand(l, i, 1);
  if (at.step && LLVMGetIntTypeWidth(LLVMTypeOf(index)) != 64)
    return none;
  return sum(operand(l, i, 0), (int64_t)LLVMABISizeOfType(l->cg->layout, ln_gep_unit(l, i)), at);
}

static Group choice(Lanes *l, LLVMValueRef i) {
  Group c = operand(l, i, 0), x = operand(l, i, 1), y = operand(l, i, 2);
  if (!c.known || !x.known || !y.known)
    return unknown;
  return c.step ? none : sum(both(x, y), 1, c);
}

static Group phi_group(Lanes *l, const LaneValue *v) {
  Group g = unknown;
  if (ln_is_blend(l, v))
    return none;
  for (unsigned k = 0; k < LLVMCountIncoming(v->old); k++)
    g = both(g, ln_group(l, LLVMGetIncomingValue(v->old, k)));
  return g;
}

static Group find_group(Lanes *l, const LaneValue *v) {
  LLVMValueRef i = v->old;
  unsigned log;
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMAdd: return sum(operand(l, i, 0), 1, operand(l, i, 1));
  case LLVMSub: return sum(operand(l, i, 0), -1, operand(l, i, 1));
  case LLVMMul: return product(l, i, false);
  case LLVMShl: return product(l, i, true);
  case LLVMAnd:
  case LLVMURem:
    log = log_of_low_bits(l, i);
    if (log)
      return group(log, 1);
    break;
  case LLVMLShr:
  case LLVMAShr:
  case LLVMUDiv:
    log = log_of_high_bits(l, i);
    if (log)
      return group(log, 0);
    break;
  case LLVMZExt:
  case LLVMSExt: return extension(l, i);
  case LLVMTrunc: return operand(l, i, 0);
  case LLVMGetElementPtr: return address(l, i, v);
  case LLVMSelect: return choice(l, i);
  case LLVMPHI: return phi_group(l, v);
  case LLVMFreeze:
  case LLVMLoad:
  case LLVMCall: return none;
  default: break;
  }
  /* lanes that do not run divide by one */
  bool apart = cg_is_division(i) && ln_may_rest(l, v->block);
  return cg_only_computes(i) && !apart && ln_is_element(LLVMTypeOf(i)) ? all_uniform(l, i) : none;
}

void ln_find_groups(Lanes *l) {
  for (bool again = !l->how.strict; again;) {
    again = false;
    for (uint32_t k = 0; k < l->values.len; k++) {
      LaneValue *v = &l->values.data[k];
      Group old = v->group;
      if (v->shape.kind != SHAPE_VECTOR || (old.known && !old.log))
        continue;
      Group g = find_group(l, v);
      if (old.known)
        g = g.known ? both(old, g) : old;
      again |= g.known != old.known || g.log != old.log;
      v->group = g;
    }
  }
}

/* --- accesses --- */

unsigned ln_grouped(Lanes *l, LLVMValueRef i) {
  bool stores = LLVMIsAStoreInst(i);
  LLVMTypeRef t = LLVMTypeOf(stores ? LLVMGetOperand(i, 0) : i);
  if (!cg_is_plain_access(i) || !ln_is_element(t) || LLVMGetTypeKind(t) == LLVMPointerTypeKind)
    return 0;
  Shape s = ln_shape(l, LLVMGetOperand(i, stores));
  Group g = operand(l, i, stores);
  int64_t size = (int64_t)LLVMABISizeOfType(l->cg->layout, t);
  return s.kind == SHAPE_VECTOR && g.log >= LEAST_LOG && g.step == size &&
                 LLVMSizeOfTypeInBits(l->cg->layout, t) == 8 * (uint64_t)size
             ? 1u << g.log
             : 0;
}

/* n elements from `begin` on, `by` apart, of x and then y (poison if NULL). */
static LLVMValueRef some_of(Lanes *l, LLVMValueRef x, LLVMValueRef y, unsigned begin, unsigned by,
                            unsigned n) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    all[k] = l_int(l->cg->t.i32, begin + k * by);
  return l_shuffle(l->b, x, y ? y : LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(all, n));
}

/* Rows that are shorter than what the hardware needs to see a stream are fetched for the vectors of
 * threads that follow, which are as far apart as the groups are here. Longer ones it follows, and
 * they would evict lines that are still needed: then the distance is 0. In bytes. */
static LLVMValueRef distance_to_next(Lanes *l, LLVMValueRef pointers, unsigned n) {
  const CgTypes *t = &l->cg->t;
  LLVMValueRef ends[2];
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef at = l_extract_element(l->b, pointers, l_int(t->i32, k * n));
    ends[k] = l_cast(l->b, LLVMPtrToInt, l_freeze(l->b, at), t->i64);
  }
  LLVMValueRef by = l_mul(l->b, l_sub(l->b, ends[1], ends[0]),
                          l_int(t->i64, AHEAD * (l->width / n)));
  LLVMValueRef is_near = l_icmp(l->b, LLVMIntULE, by, l_int(t->i64, NEAR));
  return l_select(l->b, is_near, by, l_int(t->i64, 0));
}

/* Addresses that are as far apart as those, and mostly the same in all iterations. */
static LLVMValueRef rows_of(Lanes *l, LLVMValueRef pointer) {
  LLVMValueRef base = LLVMIsAGetElementPtrInst(pointer) ? LLVMGetOperand(pointer, 0) : pointer;
  bool is = ln_shape(l, base).kind == SHAPE_VECTOR && ln_group(l, base).log &&
            ln_shape(l, LLVMGetOperand(pointer, 1)).kind == SHAPE_VECTOR;
  return ln_vector(l, is ? base : pointer);
}

/* The address of the first lane of a group, from which the others are linear whether it runs or
 * not, and the mask of the group, NULL if all run. A group in which none runs is not accessed. */
static LLVMValueRef place_of(Lanes *l, LLVMValueRef pointers, unsigned k, unsigned n,
                             LLVMValueRef *mask) {
  LLVMValueRef at = l_extract_element(l->b, pointers, l_int(l->cg->t.i32, k * n));
  *mask = l->mask_now ? some_of(l, l->mask_now, NULL, k * n, 1, n) : NULL;
  return *mask ? l_freeze(l->b, at) : at;
}

LLVMValueRef ln_load_grouped(Lanes *l, LLVMValueRef i, unsigned n) {
  assert(n >= 2 && n < l->width && l->width % n == 0);
  LLVMTypeRef all = LLVMVectorType(LLVMTypeOf(i), n);
  LLVMValueRef *parts = ARENA_ARRAY(l->arena, LLVMValueRef, l->width / n), mask,
               pointers = ln_vector(l, LLVMGetOperand(i, 0)),
               by = l->blocks[l->at].in->loop != GRAPH_NONE
                        ? distance_to_next(l, rows_of(l, LLVMGetOperand(i, 0)), n)
                        : NULL;
  unsigned count = l->width / n;
  for (unsigned k = 0; k < count; k++) {
    LLVMValueRef at = place_of(l, pointers, k, n, &mask);
    parts[k] = ln_load_run(l, all, at, mask, LLVMGetAlignment(i));
    if (by)
      ln_prefetch(l, l_gep(l->b, l->cg->t.i8, at, &by, 1), false);
  }
  for (; count > 1; count /= 2, n *= 2)
    for (unsigned k = 0; k < count / 2; k++)
      parts[k] = some_of(l, parts[2 * k], parts[2 * k + 1], 0, 1, 2 * n);
  return parts[0];
}

/* In the order of the lanes, like any store. */
void ln_store_grouped(Lanes *l, LLVMValueRef i, unsigned n) {
  assert(n >= 2 && n < l->width && l->width % n == 0);
  LLVMValueRef all = ln_vector(l, LLVMGetOperand(i, 0)), mask,
               pointers = ln_vector(l, LLVMGetOperand(i, 1));
  for (unsigned k = 0; k < l->width / n; k++) {
    LLVMValueRef at = place_of(l, pointers, k, n, &mask);
    ln_store_run(l, some_of(l, all, NULL, k * n, 1, n), at, mask, LLVMGetAlignment(i));
  }
}

/* --- which lanes run a block --- */

typedef bool (*LanesTest)(Lanes *l, LLVMValueRef icmp, Some *some);

/* x and y, and y as a selection; of conditions that fail, x or y. */
static bool is_both(LLVMValueRef condition, bool fails) {
  if (LLVMIsASelectInst(condition)) {
    LLVMValueRef other = LLVMGetOperand(condition, fails ? 1 : 2);
    return LLVMIsAConstantInt(other) && LLVMConstIntGetZExtValue(other) == fails;
  }
  return LLVMIsABinaryOperator(condition) &&
         LLVMGetInstructionOpcode(condition) == (fails ? LLVMOr : LLVMAnd);
}

/* Does that the condition holds (or, with `fails`, fails) mean an equation that passes the test? */
static bool implies(Lanes *l, LLVMValueRef condition, bool fails, LanesTest test, Some *some) {
  if (is_both(condition, fails)) {
    unsigned second = LLVMIsASelectInst(condition) && fails ? 2 : 1;
    return implies(l, LLVMGetOperand(condition, 0), fails, test, some) ||
           implies(l, LLVMGetOperand(condition, second), fails, test, some);
  }
  return LLVMIsAICmpInst(condition) &&
         LLVMGetICmpPredicate(condition) == (fails ? LLVMIntNE : LLVMIntEQ) &&
         LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(condition, 0))) == LLVMIntegerTypeKind &&
         test(l, condition, some);
}

/* Is the block behind a branch whose condition does? */
static bool is_behind(Lanes *l, uint32_t block, LanesTest test, Some *some) {
  for (uint32_t n = l->blocks[block].in->idom; n != GRAPH_NONE; n = l->blocks[n].in->idom) {
    Fork fork;
    if (!graph_fork(l->blocks[n].in->last, &fork) || fork.yes == fork.no)
      continue;
    for (int fails = 0; fails < 2; fails++) {
      uint32_t side = graph_number(&l->g, fails ? fork.no : fork.yes);
      if (side != GRAPH_NONE && l->blocks[side].in->npred == 1 &&
          graph_dominates(&l->g, side, block) && implies(l, fork.condition, fails, test, some))
        return true;
    }
  }
  return false;
}

/* t == 0 */
static bool is_of_one_lane(Lanes *l, LLVMValueRef icmp, Some *some) {
  LLVMValueRef x = LLVMGetOperand(icmp, 0), y = LLVMGetOperand(icmp, 1);
  Shape a = ln_shape(l, x), b = ln_shape(l, y);
  int64_t rise;
  (void)some;
  return a.kind == SHAPE_STEP && b.kind == SHAPE_STEP && (!a.step) != (!b.step) &&
         ln_rise(l, LLVMTypeOf(x), a.step + b.step, &rise);
}

bool ln_runs_alone(Lanes *l, uint32_t block) { return is_behind(l, block, is_of_one_lane, NULL); }

/* t % 8 == 0 */
static bool is_of_every_few(Lanes *l, LLVMValueRef icmp, Some *some) {
  LLVMValueRef x = LLVMGetOperand(icmp, 0), y = LLVMGetOperand(icmp, 1);
  if (LLVMIsAZExtInst(x))
    x = LLVMGetOperand(x, 0);
  unsigned log = log_of_low_bits(l, x);
  if (!log || log == all_lanes(l) || !LLVMIsAConstantInt(y) || LLVMConstIntGetZExtValue(y) >> log)
    return false;
  *some = (Some){.first = (unsigned)LLVMConstIntGetZExtValue(y), .by = 1u << log};
  return true;
}

Some ln_lanes_of(Lanes *l, uint32_t block) {
  Some some = {.first = 0, .by = 1};
  return is_behind(l, block, is_of_every_few, &some) ? some : (Some){.first = 0, .by = 1};
}

LLVMValueRef ln_only(Lanes *l, Some some, LLVMValueRef vector) {
  return some.by == 1 ? vector : some_of(l, vector, NULL, some.first, some.by, l->width / some.by);
}
