/* Typed SSA of the recorded functions against tests/cases/types/NAME.types: from every recorded
 * CPython version the same text.
 *
 * A golden holds sections: a line "== SIGNATURE" (flags before it: "== -g SIGNATURE", as
 * type_corpus takes them), then the text. PYPTX_UPDATE=1 rewrites them from 3.12. Where CPython's
 * own compiler differs, NAME.VERSION.types wins. tests/cases/types/more holds those of
 * tests/data/bytecode/typing.py. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/typed.h"

static int failures;

static char *read_file(const char *path) {
  FILE *f = fopen(path, "r");
  char *text = NULL;
  size_t n = 0;
  if (f && getdelim(&text, &n, 0, f) < 0) {
    free(text);
    text = strdup("");
  }
  if (f)
    fclose(f);
  return text;
}

/* One section: typed again, appended to out. Returns where the next one begins. */
static const char *section(const Corpus *c, const char *name, const char *at, FILE *out) {
  static const char letters[] = "cgdn";
  size_t n = strcspn(at, "\n");
  char *line = strndup(at, n), *s = line + 3;
  unsigned flags = 0;
  while (*s == '-' && s[1]) {
    const char *letter = strchr(letters, s[1]);
    flags |= letter ? 1u << (letter - letters) : 0;
    s += 3;
  }
  const FrozenFunc *f = corpus_func(c, name);
  char *text = f ? typed_text(f, s, flags) : strdup("no such function\n");
  size_t len = strlen(text);
  fprintf(out, "%s\n%s%s", line, text, len && text[len - 1] != '\n' ? "\n" : "");
  free(text);
  free(line);
  const char *next = strstr(at + n, "\n== ");
  return next ? next + 1 : NULL;
}

static char *type_again(const Corpus *c, const char *name, const char *golden) {
  char *text = NULL;
  size_t n;
  FILE *out = open_memstream(&text, &n);
  for (const char *at = golden; at && *at == '=';)
    at = section(c, name, at, out);
  fclose(out);
  return text;
}

static void first_difference(const char *path, const char *version, const char *want,
                             const char *got) {
  int line = 1;
  const char *w = want, *g = got;
  for (size_t k = 0; want[k] && want[k] == got[k]; k++)
    if (want[k] == '\n') {
      line++;
      w = want + k + 1;
      g = got + k + 1;
    }
  fprintf(stderr, "%s:%d from %s\n  want %.*s\n  got  %.*s\n", path, line, version,
          (int)strcspn(w, "\n"), w, (int)strcspn(g, "\n"), g);
  failures++;
}

static void check_file(const Corpus *c, const char *folder, const char *version, const char *name) {
  char path[512], special[512];
  snprintf(path, sizeof path, "%s/%s.types", folder, name);
  snprintf(special, sizeof special, "%s/%s.%s.types", folder, name, version);
  char *golden = read_file(special);
  const char *used = golden ? special : path;
  if (!golden)
    golden = read_file(path);
  if (!golden)
    return;
  char *got = type_again(c, name, golden);
  bool update = getenv("PYPTX_UPDATE") && (used == special || strstr(version, "3.12"));
  if (strcmp(golden, got) && update) {
    FILE *f = fopen(used, "w");
    if (f) {
      fputs(got, f);
      fclose(f);
    }
  } else if (strcmp(golden, got)) {
    first_difference(used, version, golden, got);
  }
  free(got);
  free(golden);
}

static uint32_t check_version(const char *version, const char *folder) {
  Corpus *c = corpus_open(version);
  DIR *d = opendir(folder);
  uint32_t n = 0;
  if (!c || !d) {
    fprintf(stderr, "%s\n", c ? "no goldens" : "no corpus");
    failures++;
  }
  for (struct dirent *e; c && d && (e = readdir(d));) {
    const char *dot = strchr(e->d_name, '.');
    if (!dot || strcmp(dot, ".types"))
      continue;
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)(dot - e->d_name), e->d_name);
    check_file(c, folder, version, name);
    n++;
  }
  if (d)
    closedir(d);
  corpus_close(c);
  return n;
}

int main(void) {
  for (int k = 1; k <= 5; k++) { /* 3.12 first: an update is compared with the others */
    const char *version = corpus_versions[k % 5];
    char typing[32];
    snprintf(typing, sizeof typing, "typing-%s", version);
    if (!check_version(version, "tests/cases/types") ||
        !check_version(typing, "tests/cases/types/more"))
      failures++;
  }
  if (failures)
    fprintf(stderr, "%d failed\n", failures);
  return failures != 0;
}
