// SPDX-License-Identifier: GPL-2.0-or-later
// The policies, for abr_policy.c and their tests. Each returns NULL if there is no memory.
//
//   auto        abr_auto.c: Weir's
//   bola-e      Spiteri, Sitaraman, Sparacio: From Theory to Practice, ACM TOMM 2019, section 4
//   dynamic     the same, section 6: BOLA with a long buffer, else the throughput rule
//   robust-mpc  Yin, Jindal, Sekar, Sinopoli: A Control-Theoretic Approach for Dynamic Adaptive
//               Video Streaming over HTTP, SIGCOMM 2015
//   throughput  the throughput rule of dash.js alone
//
// All but auto request whole segments, one after the other, and take the groups for these.
#ifndef WEIR_STREAM_ABR_ABR_POLICIES_H
#define WEIR_STREAM_ABR_ABR_POLICIES_H

#include "common/base/decls.h"
#include "stream/abr/abr_policy.h"

DECLS_BEGIN

struct abr_policy *abr_auto_new(const struct abr_config *config);
struct abr_policy *abr_bola_e_new(const struct abr_config *config);
struct abr_policy *abr_dynamic_new(const struct abr_config *config);
struct abr_policy *abr_robust_mpc_new(const struct abr_config *config);
struct abr_policy *abr_throughput_new(const struct abr_config *config);

DECLS_END
#endif
