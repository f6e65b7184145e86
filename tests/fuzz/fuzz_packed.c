/* Fuzz: kernels as the disk cache keeps them, for a GPU. Bytes are refused, or give a kernel that can be freed, asked where a
 * thread stopped, and packed again.
 *
 * Input: changes of a kernel that was packed right, three bytes each: where (little-endian, the upper half also backwards from
 * the end), and what; the last byte alone cuts the end off. */
#include <stdlib.h>
#include <string.h>

#include "codegen/compile.h"
#include "codegen/store/store.h"
#include "tests/unit/support/corpus.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Packed {
  CgRequest request;
  CgKey key;
  void *bytes;
  size_t size;
} Packed;

static const Packed *packed(void) {
  static Packed p;
  static Corpus *corpus; /* kept: the request holds its function */
  CgKernel *k = NULL;
  Diag *error = NULL;
  if (p.bytes)
    return &p;
  corpus = corpus_open("3.12");
  p.request = (CgRequest){.func = corpus ? corpus_func(corpus, "add") : NULL,
                          .signature = "float32[::1], float32[::1], float32[::1]",
                          .target = CG_NVPTX,
                          .arch = "sm_80",
                          .options = {.opt = 2, .debug = 1, .exceptions = 1}};
  if (!corpus || cg_compile(&p.request, &k, &error) != 0 || cg_key(&p.request, &p.key) != 0 ||
      cg_kernel_pack(k, &p.key, &p.bytes, &p.size) != 0)
    abort();
  cg_kernel_free(k);
  return &p;
}

static void use(const Packed *p, CgKernel *k) {
  void *bytes;
  size_t size;
  for (uint32_t n = 0; n < k->nsites + 4; n++) {
    CgStop stop = cg_stop(k, n < k->nsites ? k->sites[n].first + n : n);
    while (cg_caller(k, &stop))
      ;
  }
  if (cg_kernel_pack(k, &p->key, &bytes, &size) == 0)
    free(bytes);
  cg_kernel_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const Packed *p = packed();
  size_t left = size % 3 == 1 ? p->size * data[size - 1] / 256 : p->size;
  char *bytes = malloc(left + 1); /* so that a sanitizer sees a read behind the end */
  CgKernel *k = NULL;
  memcpy(bytes, p->bytes, left);
  for (size_t n = 0; n + 2 < size && left; n += 3) {
    size_t at = data[n] | (size_t)data[n + 1] << 8;
    at = at < 1 << 15 ? at % left : left - 1 - (at & 0x7fff) % left;
    bytes[at] = (char)data[n + 2];
  }
  if (cg_kernel_unpack(&p->request, &p->key, bytes, left, &k) == 0)
    use(p, k);
  free(bytes);
  return 0;
}
