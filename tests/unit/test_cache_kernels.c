/* Keys and packed kernels: every function of the corpus that compiles, there and back on both
 * targets; damaged bytes never crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/compile.h"
#include "codegen/store/store.h"
#include "ir/cx.h"
#include "runtime/host/calls.h"
#include "runtime/host/copies.h"
#include "runtime/host/host.h"
#include "runtime/host/meet.h"
#include "runtime/host/orders.h"
#include "tests/unit/support/corpus.h"
#include "tests/unit/support/expect.h"

static const CgSymbol host_symbols[] = {
#define CALL(name) {#name, (void *)(uintptr_t)name},
#include "runtime/host/host_calls.def"
#undef CALL
    {NULL, NULL},
};

static const char vectors3[] = "float32[::1], float32[::1], float32[::1]";

static CgRequest request_of(const FrozenFunc *func, const char *signature, CgTarget target) {
  return (CgRequest){.func = func,
                     .signature = signature,
                     .target = target,
                     .arch = target == CG_NVPTX ? "sm_80" : NULL,
                     .symbols = host_symbols,
                     .want = CG_WANT_OBJECT,
                     .options = {.opt = 2, .fma = 1, .exceptions = 1}};
}

static CgKernel *compiled(const CgRequest *r) {
  CgKernel *k = NULL;
  Diag *error = NULL;
  cg_compile(r, &k, &error);
  diag_free(error);
  return k;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void expect_same(const CgKernel *a, const CgKernel *b) {
  EXPECT(a->target == b->target && same_text(a->symbol, b->symbol) && a->ptx_len == b->ptx_len &&
         same_text(a->ptx, b->ptx));
  EXPECT(a->nargs == b->nargs && !memcmp(a->args, b->args, sizeof *a->args * a->nargs));
  EXPECT(a->params.bytes == b->params.bytes && a->params.nfields == b->params.nfields);
  for (uint32_t i = 0; i < a->params.nfields && i < b->params.nfields; i++) {
    const RtField *f = &a->params.fields[i], *g = &b->params.fields[i];
    EXPECT(f->kind == g->kind && f->size == g->size && f->axis == g->axis && f->leaf == g->leaf &&
           f->offset == g->offset);
  }
  EXPECT(a->static_shared == b->static_shared && a->local_bytes == b->local_bytes &&
         a->uses_dynamic_shared == b->uses_dynamic_shared && a->has_barrier == b->has_barrier &&
         a->has_trap == b->has_trap && a->nsites == b->nsites);
  for (uint32_t i = 0; i < a->nsites && i < b->nsites; i++) {
    const CgSite *s = &a->sites[i], *t = &b->sites[i];
    EXPECT(same_text(s->exception, t->exception) && same_text(s->message, t->message) &&
           same_text(s->at.file, t->at.file) && same_text(s->at.function, t->at.function) &&
           s->at.line == t->at.line && s->at.end_line == t->at.end_line && s->at.col == t->at.col &&
           s->at.end_col == t->at.end_col && s->first == t->first && s->function == t->function);
  }
  EXPECT(a->ncalls == b->ncalls);
  for (uint32_t i = 0; i < a->ncalls && i < b->ncalls; i++) {
    const CgCall *s = &a->calls[i], *t = &b->calls[i];
    EXPECT(s->caller == t->caller && s->callee == t->callee && s->first == t->first &&
           same_text(s->at.file, t->at.file) && s->at.line == t->at.line);
  }
  EXPECT(a->host.static_shared == b->host.static_shared &&
         a->host.frame_bytes == b->host.frame_bytes && a->host.meets_grid == b->host.meets_grid &&
         a->host.waits == b->host.waits && a->host.strides == b->host.strides &&
         a->host.parts == b->host.parts && (a->host.entry != NULL) == (b->host.entry != NULL));
}

/* --- damage --- */

/* Bytes that passed no checksum. Host code is not linked here: it would be run as it is, which is
 * why files are checked. */
static void damage(const CgRequest *r, const CgKey *key, const char *bytes, size_t size) {
  CgKernel *k;
  for (size_t n = 0; n < size; n += n < 600 ? 1 : 37) {
    char *exact = malloc(n + 1); /* so that a sanitizer sees a read behind the end */
    memcpy(exact, bytes, n);
    EXPECT(cg_kernel_unpack(r, key, exact, n, &k) == -1 && k == NULL);
    free(exact);
  }
  char *copy = malloc(size);
  srand(7);
  for (int round = 0; round < 4000; round++) {
    memcpy(copy, bytes, size);
    for (int k2 = rand() % 4; k2 >= 0; k2--)
      copy[(size_t)rand() % (round % 2 ? size : size < 400 ? size : 400)] = (char)rand();
    if (cg_kernel_unpack(r, key, copy, size, &k) == 0)
      cg_kernel_free(k);
  }
  free(copy);
}

static int roundtrip(const CgRequest *r, bool damaging) {
  CgKernel *made = compiled(r), *back = NULL;
  CgKey key, again;
  void *bytes;
  size_t size;
  if (!made)
    return 0;
  EXPECT(cg_key(r, &key) == 0 && cg_key(r, &again) == 0 &&
         !memcmp(key.digest, again.digest, CG_DIGEST_BYTES));
  EXPECT(cg_kernel_pack(made, &key, &bytes, &size) == 0 && size > 0);
  EXPECT(cg_kernel_unpack(r, &key, bytes, size, &back) == 0);
  if (back)
    expect_same(made, back);
  CgRequest other = *r;
  other.target = r->target == CG_HOST ? CG_NVPTX : CG_HOST;
  CgKernel *none;
  EXPECT(cg_kernel_unpack(&other, &key, bytes, size, &none) == -1 && !none);
  if (damaging)
    damage(r, &key, bytes, size);
  free(bytes);
  cg_kernel_free(made);
  cg_kernel_free(back);
  cg_key_free(&key);
  cg_key_free(&again);
  return 1;
}

static void test_all(void) {
  static const char *const signatures[] = {"float32[::1], float32[::1], float32[::1]",
                                           "float32[::1], float32[::1]", "float32[::1]",
                                           "float32[::1], float32[::1], float32", "int32[::1]"};
  Corpus *corpus = corpus_open("3.12");
  EXPECT(corpus != NULL);
  int done = 0;
  for (uint32_t i = 0; corpus && i < corpus_count(corpus); i++)
    for (size_t s = 0; s < sizeof signatures / sizeof *signatures; s++) {
      const FrozenFunc *func = corpus_func(corpus, corpus_name(corpus, i));
      CgRequest gpu = request_of(func, signatures[s], CG_NVPTX);
      CgRequest host = request_of(func, signatures[s], CG_HOST);
      int both = roundtrip(&gpu, done == 3) + roundtrip(&host, false);
      done += both;
      if (both)
        break;
    }
  EXPECT(done > 40);
  corpus_close(corpus);
}

/* --- keys --- */

static bool same_key(const CgRequest *a, const CgRequest *b) {
  CgKey x, y;
  EXPECT(cg_key(a, &x) == 0 && cg_key(b, &y) == 0);
  bool same = !memcmp(x.digest, y.digest, sizeof x.digest);
  cg_key_free(&x);
  cg_key_free(&y);
  return same;
}

static bool differs(const CgRequest *r, const CgKey *from) {
  CgKey now;
  EXPECT(cg_key(r, &now) == 0);
  bool same = !memcmp(now.digest, from->digest, sizeof now.digest);
  cg_key_free(&now);
  return !same;
}

static void test_keys(void) {
  Corpus *corpus = corpus_open("3.12"), *second = corpus_open("3.12"), *older = corpus_open("3.11");
  const FrozenFunc *func = corpus_func(corpus, "add");
  CgRequest r = request_of(func, vectors3, CG_NVPTX), o = r;
  EXPECT(same_key(&r, &o));
  o.func = corpus_func(second, "add"); /* other objects, the same values */
  EXPECT(same_key(&r, &o));
  o.func = corpus_func(older, "add");
  EXPECT(!same_key(&r, &o));
  o = r, o.want = 0, o.dump = "t";
  EXPECT(same_key(&r, &o));
  o = r, o.arch = "sm_90";
  EXPECT(!same_key(&r, &o));
  o = r, o.ptx_version = 83;
  EXPECT(!same_key(&r, &o));
  o = r, o.symbol = "other";
  EXPECT(!same_key(&r, &o));
  o = r, o.signature = "float64[::1], float32[::1], float32[::1]";
  EXPECT(!same_key(&r, &o));
  for (size_t i = 0; i < sizeof(CgOptions) / sizeof(int); i++) {
    o = r;
    int options[sizeof(CgOptions) / sizeof(int)];
    memcpy(options, &o.options, sizeof options);
    options[i] ^= 1;
    memcpy(&o.options, options, sizeof options);
    EXPECT(!same_key(&r, &o));
  }
  Cx *cx = cx_new(); /* any byte of the code */
  Code *code = corpus_copy(cx, func->code);
  FrozenFunc copy = *func;
  copy.code = code;
  o = r, o.func = &copy;
  CgKey base;
  EXPECT(cg_key(&o, &base) == 0);
  EXPECT(!differs(&o, &base));
  for (uint32_t i = 0; i < code->nbytes; i++) {
    ((uint8_t *)(uintptr_t)code->bytes)[i] ^= 1;
    EXPECT(differs(&o, &base));
    ((uint8_t *)(uintptr_t)code->bytes)[i] ^= 1;
  }
  code->firstlineno++;
  EXPECT(differs(&o, &base));
  code->firstlineno--;
  cg_key_free(&base);
  o.options.lineinfo = 1;
  EXPECT(cg_key(&o, &base) == 0);
  code->filename = "/here.py";
  EXPECT(differs(&o, &base));
  cg_key_free(&base);
  cx_free(cx);
  corpus_close(corpus);
  corpus_close(second);
  corpus_close(older);
}

/* BLAKE3's own test vectors: of no bytes, and of 0, 1, 2, …, 250, 0, 1, … */
static void test_digest(void) {
  static const struct {
    size_t size;
    const char *digest;
  } vectors[] = {
      {0, "af1349b9f5f9a1a6a0404dea36dcc949"},
      {1, "2d3adedff11b61f14c886e35afa03673"},
      {1024, "42214739f095a406f3fc83deb889744a"},
      {31744, "62b6960e1a44bcc1eb1a611a8d6235b6"},
  };
  static unsigned char data[31744];
  for (size_t i = 0; i < sizeof data; i++)
    data[i] = (unsigned char)(i % 251);
  for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++) {
    unsigned char digest[CG_DIGEST_BYTES];
    char text[33];
    cg_digest(data, vectors[v].size, digest);
    for (int i = 0; i < 16; i++)
      snprintf(text + 2 * i, 3, "%02x", digest[i]);
    EXPECT(strcmp(text, vectors[v].digest) == 0);
  }
}

int main(void) {
  test_digest();
  EXPECT(!cg_llvm_is_initialised());
  test_keys();
  EXPECT(!cg_llvm_is_initialised()); /* keys need no LLVM */
  test_all();
  return expect_failures != 0;
}
