// SPDX-License-Identifier: GPL-2.0-or-later
// An MTP sender and receiver in virtual time, connected by a path of constant delay in each
// direction. Packets and ACKs are numbered in the order of sending; a test sets the fate of each.
// The rig checks continuously that no packet exceeds the window and that no packet is delivered
// twice or altered.
#ifndef WEIR_TESTS_MTP_RIG_H
#define WEIR_TESTS_MTP_RIG_H

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "common/mtp/mtp_receiver.h"
#include "common/mtp/mtp_sender.h"

struct mtp_rig {
    struct sent {
        usec_t at;
        int64_t slot, number;
        unsigned flags;
        int cwnd;
    };
    struct packet {
        mtp_header header;
        int64_t frame; // frame in the packet; -1: empty packet
        usec_t left;
    };
    struct event {
        bool is_ack;
        packet data;
        mtp_ack ack;
    };
    // Returns the additional delays, beyond `delay`, of the copies of transmission `index`; an
    // empty vector: lost.
    using fate = std::function<std::vector<usec_t>(bool is_ack, int index)>;

    static constexpr usec_t delay = 30 * USEC_PER_MSEC;

    mtp_sender sender;
    mtp_receiver receiver;
    // true: the receiver is a kernel's TCP, which acknowledges only received data and ignores
    // marks.
    bool terminates = false;
    // true: echoes refer to the newest transmission (as TCP time stamps do), not to the newest
    // packet.
    bool stamps = false;
    usec_t newest = 0;
    std::set<int64_t> held; // slots received, if `terminates`
    int64_t in_order = 0;
    fate path = [](bool, int) { return std::vector<usec_t>{0}; };
    std::multimap<usec_t, event> under_way; // events of equal time occur in the order of insertion
    usec_t now = 0;
    int transmissions = 0, acks = 0;
    std::function<size_t(int64_t)> length = [](int64_t) { return sizeof(int64_t); }; // of a frame
    int64_t frames = 0; // frames written so far
    std::vector<sent> log;
    std::set<int64_t> delivered, lost, sent_frames;
    int64_t edge;

    explicit mtp_rig(mtp_sender_config c)
    {
        c.slot_bytes = std::max<uint16_t>(c.slot_bytes, sizeof(int64_t));
        c.queue.lost = [](void *owner, const mtp_packet *p) {
            CHECK(static_cast<mtp_rig *>(owner)->lost.insert(p->frame).second);
        };
        c.queue.owner = this;
        edge = c.window;
        REQUIRE(mtp_sender_init(&sender, &c, 0) == 0);
        mtp_receiver_init(&receiver, c.window > 0 ? c.window : 1);
    }
    mtp_rig(const mtp_rig &) = delete;
    mtp_rig &operator=(const mtp_rig &) = delete;
    ~mtp_rig()
    {
        mtp_sender_destroy(&sender);
    }

    void write(int64_t count)
    {
        for (; count > 0; count--, frames++) {
            std::vector<uint8_t> bytes(length(frames));
            memcpy(bytes.data(), &frames, sizeof(frames));
            REQUIRE(mtp_sender_push(&sender, bytes.data(), bytes.size(), frames, false, now) == 0);
        }
    }

    void launch(event e, int index)
    {
        for (usec_t more : path(e.is_ack, index))
            under_way.emplace(now + delay + more, e);
    }

    void pull()
    {
        mtp_out out;
        while (mtp_sender_pull(&sender, &out, now)) {
            if (out.slot >= edge)
                FAIL("slot " << out.slot << " beyond the window, " << edge);
            log.push_back({now, out.slot, out.number, out.flags, sender.cwnd});
            event e{};
            e.data.frame = -1;
            e.data.left = now;
            if (out.len > 0)
                memcpy(&e.data.frame, out.bytes, sizeof(int64_t));
            sent_frames.insert(e.data.frame);
            e.data.header = {out.flags, out.len, (uint32_t)out.number, (uint32_t)out.slot,
                             (uint32_t)out.time};
            launch(e, transmissions++);
        }
    }

    void arrive(const packet &p)
    {
        event e{};
        e.is_ack = true;
        if (terminates) {
            held.insert((int32_t)p.header.slot);
            while (held.count(in_order))
                in_order++;
            e.ack.cum = in_order;
            e.ack.window = receiver.window;
        } else {
            mtp_verdict v = mtp_receiver_packet(&receiver, &p.header);
            if (v == MTP_BEYOND)
                FAIL("beyond the window");
            if (v == MTP_DELIVER &&
                (!delivered.insert(p.frame).second || !sent_frames.count(p.frame) || p.frame < 0))
                FAIL("frame " << p.frame << " delivered twice or never sent");
            mtp_receiver_ack(&receiver, &e.ack);
            newest = std::max(newest, p.left);
            if (stamps)
                e.ack.echo_us = (uint32_t)newest;
        }
        launch(e, acks++);
    }

    // Runs one event or timeout. Returns false if none is left.
    bool step()
    {
        usec_t timeout = mtp_sender_next_timeout(&sender);
        usec_t next = under_way.empty() ? USEC_NEVER : under_way.begin()->first;
        if (timeout == USEC_NEVER && next == USEC_NEVER)
            return false;
        if (timeout < next) {
            now = timeout;
            mtp_sender_timeout(&sender, now);
        } else {
            now = next;
            event e = under_way.begin()->second;
            under_way.erase(under_way.begin());
            if (e.is_ack) {
                edge = std::max(edge, e.ack.cum + e.ack.window);
                mtp_sender_ack(&sender, &e.ack, now);
            } else {
                arrive(e.data);
            }
        }
        pull();
        return true;
    }

    // Runs until no event is left. Returns false if that takes more than `steps`.
    bool finish(int steps)
    {
        pull();
        while (step())
            if (--steps == 0)
                return false;
        CHECK((sender.inflation == 0 || sender.state == MTP_TIMEOUT));
        return true;
    }
};

#endif
