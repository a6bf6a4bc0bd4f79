// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/emulator/pcap.h"

#include <errno.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/log.h"

enum {
    LINKTYPE_RAW = 101,
    // Small, because writing out the whole buffer delays the packets that wait.
    BUFFER_BYTES = 64 * 1024,
};

// In the writer's byte order, which readers detect by the magic number.
struct file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t reserved[2];
    uint32_t snap;
    uint32_t linktype;
};

struct record_header {
    uint32_t seconds, nanoseconds;
    uint32_t captured, length;
};

static void give_up(struct pcap *p)
{
    log_error("cannot write %s: %s (the capture ends here)", p->path, strerror(errno));
    fclose(p->file);
    p->file = NULL;
    p->failed = true;
}

int pcap_open(struct pcap *p, const char *prefix, const char *suffix, uint32_t snap)
{
    *p = (struct pcap){.snap = snap};
    int n = snprintf(p->path, sizeof(p->path), "%s-%s.pcap", prefix, suffix);
    if (n < 0 || (size_t)n >= sizeof(p->path)) {
        log_error("the path of the capture files is longer than %d bytes", PCAP_PATH_MAX - 1);
        return ERR_RANGE;
    }
    p->file = fopen(p->path, "wbe");
    if (!p->file) {
        log_error("cannot write %s: %s", p->path, strerror(errno));
        return ERR_IO;
    }
    setvbuf(p->file, NULL, _IOFBF, BUFFER_BYTES);
    struct file_header head = {
        .magic = 0xa1b23c4d, .major = 2, .minor = 4, .snap = snap, .linktype = LINKTYPE_RAW};
    if (fwrite(&head, sizeof(head), 1, p->file) == 1 && fflush(p->file) == 0)
        return 0;
    give_up(p);
    return ERR_IO;
}

void pcap_write(struct pcap *p, const uint8_t *data, size_t len, usec_t when)
{
    if (!p->file)
        return;
    size_t captured = len < p->snap ? len : p->snap;
    struct record_header head = {
        .seconds = (uint32_t)(when / USEC_PER_SEC),
        .nanoseconds = (uint32_t)(when % USEC_PER_SEC) * 1000,
        .captured = (uint32_t)captured,
        .length = (uint32_t)len,
    };
    if (fwrite(&head, sizeof(head), 1, p->file) != 1 ||
        fwrite(data, 1, captured, p->file) != captured)
        give_up(p);
}

void pcap_flush(struct pcap *p)
{
    if (p->file && fflush(p->file) != 0)
        give_up(p);
}

int pcap_close(struct pcap *p)
{
    pcap_flush(p);
    if (p->file && fclose(p->file) != 0) {
        log_error("cannot write %s: %s", p->path, strerror(errno));
        p->failed = true;
    }
    p->file = NULL;
    return p->failed ? ERR_IO : 0;
}
