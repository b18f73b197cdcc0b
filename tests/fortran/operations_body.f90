! SPDX-License-Identifier: BSD-3-Clause
!
! The operations of one type: its arrays through the generic names, its addresses and arrays of
! addresses through its own. test_fortran.F90 includes this once a type.

module OPERATIONS
    use, intrinsic :: iso_c_binding
    use batchlas
    use device_under_test
    use verdicts
    use CALLS
    implicit none
    private
    public :: test

    integer(c_int), parameter :: n = 9, nrhs = 3, ld = 11
    integer(c_int64_t), parameter :: batch = 4
    integer, parameter :: failing_item = 2, failing_pivot = 5
    character, parameter :: letters(0:1) = ["L", "U"] ! BATCHLAS_LOWER, BATCHLAS_UPPER

    ! A batch on the device: as an array, as an address and as an array of addresses.
    type operand
        SCALAR, pointer :: array(:, :, :) => null()
        type(c_ptr) :: memory = c_null_ptr, items = c_null_ptr
        integer(c_int64_t) :: stride
    end type

contains

    subroutine test()
        SCALAR :: spd(ld, n, batch), general(ld, n, batch), B(ld, nrhs, batch)
        integer :: i
        call fill(general)
        call fill(B)
        ! A = M M^H + n I
        call fill(spd)
        do i = 1, int(batch)
            call add_gram(spd(:, :, i), general(:, :, i))
        end do
        call test_potrf(spd)
        call test_logdet(spd)
        call test_potrs(spd, B)
        call test_posv(spd, B)
        call test_trsm(spd, B)
        call test_gemm(general, spd)
        call test_rank_k(general, spd)
        call test_workspace(spd, B)
    end subroutine

    ! ---- operands --------------------------------------------------------------------------------

    subroutine fill(array)
        SCALAR, intent(out) :: array(:, :, :)
        integer, save :: k = 0
        integer :: i, j, l
        do l = 1, size(array, 3)
            do j = 1, size(array, 2)
                do i = 1, size(array, 1)
                    k = k + 1
                    array(i, j, l) = VALUE(sin(real(k)), cos(real(3 * k)))
                end do
            end do
        end do
    end subroutine

    subroutine add_gram(A, M)
        SCALAR, intent(inout) :: A(:, :)
        SCALAR, intent(in) :: M(:, :)
        SCALAR :: one, zero
        integer :: i
        external :: BLAS_GEMM
        one = 1
        zero = 0
        call BLAS_GEMM("N", "C", n, n, n, one, M, ld, M, ld, zero, A, ld)
        do i = 1, n
            A(i, i) = real(A(i, i)) + n
        end do
    end subroutine

    ! Puts the values of a batch on the device.
    subroutine place(x, values)
        type(operand), intent(inout) :: x
        SCALAR, intent(in), target, contiguous :: values(:, :, :)
        type(c_ptr), target :: addresses(size(values, 3))
        integer :: i
        call release(x)
        x%stride = int(size(values, 1), c_int64_t) * size(values, 2)
        x%memory = device_alloc(size(values) * c_sizeof(values(1, 1, 1)))
        call c_f_pointer(x%memory, x%array, shape(values))
        call device_put(x%memory, c_loc(values), size(values) * c_sizeof(values(1, 1, 1)))
        do i = 1, size(values, 3)
            addresses(i) = c_loc(x%array(1, 1, i))
        end do
        x%items = device_alloc(size(addresses) * c_sizeof(addresses(1)))
        call device_put(x%items, c_loc(addresses), size(addresses) * c_sizeof(addresses(1)))
    end subroutine

    subroutine release(x)
        type(operand), intent(inout) :: x
        if (.not. c_associated(x%memory)) return
        call device_free(x%memory)
        call device_free(x%items)
        x%memory = c_null_ptr
    end subroutine

    ! The whole batch, padding and other triangle with it.
    subroutine expect_batch(x, want, what)
        type(operand), intent(in) :: x
        SCALAR, intent(in) :: want(:, :, :)
        character(*), intent(in) :: what
        SCALAR, target :: got(size(want, 1), size(want, 2), size(want, 3))
        call device_get(c_loc(got), x%memory, size(got) * c_sizeof(got(1, 1, 1)))
        call expect(maxval(abs(got - want)) <= 100 * epsilon(real(1, KIND)) * maxval(abs(want)), &
                    LETTER // what // " and LAPACK differ")
    end subroutine

    subroutine expect_info(memory, want, what)
        type(c_ptr), intent(in) :: memory
        integer(c_int), intent(in) :: want(:)
        character(*), intent(in) :: what
        integer(c_int), target :: got(size(want))
        call device_get(c_loc(got), memory, size(got) * c_sizeof(got(1)))
        call expect(all(got == want), LETTER // what // ": info")
        call forget(memory, size(want))
    end subroutine

    ! So that an info which nobody writes is seen.
    subroutine forget(info, count)
        type(c_ptr), intent(in) :: info
        integer, intent(in) :: count
        integer(c_int), target :: unset(count)
        unset = -1
        call device_put(info, c_loc(unset), count * c_sizeof(unset(1)))
    end subroutine

    ! ---- operations ------------------------------------------------------------------------------

    subroutine factor(A, uplo, infos)
        SCALAR, intent(inout) :: A(:, :, :)
        integer(c_int), intent(in) :: uplo
        integer(c_int), intent(out), optional :: infos(:)
        integer :: i, info
        external :: LAPACK_POTRF
        do i = 1, int(batch)
            call LAPACK_POTRF(letters(uplo), n, A(:, :, i), ld, info)
            if (present(infos)) infos(i) = info
        end do
    end subroutine

    subroutine test_potrf(spd)
        SCALAR, intent(in) :: spd(ld, n, batch)
        SCALAR :: factored(ld, n, batch)
        type(operand) :: A
        type(c_ptr) :: info
        integer(c_int), pointer :: infos(:)
        integer(c_int) :: uplo
        integer(c_int), parameter :: no_failure(batch) = 0
        info = device_alloc(batch * c_sizeof(1_c_int))
        call c_f_pointer(info, infos, [batch])
        call forget(info, int(batch))
        do uplo = BATCHLAS_LOWER, BATCHLAS_UPPER
            factored = spd
            call factor(factored, uplo)

            call place(A, spd)
            call expect_success(batchlas_potrf(h, uplo, n, A%array, ld, A%stride, infos, batch), &
                                "potrf")
            call expect_batch(A, factored, "potrf of an array")
            call expect_info(info, no_failure, "potrf")

            call place(A, spd)
            call expect_success(potrf(h, uplo, n, A%memory, ld, A%stride, c_null_ptr, batch), &
                                "potrf")
            call expect_batch(A, factored, "potrf at an address")

            call place(A, spd)
            call expect_success(potrf_array(h, uplo, n, A%items, ld, info, batch), "potrf_array")
            call expect_batch(A, factored, "potrf_array")

            ! From a first element on, and without info.
            call place(A, spd)
            call expect_success(batchlas_potrf(h, uplo, n, A%array(1, 1, 2), ld, A%stride, &
                                               batch=batch - 1), "potrf")
            factored(:, :, 1) = spd(:, :, 1)
            call expect_batch(A, factored, "potrf from an element on")
        end do
        call expect_refused(batchlas_potrf(h, BATCHLAS_LOWER, n, A%array, 3, A%stride, infos, &
                                           batch), &
                            LETTER // "potrf: argument lda is 3, expected at least 9")
        call device_free(info)
        call release(A)
    end subroutine

    subroutine test_logdet(spd)
        SCALAR, intent(in) :: spd(ld, n, batch)
        SCALAR :: factored(ld, n, batch)
        real(c_double) :: want(batch)
        real(c_double), target :: got(batch)
        real(c_double), pointer :: logdets(:)
        type(operand) :: A
        type(c_ptr) :: logdet
        integer :: i, j, way
        factored = spd
        call factor(factored, BATCHLAS_UPPER)
        do i = 1, int(batch)
            want(i) = 2 * sum([(log(real(factored(j, j, i), c_double)), j = 1, n)])
        end do
        logdet = device_alloc(batch * c_sizeof(1._c_double))
        call c_f_pointer(logdet, logdets, [batch])
        call place(A, factored)
        do way = 1, 2
            got = 0
            call device_put(logdet, c_loc(got), batch * c_sizeof(got(1)))
            if (way == 1) then
                call expect_success(batchlas_potrf_logdet(h, BATCHLAS_UPPER, n, A%array, ld, &
                                                          A%stride, logdets, batch), "logdet")
            else
                call expect_success(potrf_logdet(h, BATCHLAS_UPPER, n, A%memory, ld, A%stride, &
                                                 logdet, batch), "logdet")
            end if
            call device_get(c_loc(got), logdet, batch * c_sizeof(got(1)))
            call expect(all(abs(got - want) <= 100 * epsilon(want) * abs(want)), &
                        LETTER // "potrf_logdet and the factor differ")
        end do
        call device_free(logdet)
        call release(A)
    end subroutine

    subroutine test_potrs(spd, right)
        SCALAR, intent(in) :: spd(ld, n, batch), right(ld, nrhs, batch)
        SCALAR :: factored(ld, n, batch), solved(ld, nrhs, batch)
        type(operand) :: A, B
        integer(c_int) :: uplo
        integer :: i, info
        external :: LAPACK_POTRS
        do uplo = BATCHLAS_LOWER, BATCHLAS_UPPER
            factored = spd
            call factor(factored, uplo)
            solved = right
            do i = 1, int(batch)
                call LAPACK_POTRS(letters(uplo), n, nrhs, factored(:, :, i), ld, &
                                  solved(:, :, i), ld, info)
            end do
            call place(A, factored)

            call place(B, right)
            call expect_success(batchlas_potrs(h, uplo, n, nrhs, A%array, ld, A%stride, &
                                               B%array, ld, B%stride, batch), "potrs")
            call expect_batch(B, solved, "potrs of arrays")

            call place(B, right)
            call expect_success(potrs(h, uplo, n, nrhs, A%memory, ld, A%stride, &
                                      B%memory, ld, B%stride, batch), "potrs")
            call expect_batch(B, solved, "potrs at addresses")

            call place(B, right)
            call expect_success(potrs_array(h, uplo, n, nrhs, A%items, ld, B%items, ld, batch), &
                                "potrs_array")
            call expect_batch(B, solved, "potrs_array")
        end do
        call release(A)
        call release(B)
    end subroutine

    ! One item fails: its info says where, its right-hand sides stay.
    subroutine test_posv(spd, right)
        SCALAR, intent(in) :: spd(ld, n, batch), right(ld, nrhs, batch)
        SCALAR :: systems(ld, n, batch), factored(ld, n, batch), solved(ld, nrhs, batch)
        type(operand) :: A, B
        type(c_ptr) :: info
        integer(c_int), pointer :: infos(:)
        integer(c_int) :: uplo, want(batch)
        integer :: i
        external :: LAPACK_POSV
        systems = spd
        systems(failing_pivot, failing_pivot, failing_item) = -1
        info = device_alloc(batch * c_sizeof(1_c_int))
        call c_f_pointer(info, infos, [batch])
        call forget(info, int(batch))
        do uplo = BATCHLAS_LOWER, BATCHLAS_UPPER
            factored = systems
            solved = right
            do i = 1, int(batch)
                call LAPACK_POSV(letters(uplo), n, nrhs, factored(:, :, i), ld, &
                                 solved(:, :, i), ld, want(i))
            end do
            call expect(want(failing_item) == failing_pivot, "the planted failure")

            call place(A, systems)
            call place(B, right)
            call expect_success(batchlas_posv(h, uplo, n, nrhs, A%array, ld, A%stride, &
                                              B%array, ld, B%stride, infos, batch), "posv")
            call expect_batch(B, solved, "posv of arrays")
            call expect_info(info, want, "posv")

            call place(A, systems)
            call place(B, right)
            call expect_success(posv(h, uplo, n, nrhs, A%memory, ld, A%stride, &
                                     B%memory, ld, B%stride, info, batch), "posv")
            call expect_batch(B, solved, "posv at addresses")
            call expect_info(info, want, "posv")

            call place(A, systems)
            call place(B, right)
            call expect_success(posv_array(h, uplo, n, nrhs, A%items, ld, B%items, ld, info, &
                                           batch), "posv_array")
            call expect_batch(B, solved, "posv_array")
            call expect_info(info, want, "posv_array")
        end do
        call device_free(info)
        call release(A)
        call release(B)
    end subroutine

    subroutine test_trsm(spd, right)
        SCALAR, intent(in) :: spd(ld, n, batch), right(ld, nrhs, batch)
        SCALAR :: alpha, solved(ld, nrhs, batch), wide(ld, n, batch), solved_wide(ld, n, batch)
        type(operand) :: A, B
        integer :: i
        external :: BLAS_TRSM
        alpha = VALUE(0.75, -0.5)
        solved = right
        call fill(wide)
        solved_wide = wide
        do i = 1, int(batch)
            call BLAS_TRSM("L", "U", "C", "N", n, nrhs, alpha, spd(:, :, i), ld, &
                           solved(:, :, i), ld)
            call BLAS_TRSM("R", "L", "N", "U", nrhs, n, alpha, spd(:, :, i), ld, &
                           solved_wide(:, :, i), ld)
        end do
        call place(A, spd)

        call place(B, right)
        call expect_success(batchlas_trsm(h, BATCHLAS_LEFT, BATCHLAS_UPPER, BATCHLAS_CONJ_TRANS, &
                                          BATCHLAS_NON_UNIT, n, nrhs, alpha, A%array, ld, &
                                          A%stride, B%array, ld, B%stride, batch), "trsm")
        call expect_batch(B, solved, "trsm of arrays")

        call place(B, wide)
        call expect_success(trsm(h, BATCHLAS_RIGHT, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, &
                                 BATCHLAS_UNIT, nrhs, n, alpha, A%memory, ld, A%stride, &
                                 B%memory, ld, B%stride, batch), "trsm")
        call expect_batch(B, solved_wide, "trsm at addresses")

        call place(B, right)
        call expect_success(trsm_array(h, BATCHLAS_LEFT, BATCHLAS_UPPER, BATCHLAS_CONJ_TRANS, &
                                       BATCHLAS_NON_UNIT, n, nrhs, alpha, A%items, ld, &
                                       B%items, ld, batch), "trsm_array")
        call expect_batch(B, solved, "trsm_array")
        call release(A)
        call release(B)
    end subroutine

    subroutine test_gemm(left, right)
        SCALAR, intent(in) :: left(ld, n, batch), right(ld, n, batch)
        SCALAR :: alpha, beta, before(ld, nrhs, batch), product(ld, nrhs, batch)
        SCALAR :: other_product(ld, nrhs, batch)
        type(operand) :: A, B, C
        integer(c_int), parameter :: k = 7
        integer :: i
        external :: BLAS_GEMM
        alpha = VALUE(0.75, -0.5)
        beta = VALUE(-0.25, 2.0)
        call fill(before)
        product = before
        other_product = before
        do i = 1, int(batch)
            call BLAS_GEMM("N", "C", n, nrhs, k, alpha, left(:, :, i), ld, right(:, :, i), ld, &
                           beta, product(:, :, i), ld)
            call BLAS_GEMM("T", "N", n, nrhs, k, alpha, left(:, :, i), ld, right(:, :, i), ld, &
                           beta, other_product(:, :, i), ld)
        end do
        call place(A, left)
        call place(B, right)

        call place(C, before)
        call expect_success(batchlas_gemm(h, BATCHLAS_NO_TRANS, BATCHLAS_CONJ_TRANS, n, nrhs, k, &
                                          alpha, A%array, ld, A%stride, B%array, ld, B%stride, &
                                          beta, C%array, ld, C%stride, batch), "gemm")
        call expect_batch(C, product, "gemm of arrays")

        call place(C, before)
        call expect_success(gemm(h, BATCHLAS_TRANS, BATCHLAS_NO_TRANS, n, nrhs, k, &
                                 alpha, A%memory, ld, A%stride, B%memory, ld, B%stride, &
                                 beta, C%memory, ld, C%stride, batch), "gemm")
        call expect_batch(C, other_product, "gemm at addresses")

        call place(C, before)
        call expect_success(gemm_array(h, BATCHLAS_NO_TRANS, BATCHLAS_CONJ_TRANS, n, nrhs, k, &
                                       alpha, A%items, ld, B%items, ld, beta, C%items, ld, &
                                       batch), "gemm_array")
        call expect_batch(C, product, "gemm_array")
        call release(A)
        call release(B)
        call release(C)
    end subroutine

    subroutine test_rank_k(factors, before)
        SCALAR, intent(in) :: factors(ld, n, batch), before(ld, n, batch)
        SCALAR :: lower(ld, n, batch), upper(ld, n, batch)
        real(KIND), parameter :: alpha = 0.75, beta = -0.25
        type(operand) :: A, C
        integer(c_int), parameter :: k = 7
        integer :: i
        external :: BLAS_RANK_K
        lower = before
        upper = before
        do i = 1, int(batch)
            call BLAS_RANK_K("L", "N", n, k, alpha, factors(:, :, i), ld, beta, &
                             lower(:, :, i), ld)
            call BLAS_RANK_K("U", "C", n, k, alpha, factors(:, :, i), ld, beta, &
                             upper(:, :, i), ld)
        end do
        call place(A, factors)

        call place(C, before)
        call expect_success(batchlas_rank_k(h, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, n, k, alpha, &
                                            A%array, ld, A%stride, beta, C%array, ld, C%stride, &
                                            batch), "rank-k")
        call expect_batch(C, lower, " rank-k update of arrays")

        call place(C, before)
        call expect_success(rank_k(h, BATCHLAS_UPPER, BATCHLAS_CONJ_TRANS, n, k, alpha, &
                                   A%memory, ld, A%stride, beta, C%memory, ld, C%stride, &
                                   batch), "rank-k")
        call expect_batch(C, upper, " rank-k update at addresses")
        call release(A)
        call release(C)
    end subroutine

    ! ---- workspace -------------------------------------------------------------------------------

    ! Workspace of the size that was asked for serves; one byte less does not.
    subroutine test_workspace(spd, right)
        SCALAR, intent(in) :: spd(ld, n, batch), right(ld, nrhs, batch)
        integer(c_size_t), parameter :: alignment = 256
        SCALAR :: one
        real(KIND), parameter :: real_one = 1
        type(operand) :: A, B, C
        type(c_ptr) :: block, workspace
        integer(c_size_t) :: bytes
        integer(c_intptr_t) :: start
        integer(c_int) :: status
        integer :: call_number
        one = 1
        do call_number = 1, 6
            call place(A, spd)
            call place(B, right)
            call place(C, spd)
            bytes = -1
            call expect_success(asked(bytes), "buffer_size")
            call expect(bytes >= 0, LETTER // "buffer_size gives nothing")
            block = device_alloc(bytes + 2 * alignment)
            start = transfer(block, start) + alignment - 1
            workspace = transfer(start - modulo(start, int(alignment, c_intptr_t)), block)
            if (bytes > 0) then
                call expect_success(batchlas_set_workspace(h, workspace, bytes - 1), "workspace")
                status = called()
                call expect(status == BATCHLAS_INVALID_ARGUMENT, LETTER // "workspace: too little")
            end if
            call expect_success(batchlas_set_workspace(h, workspace, bytes), "workspace")
            call expect_success(called(), "a workspace of buffer_size")
            call expect_success(batchlas_set_workspace(h, c_null_ptr, 0_c_size_t), "workspace")
            call device_free(block)
        end do
        call release(A)
        call release(B)
        call release(C)

    contains

        function asked(bytes) result(status)
            integer(c_size_t), intent(out) :: bytes
            integer(c_int) :: status
            select case (call_number)
            case (1)
                status = potrf_buffer_size(h, BATCHLAS_LOWER, n, batch, bytes)
            case (2)
                status = potrs_buffer_size(h, BATCHLAS_LOWER, n, nrhs, batch, bytes)
            case (3)
                status = posv_buffer_size(h, BATCHLAS_LOWER, n, nrhs, batch, bytes)
            case (4)
                status = trsm_buffer_size(h, BATCHLAS_LEFT, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, &
                                          BATCHLAS_UNIT, n, nrhs, batch, bytes)
            case (5)
                status = gemm_buffer_size(h, BATCHLAS_NO_TRANS, BATCHLAS_NO_TRANS, n, nrhs, n, &
                                          batch, bytes)
            case default
                status = rank_k_buffer_size(h, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, n, n, batch, &
                                            bytes)
            end select
        end function

        function called() result(status)
            integer(c_int) :: status
            select case (call_number)
            case (1)
                status = batchlas_potrf(h, BATCHLAS_LOWER, n, A%array, ld, A%stride, batch=batch)
            case (2)
                status = batchlas_potrs(h, BATCHLAS_LOWER, n, nrhs, A%array, ld, A%stride, &
                                        B%array, ld, B%stride, batch)
            case (3)
                status = batchlas_posv(h, BATCHLAS_LOWER, n, nrhs, A%array, ld, A%stride, &
                                       B%array, ld, B%stride, batch=batch)
            case (4)
                status = batchlas_trsm(h, BATCHLAS_LEFT, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, &
                                       BATCHLAS_UNIT, n, nrhs, one, A%array, ld, A%stride, &
                                       B%array, ld, B%stride, batch)
            case (5)
                status = batchlas_gemm(h, BATCHLAS_NO_TRANS, BATCHLAS_NO_TRANS, n, nrhs, n, one, &
                                       A%array, ld, A%stride, C%array, ld, C%stride, one, &
                                       B%array, ld, B%stride, batch)
            case default
                status = batchlas_rank_k(h, BATCHLAS_LOWER, BATCHLAS_NO_TRANS, n, n, real_one, &
                                         A%array, ld, A%stride, real_one, C%array, ld, C%stride, &
                                         batch)
            end select
        end function
    end subroutine
end module

#undef OPERATIONS
#undef CALLS
#undef SCALAR
#undef KIND
#undef VALUE
#undef LETTER
#undef LAPACK_POTRF
#undef LAPACK_POTRS
#undef LAPACK_POSV
#undef BLAS_TRSM
#undef BLAS_GEMM
#undef BLAS_RANK_K
