// SPDX-License-Identifier: GPL-2.0-or-later
// A table of options for other programs: the OPTIONS of a manual page, and what bash and zsh
// complete. The text around it stands in files of its own.
//
// What completes a value is seen from the row: its words, as far as they are no placeholder
// ("test:[WxH@FPS]" is "test:"); files where the argument or a word begins with FILE; parts of a
// list where the argument is LIST or ends in ",...". Where several rows are operands, each word of
// theirs may stand there.
#ifndef WEIR_OPTIONS_OPTION_DOCS_H
#define WEIR_OPTIONS_OPTION_DOCS_H

#include "common/base/put.h"
#include "common/options/option_table.h"

#ifdef __cplusplus
extern "C" {
#endif

void option_docs_man(const struct option_table *t, struct put *out);  // roff, man(7)
void option_docs_bash(const struct option_table *t, struct put *out); // a function's cases
void option_docs_zsh(const struct option_table *t, struct put *out);  // _arguments' words

#ifdef __cplusplus
}
#endif
#endif
