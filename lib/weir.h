// SPDX-License-Identifier: GPL-2.0-or-later
// libweir: a program of your own watches a stream, or sends one.
//
//   cc watch.c $(pkg-config --cflags --libs weir)
//
// A viewer is weir-play --headless: it connects, buffers, switches level, and gives each
// picture to the program when it is due. A sender is weir-send: it encodes the pictures that the
// program pushes, or another source, and serves them. Both take the options of these programs as
// their command lines do (weir-play(1), weir-send(1)), so what the manuals say of an option holds
// here. A process may have several viewers and senders.
//
// Threads: a viewer and a sender have threads of their own, on which they call the functions of
// their configuration. Such a function must return soon, and must not close the object that calls
// it. All other functions of one object may be called from any one thread at a time.
// The library changes no signal handler. A write to a connection that the peer has closed raises
// no SIGPIPE.
//
// A pointer that a function gets is borrowed for the call, unless it says otherwise. Each function
// takes NULL in place of an object, of a configuration or of another pointer that it expects: it
// then does nothing, and returns what it returns on failure. Times are microseconds; wall-clock
// times count from 1970 (UTC).
#ifndef WEIR_H
#define WEIR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_API __attribute__((visibility("default")))

// Returns the library's version, such as "0.1.0". Minor versions add functions, and members at the
// end of configurations; a program that was built with an earlier minor version still works.
WEIR_API const char *weir_version(void);

enum weir_log_level { WEIR_LOG_ERROR, WEIR_LOG_WARN, WEIR_LOG_INFO, WEIR_LOG_DEBUG };

// Gets each message of the process's viewers and senders: one line of text without a newline, for
// people. Called on any thread, also on several at once.
typedef void weir_log_fn(void *ctx, enum weir_log_level level, const char *text);
// Messages up to `level` go to `fn` from now on; NULL: they are dropped, as at the start. Call it
// before the first object is opened. `ctx` is borrowed until the process ends.
WEIR_API void weir_log_to(weir_log_fn *fn, void *ctx, enum weir_log_level level);

// A picture: YUV 4:2:0 planar, 8 bits, BT.709, limited range.
struct weir_picture {
    int width, height;       // pixels, even
    const uint8_t *plane[3]; // Y, U, V
    int stride[3];           // bytes from one row to the next; not less than a row has
    // The number of the source's frame, ascending, also after a seek. Ignored where the program
    // pushes.
    int64_t number;
    // Wall clock at which it was captured; 0: unknown. Where the program pushes: 0 is now, and so
    // is a time that is more than ten seconds from now.
    int64_t captured;
};

// Audio is at 48,000 samples/s, 16 bits, stereo; left and right alternate.
enum { WEIR_AUDIO_RATE = 48000, WEIR_AUDIO_CHANNELS = 2 };

// ---- Viewer ----

enum weir_end {
    WEIR_END_CLOSED,      // the program closed the viewer
    WEIR_END_OF_MEDIA,    // the film is over
    WEIR_END_DURATION,    // of --duration
    WEIR_END_REFUSED,     // the server cannot be reached, or refuses; or the URL names a folder
    WEIR_END_SERVER_LOST, // during the stream, and did not come back (--reconnect)
    WEIR_END_UNDECODABLE, // media came, but no picture could be decoded
    WEIR_END_ERROR,       // out of memory, a file of the options, or another fault of this machine
};

struct weir_viewer_config {
    size_t size;     // sizeof(struct weir_viewer_config)
    const char *url; // such as "rtsp://host/live"
    // weir-play's, such as {"--transport", "mtp", "--latency", "300", NULL}; NULL: none. Those of
    // its log and its summary have no effect; those that only print something are refused.
    const char *const *options;
    // A picture is due now. Its size changes with the level. While this function runs, the pictures
    // behind it wait; those that become late are skipped. NULL: the viewer only measures.
    void (*on_picture)(void *ctx, const struct weir_picture *p);
    // The next `frames` samples for each channel, to be heard 20 ms from now. NULL: the machine's
    // audio device plays them, unless `options` has --no-audio.
    void (*on_audio)(void *ctx, const int16_t *samples, int frames);
    // A line of --events: one JSON object, such as {"t":1.2,"event":"level",...}. NULL: none.
    void (*on_event)(void *ctx, const char *json);
    // The viewing has ended; it is called once, also when the viewer is closed before that.
    // `why`: a text for people, "" after a good end.
    void (*on_end)(void *ctx, enum weir_end end, const char *why);
    void *ctx;
};

struct weir_viewer;

// Connects, and returns at once. NULL: nothing was started, and `error`, of `cap` bytes, says what
// is wrong with the configuration. The configuration may go away after the call.
WEIR_API struct weir_viewer *weir_viewer_open(const struct weir_viewer_config *config, char *error,
                                              size_t cap);
// Ends the viewing, if it has not ended, and frees the viewer; it waits for its threads, which may
// take two seconds. Returns the report, JSON as of --report, which the caller frees with free();
// NULL: no memory. NULL is fine.
WEIR_API char *weir_viewer_close(struct weir_viewer *v);

// These request something, and return at once; the outcome comes as an event or a picture. They do
// nothing before the stream plays, where the options --start and --level serve, nor after its end.
// No request is lost. Of those that come faster than the viewer takes them, the last one of pause
// and resume, the last position and the last level count.
WEIR_API void weir_viewer_pause(struct weir_viewer *v);
WEIR_API void weir_viewer_resume(struct weir_viewer *v);
// To `seconds` of a film; of live media, to -`seconds` before the present, 0 being the present.
// Does nothing if `seconds` is no finite number.
WEIR_API void weir_viewer_seek(struct weir_viewer *v, double seconds);
// 0 is the lowest level; -1: automatic.
WEIR_API void weir_viewer_set_level(struct weir_viewer *v, int level);

// ---- Sender ----

struct weir_sender_config {
    size_t size; // sizeof(struct weir_sender_config)
    // weir-send's SOURCE: a file, a device, "test:" ...; NULL: the program pushes the pictures.
    const char *source;
    // Of pushed pictures: pixels, even, 160x90 to 4096x4096; at most `fps_num` / `fps_den` pictures
    // a second, 1 to 240, as 25 / 1 or 30000 / 1001.
    int width, height;
    int fps_num, fps_den;
    // The program pushes audio, too.
    int has_audio;
    // weir-send's, such as {"--listen", "127.0.0.1:8554", "--path", "/room", NULL}; NULL: none. It
    // listens where weir-send does, unless they say otherwise. --prepare, --invite and others that
    // do not stream are refused; those of the log have no effect.
    const char *const *options;
};

struct weir_sender;

// Opens the source, which may take half a minute, and begins to serve. NULL: nothing was started,
// and `error`, of `cap` bytes, says what is wrong. The configuration may go away after the call.
WEIR_API struct weir_sender *weir_sender_open(const struct weir_sender_config *config, char *error,
                                              size_t cap);
// Says goodbye to the viewers and frees the sender; it waits for its threads, as a rule for less
// than two seconds. After ten it leaves a thread behind whose device or disk does not respond.
// NULL is fine.
WEIR_API void weir_sender_close(struct weir_sender *s);

// The URL at which viewers of this machine watch; off the loopback viewers need a key, too, which
// it does not contain (weir-send --invite prints one). Valid until the sender is closed.
WEIR_API const char *weir_sender_url(const struct weir_sender *s);

// Copies the picture and returns at once. Returns 0, or -1: it was dropped, because it comes sooner
// after the one before than the rate allows, because it does not have the configured size, a plane
// is NULL or a stride too small, or because `captured` is negative. While no picture is pushed,
// viewers see the last one.
WEIR_API int weir_sender_push_picture(struct weir_sender *s, const struct weir_picture *p);
// The same of `frames` samples for each channel, at most 48,000, the first captured at `captured`
// (0: now; see struct weir_picture). Returns 0, or -1: dropped, because a quarter of a second is
// still waiting, or because a number is out of its range. Viewers hear it with the pictures of its
// time; where none is pushed, they hear silence.
WEIR_API int weir_sender_push_audio(struct weir_sender *s, const int16_t *samples, int frames,
                                    int64_t captured);
// Returns the stats now, JSON as of --metrics' /status.json: `sessions` has an object for each
// viewer. The caller frees the text with free(). NULL: no memory, or no answer within two seconds.
WEIR_API char *weir_sender_stats(struct weir_sender *s);

#ifdef __cplusplus
}
#endif
#endif
