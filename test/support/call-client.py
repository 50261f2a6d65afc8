"""Calls a client of a compatible API, as it comes from PyPI, and describes what it returns or raises.

A line of input: {client, base_url, api_key, calls: [{method, args, take}]}; `client` is "elevenlabs" or "openai", `method` a path below
the client, and `take` the number of chunks after which a stream is left.
"""

import base64
import json
import sys
from itertools import islice


def elevenlabs(base_url, api_key):
    from elevenlabs.client import ElevenLabs
    from elevenlabs.core.api_error import ApiError

    return ElevenLabs(base_url=base_url, api_key=api_key), ApiError


def openai(base_url, api_key):
    from openai import APIStatusError, OpenAI

    return OpenAI(base_url=base_url, api_key=api_key), APIStatusError


def describe(result, take=None):
    if hasattr(result, "__enter__"):  # of openai's with_streaming_response
        with result as response:
            return describe(response.iter_bytes(), take)
    if hasattr(result, "model_dump"):
        return result.model_dump(mode="json")
    if hasattr(result, "iter_bytes"):
        return describe(result.iter_bytes(), take)
    if isinstance(result, list):
        return [describe(item) for item in result]
    chunks = list(islice(result, take))
    if take is not None:
        result.close()
    if all(isinstance(chunk, bytes) for chunk in chunks):
        return {"audio": base64.b64encode(b"".join(chunks)).decode(), "chunks": len(chunks)}
    return [describe(chunk) for chunk in chunks]


def call(client, api_error, method, args, take=None):
    target = client
    for name in method.split("."):
        target = getattr(target, name)
    try:
        return {"result": describe(target(**args), take)}
    except api_error as error:
        return {"error": {"type": type(error).__name__, "status": error.status_code, "body": error.body}}


for line in sys.stdin:
    given = json.loads(line)
    client, api_error = globals()[given["client"]](given["base_url"], given["api_key"])
    print(json.dumps([call(client, api_error, **one) for one in given["calls"]]), flush=True)
