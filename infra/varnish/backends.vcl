# The instances behind the cache. This is the only file here that you need to edit.

probe ready {
    .url = "/health/ready";
    .interval = 2s;
    .timeout = 2s;
    .window = 3;
    .threshold = 2;
    .initial = 2;
}

backend one {
    .host = "voxledger-1";
    .port = "8080";
    .probe = ready;
}

backend two {
    .host = "voxledger-2";
    .port = "8080";
    .probe = ready;
}

sub vcl_init {
    new in_turn = directors.round_robin();
    in_turn.add_backend(one);
    in_turn.add_backend(two);

    new by_address = directors.shard();
    by_address.add_backend(one);
    by_address.add_backend(two);
    by_address.reconfigure();
}
