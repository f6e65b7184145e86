/* Cache: what a store of compiled kernels needs of the compiler: a key, and kernels as bytes. Files
 * are runtime/cache/cache_files.h's.
 *
 * The key is a BLAKE3 hash over everything that cg_compile reads of a request, so equal keys mean
 * equal code: there is no list of what "may have changed". Neither the key nor a GPU kernel from
 * bytes needs LLVM to be initialised; host code is linked again by LLVM's JIT. */
#ifndef PYPTX_CODEGEN_STORE_STORE_H
#define PYPTX_CODEGEN_STORE_STORE_H

#include "codegen/compile.h"

enum { CG_DIGEST_BYTES = 32 };

/* BLAKE3. Never fails. */
void cg_digest(const void *data, size_t size, unsigned char out[CG_DIGEST_BYTES]);

typedef struct CgKey {
  unsigned char digest[CG_DIGEST_BYTES];
  /* Source files of the frozen functions, in the order in which they are met: malloc'd array, the
   * texts are the request's. Their names are not part of the key, since code only holds them where
   * lines are asked for; places in a stored kernel are numbers into it. So a program may move to
   * another folder, and a notebook's cells may be called differently in each session. */
  const char **files;
  uint32_t nfiles;
} CgKey;

/* 0 and *key (freed with cg_key_free); -1: this kernel cannot be kept, since its code holds
 * addresses of this process, or there is no memory. */
int cg_key(const CgRequest *request, CgKey *key);
void cg_key_free(CgKey *key);

/* The kernel as malloc'd bytes; on the host it must have been compiled with CG_WANT_OBJECT. 0, or
 * -1 without memory. */
int cg_kernel_pack(const CgKernel *k, const CgKey *key, void **bytes, size_t *size);
/* The kernel again. -1: the bytes are not a kernel for this request, or were made with another
 * libdevice than the one that is here; compile then. Any bytes are safe, but host code is executed
 * later: take them from places that others cannot write to. */
int cg_kernel_unpack(const CgRequest *request, const CgKey *key, const void *bytes, size_t size,
                     CgKernel **out);

#endif
