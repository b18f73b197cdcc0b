# SPDX-License-Identifier: BSD-3-Clause
# LAPACKE and CBLAS with the libraries behind them: target LAPACKE::LAPACKE.
# OpenBLAS comes first, because it brings all of it; then the reference libraries' names.

find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES lapacke openblas)
find_path(CBLAS_INCLUDE_DIR cblas.h PATH_SUFFIXES cblas openblas)
find_library(LAPACKE_LIBRARY NAMES lapacke openblas)
find_library(CBLAS_LIBRARY NAMES openblas cblas blas)
find_library(LAPACK_LIBRARY NAMES openblas lapack)
mark_as_advanced(LAPACKE_INCLUDE_DIR CBLAS_INCLUDE_DIR LAPACKE_LIBRARY CBLAS_LIBRARY LAPACK_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE
    REQUIRED_VARS LAPACKE_LIBRARY CBLAS_LIBRARY LAPACK_LIBRARY LAPACKE_INCLUDE_DIR CBLAS_INCLUDE_DIR)

if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
    set(libraries ${LAPACKE_LIBRARY} ${LAPACK_LIBRARY} ${CBLAS_LIBRARY})
    list(REMOVE_DUPLICATES libraries)
    set(directories ${LAPACKE_INCLUDE_DIR} ${CBLAS_INCLUDE_DIR})
    list(REMOVE_DUPLICATES directories)
    add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
    target_include_directories(LAPACKE::LAPACKE INTERFACE ${directories})
    target_link_libraries(LAPACKE::LAPACKE INTERFACE ${libraries})
endif()
