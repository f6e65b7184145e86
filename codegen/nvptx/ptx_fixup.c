/* PTX fix-up, line by line over the assembly that LLVM printed: what ptxas 13.0, and the driver's
 * compiler of the same age, compile wrongly. tests/api/language/test_miscompiled.py holds a kernel
 * for each. LLVM makes these instructions out of many things, so the place to change them is the
 * end.
 *
 * neg.s16, abs: the result is taken to be in range, so that -(-32768) widened to 64 bits comes out
 * as +32768, and abs of the smallest integer is not below 0, where PTX says that both wrap. The
 * plain instructions for them are compiled as written.
 *
 * max and min of 16 bits, compared for equality with one of the operands: the comparison is turned
 * round. 32 bits are right.
 *
 * not.b64 of a register that a branch has found to be 0, under an or: the result is taken for 0.
 * xor with -1 is compiled as written. not.b32 of such a register is taken for 0 under anything, and
 * so is the xor; -1 - x is not. LLVM's passes, where they run, know the 0.
 *
 * selp.f32 of -1.0 and -0.0, and of 1.0 and -0.0 under a comparison of floats: an integer is chosen
 * and converted, or the comparison's own 1.0 or 0.0 taken, so that -0.0 becomes 0.0. selp.b32 of
 * the bits is compiled as written. (selp.f64 is right.)
 *
 * neg of a float, and its product with -1, where it was just made from an integer or bool that is 0
 * or 1: the negation goes into what made it, with the same fault. In code that LLVM has not
 * optimised, the sign bit is turned everywhere. In other code a negation is most often free, as a
 * modifier of another instruction's operand, and the sign bit is turned only where the operand was
 * made by a conversion of an integer or by selp; of selp's constants both are negated, as bits, if
 * nothing else writes its register and its condition. ptxas 13.0 compiles these alone as written:
 * the driver's compiler was seen to lose their sign.
 *
 * st.b8, st.b16 and st.b32 of a wider register: PTX says that the low bits are stored. They convert
 * instead where the register was made by a floating-point instruction: the bytes of 37.0 become 37,
 * 0, …. Unaligned fields of records are stored that way. The bits are taken by an instruction of
 * their own, in modules that have floats. */
#include "codegen/nvptx/ptx_fixup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef enum Where {
  ALL,
  UNOPTIMISED, /* by LLVM */
  NEGATIONS,   /* unoptimised; else where rewrite_negation finds that it must be */
} Where;

typedef struct Rule {
  const char *op;      /* as LLVM prints it, between two tabs */
  const char *instead; /* D stands for the destination, S and T for the sources */
  int sources;
  const char *last; /* what follows them; NULL: nothing */
  Where in;
} Rule;

#define ABS(bits, last)                                                                            \
  "\t{ .reg .b" bits " %sign, %flipped;\n\tshr.s" bits " \t%sign, S, " last ";\n\txor.b" bits      \
  " \t%flipped, S, %sign;\n\tsub.s" bits " \tD, %flipped, %sign; }"
#define WIDE(op, sign)                                                                             \
  "\t{ .reg .b16 %x, %y; .reg .b32 %a, %b;\n\tmov.b16 \t%x, S;\n\tmov.b16 \t%y, T;\n\tcvt." sign   \
  "32." sign "16 \t%a, %x;\n\tcvt." sign "32." sign "16 \t%b, %y;\n\t" op "." sign                 \
  "32 \t%a, %a, %b;\n\tcvt.u16.u32 \tD, %a; }"

static const Rule rules[] = {
    {"\tnot.b16 \t", "\tsub.s16 \tD, -1, S;", 1, NULL, UNOPTIMISED},
    {"\tnot.b32 \t", "\tsub.s32 \tD, -1, S;", 1, NULL, UNOPTIMISED},
    {"\tnot.b64 \t", "\txor.b64 \tD, S, -1;", 1, NULL, ALL},
    {"\tneg.s16 \t", "\tnot.b16 \tD, S;\n\tadd.s16 \tD, D, 1;", 1, NULL, ALL},
    {"\tabs.s16 \t",
     "\t{ .reg .pred %below; .reg .b16 %minus;\n"
     "\tsetp.lt.s16 \t%below, S, 0;\n\tnot.b16 \t%minus, S;\n\tadd.s16 \t%minus, %minus, 1;\n"
     "\tselp.b16 \tD, %minus, S, %below; }",
     1, NULL, ALL},
    {"\tabs.s32 \t", ABS("32", "31"), 1, NULL, ALL},
    {"\tabs.s64 \t", ABS("64", "63"), 1, NULL, ALL},
    {"\tmax.s16 \t", WIDE("max", "s"), 2, NULL, ALL},
    {"\tmax.u16 \t", WIDE("max", "u"), 2, NULL, ALL},
    {"\tmin.s16 \t", WIDE("min", "s"), 2, NULL, ALL},
    {"\tmin.u16 \t", WIDE("min", "u"), 2, NULL, ALL},
    {"\tneg.f16 \t", "\txor.b16 \tD, S, 0x8000;", 1, NULL, NEGATIONS},
    {"\tneg.bf16 \t", "\txor.b16 \tD, S, 0x8000;", 1, NULL, NEGATIONS},
    {"\tneg.f32 \t", "\txor.b32 \tD, S, 0x80000000;", 1, NULL, NEGATIONS},
    {"\tneg.f64 \t", "\txor.b64 \tD, S, 0x8000000000000000;", 1, NULL, NEGATIONS},
    {"\tmul.rn.f32 \t", "\txor.b32 \tD, S, 0x80000000;", 1, ", 0fBF800000", NEGATIONS},
    {"\tmul.rn.f64 \t", "\txor.b64 \tD, S, 0x8000000000000000;", 1, ", 0dBFF0000000000000",
     NEGATIONS},
};
#undef ABS
#undef WIDE

enum { RULES = sizeof rules / sizeof *rules };

static size_t operand_length(const char *s) {
  size_t n = 0;
  while (isalnum((unsigned char)s[n]) || s[n] == '%' || s[n] == '_' || s[n] == '-')
    n++;
  return n;
}

/* Writes the rule's text for "OP D, S;" or "OP D, S, T;" and returns what follows it; NULL if the
 * line has another form. */
static const char *rewrite(Buf *out, const Rule *rule, const char *line) {
  const char *operand[3], *at = line + strlen(rule->op);
  size_t length[3];
  for (int k = 0; k <= rule->sources; k++) {
    operand[k] = at;
    length[k] = operand_length(at);
    const char *then = k < rule->sources ? ", " : rule->last ? rule->last : ";";
    if (!length[k] || strncmp(at + length[k], then, strlen(then)) != 0)
      return NULL;
    at += length[k] + strlen(then);
  }
  if (rule->last && *at++ != ';')
    return NULL;
  for (const char *c = rule->instead; *c; c++) {
    int k = *c == 'D' ? 0 : *c == 'S' ? 1 : *c == 'T' ? 2 : -1;
    if (k >= 0)
      buf_add(out, operand[k], length[k]);
    else
      buf_putc(out, *c);
  }
  return at;
}

/* --- narrow stores --- */

typedef struct Store {
  const char *type;    /* as LLVM prints it, before the address */
  const char *source;  /* registers that are wider */
  const char *instead; /* S: the source, A: the store up to its source */
} Store;

static const Store stores[] = {
    {".b8 \t[", "%rs", "\t{ .reg .b16 %narrow; and.b16 \t%narrow, S, 255;\nA%narrow; }"},
    {".b8 \t[", "%rd", "\t{ .reg .b16 %narrow; cvt.u16.u64 \t%narrow, S;\nA%narrow; }"},
    {".b8 \t[", "%r", "\t{ .reg .b16 %narrow; cvt.u16.u32 \t%narrow, S;\nA%narrow; }"},
    {".b16 \t[", "%rd", "\t{ .reg .b16 %narrow; cvt.u16.u64 \t%narrow, S;\nA%narrow; }"},
    {".b16 \t[", "%r", "\t{ .reg .b16 %narrow; cvt.u16.u32 \t%narrow, S;\nA%narrow; }"},
    {".b32 \t[", "%rd", "\t{ .reg .b32 %narrow; cvt.u32.u64 \t%narrow, S;\nA%narrow; }"},
};

/* Is s the register class followed by its number? ("%r" is the beginning of "%rd" and "%rs".) */
static bool is_register(const char *s, const char *class) {
  size_t n = strlen(class);
  return strncmp(s, class, n) == 0 && isdigit((unsigned char)s[n]);
}

/* line: "\tst.….b8 \t[address], SOURCE;". The row for it and where its source stands; NULL: another
 * line. */
static const Store *find_store(const char *line, size_t n, bool halves, const char **source) {
  const char *comma = memmem(line, n, "], ", 3);
  for (size_t k = 0; comma && k < sizeof stores / sizeof *stores; k++)
    if (memmem(line, (size_t)(comma - line), stores[k].type, strlen(stores[k].type)) &&
        is_register(comma + 3, stores[k].source) && (halves || stores[k].source[2] != 's') &&
        comma[3 + operand_length(comma + 3)] == ';') {
      *source = comma + 3;
      return &stores[k];
    }
  return NULL;
}

static void rewrite_store(Buf *out, const Store *store, const char *line, const char *source) {
  for (const char *c = store->instead; *c; c++) {
    if (*c == 'S')
      buf_add(out, source, operand_length(source));
    else if (*c == 'A')
      buf_add(out, line, (size_t)(source - line));
    else
      buf_putc(out, *c);
  }
}

/* --- negations of floats made from integers --- */

enum { CLASSES = 4 };
static const char *const classes[CLASSES] = {"%rs", "%rd", "%r", "%p"};

/* What may be in a register: PTX is no SSA, where paths meet each writes it. */
typedef struct Made {
  const char *line; /* a cvt or selp that writes it; NULL: none does */
  unsigned times;   /* how many instructions write it, or more */
} Made;

/* The registers of the function at hand, by class and number. */
typedef struct Makers {
  Arena *arena;
  size_t most; /* no number is above it: the size of the module's text */
  Made *made[CLASSES];
  size_t size[CLASSES];
} Makers;

/* The class and number of the register that s begins with; -1: of none. */
static int register_of(const char *s, size_t *number) {
  for (int c = 0; c < CLASSES; c++)
    if (is_register(s, classes[c])) {
      *number = strtoul(s + strlen(classes[c]), NULL, 10);
      return c;
    }
  return -1;
}

static bool makes_float_of_integer(const char *line) {
  static const char *const floats[] = {"f16.", "bf16.", "f32.", "f64."};
  if (strncmp(line, "\tselp.", 6) == 0)
    return true;
  if (strncmp(line, "\tcvt.rn.", 8) != 0)
    return false;
  for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
    size_t n = strlen(floats[k]);
    if (strncmp(line + 8, floats[k], n) == 0)
      return line[8 + n] == 'u' || line[8 + n] == 's';
  }
  return false;
}

/* The register that s begins with is written; by a cvt or selp: line. */
static void remember(Makers *m, const char *s, const char *line) {
  size_t number;
  int c = register_of(s, &number);
  if (c < 0 || number > m->most)
    return;
  if (number >= m->size[c]) {
    size_t size = number < 32 ? 64 : 2 * number;
    Made *grown = ARENA_ARRAY(m->arena, Made, size);
    memset(grown, 0, size * sizeof *grown);
    if (m->size[c])
      memcpy(grown, m->made[c], m->size[c] * sizeof *grown);
    m->made[c] = grown;
    m->size[c] = size;
  }
  Made *made = &m->made[c][number];
  made->times++;
  made->line = line ? line : made->line;
}

/* An instruction writes its first operand, and perhaps one behind a bar; of lists, of several
 * instructions in a line and of inline assembly, which has no tab between operation and operands,
 * all counts. */
static void remember_line(Makers *m, const char *line, size_t n) {
  const char *to = memchr(line + 1, '\t', n - 1);
  if (!to || memchr(line, '{', n)) {
    for (size_t k = 0; k < n; k++)
      if (line[k] == '%')
        remember(m, line + k, NULL);
  } else {
    remember(m, to + 1, makes_float_of_integer(line) ? line : NULL);
    const char *second = to + 1 + operand_length(to + 1);
    if (*second == '|')
      remember(m, second + 1, NULL);
  }
}

/* Functions begin, as all that belongs to none, in the first column with a dot. */
static bool begins_function(const char *line) { return *line == '.'; }

/* Blocks need not stand in the order in which they run, so the makers are looked for ahead of the
 * function's first line. */
static void find_makers(Makers *m, const char *function) {
  for (int c = 0; c < CLASSES; c++)
    if (m->size[c])
      memset(m->made[c], 0, m->size[c] * sizeof *m->made[c]);
  const char *at = function;
  do {
    size_t n = strcspn(at, "\n");
    if (*at == '\t')
      remember_line(m, at, n);
    at += n + (at[n] == '\n');
  } while (*at && !begins_function(at));
}

static Made made_of(const Makers *m, const char *s) {
  size_t number;
  int c = register_of(s, &number);
  return c >= 0 && number < m->size[c] ? m->made[c][number] : (Made){0};
}

/* made: a register that a selp writes, "\tselp.f32 \tR, A, B, P;". Can another selp by P choose
 * what is in it? Yes if nothing else writes it, and P is written in one place at most: that comes
 * before this selp on every way, so P is the one by which R was chosen. */
static bool can_be_chosen_again(const Makers *m, Made made) {
  const char *condition = strchr(made.line, ';');
  while (condition && condition > made.line && condition[-1] != ' ')
    condition--;
  return condition && made.times == 1 && made_of(m, condition).times <= 1;
}

/* "0f3F800000" as "0x3F800000", or as "0xBF800000" if negated; false: no such number. */
static bool put_bits(Buf *out, const char *s, bool negated) {
  static const char hex[] = "0123456789ABCDEF";
  const char *digit = s[0] == '0' && (s[1] == 'f' || s[1] == 'd') && s[2] ? strchr(hex, s[2])
                                                                          : NULL;
  if (!digit)
    return false;
  buf_puts(out, "0x");
  buf_putc(out, hex[(digit - hex) ^ (negated ? 8 : 0)]);
  buf_add(out, s + 3, operand_length(s) - 3);
  return true;
}

/* selp: "\tselp.f32 \tR, 0f…, 0f…, P;": the same of bits, into the register at to. False: other
 * operands, and out is as it was. */
static bool put_choice(Buf *out, const char *selp, const char *to, bool negated) {
  size_t before = out->len, op = strlen("\tselp.f32 \t");
  buf_puts(out, strncmp(selp, "\tselp.f64", 9) == 0 ? "\tselp.b64 \t" : "\tselp.b32 \t");
  buf_add(out, to, operand_length(to));
  const char *at = selp + op;
  for (int k = 0; k < 2; k++) {
    at += operand_length(at) + 2;
    buf_puts(out, ", ");
    if (!put_bits(out, at, negated)) {
      out->len = before;
      return false;
    }
  }
  at += operand_length(at);
  buf_add(out, at, strcspn(at, ";") + 1);
  return true;
}

/* line: a selp of floats. What follows it, or NULL: it stays. */
static const char *rewrite_choice(Buf *out, const char *line, size_t n) {
  bool fits = memmem(line, n, ", 0f80000000", 12) &&
              put_choice(out, line, line + strlen("\tselp.f32 \t"), false);
  return fits ? line + strcspn(line, ";") + 1 : NULL;
}

/* line: a negation that the rule would rewrite. What follows it, or NULL: it stays, since its
 * operand was made in another way. */
static const char *rewrite_negation(Buf *out, const Rule *rule, const char *line, const Makers *m) {
  const char *to = line + strlen(rule->op), *comma = to + operand_length(to);
  Made made = strncmp(comma, ", ", 2) == 0 ? made_of(m, comma + 2) : (Made){0};
  if (!made.line)
    return NULL;
  const char *end = comma + 2 + operand_length(comma + 2);
  bool chosen = *end == ';' && made.line[1] == 's' && can_be_chosen_again(m, made);
  return chosen && put_choice(out, made.line, to, true) ? end + 1 : rewrite(out, rule, line);
}

/* --- the pass --- */

/* Writes what stands for the line and returns what follows it; NULL: it stays. */
static const char *fix_line(Buf *out, const char *line, size_t n, bool floats, bool halves,
                            const Makers *makers) {
  for (int k = 0; k < RULES; k++)
    if (strncmp(line, rules[k].op, strlen(rules[k].op)) == 0) {
      if (rules[k].in == ALL || !makers)
        return rewrite(out, &rules[k], line);
      if (rules[k].in == UNOPTIMISED)
        return NULL;
      return rules[k].last ? NULL : rewrite_negation(out, &rules[k], line, makers);
    }
  if (strncmp(line, "\t{ // callseq", 13) == 0 || strncmp(line, "\t} // callseq", 13) == 0) {
    /* the number counts on while the target machine lives: equal kernels have equal text */
    buf_add(out, line, 2);
    return line + n;
  }
  if (strncmp(line, "\tselp.f32 \t", 11) == 0)
    return rewrite_choice(out, line, n);
  const char *source;
  const Store *store =
      floats && strncmp(line, "\tst.", 4) == 0 ? find_store(line, n, halves, &source) : NULL;
  if (!store)
    return NULL;
  rewrite_store(out, store, line, source);
  return source + operand_length(source) + 1;
}

const char *cg_ptx_fixup(Arena *arena, const char *ptx, size_t *size, bool optimised) {
  bool halves = strstr(ptx, "f16"); /* in 16-bit registers nothing else floats */
  bool floats = halves || strstr(ptx, ".f32") || strstr(ptx, ".f64");
  Buf out, line;
  buf_init(&out, arena);
  buf_init(&line, arena);
  Makers makers = {.arena = arena, .most = *size};
  bool negates = optimised && strstr(ptx, "\tneg.");
  const char *kept = ptx;
  for (const char *at = ptx; *at;) {
    size_t n = strcspn(at, "\n");
    line.len = 0;
    if (negates && begins_function(at))
      find_makers(&makers, at);
    const char *rest =
        *at == '\t' ? fix_line(&line, at, n, floats, halves, optimised ? &makers : NULL) : NULL;
    if (rest) {
      buf_add(&out, kept, (size_t)(at - kept));
      buf_add(&out, line.text, line.len);
      kept = rest;
    }
    at += n + (at[n] == '\n');
  }
  if (kept == ptx)
    return ptx;
  buf_puts(&out, kept);
  *size = out.len;
  return out.text;
}
