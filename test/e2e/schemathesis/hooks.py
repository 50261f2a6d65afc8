"""Hooks of the runs, which schemathesis imports."""

import gc
import os
from itertools import count

import schemathesis

# A run is short. Collections would cost an eighth of its CPU time and find little.
gc.disable()

addresses = count(1)
has_credentials = "HAS_CREDENTIALS" in os.environ


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each request a client address of its own: failed attempts are throttled by address."""
    number = next(addresses)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


@schemathesis.hook
def filter_case(context, case):
    """An operation refuses a request without credentials before it reads any other invalid parameter, or the body."""
    security = context.operation.definition.raw.get("security")
    if has_credentials or not security or {} in security or case.meta.phase.name.value != "coverage":
        return True
    varied = case.meta.phase.data
    schemes = context.operation.schema.raw_schema["components"]["securitySchemes"].values()
    is_invalid = case.meta.generation.mode.value == "negative" and varied.parameter_location in ("path", "query", "body")
    return not is_invalid or varied.parameter in [scheme["name"] for scheme in schemes if "name" in scheme]
