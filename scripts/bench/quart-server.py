"""
A server that works like OpenTTS with espeak-ng, which is not installed: Quart on hypercorn, and for
each request a process of espeak-ng whose WAV is the response. Its argument is a port.
"""

import asyncio
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config
from quart import Quart, Response, request

app = Quart(__name__)


@app.get("/api/tts")
async def tts() -> Response:
    voice = request.args["voice"]
    espeak = await asyncio.create_subprocess_exec(
        "espeak-ng", "-v", voice, "--stdout",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    wav, _ = await espeak.communicate(request.args["text"].encode())
    return Response(wav, mimetype="audio/wav")


config = Config()
config.bind = [f"127.0.0.1:{sys.argv[1]}"]
asyncio.run(serve(app, config))
