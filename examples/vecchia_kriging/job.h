/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef JOB_H
#define JOB_H

#include "options.h"
#include "team.h"

/* The whole of it: reads, fits, predicts, prints and draws. Every process of a team calls it, and
 * the first writes the files. Returns the exit status, after one sentence on stderr if it is not
 * 0. */
int job_run(const options_t *options, const team_t *team);

#endif
