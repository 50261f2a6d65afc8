"""Reads audio with Python's `wave` and with `soundfile`, as their users do.

A line of input: a list of {format, audio}, the audio in base64. A line of output: for each the frames that the readers find.
"""

import base64
import io
import json
import sys
import wave

import soundfile


def read(format, audio):
    content = base64.b64decode(audio)
    found = {"soundfile": len(soundfile.read(io.BytesIO(content))[0])}
    if format == "wav":
        with wave.open(io.BytesIO(content)) as opened:
            found["wave"] = opened.getnframes()
            found["waveBytes"] = len(opened.readframes(opened.getnframes()))
    return found


for line in sys.stdin:
    print(json.dumps([read(**one) for one in json.loads(line)]), flush=True)
