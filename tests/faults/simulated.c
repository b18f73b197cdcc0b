/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated device's calls that fail on demand. */
#include "faults/faults.h"

#include "simulation/control.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's. */

void *__real_simulation_alloc(size_t bytes);
void __real_simulation_free(void *memory);
bool __real_simulation_grants_launch(void);
void *__wrap_simulation_alloc(size_t bytes);
void __wrap_simulation_free(void *memory);
bool __wrap_simulation_grants_launch(void);

void *__wrap_simulation_alloc(size_t bytes) {
    void *memory = fault_is_due(DEVICE_ALLOCATION) ? NULL : __real_simulation_alloc(bytes);
    faults_count_device_block(memory != NULL);
    return memory;
}

void __wrap_simulation_free(void *memory) {
    faults_count_device_block(memory ? -1 : 0);
    __real_simulation_free(memory);
}

bool __wrap_simulation_grants_launch(void) {
    return !fault_is_due(DEVICE_CALL) && __real_simulation_grants_launch();
}

/* NOLINTEND(bugprone-reserved-identifier) */
