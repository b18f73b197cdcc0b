# SPDX-License-Identifier: BSD-3-Clause
# cmake -DLIBRARY=libbatchlas.so -DNM=nm "-DPREPROCESS=cc;-E;..." -P test_exports.cmake
# The shared library exports the functions of the public header, all of them and nothing else.

execute_process(COMMAND ${PREPROCESS} OUTPUT_VARIABLE header COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "batchlas_[a-z0-9_]+ *\\(" declared "${header}")
list(TRANSFORM declared REPLACE " *\\($" "")
list(SORT declared)

execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE "([^ \n]+)[^\n]*\n" "\\1;" exported "${symbols}")
list(REMOVE_ITEM exported "")
list(SORT exported)

list(LENGTH declared count)
if(count LESS 50)
    message(FATAL_ERROR "only ${count} functions were found in the header")
endif()
set(missing ${declared})
list(REMOVE_ITEM missing ${exported})
set(unexpected ${exported})
list(REMOVE_ITEM unexpected ${declared})
if(missing OR unexpected)
    message(FATAL_ERROR "declared but not exported: ${missing}\nexported but not declared: ${unexpected}")
endif()
message(STATUS "${count} functions, declared and exported")
