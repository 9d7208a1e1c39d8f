# What goes wrong, as exceptions: one for each kind of error that the library tells apart.
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of rung. Each carries one line: what was got, and what was wanted."""


class Error(Exception):
    """The work failed; every other error of rung is one of these."""


class UsageError(Error, ValueError):
    """A call that cannot be meant: an unknown word, a closed model, two threads in one session, use after a fork."""


class FileError(Error, OSError):
    """A file is missing, unreadable, damaged, of a newer version, not supported, or cannot be written."""


class DeviceError(Error, RuntimeError):
    """There is no such device, or it failed under its work: then it does none for this process any more."""


class OutOfMemoryError(Error, MemoryError):
    """Not enough memory, on the host or on the device."""


class MismatchError(Error, ValueError):
    """A name, dtype, shape, layout, device or value other than the model's or the plan's."""


class ClimbInterrupted(Error):
    """A climb ended before it was done, because it was asked to; what it had tuned is kept."""


class TruncationWarning(UserWarning):
    """A text has more tokens than the model reads: it was cut, and the answer is that of its beginning."""


class UnsupportedError(Error, NotImplementedError):
    """A module of PyTorch has a part that rung does not take: its operator, and the line of the module's code."""
