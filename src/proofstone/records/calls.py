"""What meets where a model is asked: a method's call, the model behind it, the cache."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from msgspec import Struct

from proofstone.errors import BadInput
from proofstone.records.items import Oracle
from proofstone.records.runs import Purpose, Response, Usage
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# What is said to a model: messages of text, or of texts and images.

ImageType = Literal["image/png", "image/jpeg", "image/webp", "image/gif"]


IMAGE_TYPES: tuple[ImageType, ...] = get_args(ImageType)


MAX_IMAGE_BYTES = 20 * 1024 * 1024  # the most that the larger endpoints take in one image


class TextPart(Struct, frozen=True, gc=False, tag_field="type", tag="text"):
    """A text between images."""

    text: str


class ImagePart(Struct, frozen=True, gc=False, tag_field="type", tag="image"):
    """An image by the SHA-256 of its bytes, which the store keeps; so a prompt stays small, and
    its hash holds the very image."""

    digest: bytes
    media_type: ImageType


class Message(Struct, frozen=True, gc=False):
    """One message of a chat; the content is text, or parts in their order. A text alone is never
    written as a part, so that it has one encoding and one hash."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[TextPart | ImagePart, ...]

    @property
    def text(self) -> str:
        """The content as people read it, an image as its type and the first digits of its hash."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_shown(part) for part in self.content)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The images of the content, in order."""
        if isinstance(self.content, str):
            return ()
        return tuple(part for part in self.content if isinstance(part, ImagePart))


def image_part(data: bytes, where: str = "the image") -> ImagePart:
    """The part of an image's bytes; its type is read from them, not from a name.

    Raises BadInput for what is none of PNG, JPEG, WebP and GIF, and for more than 20 MB.
    """
    media_type = _type_of(data)
    if media_type is None:
        raise BadInput(
            f"{where} is no PNG, JPEG, WebP or GIF image: it begins with {data[:8]!r}",
            hint="save it in one of these formats",
        )
    if len(data) > MAX_IMAGE_BYTES:
        raise BadInput(
            f"{where} has {len(data):,} bytes; endpoints take up to {MAX_IMAGE_BYTES:,}",
            hint="save it smaller or more compressed",
        )
    return ImagePart(sha256(data).digest(), media_type)


def _type_of(data: bytes) -> ImageType | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def _shown(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[{part.media_type}, sha256 {part.digest.hex()[:8]}]"


class Call(Protocol):
    """One request to the run's respondent, as a method's ``ask`` sees it.

    Cached, limited, retried and recorded by whoever hands it in. ``step`` names the request
    within its item. Raises CallFailed when no reply came; let it pass. A method that returns
    before the last step, since nothing is left to ask, finishes the item with the reply of the
    step that it asked last.
    """

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response: ...


class ModelRequest(Struct, frozen=True, gc=False, kw_only=True):
    """What one call asks of a model.

    ``settings`` are those that should reach the model; ``prompt_hash`` is the SHA-256 of the
    canonical JSON of ``messages`` (``prompt``). ``draw_key`` fixes a simulated respondent's
    draws; ``oracle`` is for it alone. Neither reaches an endpoint or the hash.
    """

    messages: tuple[Message, ...]
    prompt: bytes
    prompt_hash: bytes
    settings: Mapping[str, Any] = {}
    sample: int = 0
    reask: int = 0
    replicate: str = ""
    purpose: Purpose = "ask"
    oracle: Oracle | None = None
    draw_key: str = ""


class Ticket(Struct, frozen=True, gc=False):
    """A request handed in. ``reference`` is the provider's name for it where it outlives the
    connection (a batch), else empty; then the row ``submitted`` is stored before collecting."""

    request: ModelRequest
    body: bytes = b""
    reference: str = ""


class Attempt(Struct, frozen=True, gc=False, kw_only=True):
    """What came of one attempt, before anything is decided about it.

    ``raw`` is the body as it came, kept before parsing. ``response`` is None where none could be
    read; then ``error`` names the kind and ``detail`` quotes the scrubbed cause.
    """

    raw: bytes = b""
    status: int = 0
    response: Response | None = None
    error: str = ""
    detail: str = ""
    retry_after_s: float | None = None
    latency_s: float = 0.0


class Limits(Struct, frozen=True, gc=False, kw_only=True):
    """What a model takes, as far as somebody says: ``window`` tokens of prompt and reply together
    (of the prompt alone, where ``counts_response`` is not), whether it takes images, and how many
    tokens longer its reply may be where it is told to think."""

    window: int | None = None
    counts_response: bool = True
    images: bool | None = None
    thinking_tokens: int = 0


class Model(Protocol):
    """A respondent behind one endpoint.

    ``submit`` hands a request in and ``collect`` takes its attempt out: one connection for an
    online endpoint, hours apart for a batch interface. Neither raises for what an endpoint does.
    """

    name: str
    simulated: bool
    wire: str
    endpoint: str
    reported_as: str
    limits: Limits

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The settings that will be sent, and the names of those dropped."""

    async def submit(self, request: ModelRequest) -> Ticket: ...

    async def collect(self, ticket: Ticket) -> Attempt: ...

    async def close(self) -> None: ...


class CallRecord(Struct, frozen=True, gc=False, kw_only=True):
    """One row of the call table: a request and its kept attempt.

    ``attempt`` counts kept rows of one request hash from 0; ``attempts`` how many times the
    endpoint was tried for this row. ``cost_usd`` is None where no price is known.
    ``estimated_tokens`` is None where the endpoint said what it counted or billed nothing; else the
    most tokens that it may have billed, prompt and output, and ``cost_usd`` is an estimate too.
    """

    request_hash: bytes
    attempt: int = 0
    purpose: Purpose = "ask"
    model: str
    endpoint: str
    wire: str
    prompt_hash: bytes
    prompt: bytes = b""
    sample: int = 0
    settings_asked: Mapping[str, Any] = {}
    settings_sent: Mapping[str, Any] = {}
    settings_dropped: tuple[str, ...] = ()
    state: Literal["submitted", "complete", "failed"]
    simulated: bool = False
    error: str = ""
    detail: str = ""
    status: int = 0
    raw: bytes = b""
    usage: Usage = Usage()
    cost_usd: float | None = None
    estimated_tokens: int | None = None
    reported_model: str = ""
    fingerprint: str = ""
    latency_s: float = 0.0
    attempts: int = 1
    started_at: float = 0.0
    reference: str = ""


class CallStore(Protocol):
    """The cache: complete calls by request hash."""

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        """The key and row of the newest complete call of each of these hashes that has one."""

    def known_hashes(self, model: str) -> Container[bytes]:
        """The request hashes of this model's complete calls, as a quick filter: it may hold a
        hash that is not stored, and never lacks one that is."""

    def image(self, digest: bytes) -> bytes:
        """The bytes of an image that a prompt names. Raises NotFound."""

    def newest_reported(self, model: str, endpoint: str) -> str:
        """The model that the newest complete call at this endpoint says answered it, or ""."""


class Clock(Protocol):
    """Time as an effect: seconds since the epoch, a monotonic count, and sleep."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class Judge(Protocol):
    """Whoever decides on a text by closed labels: one model, or a panel. Its calls are cached,
    limited, budgeted and recorded by whoever hands it in.

    A verdict without a label says why: where a ballot ``failed``, ask again another time. Raises
    NotAsked where the question could not be put.
    """

    async def __call__(self, question: JudgeQuestion) -> PanelVerdict: ...


Recorder = Callable[[CallRecord], Awaitable[None]]


# What meets where a text is searched for: a workspace's own sources, or the web.


class FoundText(Struct, frozen=True, kw_only=True):
    """A text that a search found. It stands verbatim at [start, end) (code points) of the text of a
    stored ``passage`` (its id), which is of ``source`` (its id) with this title; ``address`` is
    where a page of the web lay, ``is_web`` whether it is one that a search of the web found."""

    text: str
    passage: bytes
    start: int
    end: int
    source: bytes
    title: str
    address: str = ""
    is_web: bool = False


class Searcher(Protocol):
    """Texts near a query, best first; fewer than ``n`` where fewer fit. ``name`` says who searches
    ("local", "brave", "searxng:bing").

    ``made_from`` are the ids of sources whose text stands behind the query: it leaves this machine
    only where each of them may. Raises CallFailed where the search failed, which is not the same as
    nothing found: let it pass, and try again another time.
    """

    name: str

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]: ...


# Texts as vectors.


class EmbeddingModel(Protocol):
    """Texts as vectors of length 1 (texts, dimensions), near each other where meanings are."""

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]: ...


CacheUse = Literal["same", "any"]


class TokenCounter(Protocol):
    """Counts the tokens of texts; ``name`` says by which vocabulary."""

    name: str

    def __call__(self, text: str) -> int: ...
