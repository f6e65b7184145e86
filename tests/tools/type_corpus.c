/* type_corpus: prints the typed SSA of a recorded function, or the error that typing gives.
 *
 * usage: type_corpus [-c|-g|-d|-n]… VERSION NAME SIGNATURE    -c checks, -g debug, -d a device function, -n Numba's typing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/support/typed.h"

int main(int argc, char **argv) {
  static const char letters[] = "cgdn";
  unsigned flags = 0;
  for (; argc > 1 && argv[1][0] == '-' && argv[1][1]; argv++, argc--) {
    const char *at = strchr(letters, argv[1][1]);
    flags |= at ? 1u << (at - letters) : 0;
  }
  Corpus *c = argc == 4 ? corpus_open(argv[1]) : NULL;
  const FrozenFunc *f = c ? corpus_func(c, argv[2]) : NULL;
  if (!f) {
    fprintf(stderr, "usage: type_corpus [-c|-g|-d|-n]... VERSION NAME SIGNATURE\n");
    return 2;
  }
  char *text = typed_text(f, argv[3], flags);
  fputs(text ? text : "no memory\n", stdout);
  free(text);
  corpus_close(c);
  return 0;
}
