"""What a process that reads strangers' files may use: memory, and no more than that."""

from __future__ import annotations

import sys

__all__ = ["confine"]


def confine(memory_bytes: int) -> bool:
    """Limits this process's memory and forbids core dumps; whether the limit holds.

    Beyond it an allocation fails, which ends the process or the reading of one page. Where the
    system sets no such limits (macOS) only the limits of time protect.
    """
    if sys.platform == "win32":
        return _confine_windows(memory_bytes)
    import resource  # noqa: PLC0415 - not on Windows

    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        within = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
        resource.setrlimit(resource.RLIMIT_AS, (within, hard))
    except (ValueError, OSError):
        return False
    return True


if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _PROCESS_MEMORY, _EXTENDED = 0x100, 9

    class _Basic(ctypes.Structure):
        _fields_ = (
            ("per_process_time", ctypes.c_int64),
            ("per_job_time", ctypes.c_int64),
            ("flags", wintypes.DWORD),
            ("least_working_set", ctypes.c_size_t),
            ("most_working_set", ctypes.c_size_t),
            ("active_processes", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority", wintypes.DWORD),
            ("scheduling", wintypes.DWORD),
        )

    class _Limits(ctypes.Structure):
        _fields_ = (
            ("basic", _Basic),
            ("io", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )

    def _confine_windows(memory_bytes: int) -> bool:
        """Puts this process into a job object with a limit of memory for a process."""
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
        kernel.SetInformationJobObject.argtypes = (
            wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD,
        )  # fmt: skip
        kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        job = kernel.CreateJobObjectW(None, None)
        limits = _Limits()
        limits.basic.flags = _PROCESS_MEMORY
        limits.process_memory = memory_bytes
        size = ctypes.sizeof(limits)
        if not job or not kernel.SetInformationJobObject(
            job, _EXTENDED, ctypes.byref(limits), size
        ):
            return False
        return bool(kernel.AssignProcessToJobObject(job, kernel.GetCurrentProcess()))

else:

    def _confine_windows(memory_bytes: int) -> bool:
        raise NotImplementedError(memory_bytes)
