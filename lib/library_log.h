// SPDX-License-Identifier: GPL-2.0-or-later
// The log of a process that uses libweir: to the receiver of weir_log_to, and the errors of an
// object that is being opened to the text that its opener gets.
#ifndef WEIR_LIB_LIBRARY_LOG_H
#define WEIR_LIB_LIBRARY_LOG_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// From now on the first error that this thread logs is copied to `error`, at most `cap` bytes,
// which must be empty; until library_log_release.
void library_log_capture(char *error, size_t cap);
void library_log_release(void);

#ifdef __cplusplus
}
#endif
#endif
