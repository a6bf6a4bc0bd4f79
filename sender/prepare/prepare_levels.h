// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the levels of a stored ladder, and their plan: those of the options or of the source's
// size. The film's own video becomes the top level if it fits the plan (stored_pass.h).
#ifndef WEIR_SENDER_PREPARE_PREPARE_LEVELS_H
#define WEIR_SENDER_PREPARE_PREPARE_LEVELS_H

#include "common/base/decls.h"
#include "media/source/pass_probe.h"
#include "media/source/source.h"
#include "media/stored/policy/stored_plan.h"
#include "sender/options/options.h"

DECLS_BEGIN

enum { PREPARE_LAYERS = 3 }; // default number of temporal layers

struct prepare_own { // the film's own video
    struct coded_video coded;
    struct pass_keys keys; // owned, while coded.passes
};

// Reads the film to its end, if the options let its own video pass, and logs why that does not.
// `may_pass`: false if that is known. The caller frees out->keys. Returns an error of source_open.
int prepare_levels_probe(const struct options *o, const char *name, bool may_pass,
                         struct prepare_own *out);
// Makes the ladder and the plan. Clears own->coded.passes, and logs why, if the film's own video
// does not fit. The film `name` is measured, unless the options have levels or the fixed ladder, or
// its own video passes. Then *by_content is true, and `finest` has the finest quantiser of each
// size (stored_rate_limit). Returns 0; ERR_NOT_FOUND if there is no plan, or an error of
// ladder_from_requests (logged).
int prepare_levels_choose(const struct options *o, const char *name, const struct source *s,
                          struct prepare_own *own, struct ladder *ladder, struct stored_plan *plan,
                          double finest[LADDER_MAX_SIZES], bool *by_content);
// Returns true if the stored ladder, which has no size that passes, is the fixed one.
bool prepare_levels_are_fixed(const struct options *o, const struct ladder *stored);

DECLS_END
#endif
