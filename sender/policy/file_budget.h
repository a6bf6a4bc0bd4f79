// SPDX-License-Identifier: GPL-2.0-or-later
// How many files weir-send has open (RLIMIT_NOFILE). A viewer takes FILE_BUDGET_VIEWER at most: its
// RTSP connection, and two pairs of UDP ports if it is a player of others that watches pictures and
// sound over UDP. One that names its transport with x-weir takes three, one over TCP takes one.
#ifndef WEIR_SENDER_POLICY_FILE_BUDGET_H
#define WEIR_SENDER_POLICY_FILE_BUDGET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FILE_BUDGET_VIEWER = 5,
    FILE_BUDGET_OTHERS = 160, // the program's own, and those of 32 open films
};

// The limit that so many viewers take.
uint64_t file_budget_of(int viewers);
// How many viewers such a limit is enough for, whatever they watch with.
int file_budget_viewers(uint64_t limit);

#ifdef __cplusplus
}
#endif
#endif
