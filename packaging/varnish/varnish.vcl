# SPDX-License-Identifier: GPL-2.0-or-later
# Varnish 7.1 between `weir-send --http` and an audience (docs/many-viewers.md).
#
#   varnishd -f packaging/varnish/varnish.vcl -a :80 -s malloc,256m \
#       -p thread_pool_min=50 -p thread_pool_max=500 -p thread_queue_limit=20000 -p timeout_linger=0
#
# The origin says how long each object lives (Cache-Control), and this file obeys. What it adds: requests for an object
# that is being fetched wait for that one fetch; nothing is served beyond its life; a 404 is not kept.
vcl 4.1;

import std;

# weir-send, or the next cache on the way to it. No probe: a failed fetch says the same, and a probe would ask for media
# while nobody watches.
backend origin {
    .host = "127.0.0.1";
    .port = "8080";
    .connect_timeout = 2s;
    .first_byte_timeout = 20s;    # longer than the origin holds a blocking reload
    .between_bytes_timeout = 10s;
}

sub vcl_recv {
    unset req.http.Cookie;
    unset req.http.Authorization;
    unset req.http.Accept-Encoding;    # media is compressed already, and playlists are small
    # Pages of all origins may play from here, as this media is public. The origin lets in those of --allow-origin alone, so
    # it is not told for which page and under which name this cache was asked.
    unset req.http.Origin;
    unset req.http.Referer;
    unset req.http.Forwarded;          # Varnish itself names its client in X-Forwarded-For
    unset req.http.Sec-Fetch-Site;
    set req.http.Host = "localhost";
    set req.grace = 0s;
    if (req.method != "GET" && req.method != "HEAD") {
        return (synth(405));
    }
    set req.url = regsub(req.url, "#.*$", "");
    if (req.url ~ "^[^?]*%") {
        return (synth(404));    # no path of weir-send needs escapes: with them, a file would have many names
    }
    # Of a query, only what asks for another playlist is part of the key, in one order:
    # /live/v0.m3u8?_HLS_msn=7&_HLS_part=2 is one object, however many wait for it.
    if (req.url !~ "^[^?]*\.m3u8\?") {
        set req.url = regsub(req.url, "\?.*$", "");
    } else {
        set req.url = regsuball(req.url, "(?<=[?&])(?!_HLS_(msn|part)=)[^&]*&?", "");
        set req.url = std.querysort(regsub(req.url, "[?&]+$", ""));
    }
    return (hash);
}

sub vcl_hash {
    hash_data(req.url);    # the one origin has the same media under every name
    return (lookup);
}

sub vcl_backend_response {
    unset beresp.http.Set-Cookie;
    set beresp.grace = 0s;    # an old live playlist would set players back
    set beresp.keep = 0s;
    set beresp.do_stream = true;
    if (beresp.status >= 500) {
        # An origin that is overloaded is asked again by one request, not by all that waited for this one.
        set beresp.ttl = 0.5s;
    } elseif (beresp.status != 200 || beresp.http.Cache-Control ~ "(?i)no-store|no-cache|private") {
        # Not kept, and for a second requests for it do not wait for each other, either. A 200 within that time is kept.
        set beresp.ttl = 1s;
        set beresp.uncacheable = true;
    } elseif (beresp.ttl <= 0s) {
        # A cache in between has used up the object's last second. It still serves all who wait for it.
        set beresp.ttl = 0.2s;
    }
    return (deliver);
}

sub vcl_deliver {
    unset resp.http.Vary;
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Access-Control-Expose-Headers = "Content-Length, Content-Range, Date, Age";
    set resp.http.Cross-Origin-Resource-Policy = "cross-origin";
}

sub vcl_backend_error {
    # All that waited get this answer; then one request tries again.
    set beresp.ttl = 0.5s;
    set beresp.grace = 0s;
    set beresp.http.Retry-After = "1";
    set beresp.http.Cache-Control = "no-store";
    return (deliver);
}

sub vcl_synth {
    set resp.http.Access-Control-Allow-Origin = "*";
    set resp.http.Cache-Control = "no-store";
    if (resp.status == 405) {
        set resp.http.Allow = "GET, HEAD";
    }
    set resp.body = resp.reason;
    return (deliver);
}
