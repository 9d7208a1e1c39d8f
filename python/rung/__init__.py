# The package's names; each is defined in the module that it is imported from.
# SPDX-License-Identifier: Apache-2.0
"""rung lowers the latency of one inference: it climbs a model to a fast plan, proves it right, and runs it.

    model = rung.load("plan.rung")
    outputs = model(**model.encode("A man is playing a guitar."))
"""
from ._backend import backend
from ._climb import Climb, climb
from ._core import Model, Session, version
from ._errors import (ClimbInterrupted, DeviceError, Error, FileError, MismatchError, OutOfMemoryError,
                      TruncationWarning, UnsupportedError, UsageError)
from ._load import build, join, load
from ._optimize import optimize
from ._sentences import SentenceEncoder, sentence_encoder
from ._tasks import bench, compare, explain, profile, verify
from ._types import (ComparedOutput, Encoded, Port, PrecisionCost, Receipt, Speedup, Tolerance, Verification)

__version__ = version()

__all__ = ["Climb", "ClimbInterrupted", "ComparedOutput", "DeviceError", "Encoded", "Error", "FileError",
           "MismatchError", "Model", "OutOfMemoryError", "Port", "PrecisionCost", "Receipt", "SentenceEncoder",
           "Session", "Speedup", "Tolerance", "TruncationWarning", "UnsupportedError", "UsageError", "Verification",
           "__version__", "backend", "bench", "build", "climb", "compare", "explain", "join", "load", "optimize",
           "profile", "sentence_encoder", "verify"]
