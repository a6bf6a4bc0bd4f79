// SPDX-License-Identifier: GPL-2.0-or-later
// Whole viewings of a real sender over the loopback, with a window of the test: what the viewer's
// keys do, and how a viewing ends. Whole programs: tests/e2e.
#include "player/session/viewing.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common/net/clock.h"
#include "lib/weir.h"
#include "tests/support/stored_film.hpp"

namespace
{

// weir-send of one source.
class sender
{
  public:
    explicit sender(const std::string &source, std::vector<const char *> more = {},
                    const std::string &at = "127.0.0.1:0")
    {
        std::vector<const char *> options = {"--listen", at.c_str()};
        options.insert(options.end(), more.begin(), more.end());
        options.push_back(nullptr);
        char error[512] = "";
        weir_sender_config c = {};
        c.size = sizeof(c);
        c.source = source.c_str();
        c.options = options.data();
        s = weir_sender_open(&c, error, sizeof(error));
        INFO(error);
        REQUIRE(s);
        url = weir_sender_url(s);
    }
    ~sender()
    {
        close();
    }
    sender(const sender &) = delete;
    sender &operator=(const sender &) = delete;

    void close()
    {
        weir_sender_close(s);
        s = nullptr;
    }
    std::string address() const // ADDR:PORT
    {
        return url.substr(7, url.find('/', 7) - 7);
    }
    std::string url;

  private:
    weir_sender *s;
};

// A port of 127.0.0.1 on which nobody listens while it is held.
class closed_port
{
  public:
    closed_port()
    {
        sockaddr_in at{};
        socklen_t len = sizeof(at);
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        REQUIRE(fd >= 0);
        REQUIRE(bind(fd, reinterpret_cast<sockaddr *>(&at), sizeof(at)) == 0);
        REQUIRE(getsockname(fd, reinterpret_cast<sockaddr *>(&at), &len) == 0);
        url = "rtsp://127.0.0.1:" + std::to_string(ntohs(at.sin_port)) + "/live";
    }
    ~closed_port()
    {
        close(fd);
    }
    std::string url;

  private:
    int fd;
};

// A window without a screen. It keeps what the viewing shows in it.
class window : public display
{
  public:
    explicit window(const display_config &c) : display{}
    {
        static const display_ops of = {run, expect, set_status, set_osd, nullptr};
        ops = &of;
        config = c;
    }
    // Waits until `what` holds of this window, whose lock is held then. Only a hang reaches the
    // limit.
    template <class What> void until(What what)
    {
        std::unique_lock<std::mutex> hold(lock);
        const bool came =
            changed.wait_for(hold, std::chrono::minutes(10), [&] { return what(*this); });
        INFO("shown " << shown << " toast '" << osd.toast << "' message '" << osd.message.text
                      << "' title '" << title << "'");
        REQUIRE(came);
    }
    void until_shown(int more)
    {
        int from = read([](window &w) { return w.shown; });
        until([from, more](window &w) { return w.shown >= from + more; });
    }
    template <class What> auto read(What what) -> decltype(what(*this))
    {
        std::lock_guard<std::mutex> hold(lock);
        return what(*this);
    }
    // Returns the message that the viewer sees after `act`.
    template <class Act> std::string toast_after(Act act)
    {
        const unsigned before = read([](window &w) { return w.osd.toasts; });
        act(config);
        until([before](window &w) { return w.osd.toasts != before; });
        return read([](window &w) { return std::string(w.osd.toast); });
    }
    std::string key(display_command c)
    {
        return toast_after([c](display_config &to) { to.on_command(to.ctx, c); });
    }
    void press(display_command c) // a key whose effect is no message
    {
        config.on_command(config.ctx, c);
    }

    // Under the lock.
    int shown = 0;
    int64_t number = -1; // of the newest picture
    osd_state osd{};
    std::string title;
    bool ended = false;
    int tries = 0; // how often it has tried again

  private:
    std::mutex lock;
    std::condition_variable changed;

    template <class Act> static void change(display *d, Act act)
    {
        window *w = static_cast<window *>(d);
        {
            std::lock_guard<std::mutex> hold(w->lock);
            act(*w);
        }
        w->changed.notify_all();
    }
    static int run(display *d)
    {
        while (!render_queue_closed(d->config.queue)) {
            usec_t next;
            play_frame *f = render_queue_due(d->config.queue, &next, clock_now());
            if (!f) {
                render_queue_wait(d->config.queue, next);
                continue;
            }
            f->shown_at = clock_now();
            f->fate = FATE_SHOWN;
            const int64_t number = f->number;
            d->config.on_shown(d->config.shown_ctx, f);
            change(d, [number](window &w) {
                w.shown++;
                w.number = number;
            });
        }
        change(d, [](window &w) { w.ended = true; });
        return 0;
    }
    static void expect(display *, int, int) {}
    static void set_status(display *d, const char *text)
    {
        change(d, [text](window &w) { w.title = text; });
    }
    static void set_osd(display *d, const osd_state *state)
    {
        change(d, [state](window &w) {
            w.tries += w.osd.message.retry && !state->message.retry;
            w.osd = *state;
        });
    }
};

// One viewing, on a thread of its own. `window_of_its_own`: else it is as weir-play --headless.
class watched
{
  public:
    explicit watched(const std::string &url, std::vector<const char *> more = {},
                     bool has_window = true)
    {
        std::vector<const char *> words = {"weir-play", "--headless", "--no-audio", "--quiet"};
        if (has_window)
            words.push_back("--reconnect"); // as a window has it by itself
        words.insert(words.end(), more.begin(), more.end());
        if (!url.empty())
            words.push_back(url.c_str());
        char error[512] = "";
        REQUIRE(play_options_parse((int)words.size(), const_cast<char **>(words.data()), &options,
                                   stdout, error, sizeof(error)) == OPTIONS_RUN);
        options.headless = !has_window;
        viewing_config c{};
        c.options = &options;
        v = viewing_new(&c);
        REQUIRE(v);
        w = std::make_unique<window>(viewing_display_config(v));
        thread = std::thread([this] {
            if (viewing_start(v, w.get()) == 0) {
                w->ops->run(w.get());
                code = viewing_finish(v);
            }
        });
    }
    ~watched()
    {
        if (thread.joinable()) {
            viewing_quit(v);
            thread.join();
        }
        viewing_free(v);
        play_options_destroy(&options);
    }
    watched(const watched &) = delete;
    watched &operator=(const watched &) = delete;

    // Waits until the viewing has ended by itself. Returns its exit code.
    int end()
    {
        w->until([](window &x) { return x.ended; });
        thread.join();
        return code;
    }
    const qoe_json &report() const
    {
        return *viewing_report(v);
    }
    std::string error() const
    {
        return report().error ? report().error : "";
    }

    play_options options{};
    viewing *v;
    std::unique_ptr<window> w;

  private:
    std::thread thread;
    int code = -1;
};

const int SHORT = 2, LONG = 30; // groups of 2 s

bool has(const std::string &text, const char *part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("viewing: a film is shown to its end", "[threads]")
{
    stored_film film(SHORT);
    sender s(film.path);
    watched v(s.url);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().ended == QOE_END_OF_MEDIA);
    CHECK(v.error() == "");
    CHECK(v.report().playback.frames_received == SHORT * stored_film::GROUP);
    CHECK(v.w->number == SHORT * stored_film::GROUP - 1);
    CHECK(v.w->osd.ended);
    CHECK(v.report().session.reconnects == 0);
}

TEST_CASE("viewing: what each key says in a film", "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url);
    window &w = *v.w;
    w.until_shown(2);
    const struct {
        display_command key;
        const char *said;
    } rows[] = {
        {DISPLAY_MUTE, "No audio"},
        {DISPLAY_LOUDER, "No audio"},
        {DISPLAY_SUBTITLES, "This stream has no text subtitles"},
        {DISPLAY_AUDIO_TRACK, "This stream has no audio"},
        {DISPLAY_LEVEL_UP, "Level 0 is the highest"},
        {DISPLAY_LEVEL_DOWN, "Level 0 is the lowest"},
        {DISPLAY_NEXT, "There is no other channel: --playlist FILE lists them"},
        {DISPLAY_PREVIOUS, "There is no other channel: --playlist FILE lists them"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.key);
        CHECK(w.key(row.key) == row.said);
    }
    CHECK(w.toast_after([](display_config &c) { c.on_channel(c.ctx, 3); }) ==
          "There is no channel 3: there are 1 to 1");
    CHECK(w.toast_after([](display_config &c) { c.on_seek(c.ctx, false, 30); }) == "0:30 of 1:00");
    w.until([](window &x) { return x.osd.position >= 30; });
    CHECK(w.toast_after([](display_config &c) { c.on_seek(c.ctx, false, 600); }) ==
          "1:00 of 1:00"); // no further than the end
    CHECK(w.toast_after([](display_config &c) { c.on_seek(c.ctx, true, -50); }).find(" of 1:00") !=
          std::string::npos);
    w.until([](window &x) { return x.osd.position < 30; });
}

TEST_CASE("viewing: a pause keeps the picture, a step shows one more, and the film goes on",
          "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url);
    window &w = *v.w;
    w.until_shown(3);
    w.press(DISPLAY_PAUSE);
    w.until([](window &x) { return x.osd.paused; });
    const int before = w.read([](window &x) { return x.shown; });
    const int64_t number = w.read([](window &x) { return x.number; });
    w.press(DISPLAY_STEP);
    w.until([before](window &x) { return x.shown > before; });
    CHECK(w.read([](window &x) { return x.shown; }) == before + 1);
    CHECK(w.read([](window &x) { return x.number; }) == number + 1);
    CHECK(w.read([](window &x) { return x.osd.paused; }));
    w.press(DISPLAY_PAUSE);
    w.until([](window &x) { return !x.osd.paused; });
    w.until_shown(3);
    w.press(DISPLAY_STEP); // the first one pauses
    w.until([](window &x) { return x.osd.paused; });
}

TEST_CASE("viewing: fast forward, rewind and back to normal play", "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url, {"--start", "20"});
    window &w = *v.w;
    w.until_shown(2);
    w.until([](window &x) { return x.osd.position >= 19; });
    CHECK(w.key(DISPLAY_FASTER) == "Fast forward 2x");
    w.until([](window &x) { return x.osd.scale == 2; });
    CHECK(w.key(DISPLAY_FASTER) == "Fast forward 4x");
    w.until([](window &x) { return x.osd.scale == 4; });
    CHECK(w.key(DISPLAY_NORMAL) == "Play");
    w.until([](window &x) { return x.osd.scale == 1; });
    CHECK(w.key(DISPLAY_SLOWER) == "Rewind 2x");
    w.until([](window &x) { return x.osd.scale == -2; });
    const double from = w.read([](window &x) { return x.osd.position; });
    w.until([from](window &x) { return x.osd.position < from; });
    w.key(DISPLAY_NORMAL);
    w.until([](window &x) { return x.osd.scale == 1; });
    w.press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().ended == QOE_QUIT);
    CHECK(v.report().controls[QOE_CONTROL_SCALE].count == 5);
}

TEST_CASE("viewing: what a server that cannot be watched leads to", "[threads]")
{
    stored_film film(SHORT);
    sender s(film.path);
    closed_port closed;
    const struct {
        std::string url;
        const char *said;
    } rows[] = {
        {closed.url, "no server answers"},
        {s.url.substr(0, s.url.rfind('/')) + "/other", "404"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.url);
        watched v(row.url, {}, false);
        CHECK(v.end() == EXIT_REFUSED);
        CHECK(v.report().ended == QOE_ERROR);
        CHECK_THAT(v.error(), Catch::Contains(row.said));
        CHECK_FALSE(v.report().playback.frames_played > 0);
    }
    // In a window the viewer may try again, or leave; then it is an error, too.
    watched v(closed.url);
    v.w->until([](window &x) { return x.osd.message.retry; });
    CHECK(has(v.w->read([](window &x) { return x.title; }), "cannot open"));
    v.w->press(DISPLAY_RETRY);
    v.w->until([](window &x) { return x.tries == 1 && x.osd.message.retry; });
    v.w->press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_REFUSED);
    CHECK_THAT(v.error(), Catch::Contains("no server answers"));
}

TEST_CASE("viewing: a server that goes away ends the viewing as lost, not as the end of the film",
          "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url, {"--no-reconnect"}, false);
    v.w->until_shown(25);
    s.close();
    CHECK(v.end() == EXIT_SERVER_LOST);
    CHECK(v.report().ended == QOE_SERVER_LOST);
    CHECK(v.error() != "");
}

TEST_CASE("viewing: a server that returns is watched again from where the film was", "[threads]")
{
    stored_film film(LONG);
    auto s = std::make_unique<sender>(film.path);
    const std::string at = s->address();
    watched v(s->url);
    window &w = *v.w;
    w.until_shown(20);
    s.reset();
    w.until([](window &x) { return x.osd.message.retry; });
    const double lost_at = w.read([](window &x) { return x.osd.position; });
    sender again(film.path, {}, at);
    w.press(DISPLAY_RETRY); // at once
    w.until([](window &x) { return !x.osd.message.retry && x.osd.message.text[0] == '\0'; });
    w.until_shown(5);
    CHECK(w.read([](window &x) { return x.osd.position; }) >= lost_at - .5);
    w.press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().session.reconnects == 1);
}

TEST_CASE("viewing: --duration ends it", "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url, {"--duration", "2"}, false);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().ended == QOE_DURATION);
    CHECK(v.report().playback.frames_played > 0);
}

TEST_CASE("viewing: the channels of a playlist, after the last one the first", "[threads]")
{
    temp_folder folder; // it hears what the senders' threads log, to their end
    stored_film one(LONG), two(LONG);
    sender a(one.path), b(two.path);
    const std::string list = folder / "list";
    std::ofstream(list) << "#EXTINF:-1,The One\n"
                        << a.url << "\n#EXTINF:-1,The Other\n"
                        << b.url << "\n";
    watched v("", {"--playlist", list.c_str()});
    window &w = *v.w;
    w.until_shown(2);
    CHECK(w.key(DISPLAY_NEXT) == "2  The Other");
    w.until([](window &x) { return x.osd.channel == 2; });
    w.until_shown(2);
    CHECK(w.key(DISPLAY_NEXT) == "1  The One");
    w.until([](window &x) { return x.osd.channel == 1; });
    w.until_shown(2);
    CHECK(w.key(DISPLAY_PREVIOUS) == "2  The Other");
    w.until_shown(2);
    CHECK(w.toast_after([](display_config &c) { c.on_channel(c.ctx, 3); }) ==
          "There is no channel 3: there are 1 to 2");
    w.press(DISPLAY_STOP);
    w.until([](window &x) { return x.osd.channel == 0; });
    w.press(DISPLAY_PAUSE); // plays it again
    w.until_shown(2);
    b.close();
    w.press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().channels.count >= 3);
    CHECK(v.report().channels.list[0].number == 2);
    CHECK(std::isfinite(v.report().channels.list[0].wait));
}

TEST_CASE("viewing: the viewer changes the transport, and the film goes on", "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url, {"--transport", "tcp"});
    window &w = *v.w;
    w.until_shown(20);
    for (const char *name : {"mtp", "tcp"}) {
        const double at = w.read([](window &x) { return x.osd.position; });
        w.config.on_transport(w.config.ctx, name);
        w.until([name](window &x) { return has(x.osd.panel.transport, name); });
        w.until_shown(5);
        CHECK(w.read([](window &x) { return x.osd.position; }) >= at);
    }
    w.press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().session.reconnects == 2); // a connection each
}

TEST_CASE("viewing: a film is played faster and slower, and normally again", "[threads]")
{
    stored_film film(LONG);
    sender s(film.path);
    watched v(s.url, {"--speed", "1.5"});
    window &w = *v.w;
    w.until_shown(2);
    w.until([](window &x) { return x.osd.speed == 1.5; });
    CHECK(w.key(DISPLAY_SPEED_UP) == "Speed 1.75x");
    CHECK(w.key(DISPLAY_SPEED_UP) == "Speed 2x");
    w.until([](window &x) { return x.osd.speed == 2; });
    CHECK(w.key(DISPLAY_SPEED_DOWN) == "Speed 1.75x");
    CHECK(w.key(DISPLAY_NORMAL) == "Normal speed");
    w.until([](window &x) { return x.osd.speed == 1 && x.osd.scale == 1; });
    CHECK(w.key(DISPLAY_NORMAL) == "Play");
}

TEST_CASE("viewing: keys in live video, which has no past here", "[threads]")
{
    sender s("test:160x90@10");
    watched v(s.url);
    window &w = *v.w;
    w.until_shown(3);
    CHECK(w.key(DISPLAY_STEP) == "Cannot step through live video");
    CHECK(w.toast_after([](display_config &c) { c.on_seek(c.ctx, true, -5); }) ==
          "Cannot rewind live video: the server keeps no past");
    CHECK(w.key(DISPLAY_FASTER) == "No fast forward or rewind: the media is not a prepared film");
    CHECK(w.key(DISPLAY_SPEED_UP) == "The speed of live media cannot be changed");
    CHECK(has(w.toast_after([](display_config &c) { c.on_level(c.ctx, 0); }), "Level 0: "));
    w.press(DISPLAY_FAILED);
    CHECK(v.end() == EXIT_INTERNAL);
    CHECK(v.error() == "the display failed");
}

TEST_CASE("viewing: Goddard's policy chooses the level, and the viewer cannot", "[threads]")
{
    sender s("synthetic:goddard");
    watched v(s.url, {"--adapt", "goddard", "--transport", "mtp"});
    window &w = *v.w;
    w.until([](window &x) { return x.osd.samples > 0 && x.osd.ladder.level_count == 7; });
    CHECK(w.read([](window &x) { return x.osd.level_policy; }));
    CHECK(w.key(DISPLAY_LEVEL_UP) == "The level cannot be chosen: --adapt goddard chooses it");
    w.until([](window &x) {
        return x.osd.panel.value[PANEL_LEVEL] == 6;
    }); // the loopback carries the highest one
    w.press(DISPLAY_QUIT);
    CHECK(v.end() == EXIT_ENDED);
    CHECK(v.report().levels.count == 7);
    CHECK(v.report().levels.switch_count >= 1);
}
