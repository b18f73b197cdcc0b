# SPDX-License-Identifier: BSD-3-Clause
# cmake -DBUILD=build -DSOURCE=tests/consumer -DWORK=dir -DCOMPILER=cc -DFLAGS=... -DGENERATOR=Ninja
#       -P test_install.cmake
# Installs into an empty prefix, then builds and runs a program against it, once through the CMake
# package and once through pkg-config.

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
# Somewhere else than it was installed to: nothing in it may name its own prefix.
file(RENAME ${WORK}/prefix ${WORK}/moved)

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/cmake -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${WORK}/moved
    -DCMAKE_C_COMPILER=${COMPILER} -DCMAKE_C_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/cmake)
run(${WORK}/cmake/consumer)

find_program(pkg_config NAMES pkg-config pkgconf)
if(NOT pkg_config)
    message(STATUS "pkg-config is not here: its half of this test is passed over")
    return()
endif()
file(GLOB_RECURSE module ${WORK}/moved/batchlas.pc)
get_filename_component(module_dir ${module} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${module_dir})
execute_process(COMMAND ${pkg_config} --cflags --libs batchlas
    OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(options UNIX_COMMAND "${options}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
get_filename_component(library_dir ${module_dir} DIRECTORY)
run(${COMPILER} ${flags} -fopenmp ${SOURCE}/consumer.c ${options} -Wl,-rpath,${library_dir}
    -o ${WORK}/consumer)
run(${WORK}/consumer)
