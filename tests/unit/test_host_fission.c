/* Fission and the host's loops: thread functions with barriers, as LLVM text, run on the pool and
 * compared with what C computes. */
#include <stdlib.h>

#include "tests/unit/support/expect.h"
#include "tests/unit/support/host_text.h"

typedef struct Params {
  int64_t *out, *in;
  int64_t n;
} Params;

enum { PER_BLOCK = 1000, BLOCKS = 37 };
static int64_t in[PER_BLOCK * BLOCKS], out[PER_BLOCK * BLOCKS];

static RtTrap last_trap;
static _Atomic uint32_t pace;

/* Compiles at opt 0 and 3 and runs each; check(block, thread, n) says what out holds after. */
static void
run(const char *name, const char *text, const uint32_t block[3], int64_t n, RtStatus want,
    int64_t (*expected)(int64_t block_number, int64_t thread, int64_t threads, int64_t n)) {
  expect_case = name;
  for (int opt = 0; opt <= 3; opt += 3) {
    CgKernel kernel = {0};
    Cx *cx = cx_new();
    int bad = host_text_compile(cx, text, opt, 16384, &kernel);
    EXPECT(!bad);
    if (!bad) {
      for (int64_t i = 0; i < PER_BLOCK * BLOCKS; i++)
        in[i] = i * 7 % 1001, out[i] = -12345;
      Params p = {out, in, n};
      RtConfig c = {.grid = {BLOCKS, 1, 1}, .block = {block[0], block[1], block[2]}};
      EXPECT(rt_host_run(&kernel.host, &pace, &c, &p, &last_trap) == want);
      int64_t threads = (int64_t)block[0] * block[1] * block[2];
      int wrong = 0;
      for (int64_t b = 0; expected && b < BLOCKS; b++)
        for (int64_t t = 0; t < threads; t++)
          if (out[b * PER_BLOCK + t] != expected(b, t, threads, n) && !wrong++)
            fprintf(stderr, "%s -O%d: block %lld thread %lld: %lld, not %lld\n", name, opt,
                    (long long)b, (long long)t, (long long)out[b * PER_BLOCK + t],
                    (long long)expected(b, t, threads, n));
      EXPECT(!wrong);
    }
    cg_target_host.release(kernel.jit);
    cx_free(cx);
  }
}

static int64_t in_at(int64_t b, int64_t t) { return (b * PER_BLOCK + t) * 7 % 1001; }

/* --- no barrier --- */
static const char plain[] = HEAD KERNEL
    "  %v = load i64, ptr %in\n  %w = add i64 %v, %n\n  store i64 %w, ptr %out\n  ret void\n}\n";
static int64_t plain_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)threads;
  return in_at(b, t) + n;
}

/* --- one barrier: the neighbour's value, with one of its own kept --- */
static const char reverse[] = HEAD KERNEL
    "  %v = load i64, ptr %in\n  %mine = call ptr @shared(ptr %launch, i64 %t)\n  store i64 %v, ptr %mine\n" SYNC
    "  %last = sub i64 %n, 1\n  %o = sub i64 %last, %t\n  %other = call ptr @shared(ptr %launch, i64 %o)\n"
    "  %w = load i64, ptr %other\n  %x = mul i64 %w, 3\n  %y = add i64 %x, %v\n  store i64 %y, ptr %out\n  ret void\n}\n";
static int64_t reverse_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)threads;
  return in_at(b, n - 1 - t) * 3 + in_at(b, t);
}

/* --- barriers in a loop: rotate n times, and sum up what passes by; the sum is a phi of the loop
 * --- */
static const char rotate[] = HEAD KERNEL
    "  %nxa = getelementptr i8, ptr %launch, i64 20\n  %nx = load i32, ptr %nxa, !invariant.load !0, !pyptx.field !0\n  %threads = zext i32 %nx to i64\n"
    "  %v = load i64, ptr %in\n  %mine = call ptr @shared(ptr %launch, i64 %t)\n  store i64 %v, ptr %mine\n"
    "  %t1 = add i64 %t, 1\n  %wraps = icmp eq i64 %t1, %threads\n  %next = select i1 %wraps, i64 0, i64 %t1\n"
    "  %theirs = call ptr @shared(ptr %launch, i64 %next)\n  br label %head\n"
    "head:\n  %k = phi i64 [0, %entry], [%k1, %body]\n  %sum = phi i64 [0, %entry], [%sum1, %body]\n"
    "  %more = icmp slt i64 %k, %n\n  br i1 %more, label %body, label %done\n"
    "body:\n" SYNC
    "  %w = load i64, ptr %theirs\n  %q = mul i64 %w, %k\n  %sum1 = add i64 %sum, %q\n" SYNC
    "  store i64 %w, ptr %mine\n  %k1 = add i64 %k, 1\n  br label %head\n"
    "done:\n  store i64 %sum, ptr %out\n  ret void\n}\n";
static int64_t rotate_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  int64_t sum = 0;
  for (int64_t k = 0; k < n; k++)
    sum += in_at(b, (t + k + 1) % threads) * k;
  return sum;
}

/* --- divergent barriers in both arms of an if, early return of some, a tail after --- */
static const char arms[] = HEAD KERNEL
    "  %v = load i64, ptr %in\n  %mine = call ptr @shared(ptr %launch, i64 %t)\n  store i64 %v, ptr %mine\n"
    "  %late = icmp sge i64 %t, %n\n  br i1 %late, label %early, label %stay\n"
    "early:\n  store i64 -7, ptr %out\n  ret void\n"
    "stay:\n  %bit = and i64 %t, 1\n  %odd = icmp ne i64 %bit, 0\n  br i1 %odd, label %a, label %b\n"
    "a:\n  %va = mul i64 %v, 2\n" SYNC
    "  %pa = sub i64 %t, 1\n  %qa = call ptr @shared(ptr %launch, i64 %pa)\n"
    "  %wa = load i64, ptr %qa\n  %xa = add i64 %wa, %va\n  br label %join\n"
    "b:\n  %vb = mul i64 %v, 5\n" SYNC
    "  %wb = load i64, ptr %mine\n  %xb = sub i64 %wb, %vb\n  br label %join\n"
    "join:\n  %x = phi i64 [%xa, %a], [%xb, %b]\n" SYNC "  store i64 %x, ptr %mine\n" SYNC
    "  %z = call ptr @shared(ptr %launch, i64 0)\n  %first = load i64, ptr %z\n  %y = add i64 %x, %first\n"
    "  store i64 %y, ptr %out\n  ret void\n}\n";
static int64_t arms_value(int64_t b, int64_t t) {
  return t & 1 ? in_at(b, t - 1) + in_at(b, t) * 2 : in_at(b, t) - in_at(b, t) * 5;
}
static int64_t arms_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)threads;
  return t >= n ? -7 : arms_value(b, t) + arms_value(b, 0);
}

/* --- votes: and, or, count; threads that have returned do not vote --- */
static const char votes[] = HEAD KERNEL
    "  %late = icmp sge i64 %t, %n\n  br i1 %late, label %early, label %stay\n"
    "early:\n  store i64 -7, ptr %out\n  ret void\n"
    "stay:\n  %v = load i64, ptr %in\n  %small = icmp slt i64 %v, 500\n"
    "  %count = call i32 @pyptx.barrier(i32 3, i1 %small)\n"
    "  %any = call i32 @pyptx.barrier(i32 2, i1 %small)\n"
    "  %zero = icmp sge i64 %t, 0\n  %all = call i32 @pyptx.barrier(i32 1, i1 %zero)\n"
    "  %some = icmp ne i64 %t, 2\n  %notall = call i32 @pyptx.barrier(i32 1, i1 %some)\n"
    "  %none = call i32 @pyptx.barrier(i32 2, i1 false)\n"
    "  %c1 = mul i32 %count, 10000\n  %c2 = mul i32 %any, 1000\n  %c3 = mul i32 %all, 100\n  %c4 = mul i32 %notall, 10\n"
    "  %s1 = add i32 %c1, %c2\n  %s2 = add i32 %s1, %c3\n  %s3 = add i32 %s2, %c4\n  %s4 = add i32 %s3, %none\n"
    "  %r = sext i32 %s4 to i64\n  store i64 %r, ptr %out\n  ret void\n}\n";
static int64_t votes_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  int64_t count = 0;
  for (int64_t k = 0; k < threads && k < n; k++)
    count += in_at(b, k) < 500;
  return t >= n ? -7 : count * 10000 + (count > 0) * 1000 + 100 + (n <= 2) * 10;
}

/* --- a barrier in a device function called twice, and a local array over it --- */
static const char inlined[] = HEAD
    "define internal i64 @exchange(ptr %launch, i64 %t, i64 %o, i64 %v) noinline {\n"
    "  %own = alloca [4 x i64]\n  %slot = and i64 %v, 3\n  %p = getelementptr i64, ptr %own, i64 %slot\n  store i64 %v, ptr %p\n"
    "  %mine = call ptr @shared(ptr %launch, i64 %t)\n  store i64 %v, ptr %mine\n" SYNC
    "  %other = call ptr @shared(ptr %launch, i64 %o)\n  %w = load i64, ptr %other\n" SYNC
    "  %back = load i64, ptr %p\n  %r = mul i64 %back, 1000\n  %s = add i64 %r, %w\n  ret i64 %s\n}\n"
    "define internal i64 @outer(ptr %launch, i64 %t, i64 %o, i64 %v) {\n"
    "  %a = call i64 @exchange(ptr %launch, i64 %t, i64 %o, i64 %v)\n  %b = add i64 %a, 1\n  ret i64 %b\n}\n" KERNEL
    "  %last = sub i64 %n, 1\n  %o = sub i64 %last, %t\n  %v = load i64, ptr %in\n"
    "  %a = call i64 @outer(ptr %launch, i64 %t, i64 %o, i64 %v)\n"
    "  %b = call i64 @exchange(ptr %launch, i64 %t, i64 %o, i64 %a)\n"
    "  store i64 %b, ptr %out\n  ret void\n}\n";
static int64_t inlined_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)threads;
  int64_t mine = in_at(b, t) * 1000 + in_at(b, n - 1 - t) + 1,
          theirs = in_at(b, n - 1 - t) * 1000 + in_at(b, t) + 1;
  return mine * 1000 + theirs;
}

/* --- a loop whose number of turns differs from thread to thread, with a barrier inside and bools
 * and floats alive over it --- */
static const char uneven[] = HEAD KERNEL
    "  %v = load i64, ptr %in\n  %f0 = sitofp i64 %v to float\n  %flag = icmp sgt i64 %v, 300\n  br label %head\n"
    "head:\n  %k = phi i64 [0, %entry], [%k1, %tail]\n  %f = phi float [%f0, %entry], [%f1, %tail]\n"
    "  %more = icmp sle i64 %k, %t\n  br i1 %more, label %body, label %done\n"
    "body:\n  %half = and i64 %k, 1\n  %skip = icmp eq i64 %half, 0\n  br i1 %skip, label %tail, label %wait\n"
    "wait:\n" SYNC "  br label %tail\n"
    "tail:\n  %add = select i1 %flag, float 2.0, float 1.0\n  %f1 = fadd float %f, %add\n  %k1 = add i64 %k, 1\n  br label %head\n"
    "done:\n  %r = fptosi float %f to i64\n  store i64 %r, ptr %out\n  ret void\n}\n";
static int64_t uneven_is(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)threads, (void)n;
  return in_at(b, t) + (t + 1) * (in_at(b, t) > 300 ? 2 : 1);
}

/* --- traps before and behind a barrier --- */
static const char traps[] = HEAD KERNEL SYNC
    "  %bad = icmp eq i64 %t, %n\n  br i1 %bad, label %stop, label %fine\n"
    "stop:\n  call void @rt_host_trap(ptr %launch, i32 9, i64 %block, i32 %t32, i64 %t, i64 %n, i64 0, i64 -4)\n  unreachable\n"
    "fine:\n" SYNC "  store i64 1, ptr %out\n  ret void\n}\n";
static int64_t one(int64_t b, int64_t t, int64_t threads, int64_t n) {
  (void)b, (void)t, (void)threads, (void)n;
  return 1;
}

/* --- parts of blocks --- */

#define FIELD(name, offset)                                                                        \
  "  %" name "_at = getelementptr inbounds nuw i8, ptr %launch, i64 " offset "\n"                  \
  "  %" name "_32 = load i32, ptr %" name "_at, align 4, !invariant.load !0\n"                     \
  "  %" name " = zext nneg i32 %" name "_32 to i64\n"
/* out[place], if place = blockIdx.x * blockDim.x + threadIdx.x < n */
#define PLACE                                                                                      \
  FIELD("width", "20")                                                                             \
  "  %bl = zext nneg i32 %bx to i64\n  %tl = zext nneg i32 %tx to i64\n"                           \
  "  %start = mul nuw nsw i64 %bl, %width\n  %place = add nuw nsw i64 %start, %tl\n"               \
  "  %fits = icmp ult i64 %place, %n\n  br i1 %fits, label %yes, label %no\n"                      \
  "no:\n  ret void\nyes:\n"                                                                        \
  "  %to = call ptr @pointer(ptr %launch, i64 0, i64 %place)\n"
static const char by_place[] = HEAD KERNEL PLACE "  store i64 %place, ptr %to\n  ret void\n}\n";
static const char by_stride[] = HEAD KERNEL PLACE FIELD(
    "blocks",
    "8") "  %all = mul nuw nsw i64 %blocks, %width\n  store i64 %all, ptr %to\n  ret void\n}\n";
static const char by_width[] = HEAD KERNEL PLACE "  store i64 %width, ptr %to\n  ret void\n}\n";
static const char by_blocks[] =
    HEAD KERNEL PLACE FIELD("blocks", "8") "  store i64 %blocks, ptr %to\n  ret void\n}\n";
static const char by_thread[] = HEAD KERNEL PLACE "  store i64 %tl, ptr %to\n  ret void\n}\n";
static const char with_atomics[] = HEAD KERNEL PLACE
    "  %old = atomicrmw add ptr %to, i64 1 monotonic\n  ret void\n}\n";

static void parts(const char *name, const char *text, bool want) {
  expect_case = name;
  CgKernel kernel = {0};
  Cx *cx = cx_new();
  EXPECT(!host_text_compile(cx, text, 3, 0, &kernel));
  EXPECT(kernel.host.parts == want);
  cg_target_host.release(kernel.jit);
  cx_free(cx);
}

/* Blocks may be less wide than was asked for where nothing shows how wide they are. */
static void test_parts(void) {
#ifdef __x86_64__
  if (!__builtin_cpu_supports("avx2")) /* without lanes blocks are not joined either */
    return;
#endif
  parts("by place", by_place, true);
  parts("by stride", by_stride, true);
  parts("by width", by_width, false);
  parts("by blocks", by_blocks, false);
  parts("by thread", by_thread, false);
  parts("with atomics", with_atomics, false);
}

int main(void) {
  static const uint32_t line[] = {96, 1, 1}, box[] = {8, 5, 3}, single[] = {1, 1, 1},
                        full[] = {1000, 1, 1};
  setenv("PYPTX_HOST_THREADS", "4", 0);
  run("plain", plain, full, 3, RT_OK, plain_is);
  run("plain, 3 axes", plain, box, 3, RT_OK, plain_is);
  run("reverse", reverse, line, 96, RT_OK, reverse_is);
  run("reverse, 3 axes", reverse, box, 120, RT_OK, reverse_is);
  run("reverse, 1000 threads", reverse, full, 1000, RT_OK, reverse_is);
  run("reverse, 1 thread", reverse, single, 1, RT_OK, reverse_is);
  run("arms", arms, line, 61, RT_OK, arms_is);
  run("arms, nobody early", arms, line, 1000, RT_OK, arms_is);
  run("votes", votes, line, 50, RT_OK, votes_is);
  run("votes, two threads", votes, line, 2, RT_OK, votes_is);
  run("votes, all", votes, box, 120, RT_OK, votes_is);
  run("inlined", inlined, line, 96, RT_OK, inlined_is);
  run("uneven", uneven, line, 0, RT_OK, uneven_is);
  run("traps not", traps, line, 96, RT_OK, one);
  run("traps", traps, line, 70, RT_TRAPPED, NULL);
  EXPECT(last_trap.state == 2 && last_trap.site == 9 && last_trap.thread[0] == 70 &&
         last_trap.values[3] == -4);
  run("rotate", rotate, line, 5, RT_OK, rotate_is);
  test_parts();
  return expect_failures != 0;
}
