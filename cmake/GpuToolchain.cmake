# SPDX-License-Identifier: BSD-3-Clause
# What a GPU build needs: nvcc for the CUDA kernels, clang with its device runtime for the OpenMP
# target regions, and a CUDA assembler whose images the runtime of that LLVM can load.
#
# batchlas_find_gpu_toolchain() sets
#   BATCHLAS_HAVE_GPU                  1 or 0
#   BATCHLAS_OFFLOAD_COMPILE_OPTIONS   for files with target regions
#   BATCHLAS_OFFLOAD_LINK_OPTIONS      for what such objects are linked into
#   CMAKE_CUDA_COMPILER                unless the user did
# Where something is missing it stops with an error if BATCHLAS_GPU is ON, else it says so.

# Links a target region with the CUDA toolkit in cuda_path. The reason is empty if the runtime of
# this LLVM can load its image.
#
# CUDA 13 writes images of ELF ABI version 8, which keep the SM number in other bits of e_flags; an
# LLVM that does not know them finds no compatible image, and so no device. llvm-readelf and the
# runtime of one LLVM read e_flags alike: what readelf names, the runtime recognises.
function(batchlas_try_offload cuda_path runtime_dir options_variable reason_variable)
    list(TRANSFORM BATCHLAS_CUDA_ARCHITECTURES PREPEND sm_ OUTPUT_VARIABLE architectures)
    list(JOIN architectures "," offload_arch)
    set(options -fopenmp --offload-arch=${offload_arch} --cuda-path=${cuda_path}
        --libomptarget-nvptx-bc-path=${runtime_dir})
    set(${options_variable} ${options} PARENT_SCOPE)

    set(folder ${PROJECT_BINARY_DIR}/CMakeFiles/offload_probe)
    file(REMOVE_RECURSE ${folder})
    file(MAKE_DIRECTORY ${folder})
    execute_process(
        COMMAND ${CMAKE_C_COMPILER} ${options} -L${runtime_dir} -save-temps
                ${PROJECT_SOURCE_DIR}/cmake/offload_probe.c -o offload_probe
        WORKING_DIRECTORY ${folder}
        RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(failed)
        string(REGEX MATCH "[^\n]*error:[^\n]*" output "${output}")
        set(${reason_variable} "it does not build a target region: ${output}" PARENT_SCOPE)
        return()
    endif()

    get_filename_component(compiler "${CMAKE_C_COMPILER}" REALPATH)
    get_filename_component(bin "${compiler}" DIRECTORY)
    find_program(readelf llvm-readelf PATHS ${bin} NO_DEFAULT_PATH NO_CACHE)
    foreach(architecture IN LISTS architectures)
        file(GLOB image ${folder}/*.${architecture}.img)
        if(NOT image)
            set(${reason_variable} "it made no device image for ${architecture}" PARENT_SCOPE)
            return()
        endif()
        file(READ ${image} abi_version OFFSET 8 LIMIT 1 HEX)
        math(EXPR abi_version "0x${abi_version}")
        if(readelf)
            execute_process(COMMAND ${readelf} -h ${image} OUTPUT_VARIABLE header ERROR_QUIET)
            if(header MATCHES "Flags:[^\n]* ${architecture}")
                continue()
            endif()
        elseif(abi_version LESS 8)
            continue()
        endif()
        set(${reason_variable} "its device images have ELF ABI version ${abi_version}, which the \
runtime of LLVM ${CMAKE_C_COMPILER_VERSION} cannot load" PARENT_SCOPE)
        return()
    endforeach()
    set(${reason_variable} "" PARENT_SCOPE)
endfunction()

# Looks for the assembler in BATCHLAS_OFFLOAD_CUDA_PATH or, if that is empty, where it usually is.
function(batchlas_find_offload_cuda reason_variable)
    set(candidates ${BATCHLAS_OFFLOAD_CUDA_PATH})
    if(NOT candidates)
        file(GLOB versions /usr/local/cuda-*)
        list(SORT versions COMPARE NATURAL ORDER DESCENDING)
        foreach(folder ${PROJECT_SOURCE_DIR}/.toolchain/cuda ${versions} /usr/local/cuda
                /usr/lib/nvidia-cuda-toolkit /usr/lib/cuda /opt/cuda)
            if(EXISTS ${folder})
                list(APPEND candidates ${folder})
            endif()
        endforeach()
    endif()

    set(${reason_variable} "" PARENT_SCOPE)
    set(key "${CMAKE_C_COMPILER};${BATCHLAS_CUDA_ARCHITECTURES};${candidates}")
    if(key STREQUAL "${BATCHLAS_OFFLOAD_KEY}")
        return()
    endif()
    get_filename_component(runtime_dir ${OMPTARGET_LIBRARY} DIRECTORY)

    set(reason "")
    foreach(candidate IN LISTS candidates)
        batchlas_try_offload(${candidate} ${runtime_dir} options why)
        if(NOT why)
            message(STATUS "OpenMP device code is assembled by the CUDA toolkit in ${candidate}")
            set(BATCHLAS_OFFLOAD_KEY "${key}" CACHE INTERNAL "What the options below were found for")
            set(BATCHLAS_OFFLOAD_COMPILE_OPTIONS ${options} CACHE INTERNAL "")
            set(BATCHLAS_OFFLOAD_LINK_OPTIONS
                ${options} -L${runtime_dir} -Wl,-rpath,${runtime_dir} CACHE INTERNAL "")
            return()
        endif()
        string(APPEND reason "\n  ${candidate}: ${why}")
    endforeach()
    set(${reason_variable} "clang finds no CUDA toolkit that assembles OpenMP device code for it:\
${reason}
Run scripts/fetch-cuda-assembler, or set BATCHLAS_OFFLOAD_CUDA_PATH to a CUDA 12 or older toolkit \
(docs/building.md)." PARENT_SCOPE)
endfunction()

function(batchlas_find_gpu_toolchain)
    set(severity STATUS)
    set(reason "")
    if(NOT CMAKE_CUDA_COMPILER)
        find_program(BATCHLAS_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH /usr/local/cuda
            PATH_SUFFIXES bin)
        mark_as_advanced(BATCHLAS_NVCC)
        if(BATCHLAS_NVCC)
            set(CMAKE_CUDA_COMPILER ${BATCHLAS_NVCC} PARENT_SCOPE)
        else()
            set(reason "nvcc was not found; it compiles the CUDA kernels.")
        endif()
    endif()
    if(NOT reason AND (NOT CMAKE_C_COMPILER_ID STREQUAL "Clang"
                       OR CMAKE_C_COMPILER_VERSION VERSION_LESS 19))
        set(reason "it needs clang 19 or newer (-DCMAKE_C_COMPILER=clang-19), not \
${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}.")
    endif()
    if(NOT reason)
        set(severity WARNING)
        find_package(Omptarget)
        if(Omptarget_FOUND)
            batchlas_find_offload_cuda(reason)
        else()
            set(reason "${CMAKE_C_COMPILER} has no OpenMP offload runtime (Debian: libomp-19-dev).")
        endif()
    endif()

    if(NOT reason)
        set(BATCHLAS_HAVE_GPU 1 PARENT_SCOPE)
    elseif(BATCHLAS_GPU STREQUAL "AUTO")
        message(${severity} "Host-only build. A GPU build is not possible: ${reason}")
    else()
        message(FATAL_ERROR "BATCHLAS_GPU is ON, but a GPU build is not possible: ${reason}")
    endif()
endfunction()
