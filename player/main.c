// SPDX-License-Identifier: GPL-2.0-or-later
// weir-play: constructs, starts and stops.
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/discovery/discovery.h"
#include "common/program/program_main.h"
#include "player/report/qoe_summary.h"
#include "player/session/output_files.h"
#include "player/session/viewing.h"
#include "player/start/recent_file.h"
#include "player/start/start_window.h"

static bool names_a_display(void)
{
    static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"};
    bool found = false;
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        found |= value && *value;
    }
    return found;
}

// A root is weir-send's list of files, which needs no display, or another server's stream.
static struct display *open_display(const struct play_options *o, const struct display_config *c)
{
    bool list_only = !o->headless && url_is_root(&o->url) && !names_a_display();
    struct display *d = o->headless || list_only ? display_headless_new(c) : display_window_new(c);
    if (d)
        d->list_only = list_only;
    return d;
}

static int play(const struct play_options *options, FILE *events, struct source *reference)
{
    int code = EXIT_INTERNAL;
    struct viewing *viewing =
        viewing_new(&(struct viewing_config){.options = options,
                                             .events = events,
                                             .reference = reference,
                                             .audio = {.is_virtual = options->headless},
                                             .owns_process = true,
                                             .list = stdout});
    if (!viewing)
        return code;
    struct display_config config = viewing_display_config(viewing);
    struct display *display = open_display(options, &config);
    if (!display)
        goto free_viewing;
    if (viewing_start(viewing, display) != 0)
        goto free_display;
    if (display->ops->run(display) != 0)
        viewing_fail(viewing);
    code = viewing_finish(viewing);
    const struct qoe_json *report = viewing_report(viewing);
    if (report->session.transport[0] && !options->headless && !options->no_resume)
        recent_file_note(&options->url);
    if (!options->quiet &&
        report->session.transport[0]) // otherwise no stream was set up, so there is no summary
        qoe_summary_print(report, stdout);

free_display:
    display->ops->free(display);
free_viewing:
    viewing_free(viewing);
    return code;
}

static int list_servers(void)
{
    static struct found_server found[DISCOVERY_SERVERS]; // static, as it is large
    int count = discovery_find(2 * USEC_PER_SEC, found);
    for (int i = 0; i < count; i++)
        printf("%s  %s\n", found[i].url, found[i].name);
    if (count > 0)
        return fflush(stdout) == 0 ? EXIT_ENDED : EXIT_INTERNAL;
    if (count == ERR_UNSUPPORTED)
        log_error("cannot search for servers: no avahi-daemon responds, or weir-play was built "
                  "without libavahi-client (give the URL)");
    else
        log_error("no server found: none announces itself on this network (give the URL)");
    return EXIT_REFUSED;
}

static bool on_url(void *ctx, const char *url, char *error, size_t cap)
{
    return play_options_choose(ctx, url, error, cap);
}

// The viewer chooses a URL in a window. Returns as start_window_run.
static int choose(struct play_options *options)
{
    static struct recent_urls recent; // static, as it is large
    struct start_window_config config = {.recent = &recent, .on_url = on_url, .ctx = options};
    if (!options->no_resume)
        recent_file_read(&recent);
    return start_window_run(&config);
}

static int run(void *ctx)
{
    struct play_options *options = ctx;
    if (options->list_servers)
        return list_servers();
    int chosen = options->url.host[0] ? 0 : choose(options);
    if (chosen != 0)
        return chosen == ERR_CLOSED ? EXIT_ENDED : EXIT_INTERNAL;
    FILE *events;
    if (output_files_open(options, &events) != 0)
        return EXIT_USAGE;
    struct source *reference = NULL;
    int code = EXIT_USAGE;
    int err;
    if (!options->reference || (reference = source_open(options->reference, true, &err)))
        code = play(options, events, reference);
    if (events && fclose(events) != 0 && code == EXIT_ENDED)
        code = EXIT_INTERNAL;
    return code;
}

int main(int argc, char **argv)
{
    static struct play_options options;
    return program_main(&(struct program_parts){.name = "weir-play",
                                                .options = &options,
                                                .log = &options.log,
                                                .parse = names_a_display()
                                                             ? play_options_parse_choosing
                                                             : play_options_parse,
                                                .run = run,
                                                .destroy = play_options_destroy},
                        argc, argv);
}
