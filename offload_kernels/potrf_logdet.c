/* SPDX-License-Identifier: BSD-3-Clause */
/* potrf_logdet on the device and on the host. */
#include "families.h"
#include "tuning_constants.h"

#include <omp.h>

#define BODY "potrf_logdet_body.h"
#include "four_types.h"

LAUNCH(batchlas_potrf_logdet_portable) {
    static void (*const on_device[4])(const problem_t *, int) = {
        log_dets_on_device_s, log_dets_on_device_d, log_dets_on_device_c, log_dets_on_device_z};
    static void (*const on_host[4])(const problem_t *) = {log_dets_on_host_s, log_dets_on_host_d,
                                                          log_dets_on_host_c, log_dets_on_host_z};
    (void)workspace;
    if (h->facts.is_gpu)
        on_device[problem->type](problem, h->device);
    else
        on_host[problem->type](problem);
    return BATCHLAS_SUCCESS;
}
