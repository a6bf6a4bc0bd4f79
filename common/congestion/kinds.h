// SPDX-License-Identifier: GPL-2.0-or-later
// Includes the rows of the table of controllers, CONTROLLER_*. Each controller's header defines its
// row.
#ifndef WEIR_CONGESTION_KINDS_H
#define WEIR_CONGESTION_KINDS_H

#include "common/congestion/arc.h"
#include "common/congestion/fixed.h"
#include "common/congestion/psp.h"
#include "common/congestion/scream.h"
#include "common/congestion/tfrc.h"

#endif
