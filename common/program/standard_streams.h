// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef WEIR_PROGRAM_STANDARD_STREAMS_H
#define WEIR_PROGRAM_STANDARD_STREAMS_H

#ifdef __cplusplus
extern "C" {
#endif

// Call first in a program: opens /dev/null for each of stdin, stdout and stderr that is closed.
// Otherwise the next file or socket would get its number: the log would be written to it, and libuv
// aborts a program that closes it.
void standard_streams_open(void);

#ifdef __cplusplus
}
#endif
#endif
