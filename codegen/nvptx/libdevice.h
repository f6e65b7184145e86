/* Libdevice: NVIDIA's math functions as LLVM bitcode. Private to this room; cg_find_libdevice is in
 * compile.h. */
#ifndef PYPTX_CODEGEN_NVPTX_LIBDEVICE_H
#define PYPTX_CODEGEN_NVPTX_LIBDEVICE_H

#include "codegen/llvm/cg.h"
#include "codegen/store/store.h"

/* Links what the module declares as __nv_…, and what that calls, as internal functions; IEEE paths
 * unless fastmath says otherwise. Nothing happens where nothing is declared. Fails with
 * ERR_LIBDEVICE where no libdevice is found. */
void cg_link_libdevice(Cg *cg);
/* The hash of the libdevice that a compilation would take now; false if there is none that can be
 * read. LLVM is not needed. */
bool cg_libdevice_digest(unsigned char digest[CG_DIGEST_BYTES]);

#endif
