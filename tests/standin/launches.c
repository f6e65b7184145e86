/* Modules and launches of the stand-in: a kernel is a name in the PTX and the parameters that it
 * declares, which a launch must bring. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/internal.h"

int standin_attributes[16] = {1024, 0, 0, 0, 32, 90, 90};
StandinLaunch standin_last;

static struct CUfunc_st *functions;
static int blocked;
static pthread_cond_t unblocked = PTHREAD_COND_INITIALIZER;
static void (*launched)(const StandinLaunch *, void *);
static void *launched_user;

static char words[512];

void standin_say(const char *text) { snprintf(words, sizeof words, "%s", text); }

/* Text is PTX if it has a .version; a cubin is kept as "any kernel". */
static int refuse(const char *text, unsigned count, const int *options, void **values) {
  if (strstr(text, ".version") && !strstr(text, "refuse this"))
    return CUDA_SUCCESS;
  for (unsigned i = 0; i < count; i++)
    if (options[i] == CU_JIT_ERROR_LOG)
      strcpy(values[i],
             "ptxas application ptx input, line 7; fatal :\n   Parsing error near 'this'\n");
  return strstr(text, ".version") ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options,
                            void **values) {
  BEGIN(cuModuleLoadDataEx, 1);
  int cubin = memcmp(image, "\177ELF", 4) == 0;
  if (!cubin && (result = refuse(image, count, options, values)) != CUDA_SUCCESS)
    return standin_end(result);
  CUmodule m = standin_make(SI_MODULE, sizeof *m);
  if (!m)
    return standin_end(CUDA_ERROR_OUT_OF_MEMORY);
  m->text = cubin ? NULL : strdup(image);
  for (unsigned i = 0; !cubin && i < count; i++)
    if (options[i] == CU_JIT_INFO_LOG)
      strcpy(values[i], words);
  *module = m;
  return standin_end(CUDA_SUCCESS);
}

/* --- linking: the PTX that comes first is what is loaded, once each function that it declares is
 * defined somewhere --- */

CUresult cuLinkCreate(unsigned count, int *options, void **values, CUlinkState *state) {
  BEGIN(cuLinkCreate, 1);
  CUlinkState s = standin_make(SI_LINK, sizeof *s);
  for (unsigned i = 0; s && i < count; i++)
    if (options[i] == CU_JIT_ERROR_LOG)
      s->log = values[i];
  *state = s;
  return standin_end(s ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

CUresult cuLinkAddData(CUlinkState state, int kind, void *data, size_t bytes, const char *name,
                       unsigned count, int *options, void **values) {
  BEGIN(cuLinkAddData, 1);
  (void)name, (void)count, (void)options, (void)values;
  if (!standin_find(SI_LINK, state) || kind < CU_INPUT_CUBIN || kind > CU_INPUT_LIBRARY)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  if (kind == CU_INPUT_PTX && (((char *)data)[bytes - 1] || !strstr(data, ".version")))
    return standin_end(CUDA_ERROR_INVALID_PTX);
  if (!state->first) {
    state->first = strdup(data);
    return standin_end(CUDA_SUCCESS);
  }
  size_t had = state->others ? strlen(state->others) : 0;
  state->others = realloc(state->others, had + bytes + 1);
  for (size_t i = 0; i < bytes; i++) /* of binaries, the texts in them */
    state->others[had + i] = ((char *)data)[i] ? ((char *)data)[i] : ' ';
  state->others[had + bytes] = 0;
  return standin_end(CUDA_SUCCESS);
}

/* The name behind "(result)", if there is one. */
static const char *declared_name(const char *p, char name[128]) {
  p += strspn(p, " \t\n");
  if (*p == '(')
    p = strchr(p, ')') + 1;
  p += strspn(p, " \t\n");
  size_t n = strcspn(p, " \t\n(;");
  snprintf(name, 128, "%.*s", (int)n, p);
  return p + n;
}

CUresult cuLinkComplete(CUlinkState state, void **cubin, size_t *bytes) {
  BEGIN(cuLinkComplete, 1);
  if (!standin_find(SI_LINK, state) || !state->first)
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  char name[128];
  for (const char *p = state->first; (p = strstr(p, ".extern .func")) != NULL;) {
    p = declared_name(p + strlen(".extern .func"), name);
    if (strcmp(name, "vprintf") == 0 || (state->others && strstr(state->others, name)))
      continue;
    if (state->log)
      sprintf(state->log, "error   : Undefined reference to '%s' in 'kernel'\n", name);
    return standin_end(CUDA_ERROR_INVALID_IMAGE);
  }
  *cubin = state->first;
  *bytes = strlen(state->first);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuLinkDestroy(CUlinkState state) {
  BEGIN(cuLinkDestroy, 1);
  return standin_destroy(SI_LINK, state);
}

CUresult cuModuleUnload(CUmodule module) {
  BEGIN(cuModuleUnload, 1);
  if (standin_find(SI_MODULE, module))
    for (Global *g = module->globals; g; g = g->next)
      standin_drop(standin_find(SI_MEMORY, at(g->address)));
  return standin_destroy(SI_MODULE, module);
}

/* Behind ".entry name", or NULL. */
static const char *find_entry(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *p = text; (p = strstr(p, ".entry")) != NULL;) {
    p += strlen(".entry");
    p += strspn(p, " \t\n");
    if (strncmp(p, name, n) == 0 && strspn(p + n, " \t\n(") > 0)
      return p + n;
  }
  return NULL;
}

static unsigned size_of(const char *type) { /* ".u64" … */
  static const char *const names[] = {"8", "16", "32", "64"};
  for (unsigned i = 0; i < 4; i++)
    if (strncmp(type + 2, names[i], strlen(names[i])) == 0)
      return 1u << i;
  return 0;
}

/* Reads "(.param .u64 a, .param .align 8 .b8 b[16], …)" into the function: what a launch must
 * bring. Alignment counts from where the parameters begin in memory: at 0x210 on sm_90, at 0x380
 * since. */
static void read_params(CUfunction f, const char *p, const char *text) {
  unsigned end = 0, begin = strstr(text, ".target sm_9") ? 0x210 : 0x380;
  f->param_bytes = -1;
  p += strspn(p, " \t\n(");
  for (; strncmp(p, ".param", 6) == 0; f->nparams++) {
    unsigned size = 0, align = 0, count = 1;
    const char *stop = p + strcspn(p, ",)"), *bracket = memchr(p, '[', (size_t)(stop - p));
    for (const char *w = p + 6; w < stop; w++) {
      if (*w != '.')
        continue;
      if (strncmp(w, ".align", 6) == 0 && !size)
        align = (unsigned)strtoul(w + 6, NULL, 10);
      else if (strchr("busf", w[1]) && size_of(w))
        size = size_of(w);
    }
    count = bracket ? (unsigned)strtoul(bracket + 1, NULL, 10) : 1;
    if (!bracket || !align)
      align = size;
    if (!size || f->nparams == 256)
      return;
    end = (begin + end + align - 1) / align * align - begin;
    f->param_at[f->nparams] = end;
    f->param_size[f->nparams] = size * count;
    end += size * count;
    p = stop + 1 + strspn(stop + 1, " \t\n");
    if (*stop == ')') {
      f->nparams++;
      break;
    }
  }
  f->param_bytes = end;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  BEGIN(cuModuleGetFunction, 1);
  const Thing *t = standin_find(SI_MODULE, module);
  if (!t)
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  const char *entry = module->text ? find_entry(module->text, name) : NULL;
  if (module->text && !entry)
    return standin_end(CUDA_ERROR_NOT_FOUND);
  CUfunction f = calloc(1, sizeof *f);
  if (!f)
    return standin_end(CUDA_ERROR_OUT_OF_MEMORY);
  snprintf(f->name, sizeof f->name, "%s", name);
  f->device = t->device;
  f->max_dynamic = 49152 - standin_attributes[CU_FUNC_SHARED];
  f->param_bytes = -1;
  if (entry)
    read_params(f, entry, module->text);
  f->ptx = entry ? strdup(module->text) : NULL;
  f->next = functions;
  *function = functions = f;
  return standin_end(CUDA_SUCCESS);
}

/* The bytes of variable "name" of a PTX text, ".global .align 4 .b8 name[16]"; 0: there is none. */
static size_t global_bytes(const char *text, const char *name) {
  size_t n = strlen(name);
  for (const char *p = text; (p = strstr(p, name)) != NULL; p += n) {
    const char *line = p;
    while (line > text && line[-1] != '\n' && line[-1] != ';')
      line--;
    const char *type = NULL;
    for (const char *w = line; w < p; w++)
      if (*w == '.' && strchr("busf", w[1]) && size_of(w))
        type = w;
    if (!type || p[-1] != ' ' || !strchr("[; =", p[n]) ||
        !(strstr(line, ".global") == NULL ? 0 : strstr(line, ".global") < p))
      continue;
    return size_of(type) * (p[n] == '[' ? strtoul(p + n + 1, NULL, 10) : 1);
  }
  return 0;
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
  BEGIN(cuModuleGetGlobal, 1);
  if (!standin_find(SI_MODULE, module))
    return standin_misuse(CUDA_ERROR_INVALID_HANDLE);
  Global *g = module->globals;
  while (g && strcmp(g->name, name) != 0)
    g = g->next;
  size_t size = !g && module->text ? global_bytes(module->text, name) : 0;
  if (!g && !size)
    return standin_end(CUDA_ERROR_NOT_FOUND);
  if (!g) {
    g = calloc(1, sizeof *g);
    snprintf(g->name, sizeof g->name, "%s", name);
    g->address = (uintptr_t)standin_make(SI_MEMORY, size);
    g->bytes = size;
    memset(at(g->address), 0, size);
    g->next = module->globals;
    module->globals = g;
  }
  *address = g->address;
  *bytes = g->bytes;
  return standin_end(CUDA_SUCCESS);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
  BEGIN(cuFuncGetParamInfo, 1);
  if (function->param_bytes < 0 || index >= function->nparams)
    return standin_end(CUDA_ERROR_INVALID_VALUE);
  *offset = function->param_at[index];
  *size = function->param_size[index];
  return standin_end(CUDA_SUCCESS);
}

CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
  BEGIN(cuFuncGetAttribute, 1);
  /* bytes of local memory of coarsened entries, or of all */
  const char *spilled = getenv("PYPTX_STANDIN_SPILLED");
  *value = standin_attributes[attribute & 15];
  if (attribute == CU_FUNC_LOCAL && spilled &&
      (strchr(function->name, '$') || getenv("PYPTX_STANDIN_SPILLED_ALL")))
    *value = atoi(spilled);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  BEGIN(cuFuncSetAttribute, 1);
  if (attribute == CU_FUNC_NON_PORTABLE_CLUSTER)
    function->large_clusters = value;
  else if (attribute == CU_FUNC_MAX_DYNAMIC_SHARED)
    function->max_dynamic = value;
  else
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  return standin_end(CUDA_SUCCESS);
}

static void read_extra(StandinLaunch *l, void **extra) {
  const void *buffer = NULL;
  for (; extra && *extra != CU_PARAM_END; extra += 2)
    if (extra[0] == CU_PARAM_BUFFER)
      buffer = extra[1];
    else if (extra[0] == CU_PARAM_BUFFER_SIZE)
      l->bytes = *(size_t *)extra[1];
  if (buffer)
    memcpy(l->params, buffer, l->bytes < sizeof l->params ? l->bytes : sizeof l->params);
}

/* Notes a launch under the lock; not 0: the error it is. */
static int note_launch(CUfunction function, const StandinLaunch *launch) {
  const unsigned *g = launch->grid, *b = launch->block;
  if (!standin_is_stream(launch->stream))
    return CUDA_ERROR_INVALID_VALUE;
  if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2] || b[0] * b[1] * b[2] > 1024 ||
      (int)launch->dynamic_shared > function->max_dynamic)
    return CUDA_ERROR_INVALID_VALUE;
  if (function->param_bytes >= 0 && launch->bytes != (size_t)function->param_bytes) {
    fprintf(stderr, "stand-in: kernel %s takes %ld bytes of parameters, and %zu were given\n",
            function->name, function->param_bytes, launch->bytes);
    return CUDA_ERROR_INVALID_VALUE;
  }
  standin_last = *launch;
  standin_last.ptx = function->ptx;
  memcpy(standin_last.kernel, function->name, sizeof standin_last.kernel);
  return CUDA_SUCCESS;
}

static _Thread_local int answer;

void standin_answer(int result) { answer = result; }

int standin_run(const StandinLaunch *launch) {
  void (*run)(const StandinLaunch *, void *) = launched;
  answer = CUDA_SUCCESS;
  if (run)
    run(launch, launched_user);
  return answer;
}

static CUresult run_launch(CUfunction function) {
  Work work = {.kind = WORK_KERNEL, .launch = standin_last, .function = function};
  int taken = graphs_take(standin_last.stream, &work);
  while (blocked)
    standin_wait(&unblocked);
  standin_end(CUDA_SUCCESS);
  if (taken < 0)
    return -taken;
  /* not standin_last: another thread may have launched since */
  return taken ? CUDA_SUCCESS : standin_run(&work.launch);
}

/* The parameters of a cooperative launch, which come one by one, as a block. */
static void gather(CUfunction f, StandinLaunch *l) {
  for (unsigned i = 0; f->param_bytes >= 0 && i < f->nparams; i++)
    if (f->param_at[i] + f->param_size[i] <= sizeof l->params)
      memcpy(l->params + f->param_at[i], l->fields[i], f->param_size[i]);
  l->bytes = f->param_bytes >= 0 ? (size_t)f->param_bytes : 0;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned dynamic_shared, CUstream stream,
                        void **params, void **extra) {
  BEGIN(cuLaunchKernel, 1);
  /* no wrong use: who launches may wait for that answer */
  if (!standin_is_here(function->device))
    return standin_end(CUDA_ERROR_INVALID_HANDLE);
  (void)params;
  standin_note("launch", NULL, stream);
  StandinLaunch l = {.grid = {gx, gy, gz},
                     .block = {bx, by, bz},
                     .dynamic_shared = dynamic_shared,
                     .stream = stream};
  read_extra(&l, extra);
  int bad = note_launch(function, &l);
  return bad ? standin_misuse(bad) : run_launch(function);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **params,
                          void **extra) {
  BEGIN(cuLaunchKernelEx, 1);
  /* no wrong use: who launches may wait for that answer */
  if (!standin_is_here(function->device))
    return standin_end(CUDA_ERROR_INVALID_HANDLE);
  (void)params;
  StandinLaunch l = {.dynamic_shared = c->dynamic_shared, .stream = c->stream};
  memcpy(l.grid, c->grid, sizeof l.grid);
  memcpy(l.block, c->block, sizeof l.block);
  read_extra(&l, extra);
  for (unsigned k = 0; k < c->nattributes; k++)
    if (c->attributes[k].id == CU_LAUNCH_CLUSTER)
      memcpy(l.cluster, &c->attributes[k].value.cluster, sizeof l.cluster);
    else if (c->attributes[k].id != CU_LAUNCH_DEPENDENT || c->attributes[k].value.allowed != 1)
      return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  if (!c->nattributes || c->nattributes > 2)
    return standin_misuse(CUDA_ERROR_INVALID_VALUE);
  unsigned blocks = l.cluster[0] * l.cluster[1] * l.cluster[2];
  int bad = note_launch(function, &l);
  for (int i = 0; i < 3 && !bad && c->attributes->id == CU_LAUNCH_CLUSTER; i++)
    bad = !l.cluster[i] || l.grid[i] % l.cluster[i] ? CUDA_ERROR_INVALID_CLUSTER_SIZE : 0;
  if (bad || blocks > (function->large_clusters ? 16u : 8u))
    return standin_misuse(bad ? bad : CUDA_ERROR_INVALID_CLUSTER_SIZE);
  return run_launch(function);
}

/* As many blocks as there are threads for. */
enum { MULTIPROCESSORS = 132, THREADS_EACH = 2048 };

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz,
                                   unsigned bx, unsigned by, unsigned bz, unsigned dynamic_shared,
                                   CUstream stream, void **params) {
  BEGIN(cuLaunchCooperativeKernel, 1);
  /* no wrong use: who launches may wait for that answer */
  if (!standin_is_here(function->device))
    return standin_end(CUDA_ERROR_INVALID_HANDLE);
  StandinLaunch l = {.grid = {gx, gy, gz},
                     .block = {bx, by, bz},
                     .dynamic_shared = dynamic_shared,
                     .stream = stream,
                     .cooperative = 1,
                     .fields = params};
  gather(function, &l);
  int bad = note_launch(function, &l);
  if (bad)
    return standin_misuse(bad);
  if ((uint64_t)gx * gy * gz > MULTIPROCESSORS * (THREADS_EACH / (bx * by * bz)))
    return standin_end(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  return run_launch(function);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t dynamic_shared) {
  BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor, 1);
  (void)function;
  *blocks = dynamic_shared > 100000 ? 1 : THREADS_EACH / threads;
  return standin_end(CUDA_SUCCESS);
}

/* Clusters lie in parts of 16 multiprocessors, and the last part has fewer; those of the grid. */
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config) {
  BEGIN(cuOccupancyMaxActiveClusters, 1);
  (void)function;
  uint32_t blocks = config->attributes[0].value.cluster.x * config->attributes[0].value.cluster.y *
                    config->attributes[0].value.cluster.z;
  uint32_t threads = config->block[0] * config->block[1] * config->block[2];
  uint32_t each = config->dynamic_shared > 100000 ? 1 : THREADS_EACH / threads;
  uint64_t all = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2] / blocks;
  uint32_t room = MULTIPROCESSORS / 16 * (16 * each / blocks);
  *clusters = (int)(all < room ? all : room);
  return standin_end(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared, int limit) {
  BEGIN(cuOccupancyMaxPotentialBlockSize, 1);
  (void)function, (void)shared_of, (void)shared, (void)limit;
  *min_grid = 132;
  *block = 768;
  return standin_end(CUDA_SUCCESS);
}

/* --- control --- */

void standin_block(int on) {
  standin_lock();
  blocked = on;
  pthread_cond_broadcast(&unblocked);
  standin_end(0);
}

void standin_on_launch(void (*run)(const StandinLaunch *, void *), void *user) {
  standin_lock();
  launched = run;
  launched_user = user;
  standin_end(0);
}

__attribute__((destructor)) static void unload(void) {
  while (functions) {
    struct CUfunc_st *next = functions->next;
    free(functions->ptx);
    free(functions);
    functions = next;
  }
}
