"""Reads usage with the `openai` package.

Input: {"url", "token", "start_time", "group_by"}. Output: the first page of buckets.
"""

import json
import sys

from openai import OpenAI

given = json.load(sys.stdin)
client = OpenAI(base_url=given["url"], admin_api_key=given["token"])
page = client.admin.organization.usage.audio_speeches(
    start_time=given["start_time"], group_by=given["group_by"], bucket_width="1d"
)
json.dump(page.model_dump(), sys.stdout)
