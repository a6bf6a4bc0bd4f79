// SPDX-License-Identifier: GPL-2.0-or-later
// Captures of odd cameras (tests/cameras) played in virtual time: the session of a camera
// (rtsp_client), its media's paths (media_receiver) and receivers, wired as rtsp_link wires them,
// but for the connection. The camera's bytes come from the capture, and its datagrams are handed to
// the receivers: what the client sends over the connection it was given reaches nothing.
#include "sender/camera/rtsp_camera.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <dirent.h>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "client/receive/media_receiver.h"
#include "client/rtsp/rtsp_hash.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/protocol/rtsp_client.h"
#include "common/transport/transport_list.h"
#include "common/wire/rtsp.h"
#include "sender/camera/camera_receiver.h"
#include "tests/support/camera_capture.hpp"
#include "tests/support/tcp_pair.hpp"

namespace
{

const usec_t T0 = 1000 * USEC_PER_SEC;
const usec_t WALL = 1700000000 * USEC_PER_SEC; // at time 0

const char USUAL_SDP[] =
    "v=0\r\no=- 1 1 IN IP4 192.0.2.9\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
    "a=control:*\r\na=range:npt=now-\r\nm=video 0 RTP/AVP 96\r\n"
    "a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\n"
    "a=control:track1\r\n";

std::vector<std::string> logged;
std::mutex logged_lock;

void keep_log(const log_entry *e)
{
    std::lock_guard<std::mutex> guard(logged_lock);
    logged.emplace_back(e->text);
}

// What a camera that is not odd answers.
test::camera_answer usual(const std::string &method, const std::string &url)
{
    test::camera_answer a;
    a.status = "200 OK";
    if (method == "OPTIONS")
        a.headers = {"Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER"};
    else if (method == "DESCRIBE")
        a.headers = {"Content-Type: application/sdp", "Content-Base: " + url + "/"};
    else if (method != "TEARDOWN")
        a.headers = {"Session: 4711"};
    return a;
}

struct player {
    test::camera_capture capture;
    test::tcp_pair pair;
    rtsp_client *client = nullptr;
    media_receiver path = {};
    bool has_path = false;
    camera_receiver *receiver = nullptr;
    stream_receiver *media = nullptr;
    usec_t now = T0, begun = 0; // PLAY was sent then
    std::string unread;
    std::map<std::string, size_t> taken; // answers of a method
    std::vector<std::string> requests;
    struct event {
        usec_t at;
        size_t order;
        int channel; // -1: the connection's bytes; -2: connected again; -3: closed
        std::string data;
        bool operator<(const event &o) const
        {
            return at != o.at ? at > o.at : order > o.order;
        }
    };
    std::priority_queue<event> events;
    size_t order = 0;
    usec_t next_second = T0;
    int pictures = 0, keys = 0, sound = 0;
    int sets = 0;          // key frames that have their parameter sets
    std::string plain_url; // without user and password
    std::string end;       // why it ended before the capture did

    explicit player(const test::camera_capture &c) : capture(c)
    {
        if (capture.sdp.empty())
            capture.sdp = USUAL_SDP;
    }
    player(const player &) = delete;
    player &operator=(const player &) = delete;
    ~player()
    {
        rtsp_client_free(client);
        if (has_path)
            media_receiver_destroy(&path);
        stream_receiver_free(media);
        camera_receiver_free(receiver);
    }

    static player *of(void *ctx)
    {
        return static_cast<player *>(ctx);
    }
    void add(usec_t at, int channel, const std::string &data)
    {
        events.push({at, order++, channel, data});
    }

    // ---- The camera

    static std::string header_of(const rtsp_item &item, const char *name)
    {
        text value = rtsp_header(&item, name);
        return value.at ? std::string(value.at, value.len) : "";
    }

    std::string granted(const rtsp_item &request)
    {
        std::string offer = header_of(request, "Transport");
        size_t ports = offer.find("client_port=");
        return ports == std::string::npos ? offer : offer + ";server_port=6970-6971";
    }

    void answer(const std::string &method, const rtsp_item &request)
    {
        auto found = capture.answers.find(method);
        test::camera_answer a = usual(method, plain_url);
        if (method == "SETUP")
            a.headers.push_back("Transport: " + granted(request));
        if (found != capture.answers.end()) {
            size_t &next = taken[method];
            const test::camera_answer &odd = found->second[next];
            next += next + 1 < found->second.size();
            if (odd.is_silent)
                return;
            test::camera_answer was = a;
            a = odd;
            if (a.status == "usual") { // and what is added to it
                was.headers.insert(was.headers.end(), a.headers.begin(), a.headers.end());
                a.status = was.status;
                a.headers = was.headers;
            }
            if (method == "SETUP" && a.status[0] == '2')
                for (std::string &h : a.headers)
                    if (h == "Transport: =")
                        h = "Transport: " + granted(request);
        }
        bool has_sdp = method == "DESCRIBE" && a.status[0] == '2' && a.body.empty();
        std::string body = has_sdp ? capture.sdp : a.body;
        std::string head = "RTSP/1.0 " + a.status + "\r\n";
        if (a.has_cseq)
            head += "CSeq: " + std::to_string(request.cseq) + "\r\n";
        for (const std::string &h : a.headers)
            head += h + "\r\n";
        if (!body.empty() && a.has_length)
            head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
        head += "\r\n";
        if (a.lf_only)
            head.erase(std::remove(head.begin(), head.end(), '\r'), head.end());
        add(now + a.after, -1, head + body);
    }

    void on_request(const char *data, size_t len)
    {
        rtsp_item item;
        size_t used;
        REQUIRE(rtsp_decode(reinterpret_cast<const uint8_t *>(data), len, &item, &used) == 0);
        REQUIRE(used == len);
        if (item.kind != RTSP_REQUEST)
            return;
        std::string line(data, len);
        std::string flat;
        for (char ch : line)
            flat += ch == '\r' ? "" : ch == '\n' ? " | " : std::string(1, ch);
        requests.push_back(flat);
        std::string method = rtsp_method_name(item.method);
        answer(method, item);
        if (method == "PLAY" && !begun) {
            begun = now;
            for (const test::camera_media &m : capture.media)
                add(now + m.at, m.closes ? -3 : m.channel, m.data);
        }
    }

    // ---- The client's owner, as rtsp_link and rtsp_camera are

    void to_receivers(media_track track, bool rtcp, const uint8_t *data, size_t len)
    {
        if (!rtcp)
            rtsp_client_media_open(client, now);
        if (rtsp_client_media_received(client, now) && media)
            stream_receiver_packet(media, track, rtcp, data, len, now, now);
    }

    static const rtsp_client_link *link()
    {
        static const media_receiver_ops media_ops = {
            [](void *ctx, media_track track, bool rtcp, const uint8_t *data, size_t len, usec_t,
               usec_t) { of(ctx)->to_receivers(track, rtcp, data, len); },
            [](void *, const capacity_packet *, size_t, usec_t, usec_t) {},
            [](void *ctx, usec_t at) { rtsp_client_media_open(of(ctx)->client, at); },
            nullptr,
            nullptr,
            nullptr,
            nullptr,
            [](void *, const char *, usec_t) {}};
        static rtsp_client_link l = {};
        l.send = [](void *ctx, const char *data, size_t len, usec_t *wall) {
            *wall = WALL + of(ctx)->now;
            of(ctx)->on_request(data, len);
            return 0;
        };
        l.redirect = [](void *ctx, const url *to, usec_t at) {
            of(ctx)->requests.push_back(std::string("connects to ") + to->host + ":" +
                                        std::to_string(to->port));
            of(ctx)->add(at, -2, "");
        };
        l.impossible = [](void *, const char *) -> const char * { return nullptr; };
        l.offer = [](void *ctx, const sdp *s, const transport_list *list, char *out, size_t cap) {
            player *p = of(ctx);
            media_receiver_init(&p->path, &p->pair.loop, p->pair.conn, s, 7, nullptr, &media_ops,
                                p);
            p->has_path = true;
            return media_receiver_offer(&p->path, list, "", "", out, cap);
        };
        l.accept = [](void *ctx, const transport_list *list, text answer, rtsp_client_path *out,
                      usec_t at) {
            player *p = of(ctx);
            int err = media_receiver_accept(&p->path, list, answer, at);
            *out = {};
            out->datagram = out->pairs = p->path.datagram;
            out->validates = media_receiver_tells(&p->path);
            std::strcpy(out->transport, p->path.name);
            return err;
        };
        l.offer_beside = [](void *, const char *, char *, size_t) { return (int)ERR_UNSUPPORTED; };
        l.accept_beside = [](void *, text) { return false; };
        l.try_beside = [](void *, usec_t) {};
        l.offer_second = [](void *, char *, size_t) { return (int)ERR_UNSUPPORTED; };
        l.accept_second = [](void *, text, usec_t) { return false; };
        l.offer_audio = [](void *ctx, char *out, size_t cap) {
            return media_receiver_offer_audio(&of(ctx)->path, out, cap);
        };
        l.accept_audio = [](void *ctx, text answer) {
            return media_receiver_accept_audio(&of(ctx)->path, answer);
        };
        l.abandon = [](void *ctx, const char *) { media_receiver_destroy(&of(ctx)->path); };
        l.media_is_open = [](void *) { return false; };
        l.on_interleaved = [](void *ctx, int channel, const uint8_t *data, size_t len, usec_t at) {
            media_receiver_interleaved(&of(ctx)->path, channel, data, len, at);
        };
        return &l;
    }

    // Of H.264, or of H.265.
    static bool has_sps(const received_frame *f)
    {
        std::string data(reinterpret_cast<const char *>(f->data), f->bytes);
        return data.find(std::string("\0\0\0\1\x67", 5)) != std::string::npos ||
               data.find(std::string("\0\0\0\1\x42", 5)) != std::string::npos;
    }

    static const camera_link_ops *camera_ops()
    {
        static const camera_link_ops ops = {
            [](void *, const sdp *, const char *, usec_t) {},
            [](void *, uint32_t, usec_t) {},
            [](void *ctx, received_frame *f, usec_t) {
                const usec_t media_time = (usec_t)f->number * 40000;
                stream_receiver_relate(of(ctx)->media, f->rtp_timestamp, media_time, of(ctx)->now);
                of(ctx)->pictures++;
                of(ctx)->keys += f->key;
                of(ctx)->sets += f->key && has_sps(f);
                received_frame_free(f);
            },
            [](void *ctx, const received_audio *, usec_t) { of(ctx)->sound++; },
            [](void *, usec_t, uint32_t) {},
            [](void *, int, const char *, usec_t) {}};
        return &ops;
    }

    static const rtsp_client_events *client_events()
    {
        static rtsp_client_events e = {};
        e.on_described = [](void *ctx, const sdp *s, const char **why, usec_t described) {
            player *p = of(ctx);
            *why = "it is no live video in H.264, H.265, VP9 or JPEG";
            if (!camera_receiver_takes(s))
                return false;
            stream_receiver_free(p->media);
            camera_receiver_free(p->receiver);
            camera_receiver_config config = {};
            config.sdp = s;
            config.ops = camera_ops();
            config.ctx = config.link = p;
            config.give_up = [](void *link, const char *reason, usec_t at) {
                rtsp_client_fail(of(link)->client, RTSP_CLIENT_LOST, reason, at);
            };
            config.on_bye = [](void *link, usec_t at) {
                rtsp_client_fail(of(link)->client, RTSP_CLIENT_LOST,
                                 "the camera has ended the stream", at);
            };
            p->receiver = camera_receiver_new(&config);
            stream_receiver_config of_media = camera_receiver_media(p->receiver);
            of_media.video.loop = &p->pair.loop;
            of_media.video.random = 5;
            of_media.video.back.send_rtcp = [](void *, media_track, const uint8_t *, size_t) {};
            p->media = stream_receiver_new(&of_media);
            return camera_receiver_begin(p->receiver, p->media, described);
        };
        e.on_setup = [](void *ctx, const rtsp_client_setup *setup, usec_t) {
            video_repair repair = {};
            repair.datagram = setup->datagram;
            repair.wanted = REPAIR_MODE_AUTO;
            repair.agreed = REPAIR_MODE_OFF;
            CHECK(stream_receiver_set_repair(of(ctx)->media, &repair, false) == 0);
        };
        e.on_audio = [](void *ctx) { (void)stream_receiver_add_audio(of(ctx)->media); };
        e.on_end = [](void *ctx, rtsp_client_end, const char *text, usec_t) {
            of(ctx)->end = text;
        };
        return &e;
    }

    // ---- Time

    void receive(const std::string &bytes)
    {
        unread += bytes;
        int used = rtsp_client_input(client, reinterpret_cast<const uint8_t *>(unread.data()),
                                     unread.size(), WALL + now, now);
        if (used < 0)
            rtsp_client_closed(client, used, now);
        else
            unread.erase(0, (size_t)used);
    }

    void deliver(const event &e)
    {
        if (e.channel == -2) {
            unread.clear();
            rtsp_client_connected(client, now);
        } else if (e.channel == -3) {
            rtsp_client_closed(client, ERR_CLOSED, now);
        } else if (e.channel < 0) {
            receive(e.data);
        } else if (has_path && path.datagram) {
            to_receivers(e.channel < 2 ? TRACK_VIDEO : TRACK_AUDIO, e.channel % 2,
                         reinterpret_cast<const uint8_t *>(e.data.data()), e.data.size());
        } else {
            uint8_t head[RTSP_INTERLEAVED_HEAD];
            rtsp_interleaved_encode(head, e.channel, e.data.size());
            receive(std::string(reinterpret_cast<char *>(head), sizeof(head)) + e.data);
        }
    }

    void play()
    {
        rtsp_client_config config = {};
        const char *why;
        REQUIRE(url_parse(capture.url.c_str(), &config.url, &why) == 0);
        REQUIRE(transport_list_split("tcp,udp", &config.transports) == 0);
        plain_url = config.url.text;
        config.standard_transports = transport_list_standard(&config.transports);
        config.adapt = "none";
        config.live_latency_ms = config.stored_latency_ms = 2000;
        config.has_audio = config.takes_other_codecs = true;
        config.hash = rtsp_hash;
        config.seed = 3;
        std::string host = config.url.host;
        config.may_follow = [](const void *ctx, const url *to) {
            return *static_cast<const std::string *>(ctx) == to->host;
        };
        config.follow_ctx = &host;
        client = rtsp_client_new(&config, link(), this, client_events(), this, now);
        REQUIRE(client);
        rtsp_client_connected(client, now);
        usec_t limit = T0 + 100 * USEC_PER_SEC;
        while (!rtsp_client_is_over(client)) {
            usec_t stop = begun ? begun + capture.until : limit;
            usec_t due = usec_min(rtsp_client_next_timeout(client), next_second);
            if (usec_min(due, events.empty() ? USEC_NEVER : events.top().at) > stop)
                break;
            if (!events.empty() && events.top().at <= due) {
                event e = events.top();
                events.pop();
                now = usec_max(now, e.at);
                deliver(e);
                continue;
            }
            now = usec_max(now, due);
            if (now >= next_second) {
                video_receiver_stats unused;
                if (media)
                    stream_receiver_second(media, &unused, now);
                next_second = now + USEC_PER_SEC;
            }
            if (rtsp_client_next_timeout(client) <= now)
                rtsp_client_on_timeout(client, now);
        }
    }

    // ---- What came of it

    static bool has(const std::vector<std::string> &all, const std::string &part)
    {
        return std::any_of(all.begin(), all.end(),
                           [&](const std::string &s) { return s.find(part) != std::string::npos; });
    }

    void check(const std::string &expected)
    {
        size_t space = expected.find(' ');
        std::string what = expected.substr(0, space), value = expected.substr(space + 1);
        INFO("expect " << expected);
        if (what == "pictures")
            CHECK(std::to_string(pictures) + " keys " + std::to_string(keys) == value);
        else if (what == "sound")
            CHECK(sound == std::stoi(value));
        else if (what == "sets")
            CHECK(sets == std::stoi(value));
        else if (what == "log")
            CHECK(has(logged, value));
        else if (what == "no-log")
            CHECK_FALSE(has(logged, value));
        else if (what == "request")
            CHECK(has(requests, value));
        else if (what == "no-request")
            CHECK_FALSE(has(requests, value));
        else if (what == "keep-alives") // at least
            CHECK(std::count_if(requests.begin(), requests.end(), [](const std::string &r) {
                      return r.compare(0, 14, "GET_PARAMETER ") == 0 ||
                             r.compare(0, 8, "OPTIONS ") == 0;
                  }) >= std::stoi(value));
        else if (what == "end")
            CHECK(end == value);
        else
            FAIL("no such expectation");
    }
};

std::vector<std::string> captures()
{
    const std::string folder = TEST_CAMERAS;
    std::vector<std::string> out;
    DIR *d = opendir(folder.c_str());
    REQUIRE(d);
    while (const dirent *e = readdir(d)) {
        std::string name = e->d_name;
        if (name.size() > 4 && name.substr(name.size() - 4) == ".cam")
            out.push_back(folder + "/" + name);
    }
    closedir(d);
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace

TEST_CASE("rtsp_camera: captures of odd cameras")
{
    std::vector<std::string> all = captures();
    REQUIRE(all.size() > 40);
    for (const std::string &file : all) {
        logged.clear();
        log_to(keep_log, log_all(LOG_INFO));
        {
            player p(test::camera_capture_reader::read(file));
            p.play();
            INFO(file);
            std::string seen;
            for (const std::string &r : p.requests)
                seen += "\n  " + r;
            INFO("requests:" << seen);
            seen.clear();
            for (const std::string &l : logged)
                seen += "\n  " + l;
            INFO("log:" << seen);
            bool ends = false;
            for (const std::string &e : p.capture.expected) {
                p.check(e);
                ends |= e.compare(0, 4, "end ") == 0;
            }
            if (!ends)
                CHECK(p.end == "");
        }
        log_to(nullptr, log_all(LOG_INFO));
    }
}
