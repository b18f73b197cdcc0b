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

# What a program that links the static library links besides it.
set(private_libraries -lm ${OpenMP_C_FLAGS})
if(BATCHLAS_HAVE_LAPACK)
    get_target_property(libraries LAPACKE::LAPACKE INTERFACE_LINK_LIBRARIES)
    list(APPEND private_libraries ${libraries})
    if(NOT BUILD_SHARED_LIBS)
        install(FILES cmake/FindLAPACKE.cmake DESTINATION ${package_dir})
    endif()
endif()
if(BATCHLAS_HAVE_GPU)
    list(APPEND private_libraries ${BATCHLAS_OFFLOAD_LINK_OPTIONS} -L${CUDAToolkit_LIBRARY_DIR})
    if(BATCHLAS_HAVE_VENDOR_CUDA)
        list(APPEND private_libraries -lcusolver -lcublas)
    endif()
    list(APPEND private_libraries -lcudart)
endif()
# Without a shared library there is nothing but the static one: no need for pkg-config --static.
if(BUILD_SHARED_LIBS)
    set(pc_libraries "-L\${libdir} -lbatchlas")
    list(JOIN private_libraries " " pc_private_libraries)
else()
    list(JOIN private_libraries " " pc_libraries)
    set(pc_libraries "-L\${libdir} -lbatchlas ${pc_libraries}")
    set(pc_private_libraries "")
endif()
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/batchlas.pc.in ${PROJECT_BINARY_DIR}/batchlas.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/batchlas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
