# The package's names; each is defined in the module that it is imported from.
# SPDX-License-Identifier: Apache-2.0
"""rung lowers the latency of one inference: it climbs a model to a fast plan, proves it right, and runs it.

    model = rung.load("plan.rung")
    outputs = model(**model.encode("A man is playing a guitar."))
"""
from ._backend import backend
from ._climb import Climb, climb
from ._core import ActionTokenizer, Generation, LanguageModel, Model, Session, TextSession, version
from ._errors import (ClimbInterrupted, DeviceError, Error, FileError, MismatchError, OutOfMemoryError,
                      TruncationWarning, UnsupportedError, UsageError)
from ._language import load_language_model
from ._load import build, join, load
from ._optimize import optimize
from ._sentences import SentenceEncoder, sentence_encoder
from ._tasks import bench, compare, explain, profile, verify
from ._types import (ComparedOutput, DecodeTimes, Encoded, Generated, Piece, Port, PrecisionCost, Receipt, Segment,
                     Speedup, Tolerance, Verification)

__version__ = version()

__all__ = ["ActionTokenizer", "Climb", "ClimbInterrupted", "ComparedOutput", "DecodeTimes", "DeviceError", "Encoded",
           "Error", "FileError", "Generated", "Generation", "LanguageModel", "MismatchError", "Model",
           "OutOfMemoryError", "Piece", "Port", "PrecisionCost", "Receipt", "Segment", "SentenceEncoder", "Session",
           "Speedup", "TextSession", "Tolerance", "TruncationWarning", "UnsupportedError", "UsageError", "Verification",
           "__version__", "backend", "bench", "build", "climb", "compare", "explain", "join", "load",
           "load_language_model", "optimize", "profile", "sentence_encoder", "verify"]
