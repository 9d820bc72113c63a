"""The model engine: names, configuration, clients, limits, retries and the cache of calls.

Importing it loads no client library; ``open_model`` and ``open_asker`` load the one they need.
"""

from proofstone.engines.models.asking import Asked, Asker, Retries
from proofstone.engines.models.budget import Budget, charge, read_budget, shown
from proofstone.engines.models.carried import usable_bundled
from proofstone.engines.models.checking import Checked, check_model
from proofstone.engines.models.clock import SystemClock
from proofstone.engines.models.config import (
    Endpoint,
    ModelConfig,
    card_of,
    load_config,
    price_of,
    resolve,
)
from proofstone.engines.models.destination import Destination, destination_of
from proofstone.engines.models.egress_gate import EgressGate
from proofstone.engines.models.entries import Entry, Price
from proofstone.engines.models.failure_kinds import NOT_SENT
from proofstone.engines.models.images import no_images
from proofstone.engines.models.limiter import Limiter, Limiters
from proofstone.engines.models.names import ModelName, parse_model_name, parse_model_names
from proofstone.engines.models.online import Online, look_online, online_names
from proofstone.engines.models.opening import (
    Listed,
    leaves_to,
    list_models,
    open_asker,
    open_endpoint,
    open_model,
)
from proofstone.engines.models.plain_text import TEXT_WIRES
from proofstone.engines.models.purse import RequestPurse, open_request_purse
from proofstone.engines.models.redaction import redacted_settings, scrubber_of
from proofstone.engines.models.reply import UnreadableReplyError, read_reply
from proofstone.engines.models.request_hash import request_hash
from proofstone.engines.models.roll_call import call_roll, served_here
from proofstone.engines.models.secret import Secret, scrub
from proofstone.engines.models.served import CacheUse
from proofstone.engines.models.settings import (
    NUMBER_SETTINGS,
    SETTINGS,
    THINKING,
    check_range,
    checked_stop,
)
from proofstone.engines.models.spending import Exposure, Spending
from proofstone.engines.models.stopping import Stopped
from proofstone.engines.models.toml_lines import key_lines
from proofstone.engines.models.unbudgeted import no_price, unbounded_reply

__all__ = [
    "NOT_SENT",
    "NUMBER_SETTINGS",
    "SETTINGS",
    "TEXT_WIRES",
    "THINKING",
    "Asked",
    "Asker",
    "Budget",
    "CacheUse",
    "Checked",
    "Destination",
    "EgressGate",
    "Endpoint",
    "Entry",
    "Exposure",
    "Limiter",
    "Limiters",
    "Listed",
    "ModelConfig",
    "ModelName",
    "Online",
    "Price",
    "RequestPurse",
    "Retries",
    "Secret",
    "Spending",
    "Stopped",
    "SystemClock",
    "UnreadableReplyError",
    "call_roll",
    "card_of",
    "charge",
    "check_model",
    "check_range",
    "checked_stop",
    "destination_of",
    "key_lines",
    "leaves_to",
    "list_models",
    "load_config",
    "look_online",
    "no_images",
    "no_price",
    "online_names",
    "open_asker",
    "open_endpoint",
    "open_model",
    "open_request_purse",
    "parse_model_name",
    "parse_model_names",
    "price_of",
    "read_budget",
    "read_reply",
    "redacted_settings",
    "request_hash",
    "resolve",
    "scrub",
    "scrubber_of",
    "served_here",
    "shown",
    "unbounded_reply",
    "usable_bundled",
]
