vcl 4.1;

# A cache in front of the service's instances (Varnish 7). The service's Cache-Control decides what is cached and for how
# long: audio of free engines, which is the same for every caller, except for websites with lexicons: they add `key=` to
# their URLs. This file adds what Cache-Control cannot express. Edit backends.vcl, not this file.
#
# PURGE /audio/{hash}[.{ext}] removes an object and every cached response with the same audio. It requires `Authorization:
# Bearer` with PURGE_TOKEN of varnishd's environment; purging is off without one.

import directors;
import std;

include "./backends.vcl";

sub vcl_recv {
    unset req.http.X-Cache;

    if (req.method == "PURGE") {
        call purge_by_hash;
    }
    # The admin API is not public.
    if (req.url ~ "(?i)^/(admin|metrics)(/|\?|$)") {
        return (synth(404, "There is nothing under this address."));
    }

    set req.backend_hint = in_turn.backend();

    if (req.http.Upgrade ~ "(?i)^websocket$" && req.url ~ "^/v2/text/stream(\?|$)") {
        return (pipe);
    }
    if (req.method != "GET" && req.method != "HEAD") {
        return (pass);
    }
    # Everything else is private or not cacheable.
    if (req.url !~ "^/(v2/text/synthesize|v1/text(:|%3[Aa])synthesize|audio/[0-9a-f]{64}(\.[a-z0-9]+)+)(\?|$)") {
        return (pass);
    }
    # Send the same URL to the same instance, so that concurrent requests share one synthesis.
    set req.backend_hint = by_address.backend(by=URL);

    # Serve stale objects only this long while a backend is healthy.
    if (std.healthy(req.backend_hint)) {
        set req.grace = 10s;
    }
    return (hash);
}

sub purge_by_hash {
    if (std.getenv("PURGE_TOKEN") !~ ".") {
        return (synth(405, "The method is not allowed here."));
    }
    if (req.http.Authorization != "Bearer " + std.getenv("PURGE_TOKEN")) {
        return (synth(401, "The token is missing or wrong."));
    }
    if (req.url !~ "^/audio/[0-9a-f]{64}(\.[a-z0-9]+)*$") {
        return (synth(400, "What is purged is /audio/{hash}."));
    }
    # The ETag of every response with this audio is its hash.
    if (!std.ban({"obj.http.ETag == ""} + regsub(req.url, "^/audio/([0-9a-f]+).*", "\1") + {"""})) {
        return (synth(500, "The purge was not taken."));
    }
    return (synth(200, "Purged"));
}

# No cached response depends on the host.
sub vcl_hash {
    hash_data(req.url);
    return (lookup);
}

sub vcl_miss {
    # For these requests the service synthesizes and charges nothing. Varnish would fetch the whole object instead.
    if (req.method == "HEAD" || req.http.If-None-Match) {
        return (pass);
    }
}

sub vcl_pipe {
    set bereq.http.Connection = req.http.Connection;
    set bereq.http.Upgrade = req.http.Upgrade;
    return (pipe);
}

sub vcl_backend_response {
    if (bereq.uncacheable) {
        return (deliver);
    }
    if (beresp.status != 200 && beresp.status != 204) {
        # A refused request must not replace a cached object.
        if (bereq.is_bgfetch) {
            return (abandon);
        }
        # Other requests must neither wait for this refusal nor receive it.
        set beresp.http.Vary = "Origin, Referer, Authorization, X-API-Key, X-API-Secret, xi-api-key";
        set beresp.uncacheable = true;
        set beresp.ttl = 10s;
        set beresp.grace = 0s;
        set beresp.keep = 0s;
        return (deliver);
    }
    if (beresp.http.Cache-Control !~ "(?i)\bpublic\b" || beresp.http.Cache-Control ~ "(?i)\b(no-store|no-cache|private)\b"
        || beresp.http.Set-Cookie || beresp.http.Vary == "*") {
        set beresp.uncacheable = true;
        set beresp.ttl = 10s;
        return (deliver);
    }
    if (beresp.http.Cache-Control ~ "s-maxage|immutable") {
        set beresp.grace = 1d;
        set beresp.keep = 7d;
    } else {
        # A fallback voice's audio: it is replaced once the engine is back.
        set beresp.grace = 0s;
        set beresp.keep = 0s;
    }
    return (deliver);
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "hit";
        # These headers belong to another request and another key.
        unset resp.http.X-Request-Id;
        unset resp.http.X-RateLimit-Limit;
        unset resp.http.X-RateLimit-Remaining;
    } else {
        set resp.http.X-Cache = "miss";
    }
    return (deliver);
}

sub vcl_backend_fetch {
    # Slightly longer than the service's own synthesis timeout.
    set bereq.first_byte_timeout = 11m;
    set bereq.connect_timeout = 2s;
    if (bereq.retries > 0 && bereq.uncacheable) {
        set bereq.backend = in_turn.backend();
    } elsif (bereq.retries > 0) {
        set bereq.backend = by_address.backend(by=URL, alt=bereq.retries, healthy=ALL);
    }
    return (fetch);
}

sub vcl_backend_error {
    # The backend is unreachable but the probe has not noticed yet: retry once on another.
    if (bereq.retries == 0 && (bereq.method == "GET" || bereq.method == "HEAD")) {
        return (retry);
    }
    set beresp.http.Content-Type = "application/json; charset=utf-8";
    set beresp.http.Cache-Control = "no-store";
    set beresp.http.Retry-After = "5";
    set beresp.status = 503;
    set beresp.body = """{"error":{"message":"The service cannot be reached now.","statusCode":503,"code":"UNAVAILABLE"}}""";
    return (deliver);
}

sub vcl_synth {
    set resp.http.Content-Type = "application/json; charset=utf-8";
    set resp.http.Cache-Control = "no-store";
    if (resp.status == 200) {
        set resp.body = """{"purged":true}""";
        return (deliver);
    }
    set resp.http.X-Code = "INTERNAL_ERROR";
    if (resp.status == 400) {
        set resp.http.X-Code = "VALIDATION_ERROR";
    } elsif (resp.status == 401) {
        set resp.http.X-Code = "UNAUTHORIZED";
        set resp.http.WWW-Authenticate = "Bearer";
    } elsif (resp.status == 404) {
        set resp.http.X-Code = "NOT_FOUND";
    } elsif (resp.status == 405) {
        set resp.http.X-Code = "METHOD_NOT_ALLOWED";
        set resp.http.Allow = "GET, HEAD";
    }
    set resp.body = {"{"error":{"message":""} + resp.reason + {"","code":""} + resp.http.X-Code
        + {"","statusCode":"} + resp.status + "}}";
    unset resp.http.X-Code;
    return (deliver);
}
