"""Gives each request a client address of its own: failed attempts are throttled by address."""

from itertools import count

import schemathesis

addresses = count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(addresses)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
