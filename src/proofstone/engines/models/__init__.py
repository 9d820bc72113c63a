"""The model engine: names, configuration, clients, limits, retries and the cache of calls.

Importing it loads no client library; ``open_model`` and ``open_asker`` load the one they need.
"""

from proofstone.engines.models.asking import Asked, Asker, Retries
from proofstone.engines.models.clock import SystemClock
from proofstone.engines.models.config import Endpoint, ModelConfig, load_config, resolve
from proofstone.engines.models.entries import Entry, Price
from proofstone.engines.models.limiter import Limiter, Limiters
from proofstone.engines.models.names import ModelName, parse_model_name, parse_model_names
from proofstone.engines.models.opening import (
    Checked,
    Listed,
    check_model,
    list_models,
    open_asker,
    open_model,
)
from proofstone.engines.models.plain_text import TEXT_WIRES
from proofstone.engines.models.reply import UnreadableReplyError, read_reply
from proofstone.engines.models.request_hash import request_hash
from proofstone.engines.models.secret import Secret, scrub
from proofstone.engines.models.served import CacheUse
from proofstone.engines.models.settings import checked_stop
from proofstone.engines.models.stopping import Stopped

__all__ = [
    "TEXT_WIRES",
    "Asked",
    "Asker",
    "CacheUse",
    "Checked",
    "Endpoint",
    "Entry",
    "Limiter",
    "Limiters",
    "Listed",
    "ModelConfig",
    "ModelName",
    "Price",
    "Retries",
    "Secret",
    "Stopped",
    "SystemClock",
    "UnreadableReplyError",
    "check_model",
    "checked_stop",
    "list_models",
    "load_config",
    "open_asker",
    "open_model",
    "parse_model_name",
    "parse_model_names",
    "read_reply",
    "request_hash",
    "resolve",
    "scrub",
]
