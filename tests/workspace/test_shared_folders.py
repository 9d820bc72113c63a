"""A workspace is refused where its database would be on a network or kept in step by a service."""

from __future__ import annotations

import struct
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from proofstone.api import create_workspace, open_workspace
from proofstone.errors import FolderShared
from proofstone.session.folders import (
    Mount,
    find_markers,
    mounts_around,
    parse_mounts,
    parse_statfs,
    why_shared,
)
from told import Proofstone

MOUNTS = parse_mounts(
    """\
/dev/sda1 / ext4 rw,relatime 0 0
nas:/export /mnt/nas nfs4 rw,vers=4.2 0 0
//server/share /mnt/my\\040share cifs rw 0 0
me@host:/ /data/far fuse.sshfs rw,nosuid 0 0
/dev/sdb1 /data/far/disk xfs rw 0 0
/dev/sdc1 /media/stick fuseblk rw 0 0
C:\\134 /mnt/c 9p rw,aname=drvfs;path=C:\\134,trans=fd 0 0
none /sandbox 9p rw,trans=fd,rfdno=4 0 0
share /mnt/host 9p rw,trans=virtio 0 0
/dev/sdd1 /mnt/nas ext4 rw 0 0
nas:/export /mnt/nas nfs4 rw,vers=4.2 0 0
""".splitlines()
)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/data/work", None),
        ("/mnt/nas/team/bench", "on a network (nfs4 at /mnt/nas)"),
        ("/mnt/nasty", None),
        ("/mnt/my share/bench", "on a network (cifs at /mnt/my share)"),
        ("/data/far/bench", "on a network (fuse.sshfs at /data/far)"),
        ("/data/far/disk/bench", None),
        ("/media/stick/bench", None),
        ("/mnt/c/data", "on a network (9p at /mnt/c)"),
        ("/sandbox/work", None),
        ("/mnt/host/work", "on a network (9p at /mnt/host)"),
        ("/data/Dropbox/bench", "kept in step by Dropbox"),
        ("/data/Dropbox (Company)/bench", "kept in step by Dropbox"),
        ("/data/dropbox-notes/bench", None),
        ("/data/OneDrive - Company/bench", "kept in step by OneDrive"),
        ("/data/Library/Mobile Documents/com~apple~CloudDocs", "kept in step by iCloud Drive"),
        ("/data/Library/CloudStorage/GoogleDrive-me@x.org/b", "kept in step by GoogleDrive"),
        ("/data/Library/CloudStorage/Box-Box/b", "kept in step by Box"),
        ("/data/Google Drive/b", "kept in step by Google Drive"),
    ],
)  # fmt: skip
def test_the_innermost_mount_and_the_parts_of_the_path_decide(path: str, why: str | None) -> None:
    """On Linux and macOS, from the path and the mounts alone."""
    assert why_shared(PurePosixPath(path), MOUNTS) == why


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        (r"Z:\bench", "remote", "on a network (remote at Z:\\)"),
        (r"C:\bench", "drive", None),
        (r"\\server\share\bench", "drive", "on a network (a UNC path)"),
        (r"C:\data\OneDrive\bench", "drive", "kept in step by OneDrive"),
        (r"C:\data\iCloudDrive\bench", "drive", "kept in step by iCloud Drive"),
        (r"G:\My Drive\bench", "drive", "kept in step by Google Drive"),
    ],
)
def test_drives_of_windows(path: str, kind: str, why: str | None) -> None:
    """The type of the drive, a server's name, and the services' folders."""
    there = PureWindowsPath(path)
    assert why_shared(there, [Mount(there.anchor, kind)]) == why


@pytest.mark.parametrize(("flags", "kind"), [(0x1000, "apfs"), (0, "remote smbfs")])
def test_what_darwin_says_of_a_file_system(flags: int, kind: str) -> None:
    """The flag MNT_LOCAL, the type's name and the mount point stand at their offsets."""
    head = struct.pack("=Ii5Q2i", 4096, 4096, 1, 2, 3, 4, 5, 6, 7)
    name = kind.rsplit(maxsplit=1)[-1].encode()
    buffer = head + struct.pack("=4I16s1024s", 501, 26, flags, 0, name, b"/Volumes/team")
    assert len(buffer) == 72 + 16 + 1024
    mount = parse_statfs(buffer + bytes(1056))
    assert mount == Mount("/Volumes/team", kind)
    why = why_shared(PurePosixPath("/Volumes/team/bench"), [mount])
    assert (why is None) == (kind == "apfs")


@pytest.mark.parametrize(
    ("marker", "service"),
    [(".dropbox", "Dropbox"), (".stfolder", "Syncthing"), (".nextcloudsync.log", "Nextcloud")],
)
def test_marker_files_tell_of_a_service(tmp_path: Path, marker: str, service: str) -> None:
    """In the folder or above it, whatever the folder is called."""
    below = tmp_path / "team" / "bench"
    below.mkdir(parents=True)
    (tmp_path / "team" / marker).write_text("")
    assert marker in find_markers(below)
    assert why_shared(below, [], find_markers(below)) == f"kept in step by {service}"


def test_the_settings_of_dropbox_at_home_are_no_marker(tmp_path: Path) -> None:
    """Dropbox keeps its settings in a folder ~/.dropbox; the home folder is not kept in step."""
    (tmp_path / ".dropbox").mkdir()
    assert ".dropbox" not in find_markers(tmp_path)


def test_this_machine_tells_its_mounts(tmp_path: Path) -> None:
    """Where the tests run, whatever the system: at least one mount is around the folder."""
    assert any(tmp_path.is_relative_to(mount.point) for mount in mounts_around(tmp_path))


def test_a_workspace_in_such_a_folder_is_refused_with_the_setting_that_allows_it(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """``init`` makes nothing; the line that the error names, put where it says, opens it."""
    folder = tmp_path / "Dropbox" / "bench"
    told = proofstone("init", folder)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"error[PS-207]: {folder} is kept in step by Dropbox; ")
    assert not folder.exists()
    line, file = "allow_shared_folder = true", folder / "proofstone.toml"
    assert f"put {line} under [workspace] in {file}" in told.err
    folder.mkdir(parents=True)
    file.write_text(f"[workspace]\n{line}\n", encoding="utf-8")
    assert proofstone("init", folder).code == 0
    assert proofstone("status", "-w", folder).code == 0


def test_a_workspace_that_was_moved_there_is_refused_when_opened(tmp_path: Path) -> None:
    """The rule holds at every opening, also through a link."""
    create_workspace(tmp_path / "here").close()
    (tmp_path / "OneDrive").mkdir()
    moved = (tmp_path / "here").rename(tmp_path / "OneDrive" / "here")
    (tmp_path / "link").symlink_to(moved, target_is_directory=True)
    for folder in (moved, tmp_path / "link"):
        with pytest.raises(FolderShared, match="kept in step by OneDrive"):
            open_workspace(folder)


def test_a_database_on_a_server_may_have_its_folder_anywhere(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With ``database_env`` the folder holds settings only."""
    folder = tmp_path / "Dropbox"
    folder.mkdir()
    (folder / "proofstone.toml").write_text('[workspace]\ndatabase_env = "PG"\n', encoding="utf-8")
    monkeypatch.setenv("PG", postgres)
    with create_workspace(folder) as workspace:
        assert not workspace.store.database.is_sqlite
