! SPDX-License-Identifier: BSD-3-Clause
!
! Every public function, called from Fortran and compared with LAPACK and BLAS. `--device gpu` runs
! the same on the first GPU, where there is none with exit status 77.

! ---- the device under test -----------------------------------------------------------------------

module device_under_test
    use, intrinsic :: iso_c_binding
    use batchlas
    implicit none

    integer(c_int) :: device = -1 ! omp_initial_device
    type(batchlas_handle_t) :: h

#if BATCHLAS_HAVE_GPU
    interface
        function omp_get_num_devices() bind(C) result(count)
            import :: c_int
            integer(c_int) :: count
        end function
        function omp_get_initial_device() bind(C) result(number)
            import :: c_int
            integer(c_int) :: number
        end function
        function omp_target_alloc(bytes, device_num) bind(C) result(memory)
            import :: c_int, c_ptr, c_size_t
            integer(c_size_t), value :: bytes
            integer(c_int), value :: device_num
            type(c_ptr) :: memory
        end function
        subroutine omp_target_free(memory, device_num) bind(C)
            import :: c_int, c_ptr
            type(c_ptr), value :: memory
            integer(c_int), value :: device_num
        end subroutine
        function omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_device, &
                                   from_device) bind(C) result(failed)
            import :: c_int, c_ptr, c_size_t
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes, to_offset, from_offset
            integer(c_int), value :: to_device, from_device
            integer(c_int) :: failed
        end function
    end interface
#else
    interface
        function malloc(bytes) bind(C) result(memory)
            import :: c_ptr, c_size_t
            integer(c_size_t), value :: bytes
            type(c_ptr) :: memory
        end function
        subroutine free(memory) bind(C)
            import :: c_ptr
            type(c_ptr), value :: memory
        end subroutine
        subroutine memcpy(to, from, bytes) bind(C)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: to, from
            integer(c_size_t), value :: bytes
        end subroutine
    end interface
#endif

contains

    function device_alloc(bytes) result(memory)
        integer(c_size_t), intent(in) :: bytes
        type(c_ptr) :: memory
#if BATCHLAS_HAVE_GPU
        memory = omp_target_alloc(bytes, device)
#else
        memory = malloc(bytes)
#endif
        if (.not. c_associated(memory)) error stop "no memory"
    end function

    subroutine device_free(memory)
        type(c_ptr), intent(in) :: memory
#if BATCHLAS_HAVE_GPU
        call omp_target_free(memory, device)
#else
        call free(memory)
#endif
    end subroutine

    subroutine device_put(memory, from, bytes)
        type(c_ptr), intent(in) :: memory, from
        integer(c_size_t), intent(in) :: bytes
#if BATCHLAS_HAVE_GPU
        if (omp_target_memcpy(memory, from, bytes, 0_c_size_t, 0_c_size_t, device, &
                              omp_get_initial_device()) /= 0) error stop "to the device"
#else
        call memcpy(memory, from, bytes)
#endif
    end subroutine

    subroutine device_get(to, memory, bytes)
        type(c_ptr), intent(in) :: to, memory
        integer(c_size_t), intent(in) :: bytes
#if BATCHLAS_HAVE_GPU
        if (omp_target_memcpy(to, memory, bytes, 0_c_size_t, 0_c_size_t, &
                              omp_get_initial_device(), device) /= 0) error stop "from the device"
#else
        call memcpy(to, memory, bytes)
#endif
    end subroutine
end module

! ---- what a test says ----------------------------------------------------------------------------

module verdicts
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit
    use batchlas
    use device_under_test
    implicit none

    integer :: checks = 0

contains

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        checks = checks + 1
        if (holds) return
        write (error_unit, "(2a)") "test_fortran: wrong: ", what
        error stop 1
    end subroutine

    subroutine expect_success(status, what)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: what
        call expect(status == BATCHLAS_SUCCESS, what // ": " // batchlas_last_error(h))
    end subroutine

    subroutine expect_refused(status, sentence)
        integer(c_int), intent(in) :: status
        character(*), intent(in) :: sentence
        call expect(status == BATCHLAS_INVALID_ARGUMENT, "not refused: " // sentence)
        call expect(batchlas_last_error(h) == sentence, &
                    batchlas_last_error(h) // ", and expected: " // sentence)
    end subroutine
end module

! ---- the four types ------------------------------------------------------------------------------

module calls_s
    use batchlas, only: &
        potrf => batchlas_spotrf, potrf_array => batchlas_spotrf_array, &
        potrf_buffer_size => batchlas_spotrf_buffer_size, potrf_logdet => batchlas_spotrf_logdet, &
        potrs => batchlas_spotrs, potrs_array => batchlas_spotrs_array, &
        potrs_buffer_size => batchlas_spotrs_buffer_size, &
        posv => batchlas_sposv, posv_array => batchlas_sposv_array, &
        posv_buffer_size => batchlas_sposv_buffer_size, &
        trsm => batchlas_strsm, trsm_array => batchlas_strsm_array, &
        trsm_buffer_size => batchlas_strsm_buffer_size, &
        gemm => batchlas_sgemm, gemm_array => batchlas_sgemm_array, &
        gemm_buffer_size => batchlas_sgemm_buffer_size, &
        rank_k => batchlas_ssyrk, rank_k_buffer_size => batchlas_ssyrk_buffer_size, &
        batchlas_rank_k => batchlas_syrk
end module

module calls_d
    use batchlas, only: &
        potrf => batchlas_dpotrf, potrf_array => batchlas_dpotrf_array, &
        potrf_buffer_size => batchlas_dpotrf_buffer_size, potrf_logdet => batchlas_dpotrf_logdet, &
        potrs => batchlas_dpotrs, potrs_array => batchlas_dpotrs_array, &
        potrs_buffer_size => batchlas_dpotrs_buffer_size, &
        posv => batchlas_dposv, posv_array => batchlas_dposv_array, &
        posv_buffer_size => batchlas_dposv_buffer_size, &
        trsm => batchlas_dtrsm, trsm_array => batchlas_dtrsm_array, &
        trsm_buffer_size => batchlas_dtrsm_buffer_size, &
        gemm => batchlas_dgemm, gemm_array => batchlas_dgemm_array, &
        gemm_buffer_size => batchlas_dgemm_buffer_size, &
        rank_k => batchlas_dsyrk, rank_k_buffer_size => batchlas_dsyrk_buffer_size, &
        batchlas_rank_k => batchlas_syrk
end module

module calls_c
    use batchlas, only: &
        potrf => batchlas_cpotrf, potrf_array => batchlas_cpotrf_array, &
        potrf_buffer_size => batchlas_cpotrf_buffer_size, potrf_logdet => batchlas_cpotrf_logdet, &
        potrs => batchlas_cpotrs, potrs_array => batchlas_cpotrs_array, &
        potrs_buffer_size => batchlas_cpotrs_buffer_size, &
        posv => batchlas_cposv, posv_array => batchlas_cposv_array, &
        posv_buffer_size => batchlas_cposv_buffer_size, &
        trsm => batchlas_ctrsm, trsm_array => batchlas_ctrsm_array, &
        trsm_buffer_size => batchlas_ctrsm_buffer_size, &
        gemm => batchlas_cgemm, gemm_array => batchlas_cgemm_array, &
        gemm_buffer_size => batchlas_cgemm_buffer_size, &
        rank_k => batchlas_cherk, rank_k_buffer_size => batchlas_cherk_buffer_size, &
        batchlas_rank_k => batchlas_herk
end module

module calls_z
    use batchlas, only: &
        potrf => batchlas_zpotrf, potrf_array => batchlas_zpotrf_array, &
        potrf_buffer_size => batchlas_zpotrf_buffer_size, potrf_logdet => batchlas_zpotrf_logdet, &
        potrs => batchlas_zpotrs, potrs_array => batchlas_zpotrs_array, &
        potrs_buffer_size => batchlas_zpotrs_buffer_size, &
        posv => batchlas_zposv, posv_array => batchlas_zposv_array, &
        posv_buffer_size => batchlas_zposv_buffer_size, &
        trsm => batchlas_ztrsm, trsm_array => batchlas_ztrsm_array, &
        trsm_buffer_size => batchlas_ztrsm_buffer_size, &
        gemm => batchlas_zgemm, gemm_array => batchlas_zgemm_array, &
        gemm_buffer_size => batchlas_zgemm_buffer_size, &
        rank_k => batchlas_zherk, rank_k_buffer_size => batchlas_zherk_buffer_size, &
        batchlas_rank_k => batchlas_herk
end module

#define OPERATIONS operations_s
#define CALLS calls_s
#define SCALAR real(c_float)
#define KIND c_float
#define VALUE(re, im) real(re, KIND)
#define LETTER 's'
#define LAPACK_POTRF spotrf
#define LAPACK_POTRS spotrs
#define LAPACK_POSV sposv
#define BLAS_TRSM strsm
#define BLAS_GEMM sgemm
#define BLAS_RANK_K ssyrk
#include "operations_body.f90"

#define OPERATIONS operations_d
#define CALLS calls_d
#define SCALAR real(c_double)
#define KIND c_double
#define VALUE(re, im) real(re, KIND)
#define LETTER 'd'
#define LAPACK_POTRF dpotrf
#define LAPACK_POTRS dpotrs
#define LAPACK_POSV dposv
#define BLAS_TRSM dtrsm
#define BLAS_GEMM dgemm
#define BLAS_RANK_K dsyrk
#include "operations_body.f90"

#define OPERATIONS operations_c
#define CALLS calls_c
#define SCALAR complex(c_float_complex)
#define KIND c_float
#define VALUE(re, im) cmplx(re, im, KIND)
#define LETTER 'c'
#define LAPACK_POTRF cpotrf
#define LAPACK_POTRS cpotrs
#define LAPACK_POSV cposv
#define BLAS_TRSM ctrsm
#define BLAS_GEMM cgemm
#define BLAS_RANK_K cherk
#include "operations_body.f90"

#define OPERATIONS operations_z
#define CALLS calls_z
#define SCALAR complex(c_double_complex)
#define KIND c_double
#define VALUE(re, im) cmplx(re, im, KIND)
#define LETTER 'z'
#define LAPACK_POTRF zpotrf
#define LAPACK_POTRS zpotrs
#define LAPACK_POSV zposv
#define BLAS_TRSM ztrsm
#define BLAS_GEMM zgemm
#define BLAS_RANK_K zherk
#include "operations_body.f90"

! ---- handles and the program ---------------------------------------------------------------------

program test_fortran
    use, intrinsic :: iso_c_binding
    use batchlas
    use device_under_test
    use verdicts
    use operations_s, only: test_s => test
    use operations_d, only: test_d => test
    use operations_c, only: test_c => test
    use operations_z, only: test_z => test
    implicit none

    character(16) :: option

    call get_command_argument(2, option)
#if BATCHLAS_HAVE_GPU
    device = omp_get_initial_device()
    if (option == "gpu") then
        if (omp_get_num_devices() == 0) stop 77
        device = 0
    end if
#else
    if (option == "gpu") stop 77
#endif

    call the_library_says_its_version()
    call failures_to_create_are_told()
    call expect_success(batchlas_create(h, device), "create")
    call settings_are_taken()
    call test_s()
    call test_d()
    call test_c()
    call test_z()
    call sections_are_refused()
    call expect_success(batchlas_destroy(h), "destroy")
    print "(i0, a)", checks, " checks"

contains

    subroutine the_library_says_its_version()
        integer(c_int) :: major, minor, patch
        character(16) :: version
        call batchlas_version(major, minor, patch)
        write (version, "(i0, '.', i0, '.', i0)") major, minor, patch
        call expect(version == BATCHLAS_VERSION, "the version is " // version)
    end subroutine

    subroutine failures_to_create_are_told()
        type(batchlas_handle_t) :: none
        integer(c_int) :: status
        status = batchlas_create(none, 12345)
        call expect(status == BATCHLAS_INVALID_ARGUMENT, "device 12345 was taken")
        call expect(index(batchlas_last_error(), "12345") > 0, batchlas_last_error())
        call expect(batchlas_status_string(status) == "BATCHLAS_INVALID_ARGUMENT: an argument is &
                    &out of its range; nothing was touched", batchlas_status_string(status))
        ! What was not created is null: nothing to destroy, nothing to call.
        call expect(batchlas_destroy(none) == BATCHLAS_SUCCESS, "destroy of a null handle")
        call expect(batchlas_wait(none) == BATCHLAS_INVALID_ARGUMENT, "wait on a null handle")
#if BATCHLAS_HAVE_INTEROP
        call expect(batchlas_create_from_interop(none, 0_c_intptr_t) == &
                    merge(BATCHLAS_INVALID_ARGUMENT, BATCHLAS_NOT_SUPPORTED, BATCHLAS_HAVE_GPU == 1), &
                    "omp_interop_none was taken")
#endif
#if BATCHLAS_HAVE_EVENTS
        call expect(batchlas_fulfill_event(none, 0_c_intptr_t) == BATCHLAS_INVALID_ARGUMENT, &
                    "an event on a null handle")
#endif
    end subroutine

    subroutine settings_are_taken()
        type(batchlas_handle_t) :: on_stream
        call expect_success(batchlas_create_from_stream(on_stream, device, c_null_ptr), "stream")
        call expect_success(batchlas_destroy(on_stream), "destroy")
        call expect_success(batchlas_set_nowait(h, 1), "nowait")
        call expect_success(batchlas_wait(h), "wait")
        call expect_success(batchlas_set_nowait(h, 0), "nowait")
        call expect_success(batchlas_set_unified_memory(h, 0), "unified memory")
    end subroutine

    ! An array that does not lie in one piece has no address to pass on.
    subroutine sections_are_refused()
        real(c_double) :: A(4, 4, 2)
        A = 1
        call expect_refused(batchlas_potrf(h, BATCHLAS_LOWER, 2, A(1:2, :, :), 4, 16_c_int64_t, &
                                           batch=2_c_int64_t), &
                            "dpotrf: argument A is NULL, expected a pointer to the operand")
        call expect(all(abs(A - 1) <= 0), "a section was written")
    end subroutine
end program
