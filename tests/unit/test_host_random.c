/* Fission against an interpreter: random programs of one thread, with barriers and votes in loops
 * and branches that differ from thread to thread, early returns and breaks; every second one with
 * operations of warps too, under masks of all lanes, of halves of the warp, and of those that are
 * active. The interpreter runs each thread as a coroutine that stops at every barrier. A program in
 * which threads wait in vain must trap.
 *
 *   test_host_random [SEED [COUNT]]   a failure prints its seed; SHOW=1 prints the module */
#include <ucontext.h>

#include "tests/unit/support/host_text.h"

enum { NVARS = 6, MAX_STATEMENTS = 400, BLOCKS = 3, PER_BLOCK = 1000, STACK = 32 << 10 };

/* --- programs --- */

typedef enum Kind {
  S_SET,
  S_IF,
  S_LOOP,
  S_BREAK,
  S_RETURN,
  S_BARRIER,
  S_VOTE,
  S_ARRAY,
  S_WARP,
  S_END
} Kind;

enum { MASK_ALL, MASK_HALF, MASK_ACTIVE };

typedef struct Expr { /* a op b: variables, or -1 t, -2 block, or a constant c */
  int op, a, b;
  int64_t c;
} Expr;

typedef struct Statement {
  Kind kind;
  int var, vote;
  int meet, mask, by; /* WARP: RtMeetKind, MASK_…, the variable that is the lane */
  Expr e;
  int end, other; /* IF, LOOP: behind the body; IF: where the else part begins */
} Statement;

typedef struct Text {
  Statement s[MAX_STATEMENTS];
  int n;
  uint64_t random;
  int warps; /* has S_WARP */
} Text;

static uint32_t draw(Text *t, uint32_t below) {
  t->random ^= t->random << 13, t->random ^= t->random >> 7, t->random ^= t->random << 17;
  return (uint32_t)(t->random >> 33) % below;
}

static Expr any_expr(Text *t) {
  return (Expr){(int)draw(t, 5), (int)draw(t, NVARS + 2) - 2,
                draw(t, 3) ? (int)draw(t, NVARS + 2) - 2 : -3, draw(t, 40)};
}

static void any_body(Text *t, int depth, int in_loop, int length);

static void any_statement(Text *t, int depth, int in_loop) {
  static const Kind kinds[] = {S_SET,   S_SET,     S_SET,     S_IF,   S_IF,   S_LOOP,
                               S_BREAK, S_RETURN,  S_VOTE,    S_VOTE, S_WARP, S_WARP,
                               S_WARP,  S_BARRIER, S_BARRIER, S_ARRAY};
  Kind kind = kinds[draw(t, sizeof kinds / sizeof *kinds)];
  if (kind == S_WARP && !t->warps)
    kind = S_ARRAY;
  if (t->n > MAX_STATEMENTS - 40 || (depth > 3 && (kind == S_IF || kind == S_LOOP)) ||
      (kind == S_BREAK && (!in_loop || draw(t, 2))) || (kind == S_RETURN && draw(t, 3)))
    kind = S_SET;
  int at = t->n++;
  Statement s = {
      .kind = kind, .var = (int)draw(t, NVARS), .vote = 1 + (int)draw(t, 3), .e = any_expr(t)};
  if (kind == S_WARP) { /* where threads part, all but the active lanes would mostly wait in vain */
    s.meet = RT_MEET_SYNC + (int)draw(t, RT_MEET_ACTIVE - RT_MEET_SYNC);
    s.mask = depth && draw(t, 8) ? MASK_ACTIVE : (int)draw(t, 3);
    s.by = (int)draw(t, NVARS);
  }
  if (kind == S_IF || kind == S_LOOP)
    any_body(t, depth + 1, in_loop || kind == S_LOOP, 1 + (int)draw(t, 4));
  s.other = t->n;
  if (kind == S_IF && draw(t, 2))
    any_body(t, depth + 1, in_loop, 1 + (int)draw(t, 3));
  s.end = t->n;
  t->s[at] = s;
}

static void any_body(Text *t, int depth, int in_loop, int length) {
  for (int k = 0; k < length; k++)
    any_statement(t, depth, in_loop);
}

/* --- interpreter --- */

typedef struct Thread {
  ucontext_t context;
  char *stack;
  int64_t vars[NVARS], array[4], t, block;
  int done, voter, aye;
  int ready, meet, at; /* meet: RT_MEET_BLOCK at a barrier; at: of an activemask, its statement */
  uint32_t mask, by;
  int64_t value, got; /* of a meeting */
  int64_t result;
} Thread;

static const Text *program;
static ucontext_t scheduler;
static Thread *running, *all;
static int nthreads;
static int64_t ayes, voters;

static int64_t operand(const Thread *t, const Expr *e, int which) {
  return which >= 0 ? t->vars[which] : which == -1 ? t->t : which == -2 ? t->block : e->c;
}

static int64_t value(const Thread *t, const Expr *e) {
  uint64_t a = (uint64_t)operand(t, e, e->a), b = (uint64_t)operand(t, e, e->b);
  switch (e->op) {
  case 0: return (int64_t)(a + b);
  case 1: return (int64_t)(a - b);
  case 2: return (int64_t)(a * b);
  case 3: return (int64_t)(a ^ b);
  default: return (int64_t)a < (int64_t)b;
  }
}

static void wait_there(Thread *t, int meet) {
  t->meet = meet;
  t->ready = 0;
  swapcontext(&t->context, &scheduler);
}

static int64_t in_warp(Thread *t, const Statement *s, int64_t v, int at) {
  t->mask = s->mask == MASK_HALF ? (t->t & 16 ? 0xffff0000 : 0xffff) : UINT32_MAX;
  if (s->mask == MASK_ACTIVE) {
    t->at = at;
    wait_there(t, RT_MEET_ACTIVE);
    t->mask = (uint32_t)t->got;
  }
  t->value = s->meet >= RT_MEET_ALL && s->meet <= RT_MEET_BALLOT ? v & 1 : v;
  t->by = (uint32_t)t->vars[s->by];
  wait_there(t, s->meet);
  return s->meet == RT_MEET_SYNC ? 0 : t->got;
}

/* 0 at the end, 1 after a break, 2 after a return */
static int interpret(Thread *t, int from, int to) {
  for (int k = from; k < to;) {
    const Statement *s = &program->s[k];
    int64_t v = value(t, &s->e);
    int way = 0;
    switch (s->kind) {
    case S_SET: t->vars[s->var] = v; break;
    case S_ARRAY: t->vars[s->var] += t->array[v & 3], t->array[s->vote] = v; break;
    case S_IF: way = v & 1 ? interpret(t, k + 1, s->other) : interpret(t, s->other, s->end); break;
    case S_LOOP:
      for (int64_t n = v & 3; n > 0 && !way; n--)
        way = interpret(t, k + 1, s->end);
      way = way == 1 ? 0 : way;
      break;
    case S_BREAK:
      if (v & 1)
        return 1;
      break;
    case S_RETURN:
      if ((v & 7) == 3)
        return 2;
      break;
    case S_BARRIER:
      t->voter = t->aye = 0;
      wait_there(t, RT_MEET_BLOCK);
      break;
    case S_WARP: t->vars[s->var] += in_warp(t, s, v, k); break;
    case S_VOTE:
      t->voter = 1, t->aye = (int)(v & 1);
      wait_there(t, RT_MEET_BLOCK);
      t->vars[s->var] += s->vote == 1 ? ayes == voters : s->vote == 2 ? ayes != 0 : ayes;
      break;
    case S_END: break;
    }
    if (way)
      return way;
    k = s->kind == S_IF || s->kind == S_LOOP ? s->end : k + 1;
  }
  return 0;
}

static int64_t digest(const Thread *t) {
  uint64_t h = 0;
  for (int k = 0; k < NVARS; k++)
    h = h * 31 + (uint64_t)t->vars[k];
  return (int64_t)h;
}

static void thread_main(void) {
  interpret(running, 0, program->n);
  running->result = digest(running);
  running->done = 1;
  swapcontext(&running->context, &scheduler);
}

static void start(Thread *t, int64_t number, int64_t block) {
  char *stack = t->stack;
  *t = (Thread){.t = number,
                .block = block,
                .stack = stack,
                .ready = 1,
                .vars = {number, block, 5, 0, number * 3, 1}};
  getcontext(&t->context);
  t->context.uc_stack.ss_sp = t->stack;
  t->context.uc_stack.ss_size = STACK;
  makecontext(&t->context, thread_main, 0);
}

/* --- meetings, lane by lane as the PTX manual has them --- */

static int same_meeting(const Thread *a, const Thread *b) {
  if (a->done || b->done || a->ready || b->ready || a->meet != b->meet)
    return 0;
  return a->meet == RT_MEET_ACTIVE ? a->at == b->at : a->mask == b->mask;
}

/* Lane `lane` of the warp w is done waiting if nobody whom it names, and who runs, is elsewhere.
 * -1: it does not name itself. */
static int complete(const Thread *w, int lanes, int lane) {
  const Thread *t = &w[lane];
  if (t->meet == RT_MEET_ACTIVE)
    return 1;
  if (!(t->mask >> lane & 1))
    return -1;
  for (int k = 0; k < lanes; k++)
    if (t->mask >> k & 1 && !w[k].done && !same_meeting(t, &w[k]))
      return 0;
  return 1;
}

static int64_t shuffled(const Thread *w, int lanes, int lane) {
  const Thread *t = &w[lane];
  int by = (int)(t->by & 31), from = t->meet == RT_MEET_SHFL_UP     ? lane - by
                                     : t->meet == RT_MEET_SHFL_DOWN ? lane + by
                                     : t->meet == RT_MEET_SHFL_XOR  ? lane ^ by
                                                                    : by;
  return from >= 0 && from < lanes && same_meeting(t, &w[from]) ? w[from].value : t->value;
}

static int64_t meeting_result(const Thread *w, int lanes, int lane) {
  uint64_t here = 0, ayes_here = 0, equal = 0;
  for (int k = 0; k < lanes; k++)
    if (same_meeting(&w[lane], &w[k])) {
      here |= 1ull << k;
      ayes_here |= (uint64_t)(w[k].value & 1) << k;
      equal |= (uint64_t)(w[k].value == w[lane].value) << k;
    }
  switch (w[lane].meet) {
  case RT_MEET_ALL: return here == ayes_here;
  case RT_MEET_ANY: return ayes_here != 0;
  case RT_MEET_EQ: return here == ayes_here || !ayes_here;
  case RT_MEET_BALLOT: return (int64_t)ayes_here;
  case RT_MEET_MATCH_ANY: return (int64_t)equal;
  case RT_MEET_MATCH_ALL: return equal == here ? (int64_t)here : 0;
  case RT_MEET_ACTIVE: return (int64_t)here;
  default: return shuffled(w, lanes, lane);
  }
}

/* How many lanes go on; -1 if one does not name itself. */
static int release_warp(Thread *w, int lanes) {
  int go[32] = {0}, n = 0;
  for (int k = 0; k < lanes; k++)
    if (!w[k].done && w[k].meet != RT_MEET_BLOCK) {
      go[k] = complete(w, lanes, k);
      if (go[k] < 0)
        return -1;
      if (go[k])
        w[k].got = meeting_result(w, lanes, k), n++;
    }
  for (int k = 0; k < lanes; k++)
    w[k].ready |= go[k];
  return n;
}

/* 1: threads go on, 0: all have ended, -1: they wait in vain. */
static int release_block(void) {
  int left = 0, waiting = 0, n = 0;
  for (int k = 0; k < nthreads; k += 32) {
    int go = release_warp(all + k, nthreads - k < 32 ? nthreads - k : 32);
    if (go < 0)
      return -1;
    n += go;
  }
  if (n)
    return 1;
  ayes = voters = 0;
  for (int k = 0; k < nthreads; k++)
    if (!all[k].done) {
      left++, waiting += all[k].meet == RT_MEET_BLOCK;
      ayes += all[k].aye, voters += all[k].voter;
    }
  for (int k = 0; k < nthreads; k++)
    all[k].ready = 1;
  return left != waiting ? -1 : left != 0;
}

/* 0, or -1 if its threads wait in vain. */
static int interpret_block(int64_t block, int64_t *out) {
  int go = 1;
  for (int k = 0; k < nthreads; k++)
    start(&all[k], k, block);
  while (go > 0) {
    for (int k = 0; k < nthreads; k++) {
      running = &all[k];
      if (!running->done && running->ready)
        swapcontext(&scheduler, &running->context);
    }
    go = release_block();
  }
  for (int k = 0; k < nthreads; k++)
    out[k] = all[k].result;
  return go;
}

/* --- the same as LLVM text --- */

typedef struct Writer {
  char *text;
  size_t len, cap;
  int next;            /* name */
  int exits[8], depth; /* blocks behind the loops */
} Writer;

static void put(Writer *w, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  if (w->cap - w->len < 1000)
    w->text = realloc(w->text, w->cap = w->cap * 2 + 4000);
  w->len += (size_t)vsnprintf(w->text + w->len, w->cap - w->len, format, ap);
  va_end(ap);
}

static void put_operand(Writer *w, const Expr *e, int which, int name) {
  if (which >= 0)
    put(w, "  %%o%d = load i64, ptr %%v%d\n", name, which);
  else
    put(w, "  %%o%d = add i64 %s, 0\n", name,
        which == -1   ? "%t"
        : which == -2 ? "%block"
                      : "%zero");
  if (which < -2)
    put(w, "  %%o%d.c = add i64 %%o%d, %lld\n", name, name, (long long)e->c);
}

static int put_expr(Writer *w, const Expr *e) {
  static const char *const ops[] = {"add", "sub", "mul", "xor"};
  int a = w->next++, b = w->next++, r = w->next++;
  put_operand(w, e, e->a, a);
  put_operand(w, e, e->b, b);
  const char *suffix = e->b < -2 ? ".c" : "";
  if (e->op < 4)
    put(w, "  %%e%d = %s i64 %%o%d, %%o%d%s\n", r, ops[e->op], a, b, suffix);
  else
    put(w, "  %%x%d = icmp slt i64 %%o%d, %%o%d%s\n  %%e%d = zext i1 %%x%d to i64\n", r, a, b,
        suffix, r, r);
  return r;
}

static void put_body(Writer *w, int from, int to);

static void put_if(Writer *w, const Statement *s, int k, int e) {
  int n = w->next++;
  put(w,
      "  %%b%d = trunc i64 %%e%d to i1\n  br i1 %%b%d, label %%then%d, label %%else%d\nthen%d:\n",
      n, e, n, n, n, n);
  put_body(w, k + 1, s->other);
  put(w, "  br label %%end%d\nelse%d:\n", n, n);
  put_body(w, s->other, s->end);
  put(w, "  br label %%end%d\nend%d:\n", n, n);
}

static void put_loop(Writer *w, const Statement *s, int k, int e) {
  int n = w->next++;
  put(w, "  %%l%d = and i64 %%e%d, 3\n  store i64 %%l%d, ptr %%c%d\n  br label %%head%d\nhead%d:\n",
      n, e, n, w->depth, n, n);
  put(w,
      "  %%m%d = load i64, ptr %%c%d\n  %%g%d = icmp sgt i64 %%m%d, 0\n  br i1 %%g%d, label %%turn%d, label %%end%d\nturn%d:\n",
      n, w->depth, n, n, n, n, n, n);
  put(w, "  %%d%d = sub i64 %%m%d, 1\n  store i64 %%d%d, ptr %%c%d\n", n, n, n, w->depth);
  w->exits[w->depth++] = n;
  put_body(w, k + 1, s->end);
  w->depth--;
  put(w, "  br label %%head%d\nend%d:\n", n, n);
}

static void put_vote(Writer *w, const Statement *s, int e) {
  int n = w->next++;
  put(w, "  %%b%d = trunc i64 %%e%d to i1\n  %%w%d = call i32 @pyptx.barrier(i32 %d, i1 %%b%d)\n",
      n, e, n, s->vote, n);
  put(w,
      "  %%x%d = zext i32 %%w%d to i64\n  %%y%d = load i64, ptr %%v%d\n  %%z%d = add i64 %%y%d, %%x%d\n  store i64 %%z%d, ptr %%v%d\n",
      n, n, n, s->var, n, n, n, n, s->var);
}

static void put_warp(Writer *w, const Statement *s, int e) {
  int n = w->next++;
  if (s->mask == MASK_ACTIVE)
    put(w, "  %%a%d = call i64 @pyptx.meet(i32 %d, i32 0, i32 0, i64 0, i32 0)\n", n,
        RT_MEET_ACTIVE);
  else if (s->mask == MASK_HALF)
    put(w,
        "  %%h.%d = and i64 %%t, 16\n  %%i%d = icmp eq i64 %%h.%d, 0\n  %%a%d = select i1 %%i%d, i64 65535, i64 4294901760\n",
        n, n, n, n, n);
  else
    put(w, "  %%a%d = add i64 0, 4294967295\n", n);
  int votes = s->meet >= RT_MEET_ALL && s->meet <= RT_MEET_BALLOT;
  put(w, "  %%m%d = trunc i64 %%a%d to i32\n  %%z.%d = and i64 %%e%d, %d\n", n, n, n, e,
      votes ? 1 : -1);
  put(w, "  %%k%d = load i64, ptr %%v%d\n  %%j%d = trunc i64 %%k%d to i32\n", n, s->by, n, n);
  put(w, "  %%w%d = call i64 @pyptx.meet(i32 %d, i32 0, i32 %%m%d, i64 %%z.%d, i32 %%j%d)\n", n,
      s->meet, n, n, n);
  if (s->meet != RT_MEET_SYNC)
    put(w,
        "  %%y%d = load i64, ptr %%v%d\n  %%z%d = add i64 %%y%d, %%w%d\n  store i64 %%z%d, ptr %%v%d\n",
        n, s->var, n, n, n, n, s->var);
}

static void put_array(Writer *w, const Statement *s, int e) {
  int n = w->next++;
  put(w,
      "  %%i%d = and i64 %%e%d, 3\n  %%p%d = getelementptr i64, ptr %%array, i64 %%i%d\n  %%x%d = load i64, ptr %%p%d\n",
      n, e, n, n, n, n);
  put(w,
      "  %%y%d = load i64, ptr %%v%d\n  %%z%d = add i64 %%y%d, %%x%d\n  store i64 %%z%d, ptr %%v%d\n",
      n, s->var, n, n, n, n, s->var);
  put(w, "  %%q%d = getelementptr i64, ptr %%array, i64 %d\n  store i64 %%e%d, ptr %%q%d\n", n,
      s->vote, e, n);
}

static void put_leave(Writer *w, int e, int mask, int is, const char *where, int number) {
  int n = w->next++;
  put(w, "  %%i%d = and i64 %%e%d, %d\n  %%g%d = icmp eq i64 %%i%d, %d\n", n, e, mask, n, n, is);
  put(w, "  br i1 %%g%d, label %%%s%d, label %%on%d\non%d:\n", n, where, number, n, n);
}

static void put_body(Writer *w, int from, int to) {
  for (int k = from; k < to;) {
    const Statement *s = &program->s[k];
    int e = put_expr(w, &s->e);
    switch (s->kind) {
    case S_SET: put(w, "  store i64 %%e%d, ptr %%v%d\n", e, s->var); break;
    case S_IF: put_if(w, s, k, e); break;
    case S_LOOP: put_loop(w, s, k, e); break;
    case S_BREAK: put_leave(w, e, 1, 1, "end", w->exits[w->depth - 1]); break;
    case S_RETURN: put_leave(w, e, 7, 3, "finish", 0); break;
    case S_BARRIER: put(w, "  call i32 @pyptx.barrier(i32 0, i1 false)\n"); break;
    case S_VOTE: put_vote(w, s, e); break;
    case S_ARRAY: put_array(w, s, e); break;
    case S_WARP: put_warp(w, s, e); break;
    case S_END: break;
    }
    k = s->kind == S_IF || s->kind == S_LOOP ? s->end : k + 1;
  }
}

static char *write_text(void) {
  static const char *const initial[NVARS] = {"%t", "%block", "5", "0", "%t3", "1"};
  Writer w = {0};
  put(&w, "%s", HEAD);
  put(&w, "%s", KERNEL);
  put(&w,
      "  %%zero = sub i64 %%n, %%n\n  %%t3 = mul i64 %%t, 3\n  %%array = alloca [4 x i64]\n  store [4 x i64] zeroinitializer, ptr %%array\n");
  for (int k = 0; k < NVARS; k++)
    put(&w, "  %%v%d = alloca i64\n  %%c%d = alloca i64\n  store i64 %s, ptr %%v%d\n", k, k,
        initial[k], k);
  put_body(&w, 0, program->n);
  put(&w, "  br label %%finish0\nfinish0:\n  %%h0 = add i64 0, 0\n");
  for (int k = 0; k < NVARS; k++)
    put(&w,
        "  %%r%d = load i64, ptr %%v%d\n  %%s%d = mul i64 %%h%d, 31\n  %%h%d = add i64 %%s%d, %%r%d\n",
        k, k, k, k, k + 1, k, k);
  put(&w, "  store i64 %%h%d, ptr %%out\n  ret void\n}\n", NVARS);
  return w.text;
}

/* --- comparison --- */

static _Atomic uint32_t pace;

static int compare(uint64_t seed, int opt, const char *text, const int64_t *want, int in_vain,
                   RtConfig *config) {
  static int64_t got[BLOCKS * PER_BLOCK], unused[BLOCKS * PER_BLOCK];
  struct {
    int64_t *out, *in, n;
  } params = {got, unused, nthreads};
  CgKernel kernel = {0};
  Cx *cx = cx_new();
  int bad = host_text_compile(cx, text, opt, 0, &kernel);
  RtStatus status = bad ? RT_OK : rt_host_run(&kernel.host, &pace, config, &params, NULL);
  if (status != (in_vain ? RT_TRAPPED : RT_OK))
    bad = 1, fprintf(stderr, "status %d, threads wait in vain: %d\n", (int)status, in_vain);
  for (int k = 0; k < BLOCKS * PER_BLOCK && !bad && !in_vain; k++)
    if (k % PER_BLOCK < nthreads && got[k] != want[k])
      bad = 1,
      fprintf(stderr, "thread %d: %lld, not %lld\n", k, (long long)got[k], (long long)want[k]);
  if (bad)
    fprintf(stderr, "seed %llu, -O%d, %d threads\n", (unsigned long long)seed, opt, nthreads);
  cg_target_host.release(kernel.jit);
  cx_free(cx);
  return bad;
}

static int nvain, nwarps; /* programs */

static int try_seed(uint64_t seed) {
  static int64_t want[BLOCKS * PER_BLOCK];
  Text t = {.random = seed * 0x9e3779b97f4a7c15u + 88172645463325252u, .warps = (int)(seed & 1)};
  for (int k = 0; k < 8; k++)
    draw(&t, 2);
  any_body(&t, 0, 0, 3 + (int)draw(&t, 12));
  program = &t;
  RtConfig config = {.grid = {BLOCKS, 1, 1}, .block = {1 + draw(&t, 40), 1 + draw(&t, 2), 1}};
  nthreads = (int)(config.block[0] * config.block[1]);
  int in_vain = 0;
  for (int b = 0; b < BLOCKS; b++)
    in_vain |= interpret_block(b, want + b * PER_BLOCK) != 0;
  nvain += in_vain, nwarps += t.warps;
  char *text = write_text();
  int bad = compare(seed, (int)(seed / 2 % 4), text, want, in_vain, &config);
  free(text);
  return bad;
}

int main(int argc, char **argv) {
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
           count = argc > 2   ? strtoull(argv[2], NULL, 10)
                   : argc > 1 ? 1
                              : 60;
  int bad = 0;
  setenv("PYPTX_HOST_THREADS", "2", 0);
  all = calloc(100, sizeof *all);
  for (int k = 0; k < 100; k++)
    all[k].stack = malloc(STACK);
  for (uint64_t k = 0; k < count; k++)
    bad += try_seed(seed + k);
  printf("%d programs with warps, %d of them wait in vain\n", nwarps, nvain);
  for (int k = 0; k < 100; k++)
    free(all[k].stack);
  free(all);
  return bad != 0;
}
