/* Store: what a store of compiled kernels needs of the compiler: a key for a request, and kernels
 * as bytes. The files themselves belong to runtime/cache/cache_files.h.
 *
 * The key is a BLAKE3 hash over everything that cg_compile reads of a request, so equal keys mean
 * equal code, and there is no list of dependencies to keep up to date. Neither the key nor reading
 * a GPU kernel needs LLVM to be initialised; host code is linked again by LLVM's JIT. */
#ifndef PYPTX_CODEGEN_STORE_STORE_H
#define PYPTX_CODEGEN_STORE_STORE_H

#include "codegen/compile.h"

enum { CG_DIGEST_BYTES = 32 };

/* BLAKE3. Never fails. */
void cg_digest(const void *data, size_t size, unsigned char out[CG_DIGEST_BYTES]);

typedef struct CgKey {
  unsigned char digest[CG_DIGEST_BYTES];
  /* Source files of the frozen functions, in the order of first visit; a malloc'd array, whose
   * texts belong to the request. Their names are not part of the key, since code contains them only
   * if line information is asked for; source positions in a stored kernel are indices into this
   * array. So a program may move to another folder, and the cells of a notebook may have other
   * names in each session. */
  const char **files;
  uint32_t nfiles;
} CgKey;

/* 0 and *key (freed with cg_key_free); -1: the kernel cannot be stored, since its code contains
 * addresses of this process, or there is no memory. */
int cg_key(const CgRequest *request, CgKey *key);
void cg_key_free(CgKey *key);

/* The kernel as malloc'd bytes. 0; -1: there is no memory, or host code that was not compiled with
 * CG_WANT_OBJECT. */
int cg_kernel_pack(const CgKernel *k, const CgKey *key, void **bytes, size_t *size);
/* The kernel from its bytes. -1: the bytes are not a kernel for this request, or were linked with
 * another libdevice than the one installed here; compile then. Reading is safe for any bytes, but
 * host code is executed later: take them only from places that nobody else can write to. */
int cg_kernel_unpack(const CgRequest *request, const CgKey *key, const void *bytes, size_t size,
                     CgKernel **out);

#endif
