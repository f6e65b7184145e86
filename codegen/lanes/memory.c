/* Lanes: loads and stores. See lanes.h; values.c calls it.
 *
 * An address that is linear with the size of the element, up or down, is one contiguous access,
 * masked where not all lanes run; of every second to fourth element it is a few of them
 * (strides.c); linear in groups of lanes it is one for each (groups.c); any other is a gather or
 * scatter. Complex numbers are interleaved pairs: one contiguous access of 2W parts and a shuffle.
 * An index that may count from the end (`a[-1]`) is linear but for its wrap-around: a run-time test
 * chooses between a contiguous access and a gather (from_end.c), as another does of indices that
 * count but for a remainder or a clamp (near.c). Types without a vector form, and volatile or
 * atomic accesses, go lane by lane.
 * Every access is legal here: shape.c and can_write of control.c have decided that before. */
#include <assert.h>

#include "codegen/lanes/private.h"
#include "codegen/llvm/match.h"

static LLVMValueRef call_masked(Lanes *l, const char *name, LLVMTypeRef const *overloads,
                                LLVMValueRef *args, unsigned n, unsigned pointer, unsigned align) {
  assert(pointer < n);
  LLVMValueRef fn = cg_intrinsic_fn(l->cg, name, overloads, 2);
  LLVMValueRef call = l_call(l->b, fn, args, n);
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAddCallSiteAttribute(call, 1 + pointer, LLVMCreateEnumAttribute(l->cg->context, kind, align));
  return call;
}

/* May there be a store before its value is used, in the innermost loop around it? */
static bool is_followed_by_writes(const Lanes *l) {
  uint32_t loop = l->blocks[l->at].in->loop;
  bool writes = false;
  for (uint32_t k = 0; k < l->nblocks && !writes; k++)
    writes = l->blocks[k].writes &&
             (loop == GRAPH_NONE || ln_in_set(&l->loops.data[loop].blocks, k));
  return writes;
}

/* Of a masked load and a selection by its mask, such as a phi becomes, LLVM 22 makes one load where
 * the selection is, behind a store that may have overwritten it (llvm-project, issue 215453). It
 * does not look through a freeze. */
static LLVMValueRef load_masked(Lanes *l, LLVMTypeRef all, LLVMValueRef first, LLVMValueRef mask,
                                unsigned align) {
  LLVMTypeRef types[] = {all, LLVMTypeOf(first)};
  LLVMValueRef args[] = {first, mask, LLVMGetPoison(all)};
  LLVMValueRef got = call_masked(l, "llvm.masked.load", types, args, 3, 0, align);
  return is_followed_by_writes(l) ? l_freeze(l->b, got) : got;
}

/* back: the last lane's element is the first one. */
static bool is_run_of(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t, bool back) {
  Shape s = ln_shape(l, pointer);
  uint64_t size = LLVMABISizeOfType(l->cg->layout, t);
  return s.kind == SHAPE_STEP && (uint64_t)(back ? -s.step : s.step) == size &&
         LLVMSizeOfTypeInBits(l->cg->layout, t) == 8 * size;
}

bool ln_is_run(Lanes *l, LLVMValueRef pointer, LLVMTypeRef t) {
  return is_run_of(l, pointer, t, false);
}

/* --- gathers --- */

enum { ALIGNED_ZEROS = 16 };

LLVMValueRef ln_zeros_to_read(Lanes *l) {
  static const char name[] = "pyptx.zeros";
  LLVMValueRef g = LLVMGetNamedGlobal(l->cg->module, name);
  if (!g) {
    LLVMTypeRef t = LLVMArrayType2(l->cg->t.i8, LANES_LINE_BYTES);
    g = LLVMAddGlobal(l->cg->module, t, name);
    LLVMSetInitializer(g, LLVMConstNull(t));
    LLVMSetLinkage(g, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(g, true);
    LLVMSetAlignment(g, ALIGNED_ZEROS);
  }
  return g;
}

/* Without an instruction for it (AVX2; of bytes and words AVX-512, too) a masked gather is a branch
 * for each lane, which is mispredicted about as often as the mask changes. Lanes that rest read a
 * zero then, which nothing uses, and the gather is as many loads in a row. */
LLVMValueRef ln_gather(Lanes *l, LLVMTypeRef vector, LLVMValueRef pointers, unsigned align) {
  LLVMTypeRef types[] = {vector, LLVMTypeOf(pointers)};
  LLVMValueRef mask = ln_mask_or_all(l);
  if (l->mask_now && !ln_gathers(l, LLVMGetElementType(vector))) {
    pointers = l_select(l->b, mask, pointers, ln_splat(l, ln_zeros_to_read(l)));
    mask = LLVMConstAllOnes(l->mask_type);
  }
  LLVMValueRef args[] = {pointers, mask, LLVMGetPoison(vector)};
  return call_masked(l, "llvm.masked.gather", types, args, 3, 0, align);
}

/* --- scatters --- */

static bool rests_without_branches(Lanes *l) {
  return l->mask_now && !ln_has_masks(l) && ln_rests_by_data(l, l->at);
}

/* An address to which any element may be written. */
static LLVMValueRef unread(Lanes *l) {
  if (!l->unread)
    l->unread = ln_new_slot(l, LLVMVectorType(l->cg->t.i64, 2));
  return l->unread;
}

/* Where it depends on data which lanes rest, they store to where nothing reads: a branch for each
 * would often be mispredicted. Most other masks have few lanes, and the same. */
static void write_scatter(Lanes *l, LLVMValueRef value, LLVMValueRef pointers, LLVMValueRef mask,
                          unsigned align) {
  LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(pointers)};
  if (rests_without_branches(l) && LLVMGetVectorSize(types[0]) == l->width) {
    pointers = l_select(l->b, mask, pointers, ln_splat(l, unread(l)));
    mask = LLVMConstAllOnes(l->mask_type);
  }
  LLVMValueRef args[] = {value, pointers, mask};
  call_masked(l, "llvm.masked.scatter", types, args, 3, 1, align);
}

/* --- pairs: a contiguous access of 2W parts, or two gathers --- */

enum { TWICE = UINT16_MAX };

/* Elements begin, begin + by, … of the concatenation of x and y. With `second` TWICE: each element
 * of x twice. With another `second`: elements k and k + second alternate, which interleaves x with
 * y. */
static LLVMValueRef shuffled(Lanes *l, LLVMValueRef x, LLVMValueRef y, unsigned n, unsigned begin,
                             unsigned by, unsigned second) {
  LLVMValueRef *all = ARENA_ARRAY(l->arena, LLVMValueRef, n);
  for (unsigned k = 0; k < n; k++)
    all[k] = l_int(l->cg->t.i32, second == TWICE ? k / 2
                                 : second        ? k / 2 + k % 2 * second
                                                 : begin + k * by);
  return l_shuffle(l->b, x, y, LLVMConstVector(all, n));
}

static LLVMValueRef mask_of_parts(Lanes *l) {
  return l->mask_now
             ? shuffled(l, l->mask_now, LLVMGetPoison(l->mask_type), 2 * l->width, 0, 0, TWICE)
             : NULL;
}

static LLVMValueRef pointer_to_part(Lanes *l, LLVMValueRef pointer, LLVMTypeRef part, unsigned k) {
  LLVMValueRef at = l_int(l->cg->t.i64, k);
  return l_gep(l->b, part, ln_vector(l, pointer), &at, 1);
}

static unsigned part_alignment(Lanes *l, LLVMValueRef i, LLVMTypeRef part) {
  unsigned align = LLVMGetAlignment(i), own = LLVMABIAlignmentOfType(l->cg->layout, part);
  return align < own ? align : own;
}

/* A pair of 64 bits is gathered and scattered as one integer: half as many accesses. */
static bool is_word(const Lanes *l, LLVMTypeRef pair) {
  return LLVMSizeOfTypeInBits(l->cg->layout, pair) == 64;
}

static LLVMValueRef gather_words(Lanes *l, LLVMValueRef pointer, LLVMTypeRef parts,
                                 unsigned align) {
  LLVMTypeRef words = LLVMVectorType(l->cg->t.i64, l->width);
  if (ln_steps_alone(l, pointer, l->cg->t.i64))
    return l_bitcast(l->b, ln_load_steps(l, words, pointer, align), parts);
  return l_bitcast(l->b, ln_gather(l, words, ln_vector(l, pointer), align), parts);
}

static void scatter_words(Lanes *l, LLVMValueRef parts, LLVMValueRef pointer, unsigned align) {
  LLVMValueRef words = l_bitcast(l->b, parts, LLVMVectorType(l->cg->t.i64, l->width));
  if (ln_steps_alone(l, pointer, l->cg->t.i64))
    ln_store_steps(l, words, pointer, align);
  else
    write_scatter(l, words, ln_vector(l, pointer), ln_mask_or_all(l), align);
}

/* The two values of a run and of what is read one by one, behind both. */
static LLVMValueRef end_run(Lanes *l, const NearRun *run, LLVMValueRef near, LLVMValueRef other) {
  LLVMValueRef got[] = {near, other};
  LLVMBasicBlockRef from[] = {run->there, run->other};
  ln_end_run(l, run);
  LLVMValueRef phi = l_phi(l->b, LLVMTypeOf(near));
  LLVMAddIncoming(phi, got, from, 2);
  return phi;
}

static void load_pairs(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(i), part = LLVMGetElementType(t),
              wide = LLVMVectorType(part, 2 * l->width), all = LLVMVectorType(part, l->width);
  assert(ln_is_pair(t) && v->shape.kind == SHAPE_VECTOR);
  LLVMValueRef pointer = LLVMGetOperand(i, 0), parts[2], both = NULL;
  unsigned align = part_alignment(l, i, part);
  if (ln_is_run(l, pointer, t)) {
    LLVMValueRef mask = ln_is_of_own_array(l, pointer) ? NULL : mask_of_parts(l);
    both = ln_load_run(l, wide, ln_scalar(l, pointer), mask, align);
  }
  NearRun run;
  if (!both && is_word(l, t) && ln_begin_run(l, pointer, t, &run)) {
    LLVMValueRef near = ln_load_run(l, wide, run.first, mask_of_parts(l), align);
    ln_else_run(l, &run);
    both = end_run(l, &run, near, gather_words(l, pointer, wide, LLVMGetAlignment(i)));
  }
  if (!both && is_word(l, t))
    both = gather_words(l, pointer, wide, LLVMGetAlignment(i));
  for (unsigned k = 0; k < 2; k++) {
    if (both) {
      parts[k] = shuffled(l, both, LLVMGetPoison(wide), l->width, k, 2, 0);
      continue;
    }
    parts[k] = ln_gather(l, all, pointer_to_part(l, pointer, part, k), align);
  }
  v->now = LLVMGetPoison(ln_vector_type(l, t));
  for (unsigned k = 0; k < 2; k++)
    v->now = l_insert_value(l->b, v->now, parts[k], k);
}

static void store_pairs(Lanes *l, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0), pointer = LLVMGetOperand(i, 1), parts[2];
  LLVMTypeRef t = LLVMTypeOf(value), part = LLVMGetElementType(t);
  unsigned align = part_alignment(l, i, part);
  value = ln_vector(l, value);
  for (unsigned k = 0; k < 2; k++)
    parts[k] = l_extract_value(l->b, value, k);
  bool run = ln_is_run(l, pointer, t);
  LLVMValueRef both =
      run || is_word(l, t) ? shuffled(l, parts[0], parts[1], 2 * l->width, 0, 0, l->width) : NULL;
  if (run) {
    (ln_is_of_own_array(l, pointer) ? ln_store_own : ln_store_run)(l, both, ln_scalar(l, pointer),
                                                                   mask_of_parts(l), align);
    return;
  }
  if (both) {
    NearRun near;
    bool may_run = ln_begin_run(l, pointer, t, &near);
    if (may_run) {
      ln_store_run(l, both, near.first, mask_of_parts(l), align);
      ln_else_run(l, &near);
    }
    scatter_words(l, both, pointer, LLVMGetAlignment(i));
    if (may_run)
      ln_end_run(l, &near);
    return;
  }
  for (unsigned k = 0; k < 2; k++)
    write_scatter(l, parts[k], pointer_to_part(l, pointer, part, k), ln_mask_or_all(l), align);
}

/* --- contiguous accesses --- */

LLVMValueRef ln_load_run(Lanes *l, LLVMTypeRef all, LLVMValueRef first, LLVMValueRef mask,
                         unsigned align) {
  if (mask)
    return load_masked(l, all, first, mask, align);
  LLVMValueRef got = l_load(l->b, all, first);
  LLVMSetAlignment(got, align);
  return got;
}

/* Does the access go to memory of which LLVM knows no bounds: an array's, whose address was loaded
 * or is an argument? */
static bool is_of_unknown_memory(LLVMValueRef pointer) {
  pointer = cg_array_of(pointer);
  return LLVMIsALoadInst(pointer) || LLVMIsAArgument(pointer);
}

/* A contiguous load. Without an instruction for it a masked load of bytes or
 * words is a branch for each lane. Where all of the vector is in one page, and a lane runs, that
 * page can be read, whatever lies beside the elements of the lanes that run: nothing uses it, and
 * they are all loaded at once. */
static LLVMValueRef load_run_now(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer,
                                 LLVMValueRef first, LLVMValueRef mask, unsigned align) {
  enum { LEAST_MASKED = 32, PAGE = 4096 };
  LLVMTypeRef i64 = l->cg->t.i64;
  uint64_t bytes = LLVMABISizeOfType(l->cg->layout, all);
  if (!mask || ln_has_masks(l) || bytes > PAGE || !is_of_unknown_memory(pointer) ||
      LLVMSizeOfTypeInBits(l->cg->layout, LLVMGetElementType(all)) >= LEAST_MASKED)
    return ln_load_run(l, all, first, mask, align);
  LLVMValueRef place = l_and(l->b, l_ptrtoint(l->b, l_freeze(l->b, first), i64),
                             l_int(i64, PAGE - 1));
  LLVMValueRef inside = l_icmp(l->b, LLVMIntULE, place, l_int(i64, PAGE - bytes)), got[2];
  LLVMBasicBlockRef from[] = {ln_new_block(l, "page"), ln_new_block(l, "pages")},
                    done = ln_new_block(l, "");
  l_condbr(l->b, l_and(l->b, ln_any(l, l->mask_now), inside), from[0], from[1]);
  for (unsigned k = 0; k < 2; k++) {
    LLVMPositionBuilderAtEnd(l->b, from[k]);
    got[k] = ln_load_run(l, all, first, k ? mask : NULL, align);
    l_br(l->b, done);
  }
  LLVMPositionBuilderAtEnd(l->b, done);
  LLVMValueRef phi = l_phi(l->b, all);
  LLVMAddIncoming(phi, got, from, 2);
  return phi;
}

void ln_store_run(Lanes *l, LLVMValueRef value, LLVMValueRef first, LLVMValueRef mask,
                  unsigned align) {
  if (mask) {
    LLVMTypeRef types[] = {LLVMTypeOf(value), LLVMTypeOf(first)};
    LLVMValueRef args[] = {value, first, mask};
    call_masked(l, "llvm.masked.store", types, args, 3, 1, align);
  } else {
    LLVMSetAlignment(l_store(l->b, value, first), align);
  }
}

/* The last lane first; NULL of NULL. */
static LLVMValueRef backwards(Lanes *l, LLVMValueRef v) {
  return v ? shuffled(l, v, LLVMGetPoison(LLVMTypeOf(v)), l->width, l->width - 1, UINT32_MAX, 0)
           : NULL;
}

/* Of accesses that go back from lane 0's address `first`: the last lane's. */
static LLVMValueRef last_of(Lanes *l, LLVMValueRef first, LLVMTypeRef t) {
  LLVMValueRef by = l_int(l->cg->t.i64, -(uint64_t)(l->width - 1));
  return l_gep(l->b, t, first, &by, 1);
}

static LLVMValueRef load_back(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer, LLVMValueRef first,
                              unsigned align) {
  LLVMValueRef last = last_of(l, first, LLVMGetElementType(all));
  return backwards(l, load_run_now(l, all, pointer, last, backwards(l, l->mask_now), align));
}

static void store_back(Lanes *l, LLVMValueRef value, LLVMValueRef first, unsigned align) {
  LLVMValueRef last = last_of(l, first, LLVMGetElementType(LLVMTypeOf(value)));
  ln_store_run(l, backwards(l, value), last, backwards(l, l->mask_now), align);
}

/* In front of a branch: what is read first on one of its paths does not dominate the other. */
static void read_here(Lanes *l, LLVMValueRef old) {
  if (ln_value(l, old))
    ln_read(l, ln_value(l, old));
}

/* Where all lanes run, a CPU that cannot gather needs no branch for each lane, and no vector of
 * addresses that step. Leaves the builder where they do. */
static NearRun begin_all(Lanes *l) {
  NearRun run = {NULL, ln_new_block(l, "all"), ln_new_block(l, "some"), ln_new_block(l, "")};
  LLVMValueRef bits = ln_bits(l, l->mask_now),
               all = l_icmp(l->b, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)));
  l_condbr(l->b, all, run.there, run.other);
  LLVMPositionBuilderAtEnd(l->b, run.there);
  return run;
}

static LLVMValueRef gather_steps(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer, unsigned align) {
  LLVMValueRef mask = l->mask_now;
  if (ln_steps_alone(l, pointer, LLVMGetElementType(all)))
    return ln_load_steps(l, all, pointer, align);
  if (!mask || ln_gathers(l, LLVMGetElementType(all)))
    return ln_gather(l, all, ln_vector(l, pointer), align);
  read_here(l, pointer);
  NearRun run = begin_all(l);
  l->mask_now = NULL;
  LLVMValueRef whole = ln_load_steps(l, all, pointer, align);
  l->mask_now = mask;
  ln_else_run(l, &run);
  return end_run(l, &run, whole, ln_gather(l, all, ln_vector(l, pointer), align));
}

/* Of those lanes alone that run here, as far as that is known. */
static void scatter(Lanes *l, LLVMValueRef value, LLVMValueRef pointer, unsigned align) {
  LLVMTypeRef element = LLVMGetElementType(LLVMTypeOf(value));
  if (ln_steps_alone(l, pointer, element)) {
    ln_store_steps(l, value, pointer, align);
    return;
  }
  LLVMValueRef pointers = ln_vector(l, pointer);
  Some some = ln_lanes_of(l, l->at);
  LLVMValueRef own = ln_only(l, some, value), at = ln_only(l, some, pointers),
               mask = ln_only(l, some, ln_mask_or_all(l));
  bool may_be_all = l->mask_now && !ln_gathers(l, element) && own == value &&
                    !rests_without_branches(l);
  NearRun run;
  if (may_be_all) {
    run = begin_all(l);
    if (ln_shape(l, pointer).kind == SHAPE_STEP)
      ln_store_steps(l, value, pointer, align);
    else
      write_scatter(l, value, pointers, LLVMConstAllOnes(l->mask_type), align);
    ln_else_run(l, &run);
  }
  write_scatter(l, own, at, mask, align);
  if (may_be_all)
    ln_end_run(l, &run);
}

static LLVMValueRef load_run_or_gather(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer,
                                       LLVMValueRef pointers, const Run *r, unsigned align) {
  RunBlocks w = ln_branch_on_sign(l, r);
  LLVMBasicBlockRef from[] = {w.run, w.wrapped};
  LLVMValueRef got[2];
  got[0] = r->by < 0 ? load_back(l, all, pointer, r->first, align)
                     : load_run_now(l, all, pointer, r->first, l->mask_now, align);
  from[0] = LLVMGetInsertBlock(l->b);
  l_br(l->b, w.done);
  LLVMPositionBuilderAtEnd(l->b, w.wrapped);
  got[1] = ln_gather(l, all, pointers ? pointers : ln_wrapped_addresses(l, r), align);
  l_br(l->b, w.done);
  LLVMPositionBuilderAtEnd(l->b, w.done);
  LLVMValueRef phi = l_phi(l->b, all);
  LLVMAddIncoming(phi, got, from, 2);
  return phi;
}

static void store_run_or_scatter(Lanes *l, LLVMValueRef value, LLVMValueRef pointer, const Run *r,
                                 unsigned align) {
  RunBlocks w = ln_branch_on_sign(l, r);
  if (r->by < 0)
    store_back(l, value, r->first, align);
  else
    ln_store_run(l, value, r->first, l->mask_now, align);
  l_br(l->b, w.done);
  LLVMPositionBuilderAtEnd(l->b, w.wrapped);
  scatter(l, value, pointer, align);
  l_br(l->b, w.done);
  LLVMPositionBuilderAtEnd(l->b, w.done);
}

/* --- prefetching --- */

enum { LINE = 64, AHEAD = 4 };

/* By how much the address advances in each iteration of the innermost loop, in units of its type,
 * if that is uniform but no constant (the grid's size). NULL otherwise. */
static LLVMValueRef stride_of(Lanes *l, LLVMValueRef pointer) {
  uint32_t loop = l->blocks[l->at].in->loop;
  if (loop == GRAPH_NONE || l->loops.data[loop].divergent || !LLVMIsAGetElementPtrInst(pointer) ||
      LLVMGetNumOperands(pointer) != 2 || !LLVMIsAPHINode(LLVMGetOperand(pointer, 1)))
    return NULL;
  const LaneLoop *around = &l->loops.data[loop];
  LLVMValueRef phi = LLVMGetOperand(pointer, 1);
  LaneValue *base = ln_value(l, LLVMGetOperand(pointer, 0));
  if (LLVMGetInstructionParent(phi) != l->blocks[around->in->header].in->block ||
      (base && ln_in_set(&around->blocks, base->block)))
    return NULL;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k);
    if (LLVMGetIncomingBlock(phi, k) != l->blocks[around->latch].in->block ||
        !LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd)
      continue;
    for (unsigned side = 0; side < 2; side++) {
      LLVMValueRef by = LLVMGetOperand(next, 1 - side);
      LaneValue *v = ln_value(l, by);
      if (LLVMGetOperand(next, side) == phi && !LLVMIsAConstant(by) &&
          ln_is_uniform(ln_shape(l, by)) && !(v && ln_in_set(&around->blocks, v->block)))
        return by;
    }
  }
  return NULL;
}

void ln_prefetch(Lanes *l, LLVMValueRef at, bool writes) {
  const CgTypes *t = &l->cg->t;
  LLVMTypeRef type = t->ptr;
  /* into all caches, data */
  LLVMValueRef args[] = {at, l_int(t->i32, writes), l_int(t->i32, 3), l_int(t->i32, 1)},
               fn = cg_intrinsic_fn(l->cg, "llvm.prefetch", &type, 1);
  l_call(l->b, fn, args, 4);
}

/* Hardware prefetchers do not follow single cache lines at a large stride. Longer accesses they do
 * follow, and prefetching those several iterations ahead would evict lines that are still needed.
 * What the next vector of threads reads in this iteration, too: the first lines of its loop, which
 * may be few. */
static void fetch_ahead(Lanes *l, LLVMValueRef pointer, LLVMValueRef first, uint64_t bytes) {
  LLVMValueRef by = bytes <= LINE ? stride_of(l, pointer) : NULL;
  if (!by)
    return;
  by = l_mul(l->b, ln_scalar(l, by), l_int(LLVMTypeOf(by), AHEAD));
  ln_prefetch(l, l_gep(l->b, LLVMGetGEPSourceElementType(pointer), first, &by, 1), false);
  LLVMValueRef next = l_int(l->cg->t.i64, bytes);
  ln_prefetch(l, l_gep(l->b, l->cg->t.i8, first, &next, 1), false);
}

static bool has_gather(Lanes *l, const LaneLoop *loop) {
  for (uint32_t k = 0; k < l->values.len; k++) {
    const LaneValue *v = &l->values.data[k];
    if (LLVMIsALoadInst(v->old) && ln_in_set(&loop->blocks, v->block) && !v->tile &&
        ln_shape(l, LLVMGetOperand(v->old, 0)).kind == SHAPE_VECTOR && !ln_grouped(l, v->old))
      return true;
  }
  return false;
}

/* In a loop down the rows of an array, beside a gather: what the next vector of threads reads in
 * this row. A gather is so many operations that a CPU has few iterations of such a loop in work,
 * and waits for the memory of each; and its prefetchers do not follow as many rows at a time. Where
 * there are more rows than caches hold lines, it would be gone before it is used. */
static void fetch_beside(Lanes *l, LLVMValueRef pointer, LLVMValueRef first, uint64_t bytes) {
  enum { ROWS = 4096 };
  uint32_t number = l->blocks[l->at].in->loop;
  if (number == GRAPH_NONE || !l->loops.data[number].in->innermost)
    return;
  const LaneLoop *loop = &l->loops.data[number];
  LLVMValueRef row = ln_counter_of_rows(l, pointer, loop);
  if (!row || !has_gather(l, loop))
    return;
  LLVMTypeRef i64 = l->cg->t.i64;
  LLVMValueRef is = l_icmp(l->b, LLVMIntULT, ln_scalar(l, row), l_int(i64, ROWS));
  for (uint64_t k = LINE; k <= (bytes > LINE ? bytes : LINE); k += LINE) {
    LLVMValueRef by = l_select(l->b, is, l_int(i64, bytes + k - 1), l_int(i64, 0));
    ln_prefetch(l, l_gep(l->b, l->cg->t.i8, first, &by, 1), false);
  }
}

/* A block that reads rows of an array into shared memory reads a line or two of each, which no
 * prefetcher follows: what the next block along x reads there, if a row of the block is two
 * vectors. */
static void fetch_next_block(Lanes *l, LLVMValueRef pointer, LLVMValueRef first, uint64_t bytes) {
  uint32_t number = l->blocks[l->at].in->loop;
  if (!l->how.whole || number == GRAPH_NONE || !l->loops.data[number].in->innermost ||
      !ln_counter_of_rows(l, pointer, &l->loops.data[number]))
    return;
  for (uint64_t k = 0; k < bytes; k += LINE) {
    LLVMValueRef by = l_int(l->cg->t.i64, 2 * bytes + k);
    ln_prefetch(l, l_gep(l->b, l->cg->t.i8, first, &by, 1), false);
  }
}

/* --- loads and stores --- */

static LLVMValueRef gather(Lanes *l, LLVMTypeRef all, LLVMValueRef pointer, LLVMTypeRef t,
                           unsigned align) {
  NearRun run;
  if (ln_shape(l, pointer).kind == SHAPE_STEP)
    return gather_steps(l, all, pointer, align);
  if (ln_begin_one(l, pointer, &run)) {
    LLVMValueRef one = ln_load_run(l, t, run.first, NULL, align), all_one = ln_splat(l, one);
    ln_else_run(l, &run);
    return end_run(l, &run, all_one, ln_gather(l, all, ln_vector(l, pointer), align));
  }
  if (!ln_begin_run(l, pointer, t, &run))
    return ln_gather(l, all, ln_vector(l, pointer), align);
  LLVMValueRef near = ln_load_run(l, all, run.first, l->mask_now, align);
  ln_else_run(l, &run);
  return end_run(l, &run, near, ln_gather(l, all, ln_vector(l, pointer), align));
}

/* A function of addresses, their mask and, to store, a vector of values (`all`). */
static LLVMValueRef make_apart(Lanes *l, const char *name, LLVMTypeRef type, LLVMTypeRef all,
                               unsigned align) {
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l->b);
  LLVMValueRef fn = LLVMAddFunction(l->cg->module, name, type), at = LLVMGetParam(fn, 0),
               mask = LLVMGetParam(fn, 1), none = LLVMGetPoison(all);
  LLVMTypeRef types[] = {all, LLVMTypeOf(at)};
  LLVMSetLinkage(fn, LLVMInternalLinkage);
  cg_attribute(l->cg, fn, L_FUNCTION, "noinline", 0);
  cg_attribute(l->cg, fn, L_FUNCTION, "optsize", 0);
  LLVMPositionBuilderAtEnd(l->b, LLVMAppendBasicBlockInContext(l->cg->context, fn, ""));
  if (LLVMCountParams(fn) == 2) {
    l_ret(l->b, call_masked(l, "llvm.masked.gather", types, (LLVMValueRef[]){at, mask, none}, 3, 0,
                            align));
  } else {
    LLVMValueRef args[] = {LLVMGetParam(fn, 2), at, mask};
    call_masked(l, "llvm.masked.scatter", types, args, 3, 1, align);
    l_ret_void(l->b);
  }
  LLVMPositionBuilderAtEnd(l->b, here);
  return fn;
}

/* One by one, by a call: code for each lane, beside every access that is hardly ever so, would make
 * segments too long to be optimised. value: NULL, they are loads. */
static LLVMValueRef access_apart(Lanes *l, LLVMValueRef value, LLVMTypeRef all,
                                 LLVMValueRef pointer, unsigned align) {
  LLVMValueRef args[] = {ln_vector(l, pointer), ln_mask_or_all(l), value};
  LLVMTypeRef types[] = {LLVMTypeOf(args[0]), l->mask_type, all},
              type = LLVMFunctionType(value ? l->cg->t.none : all, types, value ? 3 : 2, 0);
  char *text = LLVMPrintTypeToString(all);
  const char *name = arena_printf(l->arena, "$%s %s, %u", value ? "scatter" : "gather", text,
                                  align);
  LLVMDisposeMessage(text);
  LLVMValueRef fn = LLVMGetNamedFunction(l->cg->module, name);
  return l_call(l->b, fn ? fn : make_apart(l, name, type, all, align), args, value ? 3 : 2);
}

/* What is neither contiguous nor near each other. */
static LLVMValueRef load_apart(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(i), all = ln_vector_type(l, t);
  LLVMValueRef pointer = LLVMGetOperand(i, 0);
  unsigned align = LLVMGetAlignment(i);
  Run r = ln_find_run(l, pointer, t);
  LLVMValueRef pointers = v->tile || (r.x && !r.added) ? ln_vector(l, pointer) : NULL;
  return v->tile ? ln_load_walk(l, v, pointers, align)
         : r.x   ? load_run_or_gather(l, all, pointer, pointers, &r, align)
                 : gather(l, all, pointer, t, align);
}

void ln_write_load(Lanes *l, LLVMValueRef i, LaneValue *v) {
  LLVMTypeRef t = LLVMTypeOf(i), all = ln_vector_type(l, t);
  LLVMValueRef pointer = LLVMGetOperand(i, 0);
  unsigned align = LLVMGetAlignment(i), grouped = ln_grouped(l, i);
  bool spread = ln_is_spread(l, i, l->mask_now != NULL);
  if (cg_is_plain_access(i) && ln_is_pair(t)) {
    load_pairs(l, i, v);
  } else if (!cg_is_plain_access(i) || !ln_is_element(t) ||
             LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
    ln_write_lane_by_lane(l, i, v);
  } else if (ln_is_run(l, pointer, t) && ln_is_of_own_array(l, pointer)) {
    v->now = ln_load_run(l, all, ln_scalar(l, pointer), NULL, align);
  } else if (ln_is_run(l, pointer, t)) {
    LLVMValueRef first = ln_scalar(l, pointer);
    v->now = load_run_now(l, all, pointer, first, l->mask_now, align);
    uint64_t bytes = LLVMABISizeOfType(l->cg->layout, all);
    if (!l->mask_now)
      fetch_ahead(l, pointer, first, bytes);
    fetch_beside(l, pointer, first, bytes);
    fetch_next_block(l, pointer, first, bytes);
    ln_fetch_for_next(l, pointer, first, bytes, false);
  } else if (is_run_of(l, pointer, t, true)) {
    v->now = load_back(l, all, pointer, ln_scalar(l, pointer), align);
  } else if (spread) {
    v->now = ln_load_spread(l, i);
  } else if (grouped) {
    v->now = ln_load_grouped(l, i, grouped);
  } else if (ln_is_look_up(l, i)) {
    v->now = ln_look_up(l, i);
  } else {
    NearRun run;
    bool inside = ln_begin_inside(l, i, &run);
    LLVMValueRef got = inside ? ln_load_inside(l, i, run.first) : NULL;
    if (inside)
      ln_else_run(l, &run);
    v->now = inside && ln_shape(l, pointer).kind == SHAPE_STEP
                 ? access_apart(l, NULL, all, pointer, align)
                 : load_apart(l, i, v);
    run.other = LLVMGetInsertBlock(l->b);
    if (inside)
      v->now = end_run(l, &run, got, v->now);
  }
}

static void store_apart(Lanes *l, LLVMValueRef all, LLVMValueRef pointer, LLVMTypeRef t,
                        unsigned align) {
  Run r = ln_find_run(l, pointer, t);
  NearRun near;
  if (r.x) {
    store_run_or_scatter(l, all, pointer, &r, align);
  } else if (ln_begin_run(l, pointer, t, &near)) {
    ln_store_run(l, all, near.first, l->mask_now, align);
    ln_else_run(l, &near);
    scatter(l, all, pointer, align);
    ln_end_run(l, &near);
  } else {
    scatter(l, all, pointer, align);
  }
}

/* Lanes that store to the same address do so in the order of their numbers. */
void ln_write_store(Lanes *l, LLVMValueRef i) {
  LLVMValueRef value = LLVMGetOperand(i, 0), pointer = LLVMGetOperand(i, 1);
  LLVMTypeRef t = LLVMTypeOf(value);
  unsigned align = LLVMGetAlignment(i), grouped = ln_grouped(l, i);
  bool spread = ln_is_spread(l, i, l->mask_now != NULL);
  if (cg_is_plain_access(i) && ln_is_uniform(ln_shape(l, pointer)) &&
      ln_is_uniform(ln_shape(l, value))) {
    ln_copy_scalar(l, i);
  } else if (cg_is_plain_access(i) && ln_is_pair(t)) {
    store_pairs(l, i);
  } else if (!cg_is_plain_access(i) || !ln_is_element(t) ||
             LLVMGetTypeKind(t) == LLVMPointerTypeKind) {
    ln_write_lane_by_lane(l, i, NULL);
  } else if (ln_is_run(l, pointer, t) && ln_is_of_own_array(l, pointer)) {
    ln_store_own(l, ln_vector(l, value), ln_scalar(l, pointer), l->mask_now, align);
  } else if (ln_is_run(l, pointer, t)) {
    LLVMValueRef all = ln_vector(l, value), first = ln_scalar(l, pointer);
    ln_store_run(l, all, first, l->mask_now, align);
    ln_fetch_for_next(l, pointer, first, LLVMABISizeOfType(l->cg->layout, LLVMTypeOf(all)), true);
  } else if (is_run_of(l, pointer, t, true)) {
    store_back(l, ln_vector(l, value), ln_scalar(l, pointer), align);
  } else if (spread) {
    ln_store_spread(l, i);
  } else if (grouped) {
    ln_store_grouped(l, i, grouped);
  } else {
    LLVMValueRef all = ln_vector(l, value);
    NearRun run;
    read_here(l, pointer);
    bool inside = ln_begin_inside(l, i, &run);
    if (inside) {
      ln_store_inside(l, i, run.first);
      ln_else_run(l, &run);
    }
    if (inside && ln_shape(l, pointer).kind == SHAPE_STEP)
      access_apart(l, all, LLVMTypeOf(all), pointer, align);
    else
      store_apart(l, all, pointer, t, align);
    if (inside)
      ln_end_run(l, &run);
  }
}
