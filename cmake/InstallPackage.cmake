# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: headers, library, CMake package and pkg-config module.
include(CMakePackageConfigHelpers)

install(TARGETS batchlas EXPORT batchlasTargets)
install(DIRECTORY include/batchlas DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.f90")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/batchlas)
install(EXPORT batchlasTargets NAMESPACE batchlas:: DESTINATION ${package_dir})
