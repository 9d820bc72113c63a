"""Pictures that are sent and not kept: they can be drawn again from the document at any time."""

from __future__ import annotations

from collections.abc import Container, Sequence

from proofstone.ports import CallRecord, CallStore
from proofstone.records import ImagePart, image_part

__all__ = ["ShownPictures"]


class ShownPictures:
    """A ``CallStore`` that has some images besides those of ``calls``, while they are shown."""

    def __init__(self, calls: CallStore) -> None:
        self._calls = calls
        self._shown: dict[bytes, bytes] = {}

    def show(self, data: bytes, where: str) -> ImagePart:
        """The part that names a picture. Raises BadInput for one that no endpoint takes."""
        part = image_part(data, where)
        self._shown[part.digest] = data
        return part

    def put_away(self, part: ImagePart) -> None:
        """Forgets a picture."""
        self._shown.pop(part.digest, None)

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        """As the store behind it."""
        return self._calls.find_calls(request_hashes)

    def known_hashes(self, model: str) -> Container[bytes]:
        """As the store behind it."""
        return self._calls.known_hashes(model)

    def image(self, digest: bytes) -> bytes:
        """A picture that is shown, else an image of the store. Raises NotFound."""
        shown = self._shown.get(digest)
        return self._calls.image(digest) if shown is None else shown

    def newest_served(self, model: str, endpoint: str) -> str:
        """As the store behind it."""
        return self._calls.newest_served(model, endpoint)
