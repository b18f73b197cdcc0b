# SPDX-License-Identifier: BSD-3-Clause
# cmake -DCOMPILER=cc -DINCLUDE=include -DOPENMP=-fopenmp -P test_header.cmake
# The public header compiles alone, as C11 and as C++17, with and without OpenMP, without a warning.

foreach(language "c;-std=c11" "c++;-std=c++17")
    foreach(openmp "" ${OPENMP})
        message(STATUS "${language} ${openmp}")
        execute_process(
            COMMAND ${COMPILER} -x ${language} ${openmp} -Wall -Wextra -Wpedantic -Werror
                    -fsyntax-only ${INCLUDE}/batchlas/batchlas.h
            COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
endforeach()
