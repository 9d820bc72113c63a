from proofstone.api import Workspace as Workspace
from proofstone.api import create_workspace as create_workspace
from proofstone.api import open_workspace as open_workspace

__all__ = ["Workspace", "__version__", "create_workspace", "open_workspace"]
__version__: str
