"""Base models: from a hub, embedded, or tiny and random."""

import logging

from transformers.utils.logging import disable_progress_bar

# It warns on import that optional CPU kernels for 4-bit weights are absent, which nothing here uses on a CPU.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)
# Loading takes seconds; its bars would bury the run's own lines.
disable_progress_bar()
