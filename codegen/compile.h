/* Compile: the front door of the core. A request in, code or one diagnostic out. No LLVM type and
 * no Python in sight.
 *
 * Thread-safe: any number of threads may compile at once (no GIL needed); each call has a Cx and an
 * LLVM context of its own. LLVM's targets are initialised at the first call, never at import.
 * Nothing of the compilation outlives the call but the CgKernel. */
#ifndef PYPTX_CODEGEN_COMPILE_H
#define PYPTX_CODEGEN_COMPILE_H

#include "ir/base/diag.h"
#include "ir/frozen.h"
#include "runtime/abi.h"

typedef enum CgTarget { CG_NVPTX, CG_HOST } CgTarget;

enum CgCoarsen {
  CG_COARSEN_CHOOSE = -1, /* as the compiler thinks best */
  /* the same where the code is for our launches, which know the second entry; none elsewhere */
  CG_COARSEN_LAUNCHED = -2,
};

enum CgFast {
#define M(ID, name, bits, in_true, doc) CG_FAST_##ID = bits,
#include "codegen/fastmath.def"
#undef M
};

/* Options of @cuda.jit that the code depends on: ints, all of them in the key of the disk cache. 0
 * in all is no compilation's default: options.def has that. */
typedef struct CgOptions {
#define CODE(field, unset, from, to) int field;
#define HELD(field, unset, from, to)
#define OBJECT(field, type)
#define NOWHERE
#define O(name, kind, place, devices, environment, command, doc) place
#define F(option, place)                                         place
#include "codegen/options.def"
#undef F
#undef O
#undef NOWHERE
#undef OBJECT
#undef HELD
#undef CODE
} CgOptions;

enum CgWant { /* texts to keep */
                      CG_WANT_SSA = 1,
                      CG_WANT_TYPES = 2,
                      CG_WANT_LLVM = 4 /* before LLVM's passes */,
                      CG_WANT_LLVM_OPT = 8,
                      CG_WANT_ASM = 16 /* host */,
                      CG_WANT_OBJECT = 32 /* host: what codegen/store/store.h packs */,
                      CG_WANT_ONLY = 64 /* no code: the passes behind the last text are left out */,
};

typedef struct
    CgSymbol { /* runtime functions that host code calls: rt_host_trap, rt_host_print … */
  const char *name;
  void *address;
} CgSymbol;

/* What is read to make code is hashed in codegen/store/cache_key.c, which keeps count of the
 * members. */
typedef struct CgRequest {
  const FrozenFunc *func;
  const char *signature; /* text of ty_signature */
  /* FZ_MODULE: functions of complex numbers; may be NULL if neither func nor signature mentions
   * any */
  const Frozen *library;
  const char
      *symbol; /* kernel name in the module; NULL: made from the qualname (letters, digits, _) */
  CgTarget target;
  const char *arch; /* "sm_90" … "sm_90a"; CG_HOST: NULL for this CPU */
  int ptx_version;  /* e.g. 83, the newest the driver takes; 0: the lowest that arch allows */
  CgOptions options;
  unsigned want; /* CgWant bits */
  const char *
      dump; /* passes to dump, by name and letter, separated by commas; NULL none; "t" gives timings */
  /* CG_NVPTX: a coarsened entry is no part of the PTX: it is made by a request of its own,
   * coarse_of */
  int apart;
  /* that entry of this kernel: func, signature and library are not read; the rest is as for the
   * kernel itself */
  const struct CgKernel *coarse_of;
  const CgSymbol *symbols; /* CG_HOST: name-terminated by NULL */
} CgRequest;

typedef struct CgSite { /* a place that can stop a thread, RtTrap.site is its index */
  /* {0}, {1} … are the trap's values; {0:f}: read as a double, {0:x}: as a mask, {0:z}: with the
   * next one as a complex number */
  char *exception, *message;
  DiagPlace at;
} CgSite;

typedef struct CgArg { /* one a leaf argument, in order; tuples are flattened depth first */
  unsigned char is_array;
  unsigned char written; /* the kernel may store to it */
  unsigned char read;    /* the kernel may load from it */
} CgArg;

typedef struct CgKernel {
  CgTarget target;
  char *symbol;
  char *ptx; /* CG_NVPTX */
  size_t ptx_len;
  char *ssa, *types, *llvm, *llvm_opt, *assembly; /* as wanted, else NULL */
  char *result;                                   /* device_function: text of the result type */
  RtParams params;                                /* how the parameter block is packed */
  char *coarsening;                               /* CG_NVPTX: what was done about it, and why */
  /* CG_NVPTX, apart: what the coarsened entry is made from, bitcode of LLVM; NULL: there is none */
  char *rest;
  size_t rest_len;
  CgArg *args;
  uint32_t nargs; /* leaves */
  uint32_t static_shared, local_bytes;
  unsigned char uses_dynamic_shared, has_barrier, has_trap, may_print;
  CgSite *sites;
  uint32_t nsites;
  RtHostCode host; /* CG_HOST */
  void *jit;       /* owner of the host code */
  /* as wanted: the host's code before it is linked, the name of its entry, and which of libdevice's
   * functions it calls */
  char *object, *entry;
  size_t object_len;
  char **imports;
  uint32_t nimports;
  /* CG_NVPTX: code of a libdevice file with this BLAKE3 hash is part of it */
  unsigned char uses_libdevice;
  unsigned char libdevice[32];
  /* what to say of it, in the order in which it was found: rows A of errors.def. Kept in the disk
   * cache: a hit says it too */
  Diag **advice;
  uint32_t nadvice;
  struct CgTiming {
    const char *pass;
    double ms;
  } * timings;
  uint32_t ntimings;
} CgKernel;

/* 0 and *out, or -1 and *error (diag_free). */
int cg_compile(const CgRequest *request, CgKernel **out, Diag **error);
void cg_kernel_free(CgKernel *k); /* host code is unmapped: no launch may be running */
/* at the end of the process: waits for other threads' compilations; who calls one after it waits
 * for ever */
void cg_shut(void);

/* Facts for `pyptx info` and for choosing: all static or malloc'd-once text. */
/* A pass of the compiler: name, the pass that it is a part of or NULL, whether PYPTX_SKIP may leave
 * it out, what it is for. */
typedef struct CgPassFacts {
  const char *name, *within, *why;
  int opt, skippable;
} CgPassFacts;
/* Number k of all; 0 behind the last. */
int cg_pass_facts(unsigned k, CgPassFacts *out);
const char *cg_llvm_version(void);
int cg_llvm_is_initialised(void); /* has this process compiled, or linked host code, yet? */
const char *cg_host_cpu(void);
int cg_arch_min_ptx(const char *arch); /* 0: unknown architecture */
/* PTX versions that LLVM writes, oldest first, as 83 for 8.3; ended by 0. */
const int *cg_ptx_versions(void);
/* path or NULL; looked: where it looked */
const char *cg_find_libdevice(char *looked, size_t looked_size);
int cg_find_ptxas(char *path, size_t size); /* 0 if found */
/* PTX to cubin with ptxas: 0 and malloc'd *cubin, or -1 with the error. */
int cg_assemble(const char *ptx, const char *arch, void **cubin, size_t *size, Diag **error);

#endif
