/* SPDX-License-Identifier: BSD-3-Clause */
/* The smallest target region: GpuToolchain.cmake looks at the device image made of it. */
int main(void) {
    int answer = 0;
#pragma omp target map(tofrom : answer)
    answer = 42;
    return answer != 42;
}
