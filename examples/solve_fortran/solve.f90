! SPDX-License-Identifier: BSD-3-Clause
! Solves A x = b for many small symmetric positive-definite matrices A at once.
program solve
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use batchlas
    use omp_lib
    implicit none
    integer, parameter :: n = 3, nrhs = 1
    integer(int64), parameter :: stride_a = n * n, stride_b = n, batch = 1000
    real(real64), allocatable :: A(:, :, :), b(:, :)
    integer, allocatable :: info(:)
    type(batchlas_handle_t) :: h
    integer :: i, j, status

    allocate (A(n, n, batch), b(n, batch), info(batch))
    ! Ones, and i + 1 on the diagonal: the solution for b = i + n is 1 everywhere.
    A = 1
    do i = 1, int(batch)
        do j = 1, n
            A(j, j, i) = i + 1
        end do
        b(:, i) = i + n
    end do

    status = batchlas_create(h, omp_get_default_device())
    !$omp target data map(to: A) map(tofrom: b) map(from: info)
    !$omp target data use_device_addr(A, b, info)
    if (status == BATCHLAS_SUCCESS) &
        status = batchlas_posv(h, BATCHLAS_LOWER, n, nrhs, A, n, stride_a, &
                               b, n, stride_b, info, batch)
    !$omp end target data
    !$omp end target data
    if (status /= BATCHLAS_SUCCESS) print "(a)", batchlas_last_error(h)
    if (batchlas_destroy(h) /= BATCHLAS_SUCCESS .or. status /= BATCHLAS_SUCCESS) error stop

    print "(i0, a, i0, a, es8.1)", batch, " systems of order ", n, ", largest error ", &
        maxval(abs(b - 1))
    if (any(info /= 0) .or. maxval(abs(b - 1)) > 1e-12) error stop
end program
