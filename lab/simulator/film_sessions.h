// SPDX-License-Identifier: GPL-2.0-or-later
// weir-sim abr: views a prepared film over each of some traces (lab/abr), and prints a JSON line
// for each.
#ifndef WEIR_SIMULATOR_FILM_SESSIONS_H
#define WEIR_SIMULATOR_FILM_SESSIONS_H

#include "common/base/decls.h"

DECLS_BEGIN

// argv[0] is "abr". Returns the exit code.
int film_sessions_main(int argc, char **argv);

DECLS_END
#endif
