# SPDX-License-Identifier: BSD-3-Clause
# cmake -DHEADER=batchlas.h -DMODULE=batchlas.f90 -DTEST=tests/fortran -P test_fortran_names.cmake
# The Fortran module has the functions and the constants of the public header, all of them with
# their values and nothing else, and its test calls every function.

# matches of expression in file, sorted, each once
function(names_in file expression variable)
    file(READ ${file} text)
    string(REGEX MATCHALL "${expression}" names "${text}")
    list(REMOVE_DUPLICATES names)
    list(SORT names)
    set(${variable} "${names}" PARENT_SCOPE)
endfunction()

function(expect_all needed there where)
    list(REMOVE_ITEM needed ${there})
    if(needed)
        message(FATAL_ERROR "missing in ${where}: ${needed}")
    endif()
endfunction()

names_in(${HEADER} "batchlas_[a-z0-9_]+\\(" functions)
list(TRANSFORM functions REPLACE "\\($" "")
names_in(${MODULE} "name=\"batchlas_[a-z0-9_]+\"" bound)
list(TRANSFORM bound REPLACE "name=\"(.*)\"" "\\1")
names_in(${TEST}/test_fortran.F90 "batchlas_[a-z0-9_]+" called)
names_in(${TEST}/operations_body.f90 "batchlas_[a-z0-9_]+" called_by_type)
list(APPEND called ${called_by_type})
list(LENGTH functions count)
if(count LESS 50)
    message(FATAL_ERROR "only ${count} functions were found in the header")
endif()
expect_all("${functions}" "${bound}" "the module")
expect_all("${bound}" "${functions}" "the header")
expect_all("${functions}" "${called}" "the module's test")

# Each procedure is bound to the C function of its own name.
names_in(${MODULE} "name=\"batchlas_[a-z0-9_]+\"\\), public ::[ &\n]+batchlas_[a-z0-9_]+" bindings)
foreach(binding IN LISTS bindings)
    if(NOT binding MATCHES "^name=\"(batchlas_[a-z0-9_]+)\"\\), public ::[ &\n]+(.*)$"
       OR NOT CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_2)
        message(FATAL_ERROR "bound to another function: ${binding}")
    endif()
endforeach()

foreach(file HEADER MODULE)
    names_in(${${file}} "BATCHLAS_[A-Z_]+ *=[ \n]*[0-9]+" ${file}_constants)
    list(TRANSFORM ${file}_constants REPLACE "[ \n]" "")
endforeach()
expect_all("${HEADER_constants}" "${MODULE_constants}" "the module")
expect_all("${MODULE_constants}" "${HEADER_constants}" "the header")
list(LENGTH HEADER_constants constants)
message(STATUS "${count} functions and ${constants} constants")
