# LLVM, linked in statically: the interface target `llvm`.
#
# Found through llvm-config, because that alone knows which archives a set of components needs. What
# it lists as system libraries (z3, xml2, ...) serves parts of LLVM that nothing here calls; only
# zlib and zstd are really referenced, and they too are linked from their archives, so that the
# module needs nothing but the C library.

# The major that wheels have, and all that the compiler knows (codegen/llvm/compat.h).
set(LLVM_MAJOR 22 CACHE STRING "Major version of LLVM: 22 or 23")
set_property(CACHE LLVM_MAJOR PROPERTY STRINGS 22 23)
set(LLVM_DIR "" CACHE PATH "Prefix of an LLVM ${LLVM_MAJOR} installation (bin/llvm-config below it)")

# Debian's prefix is looked at before PATH, which may lead to another major.
if(LLVM_DIR)
  find_program(LLVM_CONFIG NAMES llvm-config llvm-config-${LLVM_MAJOR}
               PATHS ${LLVM_DIR}/bin ${LLVM_DIR}/../../../bin NO_DEFAULT_PATH)
else()
  find_program(LLVM_CONFIG NAMES llvm-config-${LLVM_MAJOR} llvm-config
               PATHS /usr/lib/llvm-${LLVM_MAJOR}/bin NO_DEFAULT_PATH)
  find_program(LLVM_CONFIG NAMES llvm-config-${LLVM_MAJOR} llvm-config)
endif()
if(NOT LLVM_CONFIG)
  message(FATAL_ERROR "llvm-config of LLVM ${LLVM_MAJOR} not found: run scripts/setup, or pass -DLLVM_DIR=PREFIX")
endif()

function(llvm_config out)
  execute_process(COMMAND ${LLVM_CONFIG} --link-static ${ARGN}
                  OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(text UNIX_COMMAND "${text}")
  set(${out} ${text} PARENT_SCOPE)
endfunction()

llvm_config(LLVM_VERSION --version)
if(NOT LLVM_VERSION MATCHES "^${LLVM_MAJOR}\\." OR NOT LLVM_MAJOR MATCHES "^(22|23)$")
  message(FATAL_ERROR "${LLVM_CONFIG} is LLVM ${LLVM_VERSION}; pyptx is written for 22 and 23 (-DLLVM_MAJOR=23)")
endif()
message(STATUS "LLVM ${LLVM_VERSION}: ${LLVM_CONFIG}")

llvm_config(llvm_include --includedir)
llvm_config(llvm_archives --libfiles
            nvptx native passes orcjit linker bitreader bitwriter irreader core)

find_library(ZLIB_ARCHIVE libz.a REQUIRED)
find_library(ZSTD_ARCHIVE libzstd.a REQUIRED)

add_library(llvm INTERFACE)
target_include_directories(llvm SYSTEM INTERFACE ${llvm_include})
target_link_libraries(llvm INTERFACE
  ${llvm_archives} ${ZSTD_ARCHIVE} ${ZLIB_ARCHIVE} rt dl m pthread)
# LLVM is C++, so g++ drives the link; its library goes in statically as well.
target_link_options(llvm INTERFACE -static-libstdc++ -static-libgcc)
