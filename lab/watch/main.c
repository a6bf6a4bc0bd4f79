// SPDX-License-Identifier: GPL-2.0-or-later
// weir-watch: one command line for two tasks.
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/net/log_stderr.h"
#include "lab/watch/clip.h"
#include "lab/watch/clip_source.h"
#include "lab/watch/watch.h"

enum {
    MAX_SECONDS = 3600,
    PIPE_BYTES = 1 << 20, // Linux: the largest pipe that an unprivileged user may have
};

static const char help[] =
    "Usage: weir-watch SOURCE < PICTURES\n"
    "       weir-watch --clip SECONDS SOURCE > CLIP.y4m\n"
    "       weir-watch --clip-as-is SECONDS SOURCE > CLIP.y4m\n"
    "\n"
    "Reads raw pictures (YUV 4:2:0 planar, of SOURCE's size) that another program decodes, and\n"
    "reports when each frame of SOURCE was shown, and the similarity (SSIM) of the picture on the\n"
    "screen to each frame: one JSON object per line (lab/watch/watch.h).\n"
    "\n"
    "With --clip it makes such a SOURCE from test:WxH@FPS or a file (a short one is repeated),\n"
    "with the number of each frame drawn into it; one of fewer than 720 lines is enlarged, but "
    "not\n"
    "with --clip-as-is.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

static int watch(const char *name)
{
    int err;
    struct source *source = clip_source_open(name);
    if (!source)
        source = source_open(name, false, &err);
    if (!source)
        return EXIT_FAILURE;
    fcntl(fileno(stdin), F_SETPIPE_SZ, PIPE_BYTES); // fails if stdin is not a pipe
    setvbuf(stdout, NULL, _IOLBF, 0);
    return watch_run(source, stdin, stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int clip(const char *name, const char *seconds, bool as_is)
{
    char *end;
    double value = strtod(seconds, &end);
    if (end == seconds || *end || !(value > 0 && value <= MAX_SECONDS)) {
        log_error("--clip expects 1 to %d seconds, not \"%s\"", MAX_SECONDS, seconds);
        return 2;
    }
    int err;
    struct source *source = source_open(name, true, &err);
    if (!source)
        return EXIT_FAILURE;
    int64_t frames = (int64_t)(value * source->fps.num / source->fps.den + 0.5);
    err = clip_write(source, frames, as_is, stdout);
    source_free(source);
    return err == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    log_to_stderr("weir-watch", LOG_INFO);
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 2 && argv[1][0] != '-')
        return watch(argv[1]);
    bool as_is = argc == 4 && strcmp(argv[1], "--clip-as-is") == 0;
    if (as_is || (argc == 4 && strcmp(argv[1], "--clip") == 0))
        return clip(argv[3], argv[2], as_is);
    fputs(help, stderr);
    return 2;
}
