"""Where a workspace is: a folder that holds ``.proofstone``, found upwards like git's."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import shlex
import shutil
import struct
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from proofstone.errors import BadUsage, FolderShared, WorkspaceUnusable

# Which file system a folder is on, as Linux, macOS and Windows say it.

# Darwin's struct statfs with 64-bit inodes, up to the mount point; the rest is not read.
_STATFS = struct.Struct("=Ii5Q2i4I16s1024s")


_STATFS_BYTES = 4096


_MNT_LOCAL = 0x1000


_DRIVE_REMOTE = 4


class Mount(NamedTuple):
    """A mounted file system: where, of which kind (``nfs4``, ``ext4``), with which options.

    ``kind`` is ``remote`` where the system only says that it is on another machine.
    """

    point: str
    kind: str
    options: str = ""


def parse_mounts(lines: Iterable[str]) -> list[Mount]:
    """The mounts of /proc/mounts; spaces in names are written there as octal numbers."""
    fields = [line.split() for line in lines]
    return [Mount(_plain(f[1]), f[2], f[3]) for f in fields if len(f) >= 4]


def parse_statfs(buffer: bytes) -> Mount:
    """The mount that Darwin's ``statfs`` tells of in its first 1,112 bytes."""
    *_numbers, flags, _subtype, kind, point = _STATFS.unpack_from(buffer)
    name = kind.partition(b"\0")[0].decode("ascii", "replace")
    return Mount(
        point.partition(b"\0")[0].decode("utf-8", "surrogateescape"),
        name if flags & _MNT_LOCAL else f"remote {name}",
    )


def _plain(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), name)


if sys.platform == "win32":

    def mounts_around(path: Path) -> list[Mount]:
        """The drive of an absolute path."""
        root = path.anchor
        is_remote = ctypes.windll.kernel32.GetDriveTypeW(root) == _DRIVE_REMOTE
        return [Mount(root, "remote" if is_remote else "drive")]

elif sys.platform == "darwin":

    def mounts_around(path: Path) -> list[Mount]:
        """The file system of an absolute path, or of the nearest folder above it that exists."""
        library = ctypes.CDLL(None, use_errno=True)
        statfs = getattr(library, "statfs$INODE64", None) or library.statfs
        buffer = ctypes.create_string_buffer(_STATFS_BYTES)
        there = next((p for p in (path, *path.parents) if p.exists()), Path("/"))
        return [] if statfs(bytes(there), buffer) else [parse_statfs(buffer.raw)]

else:

    def mounts_around(path: Path) -> list[Mount]:
        """All mounts of this machine; none where the system does not say."""
        try:
            text = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return []
        return parse_mounts(text.splitlines())


# Folders that no database file may stand in: on a network, or kept in step by a cloud service.
#
# SQLite locks its file and maps a part of it into memory. Network file systems do neither reliably,
# and a service that copies the file while it is written spreads halves of it: rows are lost.

SETTING = "allow_shared_folder"


_NETWORK = frozenset(
    [
        "nfs",
        "nfs3",
        "nfs4",
        "cifs",
        "smb",
        "smb2",
        "smb3",
        "smbfs",
        "afs",
        "afpfs",
        "webdav",
        "davfs",
        "ncpfs",
        "coda",
        "ceph",
        "glusterfs",
        "lustre",
        "beegfs",
        "gpfs",
        "ocfs2",
        "orangefs",
        "vboxsf",
        "prl_fs",
        "vmhgfs",
    ]
)


# What a program behind FUSE serves is local only where it says so: encrypted or merged disks.
_LOCAL_FUSE = frozenset(
    [
        "fuse",
        "fuse.ext2",
        "fuse.ext4",
        "fuse.ntfs",
        "fuse.ntfs-3g",
        "fuseblk",
        "fuse.exfat",
        "fuse.encfs",
        "fuse.gocryptfs",
        "fuse.cryfs",
        "fuse.mergerfs",
        "fuse.bindfs",
        "fuse.overlayfs",
        "fuse.fuse-overlayfs",
        "fuse.unionfs",
        "fuse.zfs",
        "fuse.lxcfs",
    ]
)


# A part of a path that is the service's own, wherever it stands.
_NAMES = (
    ("Dropbox", re.compile(r"Dropbox( \(.+\))?")),
    ("OneDrive", re.compile(r"OneDrive( - .+)?")),
    ("Google Drive", re.compile(r"Google ?Drive|My Drive|GoogleDrive-.+")),
    ("iCloud Drive", re.compile(r"iCloud ?Drive|com~apple~CloudDocs")),
)


# A file or folder by which a service knows the folder that it keeps in step.
_MARKERS = {
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".849C9593-D756-4E56-8D6E-42412F2A707B": "OneDrive",
    ".tmp.drivedownload": "Google Drive",
    ".stfolder": "Syncthing",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".SeaDrive": "Seafile",
}


def refuse_shared(folder: Path) -> None:
    """Raises FolderShared where a workspace in ``folder`` would be on a network or kept in step."""
    path = folder.resolve()
    why = why_shared(path, mounts_around(path), find_markers(path))
    if why is not None:
        raise FolderShared(
            f"{folder} is {why}; a database there loses rows",
            hint="keep the workspace on a disk of this machine and copy it with 'proofstone "
            "workspace backup', or share one through PostgreSQL (database_env);\n  to use this "
            f"folder all the same, put {SETTING} = true under [workspace] in "
            f"{folder / 'proofstone.toml'}",
        )


def why_shared(path: PurePath, mounts: Sequence[Mount], markers: Iterable[str] = ()) -> str | None:
    """What makes an absolute path without links unfit, in words; None where nothing does.

    ``mounts`` are those of the machine, of which the innermost around the path counts;
    ``markers`` the names of marker files found in the path's folders.
    """
    mount = _innermost(path, mounts)
    if path.drive.startswith("\\\\"):
        return "on a network (a UNC path)"
    if mount is not None and _is_network(mount):
        return f"on a network ({mount.kind} at {mount.point})"
    service = _service(path, markers)
    return f"kept in step by {service}" if service else None


def find_markers(path: Path) -> list[str]:
    """The marker files of services in ``path`` and the folders above it."""
    return [
        name
        for folder in (path, *path.parents)
        for name in _MARKERS
        # The home folder of everybody with Dropbox holds its settings as ~/.dropbox.
        if (folder / name).exists() and not (name == ".dropbox" and (folder / name).is_dir())
    ]


def _innermost(path: PurePath, mounts: Sequence[Mount]) -> Mount | None:
    """The mount with the longest point around ``path``; of equal ones the last, which hides the
    others."""
    around = [mount for mount in mounts if path.is_relative_to(type(path)(mount.point))]
    longest = max((len(mount.point) for mount in around), default=0)
    return next((mount for mount in reversed(around) if len(mount.point) == longest), None)


def _is_network(mount: Mount) -> bool:
    if mount.kind == "9p":  # WSL's Windows drives and folders of a host; a sandbox's own root is fd
        return "trans=fd" not in mount.options or "drvfs" in mount.options
    if mount.kind.startswith("fuse"):
        return mount.kind not in _LOCAL_FUSE
    return mount.kind in _NETWORK or mount.kind.startswith("remote")


def _service(path: PurePath, markers: Iterable[str]) -> str | None:
    parts = path.parts
    if ("Library", "CloudStorage") in itertools.pairwise(parts):
        place = parts.index("CloudStorage") + 1
        return parts[place].partition("-")[0] if place < len(parts) else "a cloud service"
    named = (name for part in parts for name, spelled in _NAMES if spelled.fullmatch(part))
    marked = (_MARKERS[name] for name in markers if name in _MARKERS)
    return next(named, None) or next(marked, None)


MARK = ".proofstone"


CONFIG_NAME = "proofstone.toml"


_NEW_CONFIG = """\
# Proofstone's settings for this workspace. `proofstone doctor` shows what is in force.

# [workspace]
# database_env = "PROOFSTONE_DATABASE"    # a PostgreSQL URL instead of the file in .proofstone
# allow_shared_folder = true              # on a network or synchronised folder: rows may be lost

# [egress]                                # without it you are asked: docs/how-to/operate.md
# hosts = ["local", "api.openai.com"]     # nothing goes anywhere else

# [models."mycompany/large"]              # then: proofstone run FORM -m mycompany/large
# base_url = "https://llm.example.com/v1" # any OpenAI-compatible endpoint
# api_key_env = "MYCOMPANY_API_KEY"       # the variable's name; keys themselves stay out of files
# model = "large-2026-08"                 # the name to send, where it is another one
"""


def create_folder(folder: Path) -> bool:
    """Make ``folder`` a workspace; return False if it was one. Raises WorkspaceUnusable, and
    FolderShared for a network or synchronized folder."""
    mark = folder / MARK
    if mark.is_dir():
        return False
    database_url(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.mkdir(mode=0o700)  # replies, prompts and people are the owner's
        (mark / ".gitignore").write_text("*\n", encoding="utf-8")
        config = folder / CONFIG_NAME
        if not config.exists():
            config.write_text(_NEW_CONFIG, encoding="utf-8")
    except OSError as error:
        shutil.rmtree(mark, ignore_errors=True)  # half a workspace would pass for a whole one
        raise WorkspaceUnusable(
            f"cannot make a workspace in {folder}: {error.strerror or error}",
            hint="name a folder you may write to: proofstone init FOLDER",
        ) from error
    return True


def find_folder(start: Path) -> Path:
    """The nearest workspace at or above ``start``. Raises WorkspaceUnusable where there is none."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - parents of "a/../b" would pass through a
    if not start.is_dir():  # a mistyped name must not mean the workspace around it
        raise WorkspaceUnusable(
            f"{start} is a file" if start.is_file() else f"there is no folder {start}",
            hint=f"name another, or make a workspace: proofstone init {shlex.quote(str(start))}",
        )
    for folder in (start, *start.parents):
        if (folder / MARK).is_dir():
            return folder
    raise WorkspaceUnusable(
        f"no workspace at or above {start}",
        hint="make one with 'proofstone init', or name one with -w FOLDER",
    )


def database_url(folder: Path) -> str:
    """Return the URL of a workspace's database: its own file, or the one in its settings.

    Raises FolderShared if that file would be on a network or in a synchronized folder.
    """
    table = _workspace_settings(folder)
    variable = table.get("database_env")
    if variable is None:
        if table.get(SETTING) is not True:
            refuse_shared(folder)
        return f"sqlite:///{folder / MARK / 'store.sqlite'}"
    url = os.environ.get(str(variable))
    if not url:
        raise WorkspaceUnusable(
            f"{folder / CONFIG_NAME} names the database by {variable}, which is not set",
            hint=f"set {variable} to a URL such as postgresql://user@host/name",
        )
    if url.startswith(("postgres://", "postgresql://")):
        return "postgresql+psycopg://" + url.partition("://")[2]
    if not url.startswith(("postgresql+psycopg://", "sqlite:///")):
        raise WorkspaceUnusable(
            f"{variable} holds no URL of a PostgreSQL database",
            hint=f"set {variable} to a URL such as postgresql://user@host/name",
        )
    return url


def has_own_file(folder: Path) -> bool:
    """Return True where a workspace's database is the file in its hidden folder."""
    return "database_env" not in _workspace_settings(folder)


def delete_files(folder: Path, files: Iterable[str]) -> None:
    """Delete files with paths relative to ``folder``; missing ones are ignored."""
    for file in files:
        (folder / file).unlink(missing_ok=True)


def _workspace_settings(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG_NAME
    if not path.is_file():
        return {}
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("workspace", {})
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"{path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadUsage(f"{path} is not TOML: {error}") from error
    if not isinstance(table, dict):
        raise BadUsage(f"{path}: workspace must be a table, [workspace], not {table!r}")
    unknown = set(table) - {"database_env", SETTING}
    if unknown:
        raise BadUsage(
            f"{path}: [workspace] has unknown keys: {', '.join(sorted(unknown))}",
            hint=f"it takes: database_env, {SETTING}",
        )
    return dict(table)
