"""The torch backend: a pool stays on its device, and the picks are those of the CPU up to ties and rounding.

A pool on the device is standardised on the fly, a chunk at a time. One on the host is uploaded if it fits, else its
chunks are streamed through the device, once for each pass over the pool.
"""

from .neighbours import spacing
from .picks import Picks
from .points import Points
from .pool import as_pool
from .seeding import plus_plus
from .traversal import Traversal
from .uncovered import radii

__all__ = ["Picks", "Points", "Traversal", "as_pool", "plus_plus", "radii", "spacing"]
