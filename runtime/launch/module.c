/* Module: in, PTX text, a cubin or host code and the layout of its parameter block; out, an
 * RtKernel with everything that a launch needs at hand. A GPU kernel that can trap gets an
 * RtTrap in pinned memory that the device sees.
 *
 * A GPU kernel has one or two entries, each a module of its own: what the driver takes to compile
 * PTX is most of what a first launch costs, so an entry is loaded when a launch wants it. */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/driver/context.h"
#include "runtime/driver/driver.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/link.h"

enum { MAGIC_BYTES = 16 };

static int32_t offset_of(const RtParams *params, RtFieldKind kind) {
  for (uint32_t i = 0; i < params->nfields; i++)
    if (params->fields[i].kind == kind)
      return (int32_t)params->fields[i].offset;
  return -1;
}

/* The driver's cooperative launch takes no block of parameters, but the address of each. */
static int note_fields(RtKernel *k, const RtParams *params) {
  k->grid_offset = offset_of(params, RT_FIELD_GRID);
  if (k->grid_offset < 0)
    return 1;
  k->nfields = params->nfields;
  k->field_offsets = malloc(sizeof *k->field_offsets * k->nfields);
  for (uint32_t i = 0; k->field_offsets && i < k->nfields; i++)
    k->field_offsets[i] = params->fields[i].offset;
  return k->field_offsets != NULL;
}

static void note_map(RtKernel *k, const RtParams *params) {
  for (uint32_t i = 0; i < params->nfields; i++)
    if (params->fields[i].kind == RT_FIELD_TENSOR_MAP) {
      k->map_field = i;
      k->map_offset = params->fields[i].offset;
    }
}

/* As long as its own entry is not loaded. */
static void set_first_limits(RtKernel *k) {
  k->threads = k->limits.threads;
  k->max_dynamic = k->limits.shared_optin;
}

/* Does each field lie within the block, behind the one before it, at a multiple of its size? */
static __attribute__((unused)) int is_laid_out(const RtParams *params) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < params->nfields; i++) {
    const RtField *f = &params->fields[i];
    if (f->offset < end)
      return 0;
    end = (uint64_t)f->offset + f->size;
  }
  return end <= params->bytes;
}

static RtKernel *kernel_new(RtDevice *d, const char *symbol, const RtParams *params) {
  assert(is_laid_out(params));
  assert(!params->coarse.factor || params->coarse.plain_bytes <= params->bytes);
  size_t length = strlen(symbol) + 1;
  RtKernel *k = calloc(1, sizeof *k + length);
  if (!k)
    return NULL;
  k->name = memcpy(k->symbol, symbol, length);
  k->device = d;
  k->epoch = rt_epoch(d);
  k->param_bytes = params->bytes;
  k->plain_bytes = params->coarse.factor ? params->coarse.plain_bytes : params->bytes;
  k->coarse.field_offset = (uint32_t)offset_of(params, RT_FIELD_BLOCKS);
  k->trap_offset = offset_of(params, RT_FIELD_TRAP);
  k->limits = d->limits;
  set_first_limits(k);
  note_map(k, params);
  if (!note_fields(k, params)) {
    free(k);
    return NULL;
  }
  return k;
}

static RtStatus no_memory(const char *symbol) {
  return rt_fail(RT_NO_MEMORY, "", "no host memory to load kernel '%s'", symbol);
}

/* --- loading --- */

static int is_binary(const char *image, size_t size) {
  static const unsigned char fatbin[4] = {0x50, 0xed, 0x55, 0xba};
  return size >= 4 && (memcmp(image, "\177ELF", 4) == 0 || memcmp(image, fatbin, 4) == 0);
}

/* The log's first lines, on one line. */
void rt_squeeze_log(char *log) {
  char *to = log;
  for (const char *from = log; *from; from++)
    if (!isspace((unsigned char)*from))
      *to++ = *from;
    else if (to > log && to[-1] != ' ')
      *to++ = ' ';
  while (to > log && to[-1] == ' ')
    to--;
  *to = 0;
}

static RtStatus refused(const char *symbol, int result, char *log) {
  RtStatus status = rt_driver_status_of(result, "cuModuleLoadDataEx", symbol);
  rt_squeeze_log(log);
  if (!*log)
    return status;
  RtError why = *rt_error();
  int undefined = strstr(log, "nresolved extern") != NULL;
  return rt_fail_driver(
      status, result, why.call,
      undefined ? "pass the file that defines it with link=, of cuda.jit or of cuda.declare_device"
                : why.remedy,
      "%s: %s", why.text, log);
}

typedef struct Loading {
  const char *symbol; /* for error texts */
  uint32_t registers; /* most of a thread; 0: as the compiler likes */
  int refuse_serial;  /* code in which operations of cuda.wgmma wait for one another */
  CUmodule module;
  char words[RT_LOG_SIZE]; /* what the driver's compiler said of it */
} Loading;

static RtStatus load_module(Loading *l, const char *image) {
  char errors[RT_LOG_SIZE] = "";
  int options[] = {CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_SIZE, CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE,
                   CU_JIT_MAX_REGISTERS};
  void *values[] = {l->words, (void *)(uintptr_t)sizeof l->words, errors,
                    (void *)(uintptr_t)sizeof errors, (void *)(uintptr_t)l->registers};
  l->words[0] = 0;
  int result = rt_cu.cuModuleLoadDataEx(&l->module, image, l->registers ? 5 : 4, options, values);
  l->words[RT_LOG_SIZE - 1] = errors[RT_LOG_SIZE - 1] = 0;
  if (result != CUDA_SUCCESS) {
    l->module = NULL;
    return refused(l->symbol, result, errors);
  }
  rt_squeeze_log(l->words);
  if (!l->refuse_serial || !strstr(l->words, "instructions are serialized"))
    return RT_OK;
  rt_cu.cuModuleUnload(l->module);
  l->module = NULL;
  return refused(l->symbol, CUDA_ERROR_INVALID_PTX, l->words);
}

static RtStatus load_linked(void *loading, const char *cubin) {
  return load_module(loading, cubin);
}

/* The driver reads PTX up to a NUL, which the caller's text need not have, after a look for the
 * magic numbers of binaries. */
static RtStatus load_image(Loading *l, const char *image, size_t size, const RtLinked *with) {
  const char *symbol = l->symbol;
  if (is_binary(image, size) && !with->n)
    return load_module(l, image);
  char *text = calloc(1, size + MAGIC_BYTES);
  if (!text)
    return no_memory(symbol);
  memcpy(text, image, size);
  RtStatus status = with->n ? rt_link(symbol, text, with, load_linked, l) : load_module(l, text);
  free(text);
  return status;
}

static RtStatus find_function(CUmodule module, const char *symbol, CUfunction *out) {
  int result = rt_cu.cuModuleGetFunction(out, module, symbol);
  if (result == CUDA_ERROR_NOT_FOUND)
    return rt_fail_driver(RT_BAD_MODULE, result, "cuModuleGetFunction",
                          "check the name of the entry in the PTX or cubin",
                          "the module has no kernel '%s'", symbol);
  return rt_driver_status_of(result, "cuModuleGetFunction", symbol);
}

static RtStatus read_info(const char *symbol, CUfunction function, RtKernelInfo *info) {
  const struct {
    int which;
    uint32_t *out;
  } wanted[] = {
      {CU_FUNC_MAX_THREADS, &info->max_threads}, {CU_FUNC_SHARED, &info->static_shared},
      {CU_FUNC_CONST, &info->constant},          {CU_FUNC_LOCAL, &info->local},
      {CU_FUNC_REGISTERS, &info->registers},     {CU_FUNC_BINARY_VERSION, &info->binary_version},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    int value = 0;
    int result = rt_cu.cuFuncGetAttribute(&value, wanted[i].which, function);
    if (result != CUDA_SUCCESS)
      return rt_driver_status_of(result, "cuFuncGetAttribute", symbol);
    *wanted[i].out = value > 0 ? (uint32_t)value : 0;
  }
  return RT_OK;
}

static void set_limits(RtKernel *k) {
  uint32_t fixed = k->info.static_shared;
  if (k->info.max_threads && k->info.max_threads < k->limits.threads)
    k->threads = k->info.max_threads;
  k->max_dynamic = k->limits.shared_optin > fixed ? k->limits.shared_optin - fixed : 0;
  k->allowed_dynamic = k->limits.shared > fixed ? k->limits.shared - fixed : 0;
}

static RtStatus make_trap(RtKernel *k) {
  CUdeviceptr address = 0;
  void *memory = NULL;
  TRY(CU(cuMemHostAlloc, (&memory, sizeof *k->trap, CU_HOST_PORTABLE | CU_HOST_DEVICEMAP)));
  k->trap = memory;
  memset(k->trap, 0, sizeof *k->trap);
  TRY(CU(cuMemHostGetDevicePointer, (&address, memory, 0)));
  k->trap_address = address;
  return RT_OK;
}

/* --- entries --- */

/* Of fill; and the multiprocessors that the fewest blocks of the second entry keep busy. With up to
 * GAP more than multiprocessors most have one and wait for those that have two. */
enum { FILL_PARTS = 8, BUSY = 7, GAP = 2, BUSY_OF = 8 };

/* What decides which launches take the second entry, as far as it is known before that is
 * loaded. */
static RtStatus prepare_coarse(RtKernel *k, const RtCoarse *coarse) {
  struct RtCoarseEntry *c = &k->coarse;
  int multiprocessors = 0, each = 0;
  TRY(rt_device_attribute(k->device, CU_MULTIPROCESSORS, &multiprocessors));
  TRY(rt_device_attribute(k->device, CU_MAX_THREADS_PER_MULTIPROCESSOR, &each));
  c->threads = k->limits.threads;
  c->axis = coarse->axis;
  c->in_row = coarse->in_row;
  c->least = coarse->fill ? coarse->factor : 2;
  c->from = (uint64_t)coarse->fill * (uint64_t)multiprocessors * (uint64_t)each / FILL_PARTS;
  c->full = (uint64_t)coarse->factor * (uint64_t)multiprocessors + 1;
  c->blocks = coarse->fill ? c->full * BUSY / BUSY_OF : 0;
  c->gap = coarse->even ? c->full * GAP / BUSY_OF : 0;
  c->fill = coarse->fill;
  c->factor = coarse->factor;
  return RT_OK;
}

/* With `registers` a multiprocessor has this share of its threads, in eighths, on all architectures
 * with 64 K registers and 2,048 threads; a larger one where it has fewer threads. */
static void prepare_roomy(struct RtRoomyEntry *e, uint32_t registers, uint32_t all,
                          uint32_t eighths) {
  e->most = all * eighths / 8;
  atomic_init(&e->threads, e->most);
  e->registers = registers;
}

static RtStatus prepare_registers(RtKernel *k, const RtParams *params) {
  struct RtRoomyEntry *e = k->roomy, *last = &e[RT_ROOMY_ENTRIES - 1];
  int multiprocessors = 0, all = 0;
  assert(!params->roomy || params->roomy == RT_HALF_OF_THREADS);
  assert(!params->reading || params->reading == RT_THREE_QUARTERS ||
         params->reading == RT_FIVE_EIGHTHS);
  TRY(rt_device_attribute(k->device, CU_MULTIPROCESSORS, &multiprocessors));
  TRY(rt_device_attribute(k->device, CU_MAX_THREADS_PER_MULTIPROCESSOR, &all));
  if (params->roomy) {
    prepare_roomy(&e[0], RT_HALF_OF_THREADS, (uint32_t)all, 4);
    prepare_roomy(&e[1], RT_FIVE_EIGHTHS, (uint32_t)all, 5);
  }
  for (; params->roomy && e < last; e++)
    e->multiprocessors = (uint32_t)multiprocessors, e->all = (uint32_t)all;
  if (params->reading) {
    prepare_roomy(last, params->reading, (uint32_t)all, params->reading == RT_FIVE_EIGHTHS ? 5 : 6);
    last->least = last->most - last->most / 8;
    last->at = params->reading_at;
    last->from = params->reading_from;
  }
  k->has_roomy = 1;
  return RT_OK;
}

static struct RtRoomyEntry *roomy_of(RtKernel *k, RtEntryKind entry) {
  return entry >= RT_ENTRY_ROOMY ? &k->roomy[entry - RT_ENTRY_ROOMY] : NULL;
}

/* Of the second entry, loaded: not taken by itself if its values do not fit in the registers after
 * all. Where it has local memory that hangs on the kernel's own, so such a launch wants that one
 * first. */
static void settle_coarse(RtKernel *k) {
  struct RtCoarseEntry *c = &k->coarse;
  int fits = !c->fill || !c->local || (rt_own_function(k) && c->local <= k->info.local);
  atomic_store_explicit(&c->threads, fits ? c->max_threads : 0, memory_order_relaxed);
}

/* Where a kernel's values do not fit in so many registers, nor in fewer, it is its own entry that
 * has room. A local array is in all; whether the first has more hangs on the kernel's own, so
 * launches want that as soon as one has local memory. Of the others only those without are of use:
 * more threads have such lines in the cache. */
static void settle_roomy(RtKernel *k) {
  int own = rt_own_function(k) != NULL, fit = 1;
  for (int n = 0; n < RT_ROOMY_ENTRIES; n++)
    fit &= own || !k->roomy[n].local;
  for (int n = 0; n < RT_ROOMY_ENTRIES; n++) {
    struct RtRoomyEntry *e = &k->roomy[n];
    fit &= !e->local || (!n && e->local <= k->info.local);
    atomic_store_explicit(&e->threads, fit ? e->most : 0, memory_order_relaxed);
  }
}

/* A tensor map lies where the assembler aligned it, which has to be where launches put it. */
static RtStatus check_map(const RtKernel *k, CUfunction function) {
  size_t offset = 0, size = 0;
  if (!k->map_offset || !rt_cu.cuFuncGetParamInfo)
    return RT_OK;
  TRY(CU(cuFuncGetParamInfo, (function, k->map_field, &offset, &size)));
  return offset == k->map_offset
             ? RT_OK
             : rt_fail(RT_BAD_MODULE, "report this, with the GPU and the driver's version",
                       "kernel '%s': the driver expects a tensor map at byte %zu of the "
                       "parameters, and not at %u",
                       k->symbol, offset, k->map_offset);
}

static RtStatus add_own(RtKernel *k, CUmodule module) {
  CUfunction function;
  TRY(find_function(module, k->symbol, &function));
  TRY(check_map(k, function));
  TRY(read_info(k->symbol, function, &k->info));
  set_limits(k);
  k->module = module;
  atomic_store_explicit(&k->function, function, memory_order_release);
  if (k->coarse.module)
    settle_coarse(k);
  settle_roomy(k);
  return RT_OK;
}

static RtStatus add_coarse(RtKernel *k, CUmodule module) {
  struct RtCoarseEntry *c = &k->coarse;
  CUfunction function;
  RtKernelInfo info;
  char *symbol = malloc(strlen(k->symbol) + sizeof RT_COARSE_SUFFIX);
  if (!symbol)
    return no_memory(k->symbol);
  strcat(strcpy(symbol, k->symbol), RT_COARSE_SUFFIX);
  RtStatus status = find_function(module, symbol, &function);
  if (status == RT_OK)
    status = read_info(symbol, function, &info);
  free(symbol);
  TRY(status);
  c->max_threads = info.max_threads;
  c->local = info.local;
  c->module = module;
  settle_coarse(k);
  atomic_store_explicit(&c->function, function, memory_order_release);
  return RT_OK;
}

static RtStatus add_roomy(RtKernel *k, struct RtRoomyEntry *e, CUmodule module) {
  CUfunction function;
  RtKernelInfo info;
  TRY(find_function(module, k->symbol, &function));
  TRY(read_info(k->symbol, function, &info));
  e->local = info.local;
  e->module = module;
  settle_roomy(k);
  atomic_store_explicit(&e->function, function, memory_order_release);
  return RT_OK;
}

/* What the reset took away is forgotten, and the epoch is the last to change: a launch that sees it
 * finds no entry. */
static RtStatus renew(RtKernel *k) {
  uint32_t epoch = rt_epoch(k->device);
  atomic_store(&k->function, NULL);
  atomic_store(&k->coarse.function, NULL);
  for (int n = 0; n < RT_ROOMY_ENTRIES; n++) {
    atomic_store(&k->roomy[n].function, NULL);
    k->roomy[n].module = NULL;
  }
  k->module = k->coarse.module = NULL;
  k->trap = NULL;
  k->info = (RtKernelInfo){0};
  k->best_block[0] = k->best_block[1] = 0;
  k->allowed_dynamic = 0;
  set_first_limits(k);
  if (k->coarse.factor)
    k->coarse.threads = k->limits.threads;
  if (k->trap_offset >= 0)
    TRY(make_trap(k));
  atomic_store(&k->epoch, epoch);
  return RT_OK;
}

int rt_kernel_is_stale(const RtKernel *k) { return !rt_is_host(k->device) && rt_is_stale(k); }

int rt_kernel_has(const RtKernel *k, RtEntryKind entry) {
  if (rt_is_host(k->device))
    return 1;
  if (rt_is_stale(k))
    return 0;
  const _Atomic(CUfunction) *function = entry == RT_ENTRY_COARSE ? &k->coarse.function
                                        : entry >= RT_ENTRY_ROOMY
                                            ? &k->roomy[entry - RT_ENTRY_ROOMY].function
                                            : &k->function;
  return atomic_load_explicit(function, memory_order_acquire) != NULL;
}

/* Without memory for them they are not kept: the kernel works. */
static RtStatus keep_words(RtKernel *k, const char *words) {
  free(k->words);
  k->words = *words ? strdup(words) : NULL;
  return RT_OK;
}

RtStatus rt_kernel_add(RtKernel *k, RtEntryKind entry, const char *image, size_t size,
                       const RtLinked *with) {
  struct RtRoomyEntry *roomy = roomy_of(k, entry);
  Loading l = {.symbol = k->symbol,
               .registers = roomy ? roomy->registers : 0,
               .refuse_serial = !is_binary(image, size) &&
                                memmem(image, size, "// wgmma.mma at ", 16)};
  assert(entry == RT_ENTRY_OWN || (entry == RT_ENTRY_COARSE && k->coarse.factor) ||
         (roomy && roomy->registers));
  if (rt_kernel_has(k, entry))
    return RT_OK;
  ENTER(k->device);
  if (rt_is_stale(k))
    TRY(renew(k));
  RtStatus loaded = load_image(&l, image, size, with);
  if (loaded == RT_BAD_MODULE && roomy) { /* an instruction takes more of them */
    for (int n = 0; n < RT_ROOMY_ENTRIES; n++)
      k->roomy[n].most = 0;
    settle_roomy(k);
    return RT_OK;
  }
  TRY(loaded);
  RtStatus status = entry == RT_ENTRY_COARSE ? add_coarse(k, l.module)
                    : roomy                  ? add_roomy(k, roomy, l.module)
                                             : add_own(k, l.module);
  if (status == RT_OK)
    return keep_words(k, l.words);
  RtError why = *rt_error();
  rt_cu.cuModuleUnload(l.module);
  rt_set_error(&why);
  return status;
}

const char *rt_kernel_words(const RtKernel *k) { return k->words ? k->words : ""; }

static RtStatus fill_gpu(RtKernel *k, const RtParams *params) {
  ENTER(k->device);
  if (params->coarse.factor)
    TRY(prepare_coarse(k, &params->coarse));
  if ((params->roomy || params->reading) && k->grid_offset < 0)
    TRY(prepare_registers(k, params));
  return k->trap_offset >= 0 ? make_trap(k) : RT_OK;
}

RtStatus rt_kernel_open(RtDevice *d, const char *symbol, const RtParams *params, int has_trap,
                        RtKernel **out) {
  *out = NULL;
  if (rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT, "compile for the host instead",
                   "the host device does not run PTX (kernel '%s')", symbol);
  RtKernel *k = kernel_new(d, symbol, params);
  if (!k)
    return no_memory(symbol);
  if (!has_trap)
    k->trap_offset = -1;
  RtStatus status = fill_gpu(k, params);
  if (status != RT_OK) {
    rt_kernel_release(k);
    return status;
  }
  *out = k;
  return RT_OK;
}

RtStatus rt_kernel_host(RtDevice *d, const char *symbol, const RtHostCode *code,
                        const RtParams *params, RtKernel **out) {
  *out = NULL;
  if (!rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT, "compile for the GPU instead",
                   "%s does not run host code (kernel '%s')", d->name, symbol);
  RtKernel *k = kernel_new(d, symbol, params);
  if (!k)
    return no_memory(symbol);
  k->host = *code;
  k->info.static_shared = code->static_shared;
  k->info.constant = code->constant;
  k->info.max_threads = d->limits.threads;
  set_limits(k);
  *out = k;
  return RT_OK;
}

void rt_kernel_bound(RtKernel *k, uint32_t threads) {
  if (threads && threads < k->info.max_threads)
    k->info.max_threads = threads;
  set_limits(k);
}

static void free_name(RtKernel *k) {
  if (k->name != k->symbol)
    free((void *)(uintptr_t)k->name);
}

int rt_kernel_is_cooperative(const RtKernel *k) {
  return k->grid_offset >= 0 || k->host.meets_grid;
}

RtStatus rt_kernel_call_it(RtKernel *k, const char *name) {
  char *copy = strdup(name);
  if (!copy)
    return no_memory(name);
  free_name(k);
  k->name = copy;
  return RT_OK;
}

const char *rt_kernel_name(const RtKernel *k) { return k->name; }

void rt_kernel_release(RtKernel *k) {
  if (!k)
    return;
  rt_forget_kernel(k);
  RtContext was SCOPED = {0};
  if (!rt_is_host(k->device) && rt_enter_alive(&was, k->device, k->epoch)) {
    if (k->module)
      rt_cu.cuModuleUnload(k->module);
    if (k->coarse.module)
      rt_cu.cuModuleUnload(k->coarse.module);
    for (int n = 0; n < RT_ROOMY_ENTRIES; n++)
      if (k->roomy[n].module)
        rt_cu.cuModuleUnload(k->roomy[n].module);
    if (k->trap)
      rt_cu.cuMemFreeHost(k->trap);
  }
  free(k->field_offsets);
  free(k->words);
  free_name(k);
  free(k);
}

const RtKernelInfo *rt_kernel_info(const RtKernel *k) { return &k->info; }

/* --- modules with kernels of others --- */

struct RtModule {
  RtDevice *device;
  uint32_t epoch;
  CUmodule module;
  char name[]; /* for error texts */
};

static RtStatus check_module(const RtModule *m) {
  if (m->epoch == rt_epoch(m->device))
    return RT_OK;
  return rt_fail(RT_BAD_ARGUMENT, "load it again",
                 "the module '%s' is gone: %s was reset since it was loaded", m->name,
                 m->device->name);
}

RtStatus rt_module_open(RtDevice *d, const char *name, const char *image, size_t size,
                        const RtLinked *with, RtModule **out) {
  *out = NULL;
  if (rt_is_host(d))
    return rt_fail(RT_BAD_ARGUMENT, "select a GPU: cuda.select_device(0), or PYPTX_DEVICE=gpu",
                   "the host device does not run PTX or machine code of GPUs ('%s')", name);
  RtModule *m = calloc(1, sizeof *m + strlen(name) + 1);
  if (!m)
    return no_memory(name);
  strcpy(m->name, name);
  m->device = d;
  m->epoch = rt_epoch(d);
  Loading l = {.symbol = m->name};
  RtContext was SCOPED = {0};
  RtStatus status = rt_enter(&was, d);
  if (status == RT_OK)
    status = load_image(&l, image, size, with);
  if (status != RT_OK) {
    free(m);
    return status;
  }
  m->module = l.module;
  *out = m;
  return RT_OK;
}

void rt_module_release(RtModule *m) {
  RtContext was SCOPED = {0};
  if (m && rt_enter_alive(&was, m->device, m->epoch))
    rt_cu.cuModuleUnload(m->module);
  free(m);
}

RtDevice *rt_module_device(const RtModule *m) { return m->device; }

RtStatus rt_module_kernel(RtModule *m, const char *symbol, const RtParams *params, int has_trap,
                          RtKernel **out) {
  *out = NULL;
  TRY(check_module(m));
  RtKernel *k;
  TRY(rt_kernel_open(m->device, symbol, params, has_trap, &k));
  RtContext was SCOPED = {0};
  RtStatus status = rt_enter(&was, m->device);
  if (status == RT_OK)
    status = add_own(k, m->module);
  k->module = NULL; /* the module's to unload */
  if (status != RT_OK) {
    RtError why = *rt_error();
    rt_kernel_release(k);
    rt_set_error(&why);
    return status;
  }
  *out = k;
  return RT_OK;
}

RtStatus rt_module_global(RtModule *m, const char *name, uint64_t *address, size_t *bytes) {
  CUdeviceptr at = 0;
  TRY(check_module(m));
  ENTER(m->device);
  int result = rt_cu.cuModuleGetGlobal(&at, bytes, m->module, name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return rt_fail_driver(
        RT_BAD_MODULE, result, "cuModuleGetGlobal",
        "check its name: C++ mangles those that are not extern \"C\"; and is it used?",
        "the module '%s' has no global variable '%s'", m->name, name);
  *address = at;
  return rt_driver_status_of(result, "cuModuleGetGlobal", m->name);
}

RtStatus rt_kernel_param(RtKernel *k, uint32_t index, size_t *offset, size_t *size) {
  *offset = *size = 0;
  if (!rt_cu.cuFuncGetParamInfo)
    return RT_OK;
  ENTER(k->device);
  int result = rt_cu.cuFuncGetParamInfo(rt_own_function(k), index, offset, size);
  if (result == CUDA_ERROR_INVALID_VALUE) { /* behind the last */
    *offset = *size = 0;
    return RT_OK;
  }
  return rt_driver_status_of(result, "cuFuncGetParamInfo", k->symbol);
}
