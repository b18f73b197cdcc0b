# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: headers, library, CMake package and pkg-config module.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/batchlas)

install(TARGETS batchlas EXPORT batchlasTargets)
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
set(pc_libraries "-L\${libdir} -lbatchlas")
if(NOT BUILD_SHARED_LIBS)
    set(libraries -lm ${OpenMP_C_FLAGS})
    if(BATCHLAS_HAVE_LAPACK)
        install(FILES cmake/FindLAPACKE.cmake DESTINATION ${package_dir})
        get_target_property(lapack_libraries LAPACKE::LAPACKE INTERFACE_LINK_LIBRARIES)
        list(APPEND libraries ${lapack_libraries})
    endif()
    if(BATCHLAS_HAVE_GPU)
        list(APPEND libraries ${BATCHLAS_OFFLOAD_LINK_OPTIONS} -L${CUDAToolkit_LIBRARY_DIR})
        if(BATCHLAS_HAVE_VENDOR_CUDA)
            list(APPEND libraries -lcusolver -lcublas)
        endif()
        list(APPEND libraries -lcudart)
    endif()
    list(JOIN libraries " " libraries)
    string(APPEND pc_libraries " ${libraries}")
endif()
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_prefix ${pc_prefix})
configure_file(cmake/batchlas.pc.in ${PROJECT_BINARY_DIR}/batchlas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/batchlas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
