// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WEIR_PROGRAM_STANDARD_STREAMS_H
#define WEIR_PROGRAM_STANDARD_STREAMS_H

#ifdef __cplusplus
extern "C" {
#endif

// First of all in a program: what of stdin, stdout and stderr is closed becomes /dev/null. Else the
// next file or socket had its number: it would get the log, and libuv ends a program that closes
// it.
void standard_streams_open(void);

#ifdef __cplusplus
}
#endif
#endif
