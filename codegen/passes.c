/* Passes: the one loop that runs, times, verifies, dumps and skips passes.
 *
 * A compilation is the rows of passes.def in order. A state (CgState bits) says what has been made;
 * each row names the bits that it needs and those that it adds, and the loop stops once it has all
 * that the caller wants. Rows of the other tables run within a row of passes.def, before its own
 * function; what each must come after is checked once a process, for all tables. Nothing else runs
 * a pass, so a dump, a skip or a timing works for every one of them. A new pass is a row of a
 * passes.def and its function. */
#include "codegen/passes.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codegen/ssa/far_apart.h"
#include "codegen/ssa/numbers.h"
#include "codegen/target.h"
#include "frontend/lift.h"
#include "ir/describe.h"
#include "ir/verify.h"
#include "typeinfer/infer.h"

static const Pass passes[] = {
#define P(ID, letter, function, needs, gives, text, why)                                           \
  {#ID, NULL, "", 0, NULL, false, TEXT_##text, function, why, letter, CG_##needs, CG_##gives},
#include "codegen/passes.def"
#undef P
};
enum { NPASSES = sizeof passes / sizeof *passes };

static const PassTable door = {passes, NPASSES};
static const PassTable *const tables[] = {&door, &cg_ssa_passes, &cg_nvptx_passes, &cg_host_passes};
enum { NTABLES = sizeof tables / sizeof *tables };

const Pass *cg_pass(unsigned k) {
  for (unsigned t = 0; t < NTABLES; k -= tables[t++]->n)
    if (k < tables[t]->n)
      return &tables[t]->rows[k];
  return NULL;
}

int cg_pass_facts(unsigned k, CgPassFacts *out) {
  const Pass *p = cg_pass(k);
  if (p)
    *out = (CgPassFacts){p->name, p->within, p->why, p->opt, p->skippable};
  return p != NULL;
}

/* --- names --- */

/* Is the name in the list, whose names are separated by `by`? */
static bool is_listed(const char *list, char by, const char *name, size_t n) {
  for (const char *s = list; s && *s;) {
    const char *end = strchr(s, by);
    size_t length = end ? (size_t)(end - s) : strlen(s);
    if (length == n && strncmp(s, name, n) == 0)
      return true;
    s += length + (end != NULL);
  }
  return false;
}

static const Pass *find_pass(const char *name, size_t n) {
  const Pass *p;
  for (unsigned k = 0; (p = cg_pass(k)); k++)
    if (strlen(p->name) == n && strncmp(p->name, name, n) == 0)
      return p;
  return NULL;
}

static bool is_letters(const char *text, size_t n) {
  for (size_t at = 0; at < n; at++) {
    bool known = text[at] == 't';
    for (unsigned k = 0; k < NPASSES && !known; k++)
      known = passes[k].letter == text[at];
    if (!known)
      return false;
  }
  return true;
}

/* All names that such a list may contain. */
static const char *all_names(Cg *cg, bool skip) {
  Buf b;
  const Pass *p;
  buf_init(&b, &cg->cx->arena);
  for (unsigned k = 0; (p = cg_pass(k)); k++)
    if (!skip || p->skippable)
      buf_printf(&b, "%s%s", b.len ? ", " : "", p->name);
  return b.text;
}

static void check_name(Cg *cg, const char *of, const char *name, size_t n, bool skip) {
  const Pass *p = find_pass(name, n);
  if (p && (!skip || p->skippable))
    return;
  fail(cg->cx, (Loc){0}, ERR_PASS,
       arena_printf(&cg->cx->arena, "%s: %s '%.*s'", of,
                    p ? "the code would be wrong without" : "there is no pass", (int)n, name),
       all_names(cg, skip));
}

/* An item of the list of dumps is the name of a pass, or else a string of letters. */
void cg_read_pass_names(Cg *cg) {
  const char *skip = getenv("PYPTX_SKIP");
  cg->skip = skip && *skip ? skip : NULL;
  Buf letters;
  buf_init(&letters, &cg->cx->arena);
  for (const char *s = cg->skip; s && *s; s += strcspn(s, ","), s += *s == ',')
    check_name(cg, "PYPTX_SKIP", s, strcspn(s, ","), true);
  for (const char *s = cg->dump; s && *s; s += strcspn(s, ","), s += *s == ',') {
    size_t n = strcspn(s, ",");
    bool is_name = find_pass(s, n) != NULL;
    if (!is_name && is_letters(s, n))
      buf_add(&letters, s, n);
    else
      check_name(cg, "dump, or PYPTX_DUMP", s, n, false);
  }
  cg->dump_letters = letters.text;
}

/* --- the order of the tables --- */

static unsigned number_within(const Pass *row) {
  unsigned k = 0;
  while (k < NPASSES && strcmp(passes[k].name, row->within) != 0)
    k++;
  return k;
}

static bool comes_before(const PassTable *table, const Pass *row, const char *name, size_t n) {
  for (const Pass *p = table->rows; p < row; p++) {
    assert(strchr(p->name, '.')); /* PASS_ROW puts the family in front */
    const char *own = strchr(p->name, '.') + 1;
    if (strlen(own) == n && strncmp(own, name, n) == 0)
      return true;
  }
  return false;
}

const Pass *cg_misplaced_row(const PassTable *table) {
  for (const Pass *p = table->rows; p < table->rows + table->n; p++) {
    unsigned within = number_within(p);
    if (within == NPASSES || (p > table->rows && number_within(p - 1) > within))
      return p;
    for (const char *s = p->after; *s; s += strcspn(s, " "), s += *s == ' ')
      if (!comes_before(table, p, s, strcspn(s, " ")))
        return p;
  }
  return NULL;
}

static const Pass *misplaced;

static void check_tables(void) {
  for (unsigned t = 1; t < NTABLES && !misplaced; t++)
    misplaced = cg_misplaced_row(tables[t]);
}

/* --- dumps and texts --- */

static bool dumps(const Cg *cg, char letter) {
  return letter && cg->dump_letters && strchr(cg->dump_letters, letter);
}

static bool dumps_name(const Cg *cg, const char *name) {
  return is_listed(cg->dump, ',', name, strlen(name));
}

/* letter: that of a pass of passes.def, else 0 */
static void put_dump(const Cg *cg, char letter, const char *name, const char *text) {
  fprintf(stderr, "== %.*s%s: %s\n%s%s", letter ? 2 : 0, (const char[]){letter, ' '}, name,
          cg->name, text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

void cg_dump_step(Cg *cg, const char *step) {
  if (dumps_name(cg, cg->cx->pass))
    put_dump(cg, 0, arena_printf(&cg->cx->arena, "%s, %s", cg->cx->pass, step), cg_module_text(cg));
}

static const char *pass_text(Cg *cg, const Pass *p) {
  switch (p->text) {
  case TEXT_SSA:
    return p->gives == CG_LIFTED ? cg->lifted_text.text : ir_print(cg->cx, cg->program, true);
  case TEXT_LLVM: return cg->module ? cg_module_text(cg) : "";
  case TEXT_CODE: break;
  }
  return cg->out->ptx        ? cg->out->ptx
         : cg->code          ? cg->code
         : cg->out->assembly ? cg->out->assembly
                             : "";
}

static char *kept(Cg *cg, const char *text) {
  return cg_strndup(cg, text ? text : "", text ? strlen(text) : 0);
}

/* Keeps the texts that the caller wants, each after the pass that completes it. */
static void keep_texts(Cg *cg, const Pass *p) {
  unsigned want = cg->request->want;
  CgKernel *out = cg->out;
  if (p->gives == CG_TYPED && want & CG_WANT_SSA) /* all functions have been lifted by now */
    out->ssa = kept(cg, cg->lifted_text.text);
  if (p->gives == CG_TYPED && want & CG_WANT_TYPES)
    out->types = kept(cg, ir_print(cg->cx, cg->program, false));
  if (p->gives == CG_TYPED && want & CG_WANT_VALUES)
    out->values = kept(cg, cg->cx->values.text);
  if (p->gives == CG_LOWERED && want & CG_WANT_TYPED)
    out->typed = kept(cg, ir_describe(cg->cx, cg->program));
  if (p->gives == CG_LOWERED && want & CG_WANT_LLVM)
    out->llvm = kept(cg, cg_module_text(cg));
  if (p->gives == CG_COARSENED && want & CG_WANT_LLVM_OPT)
    out->llvm_opt = kept(cg, cg_module_text(cg));
}

/* --- the loop --- */

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static bool verifies(void) {
#ifdef NDEBUG
  const char *v = getenv("PYPTX_VERIFY");
  return v && *v == '1';
#else
  return true;
#endif
}

static void verify(Cg *cg, const Pass *p) {
  for (uint32_t k = 0; p->text == TEXT_SSA && cg->program && k < cg->program->fns.len; k++) {
    ir_verify(cg->cx, cg->program->fns.data[k], p->name);
    ty_verify(cg->cx, cg->program->fns.data[k]);
  }
  if (p->text == TEXT_LLVM && cg->module)
    cg_verify_module(cg);
}

/* The times of the passes of passes.def, and below each those of the rows within it. */
static void put_timings(Cg *cg) {
  Buf b;
  buf_init(&b, &cg->cx->arena);
  double total = 0;
  for (uint32_t k = 0; k < cg->times.len; k++) {
    const PassTime *t = &cg->times.data[k];
    bool row = t->pass->within;
    buf_printf(&b, row ? "  %-22s %8.3f ms\n" : "%-10s %8.3f ms\n", t->pass->name, t->ms);
    total += row ? 0 : t->ms;
  }
  buf_printf(&b, "%-10s %8.3f ms, %zu KiB of arena\n", "total", total, cg->cx->arena.used >> 10);
  put_dump(cg, 't', "timings", b.text);
}

/* The state in which the caller has all that it wants. */
static unsigned enough(unsigned want) {
  if (!(want & CG_WANT_ONLY) || want & (CG_WANT_ASM | CG_WANT_OBJECT))
    return CG_EMITTED;
  bool lowered = want & (CG_WANT_LLVM | CG_WANT_TYPED);
  return want & CG_WANT_LLVM_OPT ? CG_COARSENED : lowered ? CG_LOWERED : CG_ADVISED;
}

/* Number of the first pass. A request for a coarsened entry alone starts from the module that the
 * kernel's own compilation had after LLVM's passes. */
static int begin(Cg *cg, unsigned *state) {
  int k = 0;
  if (!cg->request->coarse_of)
    return k;
  cg_open_rest(cg);
  for (*state = passes[k].gives; !(passes[k].gives & CG_OPTIMIZED); *state |= passes[k].gives)
    k++;
  return k + 1;
}

static void run_pass(Cg *cg, const Pass *p);

static void run_within(Cg *cg, const PassTable *table, const char *within) {
  for (const Pass *p = table->rows; p < table->rows + table->n; p++)
    if (strcmp(p->within, within) == 0 && cg->options.opt >= p->opt && p->when(cg) &&
        !is_listed(cg->skip, ',', p->name, strlen(p->name)))
      run_pass(cg, p);
}

void cg_run_within(Cg *cg, const char *within) {
  run_within(cg, &cg_ssa_passes, within);
  run_within(cg, cg->target->passes, within);
}

static void run_pass(Cg *cg, const Pass *p) {
  uint32_t number = cg->times.len;
  assert(p->within || p->gives); /* a row of passes.def makes something */
  assert(!p->within || p->run);
  VEC_PUSH(&cg->cx->arena, &cg->times, ((PassTime){.pass = p}));
  double start = now_ms();
  cg->cx->pass = p->name;
  if (!p->within)
    cg_run_within(cg, p->name);
  cg->cx->pass = p->name;
  if (p->run)
    p->run(cg);
  cg->times.data[number].ms = now_ms() - start;
  if (dumps(cg, p->letter) || dumps_name(cg, p->name))
    put_dump(cg, p->letter, p->name, pass_text(cg, p));
  if (cg->verifies)
    verify(cg, p);
}

void cg_run_row(Cg *cg, const Pass *p) {
  cg->verifies = true;
  run_pass(cg, p);
}

void cg_run(Cg *cg) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  unsigned state = CG_NOTHING;
  pthread_once(&once, check_tables);
  if (misplaced)
    cx_bug(cg->cx, "pass %s is not where its table says that it must be", misplaced->name);
  cg->verifies = verifies();
  buf_init(&cg->lifted_text, &cg->cx->arena);
  if (cg->request->want & CG_WANT_VALUES)
    buf_init(&cg->cx->values, &cg->cx->arena);
  cg->out->timings = cg_calloc(cg, NPASSES, sizeof *cg->out->timings);
  for (int k = begin(cg, &state); k < NPASSES && !(state & enough(cg->request->want)); k++) {
    const Pass *p = &passes[k];
    uint32_t number = cg->times.len;
    CX_ASSERT(cg->cx, (state & p->needs) == p->needs);
    run_pass(cg, p);
    assert(cg->out->ntimings < NPASSES);
    cg->out->timings[cg->out->ntimings].pass = p->name;
    cg->out->timings[cg->out->ntimings++].ms = cg->times.data[number].ms;
    assert(!(state & p->gives)); /* each state is reached once */
    state |= p->gives;
    keep_texts(cg, p);
  }
  if (dumps(cg, 't'))
    put_timings(cg);
}

/* --- the front passes: entry points of the other rooms --- */

/* How typing gets the SSA of a function. The kernel has been lifted by its own pass; the functions
 * that it calls are lifted when typing first needs them. */
static Fn *lift(Cx *cx, const FrozenFunc *func) {
  Cg *cg = cx->user;
  Fn *fn = func == cg->request->func ? cg->lifted : NULL;
  if (fn) {
    cg->lifted = NULL;
    return fn;
  }
  fn = bc_lift(cx, func);
  bool seen = false;
  for (uint32_t k = 0; k < cg->lifted_funcs.len && !seen; k++)
    seen = cg->lifted_funcs.data[k] == func;
  if (seen || !(cg->request->want & CG_WANT_SSA || dumps(cg, 'S')))
    return fn;
  VEC_PUSH(&cx->arena, &cg->lifted_funcs, func);
  size_t start = cg->lifted_text.len;
  ir_print_fn(cx, &cg->lifted_text, fn, dumps(cg, 'S'));
  if (func != cg->request->func && dumps(cg, 'S'))
    put_dump(cg, 'S', "lift", cg->lifted_text.text + start);
  return fn;
}

void cg_pass_lift(Cg *cg) {
  cg->cx->user = cg;
  cg->cx->lift = lift;
  cg->lifted = lift(cg->cx, cg->request->func);
}

void cg_pass_infer(Cg *cg) {
  Signature sig = ty_signature(cg->cx, cg->request->signature);
  sig.narrow &= !cg->options.abi; /* a stable block is for launches that find out nothing */
  cg->program = ty_infer(cg->cx, cg->request->func, &sig, !cg->options.device_function);
  assert(cg->program->fns.len && cg->program->fns.data[0]->typed);
}

void cg_pass_advise(Cg *cg) {
  cg_find_far_apart(cg->cx, cg->program);
  cg_judge_numbers(cg->cx, cg->program);
}

void cg_pass_link(Cg *cg) { cg->target->link(cg); }
