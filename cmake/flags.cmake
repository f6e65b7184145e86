# Flags of every room, as two interface targets.
#
#   pyptx_flags    language, warnings, sections, visibility, sanitizers; what each room is compiled with
#   pyptx_include  the repository root, so that every include reads "room/file.h"

add_library(pyptx_include INTERFACE)
target_include_directories(pyptx_include INTERFACE ${PROJECT_SOURCE_DIR})

add_library(pyptx_flags INTERFACE)
target_link_libraries(pyptx_flags INTERFACE pyptx_include)
target_compile_options(pyptx_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes
  -ffunction-sections -fdata-sections
  $<$<BOOL:${WERROR}>:-Werror>)
# gcc's guess at variables that setjmp may lose is often wrong: seen, but not fatal.
if(CMAKE_C_COMPILER_ID STREQUAL GNU)
  target_compile_options(pyptx_flags INTERFACE -Wno-error=clobbered)
endif()
# The build id is part of the key of kernels on disk (codegen/store/cache_key.c).
target_link_options(pyptx_flags INTERFACE -Wl,--gc-sections -Wl,--build-id=sha1)
target_compile_definitions(pyptx_flags INTERFACE
  _GNU_SOURCE
  $<$<BOOL:${FUZZ}>:PYPTX_FUZZ=1>)

# Sanitizers go on everything, the extension module included, since a half-instrumented program
# reports overflows that are not there.
if(SANITIZE OR TSAN)
  if(SANITIZE AND TSAN)
    message(FATAL_ERROR "SANITIZE and TSAN exclude each other: a program has one of these sanitizers")
  endif()
  if(TSAN)
    set(sanitizers -fsanitize=thread)
  else()
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  endif()
  target_compile_options(pyptx_flags INTERFACE ${sanitizers} -fno-omit-frame-pointer)
  if(NOT FUZZ) # reports name lines with -g1; compiling takes three fifths of the time
    target_compile_options(pyptx_flags INTERFACE -O1 -g1)
  endif()
  target_link_options(pyptx_flags INTERFACE ${sanitizers})
endif()
if(FUZZ AND CMAKE_C_COMPILER_ID MATCHES Clang)
  target_compile_options(pyptx_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
