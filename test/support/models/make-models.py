"""Makes the tiny models of the tests, a few KB each. Needs PyPI `onnx`: python make-models.py FOLDER.

The sound of a model is a tone per token, whose pitch is the token's number. That suffices to load it with the real library and
to compare bytes: it is no speech. `scales` and inputs are those of Piper's models and of Kokoro.
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

SAMPLES_PER_TOKEN = 400
CHARACTERS = " _^$abcdefghijklmnopqrstuvwxyz.,!?;:'-"


def constant(name, values, kind):
    return numpy_helper.from_array(np.array(values, dtype=kind), name)


def tones(phase_factor):
    """Nodes from `tokens` (float, 1 × n) and `length` (float, samples per token) to `tone` (1 × samples)."""
    node = helper.make_node
    return [
        node("Cast", ["length"], ["length_i"], to=TensorProto.INT64),
        node("Range", ["zero_i", "length_i", "one_i"], ["steps_i"]),
        node("Cast", ["steps_i"], ["steps"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["tokens", "axis_2"], ["tokens_3"]),
        node("Add", ["tokens_3", "base"], ["raised"]),
        node("Mul", ["raised", phase_factor], ["frequency"]),
        node("Mul", ["frequency", "steps"], ["phase"]),
        node("Sin", ["phase"], ["waves"]),
        node("Mul", ["waves", "volume"], ["quiet"]),
        node("Reshape", ["quiet", "flat"], ["tone"]),
    ]


def constants(**others):
    common = {
        "zero_i": (0, np.int64),
        "one_i": (1, np.int64),
        "axis_2": ([2], np.int64),
        "base": (8.0, np.float32),
        "volume": (0.4, np.float32),
        "flat": ([1, -1], np.int64),
        "factor": (0.01, np.float32),
        "samples": (float(SAMPLES_PER_TOKEN), np.float32),
    }
    return [constant(name, *value) for name, value in {**common, **others}.items()]


def tensor(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def store(path, nodes, inputs, output, initializers, metadata):
    graph = helper.make_graph(nodes, "tiny", inputs, [output], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
    checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    save(model, path)


def vits(path, metadata):
    """Like Piper's: noise is added as far as noise_scale says, and the speaker shifts the pitch."""
    node = helper.make_node
    nodes = [
        node("Slice", ["scales", "s0", "s1"], ["noise_scale"]),
        node("Slice", ["scales", "s1", "s2"], ["length_scale"]),
        node("Mul", ["length_scale", "samples"], ["length_1"]),
        node("Squeeze", ["length_1"], ["length"]),
        node("Cast", ["input"], ["tokens_f"], to=TensorProto.FLOAT),
        node("Cast", ["sid"], ["speaker"], to=TensorProto.FLOAT),
        node("Mul", ["speaker", "shift"], ["shifted"]),
        node("Add", ["tokens_f", "shifted"], ["tokens"]),
        *tones("factor"),
        node("RandomNormalLike", ["tone"], ["random"]),
        node("Mul", ["random", "noise_scale"], ["noise"]),
        node("Add", ["tone", "noise"], ["noisy"]),
        node("Unsqueeze", ["noisy", "axis_1"], ["output"]),
    ]
    inputs = [
        tensor("input", TensorProto.INT64, [1, "n"]),
        tensor("input_lengths", TensorProto.INT64, [1]),
        tensor("scales", TensorProto.FLOAT, [3]),
        tensor("sid", TensorProto.INT64, [1]),
    ]
    initializers = constants(
        s0=([0], np.int64), s1=([1], np.int64), s2=([2], np.int64),
        axis_1=([1], np.int64), shift=(5.0, np.float32),
    )
    store(path, nodes, inputs, tensor("output", TensorProto.FLOAT, [1, 1, "t"]), initializers, metadata)


def kokoro(folder, speakers):
    """Like Kokoro: a style per speaker and length, a speed, and randomness of its own."""
    node = helper.make_node
    longest, style = 64, 2
    nodes = [
        node("Div", ["samples", "speed"], ["length_1"]),
        node("Squeeze", ["length_1"], ["length"]),
        node("Cast", ["tokens_in"], ["tokens_f"], to=TensorProto.FLOAT),
        node("ReduceSum", ["style"], ["shifted"], keepdims=0),
        node("Add", ["tokens_f", "shifted"], ["tokens"]),
        *tones("factor"),
        node("RandomNormalLike", ["tone"], ["random"]),
        node("Mul", ["random", "little"], ["noise"]),
        node("Add", ["tone", "noise"], ["noisy"]),
        node("Reshape", ["noisy", "flat_1"], ["audio"]),
    ]
    inputs = [
        tensor("tokens_in", TensorProto.INT64, [1, "n"]),
        tensor("style", TensorProto.FLOAT, [1, style]),
        tensor("speed", TensorProto.FLOAT, [1]),
    ]
    initializers = constants(little=(0.01, np.float32), flat_1=([-1], np.int64))
    metadata = {
        "model_type": "kokoro", "language": "English", "has_espeak": 1, "sample_rate": 24000, "version": 1,
        "voice": "en-us", "style_dim": f"{longest},1,{style}", "n_speakers": len(speakers),
        "speaker_names": ",".join(speakers),
    }
    store(folder / "model.onnx", nodes, inputs, tensor("audio", TensorProto.FLOAT, ["t"]), initializers, metadata)
    styles = [[[index, 0.5]] * longest for index in range(len(speakers))]
    (folder / "voices.bin").write_bytes(np.array(styles, dtype=np.float32).tobytes())


PHONEMES = CHARACTERS + "æɐəɛɪɔʊʌɑːˈˌŋðθʃʒɹɡɾᵻ"


def tokens(path, characters):
    path.write_text("".join(f"{character} {index}\n" for index, character in enumerate(characters)))


def main(root):
    piper = {
        "model_type": "vits", "comment": "piper", "language": "English", "voice": "en-us", "has_espeak": 1,
        "n_speakers": 1, "sample_rate": 16000,
    }
    folder = root / "vits-piper-en_US-tiny-low"
    vits(folder / "en_US-tiny-low.onnx", piper)
    tokens(folder / "tokens.txt", PHONEMES)
    described = {
        "dataset": "tiny", "audio": {"sample_rate": 16000, "quality": "low"}, "num_speakers": 1,
        "language": {"code": "en_US"}, "speaker_id_map": {},
    }
    (folder / "en_US-tiny-low.onnx.json").write_text(json.dumps(described) + "\n")

    folder = root / "vits-tiny-de_DE"
    characters = {
        "model_type": "vits", "comment": "coqui", "language": "German", "frontend": "characters",
        "n_speakers": 2, "sample_rate": 16000, "add_blank": 0, "use_eos_bos": 0, "punctuation": ". , ! ?",
    }
    vits(folder / "model.onnx", characters)
    tokens(folder / "tokens.txt", CHARACTERS)

    folder = root / "broken-en_US"
    vits(folder / "model.onnx", {key: piper[key] for key in piper if key != "sample_rate"})
    tokens(folder / "tokens.txt", CHARACTERS)

    folder = root / "kokoro-tiny-en"
    kokoro(folder, ["af_bella", "bm_george"])
    tokens(folder / "tokens.txt", PHONEMES)


main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent))
