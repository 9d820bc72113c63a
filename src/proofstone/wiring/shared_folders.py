"""Folders that no database file may stand in: on a network, or kept in step by a cloud service.

SQLite locks its file and maps a part of it into memory. Network file systems do neither reliably,
and a service that copies the file while it is written spreads halves of it: rows are lost.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

from proofstone.errors import FolderShared
from proofstone.wiring.mounts import Mount, mounts_around

__all__ = ["SETTING", "find_markers", "refuse_shared", "why_shared"]

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
    return [name for folder in (path, *path.parents) for name in _MARKERS if _is_in(folder, name)]


def _is_in(folder: Path, name: str) -> bool:
    # The home folder of everybody with Dropbox holds its settings as ~/.dropbox.
    if name == ".dropbox" and (folder / name).is_dir():
        return False
    return (folder / name).exists()


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
