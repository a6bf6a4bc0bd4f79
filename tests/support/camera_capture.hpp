// SPDX-License-Identifier: GPL-2.0-or-later
// A capture of a camera: what one camera says, in a text file of tests/cameras (README.md there has
// the format). Parsed into answers by method, and bytes by their time after PLAY.
#ifndef WEIR_TEST_CAMERA_CAPTURE_HPP
#define WEIR_TEST_CAMERA_CAPTURE_HPP

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/base/usec.h"

namespace test
{

struct camera_answer {
    usec_t after = 0; // the request
    std::string status;
    std::vector<std::string> headers;
    std::string body;
    bool has_cseq = true, has_length = true, lf_only = false, is_silent = false;
};

struct camera_media {
    usec_t at;           // after the first PLAY
    int channel = -1;    // -1: bytes between messages
    std::string data;    // without the head of an interleaved frame
    bool closes = false; // the connection ends
};

struct camera_capture {
    std::string from; // report
    std::string url = "rtsp://192.0.2.9/s";
    std::string sdp;
    std::map<std::string, std::vector<camera_answer>> answers; // of a method
    std::vector<camera_media> media;                           // by time
    usec_t until = 0;                                          // after the first PLAY
    std::vector<std::string> expected;
};

class camera_capture_reader
{
  public:
    static camera_capture read(const std::string &path)
    {
        camera_capture_reader r;
        std::ifstream in(path);
        REQUIRE(in);
        std::string line;
        for (int number = 1; std::getline(in, line); number++) {
            INFO(path << ":" << number << ": " << line);
            try {
                r.take(line);
            } catch (const std::exception &e) {
                FAIL("is not of the format: " << e.what());
            }
        }
        std::stable_sort(r.lines.begin(), r.lines.end(),
                         [](const timed &a, const timed &b) { return a.at < b.at; });
        for (const timed &t : r.lines) {
            INFO(path << ": " << t.what << " " << t.rest);
            try {
                r.take_at(t.at, t.what, t.rest);
            } catch (const std::exception &e) {
                FAIL("is not of the format: " << e.what());
            }
        }
        auto &media = r.c.media;
        std::stable_sort(media.begin(), media.end(),
                         [](const camera_media &a, const camera_media &b) { return a.at < b.at; });
        REQUIRE(!r.c.from.empty());
        REQUIRE(!r.c.expected.empty());
        r.c.until += media.empty() ? 0 : media.back().at;
        return r.c;
    }

  private:
    using bytes = std::string;
    struct flow { // of a channel
        uint16_t seq = 1000;
        uint32_t stamp = 0;
        uint32_t ssrc = 0x1234;
    };
    struct timed { // numbers and time stamps count in the order of time
        usec_t at;
        std::string what, rest;
    };
    camera_capture c;
    std::map<int, flow> flows;
    std::vector<timed> lines;
    std::set<int> begun; // channels with a packet
    bool in_sdp = false;

    static std::string trimmed(const std::string &s)
    {
        size_t from = s.find_first_not_of(" \t"), to = s.find_last_not_of(" \t");
        return from == std::string::npos ? "" : s.substr(from, to - from + 1);
    }
    static std::vector<std::string> split(const std::string &s, char by)
    {
        std::vector<std::string> out;
        std::istringstream in(s);
        for (std::string part; std::getline(in, part, by);)
            out.push_back(part);
        return out;
    }
    static bool takes(std::string &s, const std::string &prefix)
    {
        if (s.compare(0, prefix.size(), prefix) != 0)
            return false;
        s.erase(0, prefix.size());
        return true;
    }
    [[noreturn]] static void fail(const std::string &what)
    {
        throw std::runtime_error(what);
    }
    static bytes unhex(const std::string &s)
    {
        bytes out;
        for (size_t i = 0; i + 1 < s.size(); i += 2)
            out += (char)std::stoi(s.substr(i, 2), nullptr, 16);
        return out;
    }
    // \0, \r, \n and \s (a space) stand for these.
    static std::string unescaped(const std::string &s)
    {
        std::string out;
        for (size_t i = 0; i < s.size(); i++) {
            if (s[i] != '\\' || i + 1 == s.size()) {
                out += s[i];
                continue;
            }
            char e = s[++i];
            out += e == '0' ? '\0' : e == 'r' ? '\r' : e == 'n' ? '\n' : e == 's' ? ' ' : e;
        }
        return out;
    }

    void take(std::string line)
    {
        if (in_sdp && (line.empty() || line[0] != ' '))
            in_sdp = false;
        if (in_sdp) {
            std::string text = unescaped(line.substr(2));
            c.sdp += text + (text.empty() || text.back() != '\0' ? "\r\n" : "");
            return;
        }
        if (line.empty() || line[0] == '#')
            return;
        if (takes(line, "from: "))
            c.from = line;
        else if (takes(line, "url: "))
            c.url = line;
        else if (takes(line, "until: "))
            c.until = (usec_t)(std::stod(line) * 1e6);
        else if (takes(line, "expect "))
            c.expected.push_back(line);
        else if (takes(line, "on "))
            take_answer(line);
        else if (line == "sdp:")
            in_sdp = true;
        else
            take_media(line);
    }

    // METHOD [+MS]: STATUS [REASON] | HEADER | ...
    void take_answer(const std::string &line)
    {
        size_t colon = line.find(": ");
        if (colon == std::string::npos)
            fail("METHOD: STATUS");
        std::istringstream head(line.substr(0, colon));
        std::string method, after;
        head >> method >> after;
        camera_answer a;
        a.after = after.empty() ? 0 : (usec_t)(std::stod(after) * 1e3);
        std::vector<std::string> parts = split(line.substr(colon + 2), '|');
        a.status = trimmed(parts.at(0));
        a.is_silent = a.status == "silence";
        for (size_t i = 1; i < parts.size(); i++) {
            std::string h = trimmed(parts[i]);
            if (h == "!no-cseq")
                a.has_cseq = false;
            else if (h == "!no-length")
                a.has_length = false;
            else if (h == "!lf")
                a.lf_only = true;
            else if (takes(h, "!body "))
                a.body = unescaped(h);
            else
                a.headers.push_back(unescaped(h));
        }
        c.answers[method].push_back(a);
    }

    // TIME[..END/STEP] WHAT ..., in seconds
    void take_media(const std::string &line)
    {
        std::istringstream in(line);
        std::string when, what, rest;
        in >> when >> what;
        std::getline(in, rest);
        double from = std::stod(when), to = from, step = 1;
        size_t dots = when.find(".."), slash = when.find('/');
        if (dots != std::string::npos && slash != std::string::npos) {
            from = std::stod(when.substr(0, dots));
            to = std::stod(when.substr(dots + 2));
            step = std::stod(when.substr(slash + 1));
        }
        if (what == "film") {
            add_film((usec_t)(from * 1e6 + .5), trimmed(rest));
            return;
        }
        if (what == "rtp")
            begun.insert(std::stoi(rest));
        for (int i = 0; from + i * step <= to + 1e-9; i++)
            lines.push_back({(usec_t)((from + i * step) * 1e6 + .5), what, trimmed(rest)});
    }

    void take_at(usec_t at, const std::string &what, const std::string &rest)
    {
        camera_media m;
        m.at = at;
        if (what == "junk") {
            m.data = unhex(rest);
            c.media.push_back(m);
        } else if (what == "text") {
            m.data = unescaped(rest);
            c.media.push_back(m);
        } else if (what == "close") {
            m.closes = true;
            c.media.push_back(m);
        } else if (what == "rtp") {
            take_rtp(at, rest);
        } else if (what == "rtcp") {
            take_rtcp(at, rest);
        } else {
            fail("rtp, rtcp, film, junk, text or close");
        }
    }

    // ---- Payloads

    static bytes filled(std::initializer_list<int> head, size_t size)
    {
        bytes out;
        for (int b : head)
            out += (char)b;
        for (size_t i = 0; out.size() < size; i++)
            out += (char)(i * 7 % 250 + 1); // no zero, so no start code
        return out;
    }

    static bytes unit(const std::string &name, size_t size)
    {
        static const std::map<std::string, bytes> sets = {
            {"sps", unhex("6742c00dda0507ec05a83030352800000300080000030194"
                          "78a155")},
            {"pps", unhex("68ce3c80")},
            {"sei", unhex("0605010080")},
            {"aud", unhex("09f0")},
            {"vps5", unhex("40010c01ffff016000000300900000030000030078959809")},
            {"sps5", unhex("420101016000000300900000030000030078a00502016965959a4932bc05a8080808"
                           "2000000300200000030321")},
            {"pps5", unhex("4401c172b46240")},
            {"aud5", unhex("460150")}};
        auto set = sets.find(name);
        if (set != sets.end())
            return set->second;
        std::string hex = name;
        if (takes(hex, "hex="))
            return unhex(hex);
        // A second slice has first_mb_in_slice > 0, or no first_slice_segment_in_pic_flag.
        if (name == "idr" || name == "idr2")
            return filled({0x65, name == "idr" ? 0x88 : 0x48}, size);
        if (name == "p" || name == "p2")
            return filled({0x41, name == "p" ? 0x9a : 0x5a}, size);
        if (name == "b")
            return filled({0x01, 0x9e}, size);
        if (name == "idr5" || name == "idr52")
            return filled({0x26, 0x01, name == "idr5" ? 0xaf : 0x2f}, size);
        if (name == "p5" || name == "p52")
            return filled({0x02, 0x01, name == "p5" ? 0xd0 : 0x50}, size);
        if (name == "sound")
            return filled({0xd5}, size);
        fail("unit " + name);
    }

    // UNIT, stap:UNIT,UNIT..., annexb:UNIT,UNIT..., or fu:I/N: before one of UNIT and annexb.
    static bytes payload(std::string text, size_t size)
    {
        bytes out;
        if (takes(text, "stap:")) {
            out = "\x78";
            for (const std::string &name : split(text, ',')) {
                bytes u = unit(name, size);
                out += (char)(u.size() >> 8);
                out += (char)u.size();
                out += u;
            }
            return out;
        }
        if (takes(text, "annexb:")) {
            for (const std::string &name : split(text, ','))
                out += (out.empty() ? bytes() : bytes("\0\0\0\1", 4)) + unit(name, size);
            return out;
        }
        if (!takes(text, "fu:"))
            return unit(text, size);
        size_t colon = text.find(':');
        size_t i = std::stoul(text), n = std::stoul(text.substr(text.find('/') + 1));
        bytes whole = payload(text.substr(colon + 1), size);
        bool is_h265 =
            text.back() == '5' || (text.size() > 2 && text.substr(text.size() - 2) == "52");
        size_t head = is_h265 ? 2 : 1, part = (whole.size() - head + n - 1) / n;
        int bits = (i == 1 ? 0x80 : 0) | (i == n ? 0x40 : 0);
        if (is_h265) {
            out += (char)((whole[0] & 0x81) | 49 << 1);
            out += whole[1];
            out += (char)(bits | (whole[0] >> 1 & 63));
        } else {
            out += (char)((whole[0] & 0xe0) | 28);
            out += (char)(bits | (whole[0] & 31));
        }
        return out + whole.substr(head + (i - 1) * part, part);
    }

    // ---- Packets

    static void put16(bytes &out, uint32_t v)
    {
        out += (char)(v >> 8);
        out += (char)v;
    }
    static void put32(bytes &out, uint32_t v)
    {
        put16(out, v >> 16);
        put16(out, v & 0xffff);
    }
    static uint32_t number(const std::string &s, uint32_t before)
    {
        return s[0] == '+'   ? before + (uint32_t)std::stoul(s.substr(1))
               : s[0] == '-' ? before - (uint32_t)std::stoul(s.substr(1))
                             : (uint32_t)std::stoul(s, nullptr, 0);
    }
    void add(usec_t at, int channel, const bytes &data)
    {
        camera_media m;
        m.at = at;
        m.channel = channel;
        m.data = data;
        c.media.push_back(m);
    }

    // CHANNEL PAYLOAD [m] [ts=N] [seq=N] [ssrc=N] [pt=N] [size=N] [pad=N] [ext=N] [csrc=N] [on=CH]
    void take_rtp(usec_t at, const std::string &rest)
    {
        std::istringstream in(rest);
        int channel;
        std::string what, word;
        in >> channel >> what;
        flow &f = flows[channel];
        size_t size = 40;
        unsigned pt = channel >= 2 && what == "sound" ? 8 : 96, pad = 0, ext = 0, csrc = 0;
        bool marker = false;
        int to = channel;
        while (in >> word) {
            if (word == "m")
                marker = true;
            else if (takes(word, "ts="))
                f.stamp = number(word, f.stamp);
            else if (takes(word, "seq="))
                f.seq = (uint16_t)number(word, f.seq);
            else if (takes(word, "ssrc="))
                f.ssrc = number(word, f.ssrc);
            else if (takes(word, "pt="))
                pt = number(word, pt);
            else if (takes(word, "size="))
                size = number(word, 0);
            else if (takes(word, "pad="))
                pad = number(word, 0);
            else if (takes(word, "ext="))
                ext = number(word, 0);
            else if (takes(word, "csrc="))
                csrc = number(word, 0);
            else if (takes(word, "on=")) // the flow's numbers, over another channel
                to = (int)number(word, 0);
            else
                fail(word);
        }
        bytes p;
        p += (char)(0x80 | (pad ? 0x20 : 0) | (ext ? 0x10 : 0) | csrc);
        p += (char)((marker ? 0x80 : 0) | pt);
        put16(p, f.seq++);
        put32(p, f.stamp);
        put32(p, f.ssrc);
        for (unsigned i = 0; i < csrc; i++)
            put32(p, 0xc0ffee00 + i);
        if (ext) { // ONVIF's: a profile of its own, `ext` words
            put16(p, 0xabac);
            put16(p, ext);
            for (unsigned i = 0; i < ext; i++)
                put32(p, 0x11223344);
        }
        p += payload(what, size);
        if (pad) {
            p += bytes(pad - 1, '\0');
            p += (char)pad;
        }
        add(at, to, p);
    }

    // CHANNEL sr TS | bye | HEX
    void take_rtcp(usec_t at, const std::string &rest)
    {
        std::istringstream in(rest);
        int channel;
        std::string what;
        uint32_t stamp = 0;
        in >> channel >> what >> stamp;
        bytes p;
        if (what == "sr" || what == "bye") {
            put32(p, what == "sr" ? 0x80c80006 : 0x81cb0001);
            put32(p, 0x1234);
        }
        if (what == "sr")
            for (uint32_t v : {0xe9000000u + (uint32_t)(at / 1000000), 0u, stamp, 1u, 1u})
                put32(p, v);
        add(at, channel, p.empty() ? unhex(what) : p);
    }

    // CHANNEL FPS GOP SECONDS: a key frame with its sets each GOP pictures, one packet a unit.
    void add_film(usec_t at, const std::string &rest)
    {
        std::istringstream in(rest);
        int channel, fps, gop;
        double seconds;
        if (!(in >> channel >> fps >> gop >> seconds))
            fail("CHANNEL FPS GOP SECONDS");
        const std::string to = std::to_string(channel) + " ";
        for (int i = 0; i < (int)(seconds * fps + .5); i++) {
            usec_t when = at + (usec_t)i * 1000000 / fps;
            bool is_first = begun.insert(channel).second;
            std::string ts = " ts=+" + std::to_string(is_first ? 0 : 90000 / fps);
            if (i % gop == 0) {
                lines.push_back({when, "rtp", to + "sps" + ts});
                lines.push_back({when, "rtp", to + "pps"});
                lines.push_back({when, "rtp", to + "idr m"});
            } else {
                lines.push_back({when, "rtp", to + "p m" + ts});
            }
        }
    }
};

} // namespace test

#endif
