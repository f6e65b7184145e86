/* Corpus: JSON to frozen functions. */
#include "tests/unit/support/corpus.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/snapshot.h"
#include "ir/base/vec.h"
#include "ir/intrinsics.h"

const char *const corpus_versions[] = {"3.11", "3.12", "3.13", "3.14", "3.15", NULL};

typedef struct Places {
  const CorpusPlace *data;
  uint32_t n;
} Places;

typedef struct Named {
  const char *name;
  FrozenFunc *func;
  Frozen *value;
} Named;

struct Corpus {
  Arena arena;
  const char *filename;
  OpTable *ops;
  VEC(Named) funcs;
  VEC(const Code *) codes;
  VEC(Places) places; /* of codes, in the same order */
};

#define NEW(c, T)      ARENA_NEW(&(c)->arena, T)
#define ARRAY(c, T, n) ARENA_ARRAY(&(c)->arena, T, (n) + 1)

/* --- JSON --- */

static const cJSON *get(const cJSON *j, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(j, key);
}
static uint32_t size(const cJSON *j) { return j ? (uint32_t)cJSON_GetArraySize(j) : 0; }
static uint32_t number(const cJSON *j, const char *key) {
  const cJSON *v = get(j, key);
  return v ? (uint32_t)v->valuedouble : 0;
}
static const char *text(Corpus *c, const cJSON *j) {
  return j && j->valuestring ? arena_strdup(&c->arena, j->valuestring) : "";
}

static const uint8_t *hex(Corpus *c, const cJSON *j, uint32_t *n) {
  const char *s = j && j->valuestring ? j->valuestring : "";
  *n = (uint32_t)strlen(s) / 2;
  uint8_t *bytes = ARRAY(c, uint8_t, *n);
  for (uint32_t k = 0; k < *n; k++) {
    char two[3] = {s[2 * k], s[2 * k + 1], 0};
    bytes[k] = (uint8_t)strtoul(two, NULL, 16);
  }
  return bytes;
}

/* --- opcode tables --- */

/* The strings of an array; of pairs, the first; NULL-terminated. "<class 'X'>" and "<built-in
 * function x>" give X, x. */
static const char *const *strings(Corpus *c, const cJSON *list) {
  if (!list)
    return NULL;
  const char **out = ARRAY(c, const char *, size(list));
  uint32_t n = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, list) {
    char *s = (char *)text(c, item->valuestring ? item : item->child);
    if (*s == '<') {
      s += strcspn(s, "'") < strlen(s) ? strcspn(s, "'") + 1 : strlen("<built-in function ");
      s[strcspn(s, "'>")] = 0;
    }
    out[n++] = s;
  }
  return out;
}

static OpTable *op_table(Corpus *c, const cJSON *doc, const char *version) {
  const char *names[256] = {NULL};
  uint8_t cache[256] = {0};
  const cJSON *item, *entries = get(doc, "cache_entries");
  cJSON_ArrayForEach(item, get(doc, "opmap")) {
    int op = (int)item->valuedouble;
    if (op > 255)
      continue; /* the compiler's own, never in a code object */
    names[op] = item->string;
    const cJSON *units = get(entries, item->string);
    cache[op] = units ? (uint8_t)units->valuedouble : 0;
  }
  return bc_optable_new(&(OpTableInput){
      .version = 300 + atoi(strstr(version, "3.") + 2),
      .op_names = names,
      .cache_entries = cache,
      .binary_ops = strings(c, get(doc, "nb_ops")),
      .intrinsic1 = strings(c, get(doc, "intrinsic_1_descs")),
      .intrinsic2 = strings(c, get(doc, "intrinsic_2_descs")),
      .common_constants = strings(c, get(doc, "common_constants")),
      .special_methods = strings(c, get(doc, "special_method_names")),
  });
}

/* --- values --- */

static Frozen *value(Corpus *c, FrozenKind kind) {
  Frozen *f = NEW(c, Frozen);
  f->kind = kind;
  return f;
}

static Frozen *named(Corpus *c, FrozenKind kind, const char *name) {
  Frozen *f = value(c, kind);
  f->text = arena_strdup(&c->arena, name);
  f->n = (uint32_t)strlen(name);
  return f;
}

static Frozen *integer(Corpus *c, const char *digits) {
  Frozen *f = value(c, FZ_INT);
  size_t n = strlen(digits);
  f->wide = *digits != '-' && (n > 19 || (n == 19 && strcmp(digits, "9223372036854775807") > 0));
  if (n > 20) /* the corpus has none between 2**64 and 10**20 */
    f->text = arena_strdup(&c->arena, digits);
  f->i = f->wide ? (int64_t)strtoull(digits, NULL, 10) : strtoll(digits, NULL, 10);
  return f;
}

static Frozen *floating(Corpus *c, double v) {
  Frozen *f = value(c, FZ_FLOAT);
  f->re = v;
  return f;
}

static Frozen *tuple(Corpus *c, FrozenKind kind, const Frozen *const *items, uint32_t n) {
  Frozen *f = value(c, kind);
  f->items = items;
  f->n = n;
  return f;
}

static Code *read_code(Corpus *c, const cJSON *j);
static const Frozen *constant(Corpus *c, const cJSON *j);

static const Frozen *items(Corpus *c, FrozenKind kind, const cJSON *list) {
  const Frozen **out = ARRAY(c, const Frozen *, size(list));
  uint32_t n = 0;
  const cJSON *item;
  cJSON_ArrayForEach(item, list) out[n++] = constant(c, item);
  return tuple(c, kind, out, n);
}

static Frozen *complex_number(Corpus *c, const char *s) {
  Frozen *f = value(c, FZ_COMPLEX);
  char *end;
  double first = strtod(*s == '(' ? s + 1 : s, &end);
  if (*end == 'j') {
    f->im = first;
  } else {
    f->re = first;
    f->im = strtod(end, NULL);
  }
  return f;
}

static Frozen *string(Corpus *c, const char *repr) { /* no escapes in the corpus */
  size_t n = strlen(repr);
  return named(c, FZ_STR, n >= 2 ? arena_strndup(&c->arena, repr + 1, n - 2) : "");
}

/* {"int": "3"}, {"tuple": […]}, {"code": {…}} */
static const Frozen *constant(Corpus *c, const cJSON *j) {
  const cJSON *v = j->child;
  const char *kind = v->string, *s = v->valuestring;
  if (!strcmp(kind, "code")) {
    Frozen *f = value(c, FZ_CODE);
    f->code = read_code(c, v);
    return f;
  }
  if (!strcmp(kind, "tuple"))
    return items(c, FZ_TUPLE, v);
  if (!strcmp(kind, "slice"))
    return items(c, FZ_SLICE, v);
  if (!strcmp(kind, "int"))
    return integer(c, s);
  if (!strcmp(kind, "float"))
    return floating(c, strtod(s, NULL));
  if (!strcmp(kind, "str"))
    return string(c, s);
  if (!strcmp(kind, "complex"))
    return complex_number(c, s);
  if (!strcmp(kind, "bool")) {
    Frozen *f = value(c, FZ_BOOL);
    f->i = !strcmp(s, "True");
    return f;
  }
  if (!strcmp(kind, "NoneType"))
    return value(c, FZ_NONE);
  if (!strcmp(kind, "ellipsis"))
    return value(c, FZ_ELLIPSIS);
  return named(c, FZ_OPAQUE, kind);
}

/* --- code objects --- */

static int32_t place_number(const cJSON *j) {
  return !j || cJSON_IsNull(j) ? -1 : (int32_t)j->valuedouble;
}

static Places read_places(Corpus *c, const cJSON *runs) {
  VEC(CorpusPlace) out = {0};
  const cJSON *run;
  cJSON_ArrayForEach(run, runs) {
    const cJSON *v = run->child;
    uint32_t times = (uint32_t)v->valuedouble;
    CorpusPlace p;
    p.line = place_number(v = v->next);
    p.end_line = place_number(v = v->next);
    p.col = place_number(v = v->next);
    p.end_col = place_number(v->next);
    while (times--)
      VEC_PUSH(&c->arena, &out, p);
  }
  return (Places){out.data, out.len};
}

static bool in_list(const cJSON *list, const char *s) {
  const cJSON *item;
  cJSON_ArrayForEach(item, list) if (!strcmp(item->valuestring, s)) return true;
  return false;
}

/* localsplus: varnames, cell variables that are not among them, free variables. */
static void read_variables(Corpus *c, const cJSON *j, Code *code) {
  const cJSON *vars = get(j, "varnames"), *cells = get(j, "cellvars"), *frees = get(j, "freevars"),
              *item;
  const char **names = ARRAY(c, const char *, size(vars) + size(cells) + size(frees));
  uint32_t n = 0;
  cJSON_ArrayForEach(item, vars) names[n++] = text(c, item);
  cJSON_ArrayForEach(item, cells) if (!in_list(vars, item->valuestring)) names[n++] = text(c, item);
  cJSON_ArrayForEach(item, frees) names[n++] = text(c, item);
  code->localsplus = names;
  code->nlocalsplus = n;
  code->ncells = size(cells);
  code->nfrees = size(frees);
}

static Code *read_code(Corpus *c, const cJSON *j) {
  Code *code = NEW(c, Code);
  code->name = text(c, get(j, "name"));
  code->qualname = text(c, get(j, "qualname"));
  code->filename = c->filename;
  code->flags = number(j, "flags");
  code->firstlineno = (int32_t)number(j, "firstlineno");
  code->argcount = number(j, "argcount");
  code->posonlyargcount = number(j, "posonlyargcount");
  code->kwonlyargcount = number(j, "kwonlyargcount");
  code->nlocals = number(j, "nlocals");
  code->stacksize = number(j, "stacksize");
  code->bytes = hex(c, get(j, "code"), &code->nbytes);
  code->linetable = hex(c, get(j, "linetable"), &code->nlinetable);
  code->exceptiontable = hex(c, get(j, "exceptiontable"), &code->nexceptiontable);
  code->ops = c->ops;
  code->names = strings(c, get(j, "names"));
  code->nnames = size(get(j, "names"));
  const Frozen *consts = items(c, FZ_TUPLE, get(j, "consts"));
  code->consts = consts->items;
  code->nconsts = consts->n;
  read_variables(c, j, code);
  VEC_PUSH(&c->arena, &c->codes, code);
  VEC_PUSH(&c->arena, &c->places, read_places(c, get(j, "positions")));
  return code;
}

/* --- globals --- */

static const Frozen *builtin(Corpus *c, const char *name) {
  static const struct {
    const char *name;
    TypeId type;
  } types[] = {
      {"int", TY_PYINT}, {"float", TY_PYFLOAT}, {"bool", TY_PYBOOL}, {"complex", TY_PYCOMPLEX}};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++)
    if (!strcmp(name, types[k].name)) {
      Frozen *f = value(c, FZ_DTYPE);
      f->type = types[k].type;
      return f;
    }
  size_t n = strlen(name);
  if (n > 5 && !strcmp(name + n - 5, "Error"))
    return named(c, FZ_EXCEPTION, name);
  char path[80];
  snprintf(path, sizeof path, "builtins.%s", name);
  IntrinsicId id = ir_intrinsic_by_path(path);
  if (id == INTR_NONE)
    return NULL;
  Frozen *f = value(c, FZ_INTRINSIC);
  f->i = id;
  return f;
}

static const Frozen *scalar_type(Corpus *c, const char *name) {
  TypeId id = ty_by_name(name, strlen(name));
  if (id == TY_SCALARS)
    return NULL;
  Frozen *f = value(c, FZ_DTYPE);
  f->type = id;
  return f;
}

/* cuda.grid, math.sqrt, np.float32, operator.add: what the corpus and small tests use of a
 * module. */
static const Frozen *module(Corpus *c, const char *name, const char *space) {
  static const char *const types[] = {"bool",    "int8",    "int16",     "int32",     "int64",
                                      "uint8",   "uint16",  "uint32",    "uint64",    "float16",
                                      "float32", "float64", "complex64", "complex128"};
  VEC(Binding) attrs = {0};
  size_t n = strlen(space);
  for (int k = 0; k < INTR_COUNT; k++) {
    const char *path = ir_intrinsics[k].path;
    if (strncmp(path, space, n) != 0 || path[n] != '.' || strchr(path + n + 1, '.'))
      continue;
    Frozen *f = value(c, FZ_INTRINSIC);
    f->i = k;
    VEC_PUSH(&c->arena, &attrs, ((Binding){path + n + 1, f}));
  }
  for (size_t k = 0; !strcmp(name, "numpy") && k < sizeof types / sizeof *types; k++)
    VEC_PUSH(&c->arena, &attrs, ((Binding){types[k], scalar_type(c, types[k])}));
  if (!strcmp(name, "numpy") || !strcmp(name, "math"))
    VEC_PUSH(&c->arena, &attrs, ((Binding){"pi", floating(c, 3.141592653589793)}));
  Frozen *f = named(c, FZ_MODULE, name);
  f->attrs = attrs.data;
  f->nattrs = attrs.len;
  return f;
}

static const Named *find(const Corpus *c, const char *name) {
  for (uint32_t k = 0; k < c->funcs.len; k++)
    if (!strcmp(c->funcs.data[k].name, name))
      return &c->funcs.data[k];
  return NULL;
}

static const Frozen *pair(Corpus *c, double x, double y) {
  const Frozen **two = ARRAY(c, const Frozen *, 2);
  two[0] = floating(c, x);
  two[1] = floating(c, y);
  return tuple(c, FZ_TUPLE, two, 2);
}

/* What corpus.py binds, then its functions, then Python's builtins. One binding a name, made
 * once. */
static void bind_all(Corpus *c, const Binding **bindings, uint32_t *count) {
  static const char *const builtins[] = {"abs",          "min",
                                         "max",          "round",
                                         "pow",          "divmod",
                                         "len",          "range",
                                         "enumerate",    "zip",
                                         "print",        "tuple",
                                         "sum",          "any",
                                         "all",          "int",
                                         "float",        "bool",
                                         "complex",      "ValueError",
                                         "IndexError",   "AssertionError",
                                         "RuntimeError", "TypeError"};
  VEC(Binding) all = {0};
#define BIND(name, v) VEC_PUSH(&c->arena, &all, ((Binding){name, v}))
  BIND("cuda", module(c, "pyptx.cuda", "cuda"));
  BIND("np", module(c, "numpy", "numpy"));
  BIND("math", module(c, "math", "math"));
  BIND("operator", module(c, "operator", "operator"));
  BIND("N_ITER", integer(c, "20"));
  const Frozen **three = ARRAY(c, const Frozen *, 3);
  three[0] = three[2] = floating(c, 0.25);
  three[1] = floating(c, 0.5);
  BIND("COEFFS", tuple(c, FZ_TUPLE, three, 3));
  BIND("TABLE", value(c, FZ_NONE));
  for (uint32_t k = 0; k < c->funcs.len; k++)
    BIND(c->funcs.data[k].name, c->funcs.data[k].value);
  for (size_t k = 0; k < sizeof builtins / sizeof *builtins; k++) {
    const Frozen *f = builtin(c, builtins[k]);
    if (f)
      BIND(builtins[k], f);
  }
#undef BIND
  *bindings = all.data;
  *count = all.len;
}

static void set_defaults(Corpus *c, FrozenFunc *f, const Frozen *v) {
  const Frozen **defaults = ARRAY(c, const Frozen *, 1);
  defaults[0] = v;
  f->defaults = defaults;
  f->ndefaults = 1;
}

/* Values of corpus.py that are not in code objects: defaults and closures. */
static void bind_values(Corpus *c) {
  const Named *f;
  if ((f = find(c, "default_args"))) {
    set_defaults(c, f->func, floating(c, 2.0));
    Binding *kw = NEW(c, Binding);
    *kw = (Binding){"offset", floating(c, 1.0)};
    f->func->kwdefaults = kw;
    f->func->nkwdefaults = 1;
  }
  if ((f = find(c, "string_option")))
    set_defaults(c, f->func, named(c, FZ_STR, "fast"));
  if ((f = find(c, "make_closure")))
    set_defaults(c, f->func, pair(c, 1.0, 2.0));
  if ((f = find(c, "closure"))) { /* bias, scale, table */
    const Frozen **cells = ARRAY(c, const Frozen *, 3);
    cells[0] = floating(c, 3.0);
    cells[1] = floating(c, 2.0);
    cells[2] = pair(c, 1.0, 2.0);
    f->func->closure = cells;
  }
  if ((f = find(c, "bad_nonlocal"))) {
    const Frozen **cells = ARRAY(c, const Frozen *, 1);
    cells[0] = integer(c, "0");
    f->func->closure = cells;
  }
}

/* --- the front door --- */

static char *read_file(const char *path) {
  FILE *in = fopen(path, "rb");
  if (!in)
    return NULL;
  char *all = NULL;
  size_t n = 0, got;
  do {
    char *more = realloc(all, n + (1 << 16) + 1);
    if (!more)
      break;
    all = more;
    got = fread(all + n, 1, 1 << 16, in);
    n += got;
    all[n] = 0;
  } while (got);
  fclose(in);
  return all;
}

static void build(Corpus *c, const cJSON *doc) {
  const cJSON *item;
  cJSON_ArrayForEach(item, get(doc, "functions")) {
    Named n = {text(c, item), NEW(c, FrozenFunc), value(c, FZ_FUNC)};
    n.name = arena_strdup(&c->arena, item->string);
    n.func->code = read_code(c, item);
    n.func->module = "corpus";
    n.value->func = n.func;
    VEC_PUSH(&c->arena, &c->funcs, n);
  }
  const Binding *globals;
  uint32_t nglobals;
  bind_all(c, &globals, &nglobals);
  for (uint32_t k = 0; k < c->funcs.len; k++) {
    c->funcs.data[k].func->globals = globals;
    c->funcs.data[k].func->nglobals = nglobals;
  }
  bind_values(c);
}

Corpus *corpus_open(const char *version) {
  char path[512];
  const char *root = getenv("PYPTX_SOURCE_DIR"); /* of a program that was carried elsewhere */
  snprintf(path, sizeof path, "%s/tests/data/bytecode/%s.json", root ? root : PYPTX_SOURCE_DIR,
           version);
  char *all = read_file(path);
  cJSON *doc = all ? cJSON_Parse(all) : NULL;
  free(all);
  Corpus *c = doc ? calloc(1, sizeof *c) : NULL;
  if (c) {
    arena_init(&c->arena, NULL, NULL);
    c->filename = strncmp(version, "extra", 5) ? "corpus.py" : "extra.py";
    c->ops = op_table(c, doc, version);
    build(c, doc);
  }
  cJSON_Delete(doc);
  return c;
}

void corpus_close(Corpus *c) {
  if (!c)
    return;
  bc_optable_free(c->ops);
  arena_free(&c->arena);
  free(c);
}

uint32_t corpus_count(const Corpus *c) { return c->funcs.len; }
const char *corpus_name(const Corpus *c, uint32_t k) { return c->funcs.data[k].name; }

const FrozenFunc *corpus_func(const Corpus *c, const char *name) {
  const Named *n = find(c, name);
  return n ? n->func : NULL;
}

const CorpusPlace *corpus_places(const Corpus *c, const Code *code, uint32_t *n) {
  for (uint32_t k = 0; k < c->codes.len; k++)
    if (c->codes.data[k] == code) {
      *n = c->places.data[k].n;
      return c->places.data[k].data;
    }
  *n = 0;
  return NULL;
}

const Code *const *corpus_codes(const Corpus *c, uint32_t *n) {
  *n = c->codes.len;
  return c->codes.data;
}

Code *corpus_copy(Cx *cx, const Code *code) {
  Code *copy = arena_memdup(&cx->arena, code, sizeof *code);
  copy->bytes = arena_memdup(&cx->arena, code->bytes, code->nbytes + 1);
  copy->linetable = arena_memdup(&cx->arena, code->linetable, code->nlinetable + 1);
  copy->exceptiontable = arena_memdup(&cx->arena, code->exceptiontable, code->nexceptiontable + 1);
  return copy;
}
