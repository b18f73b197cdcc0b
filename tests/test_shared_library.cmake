# SPDX-License-Identifier: BSD-3-Clause
# cmake -DLIBRARY=libbatchlas.so -DPROGRAM=process -DNM=nm -DREADELF=readelf -DRELEASE=ON|OFF -P test_shared_library.cmake
# What the shared library is beside its functions: hardened, as a program of this build is, unable to
# load or run other code, never unloaded, and without writable state but what docs/reliability.md
# lists.

cmake_minimum_required(VERSION 3.25)

macro(run output)
    execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE ${output} COMMAND_ERROR_IS_FATAL ANY)
endmacro()

# ---- how binaries are linked ----------------------------------------------------------------------

foreach(binary ${LIBRARY} ${PROGRAM})
    run(header ${READELF} --file-header ${binary})
    run(dynamic ${READELF} --wide --dynamic ${binary})
    run(segments ${READELF} --wide --program-headers ${binary})
    if(NOT header MATCHES "Type: +DYN")
        message(SEND_ERROR "${binary} has a fixed address")
    endif()
    if(NOT dynamic MATCHES "FLAGS_1[^\n]* NOW" OR NOT segments MATCHES "GNU_RELRO")
        message(SEND_ERROR "${binary} is not linked with -z relro -z now")
    endif()
    if(NOT segments MATCHES "GNU_STACK[^\n]* RW " OR segments MATCHES "LOAD[^\n]* RWE ")
        message(SEND_ERROR "${binary} has memory that can be written and executed")
    endif()
endforeach()

run(dynamic ${READELF} --wide --dynamic ${LIBRARY})
if(NOT dynamic MATCHES "FLAGS_1[^\n]* NODELETE")
    message(SEND_ERROR "the library is not linked with -z nodelete")
endif()

# ---- what the library calls -----------------------------------------------------------------------

run(imports ${NM} -D --undefined-only --format=posix ${LIBRARY})
foreach(function dlopen dlmopen dlsym dlvsym system popen execv execve execvp fork vfork posix_spawn posix_spawnp)
    if(imports MATCHES "(^|\n)${function}(@[^ \n]*)? U")
        message(SEND_ERROR "the library calls ${function}, which loads or runs other code")
    endif()
endforeach()

if(RELEASE)
    foreach(function __stack_chk_fail __snprintf_chk __vsnprintf_chk)
        if(NOT imports MATCHES "(^|\n)${function}[@ ]")
            message(SEND_ERROR "no ${function}: the host side is compiled without its hardening")
        endif()
    endforeach()
endif()

# ---- what it writes -------------------------------------------------------------------------------

# Writable once the loader is done. The toolchains' own: OpenMP's and CUDA's registration, the
# processor's features, start-up code.
set(documented claims coverage create_error held once pointer_attributes spare_streams warnings)
set(toolchain "^(_|\\.omp_|\\.offload|completed|omp_offloading)|__device_stub__|FatCubin")
run(symbols ${NM} --defined-only --format=sysv ${LIBRARY})
string(REGEX MATCHALL "[^\n|]+\\|[^\n]*\\|\\.t?(bss|data)( [^\n]*)?\n" writable "${symbols}")
set(found "")
foreach(line IN LISTS writable)
    string(REGEX MATCH "^[^ |]+" name "${line}")
    string(REGEX REPLACE "^.*[a-z]\\.([a-z]+)$" "\\1" name "${name}") # function.variable, as clang names it
    string(REGEX REPLACE "^([a-z_]+)\\.[0-9]+$" "\\1" name "${name}") # variable.number, as gcc does
    if(NOT name MATCHES "${toolchain}" AND NOT name IN_LIST documented)
        message(SEND_ERROR "${name} is writable and not documented")
    endif()
    list(APPEND found ${name})
endforeach()
if(NOT "coverage" IN_LIST found)
    message(SEND_ERROR "not even the coverage was found among: ${found}")
endif()
