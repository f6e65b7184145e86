/* NVPTX staged stores: a warp's records by stores of neighbouring words.
 *
 *   out[t, 0, 0] = a; out[t, 0, 1] = b; …; out[t, 2, 2] = i      # 36 bytes of each thread
 *
 * Each of these stores writes 4 bytes of 32 sectors, and stores are not joined on their way to L2:
 * nine times as much of its bandwidth as the bytes need. So the records go to shared memory, and
 * from there word by word, those of the whole warp side by side:
 *
 *   if 32 threads are here, with records one behind the other, and no gaps in them:
 *     staged[lane] = a, b, …, i
 *     for k in 0 … 8: first[32 * k + lane] = word 32 * k + lane of staged
 *   else: the stores as they are
 *
 * In: a run of stores of wide_accesses.c that become no wide accesses, of one type of 4 or 8 bytes,
 * in a kernel without shared memory of its own. Whether one row follows the other, and one thread's
 * record the other's, is known at run time only. */
#include "codegen/llvm/copy.h"
#include "codegen/llvm/graph.h"
#include "codegen/nvptx/nvptx.h"
#include "codegen/nvptx/memory/wide_accesses.h"

enum {
  WARP = 32,
  FEWEST = 5, /* stores of a record: of three, what they save is little */
  MOST = 16,
  WIDE = 16,    /* bytes: records of multiples of it are for wide accesses */
  THREADS = 256 /* of a block, at most: there is shared memory for so many */
};

static const char name[] = "staged$0";

typedef struct Record {
  Cg *cg;
  Run *run;
  int64_t at[MOST]; /* by store: its place in the record */
  unsigned bytes;
} Record;

static int64_t first_of(const Run *r, unsigned group) {
  int64_t first = r->all[group].constant;
  for (unsigned k = group; k < r->n; k++)
    if (r->all[k].group == group && r->all[k].constant < first)
      first = r->all[k].constant;
  return first;
}

/* Is it a record, group behind group, if these follow each other at run time? */
static bool read_record(Record *record) {
  const Run *r = record->run;
  const Access *all = r->all;
  bool used[MOST] = {0};
  int64_t begin = 0;
  for (unsigned g = 0; g < r->n; g++) {
    int64_t end = begin;
    for (unsigned k = g; k < r->n && all[g].group == g; k++) {
      if (all[k].group != g)
        continue;
      record->at[k] = begin + all[k].constant - first_of(r, g);
      end += all[k].bytes;
    }
    begin = end;
  }
  for (unsigned k = 0; k < r->n; k++) {
    int64_t number = record->at[k] / all[0].bytes;
    if (all[k].type != all[0].type || record->at[k] % all[0].bytes || number >= r->n ||
        used[number])
      return false;
    used[number] = true;
  }
  record->bytes = r->n * all[0].bytes;
  return record->bytes % WIDE != 0;
}

static LLVMValueRef intrinsic(Cg *cg, const char *of, LLVMValueRef *args, unsigned n) {
  return l_call(cg->builder, cg_intrinsic_fn(cg, of, NULL, 0), args, n);
}

/* Has the first lane of the mask the same 64 bits? */
static LLVMValueRef is_firsts(Cg *cg, LLVMValueRef mask, LLVMValueRef v) {
  LLVMBuilderRef b = cg->builder;
  LLVMValueRef same = NULL;
  for (unsigned half = 0; half < 2; half++) {
    LLVMValueRef part = half ? l_lshr(b, v, l_int(cg->t.i64, 32)) : v;
    part = l_trunc(b, part, cg->t.i32);
    LLVMValueRef args[] = {mask, part, l_int(cg->t.i32, 0), l_int(cg->t.i32, WARP - 1)};
    LLVMValueRef first = intrinsic(cg, "llvm.nvvm.shfl.sync.idx.i32", args, 4);
    LLVMValueRef equal = l_icmp(b, LLVMIntEQ, first, part);
    same = same ? l_and(b, same, equal) : equal;
  }
  return same;
}

/* Are all lanes here, and do their records follow each other? */
static LLVMValueRef follow_each_other(Record *record, LLVMValueRef lane, LLVMValueRef threads) {
  Cg *cg = record->cg;
  LLVMBuilderRef b = cg->builder;
  const Run *r = record->run;
  LLVMValueRef begin = NULL, all = l_icmp(b, LLVMIntULE, threads, l_int(cg->t.i32, THREADS));
  for (unsigned g = 0; g < r->n; g++) {
    if (r->all[g].group != g)
      continue;
    LLVMValueRef p = cg_access_at(cg, cg_access_common(cg, &r->all[g]), first_of(r, g));
    p = l_ptrtoint(b, p, cg->t.i64);
    p = l_sub(b, p,
              l_int(cg->t.i64, (uint64_t)(record->at[g] + first_of(r, g) - r->all[g].constant)));
    all = begin ? l_and(b, all, l_icmp(b, LLVMIntEQ, p, begin)) : all;
    begin = begin ? begin : p;
  }
  LLVMValueRef before = l_mul(b, lane, l_int(cg->t.i32, record->bytes));
  begin = l_sub(b, begin, l_zext(b, before, cg->t.i64));
  LLVMValueRef mask = intrinsic(cg, "llvm.nvvm.activemask", NULL, 0);
  all = l_and(b, all, l_icmp(b, LLVMIntEQ, mask, LLVMConstAllOnes(cg->t.i32)));
  all = l_and(b, all, is_firsts(cg, mask, begin));
  return intrinsic(cg, "llvm.nvvm.vote.all.sync", (LLVMValueRef[]){mask, all}, 2);
}

static LLVMValueRef memory(const Record *record) {
  Cg *cg = record->cg;
  LLVMTypeRef type = LLVMArrayType2(cg->t.i8, (uint64_t)record->bytes * THREADS);
  LLVMValueRef v = LLVMAddGlobalInAddressSpace(cg->module, type, name, NVPTX_SHARED);
  LLVMSetAlignment(v, 8);
  LLVMSetInitializer(v, LLVMGetPoison(type));
  LLVMSetLinkage(v, LLVMInternalLinkage);
  return v;
}

static void meet(Cg *cg) {
  LLVMValueRef all = LLVMConstAllOnes(cg->t.i32);
  intrinsic(cg, "llvm.nvvm.bar.warp.sync", &all, 1);
}

static LLVMValueRef further(Cg *cg, LLVMValueRef from, LLVMValueRef bytes) {
  LLVMValueRef at = l_zext(cg->builder, bytes, cg->t.i64);
  return l_gep(cg->builder, cg->t.i8, from, &at, 1);
}

static void write_staged(Record *record, LLVMValueRef lane, LLVMValueRef thread) {
  Cg *cg = record->cg;
  LLVMBuilderRef b = cg->builder;
  const Run *r = record->run;
  unsigned bytes = r->all[0].bytes;
  LLVMValueRef warp = l_and(b, thread, l_int(cg->t.i32, ~(uint32_t)(WARP - 1)));
  LLVMValueRef of_warp = further(cg, memory(record),
                                 l_mul(b, warp, l_int(cg->t.i32, record->bytes)));
  LLVMValueRef own = further(cg, of_warp, l_mul(b, lane, l_int(cg->t.i32, record->bytes)));
  for (unsigned k = 0; k < r->n; k++)
    LLVMSetAlignment(
        l_store(b, LLVMGetOperand(r->all[k].ins, 0), cg_access_at(cg, own, record->at[k])), bytes);
  meet(cg);
  LLVMValueRef column = l_mul(b, lane, l_int(cg->t.i32, bytes));
  LLVMValueRef from = further(cg, of_warp, column);
  LLVMValueRef back = l_mul(b, lane, l_int(cg->t.i32, (uint64_t)bytes - record->bytes));
  back = l_int_cast(b, back, cg->t.i64, true);
  LLVMValueRef first = cg_access_at(cg, cg_access_common(cg, &r->all[0]), first_of(r, 0));
  LLVMValueRef to = l_gep(b, cg->t.i8, first, &back, 1);
  LLVMValueRef words[MOST];
  for (unsigned k = 0; k < r->n; k++) {
    words[k] = l_load(b, r->all[0].type, cg_access_at(cg, from, (int64_t)k * WARP * bytes));
    LLVMSetAlignment(words[k], bytes);
  }
  for (unsigned k = 0; k < r->n; k++)
    LLVMSetAlignment(l_store(b, words[k], cg_access_at(cg, to, (int64_t)k * WARP * bytes)), bytes);
  meet(cg);
}

void cg_stage_stores(Run *r, LLVMValueRef end) {
  Cg *cg = r->cg;
  LLVMBuilderRef b = cg->builder;
  Record record = {.cg = cg, .run = r};
  bool free = !cg->static_shared && !cg->uses_dynamic_shared &&
              !LLVMGetNamedGlobal(cg->module, name) &&
              LLVMGetBasicBlockParent(LLVMGetInstructionParent(end)) == cg->kernel;
  if (!free || r->n < FEWEST || r->n > MOST || r->all[0].bytes < 4 || !read_record(&record))
    return;
  LLVMBasicBlockRef front = graph_cut_before(cg, end), join = LLVMGetInstructionParent(end),
                    yes = LLVMInsertBasicBlockInContext(cg->context, join, ""),
                    no = LLVMInsertBasicBlockInContext(cg->context, join, "");
  LLVMValueRef threads;
  l_at_end(b, front, NULL);
  LLVMValueRef thread = cg_nvptx_thread_number(cg, &threads);
  LLVMValueRef lane = l_and(b, thread, l_int(cg->t.i32, WARP - 1));
  l_condbr(b, follow_each_other(&record, lane, threads), yes, no);
  l_at_end(b, yes, r->all[0].ins);
  write_staged(&record, lane, thread);
  l_br(b, join);
  l_at_end(b, no, NULL);
  for (unsigned k = 0; k < r->n; k++)
    copy_ins(b, r->all[k].ins, (LLVMValueRef[2]){0});
  l_br(b, join);
  for (unsigned k = 0; k < r->n; k++)
    LLVMInstructionEraseFromParent(r->all[k].ins);
}
