/* Libdevice: NVIDIA's math functions as LLVM bitcode. cg_find_libdevice is in compile.h. */
#ifndef PYPTX_CODEGEN_NVPTX_LIBDEVICE_H
#define PYPTX_CODEGEN_NVPTX_LIBDEVICE_H

#include "codegen/llvm/cg.h"
#include "codegen/store/store.h"

/* Links the functions that the module declares as __nv_…, and their callees, as internal functions,
 * with IEEE arithmetic unless fastmath says otherwise. Does nothing if none is declared. Fails with
 * ERR_LIBDEVICE if no libdevice is found. */
void cg_link_libdevice(Cg *cg);
/* The hash of the libdevice that a compilation would use now; false if none can be read. Needs no
 * LLVM. */
bool cg_libdevice_digest(unsigned char digest[CG_DIGEST_BYTES]);

#endif
