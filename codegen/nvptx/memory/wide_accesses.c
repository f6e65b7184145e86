/* NVPTX wide accesses: neighbouring elements that a thread loads, or stores, in one access.
 *
 *   a, b, c, d = matrices[t, 0, 0], matrices[t, 0, 1], matrices[t, 0, 2], matrices[t, 0, 3]
 *
 * Where threads are records apart, each of these loads touches a cache line for each thread or two
 * of a warp, and the load pipe takes one line after another. So it is the number of accesses that
 * counts, and stores in pieces of a sector reach the L2 one by one. Whether an access of 16 bytes
 * may be made is known at run time only: by the array's address, and by the widths of its rows.
 * So both forms are written:
 *
 *   if (address & 15) == 0, of all accesses and in all threads of the warp:
 *     a, b, c, d = load of 16 bytes
 *   else:
 *     a = load; b = load; c = load; d = load
 *
 * All threads of the warp, since a warp whose threads differ would run both. Where the address is
 * the array's and multiples of the widths of its rows, these are tested instead: they are the same
 * in all threads, and ask for no vote.
 *
 * In: functions as they go to the code generator. Accesses to global memory in one block that is in
 * no loop, between which nothing is written (loads), or nothing is read or written elsewhere
 * (stores). Addresses are known as a common address and a constant. Left alone is what neighbouring
 * threads have side by side, as a stencil's points: there accesses touch few lines as they are. */
#include <llvm-c/DebugInfo.h>

#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/llvm/keep_guards.h"
#include "codegen/llvm/match.h"
#include "codegen/nvptx/memory/wide_accesses.h"
#include "codegen/nvptx/nvptx.h"

enum {
  GLOBAL = 1,
  WIDEST = 16,     /* bytes of an access */
  NARROWEST = 4,   /* and at least */
  MOST = RUN_MOST, /* accesses of a run */
  MOST_WORDS = 72, /* of 32 bits: what is loaded at once */
  FEWER = 2,       /* accesses less, for which it is worth a test */
  DEEP = 12        /* operations between an address and what it is made of */
};

/* --- addresses --- */

static uint64_t bytes_of(const Cg *cg, LLVMTypeRef t) { return LLVMABISizeOfType(cg->layout, t); }

/* v without constants that are added to it; in *sum what they add up to. */
static LLVMValueRef without_constants(LLVMValueRef v, int64_t *sum) {
  for (unsigned depth = 0; depth < DEEP; depth++) {
    bool wide = LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64;
    LLVMValueRef in = v;
    if (LLVMIsASExtInst(v) || (LLVMIsAZExtInst(v) && LLVMGetNNeg(v)))
      in = LLVMGetOperand(v, 0);
    else if (cg_is_op(v, LLVMAdd) && (wide || LLVMGetNSW(v)) &&
             LLVMIsAConstantInt(LLVMGetOperand(v, 1))) {
      *sum += LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
      in = LLVMGetOperand(v, 0);
    }
    if (in == v)
      return v;
    v = in;
  }
  return v;
}

Access cg_access_of(const Cg *cg, LLVMValueRef i, bool store) {
  Access a = {.ins = i, .type = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i)};
  a.bytes = (unsigned)bytes_of(cg, a.type);
  a.element = cg->t.i8;
  LLVMValueRef p = cg_base_of(cg, LLVMGetOperand(i, store), &a.constant);
  if (cg_is_op(p, LLVMGetElementPtr) && LLVMGetNumIndices(p) == 1 &&
      LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(p, 1))) == LLVMIntegerTypeKind) {
    int64_t elements = 0;
    a.element = LLVMGetGEPSourceElementType(p);
    a.index = without_constants(LLVMGetOperand(p, 1), &elements);
    a.constant += elements * (int64_t)bytes_of(cg, a.element);
    p = LLVMGetOperand(p, 0);
  }
  a.from = p;
  return a;
}

bool cg_is_side_by_side(const Access *a, const Access *b) {
  return a->from == b->from && a->index == b->index && a->element == b->element &&
         a->type == b->type;
}

bool cg_nvptx_is_thread(LLVMValueRef v) {
  return cg_is_call_of_any(v, "llvm.nvvm.read.ptx.sreg.tid.") ||
         cg_is_call_of_any(v, "llvm.nvvm.read.ptx.sreg.laneid");
}

/* How far apart neighbouring threads are in an address. */
typedef enum Spread {
  SAME,  /* not that we know */
  DENSE, /* by less than a wide access, or by what is no multiple of it */
  APART  /* by its multiples, or by a number that is known at run time only */
} Spread;

/* By v, times so many bytes. Numbers that were loaded may be anything. */
static Spread spread_of(LLVMValueRef v, uint64_t bytes, unsigned wide, unsigned depth) {
  if (!v || !LLVMIsAInstruction(v) || LLVMIsAPHINode(v))
    return SAME;
  if (cg_nvptx_is_thread(v) || cg_is_op(v, LLVMLoad) || depth == DEEP)
    return bytes % wide ? DENSE : APART;
  bool product = cg_is_op(v, LLVMMul) || cg_is_op(v, LLVMShl);
  LLVMValueRef by = product ? LLVMGetOperand(v, 1) : NULL;
  if (product && LLVMIsAConstantInt(by)) {
    uint64_t n = LLVMConstIntGetZExtValue(by);
    n = cg_is_op(v, LLVMMul) ? n : (uint64_t)1 << (n & 63);
    return spread_of(LLVMGetOperand(v, 0), bytes * n, wide, depth + 1);
  }
  Spread most = SAME;
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n && most != DENSE; k++) {
    Spread s = spread_of(LLVMGetOperand(v, k), bytes, wide, depth + 1);
    most = s == SAME ? most : product ? APART : s;
  }
  return most;
}

/* Is it the same in all threads, as far as its code says? A loop's variable is, if it begins so:
 * `phi` is taken to be. */
static bool is_same_in_all(LLVMValueRef v, LLVMValueRef phi, unsigned depth) {
  if (v == phi || !LLVMIsAInstruction(v))
    return true;
  if (cg_nvptx_is_thread(v) || cg_is_op(v, LLVMLoad) || depth == DEEP)
    return false;
  bool same = true;
  if (LLVMIsAPHINode(v)) {
    for (unsigned k = 0; k < LLVMCountIncoming(v) && same; k++)
      same = is_same_in_all(LLVMGetIncomingValue(v, k), v, depth + 1);
    return same;
  }
  for (unsigned k = 0, n = (unsigned)LLVMGetNumOperands(v); k < n && same; k++)
    same = is_same_in_all(LLVMGetOperand(v, k), phi, depth + 1);
  return same;
}

/* --- groups: what may be one access --- */

/* The access of the group to that place; NULL if there is none. */
static Access *at(Run *r, unsigned group, int64_t constant) {
  for (unsigned k = 0; k < r->n; k++)
    if (!r->all[k].done && r->all[k].group == group && r->all[k].constant == constant)
      return &r->all[k];
  return NULL;
}

/* How many bytes the widest access from that place on has: of elements that are all there, at a
 * multiple of so many. One element's if there is none. */
static unsigned widest_at(Run *r, unsigned group, int64_t constant, unsigned bytes) {
  for (unsigned wide = WIDEST; wide > bytes && wide >= NARROWEST; wide /= 2) {
    bool whole = constant % wide == 0;
    for (unsigned k = bytes; k < wide && whole; k += bytes)
      whole = at(r, group, constant + k) != NULL;
    if (whole)
      return wide;
  }
  return bytes;
}

/* In a group, is there a place twice, or an access of another group between two of its stores? */
static bool is_mixed(Run *r, unsigned group) {
  unsigned first = MOST, last = 0;
  for (unsigned k = 0; k < r->n; k++) {
    Access *a = &r->all[k];
    if (a->done || a->group != group)
      continue;
    if (at(r, group, a->constant) != a)
      return true;
    first = first == MOST ? k : first;
    last = k;
  }
  for (unsigned k = first; k < last && r->stores; k++)
    if (r->all[k].group != group)
      return true;
  return false;
}

/* Are neighbouring threads apart there, or do they all read one place in a loop? */
static bool pays(const Run *r, const Access *a, unsigned wide) {
  Spread s = spread_of(a->index, bytes_of(r->cg, a->element), wide, 0);
  return s == APART || (s == SAME && r->common && a->index && is_same_in_all(a->index, NULL, 0));
}

/* What the group gains. Nothing if it has no access of 16 bytes and is more than one access: rows
 * of three elements begin at multiples of 8 bytes in one thread of two. */
static Gain gain_of(Run *r, unsigned group) {
  Gain g = {0};
  unsigned members = 0, accesses = 0;
  Access *first = NULL;
  for (unsigned k = 0; k < r->n; k++)
    if (!r->all[k].done && r->all[k].group == group) {
      first = first ? first : &r->all[k];
      members++;
    }
  if (members < 2 || is_mixed(r, group))
    return g;
  for (unsigned k = 0; k < r->n; k++) {
    Access *a = &r->all[k];
    if (a->done || a->group != group)
      continue;
    int64_t in = a->constant & (WIDEST - 1), begin = a->constant - in;
    bool inside = false; /* of an access that began in front of it */
    for (int64_t b = begin; b < a->constant; b += a->bytes)
      inside |= at(r, group, b) && b + widest_at(r, group, b, a->bytes) > a->constant;
    unsigned wide = widest_at(r, group, a->constant, a->bytes);
    accesses += !inside;
    g.widest = !inside && wide > a->bytes && wide > g.widest ? wide : g.widest;
  }
  g.words = (members * first->bytes + 3) / 4;
  if ((g.widest == WIDEST || accesses == 1) && pays(r, first, g.widest))
    g.fewer = members - accesses;
  return g;
}

/* --- the code --- */

static bool is_in_front(void *front, LLVMValueRef i) { return !copy_is_behind(front, i); }

/* The low bits of a group's common address, as far as its widest access asks for them: 0 if all
 * its wide accesses may be made. In 32 bits: no address is kept for it. */
static LLVMValueRef low_bits(Cg *cg, const Access *a, unsigned widest) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef low = l_trunc(b, l_ptrtoint(b, a->from, cg->t.i64), cg->t.i32);
  if (a->index) {
    LLVMValueRef index = l_int_cast(b, a->index, cg->t.i32, true);
    low = l_add(b, low, l_mul(b, index, l_int(cg->t.i32, bytes_of(cg, a->element))));
  }
  return l_and(b, low, l_int(cg->t.i32, widest - 1));
}

/* Is v the same in all threads of a launch? */
static bool is_uniform(LLVMValueRef v, unsigned depth) {
  if (LLVMIsAConstantInt(v) || cg_is_kernel_argument(v))
    return true;
  return depth < DEEP && cg_is_extension(v) && is_uniform(LLVMGetOperand(v, 0), depth + 1);
}

/* Numbers whose multiples, only, make an index: a row's width. */
typedef struct Widths {
  LLVMValueRef of[DEEP];
  unsigned n;
} Widths;

/* false: the index has parts of which no such number is known. */
static bool find_widths(Cg *cg, Widths *w, LLVMValueRef index, unsigned depth) {
  bool product = cg_is_op(index, LLVMMul);
  LLVMValueRef a = index;
  if (depth > DEEP)
    return false;
  if (cg_is_extension(index))
    return find_widths(cg, w, LLVMGetOperand(index, 0), depth + 1);
  if (cg_is_op(index, LLVMAdd))
    return find_widths(cg, w, LLVMGetOperand(index, 0), depth + 1) &&
           find_widths(cg, w, LLVMGetOperand(index, 1), depth + 1);
  if (cg_is_op(index, LLVMShl) && LLVMIsAConstantInt(LLVMGetOperand(index, 1)))
    a = l_int(cg->t.i32, (uint64_t)1 << (LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1)) & 31));
  else if (product)
    a = LLVMGetOperand(index, is_uniform(LLVMGetOperand(index, 1), 0));
  if (w->n == DEEP || !is_uniform(a, 0))
    return false;
  w->of[w->n++] = a;
  return true;
}

/* Is the access's address made of what all threads have in common? */
static bool find_common(Cg *cg, Widths *w, const Access *a) {
  return cg_is_kernel_argument(a->from) && (!a->index || find_widths(cg, w, a->index, 0));
}

/* The same of what all threads have in common: the array's address and the widths of its rows. 0 in
 * one thread is 0 in all. NULL if the common address is made of more. */
LLVMValueRef cg_wide_common_bits(Cg *cg, const Access *a, unsigned widest) {
  LLVMBuilderRef b = cg->builder;
  Widths w = {0};
  if (!find_common(cg, &w, a))
    return NULL;
  LLVMValueRef low = l_trunc(b, l_ptrtoint(b, a->from, cg->t.i64), cg->t.i32);
  for (unsigned k = 0; k < w.n; k++) {
    LLVMValueRef width = l_int_cast(b, w.of[k], cg->t.i32, true);
    low = l_or(b, low, l_mul(b, width, l_int(cg->t.i32, bytes_of(cg, a->element))));
  }
  return l_and(b, low, l_int(cg->t.i32, widest - 1));
}

LLVMValueRef cg_access_common(Cg *cg, const Access *a) {
  if (!a->index)
    return a->from;
  LLVMValueRef index = l_int_cast(cg->builder, a->index, cg->t.i64, true);
  return l_gep(cg->builder, a->element, a->from, &index, 1);
}

LLVMValueRef cg_access_at(Cg *cg, LLVMValueRef from, int64_t constant) {
  LLVMValueRef distance = l_int(cg->t.i64, (uint64_t)constant);
  return constant ? l_gep(cg->builder, cg->t.i8, from, &distance, 1) : from;
}

LLVMValueRef cg_nvptx_in_all(Cg *cg, LLVMBuilderRef b, LLVMValueRef condition) {
  LLVMValueRef mask = l_call(b, cg_intrinsic_fn(cg, "llvm.nvvm.activemask", NULL, 0), NULL, 0);
  return l_call(b, cg_intrinsic_fn(cg, "llvm.nvvm.vote.all.sync", NULL, 0),
                (LLVMValueRef[]){mask, condition}, 2);
}

void cg_wide_write(Run *r, unsigned group, LLVMValueRef *wide) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef from = cg_access_common(cg, &r->all[group]);
  bool written[MOST] = {0};
  for (unsigned k = 0; k < r->n; k++) {
    Access *a = &r->all[k];
    if (a->done || a->group != group)
      continue;
    if (written[k])
      continue;
    int64_t begin = a->constant & ~(int64_t)(WIDEST - 1);
    while (begin < a->constant &&
           (!at(r, group, begin) || begin + widest_at(r, group, begin, a->bytes) <= a->constant))
      begin += a->bytes;
    unsigned bytes = widest_at(r, group, begin, a->bytes), n = bytes / a->bytes;
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(a->ins));
    LLVMTypeRef type = n > 1 ? LLVMVectorType(a->type, n) : a->type;
    LLVMValueRef p = cg_access_at(cg, from, begin), v = n > 1 ? LLVMGetPoison(type) : NULL;
    if (!r->stores)
      LLVMSetAlignment(v = l_load(b, type, p), bytes);
    for (unsigned e = 0; e < n; e++) {
      unsigned of = (unsigned)(at(r, group, begin + e * a->bytes) - r->all);
      LLVMValueRef place = l_int(cg->t.i32, e), ins = r->all[of].ins;
      written[of] = true;
      if (r->stores)
        v = n > 1 ? l_insert_element(b, v, LLVMGetOperand(ins, 0), place) : LLVMGetOperand(ins, 0);
      else
        wide[of] = n > 1 ? l_extract_element(b, v, place) : v;
    }
    if (r->stores)
      LLVMSetAlignment(l_store(b, v, p), bytes);
  }
  LLVMSetCurrentDebugLocation2(b, NULL); /* copies of other accesses keep their own */
}

static void join_loads(Run *r, const bool *chosen, LLVMValueRef const *wide, LLVMBasicBlockRef yes,
                       LLVMValueRef const *plain, LLVMBasicBlockRef no, LLVMValueRef end) {
  for (unsigned k = 0; k < r->n; k++) {
    Access *a = &r->all[k];
    if (!chosen[k])
      continue;
    LLVMPositionBuilderBefore(r->cg->builder, end);
    LLVMValueRef phi = l_phi(r->cg->builder, a->type);
    LLVMAddIncoming(phi, (LLVMValueRef[]){wide[k], plain[k]}, (LLVMBasicBlockRef[]){yes, no}, 2);
    LLVMReplaceAllUsesWith(a->ins, phi);
  }
}

/* All accesses as they are; plain: the value of each load. */
static void write_plain(Run *r, const bool *chosen, LLVMValueRef *plain) {
  Cg *cg = r->cg;
  LLVMValueRef from[MOST] = {0};
  for (unsigned k = 0; k < r->n; k++) {
    Access *a = &r->all[k];
    LLVMValueRef operands[2] = {0};
    if (!chosen[k] && !r->stores)
      continue;
    if (chosen[k] && a->group == k)
      from[k] = cg_access_common(cg, a);
    if (chosen[k])
      operands[r->stores] = cg_access_at(cg, from[a->group], a->constant);
    plain[k] = copy_ins(cg->builder, a->ins, operands);
  }
}

/* Both forms of the chosen groups, in front of `end`. */
static void write_forms(Run *r, const Gain *gains, const bool *chosen, LLVMValueRef end) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  bool differs = false; /* from thread to thread */
  LLVMValueRef wide[MOST] = {0}, plain[MOST] = {0}, bits = NULL;
  LLVMBasicBlockRef front = graph_cut_before(cg, end), join = LLVMGetInstructionParent(end),
                    yes = LLVMInsertBasicBlockInContext(cg->context, join, ""),
                    no = LLVMInsertBasicBlockInContext(cg->context, join, "");
  l_at_end(b, front, NULL);
  for (unsigned k = 0; k < r->n; k++)
    if (chosen[k] && r->all[k].group == k) {
      LLVMValueRef own = cg_wide_common_bits(cg, &r->all[k], gains[k].widest);
      differs |= !own;
      own = own ? own : low_bits(cg, &r->all[k], gains[k].widest);
      bits = bits ? l_or(b, bits, own) : own;
    }
  LLVMValueRef fits = l_icmp(b, LLVMIntEQ, bits, l_int(cg->t.i32, 0));
  l_condbr(b, differs ? cg_nvptx_in_all(cg, b, fits) : fits, yes, no);
  l_at_end(b, yes, NULL);
  for (unsigned k = 0; k < r->n; k++)
    if (chosen[k] && r->all[k].group == k)
      cg_wide_write(r, k, wide);
    else if (r->stores && !chosen[k])
      copy_ins(b, r->all[k].ins, (LLVMValueRef[2]){0});
  l_br(b, join);
  l_at_end(b, no, NULL);
  write_plain(r, chosen, plain);
  l_br(b, join);
  if (!r->stores)
    join_loads(r, chosen, wide, yes, plain, no, end);
  for (unsigned k = 0; k < r->n; k++)
    if (chosen[k] || r->stores) {
      LLVMInstructionEraseFromParent(r->all[k].ins);
      r->all[k].done = r->all[k].erased = true;
    }
}

/* --- runs --- */

static void form_groups(Run *r, Gain *gains) {
  for (unsigned k = 0; k < r->n; k++) {
    unsigned group = 0;
    while (group < k &&
           (r->all[group].group != group || !cg_is_side_by_side(&r->all[group], &r->all[k])))
      group++;
    r->all[k].group = group;
  }
  for (unsigned k = 0; k < r->n; k++)
    gains[k] = r->all[k].group == k ? gain_of(r, k) : (Gain){0};
}

/* Can the group's address be known in front of that instruction? */
static bool is_known(const Run *r, unsigned group, LLVMValueRef front) {
  const Access *a = &r->all[group];
  Spot s = {.has = is_in_front, .user = front};
  return cg_is_ready(&s, a->from) && (!a->index || cg_is_ready(&s, a->index));
}

static void choose(Run *r, const Gain *gains, bool *chosen, unsigned group) {
  for (unsigned k = group; k < r->n; k++)
    if (r->all[k].group == group) {
      chosen[k] = gains[group].fewer != 0;
      r->all[k].done |= !chosen[k];
    }
}

/* Words that may be loaded at once: half of the registers, where the user limits these. */
static unsigned most_words(const Cg *cg) {
  enum { ON_MULTIPROCESSOR = 65536 };
  const CgOptions *o = &cg->options;
  unsigned most = MOST_WORDS;
  if (o->max_registers && (unsigned)o->max_registers / 2 < most)
    most = (unsigned)o->max_registers / 2;
  unsigned threads = (unsigned)o->max_threads * (o->min_blocks ? (unsigned)o->min_blocks : 1);
  return threads && ON_MULTIPROCESSOR / threads / 2 < most ? ON_MULTIPROCESSOR / threads / 2 : most;
}

/* The first load of the group's block in front of which its address can be known. */
static LLVMValueRef earliest(const Run *r, unsigned group) {
  LLVMBasicBlockRef block = LLVMGetInstructionParent(r->all[group].ins);
  for (unsigned k = 0; k < group; k++) {
    const Access *a = &r->all[k];
    if (!a->erased && LLVMGetInstructionParent(a->ins) == block && is_known(r, group, a->ins))
      return a->ins;
  }
  return r->all[group].ins;
}

/* Loads: those whose addresses are known where the first one is come there. */
static void widen_loads(Run *r, const Gain *gains) {
  const unsigned most = most_words(r->cg);
  for (unsigned first = 0; first < r->n; first++) {
    bool chosen[MOST] = {0};
    unsigned fewer = 0, words = 0;
    if (r->all[first].done || r->all[first].group != first || !gains[first].fewer)
      continue;
    LLVMValueRef front = earliest(r, first);
    for (unsigned k = first; k < r->n; k++) {
      bool is_group = r->all[k].group == k && !r->all[k].done && gains[k].fewer;
      is_group &= !r->common || find_common(r->cg, &(Widths){0}, &r->all[k]);
      if (!is_group || words + gains[k].words > most || !is_known(r, k, front))
        continue;
      fewer += gains[k].fewer;
      words += gains[k].words;
      choose(r, gains, chosen, k);
    }
    if (fewer < FEWER)
      continue;
    for (unsigned k = 0; k < r->n; k++)
      if (chosen[k] && r->all[k].group == k) {
        copy_move_front(r->cg->builder, front, r->all[k].from);
        if (r->all[k].index)
          copy_move_front(r->cg->builder, front, r->all[k].index);
      }
    r->write(r, gains, chosen, front);
  }
}

/* Stores: all come where the last one is. */
static void widen_stores(Run *r, const Gain *gains) {
  bool chosen[MOST] = {0};
  unsigned fewer = 0;
  for (unsigned k = 0; k < r->n; k++)
    if (r->all[k].group == k) {
      fewer += gains[k].fewer;
      choose(r, gains, chosen, k);
    }
  for (unsigned k = 0; k < r->n; k++)
    r->all[k].done = false;
  LLVMValueRef end = LLVMGetNextInstruction(r->all[r->n - 1].ins);
  if (fewer >= FEWER)
    write_forms(r, gains, chosen, end);
  else if (spread_of(r->all[0].index, bytes_of(r->cg, r->all[0].element), WIDEST, 0) == APART)
    cg_stage_stores(r, end);
}

static void end_run(Run *r) {
  Gain gains[MOST];
  if (r->n > FEWER)
    form_groups(r, gains);
  if (r->n > FEWER && r->stores)
    widen_stores(r, gains);
  else if (r->n > FEWER)
    widen_loads(r, gains);
  r->n = 0;
}

static bool is_candidate(const Cg *cg, LLVMValueRef i, bool store) {
  if (!cg_is_op(i, store ? LLVMStore : LLVMLoad) || !cg_is_plain_access(i) ||
      LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, store))) != GLOBAL)
    return false;
  LLVMTypeRef t = LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i);
  return t == cg->t.i8 || t == cg->t.i16 || t == cg->t.i32 || t == cg->t.i64 || t == cg->t.f16 ||
         t == cg->t.bf16 || t == cg->t.f32 || t == cg->t.f64;
}

/* Does a run end here? What computes may be behind loads, and in front of stores. */
static bool ends_run(const Cg *cg, LLVMValueRef i, bool stores) {
  if (cg_is_op(i, LLVMLoad))
    return stores || !cg_is_plain_access(i);
  return !LLVMIsAPHINode(i) && !cg_is_speculatable(i) && !cg_is_slow(cg, i) && !cg_is_division(i) &&
         !cg_only_computes(i);
}

void cg_wide_visit(Run *r, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
    next = LLVMGetNextInstruction(i);
    if (is_candidate(r->cg, i, r->stores) && r->n < MOST)
      r->all[r->n++] = cg_access_of(r->cg, i, r->stores);
    else if (ends_run(r->cg, i, r->stores))
      end_run(r);
  }
}

/* Is there enough in a block that it can be worth a look? */
static bool has_many(const Cg *cg, LLVMBasicBlockRef block, bool stores) {
  unsigned n = 0;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    n += is_candidate(cg, i, stores);
  return n > FEWER;
}

void cg_nvptx_wide_accesses(Cg *cg) {
  for (LLVMValueRef f = LLVMGetFirstFunction(cg->module); f; f = LLVMGetNextFunction(f)) {
    VEC(LLVMBasicBlockRef) blocks[2] = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
      for (unsigned stores = 0; stores < 2; stores++)
        if (has_many(cg, b, stores))
          VEC_PUSH(&cg->cx->arena, &blocks[stores], b);
    if (!blocks[0].len && !blocks[1].len)
      continue;
    FnGraph g = graph_of(&cg->cx->arena, f, NULL);
    graph_loops(&g);
    for (unsigned stores = 0; stores < 2; stores++)
      for (uint32_t k = 0; k < blocks[stores].len; k++) {
        uint32_t n = graph_number(&g, blocks[stores].data[k]);
        Run *r = CX_NEW(cg->cx, Run);
        *r = (Run){.cg = cg, .stores = stores, .write = write_forms};
        if (n != GRAPH_NONE && g.nodes[n].loop == GRAPH_NONE)
          cg_wide_visit(r, blocks[stores].data[k]);
      }
  }
}
