vcl 4.1;

# A cache before the service's instances (Varnish 7). The service's own Cache-Control decides what is kept and for how
# long: free engines' audio, the same for every caller. This file adds what it cannot say. See backends.vcl for what is
# to be changed.
#
# PURGE /audio/{hash}[.{ext}] forgets an object and every answer with its sound. It needs `Authorization: Bearer` with the
# PURGE_TOKEN of varnishd's environment; without one there is no purging.

import directors;
import std;

include "./backends.vcl";

sub vcl_recv {
    unset req.http.X-Cache;

    if (req.method == "PURGE") {
        call purge_by_hash;
    }
    # The operator's interfaces are not for the world.
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
    # All else is one caller's alone, or changes.
    if (req.url !~ "^/(v2/text/synthesize|v1/text(:|%3[Aa])synthesize|audio/[0-9a-f]{64}\.(mp3|ogg|wav))(\?|$)") {
        return (pass);
    }
    # The same address to the same instance: what is being made there is shared, and not made on another as well.
    set req.backend_hint = by_address.backend(by=URL);

    # While an instance can be asked, what is over its time is heard for this long and no longer.
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
    if (req.url !~ "^/audio/[0-9a-f]{64}(\.(mp3|ogg|wav))?$") {
        return (synth(400, "What is purged is /audio/{hash}."));
    }
    # The tag of every answer with the sound is its hash.
    if (!std.ban({"obj.http.ETag == ""} + regsub(req.url, "^/audio/([0-9a-f]+).*", "\1") + {"""})) {
        return (synth(500, "The purge was not taken."));
    }
    return (synth(200, "Purged"));
}

# No answer that is kept depends on the host.
sub vcl_hash {
    hash_data(req.url);
    return (lookup);
}

sub vcl_miss {
    # The service makes nothing for these, and counts nothing: as fetches of the whole sound they would do both.
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
        # A caller who is refused must not end what others may still hear.
        if (bereq.is_bgfetch) {
            return (abandon);
        }
        # Other callers neither wait for this one's refusal nor get it.
        set beresp.http.Vary = "Origin, Referer, Authorization, X-API-Key, X-API-Secret";
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
        # A fallback: not what the address stands for, and soon to be asked for again.
        set beresp.grace = 0s;
        set beresp.keep = 0s;
    }
    return (deliver);
}

sub vcl_deliver {
    if (obj.hits > 0) {
        set resp.http.X-Cache = "hit";
        # Another's request, and another's count.
        unset resp.http.X-Request-Id;
        unset resp.http.X-RateLimit-Limit;
        unset resp.http.X-RateLimit-Remaining;
    } else {
        set resp.http.X-Cache = "miss";
    }
    return (deliver);
}

sub vcl_backend_fetch {
    # As long as the service itself takes for a sound, and a little.
    set bereq.first_byte_timeout = 75s;
    set bereq.connect_timeout = 2s;
    if (bereq.retries > 0 && bereq.uncacheable) {
        set bereq.backend = in_turn.backend();
    } elsif (bereq.retries > 0) {
        set bereq.backend = by_address.backend(by=URL, alt=bereq.retries, healthy=ALL);
    }
    return (fetch);
}

sub vcl_backend_error {
    # One that cannot be reached, while the probe has not seen it yet: another is asked, once.
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
