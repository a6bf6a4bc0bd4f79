// SPDX-License-Identifier: GPL-2.0-or-later
// Reads a clip (clip.h) as a source, with the values that it has: libavformat's reader knows no
// colour matrix of such a file, takes BT.601 for small pictures, and converts them.
#ifndef WEIR_LAB_WATCH_CLIP_SOURCE_H
#define WEIR_LAB_WATCH_CLIP_SOURCE_H

#include "common/base/decls.h"
#include "media/source/source.h"

DECLS_BEGIN

// Returns a source without seek; the caller owns it. NULL: the file cannot be read, is not what
// clip_write wrote, or there is no memory (nothing is logged).
struct source *clip_source_open(const char *path);

DECLS_END
#endif
