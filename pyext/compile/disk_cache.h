/* Cache: compiling through the store of kernels on disk (codegen/store/store.h: keys and bytes,
 * runtime/cache/cache_files.h: files). */
#ifndef PYPTX_PYEXT_COMPILE_DISK_CACHE_H
#define PYPTX_PYEXT_COMPILE_DISK_CACHE_H

#include "pyext/state.h"

#include "codegen/compile.h"

/* @cuda.jit(cache=): nothing said, where the environment decides; False; True. */
typedef enum PxCaching { PX_CACHE_BY_ENVIRONMENT, PX_CACHE_NEVER, PX_CACHE_ALWAYS } PxCaching;

typedef enum PxCacheUse { PX_CACHE_UNUSED, PX_CACHE_HIT, PX_CACHE_MISS } PxCacheUse;

/* As cg_compile, with the GIL, which is released for the work: the kernel from the cache, or
 * compiled and then kept, under this label (NULL: made from the request's function). -1 with *diag,
 * or with a Python exception (a signal's, a warning that is an error), or with neither where there
 * is no memory. */
int px_compile_cached(PxState *st, PxCaching caching, const CgRequest *request, const char *label,
                      CgKernel **code, Diag **diag, PxCacheUse *use);

#endif
