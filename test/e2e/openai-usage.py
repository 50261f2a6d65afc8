"""Reads usage with the `openai` package.

A line of input: {"url", "token", "start_time", "group_by"}. A line of output: the first page of buckets.
"""

import json
import sys

from openai import OpenAI

for line in sys.stdin:
    given = json.loads(line)
    client = OpenAI(base_url=given["url"], admin_api_key=given["token"])
    page = client.admin.organization.usage.audio_speeches(
        start_time=given["start_time"], group_by=given["group_by"], bucket_width="1d"
    )
    print(json.dumps(page.model_dump()), flush=True)
