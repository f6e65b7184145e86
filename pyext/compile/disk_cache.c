/* Cache: settings from the environment, the way of one kernel through the cache, and the functions
 * behind cuda.cache_info() and `pyptx cache`.
 *
 * Nothing that is wrong with the cache stops a program: it compiles, and says once what was wrong
 * (errors.CacheWarning). */
#include "pyext/compile/disk_cache.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pyext/compile/dispatcher.h"
#include "pyext/compile/overload.h"
#include "pyext/compile/signature.h"
#include "pyext/objects/device.h"
#include "pyext/objects/progress.h"
#include "pyext/raise.h"

#include "codegen/store/store.h"
#include "ir/base/number.h"
#include "ir/type.h"
#include "runtime/cache/cache_files.h"

_Static_assert((int)RT_CACHE_KEY == (int)CG_DIGEST_BYTES, "a key names a file");

enum { MAX_LAYERS = 16, MAX_PATH = 4096, MAX_PROBLEM = 1024, WAIT_SLICE_MS = 100 };
#define DEFAULT_LIMIT  ((uint64_t)1 << 30)
#define DEFAULT_WAIT_S 30.0
#define MAX_WAIT_S     1e9

/* --- settings --- */

typedef struct Settings {
  char own[MAX_PATH];   /* the directory that is written to; "": none */
  const char *readonly; /* directories, separated by ':' */
  uint64_t limit;
  double wait_s; /* for another process that compiles the same kernel */
  char problem[MAX_PROBLEM];
} Settings;

static const char *from_environment(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* Settings that are not as they should be; what is taken instead. */
static __attribute__((format(printf, 2, 3))) void complain(Settings *s, const char *format, ...) {
  size_t n = strlen(s->problem);
  va_list values;
  va_start(values, format);
  if (n && n + 2 < sizeof s->problem)
    n += (size_t)snprintf(s->problem + n, sizeof s->problem - n, "; ");
  vsnprintf(s->problem + n, sizeof s->problem - n, format, values);
  va_end(values);
}

/* "~/…" as in a shell, for environments that no shell has read. */
static void set_directory(Settings *s, const char *path) {
  const char *home = path[0] == '~' && path[1] == '/' ? from_environment("HOME") : NULL;
  int n = snprintf(s->own, sizeof s->own, "%s%s", home ? home : "", path + (home ? 1 : 0));
  if (n < (int)sizeof s->own)
    return;
  s->own[0] = 0;
  complain(s, "PYPTX_CACHE_DIR is too long: no kernels are kept");
}

static void default_directory(Settings *s) {
  const char *base = from_environment("XDG_CACHE_HOME"), *home = from_environment("HOME");
  int n = base && *base == '/' ? snprintf(s->own, sizeof s->own, "%s/pyptx", base)
          : home               ? snprintf(s->own, sizeof s->own, "%s/.cache/pyptx", home)
                               : -1;
  if (n >= 0 && n < (int)sizeof s->own)
    return;
  s->own[0] = 0;
  complain(s, "there is no home directory to keep compiled kernels in: set PYPTX_CACHE_DIR");
}

/* "500M", "1.5 GB", "1073741824"; 0: no limit. */
static uint64_t read_size(Settings *s, const char *text) {
  static const char suffixes[] = "KMGT";
  char *end;
  double n = number_read(text, &end);
  while (*end == ' ')
    end++;
  const char *suffix = *end ? strchr(suffixes, *end & ~0x20) : NULL;
  if (suffix && *suffix) {
    n *= (double)((uint64_t)1 << 10 * (suffix - suffixes + 1));
    end++;
  }
  const char *rest = end + (*end == 'i');
  rest += *rest == 'B';
  if (end != text && !*rest && n >= 0 && n < 1e18)
    return (uint64_t)n;
  complain(s, "PYPTX_CACHE_SIZE=%.40s is not a size, as 500M or 2G: the cache keeps to 1G", text);
  return DEFAULT_LIMIT;
}

static double read_wait(Settings *s, const char *text) {
  char *end;
  double n = number_read(text, &end);
  if (end != text && !*end && n >= 0 && n <= MAX_WAIT_S)
    return n;
  complain(s, "PYPTX_CACHE_WAIT=%.40s is not a number of seconds, as 30 or 0.5: it is %g", text,
           DEFAULT_WAIT_S);
  return DEFAULT_WAIT_S;
}

/* false: no cache is asked for. */
static bool read_settings(Settings *s, PxCaching caching) {
  const char *own = from_environment("PYPTX_CACHE_DIR"),
             *size = from_environment("PYPTX_CACHE_SIZE");
  const char *wait = from_environment("PYPTX_CACHE_WAIT");
  memset(s, 0, sizeof *s);
  s->readonly = from_environment("PYPTX_CACHE_READONLY_DIR");
  if (caching == PX_CACHE_NEVER || (caching == PX_CACHE_BY_ENVIRONMENT && !own && !s->readonly))
    return false;
  s->limit = size ? read_size(s, size) : DEFAULT_LIMIT;
  s->wait_s = wait ? read_wait(s, wait) : DEFAULT_WAIT_S;
  if (own)
    set_directory(s, own);
  else if (caching == PX_CACHE_ALWAYS)
    default_directory(s);
  return true;
}

/* --- one kernel --- */

typedef struct Job {
  const Settings *settings;
  const CgRequest *request;
  CgRequest compiled; /* what is compiled to be kept */
  const char *label;
  CgKey key;
  RtCache *layers[MAX_LAYERS];
  uint32_t nlayers;
  bool writable; /* layers[0] */
  int lock;
  CgKernel *code;
  Diag *diag;
  uint64_t stored, damaged;
  char problem[MAX_PROBLEM]; /* the first one */
} Job;

static void note_problem(Job *j) {
  const RtError *e = rt_error();
  if (!*j->problem)
    snprintf(j->problem, sizeof j->problem, "%s%s%s", e->text, *e->remedy ? "; " : "", e->remedy);
}

static void open_layer(Job *j, const char *path, int writable) {
  RtCache *c;
  if (j->nlayers == MAX_LAYERS)
    return;
  if (rt_cache_open(path, writable, cg_digest, &c) != RT_OK) {
    note_problem(j);
    return;
  }
  j->layers[j->nlayers++] = c;
  j->writable |= rt_cache_is_writable(c);
  if (writable && !rt_cache_is_writable(c))
    note_problem(j);
}

static void open_layers(Job *j) {
  char path[MAX_PATH];
  if (*j->settings->own)
    open_layer(j, j->settings->own, 1);
  for (const char *p = j->settings->readonly; p && *p;) {
    size_t n = strcspn(p, ":");
    if (n && n < sizeof path) {
      memcpy(path, p, n);
      path[n] = 0;
      open_layer(j, path, 0);
    }
    p += n + (p[n] == ':');
  }
}

/* May be asked twice: a damaged file is one all the same. */
static bool look(Job *j) {
  uint64_t damaged = 0;
  for (uint32_t i = 0; i < j->nlayers && !j->code; i++) {
    RtCacheEntry entry;
    RtCacheFound found = rt_cache_read(j->layers[i], j->key.digest, &entry);
    damaged += found == RT_CACHE_DAMAGED;
    if (found == RT_CACHE_FOUND)
      cg_kernel_unpack(j->request, &j->key, entry.bytes, entry.size, &j->code);
    free(entry.file);
  }
  if (damaged > j->damaged)
    j->damaged = damaged;
  return j->code != NULL;
}

static void keep(Job *j) {
  void *bytes;
  size_t size;
  if (cg_kernel_pack(j->code, &j->key, &bytes, &size))
    return;
  if (rt_cache_write(j->layers[0], j->key.digest, j->label, bytes, size, j->settings->limit) ==
      RT_OK)
    j->stored++;
  else
    note_problem(j);
  free(bytes);
  free(j->code->object);
  j->code->object = NULL;
}

static PyObject *compiling(const CgRequest *r) {
  if (!r->func)
    return px_progress_begin("compiling the coarsened entry of a kernel");
  bool narrow;
  const char *signature = ty_skip_narrow(r->signature, &narrow);
  bool bare = *signature != '('; /* as `pyptx compile` has it */
  return px_progress_begin("compiling %s%s%.100s%s", r->func->code->qualname, bare ? "(" : "",
                           signature, bare ? ")" : "");
}

static int make(Job *j) {
  j->compiled = *j->request;
  if (j->writable && j->request->target == CG_HOST)
    j->compiled.want |= CG_WANT_OBJECT;
  int failed = cg_compile(&j->compiled, &j->code, &j->diag);
  if (!failed && j->writable)
    keep(j);
  return failed;
}

/* The process that holds the lock compiles; the others wait, but not for ever: it may have stalled.
 * Another thread's holding counts the same. 0, or -1 with the exception of a signal. */
static int wait_for_turn(Job *j) {
  RtCacheLock lock;
  double waited = 0;
  do {
    Py_BEGIN_ALLOW_THREADS
    lock = rt_cache_lock(j->layers[0], j->key.digest, WAIT_SLICE_MS, &j->lock);
    Py_END_ALLOW_THREADS
    waited += 1e-3 * WAIT_SLICE_MS;
    if (PyErr_CheckSignals() < 0)
      return -1;
  } while (lock == RT_CACHE_BUSY && waited < j->settings->wait_s);
  return 0;
}

/* 0 and j->code, or -1. */
static int work(Job *j, PxCacheUse *use) {
  bool found;
  int failed = 0;
  Py_BEGIN_ALLOW_THREADS
  open_layers(j);
  found = look(j);
  Py_END_ALLOW_THREADS
  if (!found && j->writable && wait_for_turn(j) < 0)
    return -1;
  if (!found) {
    PyObject *progress = compiling(j->request);
    Py_BEGIN_ALLOW_THREADS
    found = j->writable && look(j); /* who had the lock before us may have made it */
    if (!found)
      failed = make(j);
    Py_END_ALLOW_THREADS
    px_progress_end(progress);
  }
  if (j->nlayers && !failed)
    *use = found ? PX_CACHE_HIT : PX_CACHE_MISS;
  return failed;
}

static void close_job(Job *j) {
  Py_BEGIN_ALLOW_THREADS
  if (j->nlayers && j->writable)
    rt_cache_unlock(j->layers[0], j->key.digest, j->lock);
  for (uint32_t i = 0; i < j->nlayers; i++)
    rt_cache_close(j->layers[i]);
  cg_key_free(&j->key);
  Py_END_ALLOW_THREADS
}

/* --- what it was like --- */

/* Once a process for each problem. 0, or -1 where the warning is an error. */
static int warn(PxState *st, const char *problem) {
  if (!*problem)
    return 0;
  PyObject *text = PyUnicode_DecodeFSDefault(problem);
  int known = -1;
  PX_BEGIN_LOCKED(st->module)
  if (text && (st->cache_problems || (st->cache_problems = PySet_New(NULL))))
    known = PySet_Contains(st->cache_problems, text);
  if (known == 0 && PySet_Add(st->cache_problems, text) < 0)
    known = -1;
  PX_END_LOCKED()
  int failed = known < 0 ? -1 : 0;
  if (known == 0) {
    PyObject *class = px_error_class(st, "CacheWarning");
    failed = class ? PyErr_WarnFormat(class, 1, "%U", text) : -1;
    Py_XDECREF(class);
  }
  Py_XDECREF(text);
  return failed;
}

static void count(PxState *st, const Job *j, PxCacheUse use) {
  PX_BEGIN_LOCKED(st->module)
  st->cache.hits += use == PX_CACHE_HIT;
  st->cache.misses += use == PX_CACHE_MISS;
  st->cache.stored += j->stored;
  st->cache.damaged += j->damaged;
  PX_END_LOCKED()
}

static int compile_plainly(const CgRequest *request, CgKernel **code, Diag **diag) {
  int failed;
  PyObject *progress = compiling(request);
  Py_BEGIN_ALLOW_THREADS
  failed = cg_compile(request, code, diag);
  Py_END_ALLOW_THREADS
  px_progress_end(progress);
  return failed;
}

/* What `pyptx cache list` shows: kernel, types, target, version, place; between tabs. */
static PyObject *label_of(const CgRequest *r) {
  const Code *c = r->func->code;
  const char *arch = r->target == CG_HOST ? cg_host_cpu() : r->arch;
  return PyUnicode_FromFormat("%s\t%s\t%s\tpyptx %s, Python %d.%d\t%s:%d", c->qualname,
                              r->signature, arch ? arch : "", PYPTX_VERSION, PY_MAJOR_VERSION,
                              PY_MINOR_VERSION, c->filename, (int)c->firstlineno);
}

int px_compile_cached(PxState *st, PxCaching caching, const CgRequest *request, const char *given,
                      CgKernel **code, Diag **diag, PxCacheUse *use) {
  Settings settings;
  *use = PX_CACHE_UNUSED;
  bool plain = !read_settings(&settings, caching) || request->want ||
               (request->dump && *request->dump);
  if (plain)
    return compile_plainly(request, code, diag);
  Job j = {.settings = &settings, .request = request, .lock = -1};
  int unkeepable;
  Py_BEGIN_ALLOW_THREADS
  unkeepable = cg_key(request, &j.key);
  Py_END_ALLOW_THREADS
  if (unkeepable)
    return compile_plainly(request, code, diag);
  PyObject *label = given ? PyUnicode_FromString(given) : label_of(request);
  memcpy(j.problem, settings.problem, sizeof j.problem);
  int failed = label && (j.label = PyUnicode_AsUTF8(label)) ? work(&j, use) : -1;
  close_job(&j);
  Py_XDECREF(label);
  count(st, &j, *use);
  if (!failed && warn(st, j.problem) < 0)
    failed = -1;
  if (failed) {
    cg_kernel_free(j.code);
    j.code = NULL;
  }
  *code = j.code;
  *diag = j.diag;
  return failed;
}

/* --- functions of the module --- */

static PyObject *cache_state(PyObject *module, PyObject *Py_UNUSED(args)) {
  PxState *st = px_state_of_module(module);
  Settings always, now;
  read_settings(&always, PX_CACHE_ALWAYS);
  read_settings(&now, PX_CACHE_BY_ENVIRONMENT);
  return Py_BuildValue(
      "{s:s,s:z,s:z,s:K,s:K,s:K,s:K,s:K,s:O}", "directory", always.own, "whole_process",
      *now.own ? now.own : NULL, "readonly", always.readonly, "limit",
      (unsigned long long)always.limit, "hits", (unsigned long long)st->cache.hits, "misses",
      (unsigned long long)st->cache.misses, "stored", (unsigned long long)st->cache.stored,
      "damaged", (unsigned long long)st->cache.damaged, "llvm_initialised",
      cg_llvm_is_initialised() ? Py_True : Py_False);
}

static int add_info(void *user, const RtCacheInfo *i) {
  PyObject *item =
      Py_BuildValue("{s:s,s:K,s:d,s:z,s:N}", "file", i->name, "size", (unsigned long long)i->size,
                    "used", i->used, "fault", i->fault, "label",
                    PyUnicode_DecodeUTF8(i->label, (Py_ssize_t)strlen(i->label), "replace"));
  int failed = item ? PyList_Append(user, item) : -1;
  Py_XDECREF(item);
  return failed;
}

static RtCache *open_for(PxState *st, PyObject *path) {
  RtCache *c = NULL;
  PyObject *bytes = NULL;
  if (!PyUnicode_FSConverter(path, &bytes))
    return NULL;
  RtStatus status = rt_cache_open(PyBytes_AS_STRING(bytes), 0, cg_digest, &c);
  Py_DECREF(bytes);
  PX_TRY_STATUS(st, status, return NULL);
  return c;
}

static PyObject *cache_list(PyObject *module, PyObject *path) {
  PxState *st = px_state_of_module(module);
  RtCache *c = open_for(st, path);
  PyObject *list = c ? PyList_New(0) : NULL;
  RtStatus status = list ? rt_cache_list(c, add_info, list) : RT_OK;
  rt_cache_close(c);
  if (list && (status != RT_OK || PyErr_Occurred()))
    Py_CLEAR(list);
  PX_TRY_STATUS(st, status, return NULL);
  return list;
}

static PyObject *cache_clear(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  PyObject *path;
  int only_damaged;
  uint64_t files = 0, bytes = 0;
  if (!PyArg_ParseTuple(args, "Op", &path, &only_damaged))
    return NULL;
  RtCache *c = open_for(st, path);
  if (!c)
    return NULL;
  RtStatus status = rt_cache_clear(c, only_damaged, &files, &bytes);
  rt_cache_close(c);
  PX_TRY_STATUS(st, status, return NULL);
  return Py_BuildValue("(KK)", (unsigned long long)files, (unsigned long long)bytes);
}

static PyObject *cache_key(PyObject *module, PyObject *args) {
  PxState *st = px_state_of_module(module);
  PyObject *kernel, *key = NULL;
  const char *types;
  char arch[16];
  PxSignature s;
  if (!PyArg_ParseTuple(args, "O!s", st->dispatcher_type, &kernel, &types))
    return NULL;
  RtDevice *device = px_current_device(st);
  if (!device || px_signature_parse(st, types, &s) < 0)
    return NULL;
  PxTextRequest text = px_text_request(device, arch);
  text.key = &key;
  px_compile_text(st, (PxDispatcher *)kernel, &s, &text, NULL);
  px_signature_clear(&s);
  return key;
}

PyMethodDef px_cache_functions[] = {
    {"_cache_key", cache_key, METH_VARARGS,
     "_cache_key(kernel, signature): under which a kernel is kept for the current device, as text; None: it cannot be kept."},
    {"_cache_state", cache_state, METH_NOARGS,
     "Settings and counters of the disk cache: what cuda.cache_info() is made of."},
    {"_cache_list", cache_list, METH_O,
     "_cache_list(directory): a dict for each kernel there, with what is wrong with its file, or None."},
    {"_cache_clear", cache_clear, METH_VARARGS,
     "_cache_clear(directory, only_damaged): removes kernels; (files, bytes)."},
    {0},
};
