/* Replay: runs a fuzz target over files, without a fuzzer.
 *
 * In: files and folders (not searched deeper). Each file goes once through LLVMFuzzerTestOneInput; a fault
 * ends the program in the target itself. Out: 0, or 1 if nothing was found to run. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* True if path was a readable file, which then has been run. */
static int replay_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    if (f)
      fclose(f);
    return 0;
  }
  long size = ftell(f);
  rewind(f);
  /* Exactly the size of the input, so that a sanitizer sees a read past its end. */
  uint8_t *data = size >= 0 ? malloc(size > 0 ? (size_t)size : 1) : NULL;
  int whole = data && fread(data, 1, (size_t)size, f) == (size_t)size;
  fclose(f);
  if (whole) {
    printf("%s: %ld bytes\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
  }
  free(data);
  return whole;
}

static int replay(const char *path) {
  DIR *dir = opendir(path);
  if (!dir)
    return replay_file(path);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(dir));) {
    char name[4096];
    int n = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.' && n > 0 && (size_t)n < sizeof name)
      count += replay_file(name);
  }
  closedir(dir);
  return count;
}

int main(int argc, char **argv) {
  int count = 0;
  for (int i = 1; i < argc; i++)
    count += replay(argv[i]);
  printf("%d inputs\n", count);
  return count == 0;
}
