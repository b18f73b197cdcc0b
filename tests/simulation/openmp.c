/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated device as OpenMP's device 0: the program's own definitions of these routines come
 * before the runtime's. Target regions run on the host, which sees the device's memory. */
#include "simulation/control.h"

#include <omp.h>
#include <string.h>

int omp_get_num_devices(void) {
    return 1;
}

/* As LLVM's runtime counts. */
int omp_get_initial_device(void) {
    return 1;
}

void *omp_target_alloc(size_t bytes, int device) {
    return device == 0 ? simulation_alloc(bytes) : NULL;
}

void omp_target_free(void *memory, int device) {
    (void)device;
    simulation_free(memory);
}

int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset,
                      size_t from_offset, int to_device, int from_device) {
    (void)to_device;
    (void)from_device;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

/* ---- interop objects ------------------------------------------------------------------------- */

static char stream; /* its address is a stream's */

void __tgt_interop_init(void *where, int thread, omp_interop_t *object, int type, int device,
                        int dependences, void *list, int nowait);
void __tgt_interop_init(void *where, int thread, omp_interop_t *object, int type, int device,
                        int dependences, void *list, int nowait) {
    (void)where;
    (void)thread;
    (void)type;
    (void)device;
    (void)dependences;
    (void)list;
    (void)nowait;
    *object = &stream;
}

void __tgt_interop_destroy(void *where, int thread, omp_interop_t *object, int device,
                           int dependences, void *list, int nowait);
void __tgt_interop_destroy(void *where, int thread, omp_interop_t *object, int device,
                           int dependences, void *list, int nowait) {
    (void)where;
    (void)thread;
    (void)device;
    (void)dependences;
    (void)list;
    (void)nowait;
    *object = omp_interop_none;
}

omp_intptr_t omp_get_interop_int(const omp_interop_t object, omp_interop_property_t property,
                                 int *outcome) {
    (void)property;
    *outcome = object == &stream ? 0 : omp_irc_type_int;
    return 0;
}

void *omp_get_interop_ptr(const omp_interop_t object, omp_interop_property_t property,
                          int *outcome) {
    (void)property;
    *outcome = object == &stream ? 0 : omp_irc_type_ptr;
    return object;
}
