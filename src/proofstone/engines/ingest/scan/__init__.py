"""Pages that are images: scans, screenshots, and PDF pages whose characters are no words."""
