// SPDX-License-Identifier: GPL-2.0-or-later
// What this process uses of the machine.
#ifndef WEIR_SENDER_PROCESS_FIGURES_H
#define WEIR_SENDER_PROCESS_FIGURES_H

#include "sender/figures.h"

#ifdef __cplusplus
extern "C" {
#endif

void process_figures_read(struct process_figures *out); // any thread

#ifdef __cplusplus
}
#endif
#endif
