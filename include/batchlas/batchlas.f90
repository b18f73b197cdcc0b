! SPDX-License-Identifier: BSD-3-Clause
!
! batchlas in Fortran: every function of batchlas/batchlas.h, which is the reference for what they
! do, and generic names for arrays.
!
! - A name with its type letter, batchlas_dpotrf, is the C function itself. Operands and info are
!   addresses, type(c_ptr): what use_device_ptr or omp_target_alloc gave, or c_loc() of an array,
!   or c_null_ptr.
! - A name without it, batchlas_potrf, takes arrays of any of the four types and of any rank, or a
!   first element, A(1, 1, i). Inside use_device_addr() an array is its copy on the device. info
!   may be left out; the arguments after it then have names. A section that is not contiguous is
!   passed as a null pointer, which is refused: nothing is ever copied.
!
! In nowait mode give the arrays of the generic names the attributes target and asynchronous.
module batchlas
    use, intrinsic :: iso_c_binding, only: &
        c_char, c_double, c_double_complex, c_f_pointer, c_float, c_float_complex, c_int, &
        c_int64_t, c_intptr_t, c_loc, c_null_ptr, c_ptr, c_size_t
    implicit none
    private

    ! ---- types and constants ---------------------------------------------------------------------

    ! Passed by value, as the pointer that it is in C. Not created: null.
    type, bind(C), public :: batchlas_handle_t
        private
        type(c_ptr) :: address = c_null_ptr
    end type

    enum, bind(C) ! batchlas_status_t
        enumerator :: BATCHLAS_SUCCESS = 0
        enumerator :: BATCHLAS_INVALID_ARGUMENT = 1
        enumerator :: BATCHLAS_ROUTE_UNAVAILABLE = 2
        enumerator :: BATCHLAS_OUT_OF_MEMORY = 3
        enumerator :: BATCHLAS_DEVICE_ERROR = 4
        enumerator :: BATCHLAS_NOT_SUPPORTED = 5
    end enum
    public :: BATCHLAS_SUCCESS, BATCHLAS_INVALID_ARGUMENT, BATCHLAS_ROUTE_UNAVAILABLE, &
              BATCHLAS_OUT_OF_MEMORY, BATCHLAS_DEVICE_ERROR, BATCHLAS_NOT_SUPPORTED

    enum, bind(C) ! batchlas_uplo_t
        enumerator :: BATCHLAS_LOWER = 0, BATCHLAS_UPPER = 1
    end enum
    enum, bind(C) ! batchlas_side_t
        enumerator :: BATCHLAS_LEFT = 0, BATCHLAS_RIGHT = 1
    end enum
    enum, bind(C) ! batchlas_op_t
        enumerator :: BATCHLAS_NO_TRANS = 0, BATCHLAS_TRANS = 1, BATCHLAS_CONJ_TRANS = 2
    end enum
    enum, bind(C) ! batchlas_diag_t
        enumerator :: BATCHLAS_NON_UNIT = 0, BATCHLAS_UNIT = 1
    end enum
    public :: BATCHLAS_LOWER, BATCHLAS_UPPER, BATCHLAS_LEFT, BATCHLAS_RIGHT, &
              BATCHLAS_NO_TRANS, BATCHLAS_TRANS, BATCHLAS_CONJ_TRANS, &
              BATCHLAS_NON_UNIT, BATCHLAS_UNIT

    ! ---- library and handles ---------------------------------------------------------------------

    public :: batchlas_version, batchlas_status_string, batchlas_last_error, &
              batchlas_create, batchlas_create_from_interop, batchlas_create_from_stream, &
              batchlas_destroy, batchlas_set_nowait, batchlas_wait, batchlas_fulfill_event, &
              batchlas_set_workspace, batchlas_set_unified_memory

    interface
        subroutine batchlas_version(major, minor, patch) bind(C, name="batchlas_version")
            import :: c_int
            integer(c_int), intent(out) :: major, minor, patch
        end subroutine

        function c_status_string(status) bind(C, name="batchlas_status_string") result(string)
            import :: c_int, c_ptr
            integer(c_int), value :: status
            type(c_ptr) :: string
        end function

        function c_last_error(h) bind(C, name="batchlas_last_error") result(string)
            import :: batchlas_handle_t, c_ptr
            type(batchlas_handle_t), value :: h
            type(c_ptr) :: string
        end function

        function batchlas_create(h, device_num) &
            bind(C, name="batchlas_create") result(status)
            import :: batchlas_handle_t, c_int
            type(batchlas_handle_t), intent(out) :: h
            integer(c_int), value :: device_num
            integer(c_int) :: status
        end function

        ! obj is of OpenMP's kind omp_interop_kind. Not in a library built without OpenMP 5.1.
        function batchlas_create_from_interop(h, obj) &
            bind(C, name="batchlas_create_from_interop") result(status)
            import :: batchlas_handle_t, c_int, c_intptr_t
            type(batchlas_handle_t), intent(out) :: h
            integer(c_intptr_t), value :: obj
            integer(c_int) :: status
        end function

        function batchlas_create_from_stream(h, device_num, cuda_stream) &
            bind(C, name="batchlas_create_from_stream") result(status)
            import :: batchlas_handle_t, c_int, c_ptr
            type(batchlas_handle_t), intent(out) :: h
            integer(c_int), value :: device_num
            type(c_ptr), value :: cuda_stream
            integer(c_int) :: status
        end function

        function batchlas_destroy(h) bind(C, name="batchlas_destroy") result(status)
            import :: batchlas_handle_t, c_int
            type(batchlas_handle_t), value :: h
            integer(c_int) :: status
        end function

        function batchlas_set_nowait(h, nowait) bind(C, name="batchlas_set_nowait") result(status)
            import :: batchlas_handle_t, c_int
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: nowait
            integer(c_int) :: status
        end function

        function batchlas_wait(h) bind(C, name="batchlas_wait") result(status)
            import :: batchlas_handle_t, c_int
            type(batchlas_handle_t), value :: h
            integer(c_int) :: status
        end function

        ! ev is of OpenMP's kind omp_event_handle_kind. Not in a library built without such events.
        function batchlas_fulfill_event(h, ev) &
            bind(C, name="batchlas_fulfill_event") result(status)
            import :: batchlas_handle_t, c_int, c_intptr_t
            type(batchlas_handle_t), value :: h
            integer(c_intptr_t), value :: ev
            integer(c_int) :: status
        end function

        function batchlas_set_workspace(h, device_ptr, bytes) &
            bind(C, name="batchlas_set_workspace") result(status)
            import :: batchlas_handle_t, c_int, c_ptr, c_size_t
            type(batchlas_handle_t), value :: h
            type(c_ptr), value :: device_ptr
            integer(c_size_t), value :: bytes
            integer(c_int) :: status
        end function

        function batchlas_set_unified_memory(h, allow) &
            bind(C, name="batchlas_set_unified_memory") result(status)
            import :: batchlas_handle_t, c_int
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: allow
            integer(c_int) :: status
        end function
    end interface

    ! ---- Cholesky factorisation: A = L L^H or U^H U ----------------------------------------------

    abstract interface
        function potrf(h, uplo, n, A, lda, stride_a, info, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, lda
            type(c_ptr), value :: A, info
            integer(c_int64_t), value :: stride_a, batch
            integer(c_int) :: status
        end function

        function potrf_array(h, uplo, n, A, lda, info, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, lda
            type(c_ptr), value :: A, info
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function potrf_buffer_size(h, uplo, n, batch, bytes) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_size_t
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n
            integer(c_int64_t), value :: batch
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
        end function

        function potrf_logdet(h, uplo, n, A, lda, stride_a, logdet, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, lda
            type(c_ptr), value :: A, logdet
            integer(c_int64_t), value :: stride_a, batch
            integer(c_int) :: status
        end function
    end interface

    procedure(potrf), bind(C, name="batchlas_spotrf"), public :: batchlas_spotrf
    procedure(potrf), bind(C, name="batchlas_dpotrf"), public :: batchlas_dpotrf
    procedure(potrf), bind(C, name="batchlas_cpotrf"), public :: batchlas_cpotrf
    procedure(potrf), bind(C, name="batchlas_zpotrf"), public :: batchlas_zpotrf

    procedure(potrf_array), bind(C, name="batchlas_spotrf_array"), public :: batchlas_spotrf_array
    procedure(potrf_array), bind(C, name="batchlas_dpotrf_array"), public :: batchlas_dpotrf_array
    procedure(potrf_array), bind(C, name="batchlas_cpotrf_array"), public :: batchlas_cpotrf_array
    procedure(potrf_array), bind(C, name="batchlas_zpotrf_array"), public :: batchlas_zpotrf_array

    procedure(potrf_buffer_size), bind(C, name="batchlas_spotrf_buffer_size"), public :: &
        batchlas_spotrf_buffer_size
    procedure(potrf_buffer_size), bind(C, name="batchlas_dpotrf_buffer_size"), public :: &
        batchlas_dpotrf_buffer_size
    procedure(potrf_buffer_size), bind(C, name="batchlas_cpotrf_buffer_size"), public :: &
        batchlas_cpotrf_buffer_size
    procedure(potrf_buffer_size), bind(C, name="batchlas_zpotrf_buffer_size"), public :: &
        batchlas_zpotrf_buffer_size

    procedure(potrf_logdet), bind(C, name="batchlas_spotrf_logdet"), public :: &
        batchlas_spotrf_logdet
    procedure(potrf_logdet), bind(C, name="batchlas_dpotrf_logdet"), public :: &
        batchlas_dpotrf_logdet
    procedure(potrf_logdet), bind(C, name="batchlas_cpotrf_logdet"), public :: &
        batchlas_cpotrf_logdet
    procedure(potrf_logdet), bind(C, name="batchlas_zpotrf_logdet"), public :: &
        batchlas_zpotrf_logdet

    interface batchlas_potrf
        procedure spotrf, dpotrf, cpotrf, zpotrf
    end interface
    interface batchlas_potrf_logdet
        procedure spotrf_logdet, dpotrf_logdet, cpotrf_logdet, zpotrf_logdet
    end interface
    public :: batchlas_potrf, batchlas_potrf_logdet

    ! ---- solves: B := A^-1 B ---------------------------------------------------------------------

    abstract interface
        function potrs(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, nrhs, lda, ldb
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function potrs_array(h, uplo, n, nrhs, A, lda, B, ldb, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, nrhs, lda, ldb
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function posv(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, info, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, nrhs, lda, ldb
            type(c_ptr), value :: A, B, info
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function posv_array(h, uplo, n, nrhs, A, lda, B, ldb, info, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, nrhs, lda, ldb
            type(c_ptr), value :: A, B, info
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        ! of potrs and of posv
        function solve_buffer_size(h, uplo, n, nrhs, batch, bytes) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_size_t
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, n, nrhs
            integer(c_int64_t), value :: batch
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
        end function
    end interface

    procedure(potrs), bind(C, name="batchlas_spotrs"), public :: batchlas_spotrs
    procedure(potrs), bind(C, name="batchlas_dpotrs"), public :: batchlas_dpotrs
    procedure(potrs), bind(C, name="batchlas_cpotrs"), public :: batchlas_cpotrs
    procedure(potrs), bind(C, name="batchlas_zpotrs"), public :: batchlas_zpotrs

    procedure(potrs_array), bind(C, name="batchlas_spotrs_array"), public :: batchlas_spotrs_array
    procedure(potrs_array), bind(C, name="batchlas_dpotrs_array"), public :: batchlas_dpotrs_array
    procedure(potrs_array), bind(C, name="batchlas_cpotrs_array"), public :: batchlas_cpotrs_array
    procedure(potrs_array), bind(C, name="batchlas_zpotrs_array"), public :: batchlas_zpotrs_array

    procedure(solve_buffer_size), bind(C, name="batchlas_spotrs_buffer_size"), public :: &
        batchlas_spotrs_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_dpotrs_buffer_size"), public :: &
        batchlas_dpotrs_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_cpotrs_buffer_size"), public :: &
        batchlas_cpotrs_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_zpotrs_buffer_size"), public :: &
        batchlas_zpotrs_buffer_size

    procedure(posv), bind(C, name="batchlas_sposv"), public :: batchlas_sposv
    procedure(posv), bind(C, name="batchlas_dposv"), public :: batchlas_dposv
    procedure(posv), bind(C, name="batchlas_cposv"), public :: batchlas_cposv
    procedure(posv), bind(C, name="batchlas_zposv"), public :: batchlas_zposv

    procedure(posv_array), bind(C, name="batchlas_sposv_array"), public :: batchlas_sposv_array
    procedure(posv_array), bind(C, name="batchlas_dposv_array"), public :: batchlas_dposv_array
    procedure(posv_array), bind(C, name="batchlas_cposv_array"), public :: batchlas_cposv_array
    procedure(posv_array), bind(C, name="batchlas_zposv_array"), public :: batchlas_zposv_array

    procedure(solve_buffer_size), bind(C, name="batchlas_sposv_buffer_size"), public :: &
        batchlas_sposv_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_dposv_buffer_size"), public :: &
        batchlas_dposv_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_cposv_buffer_size"), public :: &
        batchlas_cposv_buffer_size
    procedure(solve_buffer_size), bind(C, name="batchlas_zposv_buffer_size"), public :: &
        batchlas_zposv_buffer_size

    interface batchlas_potrs
        procedure spotrs, dpotrs, cpotrs, zpotrs
    end interface
    interface batchlas_posv
        procedure sposv, dposv, cposv, zposv
    end interface
    public :: batchlas_potrs, batchlas_posv

    ! ---- triangular solves: op(A) X = alpha B or X op(A) = alpha B, B := X -----------------------

    abstract interface
        function trsm_s(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, &
                        B, ldb, stride_b, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_float, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            real(c_float), value :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function trsm_d(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, &
                        B, ldb, stride_b, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_double, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            real(c_double), value :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function trsm_c(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, &
                        B, ldb, stride_b, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_float_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            complex(c_float_complex), intent(in) :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function trsm_z(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, &
                        B, ldb, stride_b, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_double_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            complex(c_double_complex), intent(in) :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: stride_a, stride_b, batch
            integer(c_int) :: status
        end function

        function trsm_array_s(h, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_float, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            real(c_float), value :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function trsm_array_d(h, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_double, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            real(c_double), value :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function trsm_array_c(h, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_float_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            complex(c_float_complex), intent(in) :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function trsm_array_z(h, side, uplo, trans, diag, m, n, alpha, A, lda, B, ldb, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_double_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n, lda, ldb
            complex(c_double_complex), intent(in) :: alpha
            type(c_ptr), value :: A, B
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function trsm_buffer_size(h, side, uplo, trans, diag, m, n, batch, bytes) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_size_t
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: side, uplo, trans, diag, m, n
            integer(c_int64_t), value :: batch
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
        end function
    end interface

    procedure(trsm_s), bind(C, name="batchlas_strsm"), public :: batchlas_strsm
    procedure(trsm_d), bind(C, name="batchlas_dtrsm"), public :: batchlas_dtrsm
    procedure(trsm_c), bind(C, name="batchlas_ctrsm"), public :: batchlas_ctrsm
    procedure(trsm_z), bind(C, name="batchlas_ztrsm"), public :: batchlas_ztrsm

    procedure(trsm_array_s), bind(C, name="batchlas_strsm_array"), public :: batchlas_strsm_array
    procedure(trsm_array_d), bind(C, name="batchlas_dtrsm_array"), public :: batchlas_dtrsm_array
    procedure(trsm_array_c), bind(C, name="batchlas_ctrsm_array"), public :: batchlas_ctrsm_array
    procedure(trsm_array_z), bind(C, name="batchlas_ztrsm_array"), public :: batchlas_ztrsm_array

    procedure(trsm_buffer_size), bind(C, name="batchlas_strsm_buffer_size"), public :: &
        batchlas_strsm_buffer_size
    procedure(trsm_buffer_size), bind(C, name="batchlas_dtrsm_buffer_size"), public :: &
        batchlas_dtrsm_buffer_size
    procedure(trsm_buffer_size), bind(C, name="batchlas_ctrsm_buffer_size"), public :: &
        batchlas_ctrsm_buffer_size
    procedure(trsm_buffer_size), bind(C, name="batchlas_ztrsm_buffer_size"), public :: &
        batchlas_ztrsm_buffer_size

    interface batchlas_trsm
        procedure strsm, dtrsm, ctrsm, ztrsm
    end interface
    public :: batchlas_trsm

    ! ---- products: C := alpha op(A) op(B) + beta C -----------------------------------------------

    abstract interface
        function gemm_s(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, &
                        beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_float, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            real(c_float), value :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch
            integer(c_int) :: status
        end function

        function gemm_d(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, &
                        beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_double, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            real(c_double), value :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch
            integer(c_int) :: status
        end function

        function gemm_c(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, &
                        beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_float_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            complex(c_float_complex), intent(in) :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch
            integer(c_int) :: status
        end function

        function gemm_z(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, &
                        beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_double_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            complex(c_double_complex), intent(in) :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: stride_a, stride_b, stride_c, batch
            integer(c_int) :: status
        end function

        function gemm_array_s(h, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_float, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            real(c_float), value :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function gemm_array_d(h, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_double, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            real(c_double), value :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function gemm_array_c(h, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_float_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            complex(c_float_complex), intent(in) :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function gemm_array_z(h, opa, opb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, batch) &
            bind(C) result(status)
            import :: batchlas_handle_t, c_double_complex, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k, lda, ldb, ldc
            complex(c_double_complex), intent(in) :: alpha, beta
            type(c_ptr), value :: A, B, C
            integer(c_int64_t), value :: batch
            integer(c_int) :: status
        end function

        function gemm_buffer_size(h, opa, opb, m, n, k, batch, bytes) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_size_t
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: opa, opb, m, n, k
            integer(c_int64_t), value :: batch
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
        end function
    end interface

    procedure(gemm_s), bind(C, name="batchlas_sgemm"), public :: batchlas_sgemm
    procedure(gemm_d), bind(C, name="batchlas_dgemm"), public :: batchlas_dgemm
    procedure(gemm_c), bind(C, name="batchlas_cgemm"), public :: batchlas_cgemm
    procedure(gemm_z), bind(C, name="batchlas_zgemm"), public :: batchlas_zgemm

    procedure(gemm_array_s), bind(C, name="batchlas_sgemm_array"), public :: batchlas_sgemm_array
    procedure(gemm_array_d), bind(C, name="batchlas_dgemm_array"), public :: batchlas_dgemm_array
    procedure(gemm_array_c), bind(C, name="batchlas_cgemm_array"), public :: batchlas_cgemm_array
    procedure(gemm_array_z), bind(C, name="batchlas_zgemm_array"), public :: batchlas_zgemm_array

    procedure(gemm_buffer_size), bind(C, name="batchlas_sgemm_buffer_size"), public :: &
        batchlas_sgemm_buffer_size
    procedure(gemm_buffer_size), bind(C, name="batchlas_dgemm_buffer_size"), public :: &
        batchlas_dgemm_buffer_size
    procedure(gemm_buffer_size), bind(C, name="batchlas_cgemm_buffer_size"), public :: &
        batchlas_cgemm_buffer_size
    procedure(gemm_buffer_size), bind(C, name="batchlas_zgemm_buffer_size"), public :: &
        batchlas_zgemm_buffer_size

    interface batchlas_gemm
        procedure sgemm, dgemm, cgemm, zgemm
    end interface
    public :: batchlas_gemm

    ! ---- rank-k updates: C := alpha A A^H + beta C or alpha A^H A + beta C -----------------------

    ! syrk of a real type has the interface of herk of the complex type of its precision.
    abstract interface
        function rank_k_single(h, uplo, trans, n, k, alpha, A, lda, stride_a, &
                               beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_float, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, trans, n, k, lda, ldc
            real(c_float), value :: alpha, beta
            type(c_ptr), value :: A, C
            integer(c_int64_t), value :: stride_a, stride_c, batch
            integer(c_int) :: status
        end function

        function rank_k_double(h, uplo, trans, n, k, alpha, A, lda, stride_a, &
                               beta, C, ldc, stride_c, batch) bind(C) result(status)
            import :: batchlas_handle_t, c_double, c_int, c_int64_t, c_ptr
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, trans, n, k, lda, ldc
            real(c_double), value :: alpha, beta
            type(c_ptr), value :: A, C
            integer(c_int64_t), value :: stride_a, stride_c, batch
            integer(c_int) :: status
        end function

        function rank_k_buffer_size(h, uplo, trans, n, k, batch, bytes) bind(C) result(status)
            import :: batchlas_handle_t, c_int, c_int64_t, c_size_t
            type(batchlas_handle_t), value :: h
            integer(c_int), value :: uplo, trans, n, k
            integer(c_int64_t), value :: batch
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
        end function
    end interface

    procedure(rank_k_single), bind(C, name="batchlas_ssyrk"), public :: batchlas_ssyrk
    procedure(rank_k_double), bind(C, name="batchlas_dsyrk"), public :: batchlas_dsyrk
    procedure(rank_k_single), bind(C, name="batchlas_cherk"), public :: batchlas_cherk
    procedure(rank_k_double), bind(C, name="batchlas_zherk"), public :: batchlas_zherk

    procedure(rank_k_buffer_size), bind(C, name="batchlas_ssyrk_buffer_size"), public :: &
        batchlas_ssyrk_buffer_size
    procedure(rank_k_buffer_size), bind(C, name="batchlas_dsyrk_buffer_size"), public :: &
        batchlas_dsyrk_buffer_size
    procedure(rank_k_buffer_size), bind(C, name="batchlas_cherk_buffer_size"), public :: &
        batchlas_cherk_buffer_size
    procedure(rank_k_buffer_size), bind(C, name="batchlas_zherk_buffer_size"), public :: &
        batchlas_zherk_buffer_size

    interface batchlas_syrk
        procedure ssyrk, dsyrk
    end interface
    interface batchlas_herk
        procedure cherk, zherk
    end interface
    public :: batchlas_syrk, batchlas_herk

contains

    ! ---- strings ---------------------------------------------------------------------------------

    ! The status's name and meaning.
    function batchlas_status_string(status) result(string)
        integer(c_int), intent(in) :: status
        character(kind=c_char, len=:), allocatable :: string
        string = from_c(c_status_string(status))
    end function

    ! One sentence on the last call that used h, empty if it succeeded. Without h: on this thread's
    ! last failed create.
    function batchlas_last_error(h) result(string)
        type(batchlas_handle_t), intent(in), optional :: h
        character(kind=c_char, len=:), allocatable :: string
        if (present(h)) then
            string = from_c(c_last_error(h))
        else
            string = from_c(c_last_error(batchlas_handle_t()))
        end if
    end function

    function from_c(pointer) result(string)
        type(c_ptr), intent(in) :: pointer
        character(kind=c_char, len=:), allocatable :: string
        interface
            pure function strlen(string) bind(C, name="strlen") result(length)
                import :: c_ptr, c_size_t
                type(c_ptr), value :: string
                integer(c_size_t) :: length
            end function
        end interface
        block
            character(kind=c_char, len=strlen(pointer)), pointer :: text
            call c_f_pointer(pointer, text)
            string = text
        end block
    end function

    ! ---- arrays ----------------------------------------------------------------------------------

    ! Where an array begins; null for one that is absent or does not lie in one piece.
    function address(array)
        type(*), intent(in), target, optional :: array(..)
        type(c_ptr) :: address
        address = c_null_ptr
        if (present(array)) then
            if (is_contiguous(array)) address = c_loc(array)
        end if
    end function

    function spotrf(h, uplo, n, A, lda, stride_a, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        real(c_float), intent(inout), target :: A(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_spotrf(h, uplo, n, address(A), lda, stride_a, address(info), batch)
    end function

    function dpotrf(h, uplo, n, A, lda, stride_a, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        real(c_double), intent(inout), target :: A(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_dpotrf(h, uplo, n, address(A), lda, stride_a, address(info), batch)
    end function

    function cpotrf(h, uplo, n, A, lda, stride_a, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        complex(c_float_complex), intent(inout), target :: A(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_cpotrf(h, uplo, n, address(A), lda, stride_a, address(info), batch)
    end function

    function zpotrf(h, uplo, n, A, lda, stride_a, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        complex(c_double_complex), intent(inout), target :: A(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_zpotrf(h, uplo, n, address(A), lda, stride_a, address(info), batch)
    end function

    function spotrf_logdet(h, uplo, n, A, lda, stride_a, logdet, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        real(c_float), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: logdet(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_spotrf_logdet(h, uplo, n, address(A), lda, stride_a, address(logdet), &
                                        batch)
    end function

    function dpotrf_logdet(h, uplo, n, A, lda, stride_a, logdet, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        real(c_double), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: logdet(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_dpotrf_logdet(h, uplo, n, address(A), lda, stride_a, address(logdet), &
                                        batch)
    end function

    function cpotrf_logdet(h, uplo, n, A, lda, stride_a, logdet, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        complex(c_float_complex), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: logdet(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_cpotrf_logdet(h, uplo, n, address(A), lda, stride_a, address(logdet), &
                                        batch)
    end function

    function zpotrf_logdet(h, uplo, n, A, lda, stride_a, logdet, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, lda
        complex(c_double_complex), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: logdet(..)
        integer(c_int64_t), intent(in) :: stride_a, batch
        integer(c_int) :: status
        status = batchlas_zpotrf_logdet(h, uplo, n, address(A), lda, stride_a, address(logdet), &
                                        batch)
    end function

    function spotrs(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        real(c_float), intent(in), target :: A(..)
        real(c_float), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_spotrs(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                 stride_b, batch)
    end function

    function dpotrs(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        real(c_double), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_dpotrs(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                 stride_b, batch)
    end function

    function cpotrs(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        complex(c_float_complex), intent(in), target :: A(..)
        complex(c_float_complex), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_cpotrs(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                 stride_b, batch)
    end function

    function zpotrs(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        complex(c_double_complex), intent(in), target :: A(..)
        complex(c_double_complex), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_zpotrs(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                 stride_b, batch)
    end function

    function sposv(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        real(c_float), intent(inout), target :: A(..), B(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_sposv(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                stride_b, address(info), batch)
    end function

    function dposv(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        real(c_double), intent(inout), target :: A(..), B(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_dposv(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                stride_b, address(info), batch)
    end function

    function cposv(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        complex(c_float_complex), intent(inout), target :: A(..), B(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_cposv(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                stride_b, address(info), batch)
    end function

    function zposv(h, uplo, n, nrhs, A, lda, stride_a, B, ldb, stride_b, info, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, n, nrhs, lda, ldb
        complex(c_double_complex), intent(inout), target :: A(..), B(..)
        integer(c_int), intent(inout), target, optional :: info(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_zposv(h, uplo, n, nrhs, address(A), lda, stride_a, address(B), ldb, &
                                stride_b, address(info), batch)
    end function

    function strsm(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, B, ldb, stride_b, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: side, uplo, trans, diag, m, n, lda, ldb
        real(c_float), intent(in) :: alpha
        real(c_float), intent(in), target :: A(..)
        real(c_float), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_strsm(h, side, uplo, trans, diag, m, n, alpha, address(A), lda, &
                                stride_a, address(B), ldb, stride_b, batch)
    end function

    function dtrsm(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, B, ldb, stride_b, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: side, uplo, trans, diag, m, n, lda, ldb
        real(c_double), intent(in) :: alpha
        real(c_double), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_dtrsm(h, side, uplo, trans, diag, m, n, alpha, address(A), lda, &
                                stride_a, address(B), ldb, stride_b, batch)
    end function

    function ctrsm(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, B, ldb, stride_b, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: side, uplo, trans, diag, m, n, lda, ldb
        complex(c_float_complex), intent(in) :: alpha
        complex(c_float_complex), intent(in), target :: A(..)
        complex(c_float_complex), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_ctrsm(h, side, uplo, trans, diag, m, n, alpha, address(A), lda, &
                                stride_a, address(B), ldb, stride_b, batch)
    end function

    function ztrsm(h, side, uplo, trans, diag, m, n, alpha, A, lda, stride_a, B, ldb, stride_b, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: side, uplo, trans, diag, m, n, lda, ldb
        complex(c_double_complex), intent(in) :: alpha
        complex(c_double_complex), intent(in), target :: A(..)
        complex(c_double_complex), intent(inout), target :: B(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, batch
        integer(c_int) :: status
        status = batchlas_ztrsm(h, side, uplo, trans, diag, m, n, alpha, address(A), lda, &
                                stride_a, address(B), ldb, stride_b, batch)
    end function

    function sgemm(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, &
                   ldc, stride_c, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: opa, opb, m, n, k, lda, ldb, ldc
        real(c_float), intent(in) :: alpha, beta
        real(c_float), intent(in), target :: A(..), B(..)
        real(c_float), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, stride_c, batch
        integer(c_int) :: status
        status = batchlas_sgemm(h, opa, opb, m, n, k, alpha, address(A), lda, stride_a, &
                                address(B), ldb, stride_b, beta, address(C), ldc, stride_c, batch)
    end function

    function dgemm(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, &
                   ldc, stride_c, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: opa, opb, m, n, k, lda, ldb, ldc
        real(c_double), intent(in) :: alpha, beta
        real(c_double), intent(in), target :: A(..), B(..)
        real(c_double), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, stride_c, batch
        integer(c_int) :: status
        status = batchlas_dgemm(h, opa, opb, m, n, k, alpha, address(A), lda, stride_a, &
                                address(B), ldb, stride_b, beta, address(C), ldc, stride_c, batch)
    end function

    function cgemm(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, &
                   ldc, stride_c, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: opa, opb, m, n, k, lda, ldb, ldc
        complex(c_float_complex), intent(in) :: alpha, beta
        complex(c_float_complex), intent(in), target :: A(..), B(..)
        complex(c_float_complex), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, stride_c, batch
        integer(c_int) :: status
        status = batchlas_cgemm(h, opa, opb, m, n, k, alpha, address(A), lda, stride_a, &
                                address(B), ldb, stride_b, beta, address(C), ldc, stride_c, batch)
    end function

    function zgemm(h, opa, opb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta, C, &
                   ldc, stride_c, batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: opa, opb, m, n, k, lda, ldb, ldc
        complex(c_double_complex), intent(in) :: alpha, beta
        complex(c_double_complex), intent(in), target :: A(..), B(..)
        complex(c_double_complex), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_b, stride_c, batch
        integer(c_int) :: status
        status = batchlas_zgemm(h, opa, opb, m, n, k, alpha, address(A), lda, stride_a, &
                                address(B), ldb, stride_b, beta, address(C), ldc, stride_c, batch)
    end function

    function ssyrk(h, uplo, trans, n, k, alpha, A, lda, stride_a, beta, C, ldc, stride_c, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, trans, n, k, lda, ldc
        real(c_float), intent(in) :: alpha, beta
        real(c_float), intent(in), target :: A(..)
        real(c_float), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_c, batch
        integer(c_int) :: status
        status = batchlas_ssyrk(h, uplo, trans, n, k, alpha, address(A), lda, stride_a, beta, &
                                address(C), ldc, stride_c, batch)
    end function

    function dsyrk(h, uplo, trans, n, k, alpha, A, lda, stride_a, beta, C, ldc, stride_c, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, trans, n, k, lda, ldc
        real(c_double), intent(in) :: alpha, beta
        real(c_double), intent(in), target :: A(..)
        real(c_double), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_c, batch
        integer(c_int) :: status
        status = batchlas_dsyrk(h, uplo, trans, n, k, alpha, address(A), lda, stride_a, beta, &
                                address(C), ldc, stride_c, batch)
    end function

    function cherk(h, uplo, trans, n, k, alpha, A, lda, stride_a, beta, C, ldc, stride_c, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, trans, n, k, lda, ldc
        real(c_float), intent(in) :: alpha, beta
        complex(c_float_complex), intent(in), target :: A(..)
        complex(c_float_complex), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_c, batch
        integer(c_int) :: status
        status = batchlas_cherk(h, uplo, trans, n, k, alpha, address(A), lda, stride_a, beta, &
                                address(C), ldc, stride_c, batch)
    end function

    function zherk(h, uplo, trans, n, k, alpha, A, lda, stride_a, beta, C, ldc, stride_c, &
                   batch) result(status)
        type(batchlas_handle_t), intent(in) :: h
        integer(c_int), intent(in) :: uplo, trans, n, k, lda, ldc
        real(c_double), intent(in) :: alpha, beta
        complex(c_double_complex), intent(in), target :: A(..)
        complex(c_double_complex), intent(inout), target :: C(..)
        integer(c_int64_t), intent(in) :: stride_a, stride_c, batch
        integer(c_int) :: status
        status = batchlas_zherk(h, uplo, trans, n, k, alpha, address(A), lda, stride_a, beta, &
                                address(C), ldc, stride_c, batch)
    end function
end module
