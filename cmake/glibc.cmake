# The module for an older glibc than this system's: linked against stubs of that one.
#
# GLIBC_STUBS names a folder with libc.so.6, libm.so.6 … of the version that is meant, and links
# libm.so and so on to them (scripts/wheel makes it). Compiler, headers, libstdc++ and LLVM stay this
# system's; what they ask for and the older glibc lacks is in old_glibc.c. The newest version that
# is then named in the module is the stubs' or older: auditwheel checks it.
set(GLIBC_STUBS "" CACHE PATH "Folder with stubs of the glibc that the module is to run with")

if(GLIBC_STUBS)
  # Behind everything else on the command line: LLVM's archives ask for what these hold.
  set(CMAKE_CXX_STANDARD_LIBRARIES
      "-Wl,--start-group -l:libstdc++.a -l:libgcc_eh.a -l:libgcc.a -l:libc_nonshared.a -Wl,--end-group \
-Wl,--as-needed -lm -lpthread -ldl -lrt -lc -l:libld.so.2")
endif()

function(link_against_glibc_stubs target)
  if(NOT GLIBC_STUBS)
    return()
  endif()
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/old_glibc.c)
  target_link_directories(${target} BEFORE PRIVATE ${GLIBC_STUBS})
  target_link_options(${target} PRIVATE -nodefaultlibs)
endfunction()
