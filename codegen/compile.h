/* Compile: the interface of the compiler. A request in, code or one diagnostic out. Neither LLVM's
 * types nor Python's appear in it.
 *
 * Thread-safe: any number of threads may compile at once, without the GIL; each call has its own Cx
 * and its own LLVM context. LLVM's targets are initialised by the first call, never at import. Only
 * the CgKernel outlives the call. */
#ifndef PYPTX_CODEGEN_COMPILE_H
#define PYPTX_CODEGEN_COMPILE_H

#include "ir/base/diag.h"
#include "ir/frozen.h"
#include "runtime/abi.h"

typedef enum CgTarget { CG_NVPTX, CG_HOST } CgTarget;

enum CgCoarsen {
  CG_COARSEN_CHOOSE = -1, /* the compiler decides */
  /* the same if the code is for pyptx's own launches, which know the second entry; else none */
  CG_COARSEN_LAUNCHED = -2,
};

enum CgFast {
#define M(ID, name, bits, in_true, doc) CG_FAST_##ID = bits,
#include "codegen/fastmath.def"
#undef M
};

/* The options of @cuda.jit that code depends on: ints, all of them in the key of the disk cache.
 * Their defaults are in options.def, and not all of them are 0. */
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

/* What to keep beside the code. */
enum CgWant {
  CG_WANT_SSA = 1,
  CG_WANT_TYPES = 2,
  CG_WANT_LLVM = 4, /* before LLVM's passes */
  CG_WANT_LLVM_OPT = 8,
  CG_WANT_ASM = 16,     /* host */
  CG_WANT_OBJECT = 32,  /* host: what codegen/store/store.h packs */
  CG_WANT_ONLY = 64,    /* no code: the passes after the last text are left out */
  CG_WANT_VALUES = 128, /* the types of lifted values */
  CG_WANT_TYPED = 256,  /* ir/describe.h, as it is lowered */
};

/* A runtime function that host code calls: rt_host_trap, rt_host_print … */
typedef struct CgSymbol {
  const char *name;
  void *address;
} CgSymbol;

/* All that code depends on is hashed in codegen/store/cache_key.c, which asserts the size of this
 * structure, so that no new member is forgotten there. */
typedef struct CgRequest {
  const FrozenFunc *func;
  const char *signature; /* text of ty_signature */
  /* FZ_MODULE: functions of complex numbers; may be NULL if neither func nor signature mentions
   * any */
  const Frozen *library;
  /* the kernel's name in the module; NULL: made from the qualname (letters, digits, _) */
  const char *symbol;
  CgTarget target;
  const char *arch; /* "sm_90" … "sm_90a"; CG_HOST: NULL for this CPU */
  int ptx_version;  /* e.g. 83, the newest that the driver takes; 0: the lowest that arch allows */
  CgOptions options;
  unsigned want; /* CgWant bits */
  /* passes to dump, by name and letter, separated by commas; NULL: none; "t" gives timings */
  const char *dump;
  /* CG_NVPTX: leave the coarsened entry out of the PTX; a separate request (coarse_of) makes it
   * when a launch first wants it */
  int apart;
  /* compile only the coarsened entry of this kernel: func, signature and library are not read, the
   * other members are as for the kernel itself */
  const struct CgKernel *coarse_of;
  const CgSymbol *symbols; /* CG_HOST: ended by one whose name is NULL */
  /* CG_HOST: a byte that the code sets when a thread comes to this line, for as long as the process
   * runs; NULL: nobody counts the line. Such code belongs to this process. */
  unsigned char *(*covers)(const char *file, int line);
} CgRequest;

typedef struct CgSite { /* a place where a thread can stop */
  /* {0}, {1} … are the trap's values; {0:f}: read as a double, {0:x}: as a mask, {0:z}: with the
   * next one as a complex number */
  char *exception, *message;
  DiagPlace at;
  /* in a device function (its number is `function`) RtTrap.site is `first` and the number of the
   * path of calls by which the thread came; 0: the site's index alone */
  uint32_t first, function;
} CgSite;

typedef struct CgCall { /* of a device function by another, or by the kernel, which is 0 */
  uint32_t caller, callee;
  uint32_t first; /* it is paths `first` and on of the callee, one for each of the caller */
  DiagPlace at;
} CgCall;

typedef struct CgArg { /* one for each leaf argument, in order; tuples are flattened depth first */
  unsigned char is_array;
  unsigned char written; /* the kernel may store to it */
  unsigned char read;    /* the kernel may load from it */
} CgArg;

/* `if i < n:` around all that the kernel does with element i, i the thread's index in the grid: a
 * launch of fewer threads leaves elements out (codegen/ssa/guards.c). */
typedef struct CgGuard {
  unsigned char axis;   /* of the grid */
  unsigned char extent; /* n is an extent of an array argument, else a number */
  uint32_t field;       /* of params, that holds n: 4 or 8 bytes, signed */
  char *name;           /* of the argument */
  DiagPlace at;
} CgGuard;

typedef struct CgKernel {
  CgTarget target;
  char *symbol;
  char *ptx; /* CG_NVPTX */
  size_t ptx_len;
  char *ssa, *types, *values, *typed, *llvm, *llvm_opt, *assembly; /* if wanted, else NULL */
  char *result;     /* device_function: text of the result type */
  RtParams params;  /* how the parameter block is packed */
  char *coarsening; /* CG_NVPTX: the decision, and its reason */
  /* CG_NVPTX, apart: LLVM bitcode from which the coarsened entry is made; NULL: there is none */
  char *rest;
  size_t rest_len;
  CgArg *args;
  uint32_t nargs; /* leaves */
  CgGuard *guards;
  uint32_t nguards;
  uint32_t static_shared, local_bytes;
  unsigned char uses_dynamic_shared, has_barrier, has_trap, may_print;
  unsigned char needs_apart; /* CG_NVPTX: right only where no two arrays overlap (apart.c) */
  CgSite *sites;
  uint32_t nsites;
  CgCall *calls; /* of functions in which threads can stop */
  uint32_t ncalls;
  RtHostCode host; /* CG_HOST */
  void *jit;       /* owns the host code */
  /* if wanted: the host's code before it is linked, the name of its entry, and the names of the
   * libdevice functions that it calls */
  char *object, *entry;
  size_t object_len;
  char **imports;
  uint32_t nimports;
  /* CG_NVPTX: it contains code of the libdevice file with this BLAKE3 hash */
  unsigned char uses_libdevice;
  unsigned char libdevice[32];
  /* advice about the kernel (rows A of errors.def), in the order in which it was found; kept in the
   * disk cache, so that a hit repeats it */
  Diag **advice;
  uint32_t nadvice;
  struct CgTiming {
    const char *pass;
    double ms;
  } * timings;
  uint32_t ntimings;
} CgKernel;

/* 0 and *out, or -1 and *error (diag_free); no *error: there is no memory for one. */
int cg_compile(const CgRequest *request, CgKernel **out, Diag **error);
/* Where a thread stopped that left this number in RtTrap.site. */
typedef struct CgStop {
  const CgSite *site; /* NULL: not known */
  /* the device function that it is in, or a caller of it; 0: the kernel, or not known */
  uint32_t function, path;
  uint32_t left;
} CgStop;
CgStop cg_stop(const CgKernel *k, uint32_t number);
/* The call by which the thread came into stop->function, which becomes its caller; NULL: there is
 * none, or it is not known. */
const CgCall *cg_caller(const CgKernel *k, CgStop *stop);
/* By how many ways a thread comes to a function (CgStop.function); 0: that is not known. */
uint32_t cg_paths_of(const CgKernel *k, uint32_t function);
/* Unmaps host code: no launch of it may be running. */
void cg_kernel_free(CgKernel *k);
/* At the end of the process: waits for the compilations of other threads. A compilation that starts
 * later never returns. */
void cg_shut(void);

/* --- facts for `pyptx info` and for the choice of a target --- */

/* A pass of the compiler: its name, the pass that it is a part of or NULL, the lowest opt at which
 * it runs, whether PYPTX_SKIP may leave it out, what it is for. All text is static. */
typedef struct CgPassFacts {
  const char *name, *within, *why;
  int opt, skippable;
} CgPassFacts;
/* Number k of all passes; 0 past the last. */
int cg_pass_facts(unsigned k, CgPassFacts *out);
const char *cg_llvm_version(void);
int cg_llvm_is_initialised(void); /* has this process compiled, or linked host code, yet? */
const char *cg_host_cpu(void);
int cg_arch_min_ptx(const char *arch); /* 0: unknown architecture */
/* PTX versions that LLVM writes, oldest first, as 83 for 8.3; ended by 0. */
const int *cg_ptx_versions(void);
/* Its path, or NULL; looked: the places that were searched. */
const char *cg_find_libdevice(char *looked, size_t looked_size);
int cg_find_ptxas(char *path, size_t size); /* 0 if found */
/* PTX to cubin with ptxas: 0 and malloc'd *cubin, or -1 with the error. */
int cg_assemble(const char *ptx, const char *arch, void **cubin, size_t *size, Diag **error);

#endif
