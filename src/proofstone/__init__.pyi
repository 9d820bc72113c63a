from proofstone.wiring import Workspace as Workspace
from proofstone.wiring import create_workspace as create_workspace
from proofstone.wiring import open_workspace as open_workspace

__all__ = ["Workspace", "__version__", "create_workspace", "open_workspace"]
__version__: str
