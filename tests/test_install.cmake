# SPDX-License-Identifier: BSD-3-Clause
# cmake -DBUILD=build -DSHARED=ON -DEXAMPLES=examples -DWORK=dir -DSETTINGS=...
#       -DC=cc -DCXX=c++ -DFORTRAN=f95 -DFLAGS=... -DGENERATOR=Ninja -DBUILD_PATHS=/a;/b
#       -P test_install.cmake
# Installs into an empty prefix, moves it elsewhere, and builds and runs the first programs of
# examples/ with nothing but what is there, each once through the CMake package and once through
# pkg-config: the library as it was built and, where that is shared, the static one too.
# FORTRAN is empty where there is no compiler whose OpenMP runtime is the library's.

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# name of the example, its CMake language, compiler, and pkg-config module
set(programs
    "solve_c/solve.c C ${C} batchlas"
    "solve_cpp/solve.cpp CXX ${CXX} batchlas")
if(FORTRAN)
    list(APPEND programs "solve_fortran/solve.f90 Fortran ${FORTRAN} batchlas-fortran")
endif()
find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
    message(STATUS "pkg-config is not here: its half of this test is passed over")
endif()
separate_arguments(flags UNIX_COMMAND "${FLAGS}")

function(try_program work prefix source language compiler module)
    get_filename_component(folder ${EXAMPLES}/${source} DIRECTORY)
    run(${CMAKE_COMMAND} -S ${folder} -B ${work}/${language} -G ${GENERATOR}
        -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_${language}_COMPILER=${compiler}
        -DCMAKE_${language}_FLAGS=${FLAGS})
    run(${CMAKE_COMMAND} --build ${work}/${language})
    run(${work}/${language}/solve)

    if(pkg_config)
        file(GLOB_RECURSE file ${prefix}/${module}.pc)
        get_filename_component(module_dir ${file} DIRECTORY)
        get_filename_component(library_dir ${module_dir} DIRECTORY)
        set(ENV{PKG_CONFIG_PATH} ${module_dir})
        execute_process(COMMAND ${pkg_config} --cflags --libs ${module}
            OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        separate_arguments(options UNIX_COMMAND "${options}")
        run(${compiler} ${flags} -fopenmp ${EXAMPLES}/${source} ${options} -lm
            -Wl,-rpath,${library_dir} -o ${work}/solve_${language})
        run(${work}/solve_${language})
    endif()
endfunction()

# Which files say a path of the machine that built them: those that are read say no absolute path,
# except where pkg-config shall look for NVIDIA's and LLVM's libraries.
function(expect_no_build_paths prefix)
    file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.pc ${prefix}/*.h ${prefix}/*.f90)
    foreach(text IN LISTS texts)
        file(STRINGS ${text} lines REGEX "(^|[^A-Za-z0-9_.})*]|-[LI])/[A-Za-z0-9_.]+/")
        list(FILTER lines EXCLUDE REGEX "^(omptarget|cuda)_libdir=")
        if(lines)
            message(FATAL_ERROR "${text} names an absolute path: ${lines}")
        endif()
    endforeach()
    foreach(path IN LISTS BUILD_PATHS)
        execute_process(COMMAND grep -rlF -e ${path} ${prefix} OUTPUT_VARIABLE files)
        if(files)
            message(FATAL_ERROR "these name ${path}:\n${files}")
        endif()
    endforeach()
endfunction()

function(try_build build work)
    run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
    # Somewhere else than it was installed to: nothing in it may name its own prefix.
    file(RENAME ${work}/prefix ${work}/moved)
    list(APPEND BUILD_PATHS ${work}/prefix)
    expect_no_build_paths(${work}/moved)
    foreach(program IN LISTS programs)
        string(REPLACE " " ";" program ${program})
        try_program(${work} ${work}/moved ${program})
    endforeach()
endfunction()

file(REMOVE_RECURSE ${WORK})
try_build(${BUILD} ${WORK}/built)
if(SHARED)
    # C++ links as C does. Only configured: the libraries are those that this build linked its tests with.
    run(${CMAKE_COMMAND} -S ${EXAMPLES}/.. -B ${WORK}/static_build -G ${GENERATOR} ${SETTINGS}
        -DBUILD_SHARED_LIBS=OFF -DBATCHLAS_TESTS=OFF -DBATCHLAS_EXAMPLES=OFF -DBATCHLAS_BENCH=OFF)
    file(GLOB libraries ${BUILD}/*.a)
    file(COPY ${libraries} DESTINATION ${WORK}/static_build)
    file(GLOB modules ${BUILD}/fortran/*.mod)
    file(COPY ${modules} DESTINATION ${WORK}/static_build/fortran)
    list(FILTER programs EXCLUDE REGEX " CXX ")
    try_build(${WORK}/static_build ${WORK}/static)
endif()
