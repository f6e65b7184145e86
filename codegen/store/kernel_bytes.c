/* Kernel bytes: a compiled kernel as bytes, and back.
 *
 * One description of the format serves both directions: each pack_ function either writes a member,
 * or reads and checks it. The bytes are not trusted: a count that the remaining bytes cannot hold,
 * a text without its end, an offset out of bounds make the kernel a miss, never a crash. Numbers
 * are little-endian, as on all machines that we support.
 *
 * What a launch needs is packed; texts for inspection, timings and the loaded code are not. Host
 * code is an object file, which LLVM's JIT links again when the kernel is read. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/fork_lock.h"
#include "codegen/host/host.h"
#include "codegen/host/libdevice.h"
#include "codegen/llvm/cg.h"
#include "codegen/nvptx/libdevice.h"
#include "codegen/store/store.h"

/* A new member of one of these structures must be packed below if a launch needs it; then its size
 * here is updated. */
_Static_assert(sizeof(CgKernel) == 880, "pack_kernel packs what a launch needs of CgKernel");
_Static_assert(sizeof(CgSite) == 56, "pack_site packs every member of CgSite");
_Static_assert(sizeof(CgCall) == 48, "pack_call packs every member of CgCall");
_Static_assert(sizeof(CgGuard) == 48, "pack_guard packs every member of CgGuard");
_Static_assert(sizeof(Diag) == 224, "pack_advice packs every member of Diag");
_Static_assert(sizeof(RtCoarse) == 24, "pack_coarse packs every member of RtCoarse");
_Static_assert(sizeof(RtField) == 24, "pack_field packs every member of RtField");
_Static_assert(sizeof(RtHostCode) == 512,
               "pack_host packs every member of RtHostCode but the entry");

typedef struct Pack {
  Cg *cg;
  const CgKey *key;
  bool reading;
  const char *at, *end; /* reading */
  Buf out;              /* writing */
  CgKernel *kernel;     /* written, or being filled */
} Pack;

_Noreturn static void damaged(Pack *p) {
  fail(p->cg->cx, (Loc){0}, ERR_INTERNAL, "unpack", "these bytes are not a kernel");
}

static void need(Pack *p, bool ok) {
  if (!ok)
    damaged(p);
}

/* --- members --- */

static void pack_raw(Pack *p, void *data, size_t n) {
  if (!p->reading) {
    buf_add(&p->out, data, n);
    return;
  }
  assert(p->at <= p->end);
  need(p, (size_t)(p->end - p->at) >= n);
  memcpy(data, p->at, n);
  p->at += n;
}

static void pack_u32(Pack *p, uint32_t *v) { pack_raw(p, v, sizeof *v); }
static void pack_u8(Pack *p, unsigned char *v) { pack_raw(p, v, 1); }

/* A count of items, each of which takes at least one byte. */
static void pack_count(Pack *p, uint32_t *n) {
  pack_u32(p, n);
  need(p, !p->reading || *n <= (size_t)(p->end - p->at));
}

static void pack_bytes(Pack *p, char **bytes, size_t *n) {
  uint32_t count = (uint32_t)*n;
  need(p, p->reading || count == *n);
  pack_count(p, &count);
  if (p->reading) {
    *bytes = cg_calloc(p->cg, (size_t)count + 1, 1); /* and a NUL after it */
    *n = count;
  }
  pack_raw(p, *bytes, count);
}

static void pack_text(Pack *p, char **text) {
  unsigned char there = *text != NULL;
  pack_u8(p, &there);
  need(p, there <= 1);
  if (!there)
    return;
  size_t n = p->reading ? 0 : strlen(*text);
  pack_bytes(p, text, &n);
  need(p, strlen(*text) == n);
}

/* A source file, by its number in the key, or by name if it is not listed there. */
static void pack_file(Pack *p, const char **name) {
  const CgKey *key = p->key;
  uint32_t number = 0;
  char **own =
      (char **)(uintptr_t)name; /* read in place: what is cut off is freed with the kernel */
  while (!p->reading && number < key->nfiles && !(*own && strcmp(*own, key->files[number]) == 0))
    number++;
  pack_u32(p, &number);
  need(p, number <= key->nfiles);
  if (number == key->nfiles)
    pack_text(p, own);
  else if (p->reading)
    *own = cg_strndup(p->cg, key->files[number], strlen(key->files[number]));
}

static void pack_field(Pack *p, RtField *f) {
  static const bool of_launch[] = {
      [RT_FIELD_GRID] = true, [RT_FIELD_TRAP] = true, [RT_FIELD_BLOCKS] = true};
  const CgKernel *k = p->kernel;
  pack_u8(p, &f->kind);
  pack_u8(p, &f->size);
  pack_u8(p, &f->axis);
  pack_raw(p, &f->leaf, sizeof f->leaf);
  pack_u32(p, &f->offset);
  pack_raw(p, &f->map, sizeof f->map);
  need(p, f->kind < sizeof of_launch && (of_launch[f->kind] || f->leaf < k->nargs));
  need(p, (uint64_t)f->offset + f->size <= k->params.bytes);
}

static void pack_arg(Pack *p, CgArg *a) {
  pack_u8(p, &a->is_array);
  pack_u8(p, &a->written);
  pack_u8(p, &a->read);
}

static void pack_place(Pack *p, DiagPlace *at) {
  pack_file(p, &at->file);
  pack_text(p, (char **)(uintptr_t)&at->function);
  pack_raw(p, &at->line, sizeof at->line);
  pack_raw(p, &at->end_line, sizeof at->end_line);
  pack_raw(p, &at->col, sizeof at->col);
  pack_raw(p, &at->end_col, sizeof at->end_col);
}

static void pack_site(Pack *p, CgSite *s) {
  pack_text(p, &s->exception);
  pack_text(p, &s->message);
  pack_place(p, &s->at);
  pack_u32(p, &s->first);
  pack_u32(p, &s->function);
}

static void pack_call(Pack *p, CgCall *c) {
  pack_u32(p, &c->caller);
  pack_u32(p, &c->callee);
  pack_u32(p, &c->first);
  pack_place(p, &c->at);
}

static void pack_guard(Pack *p, CgGuard *g) {
  pack_u8(p, &g->axis);
  pack_u8(p, &g->extent);
  pack_u32(p, &g->field);
  pack_text(p, &g->name);
  pack_place(p, &g->at);
  need(p, g->axis < 3 && g->field < p->kernel->params.nfields && g->name);
}

static void pack_advice(Pack *p, Diag **made) {
  if (p->reading)
    *made = cg_calloc(p->cg, 1, sizeof **made);
  Diag *d = *made;
  uint32_t id = d->id, nnotes = d->nnotes;
  pack_u32(p, &id);
  pack_u32(p, &nnotes);
  need(p, id < ERR_COUNT && nnotes <= DIAG_NOTES);
  d->id = (ErrorId)id;
  pack_place(p, &d->at);
  pack_text(p, &d->message);
  pack_text(p, &d->remedy);
  for (uint32_t k = 0; k < nnotes; k++) {
    d->nnotes = k + 1; /* so that diag_free frees what has been read if the next one fails */
    pack_place(p, &d->notes[k].at);
    pack_text(p, &d->notes[k].text);
    need(p, d->notes[k].text != NULL);
  }
}

/* An array of n items, each packed by `one`. In reading, the array is allocated before it is
 * counted, so that a kernel that has been read in part can be freed. */
#define PACK_ARRAY(p, items, n, one)                                                               \
  do {                                                                                             \
    uint32_t n_ = (n);                                                                             \
    pack_count((p), &n_);                                                                          \
    if ((p)->reading) {                                                                            \
      (items) = cg_calloc((p)->cg, n_, sizeof *(items));                                           \
      (n) = n_;                                                                                    \
    }                                                                                              \
    for (uint32_t i_ = 0; i_ < n_; i_++)                                                           \
      one((p), &(items)[i_]);                                                                      \
  } while (0)

static void pack_host(Pack *p, CgKernel *k) {
  pack_u32(p, &k->host.static_shared);
  pack_u32(p, &k->host.constant);
  pack_u32(p, &k->host.frame_bytes);
  pack_u32(p, &k->host.meets_grid);
  pack_u32(p, &k->host.yields);
  pack_u32(p, &k->host.waits);
  pack_u32(p, &k->host.strides);
  pack_u32(p, &k->host.parts);
  pack_u32(p, &k->host.turns);
  pack_u32(p, &k->host.stack_bytes);
  pack_u32(p, &k->host.checks);
  pack_u32(p, &k->host.narrays);
  pack_u32(p, &k->host.param_bytes);
  need(p, k->host.narrays <= RT_HOST_ARRAYS);
  for (uint32_t a = 0; a < k->host.narrays; a++)
    for (uint32_t w = 0; w < sizeof(RtHostArray) / sizeof(uint32_t); w++)
      pack_u32(p, (uint32_t *)&k->host.arrays[a] + w);
  pack_text(p, &k->entry);
  need(p, k->entry != NULL);
  PACK_ARRAY(p, k->imports, k->nimports, pack_text);
  for (uint32_t i = 0; i < k->nimports; i++)
    need(p, k->imports[i] != NULL);
  pack_bytes(p, &k->object, &k->object_len);
}

static void pack_coarse(Pack *p, CgKernel *k) {
  RtCoarse *c = &k->params.coarse;
  pack_u32(p, &c->factor);
  pack_u32(p, &c->axis);
  pack_u32(p, &c->fill);
  pack_u32(p, &c->even);
  pack_u32(p, &c->in_row);
  pack_u32(p, &c->plain_bytes);
  pack_text(p, &k->coarsening);
  need(p, c->axis < 3 && c->even <= 1 && c->in_row <= 1 && c->plain_bytes <= k->params.bytes);
}

static void pack_rest(Pack *p, CgKernel *k) {
  unsigned char there = k->rest != NULL;
  pack_u8(p, &there);
  need(p, there <= 1 && (!there || k->params.coarse.factor));
  if (there)
    pack_bytes(p, &k->rest, &k->rest_len);
}

enum { ROOMY_MOST = 255 }; /* registers */

static void pack_gpu(Pack *p, CgKernel *k) {
  pack_coarse(p, k);
  pack_u32(p, &k->params.roomy);
  pack_u32(p, &k->params.reading);
  pack_u32(p, &k->params.reading_at);
  pack_u32(p, &k->params.reading_from);
  need(p, k->params.roomy <= ROOMY_MOST && k->params.reading <= ROOMY_MOST);
  need(p, !k->params.reading_from ||
              (uint64_t)k->params.reading_at + sizeof(uint32_t) <= k->params.bytes);
  pack_u8(p, &k->needs_apart);
  pack_u8(p, &k->uses_libdevice);
  pack_raw(p, k->libdevice, sizeof k->libdevice);
  pack_bytes(p, &k->ptx, &k->ptx_len);
  pack_rest(p, k);
}

static void pack_kernel(Pack *p) {
  CgKernel *k = p->kernel;
  uint32_t target = k->target;
  pack_u32(p, &target);
  need(p, target == k->target);
  pack_text(p, &k->symbol);
  need(p, k->symbol && *k->symbol);
  pack_u32(p, &k->static_shared);
  pack_u32(p, &k->local_bytes);
  pack_u8(p, &k->uses_dynamic_shared);
  pack_u8(p, &k->has_barrier);
  pack_u8(p, &k->has_trap);
  pack_u8(p, &k->may_print);
  PACK_ARRAY(p, k->args, k->nargs, pack_arg);
  pack_u32(p, &k->params.bytes);
  PACK_ARRAY(p, k->params.fields, k->params.nfields, pack_field);
  PACK_ARRAY(p, k->guards, k->nguards, pack_guard);
  PACK_ARRAY(p, k->sites, k->nsites, pack_site);
  PACK_ARRAY(p, k->calls, k->ncalls, pack_call);
  PACK_ARRAY(p, k->advice, k->nadvice, pack_advice);
  if (k->target == CG_HOST)
    pack_host(p, k);
  else
    pack_gpu(p, k);
  need(p, !p->reading || p->at == p->end);
}

/* --- out --- */

static void write_kernel(Cg *cg) {
  Pack *p = cg->target_state;
  assert(!p->reading);
  pack_kernel(p);
}

int cg_kernel_pack(const CgKernel *k, const CgKey *key, void **bytes, size_t *size) {
  *bytes = NULL;
  *size = 0;
  CgRequest none = {.target = k->target};
  Cg cg = {.cx = cx_new(), .request = &none};
  if (!cg.cx || (k->target == CG_HOST && !k->object)) {
    cx_free(cg.cx);
    return -1;
  }
  Pack p = {.cg = &cg, .key = key, .kernel = (CgKernel *)(uintptr_t)k}; /* it is only read */
  buf_init(&p.out, &cg.cx->arena);
  cg.target_state = &p;
  if (cg_guarded(&cg, write_kernel) == 0 && (*bytes = malloc(p.out.len + 1))) {
    memcpy(*bytes, p.out.text, p.out.len);
    *size = p.out.len;
  }
  cx_free(cg.cx);
  return *bytes ? 0 : -1;
}

/* --- in --- */

/* Was the kernel linked with the libdevice that is installed here? If none is installed, a kernel
 * that already contains what it needs is better than none. */
static bool is_its_libdevice(const CgKernel *k) {
  unsigned char here[CG_DIGEST_BYTES];
  return !k->uses_libdevice || !cg_libdevice_digest(here) ||
         memcmp(here, k->libdevice, sizeof here) == 0;
}

static void read_kernel(Cg *cg) {
  CgKernel *k = cg->out;
  assert(k == ((Pack *)cg->target_state)->kernel && k->target == cg->request->target);
  pack_kernel(cg->target_state);
  if (k->target != CG_HOST) {
    need(cg->target_state, is_its_libdevice(k));
    return;
  }
  for (uint32_t i = 0; i < k->nimports; i++)
    need(cg->target_state, cg_host_libdevice(k->imports[i]) != NULL);
  cg_start_llvm(cg);
  LLVMMemoryBufferRef object = LLVMCreateMemoryBufferWithMemoryRangeCopy(k->object, k->object_len,
                                                                         k->symbol);
  cg_host_link(cg, object);
  free(k->object); /* it is linked, and the store still has it */
  k->object = NULL;
  k->object_len = 0;
}

int cg_kernel_unpack(const CgRequest *request, const CgKey *key, const void *bytes, size_t size,
                     CgKernel **out) {
  *out = NULL;
  CgKernel *k = calloc(1, sizeof *k);
  Cg cg = {.cx = cx_new(), .request = request, .out = k};
  int failed = -1;
  if (k && cg.cx) {
    Pack p = {.cg = &cg, .key = key, .reading = true, .kernel = k, .at = bytes};
    p.end = p.at + size;
    k->target = request->target;
    cg.target_state = &p;
    cg_enter();
    failed = cg_guarded(&cg, read_kernel);
    cg_close(&cg);
    cg_leave();
  }
  cx_free(cg.cx);
  if (failed) {
    cg_kernel_free(k);
    return -1;
  }
  *out = k;
  return 0;
}
