# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: headers, libraries, CMake package and pkg-config modules. Nothing of it names the
# folders it was built in: the package can be moved, and what the static library stands on is found
# where the program is built.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/batchlas)

set(installed batchlas)
if(BATCHLAS_HAVE_FORTRAN)
    list(APPEND installed batchlas_fortran)
    install(FILES ${PROJECT_BINARY_DIR}/fortran/batchlas.mod DESTINATION ${BATCHLAS_INSTALL_MODULEDIR})
endif()
install(TARGETS ${installed} EXPORT batchlasTargets)
install(DIRECTORY include/batchlas DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.f90")
install(EXPORT batchlasTargets NAMESPACE batchlas:: DESTINATION ${package_dir})

configure_package_config_file(cmake/batchlasConfig.cmake.in
    ${PROJECT_BINARY_DIR}/batchlasConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/batchlasConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES
    ${PROJECT_BINARY_DIR}/batchlasConfig.cmake
    ${PROJECT_BINARY_DIR}/batchlasConfigVersion.cmake
    DESTINATION ${package_dir})

# A program that links the static library links what that library stands on, too.
set(pc_variables "")
set(pc_libraries "-L\${libdir} -lbatchlas")
if(NOT BUILD_SHARED_LIBS)
    set(libraries "")
    if(BATCHLAS_HAVE_LAPACK)
        install(FILES cmake/FindLAPACKE.cmake DESTINATION ${package_dir})
        get_target_property(lapack_libraries LAPACKE::LAPACKE INTERFACE_LINK_LIBRARIES)
        foreach(library IN LISTS lapack_libraries)
            get_filename_component(library ${library} NAME_WE)
            string(REGEX REPLACE "^lib" "-l" library ${library})
            list(APPEND libraries ${library})
        endforeach()
    endif()
    if(BATCHLAS_HAVE_GPU)
        install(FILES cmake/FindOmptarget.cmake DESTINATION ${package_dir})
        # Both lie outside the linker's path, and elsewhere on another machine:
        # pkg-config --define-variable=cuda_libdir=...
        get_filename_component(omptarget_dir ${OMPTARGET_LIBRARY} DIRECTORY)
        string(APPEND pc_variables
            "omptarget_libdir=${omptarget_dir}\ncuda_libdir=${CUDAToolkit_LIBRARY_DIR}\n")
        foreach(variable cuda_libdir omptarget_libdir)
            list(APPEND libraries -L\${${variable}} -Wl,-rpath,\${${variable}})
        endforeach()
        if(BATCHLAS_HAVE_VENDOR_CUDA)
            list(APPEND libraries -lcusolver -lcublas)
        endif()
        list(APPEND libraries -lcudart -lomptarget -lomp)
    else()
        list(APPEND libraries ${OpenMP_C_FLAGS})
    endif()
    list(APPEND libraries -lm)
    list(JOIN libraries " " libraries)
    string(APPEND pc_libraries " ${libraries}")
endif()
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
foreach(module batchlas batchlas-fortran)
    if(module STREQUAL "batchlas" OR BATCHLAS_HAVE_FORTRAN)
        configure_file(cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    endif()
endforeach()
