"""The torch backend: a pool stays on its device, and the picks are those of the CPU up to ties and rounding.

A pool on the device is scaled on the fly, a chunk at a time. One on the host is uploaded if it fits, else its chunks
are streamed through the device, once for each pass over the pool.
"""

from .points import Points
from .pool import as_pool

__all__ = ["Points", "as_pool"]
