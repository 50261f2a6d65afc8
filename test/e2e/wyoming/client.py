"""Calls a speech server with the `wyoming` package, as Home Assistant's integration does.

A line of input: {"url", "call": "describe" | "ping" | "synthesize" | "stream", "text" or "chunks", "voice"}.
A line of output: what the server has answered. A client that gets no more events sees the connection close.
"""

import asyncio
import base64
import json
import sys

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (
    Synthesize,
    SynthesizeChunk,
    SynthesizeStart,
    SynthesizeStop,
    SynthesizeStopped,
    SynthesizeVoice,
)


async def describe(client, _given):
    await client.write_event(Describe().event())
    (program,) = Info.from_event(await client.read_event()).tts
    return {
        "installed": program.installed,
        "streaming": program.supports_synthesize_streaming,
        "voices": {voice.name: voice.languages for voice in program.voices},
    }


async def ping(client, given):
    await client.write_event(Ping(text=given["text"]).event())
    return {"text": Pong.from_event(await client.read_event()).text}


def voice_of(given):
    voice = given.get("voice")
    return None if voice is None else SynthesizeVoice(**voice)


async def read_audio(client, is_last):
    """Reads until the last event, an error, or the end of the connection."""
    types, audio, formats, error = [], b"", [], None
    while (event := await client.read_event()) is not None:
        if not types or types[-1] != event.type:
            types.append(event.type)
        if Error.is_type(event.type):
            failure = Error.from_event(event)
            error = {"text": failure.text, "code": failure.code}
        elif AudioStart.is_type(event.type):
            start = AudioStart.from_event(event)
            formats.append([start.rate, start.width, start.channels])
        elif AudioChunk.is_type(event.type):
            chunk = AudioChunk.from_event(event)
            assert [chunk.rate, chunk.width, chunk.channels] == formats[-1]
            assert len(chunk.audio) % (chunk.width * chunk.channels) == 0
            audio += chunk.audio
        if error is not None or is_last(event.type):
            break
    return {"types": types, "audio": base64.b64encode(audio).decode(), "formats": formats, "error": error}


async def synthesize(client, given):
    await client.write_event(Synthesize(text=given["text"], voice=voice_of(given)).event())
    return await read_audio(client, AudioStop.is_type)


async def stream(client, given):
    async def write():
        voice = voice_of(given)
        await client.write_event(SynthesizeStart(voice=voice).event())
        for chunk in given["chunks"]:
            await client.write_event(SynthesizeChunk(text=chunk).event())
        # The whole text again, for servers that do not stream.
        await client.write_event(Synthesize(text="".join(given["chunks"]), voice=voice).event())
        await client.write_event(SynthesizeStop().event())

    writing = asyncio.create_task(write())
    answer = await read_audio(client, SynthesizeStopped.is_type)
    await writing
    return answer


calls = {"describe": describe, "ping": ping, "synthesize": synthesize, "stream": stream}


async def answer(given):
    async with AsyncClient.from_uri(given["url"], connect_timeout=60, read_timeout=120) as client:
        return await calls[given["call"]](client, given)


for line in sys.stdin:
    print(json.dumps(asyncio.run(answer(json.loads(line)))), flush=True)
