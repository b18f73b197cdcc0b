# SPDX-License-Identifier: BSD-3-Clause
# The OpenMP runtime of LLVM with its part for devices: target Omptarget::Omptarget.
# clang knows where its own lies; find_package(Omptarget 19) asks that of LLVM 19.

set(compilers "")
foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_ID STREQUAL "Clang")
        list(APPEND compilers ${CMAKE_${language}_COMPILER})
    endif()
endforeach()
find_program(OMPTARGET_CLANG NAMES clang-${Omptarget_FIND_VERSION_MAJOR} clang)
if(OMPTARGET_CLANG)
    list(APPEND compilers ${OMPTARGET_CLANG})
endif()
set(folders "")
foreach(compiler IN LISTS compilers)
    execute_process(COMMAND ${compiler} -print-file-name=libomptarget.so
        OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(IS_ABSOLUTE "${library}")
        get_filename_component(folder ${library} ABSOLUTE)
        get_filename_component(folder ${folder} DIRECTORY)
        list(APPEND folders ${folder})
    endif()
endforeach()
find_library(OMPTARGET_LIBRARY omptarget HINTS ${folders})
find_library(OMPTARGET_HOST_LIBRARY omp HINTS ${folders})
mark_as_advanced(OMPTARGET_CLANG OMPTARGET_LIBRARY OMPTARGET_HOST_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Omptarget
    REQUIRED_VARS OMPTARGET_LIBRARY OMPTARGET_HOST_LIBRARY)

if(Omptarget_FOUND AND NOT TARGET Omptarget::Omptarget)
    add_library(Omptarget::Omptarget INTERFACE IMPORTED)
    target_link_libraries(Omptarget::Omptarget INTERFACE
        ${OMPTARGET_LIBRARY} ${OMPTARGET_HOST_LIBRARY})
endif()
